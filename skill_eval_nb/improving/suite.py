"""The suite that is changed: its file, what it says, its evals as the tables have them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Eval, Evals, Faults, NotJSON, parse
from skill_eval_nb.documents.dialects import kind_of, read, recognise
from skill_eval_nb.running.protocol import no_such, refuse
from skill_eval_nb.running.stored_runs import top_of, with_suite
from skill_eval_nb.running.suite import USUAL, PlannedEval, complete, folder_names, ids_of, name_of
from skill_eval_nb.workspace import EvalKey, PathLike, Problems, catalogued, find, read_files
from skill_eval_nb.workspace.check import suite_keys
from skill_eval_nb.workspace.layout import is_iteration
from skill_eval_nb.workspace.writing import NotPlain, plain_value

PLACES = (*USUAL, "eval/evals.json", "eval/eval_metadata.json", "eval_metadata.json")
"""Where a suite is looked for in a folder, in this order."""


@dataclass(frozen=True, slots=True)
class Text:
    """What the text of an eval suite says.

    Attributes:
        value: its plain value; the documents remember which part of it they were read from.
        document: what it says.
        dialect: how it is written.
    """

    value: Any
    document: Evals
    dialect: str


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite that is to be changed.

    Attributes:
        path: its file.
        data: its bytes.
        text: what it says.
        keys: the id and name of each eval as the tables have them.
        workspace: the folder whose next iteration it is for; None where there is none.
        described: ids of evals whose checks stand in their eval_metadata.json.
    """

    path: Path
    data: bytes
    text: Text
    keys: Sequence[EvalKey]
    workspace: Path | None
    described: Mapping[str, str] = field(default_factory=dict)

    @property
    def evals(self) -> list[Eval]:
        """What the suite defines."""
        return self.text.document.evals

    def eval_of(self, name: str) -> int:
        """The place of an eval, by the id, else by the name that the tables have.

        Raises:
            Refused: there is none; the message has the nearest one.
        """
        for names in ([key.id for key in self.keys], [key.name for key in self.keys]):
            if name in names:
                return names.index(name)
        raise refuse(no_such("eval", name, [key.id for key in self.keys]))


def open_suite(evals: PathLike, workspace: PathLike | None = None) -> Suite:
    """Open a suite.

    Args:
        evals: its file, or the folder of a skill or of a workspace with one.
        workspace: the workspace by which the tables name its evals; the one that it lies in or
            beside where it is not given.

    Raises:
        Refused: there is none, or its text cannot be changed in place.
        OSError: it cannot be read.
    """
    path = suite_file(evals)
    data = read_bytes(path)
    text = text_of(path.name, data)
    home = _home_of(path) if workspace is None else Path(workspace).expanduser().resolve()
    if home is not None and not home.is_dir():
        raise refuse(f"workspace {home} is not there, or is no folder")
    found = find([path] if home is None else [home, path])
    files = read_files(found.layout.files, Problems())
    index = catalogued(found.layout, files, found.base, Problems())
    suites = suite_keys(files, index)
    mine = next((suite for suite in suites if os.path.realpath(suite) == str(path)), None)
    if mine is None:
        raise refuse(f"{path} lies where no suite is looked for: move it, or give another file")
    above, keys = suites[mine]
    described = {
        index.keys[folder].id: f"{folder.iteration}/{folder.folder}"
        for folder, metadata in files.metadata.items()
        if folder.workspace == above and metadata.assertions and folder in index.keys
    }
    if home is not None and Path(above).resolve().is_relative_to(home):
        home = Path(above).resolve()  # of several below it, the one that the suite is for
    if len(keys) != len(text.document.evals):
        raise refuse(f"{path} changed while it was read: try again")
    return Suite(path, data, text, keys, home, described)


def suite_file(evals: PathLike) -> Path:
    """The file of a suite, given itself, the folder that it lies in, or its skill's workspace.

    Raises:
        Refused: there is none, or there are several.
    """
    path = Path(evals).expanduser().resolve()
    if not path.is_dir():
        if not path.is_file():
            raise refuse(f"{path} does not exist; `evals` is an evals.json, or a folder with one")
        return path
    for name in PLACES:
        if (path / name).is_file() and _is_suite(path / name):
            return path / name
    suites = [Path(suite.path) for suite in read_files(find(path).layout.files, Problems()).suites]
    if len(suites) == 1:
        return suites[0]
    if suites:
        names = ", ".join(str(suite.relative_to(path)) for suite in suites)
        raise refuse(f"{path} has several suites ({names}): say which")
    if beside := with_suite(path, None)[1:]:
        return Path(beside[0])
    raise refuse(
        f"{path} has no eval suite; looked for {', '.join(PLACES)}: give the suite's file, or the "
        "skill's folder"
    )


def text_of(name: str, data: bytes) -> Text:
    """What the text of a suite says.

    Args:
        name: its file's name.
        data: its bytes.

    Raises:
        Refused: it is no suite, or no strict JSON in UTF-8, so that it cannot be changed in place.
    """
    try:
        value = plain_value(data.decode("utf-8-sig"))
    except (NotPlain, UnicodeDecodeError) as error:
        raise refuse(
            f"{name} is not plain enough to be changed in place ({error}): mend it, and try again"
        ) from None
    kind = kind_of(name, value)
    if kind != "evals":
        what = f"a `{kind}` document" if kind else "none of the known documents"
        raise refuse(f"{name} is {what}, not an eval suite")
    dialect = recognise("evals", value)
    document, _ = read("evals", value, dialect)
    return Text(value, document, dialect)


def planned_evals(document: Evals) -> tuple[list[PlannedEval], list[str]]:
    """The evals as they would be run, but for their input files, and what forbids to run them."""
    faults: list[str] = []
    ids = ids_of(document.evals, faults)
    names = [name_of(eval_, id_) for eval_, id_ in zip(document.evals, ids, strict=True)]
    folders = folder_names(list(zip(ids, names, strict=True)))
    evals = [
        PlannedEval(id_, name, folder, complete(eval_, id_, faults), (), (), ())
        for eval_, id_, name, folder in zip(document.evals, ids, names, folders, strict=True)
    ]
    faults += [
        f"eval {eval_.id} has no prompt" for eval_ in evals if not eval_.definition.prompt.strip()
    ]
    return evals, faults


def _home_of(suite: Path) -> Path | None:
    """The workspace that a suite lies in, or the one beside its skill."""
    skill = suite.parent.parent if suite.parent.name in ("evals", "eval") else suite.parent
    for folder in (top_of(suite.parent), skill, skill.with_name(f"{skill.name}-workspace")):
        if folder.is_dir() and any(
            is_iteration(child.name) for child in folder.iterdir() if child.is_dir()
        ):
            return folder
    return None


def _is_suite(path: Path) -> bool:
    try:
        return kind_of(path.name, parse(read_bytes(path), Faults())) == "evals"
    except NotJSON:
        return True  # opening it says what is wrong
