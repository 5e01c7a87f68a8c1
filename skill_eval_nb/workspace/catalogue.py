"""Who is who in what was found: workspaces, skills, evals, definitions, stated runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from .benchmarks import Stating, stating
from .files import Files
from .identity import EvalIndex, EvalKey, EvalKeys, folder_of, identify, skill_of
from .layout import Layout
from .places import Place
from .problems import Problems
from .suites import Definition, Seen, Weights, home, join, seen_evals, weights_of


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What things are called, and what is known of them besides the runs.

    `names` gives the name and the skill of each workspace's folder.
    """

    base: str
    names: dict[str, tuple[str, str]]
    keys: EvalKeys
    index: EvalIndex
    benchmarks: list[Stating]
    seen: dict[str, list[Seen]]
    definitions: list[Definition]
    weights: Weights

    def below(self, path: str) -> str:
        """A path as it is told: below what was loaded."""
        return below(path, self.base)

    def eval_of(self, place: Place) -> EvalKey:
        """The eval that a place lies in."""
        return self.keys[folder_of(place)]


def below(path: str, base: str) -> str:
    """`path` below `base`; the path itself where it does not lie there.

    >>> below("/x/ws/iteration-1", "/x/ws"), below("/y", "/x")
    ('iteration-1', '/y')
    """
    return path[len(base) + 1 :] if path.startswith(f"{base}/") else path


def catalogue(layout: Layout, files: Files, base: str, problems: Problems) -> Catalogue:
    """Settle who is who."""
    run_places = [place for place, _ in groupby(run.place for run in layout.runs)]
    keys = identify([*run_places, *files.metadata_places], files.metadata, problems)
    iterations = {place.iteration for place in run_places}
    iterations |= {file.place.iteration for file, _ in files.benchmarks}
    benchmarks = [
        one
        for file, documents in files.benchmarks
        for one in stating(file.path, file.place, documents, iterations)
    ]
    told = _told_skills([*run_places, *files.metadata_places], benchmarks)
    sole = next(iter(told)) if len(told) == 1 else None
    for suite in files.suites:
        suite.workspace = home(suite, told, sole)
    for suite in files.suites:
        told.setdefault(suite.workspace, []).append(suite.document.skill_name)
    for _, file, document in files.others:
        told.setdefault(file.place.workspace, []).append(getattr(document, "skill_name", None))
    seen = seen_evals(keys, files.metadata)
    definitions = join(files.suites, seen, problems)
    return Catalogue(
        base,
        _names(told, base),
        keys,
        EvalIndex(keys),
        benchmarks,
        seen,
        definitions,
        weights_of(definitions),
    )


def _told_skills(
    places: Iterable[Place], benchmarks: Iterable[Stating]
) -> dict[str, list[str | None]]:
    """The folders of the workspaces, each with the skill's names that its benchmarks give."""
    told: dict[str, list[str | None]] = {place.workspace: [] for place in places}
    for one in benchmarks:
        told.setdefault(one.place.workspace, []).append(one.document.metadata.skill_name)
    return told


def _name(folder: str) -> str:
    return os.path.basename(os.path.abspath(folder))


def _names(told: dict[str, list[str | None]], base: str) -> dict[str, tuple[str, str]]:
    return {
        folder: (
            below(folder, base) if folder.startswith(f"{base}/") else _name(folder),
            skill_of(folder, names),
        )
        for folder, names in told.items()
    }
