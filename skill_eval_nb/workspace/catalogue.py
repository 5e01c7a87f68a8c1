"""Who is who in what was found: workspaces, skills, evals, definitions, stated runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby

from skill_eval_nb.documents import Eval
from skill_eval_nb.documents.sides import UNSTATED, find_side

from .benchmarks import BenchmarkFile, drop_copies, split_benchmarks
from .evals import (
    EvalIndex,
    EvalKey,
    EvalKeys,
    EvalOf,
    SeenEval,
    identify_evals,
    join_suites,
    place_suites,
    seen_evals,
    skill_named,
    skills_of,
    stated_text,
)
from .files import Files
from .folders import Place, eval_parts, is_container
from .layout import RESULTS, Layout, folder_of
from .problems import Problems, below
from .read import collector_paused, read_files


def name_skill(workspace: str, texts: Iterable[str]) -> str:
    """The skill that a workspace evaluates: as its documents say, else by its folder's name.

    >>> name_skill("/x/skills/tdd-workspace", []), name_skill("/x/pdf/evals", [])
    ('tdd', 'pdf')
    """
    if stated := next(filter(None, map(skill_named, texts)), None):
        return stated
    names = [name for name in os.path.abspath(workspace).split(os.sep) if name]
    plain = [name.removesuffix("-workspace") or name for name in names]
    own = next((name for name in reversed(plain) if not is_container(name)), None)
    name = own or (names[-1] if names else UNSTATED)
    return name.removesuffix("-workspace") or name


Definition = tuple[str, EvalKey, Eval]
"""A definition: the folder of its workspace, the eval that it defines, what it says."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What was found and read, what things are called, what is known of them besides the runs.

    `names` gives the name and the skill of each workspace's folder, `skills` those of evals that
    are of others.
    """

    layout: Layout
    files: Files
    names: dict[str, tuple[str, str]]
    keys: EvalKeys
    index: EvalIndex
    benchmarks: list[BenchmarkFile]
    seen: dict[str, list[SeenEval]]
    definitions: list[Definition]
    skills: dict[EvalOf, str]

    def below(self, path: str) -> str:
        """A path as it is told: below what was loaded."""
        return below(path, self.layout.base)

    def eval_of(self, place: Place) -> EvalKey:
        """The eval that a place lies in, or that a file graded there names."""
        key = self.keys.get(folder_of(place))
        key = key or self.index.find(place.workspace, place.iteration, place.eval, place.eval)
        return key or EvalKey(eval_parts(place.eval)[0] or place.eval, place.eval)


@collector_paused()
def catalogue_files(layout: Layout, files: Files | None = None) -> Catalogue:
    """Settle who is who in what was found; its files are read unless they are given.

    A folder whose results a tool's file tells is no run besides.
    """
    files, base, problems = files or read_files(layout), layout.base, layout.problems
    of_tools = {os.path.dirname(file.path) for file, _ in files.results}
    layout.runs = [
        run for run in layout.runs if run.path not in of_tools or not RESULTS.isdisjoint(run.files)
    ]
    layout.runs += [run for run in layout.perhaps if run.grading in files.gradings]
    layout.perhaps = []
    run_places = [place for place, _ in groupby(run.place for run in layout.runs)]
    keys = identify_evals([*run_places, *files.metadata_places], files.metadata, problems)
    ran: dict[str, set[str]] = {}
    for place in run_places:
        ran.setdefault(place.workspace, set()).add(place.iteration)
    iterations = {file.place.iteration for file, _ in files.benchmarks}
    iterations |= {file.place.iteration for file in files.of_tools}.union(*ran.values())
    split = (
        split_benchmarks(file, documents, iterations, ran.get(file.place.workspace, ()))
        for file, documents in files.benchmarks
    )
    benchmarks = [*chain.from_iterable(split), *files.of_tools]
    benchmarks.sort(key=lambda file: not file.is_benchmark)
    benchmarks = list(drop_copies(benchmarks, problems))
    named: dict[str, list[str]] = {}
    for place in (*run_places, *files.metadata_places):
        named.setdefault(place.workspace, [])
    for benchmark in benchmarks:
        _add_skill(named, benchmark.place.workspace, benchmark.document.metadata.skill_name)
    _tell_models(layout, problems)
    _report_skills(named, problems)
    seen = seen_evals(keys, files.metadata)
    place_suites(files.suites, named, seen)
    _move_to_suites(files, named)
    for suite in files.suites:
        _add_skill(named, suite.workspace, suite.document.skill_name)
    for workspace, names in _skills_of_others(files).items():
        sets = named.setdefault(workspace, [])
        sets += names if len(names) == 1 else []
    join_suites(files.suites, seen, problems)
    definitions = [
        (suite.workspace, key, eval_)
        for suite in files.suites
        for key, eval_ in zip(suite.keys, suite.document.evals, strict=True)
    ]
    names = {
        folder: (_name_below(folder, base), name_skill(folder, texts))
        for folder, texts in named.items()
    }
    skills, index = skills_of(files.suites), EvalIndex(keys)
    return Catalogue(layout, files, names, keys, index, benchmarks, seen, definitions, skills)


def _name_below(folder: str, base: str) -> str:
    """What a workspace is called: its path below what was loaded, else its folder's name."""
    name = folder.removeprefix(f"{base}/")
    return name if name != folder else os.path.basename(os.path.abspath(folder))


def _add_skill(named: dict[str, list[str]], workspace: str, name: str | None) -> None:
    """Note what a document of a workspace calls the skill, if it says so."""
    named.setdefault(workspace, []).extend(filter(None, [stated_text(name)]))


def _move_to_suites(files: Files, named: Mapping[str, list[str]]) -> None:
    """Where nothing ran, let what lies beside a suite be of that suite's workspace."""
    suites: dict[str, str] = {}
    for suite in files.suites:
        suites.setdefault(os.path.dirname(suite.path), suite.workspace)
    for position, (kind, file, document) in enumerate(files.others):
        home = suites.get(os.path.dirname(file.path))
        if home is not None and file.place.workspace not in named:
            place = file.place._replace(workspace=home)
            files.others[position] = (kind, replace(file, place=place), document)


def _skills_of_others(files: Files) -> dict[str, list[str]]:
    """The skills that the other documents of each workspace name; trigger sets may name many."""
    found: dict[str, list[str]] = {}
    for _, file, document in files.others:
        _add_skill(found, file.place.workspace, getattr(document, "skill_name", None))
    return {workspace: [*dict.fromkeys(names)] for workspace, names in found.items()}


def _report_skills(named: Mapping[str, list[str]], problems: Problems) -> None:
    """Say of which name the skill is, where the benchmarks of a workspace give it several."""
    for workspace, names in named.items():
        known = [*dict.fromkeys(filter(None, map(skill_named, names)))]
        if len(known) > 1:
            message = (
                f"the benchmarks call the skill {', '.join(known)}: {known[0]} is its name here, "
                "but for runs that name their own"
            )
            problems.add("info", "skill-names", workspace, message)


def _tell_models(layout: Layout, problems: Problems) -> None:
    """Say once a workspace that its folders are named after models."""
    found: dict[str, dict[str, None]] = {}
    for run in layout.runs:
        if run.place.model is not None:
            found.setdefault(run.place.workspace, {})[run.place.model] = None
    for workspace, models in found.items():
        message = (
            f"folders are named after models ({', '.join(models)}): each is the executor_model of "
            "its runs where they state none, and no part of their configuration"
        )
        problems.add("info", "model-in-name", workspace, message)


def named_by(run_id: str, known: Iterable[str]) -> tuple[str, str | None, int | None]:
    """The eval, configuration and number that a run id of feedback names, as far as it does.

    `known` are the configurations of the runs.

    >>> named_by("eval-0-with_skill", []), named_by("eval-0-v2-run-3", ["v2"])
    (('eval-0', 'with_skill', None), ('eval-0', 'v2', 3))
    """
    numbered = re.fullmatch(r"(.+)[-_/]run[-_]?(\d{1,9})", run_id)
    name, number = (numbered[1], int(numbered[2])) if numbered else (run_id, None)
    for side in sorted(known, key=len, reverse=True):
        if re.search(rf"[-_/]{re.escape(side)}$", name):
            return name[: -len(side) - 1], side, number
    usual = find_side(name, last=True)
    eval_ = name[: usual.start()].rstrip("-_./ ") if usual and usual.end() == len(name) else ""
    return (eval_, usual[0], number) if usual and eval_ else (name, None, number)
