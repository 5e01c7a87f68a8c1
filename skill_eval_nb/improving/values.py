"""The values of this room: suggestions, drafts, their files; and what models answered."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeVar

import msgspec

from skill_eval_nb.disk import leads_out, read_bytes, resolve_inside, write_atomic
from skill_eval_nb.documents import Document, Faults, NotJSON, mend, parse, to_json
from skill_eval_nb.grading.checks import read_table
from skill_eval_nb.grading.outputs import Content
from skill_eval_nb.running.asking import Answers, AskingProgress, Item, LeftOut, Terms
from skill_eval_nb.running.protocol import Refused, refuse
from skill_eval_nb.running.skill import OF_EVALS, contents
from skill_eval_nb.running.stored_runs import StoredRun, stored_runs
from skill_eval_nb.tables.columns import RunRef, frame_of
from skill_eval_nb.text import clip, dollars, some
from skill_eval_nb.view import Block, Shown, Text, reasons_table
from skill_eval_nb.workspace import PathLike
from skill_eval_nb.workspace.folders import OWN
from skill_eval_nb.workspace.jobs import SKILL_FILE, kept_skills, skill_now
from skill_eval_nb.workspace.writing import NotPlain, keep_beside, plain_value

Part = Literal["structural_expectations", "expectations", "dimensions", "evals"]
"""The list of a suite that a draft changes: one of an eval, or the suite's own."""

SuiteItem = Mapping[str, Any] | str
"""An item of such a list."""

Kind = Literal["add", "sharpen", "reword", "split", "demote", "drop"]


@dataclass(frozen=True, slots=True)
class About:
    """An expectation of an eval: its id, which is only valid in that eval, and its text."""

    id: str | None
    text: str

    @property
    def identity(self) -> str:
        """Identifies the same expectation across evals."""
        return plain(self.text)


@dataclass(frozen=True, slots=True)
class Source:
    """One thing that a grader said in one run, word for word.

    Attributes:
        run: the run that the grader looked at, with the keys of the table `suggestions`.
        kind: critique, vague, missing_coverage or suggested.
        expectation: the expectation that it is about, in the grader's words; None for a missing
            one.
        reason: what the grader said.
        about: the expectation of the eval that it is about; None if that is missing or unknown.
    """

    run: RunRef
    kind: str
    expectation: str | None
    reason: str
    about: About | None = None

    @property
    def suite(self) -> tuple[str, str]:
        """The workspace and the skill; suggestions of different suites are never the same."""
        return self.run.workspace, self.run.skill

    @property
    def text(self) -> str:
        """The text to compare, including the grader's name of an unknown expectation."""
        named = self.expectation if self.about is None else None
        return f"{named}: {self.reason}" if named else self.reason


REMARK = "a remark"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion, made in one or more runs in one or more wordings.

    Attributes:
        key: a short name, the same for the same sources.
        reason: the wording that is closest to all others.
        frequency: the number of runs whose graders made it.
        assertion: id (else text) of the expectation that it is about; None for a missing one.
        action: the expectation to add, if a grader proposes one.
        kind: the most frequent kind of its sources.
        sources: every wording, with its run.
        about: what it is about, in words; `REMARK` if it is praise and asks for nothing.
    """

    key: str
    reason: str
    frequency: int
    assertion: str | None
    action: str | None
    kind: str
    sources: tuple[Source, ...]
    about: str = ""

    @property
    def evals(self) -> tuple[str, ...]:
        """The ids of the evals in whose runs it was made, in order of first mention."""
        return tuple(dict.fromkeys(source.run.eval_id for source in self.sources))


@dataclass(frozen=True, slots=True)
class Draft:
    """A concrete change to a suite, and the evidence for it; nothing is written yet.

    `target` and `new` say how one list of the suite changes: without a target, the items of `new`
    are added; with one, the target is removed and the items of `new` take its place.

    Attributes:
        key: a short name, the same for the same change; worked out if it is "".
        kind: what it does, for people.
        part: the list that it changes.
        evals: ids (as in the tables) of the evals that it changes; empty for `evals` without a
            target.
        target: id, else name, else text of the item to remove; None if nothing is removed.
        new: the new items in the form of `skill-evaluator` (a text for `expectations`); without
            ids if the suite should number them.
        why: a sentence or two, with the figures.
        runs: the runs that the draft is based on.
        suggestions: keys of the suggestions that it answers.
        found_on: ids of the evals whose outputs were seen when it was drafted; a try-out on
            these proves nothing.
        missing: fields of `new` that a person still has to write, such as `prompt`; such a
            draft can be edited, but not applied. Worked out with the key.
        by: `rule`, or the model that drafted it.
        called: what people call the item to remove; empty if that is `target`.
    """

    key: str
    kind: Kind
    part: Part
    evals: tuple[str, ...]
    target: str | None
    new: tuple[SuiteItem, ...]
    why: str
    runs: tuple[RunRef, ...] = ()
    suggestions: tuple[str, ...] = ()
    found_on: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    by: str = "rule"
    called: str = ""

    def __post_init__(self) -> None:
        """Work out the key and the missing fields of a draft without a key."""
        if not self.key:
            key = key_of(self.part, self.evals, self.target, self.new)
            object.__setattr__(self, "key", key)
            object.__setattr__(self, "missing", missing_in(self.part, self.new))

    @property
    def eval_names(self) -> list[str]:
        """The evals that it changes, by name if the draft is based on runs of them."""
        names = {run.eval_id: run.eval_name for run in self.runs}
        return [clip(names.get(eval_id, eval_id)) for eval_id in self.evals]


def only_suite(ws: Any, doing: str) -> tuple[str, str]:
    """The one workspace and skill that runs are of; no names if there are none.

    Args:
        ws: a `Workspace`, or its table of runs.
        doing: what needs a single one, such as "a draft".

    Raises:
        Refused: there are several.
    """
    suites = frame_of(ws, "runs").select("workspace", "skill").unique()
    every = suites.sort("workspace", "skill").rows()
    if len(every) > 1:
        names = some((f"{skill} in {workspace}" for workspace, skill in every), 5)
        raise refuse(
            f"{doing} needs one skill, and there are {len(every)} here: {names}; choose one by "
            "ws.select(workspace=…, skill=…)"
        )
    return every[0] if every else ("", "")


ANCHORS = ("1", "3", "5")
"""The scores that a rubric describes."""
LOOKED_FOR = ("match", "match_any", "match_regex")


@lru_cache(maxsize=10_000)
def plain(text: str) -> str:
    """A text without case, extra spaces and marks at its ends: equal texts are one expectation.

    >>> plain(" The  file exists. ")
    'the file exists'
    """
    return " ".join(text.split()).casefold().strip(" .:;!,\"'`“”‘’")


def key_of(part: Part, evals: Sequence[str], target: str | None, new: Sequence[SuiteItem]) -> str:
    """A short name of a change, the same for the same change.

    >>> key_of("expectations", ["1"], None, ["It is short"])
    'd-b04776e1'
    """
    change = [
        part,
        list(evals),
        target,
        [item if isinstance(item, str) else dict(item) for item in new],
    ]
    text = json.dumps(change, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"d-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def missing_in(part: Part, new: Sequence[SuiteItem]) -> tuple[str, ...]:
    """The fields that a person still has to write before the change can be applied.

    >>> missing_in("structural_expectations", [{"type": "file_contains", "pattern": "*.md"}])
    ('match',)
    >>> missing_in("dimensions", [{"name": "tone", "scoring": {"1": "rude", "5": "kind"}}])
    ('description', 'scoring.3')
    """
    return tuple(dict.fromkeys(name for item in new for name in _missing_fields(part, item)))


def new_draft(
    kind: Kind,
    part: Part,
    evals: Iterable[str],
    target: str | None,
    new: Iterable[SuiteItem],
    why: str,
    **more: Any,
) -> Draft:
    """A draft, with its key and its missing fields worked out; `more` are its other fields."""
    more = {
        name: tuple(value) if isinstance(value, list) else value for name, value in more.items()
    }
    return Draft("", kind, part, tuple(evals), target, tuple(new), why, **more)


def edit_draft(draft: Draft, new: Sequence[SuiteItem]) -> Draft:
    """A draft with other items instead of its own, and so with another key.

    Its missing fields are worked out anew. Its evidence stays, and so do the evals that it was
    found on: an edited draft still came from their outputs.

    >>> blank = new_draft("reword", "expectations", ["1"], "It is good", [""], "Vague.")
    >>> blank.missing, edit_draft(blank, ["It names the author"]).missing
    (('text',), ())
    """
    return replace(draft, key="", new=tuple(new))


_WANTED: Mapping[str, tuple[str, ...]] = {
    "expectations": ("text",),
    "structural_expectations": ("type",),
    "dimensions": ("name", "description"),
    "evals": ("prompt",),
    "file_exists": ("pattern",),
    "file_count": ("pattern",),
    "custom_script": ("script",),
}
"""The texts that an item of a part, and a check of a type, must have."""


def _missing_fields(part: Part, item: SuiteItem) -> Iterator[str]:
    given: Mapping[str, Any] = {"text": item} if isinstance(item, str) else item
    kind = str(given.get("type")) if part == "structural_expectations" else ""
    wanted = (*_WANTED[part], *_WANTED.get(kind, ()))
    yield from (name for name in wanted if not _has_text(given.get(name)))
    if kind in ("file_contains", "file_not_contains"):
        yield from () if any(given.get(name) for name in LOOKED_FOR) else ("match",)
    if kind == "file_count" and given.get("count") is None:
        yield "count"
    if part == "dimensions":
        scoring = given.get("scoring") or {}
        yield from (f"scoring.{at}" for at in ANCHORS if not _has_text(scoring.get(at)))


def _has_text(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


# ── input files ──────────────────────────────────────────────────────────────────────────────

INPUTS = "inputs"
"""The field of a drafted eval with its input files, texts by path, where a person can edit them; in
a suite they are files: small, in its folder, and readable."""
FOLDER = "evals/files/"
MOST_CHARS = 20_000
_PLACE = re.compile(re.escape(FOLDER) + r"(?:[^\W_][\w .-]{0,99}/){0,3}[^\W_][\w .-]{0,99}")


def find_fault(path: str, text: Any) -> str | None:
    r"""Why something cannot be an input file; None if it can.

    >>> find_fault("evals/files/a.csv", "x,y\n1,2\n"), find_fault("evals/files/a.json", "{}")
    (None, None)
    >>> find_fault("evals/files/../a.txt", "x")
    'it must be in evals/files/, with a plain name'
    >>> find_fault("evals/files/a.csv", "x,y\n1\n")
    'it does not open: line 2 has 1 field, the header 2'
    """
    name = PurePosixPath(path).name
    if not _PLACE.fullmatch(path):
        return f"it must be in {FOLDER}, with a plain name"
    if any(fnmatchcase(name.lower(), pattern) for pattern in OF_EVALS):
        return "its name is one that executors may not see: choose another"
    if not isinstance(text, str) or not text.strip():
        return "it is empty"
    if len(text) > MOST_CHARS:
        return f"it has {len(text):,} characters; at most {MOST_CHARS:,}"
    try:
        data = text.encode()
        match PurePosixPath(name.lower()).suffix:
            case ".json":
                plain_value(text)
            case ".jsonl" | ".ndjson":
                _ = [plain_value(line) for line in text.splitlines() if line.strip()]
            case ".toml":
                tomllib.loads(text)
            case ".csv" | ".tsv":
                fault = read_table(name, Content(data)).fault
                return fault and f"it does not open: {fault}"
    except (NotPlain, ValueError, RecursionError) as error:
        return f"it does not open: {error}"
    return None


def root_of(suite: Path) -> Path:
    """The folder that a suite's input paths start from."""
    return suite.parent.parent if suite.parent.name == "evals" else suite.parent


def take_inputs(draft: Draft, root: Path, taken: dict[Path, bytes]) -> Draft:
    """Take the input files out of a draft of evals; gives it with their paths as `files`.

    Args:
        draft: the draft.
        root: the folder that the suite's input paths start from.
        taken: the files of earlier drafts with their content; this one's are added.

    Raises:
        Refused: one cannot be an input file, or another file is in its place.
        OSError: a file in its place cannot be read.
    """
    new: list[SuiteItem] = []
    for item in draft.new:
        own = {"text": item} if isinstance(item, str) else dict(item)
        given = own.get(INPUTS) or {}
        for name, text in given.items() if isinstance(given, dict) else [(str(given), None)]:
            path = root / name
            fault = find_fault(name, text) or leads_out(path, root)
            if fault is None:
                data = str(text).encode()
                there = read_bytes(path, root) if path.exists() else data
                if taken.setdefault(path, data) != data or there != data:
                    fault = "another file is there: give it another name"
            if fault is not None:
                raise refuse(f"input file `{name}`: {fault}")
        if given:  # it is replaced by the paths
            files = [*own.get("files", ()), *given]
            own = {"files" if name == INPUTS else name: value for name, value in own.items()}
            own["files"] = list(dict.fromkeys(files))
        own.pop(INPUTS, None)
        new.append(own)
    return replace(draft, new=tuple(new))


# ── files ──────────────────────────────────────────────────────────────────────────


def write_drafts(path: PathLike, drafts: Iterable[Draft]) -> Path:
    """Write drafts to a file in one step; `read_drafts` gives them back.

    Raises:
        OSError: if the file cannot be written.
    """
    filed = {"drafts": [msgspec.to_builtins(draft) for draft in drafts]}
    return write_atomic(path, to_json(filed))


def read_drafts(path: PathLike) -> tuple[Draft, ...]:
    """Read drafts from a file, which a person may have edited.

    Keys and missing fields are worked out anew, so that they fit the file.

    Args:
        path: a file of `write_drafts`: an object with a list `drafts`.

    Raises:
        Refused: the file has no drafts, or some of them cannot be read; all of them are named.
        OSError: if the file cannot be read.
    """
    try:
        raw = msgspec.json.decode(read_bytes(Path(path)))
    except msgspec.DecodeError as error:
        raise refuse(f"{path} is not JSON ({error})") from None
    listed = raw.get("drafts") if isinstance(raw, dict) else None
    if not isinstance(listed, list):
        raise refuse(f"{path} has no drafts: it should be an object with a list `drafts`")
    found: list[Draft] = []
    faults: list[str] = []
    for number, stated in enumerate(listed):
        try:
            found.append(_read_draft(stated))
        except msgspec.ValidationError as error:
            faults.append(f"{path}: $.drafts[{number}] is not a draft ({error})")
    if faults:
        raise Refused(faults)
    return tuple(found)


def _read_draft(raw: Any) -> Draft:
    if isinstance(raw, dict) and (odd := [*(raw.keys() - Draft.__annotations__.keys())]):
        raise msgspec.ValidationError(f"Object contains unknown field `{odd[0]}`")
    return msgspec.convert({**raw, "key": ""} if isinstance(raw, dict) else raw, Draft)


def own_folder(workspace: Path, *names: str) -> Path:
    """A folder of ours in a workspace, which need not exist yet.

    Raises:
        OSError: a link leads out of the workspace.
    """
    return Path(resolve_inside(workspace.joinpath(OWN, *names), workspace))


def write_own(
    path: PathLike, name: str, content: Any, is_ours: Callable[[Any], bool], force: bool
) -> Path:
    """Write JSON in one step, with this name if the path is a folder.

    What something else wrote there is replaced only with `force`, and kept next to it.

    Raises:
        Refused: there is such a file, and `force` is not set.
        OSError: it cannot be written.
    """
    file = Path(path)
    file = file / name if file.is_dir() else file
    if fault := leads_out(file, file.parent):
        raise refuse(f"{file} cannot be written: {fault}")
    there = read_bytes(file) if file.exists() else b"{}"
    try:
        raw = parse(there, Faults())
    except NotJSON:
        raw = None
    if file.exists() and not (isinstance(raw, dict) and is_ours(raw)):
        if not force:
            raise refuse(
                f"{file} was not written by this tool: name another file, or replace it (force), "
                f"which keeps it as {file.name}.N.bak"
            )
        keep_beside(file, there)
    return write_atomic(file, to_json(content))


# ── what is stored of runs and skills ────────────────────────────────────────────────────────

LARGEST_SHOWN = 200_000
"""Bytes of a file whose text is read."""


def stored_at(folders: Iterable[str]) -> dict[str, StoredRun]:
    """The runs that are stored in these folders, by the folder as it was given."""
    real = {str(Path(folder).resolve()): folder for folder in folders if Path(folder).is_dir()}
    found = stored_runs(os.path.commonpath(list(real))) if real else []
    return {real[str(run.folder)]: run for run in found if str(run.folder) in real}


def read_texts(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Name and text of each file of a skill, SKILL.md first.

    The text is None if a file is not text, is larger than `LARGEST_SHOWN`, or cannot be read.
    """
    root = folder.resolve()
    for name in sorted(contents(root).files, key=lambda name: (name != SKILL_FILE, name)):
        path = root / name
        try:
            shown = path.stat().st_size <= LARGEST_SHOWN
            yield name, read_bytes(path, root).decode() if shown else None
        except (OSError, UnicodeDecodeError):
            yield name, None


def skill_folders(runs: Iterable[StoredRun]) -> Iterator[Path]:
    """Every version of a skill in the workspaces of these runs, and the current one."""
    workspaces: dict[Path, list[StoredRun]] = {}
    for run in runs:
        workspaces.setdefault(run.workspace, []).append(run)
    for workspace, own in sorted(workspaces.items()):
        names = ({run.iteration for run in own}, {run.configuration for run in own})
        yield from (kept_skill.folder for kept_skill in kept_skills(workspace, *names))
        if (now := skill_now(workspace)) is not None:
            yield now.folder


# ── what models answered ─────────────────────────────────────────────────────────────────────

V = TypeVar("V")
D = TypeVar("D", bound=Document)
Progress = Callable[[AskingProgress], None]
MOST = 30
"""If there are more reasons than this, the rest are only counted."""
_WRITING = threading.Lock()


@dataclass(frozen=True, kw_only=True, repr=False)
class Paid(Shown):
    """The result of asking a model, item by item.

    Attributes:
        status: `done`; `partial` where a question has no answer; `dry run` if nobody was
            asked.
        n_before: answers that were there before.
        n_missing: answers still missing.
        model: the model that was asked; None if there was nothing to ask and none was named.
        failed: questions without an answer, each with the reason.
        left_out: what could not be asked about, each with the reason.
        cost_usd: what this call's answers cost; None if a price is not known.
        worst_usd: the most that the missing ones could have cost before they were asked, in US
            dollars; None if a price is not known.
        notes: choices made for the user, and caveats.
    """

    status: str
    n_before: int
    n_missing: int
    model: str | None
    failed: tuple[LeftOut, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    cost_usd: float | None = 0.0
    worst_usd: float | None = 0.0
    notes: tuple[str, ...] = ()

    def _say_counts(self, there: int, nouns: str) -> str:
        """How many answers there are and are missing, and what they cost."""
        if self.status == "dry run":
            return (
                f"{there:,} {nouns} exist, {self.n_missing} to make, "
                f"{dollars(self.worst_usd)} at most"
            )
        return (
            f"{there:,} {nouns}, {self.n_before} of them from before, {self.n_missing} missing; "
            f"{dollars(self.cost_usd)}"
        )

    def _left_blocks(self, caption: str) -> list[Block]:
        """What failed, every reason once, and the notes."""
        why = [("failed", failure.reason) for failure in self.failed]
        why += [("left out", left.reason) for left in self.left_out]
        notes: list[Block] = [Text(note, soft=True) for note in self.notes]
        return [reasons_table(why, caption, MOST), *notes]


def paid_fields(
    items: Iterable[Item[V]], answers: Answers[V], terms: Terms, left_out: Iterable[LeftOut] = ()
) -> dict[str, Any]:
    """The fields of `Paid` that answers give."""
    keys = [item.key for item in items]
    failed = tuple(answers.failed.values())
    return {
        "status": "dry run" if terms.dry_run else "partial" if failed else "done",
        "n_before": sum(key in answers.before for key in keys),
        "n_missing": sum(key not in answers.values for key in keys),
        "failed": failed,
        "left_out": tuple(left_out),
        "cost_usd": answers.cost_usd,
        "worst_usd": answers.worst_usd,
    }


def choose_model(terms: Terms, given: str | None, earlier: Iterable[str | None], to_do: str) -> str:
    """The model to ask.

    Args:
        terms: how models are asked.
        given: the model that was named, if one was.
        earlier: the models that were asked before.
        to_do: what it is to do.

    Raises:
        Refused: none was named, and several were asked before, or none.
    """
    found = terms.model(given, earlier)
    if isinstance(found, str):
        return found
    names = f"{', '.join(found)} were used before" if found else "none was used before"
    raise refuse(f"model is not given, and {names}: say which model is to {to_do}")


def documents_at(paths: Iterable[Path], kind: type[D]) -> Iterator[tuple[Path, D]]:
    """The documents in files, including those that somebody has edited.

    Files that cannot be read are left out: the loader reports them.
    """
    for path in paths:
        try:
            raw = parse(read_bytes(path), Faults())
        except (NotJSON, OSError):
            continue
        if isinstance(raw, dict):
            yield path, mend(raw, kind)[0]


def write_numbered(folder: Path, stem: str, content: Any) -> Path:
    """Write JSON as STEM-N.json under the next number that is free, in one step.

    STEM.json, as other tools have it, is the first.

    Raises:
        OSError: it cannot be written.
    """
    with _WRITING:
        folder.mkdir(exist_ok=True)
        names = (re.fullmatch(rf"{stem}(?:-(\d+))?\.json", path.name) for path in folder.iterdir())
        number = 1 + max((int(name[1] or 1) for name in names if name), default=0)
        return write_atomic(folder / f"{stem}-{number}.json", to_json(content))
