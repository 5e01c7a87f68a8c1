"""Evals that belong together: by a tag, an input file or the first word of their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from skill_eval_nb.text import brief, count, some

from .values import EVAL, ITERATION, is_table, own_of_evals, remember, runs_of

FIRST_WORD = re.compile(
    r"(?!(?:eval|test|case|task|scenario|prompt|query|example)s?\b)[^\W\d_]{3,}"
)
"""The first word of a name, unless it says no more than that it is one."""
STATED = {"tags": "their tags", "files": "their input files"}
"""Columns of `evals` that several may share, and what they are in a sentence."""


class Families(NamedTuple):
    """Evals that seem to belong together, and what they have in common."""

    common: str
    cluster: str
    """What to give as `cluster`."""
    members: list[list[str]]
    """The names of the evals of each family of two and more."""

    def sentence(self) -> str:
        """What they are, and what can be done, without a full stop."""
        each = some([" + ".join(map(brief, family[:2])) for family in self.members])
        evals = count(sum(map(len, self.members)), "eval")
        return (
            f"{evals} seem to belong together by {self.common} ({each}): "
            f"`cluster={self.cluster}` counts each family once"
        )


def name_families(
    workspaces: Iterable[str], marks: Iterable[Sequence[str] | str | None]
) -> list[str | None]:
    """A name for those that have a mark in common, also by way of others; None without any."""
    each = [
        {(of, mark) for mark in ([own] if isinstance(own, str) else own or ())}
        for of, own in zip(workspaces, marks, strict=True)
    ]
    lead: dict[tuple[str, str], tuple[str, str]] = {}

    def first_of(mark: tuple[str, str]) -> tuple[str, str]:
        """The first mark of its family, as far as that is known."""
        while (before := lead.setdefault(mark, mark)) != mark:
            mark = lead[mark] = lead[before]
        return mark

    for own in each:
        firsts = {first_of(mark) for mark in own}
        lead |= dict.fromkeys(firsts, min(firsts, default=("", "")))
    return [" ".join(map(str, first_of(min(own)))) if own else None for own in each]


@remember
def propose_families(data: Any) -> dict[tuple[Any, ...], Families]:
    """By ITERATION the families that its evals seem to have: of two and more, at least two of them.

    Tags are asked first, then input files, then the first words of names, if those leave no
    more than half of the evals alone.
    """
    evals = runs_of(data).sort(EVAL, nulls_last=True)
    evals = evals.unique([*ITERATION, "eval_name"], keep="first", maintain_order=True)
    stated: dict[str, dict[Any, Any]] = {}
    if not is_table(data):
        of_evals = {column: own_of_evals(data, column) for column in STATED}
        stated = {name: {row[:2]: row[2] for row in own.rows()} for name, own in of_evals.items()}
    found: dict[tuple[Any, ...], Families] = {}
    for place, own in evals.group_by(ITERATION, maintain_order=True):
        named, keys = FIRST_WORD.match, own.select("workspace", "eval_id").rows()
        words = [word[0] if (word := named(name)) else None for name in own["eval_name"]]
        marked = {name: [marks.get(key) for key in keys] for name, marks in stated.items()}
        ways: list[tuple[str, str, list[Any]]]
        ways = [(STATED[name], f'"{name}"', marks) for name, marks in marked.items()]
        ways.append(("their first words", "{…}", words))
        for common, cluster, marks in ways:
            members: dict[str | None, list[str]] = {}
            families = name_families(own["workspace"], marks)
            for family, name in zip(families, own["eval_name"], strict=True):
                members.setdefault(family, []).append(name)
            several = [own for name, own in members.items() if name is not None and len(own) > 1]
            most = common != ways[-1][0] or 2 * sum(map(len, several)) >= len(own)
            if len(several) > 1 and most:
                found[place] = Families(common, cluster, several)
                break
    return found
