"""Who is who in what was found: workspaces, skills, evals, definitions, stated runs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import NamedTuple

from skill_eval_nb.documents import Benchmark, Eval, EvalMetadata
from skill_eval_nb.documents.dialects.home_made_rows import configuration_in
from skill_eval_nb.documents.sides import UNSTATED, find_side

from .files import BenchmarkFile, Files, is_benchmark_file
from .folders import NO_ITERATION, Place
from .layout import RESULTS, EvalFolder, FilePlace, Layout, folder_of, sums_up
from .names import (
    eval_named,
    eval_parts,
    is_configuration,
    is_container,
    skill_named,
    slug,
    stated_text,
)
from .problems import Problems, below
from .read import collector_paused, read_files
from .suites import EvalKey, EvalOf, SeenEval, join_suites, place_suites, skills_of

EvalKeys = dict[EvalFolder, EvalKey]


def identify_evals(
    places: Iterable[Place], metadata: Mapping[EvalFolder, EvalMetadata], problems: Problems
) -> EvalKeys:
    """The id and name of each eval's folder.

    They come from its metadata, else from its name, else from the metadata that a folder of
    the same name has in another iteration; a name comes from there before the folder's, if all
    iterations that state one agree. A folder that keeps its name, and its eval's, from
    iteration to iteration is one eval: a text that is stated as its id gives way to a number,
    and a problem says so. Folders of an iteration that claim the same id under different names
    stay different evals: the later name has the name of its first folder as its id, and a
    problem says so.
    """
    keys: EvalKeys = {}
    own: dict[EvalFolder, EvalKey] = {}
    ids: dict[tuple[str, str], dict[str, list[str]]] = {}
    stated: dict[tuple[str, str], dict[str, None]] = {}
    for folder, described in metadata.items():
        if name := eval_named(described):
            stated.setdefault((folder.workspace, folder.folder), {})[name] = None
    for folder in dict.fromkeys(map(folder_of, places)):
        number, rest = eval_parts(folder.folder)
        described = metadata.get(folder)
        elsewhere = [*stated.get((folder.workspace, folder.folder), ())]
        other = elsewhere[0] if len(elsewhere) == 1 else rest
        name = (described and eval_named(described)) or other
        stated_id = described.eval_id if described else None
        own[folder] = EvalKey((number or "") if stated_id is None else str(stated_id), name)
        of_name = ids.setdefault((folder.workspace, folder.folder), {}).setdefault(slug(name), [])
        of_name += [own[folder].id] if own[folder].id else []
    taken: dict[tuple[str, str, str], tuple[str, str]] = {}
    moved: dict[tuple[str, str, str, str], str] = {}
    for folder, (own_id, own_name) in own.items():
        by_name = ids[folder.workspace, folder.folder]
        alike = by_name[slug(own_name)] or [*chain.from_iterable(by_name.values()), folder.folder]
        number = next(filter(str.isdecimal, alike), None)
        id_ = own_id if own_id.isdecimal() else number or own_id or alike[0]
        if folder.folder == UNSTATED:
            id_ = UNSTATED
        elif own_id not in ("", id_):
            message = f"eval id {own_id!r}, but {id_} in another iteration, which was used"
            path = f"{folder.workspace}/{folder.iteration}/{folder.folder}"
            problems.add("warning", "disagree", path, message)
        name = UNSTATED if id_ == UNSTATED and folder not in metadata else own_name
        claim = (folder.folder, slug(eval_parts(name)[1]))
        at = (folder.workspace, folder.iteration, id_)
        owner = taken.setdefault(at, claim)
        if owner[1] != claim[1]:
            id_ = moved.setdefault((*at, claim[1]), folder.folder)
            message = f"eval id {at[-1]} is also claimed by {owner[0]}; its id here is {id_}"
            problems.add("warning", "duplicate-id", f"{folder.workspace}/{folder.folder}", message)
        keys[folder] = EvalKey(id_, name)
    return keys


class EvalIndex:
    """Finds the eval of an iteration that an id and a name from elsewhere speak of."""

    def __init__(self, keys: EvalKeys) -> None:
        self._by_name: dict[tuple[str, str, str], EvalKey] = {}
        self._by_id: dict[tuple[str, str, str], EvalKey] = {}
        for (workspace, iteration, folder), key in keys.items():
            self._by_id.setdefault((workspace, iteration, key.id), key)
            for name in (key.name, folder, eval_parts(folder)[1]):
                self._by_name.setdefault((workspace, iteration, slug(name)), key)

    def find(
        self, workspace: str, iteration: str, id_: str | None, name: str | None
    ) -> EvalKey | None:
        """The eval, or None. A known name decides; else the id does."""
        for text in (name, id_):
            if text and not text.isdecimal():
                key = self._by_name.get((workspace, iteration, slug(text)))
                if key is not None:
                    return key
        return self._by_id.get((workspace, iteration, id_)) if id_ is not None else None


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


def iteration_named(iteration: str | int | None, known: Collection[str]) -> str:
    """The name of an iteration that a document gives as a number or a name.

    >>> iteration_named(2, ["iteration-2"]), iteration_named("5b", []), iteration_named(None, [])
    ('iteration-2', 'iteration-5b', 'none')
    """
    text = "" if iteration is None else str(iteration)
    for candidate in (text, f"iteration-{text}"):
        if candidate in known:
            return candidate
    return f"iteration-{text}" if text[:1].isdigit() else text or NO_ITERATION


Definition = tuple[str, EvalKey, Eval]
"""A definition: the folder of its workspace, the eval that it defines, what it says."""


def seen_evals(
    keys: EvalKeys, metadata: Mapping[EvalFolder, EvalMetadata]
) -> dict[str, list[SeenEval]]:
    """The evals that runs or metadata speak of, by workspace."""
    seen: dict[str, dict[EvalKey, SeenEval]] = {}
    for folder, key in keys.items():
        eval_ = seen.setdefault(folder.workspace, {}).setdefault(key, SeenEval(key))
        eval_.names |= {slug(key.name), slug(folder.folder)}
        if described := metadata.get(folder):
            if described.prompt:
                eval_.prompts.add(described.prompt.strip())
            eval_.n_assertions = max(eval_.n_assertions, len(described.assertions))
    return {workspace: list(evals.values()) for workspace, evals in seen.items()}


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
    iterations = {place.iteration for place in run_places}
    iterations |= {file.place.iteration for file, _ in files.benchmarks}
    iterations |= {file.place.iteration for file in files.of_tools}
    of_iterations = (split_benchmarks(*found, iterations) for found in files.benchmarks)
    benchmarks = [*chain.from_iterable(of_iterations), *files.of_tools]
    benchmarks = _without_copies(_of_the_only_one(benchmarks, run_places), problems)
    named: dict[str, list[str]] = {}
    for place in (*run_places, *files.metadata_places):
        named.setdefault(place.workspace, [])
    for benchmark in sorted(benchmarks, key=lambda file: not file.is_benchmark):
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
    names = {
        folder: below(folder, base)
        if folder.startswith(f"{base}/")
        else os.path.basename(os.path.abspath(folder))
        for folder in named
    }
    return Catalogue(
        layout,
        files,
        {folder: (name, name_skill(folder, named[folder])) for folder, name in names.items()},
        keys,
        EvalIndex(keys),
        benchmarks,
        seen,
        [
            (suite.workspace, key, eval_)
            for suite in files.suites
            for key, eval_ in zip(suite.keys, suite.document.evals, strict=True)
        ],
        skills_of(files.suites),
    )


def _without_copies(benchmarks: list[BenchmarkFile], problems: Problems) -> list[BenchmarkFile]:
    """The same without files of a workspace that repeat another's runs of the same time."""
    first: dict[tuple[str, str, str], BenchmarkFile] = {}
    copies: list[BenchmarkFile] = []
    for benchmark in sorted(benchmarks, key=lambda file: not file.is_benchmark):
        time, runs = benchmark.document.metadata.timestamp, benchmark.document.runs
        key = (benchmark.place.workspace, time, repr(runs)) if time and runs else None
        other = first.setdefault(key, benchmark) if key else benchmark
        if other is not benchmark:
            copies.append(benchmark)
            message = f"the same runs of the same time as in {other.path}; counted once"
            problems.add("info", "copy", benchmark.path, message)
    return [benchmark for benchmark in benchmarks if not any(benchmark is copy for copy in copies)]


def _add_skill(named: dict[str, list[str]], workspace: str, name: str | None) -> None:
    """Note what a document of a workspace calls the skill, if it says so."""
    names = named.setdefault(workspace, [])
    names += filter(None, [stated_text(name)])


def _move_to_suites(files: Files, named: Mapping[str, list[str]]) -> None:
    """Where nothing ran, let what lies beside a suite be of that suite's workspace."""
    suites: dict[str, str] = {}
    for suite in files.suites:
        suites.setdefault(os.path.dirname(suite.path), suite.workspace)
    for position, (kind, file, document) in enumerate(files.others):
        home = suites.get(os.path.dirname(file.path))
        if home is not None and file.place.workspace not in named:
            place = replace(file.place, workspace=home)
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


class Named(NamedTuple):
    """What a run id names; `number` is None if it leaves it open."""

    eval: str
    configuration: str | None
    number: int | None


def named_by(run_id: str, known: Iterable[str]) -> Named:
    """What a run id of feedback names; `known` are the configurations of the runs.

    >>> tuple(named_by("eval-0-with_skill", [])), tuple(named_by("eval-0-v2-run-3", ["v2"]))
    (('eval-0', 'with_skill', None), ('eval-0', 'v2', 3))
    """
    numbered = re.fullmatch(r"(.+)[-_/]run[-_]?(\d{1,9})", run_id)
    name, number = (numbered[1], int(numbered[2])) if numbered else (run_id, None)
    for side in sorted(known, key=len, reverse=True):
        if re.search(rf"[-_/]{re.escape(side)}$", name):
            return Named(name[: -len(side) - 1], side, number)
    usual = find_side(name, last=True)
    eval_ = name[: usual.start()].rstrip("-_./ ") if usual and usual.end() == len(name) else ""
    return Named(eval_, usual[0], number) if usual and eval_ else Named(name, None, number)


def _of_the_only_one(
    benchmarks: Iterable[BenchmarkFile], places: Iterable[Place]
) -> list[BenchmarkFile]:
    """A benchmark that names no iteration, in a workspace with runs of one alone, is of that."""
    known: dict[str, set[str]] = {}
    for place in places:
        known.setdefault(place.workspace, set()).add(place.iteration)

    alone = {workspace: min(names) for workspace, names in known.items() if len(names) == 1}
    return [
        replace(one, place=replace(one.place, iteration=alone[one.place.workspace]))
        if one.place.workspace in alone and one.place.iteration == NO_ITERATION and not one.tool
        else one
        for one in benchmarks
    ]


def split_benchmarks(
    file: FilePlace, documents: Sequence[Benchmark], known: Collection[str]
) -> list[BenchmarkFile]:
    """The benchmarks of a file, each at the iteration it is of.

    That is the folder's, where the file is of one iteration and lies in its folder, else
    the one that the benchmark names; a file of a name of its own is an iteration of its own,
    but for one that is called a summary. `known` are the iterations there are.
    """
    lies_in = file.place.iteration != NO_ITERATION and len(documents) == 1
    name = os.path.basename(file.path)
    stem = name.removesuffix(".json")
    side = configuration_in(stem) or (stem if is_configuration(stem) else None)
    plain = side or is_container(stem) or is_benchmark_file(file.path) or sums_up(name)
    found = []
    for document in documents:
        for run in document.runs:
            if side and run.configuration == UNSTATED:
                run.configuration = side
        of = iteration_named(document.metadata.iteration or (None if plain else stem), known)
        place = file.place if lies_in else replace(file.place, iteration=of)
        found.append(BenchmarkFile(file.path, place, document))
    return found
