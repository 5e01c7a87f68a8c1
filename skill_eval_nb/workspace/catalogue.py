"""Who is who in what was found: workspaces, skills, evals, definitions, stated runs."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, groupby
from typing import NamedTuple

from skill_eval_nb.documents import Benchmark, Eval, EvalMetadata
from skill_eval_nb.documents.dialects.home_made_rows import configuration_in
from skill_eval_nb.documents.sides import UNSTATED, find_side
from skill_eval_nb.text import some

from .files import BenchmarkFile, Files, SuiteFile, is_benchmark_file
from .layout import RESULTS, EvalFolder, FilePlace, Layout, folder_of, sums_up
from .names import eval_parts, is_configuration, is_container, slug
from .problems import Problems, below
from .roles import NO_ITERATION, Place


class EvalKey(NamedTuple):
    """An eval as the tables name it."""

    id: str
    name: str


EvalKeys = dict[EvalFolder, EvalKey]

PLACEHOLDERS = frozenset(("", "-", "—", "unknown", "n/a", "none", "null", "tbd"))


def stated_text(text: str | None) -> str | None:
    """A text that says something: None for placeholders such as ``<model-name>``.

    >>> stated_text("<model-name>"), stated_text("—"), stated_text("pdf")
    (None, None, 'pdf')
    """
    if text is None or text.strip().lower() in PLACEHOLDERS:
        return None
    return None if text.startswith("<") and text.endswith(">") else text


def skill_named(text: str | None) -> str | None:
    """The name of a skill in what a file gives for it, which may be the path of its SKILL.md.

    >>> skill_named("plugin/skills/tdd/SKILL.md"), skill_named("tdd"), skill_named("<skill>")
    ('tdd', 'tdd', None)
    """
    name = stated_text(text)
    if name is None or "/" not in name:
        return name
    parts = [part for part in name.split("/") if part.lower() not in ("", ".", "skill.md")]
    return parts[-1] if parts else None


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
        if name := stated_text(described.eval_name):
            stated.setdefault((folder.workspace, folder.folder), {})[name] = None
    for folder in dict.fromkeys(map(folder_of, places)):
        number, rest = eval_parts(folder.folder)
        described = metadata.get(folder)
        elsewhere = [*stated.get((folder.workspace, folder.folder), ())]
        other = elsewhere[0] if len(elsewhere) == 1 else rest
        name = (described and stated_text(described.eval_name)) or other
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


def skill_of(workspace: str, texts: Iterable[str | None]) -> str:
    """The skill that a workspace evaluates: as its documents say, else by its folder's name.

    >>> skill_of("/x/skills/tdd-workspace", []), skill_of("/x/pdf/evals", [])
    ('tdd', 'pdf')
    """
    for text in texts:
        if (name := skill_named(text)) is not None:
            return name
    names = [name for name in os.path.abspath(workspace).split(os.sep) if name]
    plain = [name.removesuffix("-workspace") or name for name in names]
    own = next((name for name in reversed(plain) if not is_container(name)), None)
    name = own or (names[-1] if names else UNSTATED)
    return name.removesuffix("-workspace") or name


def iteration_named(iteration: str | int | None, known: Iterable[str]) -> str:
    """The name of an iteration that a document gives as a number or a name.

    >>> iteration_named(2, ["iteration-2"]), iteration_named("5b", []), iteration_named(None, [])
    ('iteration-2', 'iteration-5b', 'none')
    """
    if iteration is None or str(iteration) == "":
        return NO_ITERATION
    text = str(iteration)
    names = list(known)
    for candidate in (text, f"iteration-{text}"):
        if candidate in names:
            return candidate
    return text if not text[0].isdigit() else f"iteration-{text}"


Definition = tuple[str, EvalKey, Eval]
"""A definition: the folder of its workspace, the eval that it defines, what it says."""

EvalOf = tuple[str, str]
"""The folder of a workspace, and the id of one of its evals."""

Weights = dict[EvalOf, dict[str, float]]
"""Workspace and eval id to dimension to weight."""


@dataclass(slots=True)
class SeenEval:
    """An eval that runs or metadata speak of: its names, its prompts, its checks."""

    key: EvalKey
    names: set[str] = field(default_factory=set)
    prompts: set[str] = field(default_factory=set)
    n_assertions: int = 0


def home(suite: SuiteFile, named: Mapping[str, list[str | None]], sole: str | None) -> str:
    """The folder of the workspace that a suite defines the evals of.

    It is the one it lies in; else the one beside the skill's folder, or of the same skill
    (`named` gives the names by which each workspace calls its skill); else the sole one
    there is, if that is not of another skill; else the suite stands for itself.
    """
    folder = os.path.dirname(suite.path)
    holder = _holder(suite)
    name = stated_text(suite.document.skill_name)
    lies_in = [workspace for workspace in named if f"{folder}/".startswith(f"{workspace}/")]
    if lies_in:
        return max(lies_in, key=len)
    beside = (f"{holder}-workspace", f"{holder}/workspace", f"{folder}/workspace")
    for workspace, names in named.items():
        of_skill = name is not None and (name in names or workspace.endswith(f"/{name}-workspace"))
        if workspace in beside or of_skill:
            return workspace
    if sole is not None and (
        name is None or not (known := _stated_names(named[sole])) or name in known
    ):
        return sole
    return holder


def keep_apart(
    suites: Iterable[SuiteFile],
    named: Mapping[str, list[str | None]],
    seen: Mapping[str, list[SeenEval]],
) -> None:
    """Let suites of several skills that one workspace would get stand for themselves.

    Those stay that are of the skill that the workspace names, or define an eval that was run
    there. Of a folder with suites of several skills each other skill is a workspace of its own.
    """
    shared: dict[str, list[SuiteFile]] = {}
    for suite in suites:
        shared.setdefault(suite.workspace, []).append(suite)
    owners: dict[str, str] = {}
    for workspace, ones in shared.items():
        if len({_skill(suite) for suite in ones}) < 2:
            continue
        known, names = seen.get(workspace, []), _stated_names(named.get(workspace, []))
        strange = [
            suite
            for suite in ones
            if _skill(suite) not in names
            and not any(_by_text(eval_, known, _skill(suite)) for eval_ in suite.document.evals)
        ]
        own = names or [_skill(suite) for suite in ones if suite not in strange]
        if own:
            owners[workspace] = own[0]
        for suite in strange:
            folder, skill = _holder(suite), _skill(suite)
            first = owners.setdefault(folder, skill) == skill
            suite.workspace = folder if first else f"{folder}/{skill}"


def _skill(suite: SuiteFile) -> str:
    return skill_named(suite.document.skill_name) or os.path.basename(_holder(suite))


def _holder(suite: SuiteFile) -> str:
    """The folder that a suite is of: above one that merely holds evals."""
    folder = os.path.dirname(suite.path)
    return os.path.dirname(folder) if is_container(os.path.basename(folder)) else folder


def _stated_names(names: Iterable[str | None]) -> list[str]:
    return [name for name in map(stated_text, names) if name is not None]


def join(
    suites: Iterable[SuiteFile], seen: Mapping[str, list[SeenEval]], problems: Problems
) -> list[Definition]:
    """Each definition with its workspace and the key of the eval it defines.

    Definitions are joined to the evals that were run as `_by_text` does, else by id; whether ids
    are offset by one is decided once for a suite, by which reading agrees with more of the evals
    whose prompt or name is known. Two definitions of a suite are never one eval.
    """
    joined = []
    first: dict[tuple[str, str], tuple[Eval, str]] = {}
    for suite in suites:
        otherwise: dict[str, str] = {}
        evals = suite.document.evals
        known = seen.get(suite.workspace, [])
        skill = _skill(suite)
        prompts = Counter(definition.prompt.strip() for definition in evals)
        matches = [
            _by_text(definition, known, skill, shares_prompt=prompts[definition.prompt.strip()] > 1)
            for definition in evals
        ]
        offset = _find_offset(suite, matches, known, problems)
        used = {match.key.id for match in matches if match is not None}
        by_id = {eval_.key.id: eval_ for eval_ in reversed(known)}
        made: set[str] = set()
        numbers: dict[str, Iterator[int]] = {}
        renamed: dict[str, list[str]] = {}
        for index, definition in enumerate(evals):
            id_ = _shift_id(definition.id, offset) or str(index + 1)
            match = matches[index]
            if match is None and id_ not in used:
                match = by_id.get(id_)
            key = match.key if match else EvalKey(id_, definition.name or id_)
            others = used if match is None else set()
            if key.id in made or key.id in others:
                further = numbers.setdefault(id_, count(2))
                free = chain([definition.name], (f"{id_} ({number})" for number in further))
                own = next(one for one in free if one and one not in made and one not in others)
                renamed.setdefault(key.id, []).append(own)
                key = EvalKey(own, definition.name or own)
            made.add(key.id)
            joined.append((suite.workspace, key, definition))
            known_as, path = first.setdefault((suite.workspace, key.id), (definition, suite.path))
            if known_as != definition:
                otherwise[key.id] = path
        ids = Counter(str(definition.id) for definition in evals if definition.id is not None)
        for id_ in dict.fromkeys([*(id_ for id_ in ids if ids[id_] > 1), *renamed]):
            called = some(renamed.get(id_, ()))
            message = f"several evals have the id {id_}; give each its own"
            message += f" (the later ones are called {called} here)" if called else ""
            problems.add("warning", "duplicate-id", suite.path, message, where="$.evals[*].id")
        if otherwise:  # the tables have the first
            message = (
                f"eval ids {some(otherwise)} are already defined otherwise in "
                f"{some(dict.fromkeys(otherwise.values()))}, which was used"
            )
            problems.add("warning", "defined-twice", suite.path, message, where="$.evals[*]")
    return joined


def _by_text(
    definition: Eval, known: list[SeenEval], skill: str, *, shares_prompt: bool = False
) -> SeenEval | None:
    """The eval of the same name and id, else of the same prompt, else of the same name.

    A prompt that definitions share tells none of them. The last that is looked for is an eval that
    is called after the skill and the id: `csv-2`.
    """
    id_, prompt = definition.id, definition.prompt.strip()
    texts = (definition.name, id_ if isinstance(id_, str) and not id_.isdecimal() else None)
    names = {slug(text) for text in texts if text}
    named = [eval_ for eval_ in known if names & eval_.names]
    alike = [] if shares_prompt else [eval_ for eval_ in known if prompt in eval_.prompts]
    alike.sort(key=lambda eval_: (not names & eval_.names, eval_.key.id != str(id_)))
    exact = [eval_ for eval_ in named if eval_.key.id == str(id_)]
    after = (eval_ for eval_ in known if _is_after(eval_, skill, id_))
    return next(chain(exact, alike, named, after), None)


def _is_after(eval_: SeenEval, skill: str, id_: str | int | None) -> bool:
    word, _, number = slug(eval_.key.name).rpartition("-")
    words = slug(skill).split("-")
    return number == str(id_) and bool(word) and set(word.split("-")) <= set(words)


def _find_offset(
    suite: SuiteFile, matches: list[SeenEval | None], known: list[SeenEval], problems: Problems
) -> int:
    """0, or -1 where definitions count from 1 and the runs from 0."""
    votes = {0: 0, -1: 0}
    for definition, match in zip(suite.document.evals, matches, strict=True):
        for offset in votes:
            if match is not None and _shift_id(definition.id, offset) == match.key.id:
                votes[offset] += 1
    if not any(votes.values()):
        ids = {eval_.key.id for eval_ in known}
        votes = {
            offset: sum(_shift_id(eval_.id, offset) in ids for eval_ in suite.document.evals)
            for offset in votes
        }
    offset = -1 if votes[-1] > votes[0] else 0
    if offset:
        message = (
            f"its ids count from 1, those of the runs from 0: definition N is eval N-1 "
            f"({votes[-1]} evals agree, {votes[0]} would otherwise)"
        )
        problems.add("info", "id-offset", suite.path, message, where="$.evals[*].id")
    return offset


def _shift_id(id_: str | int | None, offset: int) -> str | None:
    if id_ is None:
        return None
    text = str(id_)
    return str(int(text) + offset) if offset and text.isdecimal() else text


def skills_of(suites: Iterable[SuiteFile], joined: Iterable[Definition]) -> dict[EvalOf, str]:
    """The skill of each eval that names its own, or whose workspace has suites of several."""
    by_workspace: dict[str, dict[str, str]] = {}
    own: dict[EvalOf, str] = {}
    whose = (suite for suite in suites for _ in suite.document.evals)
    for suite, (workspace, key, definition) in zip(whose, joined, strict=True):
        above = os.path.basename(os.path.dirname(_holder(suite)))
        if skill := skill_named(definition.skill):
            own.setdefault((workspace, key.id), skill)
        elif stated_text(suite.document.skill_name) or above == "skills":
            by_workspace.setdefault(workspace, {}).setdefault(key.id, _skill(suite))
    several = {
        (workspace, id_): skill
        for workspace, skills in by_workspace.items()
        if len(set(skills.values())) > 1
        for id_, skill in skills.items()
    }
    return {**several, **own}


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


def weights_of(joined: Iterable[Definition]) -> Weights:
    """The weights of each eval's rubric dimensions."""
    return {
        (workspace, key.id): {
            dimension.name: dimension.weight for dimension in definition.quality_rubric.dimensions
        }
        for workspace, key, definition in joined
        if definition.quality_rubric is not None
    }


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What things are called, and what is known of them besides the runs.

    `names` gives the name and the skill of each workspace's folder, `skills` those of evals that
    are of others.
    """

    base: str
    names: dict[str, tuple[str, str]]
    keys: EvalKeys
    index: EvalIndex
    benchmarks: list[BenchmarkFile]
    seen: dict[str, list[SeenEval]]
    definitions: list[Definition]
    weights: Weights
    skills: dict[EvalOf, str]

    def below(self, path: str) -> str:
        """A path as it is told: below what was loaded."""
        return below(path, self.base)

    def eval_of(self, place: Place) -> EvalKey:
        """The eval that a place lies in, or that a file graded there names."""
        key = self.keys.get(folder_of(place))
        key = key or self.index.find(place.workspace, place.iteration, place.eval, place.eval)
        return key or EvalKey(eval_parts(place.eval)[0] or place.eval, place.eval)


def catalogue_files(layout: Layout, files: Files, base: str, problems: Problems) -> Catalogue:
    """Settle who is who. A folder whose results a tool's file tells is no run besides."""
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
    named = _named_skills([*run_places, *files.metadata_places], benchmarks)
    _tell_models(layout, problems)
    _report_skills(named, problems)
    seen = seen_evals(keys, files.metadata)
    sole = next(iter(named)) if len(named) == 1 else None
    for suite in files.suites:
        suite.workspace = home(suite, named, sole)
    keep_apart(files.suites, named, seen)
    _move_to_suites(files, named)
    for suite in files.suites:
        named.setdefault(suite.workspace, []).append(suite.document.skill_name)
    for workspace, names in _skills_of_others(files).items():
        sets = named.setdefault(workspace, [])
        sets += names if len(names) == 1 else []
    definitions = join(files.suites, seen, problems)
    names = {
        folder: below(folder, base)
        if folder.startswith(f"{base}/")
        else os.path.basename(os.path.abspath(folder))
        for folder in named
    }
    return Catalogue(
        base,
        {folder: (name, skill_of(folder, named[folder])) for folder, name in names.items()},
        keys,
        EvalIndex(keys),
        benchmarks,
        seen,
        definitions,
        weights_of(definitions),
        skills_of(files.suites, definitions),
    )


def suite_keys(files: Files, catalogue: Catalogue) -> dict[str, tuple[str, list[EvalKey]]]:
    """By the file of each suite its workspace, and the key of each of its evals, in their order."""
    definitions = iter(catalogue.definitions)
    return {
        suite.path: (suite.workspace, [next(definitions)[1] for _ in suite.document.evals])
        for suite in files.suites
    }


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


def _named_skills(
    places: Iterable[Place], benchmarks: Iterable[BenchmarkFile]
) -> dict[str, list[str | None]]:
    """The folders of the workspaces, each with the skill's names that its benchmarks give."""
    named: dict[str, list[str | None]] = {place.workspace: [] for place in places}
    for benchmark in sorted(benchmarks, key=lambda file: not file.is_benchmark):
        skill = benchmark.document.metadata.skill_name
        named.setdefault(benchmark.place.workspace, []).append(skill)
    return named


def _move_to_suites(files: Files, named: Mapping[str, list[str | None]]) -> None:
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
    found: dict[str, dict[str, None]] = {}
    for _, file, document in files.others:
        name = stated_text(getattr(document, "skill_name", None))
        found.setdefault(file.place.workspace, {}).update({} if name is None else {name: None})
    return {workspace: list(names) for workspace, names in found.items()}


def _report_skills(named: dict[str, list[str | None]], problems: Problems) -> None:
    """Say of which name the skill is, where the benchmarks of a workspace give it several."""
    for workspace, names in named.items():
        known = [name for name in dict.fromkeys(map(skill_named, names)) if name]
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

    def place_in_only(benchmark: BenchmarkFile) -> BenchmarkFile:
        (only, *others) = known.get(benchmark.place.workspace) or {NO_ITERATION}
        place = benchmark.place
        is_open = place.iteration == NO_ITERATION and benchmark.tool is None and not others
        return replace(benchmark, place=replace(place, iteration=only)) if is_open else benchmark

    return [place_in_only(benchmark) for benchmark in benchmarks]


def split_benchmarks(
    file: FilePlace, documents: Sequence[Benchmark], iterations: Iterable[str]
) -> list[BenchmarkFile]:
    """The benchmarks of a file, each at the iteration it is of.

    That is the folder's, where the file is of one iteration and lies in its folder, else
    the one that the benchmark names; a file of a name of its own is an iteration of its own,
    but for one that is called a summary.
    """
    path, place, known = file.path, file.place, list(iterations)
    lies_in = place.iteration != NO_ITERATION
    name = os.path.basename(path)
    stem = name.removesuffix(".json")
    side = configuration_in(stem) or (stem if is_configuration(stem) else None)
    plain = side or is_container(stem) or is_benchmark_file(path) or sums_up(name)
    own = None if plain else stem
    for run in (run for document in documents for run in document.runs):
        if side and run.configuration == UNSTATED:
            run.configuration = side
    if lies_in and len(documents) == 1:
        return [BenchmarkFile(path, place, documents[0])]
    named = (iteration_named(document.metadata.iteration or own, known) for document in documents)
    places = [replace(place, iteration=iteration) for iteration in named]
    return [BenchmarkFile(path, *both) for both in zip(places, documents, strict=True)]
