"""Notes on expectations that tell nothing or the wrong thing, and on evals that waver."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skill_eval_nb.tables import Workspace

from ..expectations.classes import FAILS, HURTS, PASSES, at_least, fewest_scored
from ..expectations.discrimination import discrimination, flakiness_by_eval
from ..phrases import brief, count, quoted, some
from .note import Note, group_of

ADVISED = 10
"""Runs a side below which nothing is advised: what a skill lifts from 80 to 100 % looks like this
after three of them, in half of all cases."""
NAMED = 3
"""Expectations or evals that a text names."""

Row = Mapping[str, Any]


def silent_or_hurting(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:
    """A note for each of three classes, in each comparison that has expectations of it."""
    classes: dict[Any, list[Row]] = defaultdict(list)
    sizes: dict[Any, int] = defaultdict(int)
    for row in discrimination(ws, baseline, level).iter_rows(named=True):
        comparison = *group_of(row), row["configuration"], row["baseline"]
        sizes[comparison] += 1
        classes[comparison, row["class"]].append(row)

    def always(rows: Sequence[Row], every: int) -> str:
        return _always(rows, every, level)

    tell = {HURTS: _hurts, PASSES: always, FAILS: always}
    for (comparison, kind), own in classes.items():
        if kind in tell:
            own.sort(key=lambda row: (-len(row["evals"]), row["text"]))
            yield Note(
                group=group_of(own[0]),
                kind=kind,
                configuration=own[0]["configuration"],
                text=tell[kind](own, sizes[comparison]),
                evals=tuple(dict.fromkeys(name for row in own for name in row["evals"])),
                expectations=tuple(row["text"] for row in own),
                numbers={"n": len(own), "n_expectations": sizes[comparison]} | _verdicts(own),
            )


def _hurts(rows: Sequence[Row], every: int) -> str:
    who, other = brief(rows[0]["configuration"]), brief(rows[0]["baseline"])
    named = some([f"{quoted(row['text'])} ({_sides(row)})" for row in rows], NAMED)
    return (
        f"{len(rows):,} of {count(every, 'expectation')} passed less often in {who} than in "
        f"{other}: {named}. See what the skill makes worse."
    )


def _always(rows: Sequence[Row], every: int, level: float) -> str:
    passed = rows[0]["class"] == PASSES
    other = rows[0]["baseline"]
    where = f" and {brief(other)}" if other is not None else ""
    verb = "passed" if passed else "failed"
    advice = (
        "Make them harder, or leave them out" if passed else "See whether they can be met at all"
    )
    fewest = min(map(fewest_scored, rows))
    little = (
        f"{count(fewest, 'run')} a side support no more than ‘{at_least(fewest, level)}’: run them "
        f"{ADVISED} times a side before you change them"
    )
    return (
        f"{len(rows):,} of {count(every, 'expectation')} always {verb} in "
        f"{brief(rows[0]['configuration'])}{where}: "
        f"{some([quoted(row['text']) for row in rows], NAMED)}. "
        f"{advice if fewest >= ADVISED else little}."
    )


def _sides(row: Row) -> str:
    """Passes in verdicts on either side."""
    sides = ((row[f"n_passed{end}"], row[f"n_failed{end}"]) for end in ("", "_baseline"))
    return " against ".join(f"{passed} of {passed + failed}" for passed, failed in sides)


def _verdicts(rows: Sequence[Row]) -> dict[str, float]:
    return {
        f"n_verdicts{end}": sum(row[f"n_passed{end}"] + row[f"n_failed{end}"] for row in rows)
        for end in ("", "_baseline")
    }


def unsteady_evals(ws: Workspace, baseline: str | None, level: float) -> Iterator[Note]:  # noqa: ARG001
    """The evals of a comparison of whose expectations half or more changed from run to run."""
    evals: dict[Any, list[Row]] = defaultdict(list)
    for row in flakiness_by_eval(ws, baseline).iter_rows(named=True):
        comparison = *group_of(row), row["configuration"]
        evals[comparison, row["eval_id"], row["eval_name"]].append(row)
    unsteady: dict[Any, list[tuple[str, list[Row], int]]] = defaultdict(list)
    for (comparison, _, name), own in evals.items():
        moved = [row for row in own if (row["flakiness"] or 0) + (row["baseline_flakiness"] or 0)]
        if len(moved) >= max(2, len(own) / 2):
            unsteady[comparison].append((name, moved, len(own)))
    for (*_, who), found in unsteady.items():
        found.sort(key=lambda one: (-len(one[1]) / one[2], one[0]))
        told = [f"{quoted(name, 40)} ({len(moved)} of {all_})" for name, moved, all_ in found]
        yield Note(
            group=group_of(found[0][1][0]),
            kind="flaky eval",
            configuration=who,
            text=f"Many expectations changed from run to run in {some(told, NAMED)}. "
            "Run these evals more often, or word their expectations more strictly.",
            evals=tuple(name for name, _, _ in found),
            expectations=tuple(dict.fromkeys(row["text"] for _, own, _ in found for row in own)),
            numbers={
                f"{what} of {name}": n
                for name, own, every in found
                for what, n in (("changed", len(own)), ("expectations", every))
            },
        )
