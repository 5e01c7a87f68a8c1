"""What on disk could not be used as it was: one row each, nothing dropped in silence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from string import digits

from skill_eval_nb.documents import Fault, TriggerSet, find_broken_rates
from skill_eval_nb.documents.base import Severity
from skill_eval_nb.text import lower_first


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem: how bad, what kind, which file, where in it, what was found and what to do."""

    severity: Severity
    code: str
    path: str
    message: str
    where: str | None = None
    workspace: str | None = None


MANY = 5
"""More problems of a kind than these are said once, with their count."""

ALONE = frozenset(("disagree", "missing-side", "not-json", "repaired-json"))
"""Codes of what is to be looked at one by one: evals and files to be mended."""


def collapsed(problems: Iterable[Problem], base: str) -> Iterator[Problem]:
    """The problems, those that are the same for many files of a workspace as one.

    The same are those of one code and message, for files that lie equally deep; numbers in what
    is said for information alone may differ. The one tells the first path, how many there are,
    and a pattern that the paths of all of them have.
    """
    groups: dict[object, list[Problem]] = {}
    for problem in dict.fromkeys(problems):
        groups.setdefault(problem if problem.code in ALONE else _shape(problem, base), []).append(
            problem
        )
    for same in groups.values():
        paths = list(dict.fromkeys(problem.path for problem in same))
        if len(same) <= MANY:
            yield from same
            continue
        first = same[0]
        where = first.where if all(problem.where == first.where for problem in same) else None
        message = f"{first.message} ({len(same)} times"
        if len(paths) > 1:
            message += f" in {len(paths)} places, {pattern(below(path, base) for path in paths)}"
        yield replace(first, message=f"{message})", where=where)


def _shape(problem: Problem, base: str) -> tuple[object, ...]:
    message = problem.message.replace(problem.path, "").replace(f"{base}/", "")
    if problem.severity == "info":
        message = re.sub(r"\d+", "#", message)
    where = re.sub(r"\[\d+\]", "[*]", problem.where or "")
    return (
        problem.severity,
        problem.code,
        message,
        where,
        problem.path.count("/"),
        problem.workspace,
    )


def pattern(paths: Iterable[str]) -> str:
    """A pattern that these paths have, which lie equally deep.

    >>> pattern(["ws/iteration-1/a.json", "ws/iteration-22/b.json"])
    'ws/iteration-*/*.json'
    """
    levels = zip(*(path.split("/") for path in paths), strict=True)
    return "/".join(_common(list(dict.fromkeys(names))) for names in levels)


def _common(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    start = _shared(names)
    rest = [name[len(start) :][::-1] for name in names]
    return f"{start.rstrip(digits)}*{_shared(rest)[::-1].lstrip(digits)}"


def _shared(names: list[str]) -> str:
    """What all of these begin with."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike)


def below(path: str, base: str) -> str:
    """`path` below `base`; the path itself where it does not lie there.

    >>> below("/x/ws/iteration-1", "/x/ws"), below("/y", "/x")
    ('iteration-1', '/y')
    """
    return path[len(base) + 1 :] if path.startswith(f"{base}/") else path


class Problems(list[Problem]):
    """The problems met while reading, in the order they were met."""

    def add(
        self,
        severity: Severity,
        code: str,
        path: str,
        message: str,
        *,
        where: str | None = None,
        workspace: str | None = None,
    ) -> None:
        """Note one problem."""
        self.append(Problem(severity, code, path, message, where, workspace))

    def add_faults(self, path: str, faults: Iterable[Fault], workspace: str | None = None) -> None:
        """The faults of one document as problems of its file."""
        for fault in faults:
            message = fault.message
            where = fault.where
            self.add(fault.severity, fault.code, path, message, where=where, workspace=workspace)


def report_broken_rates(document: TriggerSet, path: str, problems: Problems) -> None:
    """Report trigger rates that would be the same for any description."""
    rates = ((query.should_trigger, query.rate) for query in document.queries)
    for _, found in find_broken_rates(rates):
        message = f"the measurement is broken: {lower_first(found)}"
        problems.add("warning", "broken-measurement", path, message)
