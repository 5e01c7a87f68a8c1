"""Input files of drafted evals: small, in the suite's folder, checked to be readable.

In a draft they are in its eval as `inputs`, texts by path, where a person can edit them; in a suite
they are files.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from skill_eval_nb.disk import leads_out, read_bytes
from skill_eval_nb.grading.structural.outputs import Content
from skill_eval_nb.grading.structural.types import read_table
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.skill import OF_EVALS
from skill_eval_nb.workspace.writing import NotPlain, plain_value

from .values import Draft, SuiteItem

INPUTS = "inputs"
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
        return "its name is one that no executor may see: choose another"
    if not isinstance(text, str) or not text.strip():
        return "nothing is in it"
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
            case _:
                pass
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
