"""What a changed suite has wrong that it did not have before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from skill_eval_nb.running.refused import Refused
from skill_eval_nb.workspace import NothingToLoad, Problem, Problems, check

from .naming import named_evals
from .opening import Opened, text_of

_COUNTED = re.compile(r" \(\d+ times, first at .*\)$|\[\*\]|\[\d+\]|\d+")
"""What tells of a fault how often it stands there, and at which places of lists."""


def new_problems(suite: Opened, after: bytes) -> Problems:
    """The errors and warnings that a change brings, as `skill-eval-nb check` tells them.

    The new text is checked against the dialect of the old one, and read as a plan of runs
    would read it.

    Args:
        suite: the suite as it was.
        after: what is to be written.
    """
    found = Problems()
    path = str(suite.path)
    try:
        text = text_of(suite.path.name, after)
    except Refused as error:
        found.add("error", "unreadable", path, str(error))
        return found
    if not text.document.evals:
        found.add("error", "no-evals", path, "the suite would have no evals")
    before = _checked(suite.path.name, suite.data, suite.text.dialect)
    for one in _only_in(_checked(suite.path.name, after, suite.text.dialect), before):
        found.add(one.severity, one.code, path, one.message, where=one.where)
    _, old = named_evals(suite.text.document)
    _, new = named_evals(text.document)
    for fault in sorted(set(new) - set(old)):
        found.add("error", "not-runnable", path, fault)
    return found


def _checked(name: str, data: bytes, dialect: str) -> list[Problem]:
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        try:
            return [one for one in check(path, dialect) if one.severity != "info"]
        except NothingToLoad as error:
            return [Problem("error", "nothing-to-load", str(path), str(error))]


def _only_in(after: Iterable[Problem], before: Iterable[Problem]) -> list[Problem]:
    """The problems of which there are more than before, wherever in their lists they stand."""
    known = Counter(map(_key, before))
    left = []
    for one in after:
        if known[_key(one)]:
            known[_key(one)] -= 1
        else:
            left.append(one)
    return left


def _key(one: Problem) -> tuple[str, str, str]:
    return one.code, _COUNTED.sub("", one.where or ""), _COUNTED.sub("", one.message)
