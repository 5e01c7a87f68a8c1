"""Which evals there are, what they are called, and which suite defines each of them.

The folders of evals are known first, by their names and metadata; then each suite is given to a
workspace, and its definitions to the evals that were run.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, count
from typing import Any, NamedTuple

from skill_eval_nb.documents import Eval, EvalMetadata, Evals
from skill_eval_nb.documents.sides import UNSTATED
from skill_eval_nb.text import some

from .folders import Place, eval_parts, is_container
from .layout import EvalFolder, folder_of
from .problems import Problems


@lru_cache(maxsize=4096)  # the same names come again and again
def slug(text: str) -> str:
    """A name without case, blanks and punctuation, to compare names that people write by hand.

    >>> slug("Email Validation (TDD)") == slug("email-validation-tdd")
    True
    """
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def number_id(id_: str) -> int | str:
    """An eval's id as a number if it is written as one.

    >>> number_id("12"), number_id("012"), number_id("no-log")
    (12, '012', 'no-log')
    """
    return int(id_) if re.fullmatch(r"0|[1-9][0-9]{0,14}", id_) else id_


PLACEHOLDERS = frozenset(("", "-", "—", "unknown", "n/a", "none", "null", "tbd"))


def stated_text(text: str | None) -> str | None:
    """A text that says something: None for placeholders such as ``<model-name>``.

    >>> stated_text("<model-name>"), stated_text("—"), stated_text("pdf")
    (None, None, 'pdf')
    """
    if text is None or text.strip().lower() in PLACEHOLDERS:
        return None
    return None if text.startswith("<") and text.endswith(">") else text


_OF_EVAL = re.compile(r"\b(?:eval|name|id|test|case|task|scenario|title)\b", re.IGNORECASE)


def eval_named(document: Any) -> str | None:
    """The name that a document gives its eval; None for a placeholder.

    What a template leaves in angle brackets speaks of the field. Other words in them are what the
    eval is called, as is its id, whatever it says.

    >>> from types import SimpleNamespace as row
    >>> [eval_named(row(eval_id=7, eval_name=n)) for n in ("<eval-name>", "none", "<script>")]
    [None, None, '<script>']
    >>> eval_named(row(eval_id="none", eval_name="none"))
    'none'
    """
    name = document.eval_name
    if name and (name == document.eval_id or (name[0] == "<" and not _OF_EVAL.search(name))):
        return name
    return stated_text(name)


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


class EvalKey(NamedTuple):
    """An eval as the tables name it."""

    id: str
    name: str


EvalOf = tuple[str, str]
"""The folder of a workspace, and the id of one of its evals."""


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


@dataclass(slots=True)
class SuiteFile:
    """An eval suite: its file, the workspace that it defines the evals of, what it says.

    `keys` are those of its evals, in their order, once they were joined to the runs.
    """

    path: str
    workspace: str
    document: Evals
    keys: list[EvalKey] = field(default_factory=list)

    @property
    def holder(self) -> str:
        """The folder that it belongs to: the one above if its own only holds evals."""
        folder = os.path.dirname(self.path)
        return os.path.dirname(folder) if is_container(os.path.basename(folder)) else folder

    @property
    def skill(self) -> str:
        """The skill that it names, else its folder's name."""
        return skill_named(self.document.skill_name) or os.path.basename(self.holder)


@dataclass(slots=True)
class SeenEval:
    """An eval that runs or metadata speak of: its names, its prompts, its checks."""

    key: EvalKey
    names: set[str] = field(default_factory=set)
    prompts: set[str] = field(default_factory=set)
    n_assertions: int = 0


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


def place_suites(
    suites: list[SuiteFile], named: Mapping[str, list[str]], seen: Mapping[str, list[SeenEval]]
) -> None:
    """Settle of which workspace each suite is.

    Suites of several skills that one workspace would get stand for themselves, but for those that
    are of the skill that the workspace names, or define an eval that was run there. Of a folder
    with suites of several skills each other skill is a workspace of its own.

    Args:
        suites: all of them.
        named: the names that each workspace's documents give its skill.
        seen: the evals that were seen in each workspace.
    """
    shared: dict[str, list[SuiteFile]] = {}
    for suite in suites:
        suite.workspace = _find_workspace(suite, named)
        shared.setdefault(suite.workspace, []).append(suite)
    owners: dict[str, str] = {}
    for workspace, ones in shared.items():
        if len({suite.skill for suite in ones}) < 2:
            continue
        known, names = seen.get(workspace, []), named.get(workspace, [])
        strange = [
            suite
            for suite in ones
            if suite.skill not in names
            and not any(_find_by_text(one, known, suite.skill) for one in suite.document.evals)
        ]
        own = names or [suite.skill for suite in ones if suite not in strange]
        if own:
            owners[workspace] = own[0]
        for suite in strange:
            folder, skill = suite.holder, suite.skill
            first = owners.setdefault(folder, skill) == skill
            suite.workspace = folder if first else f"{folder}/{skill}"


def _find_workspace(suite: SuiteFile, named: Mapping[str, list[str]]) -> str:
    """The folder of the workspace that a suite defines the evals of.

    It is the one it lies in; else the one beside the skill's folder, or of the same skill; else
    the sole one there is, if that is not of another skill; else the suite stands for itself.
    """
    folder, holder = os.path.dirname(suite.path), suite.holder
    name = stated_text(suite.document.skill_name)
    lies_in = [workspace for workspace in named if f"{folder}/".startswith(f"{workspace}/")]
    if lies_in:
        return max(lies_in, key=len)
    beside = (f"{holder}-workspace", f"{holder}/workspace", f"{folder}/workspace")
    for workspace, names in named.items():
        of_skill = name is not None and (name in names or workspace.endswith(f"/{name}-workspace"))
        if workspace in beside or of_skill:
            return workspace
    for workspace, names in named.items() if len(named) == 1 else ():
        if name is None or not names:
            return workspace
    return holder


def join_suites(
    suites: Iterable[SuiteFile], seen: Mapping[str, list[SeenEval]], problems: Problems
) -> None:
    """Give each suite the keys of the evals that it defines; the tables have the first definition.

    Args:
        suites: each with its workspace.
        seen: the evals that were seen in each workspace.
        problems: what is defined twice is added.
    """
    first: dict[EvalOf, tuple[Eval, str]] = {}
    for suite in suites:
        suite.keys = _find_keys(suite, seen.get(suite.workspace, []), problems)
        otherwise: dict[str, str] = {}
        for key, definition in zip(suite.keys, suite.document.evals, strict=True):
            known_as, path = first.setdefault((suite.workspace, key.id), (definition, suite.path))
            if known_as != definition:
                otherwise[key.id] = path
        if otherwise:
            message = (
                f"eval ids {some(otherwise)} are already defined differently in "
                f"{some(dict.fromkeys(otherwise.values()))}, which was used"
            )
            problems.add("warning", "defined-twice", suite.path, message, where="$.evals[*]")


def _find_keys(suite: SuiteFile, known: list[SeenEval], problems: Problems) -> list[EvalKey]:
    """The keys of a suite's evals, of which two are never one.

    They are joined to those that were run as `_find_by_text` does, else by id; whether ids are
    offset by one is decided once, by which reading agrees with more of the evals whose prompt or
    name is known.
    """
    evals = suite.document.evals
    prompts = Counter(definition.prompt.strip() for definition in evals)
    matches = [
        _find_by_text(one, known, suite.skill, shares_prompt=prompts[one.prompt.strip()] > 1)
        for one in evals
    ]
    offset = _find_offset(suite, matches, known, problems)
    used = {match.key.id for match in matches if match is not None}
    by_id = {eval_.key.id: eval_ for eval_ in reversed(known)}
    made: dict[str, EvalKey] = {}
    numbers: dict[str, Iterator[int]] = {}
    renamed: dict[str, list[str]] = {}
    for position, (definition, match) in enumerate(zip(evals, matches, strict=True), 1):
        id_ = _shift_id(definition.id, offset) or str(position)
        others = used if match is None else ()
        match = match or (None if id_ in others else by_id.get(id_))  # noqa: PLW2901
        key = match.key if match else EvalKey(id_, definition.name or id_)
        if key.id in made or key.id in others:
            further = numbers.setdefault(id_, count(2))
            free = chain([definition.name], (f"{id_} ({number})" for number in further))
            own = next(one for one in free if one and one not in made and one not in others)
            renamed.setdefault(key.id, []).append(own)
            key = EvalKey(own, definition.name or own)
        made[key.id] = key
    ids = Counter(str(definition.id) for definition in evals if definition.id is not None)
    for id_ in dict.fromkeys([*(id_ for id_ in ids if ids[id_] > 1), *renamed]):
        called = some(renamed.get(id_, ()))
        message = f"several evals have the id {id_}; give each its own"
        message += f" (the later ones are called {called} here)" if called else ""
        problems.add("warning", "duplicate-id", suite.path, message, where="$.evals[*].id")
    return list(made.values())


def _find_by_text(
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
    evals = suite.document.evals
    told = [(one.id, match.key.id) for one, match in zip(evals, matches, strict=True) if match]
    votes = {by: sum(_shift_id(id_, by) == known_id for id_, known_id in told) for by in (0, -1)}
    if not any(votes.values()):
        ids = {eval_.key.id for eval_ in known}
        votes = {by: sum(_shift_id(one.id, by) in ids for one in evals) for by in votes}
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


def skills_of(suites: Iterable[SuiteFile]) -> dict[EvalOf, str]:
    """The skill of each eval that names its own, or whose workspace has suites of several."""
    by_workspace: dict[str, dict[str, str]] = {}
    own: dict[EvalOf, str] = {}
    for suite in suites:
        above = os.path.basename(os.path.dirname(suite.holder))
        is_named = stated_text(suite.document.skill_name) or above == "skills"
        for key, definition in zip(suite.keys, suite.document.evals, strict=True):
            if skill := skill_named(definition.skill):
                own.setdefault((suite.workspace, key.id), skill)
            elif is_named:
                by_workspace.setdefault(suite.workspace, {}).setdefault(key.id, suite.skill)
    several = {
        (workspace, id_): skill
        for workspace, skills in by_workspace.items()
        if len(set(skills.values())) > 1
        for id_, skill in skills.items()
    }
    return {**several, **own}
