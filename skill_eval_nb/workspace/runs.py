"""Read what lies in a run's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from skill_eval_nb.documents import Grading, Judging, Metrics, Structural, Timing
from skill_eval_nb.documents.dialects import read

from .layout import TRACES, RunPlace
from .names import UNSTATED, is_configuration, natural
from .places import Place
from .problems import Problems
from .reading import load_document, load_if_there, load_raw


@dataclass(slots=True)
class RunDocuments:
    """What lies in a run's folder, as far as it could be read."""

    path: str
    grading: Grading | None = None
    structural: Structural | None = None
    timing: Timing | None = None
    metrics: Metrics | None = None
    judgings: list[Judging] = field(default_factory=list)
    took_place: bool = False
    unreadable: bool = False
    executor_model: str | None = None
    judge_model: str | None = None


def read_run(run: RunPlace, problems: Problems) -> list[tuple[Place, int, RunDocuments]]:
    """The run of a folder, with its place and number; several where one file grades several."""
    documents = RunDocuments(run.path)
    path, files = run.path, run.files
    if "structural.json" in files:
        documents.structural = load_document(f"{path}/structural.json", Structural, problems)
    if "timing.json" in files:
        documents.timing = load_document(f"{path}/timing.json", Timing, problems)
    if run.has_outputs or "metrics.json" in files:
        documents.metrics = _metrics(run, _agents_alone(documents), problems)
    if run.has_judgings:
        documents.judgings = list(_judgings(f"{path}/judgings", problems))
    if "grading.json" in files and run.place.configuration != UNSTATED:
        documents.grading = load_document(f"{path}/grading.json", Grading, problems)
        documents.unreadable = documents.grading is None
        return [(run.place, run.number, documents)]
    return _read_unusual(run, documents, problems)


def _read_unusual(
    run: RunPlace, documents: RunDocuments, problems: Problems
) -> list[tuple[Place, int, RunDocuments]]:
    """A run without a grading, or whose grading lies elsewhere or is of several runs."""
    documents.took_place = run.has_outputs or not TRACES.isdisjoint(run.files)
    grading = _grading_path(run, _agents_alone(documents))
    if grading is None:
        return [(run.place, run.number, documents)]
    raw = load_raw(grading, problems)
    sides = [
        (
            replace(run.place, configuration=configuration),
            number,
            RunDocuments(run.path, _from_raw(part, grading, problems)),
        )
        for configuration, number, part in sides_in(raw)
    ]
    if sides:
        return sides
    documents.grading = None if raw is None else _from_raw(raw, grading, problems)
    documents.unreadable = raw is None
    return [(_told_place(run.place, documents.grading), run.number, documents)]


def _agents_alone(run: RunDocuments) -> bool:
    """Whether all that lies in a run's outputs is the agent's, as it is in runs made here.

    Other tools put their own results there; of our runs, a grading there would be the agent's
    word on its own work.
    """
    return run.timing is not None and run.timing.executor is not None


def _grading_path(run: RunPlace, agents_alone: bool) -> str | None:
    if run.grading is not None:
        return run.grading
    if "grading.json" in run.files:
        return f"{run.path}/grading.json"
    inside = f"{run.path}/outputs/grading.json"
    there = run.has_outputs and not agents_alone and os.path.isfile(inside)
    return inside if there else None


def _metrics(run: RunPlace, agents_alone: bool, problems: Problems) -> Metrics | None:
    if "metrics.json" in run.files:
        return load_document(f"{run.path}/metrics.json", Metrics, problems)
    if run.has_outputs and not agents_alone:
        return load_if_there(f"{run.path}/outputs/metrics.json", Metrics, problems)
    return None


def _judgings(folder: str, problems: Problems) -> Iterator[Judging]:
    for name in sorted(os.listdir(folder), key=natural):
        if name.endswith(".json"):
            judging = load_document(f"{folder}/{name}", Judging, problems)
            if judging is not None:
                yield judging


def sides_in(raw: Any) -> Iterator[tuple[str, int, Any]]:
    """The parts of a grading that grades several runs: by configuration, or in a list."""
    if not isinstance(raw, dict):
        return
    listed = raw.get("runs")
    if isinstance(listed, list) and all(isinstance(one, dict) for one in listed):
        met: dict[str, int] = {}
        for one in listed:
            names = (one.get(key) for key in ("configuration", "config", "condition"))
            name = next((text for text in names if isinstance(text, str)), UNSTATED)
            met[name] = met.get(name, 0) + 1
            number = one.get("run_number")
            yield name, number if type(number) is int else met[name], one
        return
    for key, part in raw.items():
        if is_configuration(key) and isinstance(part, dict):
            yield key, 1, part


def _from_raw(raw: Any, path: str, problems: Problems) -> Grading:
    grading, faults = read("grading", raw)
    problems.add_faults(path, faults.collapsed())
    return grading


def _told_place(place: Place, grading: Grading | None) -> Place:
    """The place, with the configuration that the grading names where the folders name none."""
    if place.configuration == UNSTATED and grading is not None and grading.configuration:
        return replace(place, configuration=grading.configuration)
    return place
