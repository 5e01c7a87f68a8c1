"""Read the eval suite to run: evals.json in any dialect, complete and free of contradictions."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec

from skill_eval_nb.disk import open_regular, read_bytes
from skill_eval_nb.documents import (
    Dimension,
    Eval,
    EvalConfig,
    EvalMetadata,
    Evals,
    Expectation,
    Faults,
    NotJSON,
    StructuralExpectation,
    dump,
    parse,
)
from skill_eval_nb.documents.dialects import kind_of, read_as_shared
from skill_eval_nb.text import did_you_mean
from skill_eval_nb.workspace.evals import slug

from .journal import NAME
from .protocol import Refused, gather_refusals, refuse
from .skill import OF_EVALS, SKILL_FILE


@dataclass(frozen=True, slots=True)
class Input:
    """An input file.

    Attributes:
        source: its path.
        name: its path in the working folder, which is the path that the suite states, so that
            prompts can name it.
        digest: a hash of what is in it.
        size: its bytes.
    """

    source: Path
    name: str
    digest: str
    size: int


def find_inputs(
    stated: Sequence[str], roots: Sequence[Path], forbidden: Iterable[Path] = ()
) -> tuple[Input, ...]:
    """Find the input files that an eval states.

    Args:
        stated: paths of files or folders; a folder stands for every file in it.
        roots: the folders to look in, in this order, the skill's folder first. No path may lead
            out of its root, by `..`, as an absolute path or through a link.
        forbidden: files that no executor may see: the evals themselves, and SKILL.md, which
            would give the baseline the skill.

    Raises:
        Refused: a file leaves its root, does not exist, or may not be seen; all faults at once.
    """
    faults: list[str] = []
    hidden = {path.resolve() for path in forbidden}
    found: dict[str, Input] = {}
    for text in stated:
        with gather_refusals(faults):
            found.update((input_.name, input_) for input_ in _find_inputs(text, roots, hidden))
    if faults:
        raise Refused(faults)
    return tuple(found[name] for name in sorted(found))


def place_inputs(inputs: Iterable[Input], folder: Path) -> None:
    """Copy input files into a working folder.

    Raises:
        Refused: one has changed since it was found.
        OSError: one cannot be copied.
    """
    for input_ in inputs:
        there = folder / input_.name
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(input_.source, there)
        if _digest(there) != input_.digest:
            raise refuse(f"input file {input_.source} has changed since the plan: plan again")


def _find_inputs(text: str, roots: Sequence[Path], hidden: set[Path]) -> list[Input]:
    name = _relative_path(text)
    for root in roots:
        path = root / name
        if not os.path.lexists(path):
            continue
        _check_inside(path, text, root)
        if not path.is_dir():
            return [_read_input(path, name, text, hidden)]
        below = sorted(path for path in path.rglob("*") if path.is_symlink() or path.is_file())
        for file in below:
            _check_inside(file, text, root)
        files = [file for file in below if file.is_file()]
        return [
            _read_input(file, f"{name}/{file.relative_to(path).as_posix()}", text, hidden)
            for file in files
        ]
    looked = " and ".join(str(root) for root in roots)
    names = [entry.name for root in roots for entry in (root / name).parent.glob("*")]
    meant = did_you_mean(PurePosixPath(name).name, names)
    raise refuse(f"input file `{text}` does not exist in {looked}.{meant}")


def _relative_path(text: str) -> str:
    """A stated path in its shortest form; refused if it is absolute or leads upwards."""
    plain = text.strip()
    parts = PurePosixPath(plain).parts
    is_absolute = plain.startswith(("/", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", plain)
    if not parts or "\0" in plain or is_absolute or ".." in re.split(r"[\\/]", plain):
        raise refuse(
            f"input file {text!r} is not a path in the skill's folder: put a copy there, and state "
            "its path from that folder, without `..`"
        )
    return PurePosixPath(*parts).as_posix()


def _check_inside(path: Path, text: str, root: Path) -> None:
    real = path.resolve()
    if not real.is_relative_to(root.resolve()):
        raise refuse(
            f"input file `{text}` leaves {root} through a link to {real}; replace it with a copy"
        )


def _read_input(path: Path, name: str, text: str, hidden: set[Path]) -> Input:
    lower = path.resolve().name.lower()
    if path.resolve() in hidden or any(fnmatchcase(lower, pattern) for pattern in OF_EVALS):
        raise refuse(
            f"input file `{text}` includes {path.name}, which no executor may see: it reveals the "
            "evals, or gives the skill to the baseline"
        )
    if not path.is_file() or not os.access(path, os.R_OK):
        raise refuse(f"input file `{text}`: {path} cannot be read as a file")
    return Input(path.resolve(), name, _digest(path), path.stat().st_size)


def _digest(path: Path) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


USUAL = ("evals/evals.json", "evals.json", "evals/eval_metadata.json")
"""The usual places of a skill's evals, in this order."""


@dataclass(frozen=True, slots=True)
class PlannedEval:
    """One eval of the suite.

    Attributes:
        id: its id, as text; its place in the suite if it states none.
        name: its name, else one made from its id.
        folder: the name of its folder in an iteration.
        definition: what the suite says; every expectation and dimension has an id.
        inputs: its input files.
        checks: what layer 1 checks: the structural expectations, and other expectations whose
            type layer 1 knows.
        judged: the expectations that remain for a judge.
    """

    id: str
    name: str
    folder: str
    definition: Eval
    inputs: tuple[Input, ...]
    checks: tuple[Expectation | StructuralExpectation, ...]
    judged: tuple[Expectation, ...]

    @property
    def has_judged(self) -> bool:
        """Whether there is something for a judge."""
        return bool(self.judged or self.dimensions)

    @property
    def dimensions(self) -> list[Dimension]:
        """The dimensions of its rubric; none if it has no rubric."""
        rubric = self.definition.quality_rubric
        return rubric.dimensions if rubric is not None else []


@dataclass(frozen=True, slots=True)
class Suite:
    """An eval suite that can be run.

    Attributes:
        path: its file.
        skill_name: the skill that it states it is for.
        evals: its evals.
        config: its settings.
        warnings: what was repaired or is odd.
        digest: a hash of everything that the evals say, and of their input files.
    """

    path: Path
    skill_name: str | None
    evals: tuple[PlannedEval, ...]
    config: EvalConfig
    warnings: tuple[str, ...]
    digest: str


def find_suite(skill: Path) -> Path:
    """The evals file of a skill's folder.

    Raises:
        Refused: if there is none where it usually is.
    """
    for name in USUAL:
        if (skill / name).is_file():
            return skill / name
    looked = ", ".join(USUAL)
    raise refuse(
        f"{skill} has no evals: searched for {looked}. Name the file with `evals`, or have some "
        f"drafted: `skill-eval-nb init {skill}`"
    )


def read_suite(path: str | os.PathLike[str], skill: Path) -> Suite:
    """Read an eval suite in whatever dialect it is written.

    Args:
        path: the file.
        skill: the folder that input files are looked for in, before that of the evals.

    Raises:
        Refused: it is not an eval suite, a part of it cannot be used, ids are repeated, or input
            files are missing or outside the folder; the message lists all faults. It is a
            ValueError.
    """
    at = Path(path).expanduser()
    document, faults, warnings = _read_suite(at)
    beside = at.resolve().parent
    above = [beside.parent] if beside.name == "evals" else []  # a skill's folder without a skill
    roots = list(dict.fromkeys([skill, *above, beside]))
    forbidden = [at, skill / SKILL_FILE]
    evals: list[PlannedEval] = []
    for stated, named in zip(document.evals, name_evals(document.evals, faults), strict=True):
        inputs: tuple[Input, ...] = ()
        try:
            inputs = find_inputs(stated.files, roots, forbidden)
        except Refused as error:
            faults += [f"eval {named.id}: {fault}" for fault in error.faults]
        checks, judged = _split_layers(stated, named.definition, faults)
        evals.append(replace(named, inputs=inputs, checks=checks, judged=judged))
    if not evals:
        faults.append(f"{at} has no evals")
    if faults:
        raise Refused(dict.fromkeys(faults))
    config = document.eval_config or EvalConfig()
    name = document.skill_name
    return Suite(at, name, tuple(evals), config, tuple(warnings), _digest_of(evals))


def _read_suite(path: Path) -> tuple[Evals, list[str], list[str]]:
    """The document, the faults that make it unusable, and warnings about repairs.

    Raises:
        Refused: it is not an eval suite at all.
    """
    mended = Faults()
    try:
        raw = parse(read_bytes(path), mended)
    except FileNotFoundError:
        raise refuse(f"{path} does not exist; `evals` is the skill's evals.json") from None
    except (NotJSON, OSError) as error:
        raise refuse(f"{path}: {error}") from None
    kind = kind_of(path.name, raw)
    if kind != "evals":
        what = f"is a `{kind}` document" if kind else "is none of the known documents"
        raise refuse(f"{path} {what}, not an eval suite with `evals`")
    document, faults = read_as_shared("evals", raw)
    mended += faults
    lines = [
        (fault.severity, f"{path.name} at {fault.where}: {fault.message}")
        for fault in mended.collapsed()
    ]
    return (
        document,
        [line for severity, line in lines if severity == "error"],
        [line for severity, line in lines if severity == "warning"],
    )


def name_evals(evals: Sequence[Eval], faults: list[str]) -> list[PlannedEval]:
    """Evals with their ids, names and folders, without their input files and checks."""
    ids = _ids_of(evals, faults)
    names = [_name_of(eval_, id_) for eval_, id_ in zip(evals, ids, strict=True)]
    folders = folder_names(list(zip(ids, names, strict=True)))
    faults += [
        f"eval {id_} has no prompt"
        for eval_, id_ in zip(evals, ids, strict=True)
        if not eval_.prompt.strip()
    ]
    return [
        PlannedEval(id_, name, folder, _add_ids(eval_, id_, faults), (), (), ())
        for eval_, id_, name, folder in zip(evals, ids, names, folders, strict=True)
    ]


def _ids_of(evals: Sequence[Eval], faults: list[str]) -> list[str]:
    """The ids of evals: as stated, else their places, from 1."""
    ids = []
    for place, eval_ in enumerate(evals, 1):
        stated = "" if eval_.id is None else str(eval_.id).strip()
        ids.append(stated or str(place))
        if ids.index(ids[-1]) != place - 1:
            first = ids.index(ids[-1]) + 1
            faults.append(f"evals {first} and {place} share the id {ids[-1]}: renumber them")
    return ids


def _name_of(eval_: Eval, id_: str) -> str:
    """The name of an eval; made from its id if none is stated."""
    stated = (eval_.name or "").strip()
    return stated or (f"eval-{id_}" if id_.isdecimal() else id_)


def _add_ids(eval_: Eval, id_: str, faults: list[str]) -> Eval:
    """A copy in which every expectation and dimension has its own id."""
    rubric = eval_.quality_rubric
    if rubric is not None:
        _check_once("dimension", [each.name for each in rubric.dimensions], id_, faults)
        dimensions = _give_ids("Q", rubric.dimensions, "dimension", id_, faults)
        rubric = msgspec.structs.replace(rubric, dimensions=dimensions)
    structural = eval_.structural_expectations
    return msgspec.structs.replace(
        eval_,
        id=id_,
        expectations=_give_ids("E", eval_.expectations, "expectation", id_, faults),
        structural_expectations=_give_ids("S", structural, "structural expectation", id_, faults),
        quality_rubric=rubric,
    )


def _split_layers(
    stated: Eval, complete: Eval, faults: list[str]
) -> tuple[tuple[Expectation | StructuralExpectation, ...], tuple[Expectation, ...]]:
    """What layer 1 checks of an eval, and what remains for a judge.

    Only the expectation as it was read knows the further fields of a typed one. So it becomes a
    structural expectation, which has these fields itself and can be sent to another process. One
    that says everything in a sentence stays as it is, since sentences are read differently.
    """
    from skill_eval_nb.grading.checks import as_structural, lost_fields
    from skill_eval_nb.grading.structural import is_checked

    checks: list[Expectation | StructuralExpectation] = [*complete.structural_expectations]
    judged: list[Expectation] = []
    read = [*stated.structural_expectations]
    for expectation, named in zip(stated.expectations, complete.expectations, strict=True):
        if not is_checked(expectation):
            judged.append(named)
            continue
        full = msgspec.structs.replace(as_structural(expectation), id=named.id)
        checks.append(named if full.type == "file_exists" and full.pattern is None else full)
        read.append(as_structural(expectation))
    for expectation, check in zip(read, checks, strict=True):
        lost = lost_fields(expectation)
        if lost:
            names = ", ".join(f"`{name}`" for name in lost)
            faults.append(f"eval {complete.id}: {names} of check {check.id} cannot be read")
    return tuple(checks), tuple(judged)


T = TypeVar("T", Expectation, StructuralExpectation, Dimension)


def _give_ids(letter: str, given: Sequence[T], kind: str, eval_: str, faults: list[str]) -> list[T]:
    """Copies with ids: as stated, else the letter and the place, or the next free number."""
    stated = [entry.id for entry in given if entry.id]
    _check_once(kind, stated, eval_, faults)
    taken = set(stated)
    named = []
    for place, entry in enumerate(given, 1):
        id_ = entry.id or _take_free((f"{letter}{number}" for number in count(place)), taken)
        named.append(msgspec.structs.replace(entry, id=id_))
    return named


def _take_free(names: Iterable[str], taken: set[str]) -> str:
    """The first of the names that is free; from now on it is taken."""
    name = next(name for name in names if name not in taken)
    taken.add(name)
    return name


def _check_once(kind: str, names: Sequence[str], eval_: str, faults: list[str]) -> None:
    faults += [
        f"eval {eval_}: {kind} `{name}` occurs {names.count(name)} times"
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]


def _digest_of(evals: Sequence[PlannedEval]) -> str:
    content: list[Any] = [
        {
            **msgspec.to_builtins(eval_.definition),
            "inputs": [(each.name, each.digest) for each in eval_.inputs],
            "checks": msgspec.to_builtins(eval_.checks),
        }
        for eval_ in evals
    ]
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


LONGEST_NAME = 60
"""Characters of an eval's name in the name of its folder; file systems allow 255 bytes."""


def folder_names(evals: Sequence[tuple[str, str]]) -> list[str]:
    """The names of the folders of evals, given by id and name: eval-K-name, without repeats.

    K is the eval's id if that is a number, else its place in the suite.

    >>> folder_names([("1", "Mixed commits"), ("2", "eval-2"), ("csv", "csv")])
    ['eval-1-mixed-commits', 'eval-2', 'eval-3-csv']
    """
    taken: set[str] = set()
    names = []
    for place, (id_, name) in enumerate(evals, 1):
        number = str(int(id_)) if id_.isdecimal() else str(place)
        rest = slug(name)[:LONGEST_NAME].strip("-")
        first = f"eval-{number}" + ("" if rest in ("", f"eval-{number}") else f"-{rest}")
        names.append(_take_free(chain([first], (f"{first}-{n}" for n in count(2))), taken))
    return names


# ── a suite in a workspace ───────────────────────────────────────────────────────────────────────

SUITE = Path("evals", "evals.json")
"""The place of the suite in a workspace."""


def is_ours(workspace: Path, mark: str) -> bool:
    """Whether a journal of the workspace mentions content with this hash."""
    journals = workspace.glob(f"iteration-*/{NAME}")
    return any(mark.encode() in read_bytes(journal) for journal in journals)


def metadata_of(eval_: PlannedEval) -> Any:
    """The content of eval_metadata.json for an eval."""
    metadata = dump(
        EvalMetadata(
            eval_id=int(eval_.id) if eval_.id.isdecimal() else eval_.id,
            eval_name=eval_.name,
            prompt=eval_.definition.prompt,
        )
    )
    expectations = eval_.definition.expectations
    texts = [each.text if each.type is None else dump(each) for each in expectations]
    return {**metadata, "assertions": texts}
