"""Cases in plain text: files as people and tools have them, and what is read of them.

A file of `tests/kept` holds some, one below the other, each with its title::

    === two evals, of which one has no baseline
    --- ws/eval-{1,2}/with_skill/grading.json
    {"expectations": «ppf»}
    --- ws/eval-1/without_skill/grading.json
    {"expectations": «pff»}
    =>
    runs.eval_id: 1 | 1 | 2

- A path with braces is of several files, as `lay` writes them.
- `«ppf»` are expectations of which two passed and one failed.
- `{"...": "trial", "id": 1}` has the fields of the document `trial`, which stands above the first
  case, and those beside it.
- In a `.jsonl` an indented line goes on the line before.

What stands below `=>` is written anew as all that is kept: see `tests/golden.py`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.corpus.build import expectations
from tests.golden import KEPT, compare, is_written

if TYPE_CHECKING:
    from collections.abc import Iterable

MARKS = re.compile("«([pf-]+)»")
CASE, FILE, READ = "\n=== ", "\n--- ", "\n=>\n"


class Case(NamedTuple):
    """Files by their paths, and what is read of them; `name` is that of the file with the case."""

    name: str
    title: str
    files: dict[str, str]
    kept: str

    def json(self, path: str) -> Any:
        return json.loads(self.files[path])

    def hold(self, lines: Iterable[str]) -> None:
        """Hold what is read now against what is kept."""
        now = "".join(f"{line.rstrip()}\n" for line in lines)
        if not is_written():
            compare(f"{self.name}: {self.title}", self.kept, now)
            return
        path = KEPT / f"{self.name}.txt"
        before, title, rest = path.read_text("utf-8").partition(f"=== {self.title}\n")
        files, read, rest = rest.partition(READ)
        _, following, after = rest.partition(CASE)
        path.write_text(before + title + files + read + now + following + after, "utf-8")


def cases(name: str) -> list[Any]:
    """The cases of a file as parameters, each with its title as id."""
    return [pytest.param(case, id=case.title) for case in _read(name)[1]]


def case(name: str, title: str) -> Case:
    """One of them."""
    return next(case for case in _read(name)[1] if case.title == title)


def document(name: str, title: str) -> dict[str, Any]:
    """What stands above the cases of a file, by its name there."""
    return _read(name)[0][title]


def _read(name: str) -> tuple[dict[str, Any], list[Case]]:
    above, *blocks = f"\n{(KEPT / f'{name}.txt').read_text('utf-8')}".split(CASE)
    shared: dict[str, Any] = {}
    for title, text in _files(above).items():
        shared[title] = json.loads(_in_full(text, shared))
    found = []
    for block in blocks:
        title, _, rest = block.partition("\n")
        files, _, kept = f"\n{rest}".partition(READ)
        whole = {path: _content(path, text, shared) for path, text in _files(files).items()}
        found.append(Case(name, title, whole, kept))
    assert len({case.title for case in found}) == len(found), f"two cases of one title in {name}"
    return shared, found


def _files(text: str) -> dict[str, str]:
    """The text of each file by its path."""
    parted = (file.partition("\n") for file in text.split(FILE)[1:])
    return {path: content for path, _, content in parted}


def _content(path: str, text: str, shared: dict[str, Any]) -> str:
    """What a file holds."""
    if not path.endswith(".jsonl"):
        return _in_full(text, shared)
    lines = re.sub(r"\n +", " ", text).split("\n")
    return "\n".join(_in_full(line, shared) for line in lines)


def _in_full(text: str, shared: dict[str, Any]) -> str:
    """The same without our notation."""

    def fill(fields: dict[str, Any]) -> dict[str, Any]:
        return shared[fields.pop("...")] | fields if "..." in fields else fields

    text = MARKS.sub(lambda found: json.dumps(expectations(found[1])), text)
    return json.dumps(json.loads(text, object_hook=fill)) if '"..."' in text else text
