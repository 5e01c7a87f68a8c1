"""What on disk could not be used as it was: one row each, nothing dropped in silence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from string import digits

from skill_eval_nb.documents import Fault
from skill_eval_nb.documents.base import SAME, Severity


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem: how bad, what kind, which file, where in it, what was found and what to do."""

    severity: Severity
    code: str
    path: str
    message: str
    where: str | None = None
    workspace: str | None = None

    def within(self, base: str) -> Problem:
        """The same, with the path that leads there if it was told below `base`."""
        whole = os.path.join(base, self.path)
        return replace(self, path=whole) if os.path.exists(whole) else self


MANY = 5
"""More problems of a kind than these are said once, with their count and the first place."""

ALONE = frozenset(
    ("disagree", "missing-side", "not-json", "empty", "repaired-json", "efficiency-of-one")
)
"""Codes of what is to be looked at one by one: evals and files to be mended."""


def settle_problems(
    problems: Iterable[Problem], names: Mapping[str, tuple[str, str]], base: str
) -> Iterator[Problem]:
    """The problems as they are told: of a workspace, below `base`, many of a kind as one.

    `names` are those of the workspaces by their folders.
    """
    folders = sorted(names, key=len, reverse=True)
    homes: dict[str, str | None] = {}
    own = []
    for problem in problems:
        path = problem.path
        if path not in homes:
            inside = (one for one in folders if path == one or path.startswith(f"{one}/"))
            homes[path] = next((names[one][0] for one in inside), None)
        message = problem.message.replace(f"{base}/", "")
        home, place = homes[path] or problem.workspace, shorten_path(path, base)
        own.append(replace(problem, message=message, workspace=home, path=place))
    return group_problems(own, base)


def group_problems(problems: Iterable[Problem], base: str) -> Iterator[Problem]:
    """The problems, many of a kind as one: the first, their number, and a pattern of their paths.

    Of a kind are those of one code and JSON path in files that lie equally deep in a workspace,
    whose messages differ at most in what was found; those for information may say anything.
    """
    groups: dict[object, list[Problem]] = {}
    for problem in dict.fromkeys(problems):
        kind = problem if problem.code in ALONE else _kind_of(problem)
        groups.setdefault(kind, []).append(problem)
    for same in groups.values():
        if len(same) <= MANY:
            yield from same
            continue
        first = same[0]
        paths = dict.fromkeys(shorten_path(problem.path, base) for problem in same)
        where = first.where if all(problem.where == first.where for problem in same) else None
        message = f"{first.message} ({len(same)} times"
        if len(paths) > 1:
            message += f" in {len(paths)} places, {pattern(paths)}"
        yield replace(first, message=f"{message})", where=where)


def pattern(paths: Iterable[str]) -> str:
    """A pattern that these paths have, which lie equally deep.

    >>> pattern(["ws/iteration-1/a.json", "ws/iteration-22/b.json"])
    'ws/iteration-*/*.json'
    """
    levels = zip(*(path.split("/") for path in paths), strict=True)
    return "/".join(_common_name(list(dict.fromkeys(names))) for names in levels)


def _common_name(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    start = _shared_beginning(names)
    end = _shared_beginning([name[len(start) :][::-1] for name in names])[::-1]
    return f"{start.rstrip(digits)}*{end.lstrip(digits)}"


def _shared_beginning(names: list[str]) -> str:
    """What all of these begin with."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike)


_FOUND = re.compile(r"'[^']*'|`[^`]*`|\d[\d.,]*|(?<=, found ).*")


def _kind_of(problem: Problem) -> tuple[object, ...]:
    where = re.sub(r"\[\d+\]", "[*]", problem.where or "")
    message = problem.message.replace(problem.path, "")
    if problem.code != "loss":  # of which each says what is lost
        message = "" if problem.severity == "info" else _FOUND.sub("#", message)
    depth = problem.path.count("/")
    return problem.severity, problem.code, message, where, depth, problem.workspace


def shorten_path(path: str, base: str) -> str:
    """`path` below `base`; the path itself where it does not lie there.

    >>> shorten_path("/x/ws/iteration-1", "/x/ws"), shorten_path("/y", "/x")
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

    def add_faults(self, path: str, faults: Iterable[Fault]) -> None:
        """The faults of one document as problems of its file.

        One by which nothing is lost is no error; one of the name of a field alone is no problem.
        """
        for fault in faults:
            is_harmless = fault.severity == "error" and not fault.lost
            severity = "warning" if is_harmless else fault.severity
            if fault.code not in SAME:
                self.add(severity, fault.code, path, fault.message, where=fault.where)
