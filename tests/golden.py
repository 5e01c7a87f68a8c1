"""Values as lines of text, and lines held against those that are kept in `tests/kept`.

A change is seen as values. Whether they are right, an oracle has to say; that they changed, this
says. Write them anew, look at the diff, and commit it with the change that it is of::

    SKILL_EVAL_NB_GOLDEN=write pytest tests/test_golden.py tests/charts/test_cases.py …
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import math
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.checkout import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KEPT = ROOT / "tests" / "kept"
NAMED = re.compile(r"\b(?:data-[0-9a-f]{16,}|(?:param|view|layer|concat)_\d+)\b")
"""Names that Altair counts up or makes of the data."""
SHORT, WIDE = 100, 400
"""The characters of a value, and of a line with all of them; what is longer ends in a digest."""
MOST = 60
"""Lines of a change that are shown."""


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _word(value: Any) -> str:
    """A value in few characters, by which another is told from it."""
    text = f"{value:.6g}" if isinstance(value, float) else NAMED.sub("…", str(value))
    text = text.replace("\n", "⏎")
    return text if len(text) <= SHORT else f"{text[: SHORT - 20]}… {fingerprint(text)}"


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The scalars of a document, each with its path, in which an element has no number."""
    if isinstance(value, dict):
        for key, own in value.items():
            yield from _leaves(own, f"{path}.{NAMED.sub('…', str(key))}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for own in value:
            yield from _leaves(own, path)
    else:
        yield path, value


def lines_of(value: Any, name: str = "") -> Iterator[str]:
    """A line for each path: its values where they are short, else a few, their sum and a digest.

    Of what is null throughout there is none.
    """
    columns: dict[str, list[Any]] = {}
    for path, own in _leaves(value, name):
        columns.setdefault(path, []).append(own)
    for path, values in columns.items():
        if all(one is None for one in values):
            continue
        counted = [(text, len([*same])) for text, same in itertools.groupby(map(_word, values))]
        texts = [text + f" ×{times}" * (times > 1) for text, times in counted]
        line = f"{path}: {' | '.join(texts)}"
        if len(line) > WIDE:
            known = sum(one is not None for one in values)
            total = math.fsum(one for one in values if isinstance(one, (int, float)))
            told = f"{known} of {len(values)}, sum {total:.6g}, {fingerprint(line)}"
            line = f"{path}: {told}: {' | '.join(texts[:3])[:160]} …"
        yield line


def is_written() -> bool:
    """Whether what is kept is written anew."""
    return os.environ.get("SKILL_EVAL_NB_GOLDEN") == "write"


def hold(name: str, lines: Iterable[str]) -> None:
    """Hold lines against those that are kept under a name."""
    path = KEPT / f"{name}.txt"
    text = "\n".join(line.replace(str(ROOT), "").rstrip() for line in lines) + "\n"
    if is_written():
        path.write_text(text, encoding="utf-8")
    compare(name, path.read_text(encoding="utf-8"), text)


def compare(name: str, kept: str, now: str) -> None:
    """Fail with the lines that are not as they are kept."""
    changed = [*difflib.unified_diff(kept.splitlines(), now.splitlines(), "kept", "now", n=0)]
    if changed:
        pytest.fail("\n".join([f"{len(changed)} lines of {name} changed:", *changed[:MOST]]))
