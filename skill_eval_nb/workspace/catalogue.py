"""Who is who in what was found: workspaces, skills, evals, definitions, stated runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count, groupby

from skill_eval_nb.documents import Benchmark, BenchmarkMetadata, Eval, EvalMetadata
from skill_eval_nb.documents.sides import UNSTATED, find_side, is_model
from skill_eval_nb.documents.tools import Results, Run, settle_runs

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
from .find import add_proposal
from .folders import NO_ITERATION, Place, eval_parts, is_configuration, is_container
from .layout import RESULTS, EvalFolder, FilePlace, Layout, folder_of
from .problems import Problems, shorten_path
from .read import Files, collector_paused, read_documents


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

    def shorten_path(self, path: str) -> str:
        """A path as it is told: below what was loaded."""
        return shorten_path(path, self.layout.base)

    def eval_of(self, place: Place) -> EvalKey:
        """The eval that a place lies in, or that a file graded there names."""
        key = self.keys.get(folder_of(place))
        key = key or self.index.find(place.workspace, place.iteration, place.eval, place.eval)
        return key or EvalKey(eval_parts(place.eval)[0] or place.eval, place.eval)


def read_files(layout: Layout) -> Files:
    """Read all files of a layout; what tools tell is put where it belongs."""
    files = read_documents(layout)
    place_results(files, layout.problems)
    add_proposal(layout.problems)
    return files


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
    """Report the name that is used if a workspace's benchmarks give its skill several."""
    for workspace, names in named.items():
        known = [*dict.fromkeys(filter(None, map(skill_named, names)))]
        if len(known) > 1:
            message = (
                f"the benchmarks call the skill {', '.join(known)}: {known[0]} is used here, "
                "except for runs that name their own"
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


# ── what other tools tell ────────────────────────────────────────────────────────────────────

ToolFile = tuple[FilePlace, Results]
"""A file of a tool, with what it tells."""


def place_results(files: Files, problems: Problems) -> None:
    """Add what the files of tools tell to the benchmarks, the metadata and the comparisons.

    The files of a tool that lie in no iteration are one workspace: the folder that holds them
    all. In an iteration of a workspace they are one benchmark, so that its runs are numbered
    through.
    """
    for place, group in _group_files(_drop_repeats(files.results, problems)):
        for file, results in group:
            problems.add_faults(file.path, results.faults.collapsed())
            for run in results.runs:
                run.path = run.path or file.path
                if run.configuration == UNSTATED and file.configuration:
                    run.configuration = file.configuration
        add_results(place, [results for _, results in group], files, problems)
        for file, results in group:
            own = replace(place, path=file.path)
            files.others += [("comparison", own, comparison) for comparison in results.comparisons]
            if results.aggregates and _is_sole(results, group):
                about = BenchmarkMetadata(skill_name=results.skill)
                summary = Benchmark(about, [], dict(results.aggregates))
                files.of_tools.append(BenchmarkFile(own.path, own.place, summary, own.tool))


def add_results(place: FilePlace, group: list[Results], files: Files, problems: Problems) -> None:
    """Add the runs and evals of some results, which are of one iteration of one workspace."""
    for results in group:
        files.others += [("triggers", place, queries) for queries in results.triggers]
        for run in results.runs:
            run.path = run.path or place.path
            run.skill = run.skill or results.skill
    runs = settle_runs([run for results in group for run in results.runs], problems.add)
    evals = [(eval_, results.skill) for results in group for eval_ in results.evals]
    _tell_apart([*((run, run.skill) for run in runs), *evals])
    asked = (EvalMetadata(run.eval_id, run.eval_name, run.prompt) for run in runs if run.prompt)
    for eval_ in (*(eval_ for eval_, _ in evals), *asked):
        folder = EvalFolder(*place.place[:2], str(eval_.eval_id))
        if folder not in files.metadata:
            files.metadata[folder] = eval_
            files.metadata_places.append(place.place._replace(eval=folder.folder))
    skills = [name for name in dict.fromkeys(run.skill for run in runs) if name]
    _name_skills(runs)
    _number_runs(runs)
    if place.tool != "table":  # which has told in its own words
        _tell_unstated(runs, problems)
    skill = skills[0] if len(skills) == 1 else None
    if runs:
        about = Benchmark(BenchmarkMetadata(skill_name=skill), [])
        files.of_tools.append(BenchmarkFile(place.path, place.place, about, place.tool, runs))


def _drop_repeats(found: Iterable[ToolFile], problems: Problems) -> list[ToolFile]:
    """The same without files that tell what another one tells."""
    first: dict[str, str] = {}
    kept = []
    for file, results in found:
        path = first.setdefault(results.key, file.path) if results.key else file.path
        if path == file.path:
            kept.append((file, results))
        else:
            problems.add("info", "copy", file.path, f"the same results as in {path}; counted once")
    return kept


def _group_files(files: list[ToolFile]) -> list[tuple[FilePlace, list[ToolFile]]]:
    """The files of each tool and iteration, with the place that they share."""
    loose: dict[str | None, set[str]] = {}
    for file, results in files:
        if file.place.iteration == NO_ITERATION and results.below is results.iteration is None:
            of_run = any(run.path and run.path != file.path for run in results.runs)
            above = os.path.dirname(file.path)
            loose.setdefault(file.tool, set()).add(os.path.dirname(above) if of_run else above)
    homes = {tool: _find_holder(_common_folder(folders)) for tool, folders in loose.items()}
    groups: dict[tuple[str | None, str, str], list[ToolFile]] = {}
    for file, results in files:
        home, iteration = file.place.workspace, results.iteration or file.place.iteration
        if results.below is not None:
            home = _folder_above(file.path, results.below)
        elif results.iteration is not None:
            above, lies_below, _ = file.path.rpartition(f"/{iteration}/")
            home = above if lies_below else _find_holder(os.path.dirname(file.path))
        elif file.place.iteration == NO_ITERATION:
            home = homes[file.tool]
        groups.setdefault((file.tool, home, iteration), []).append((file, results))
    found = []
    for (_, home, iteration), group in groups.items():
        file, _ = group[0]
        place = file.place._replace(workspace=home, iteration=iteration)
        found.append((replace(file, place=place), group))
    return found


def _folder_above(path: str, below: str) -> str:
    """The folder from which a file lies below some folders; its own where it lies elsewhere."""
    folder = os.path.dirname(path)
    return folder.removesuffix(f"/{below}") if below not in ("", ".") else folder


def _common_folder(folders: Iterable[str]) -> str:
    """The folder that holds them all."""
    try:
        return os.path.commonpath(folders)
    except ValueError:  # some are relative
        return os.path.commonpath([os.path.abspath(folder) for folder in folders])


def _find_holder(folder: str) -> str:
    """The nearest folder that is not a side, a model, a trial, or only a holder of others."""
    name = os.path.basename(folder)
    if name and (
        is_configuration(name) or is_container(name) or name.lower() in _HOLDERS or is_model(name)
    ):
        above = os.path.dirname(folder)
        return _find_holder(above) if above not in ("", folder) else folder
    return folder


_HOLDERS = frozenset(
    ("jobs", "raw", "trials", "trajectories", "logs", "skilled", "plugin", ".deepeval")
)
"""Folders in which tools, and they alone, keep their results."""


def _tell_apart(entries: list[tuple[Run | EvalMetadata, str | None]]) -> None:
    """Where evals of several skills have the same id, begin all ids with the skill."""
    skills: dict[str, set[str | None]] = {}
    for entry, skill in entries:
        skills.setdefault(str(entry.eval_id), set()).add(skill)
    several = any(len(names - {None}) > 1 for names in skills.values())
    for entry, skill in entries if several else ():
        if skill:
            entry.eval_id = f"{skill}/{entry.eval_id}"


def _name_skills(runs: list[Run]) -> None:
    """If there are several skills, a run that names none is of that of its eval's others."""
    known = {run.eval_id: run.skill for run in runs if run.skill}
    for run in runs if len(set(known.values())) > 1 else ():
        run.skill = run.skill or known.get(run.eval_id)


def _number_runs(runs: list[Run]) -> None:
    """Number the runs of each eval and configuration through: as stated, if that is free."""
    taken: set[tuple[object, ...]] = set()
    waiting = sorted(runs, key=lambda run: run.run_number is None)
    for run in waiting:
        key = run.skill, run.eval_id, run.configuration
        wanted = max(run.run_number or 1, 1)
        run.run_number = next(n for n in count(wanted) if (*key, n) not in taken)
        taken.add((*key, run.run_number))


def _tell_unstated(runs: list[Run], problems: Problems) -> None:
    lost = {run.path for run in runs if run.configuration == UNSTATED}
    if lost:
        message = (
            f"nothing states the side of the runs in {len(lost)} files or folders: they are "
            'compared with nothing. Give `load(…, configuration="without_skill")`, or a mapping '
            "from names of files to sides, or call a file or folder with_skill or without_skill"
        )
        problems.add("warning", "no-configuration", min(lost), message)


def _is_sole(results: Results, group: list[ToolFile]) -> bool:
    """Whether what it states is of all runs of its side here, and so can be held against them."""
    sides = set(results.aggregates) - {"delta"}
    others = [other for _, other in group if other is not results and other.aggregates]
    return not any(sides & set(other.aggregates) for other in others)
