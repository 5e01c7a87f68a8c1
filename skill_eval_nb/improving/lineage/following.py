"""The versions one after the other: from which each was made, and whether it beats the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from .changing import in_words
from .deciding import Decided, Rules, Tables, decide, figures
from .keeping import Kept
from .sides import Side, earlier_of
from .stating import Stated
from .values import Version


@dataclass(frozen=True, slots=True)
class Known:
    """What there is to follow the versions by.

    Attributes:
        tables: the run-level tables of the skill, by name.
        sides: the runs of each version, oldest first.
        rules: what decides.
        given: version to parent, as the caller gave it.
        stated: what a history.json says of the versions.
        kept: the skill's files.
    """

    tables: Tables
    sides: Sequence[Side]
    rules: Rules
    given: Mapping[str, str]
    stated: Mapping[str, Stated]
    kept: Kept


def follow(known: Known) -> tuple[Version, ...]:
    """Each version against its parent; the best is the last that won against the best before it.

    Where a later version ties with that one, none is proven to be the best. A version without a
    figure is the best only until there is one that has a figure.
    """
    found: list[Version] = []
    best: Side | None = None
    measured = tied = False
    for place, side in enumerate(known.sides):
        one = _figures(known, side)
        if best is None:
            found.append(replace(one, grading_result="baseline", reason="The first version."))
            best, measured = side, one.mean is not None
            continue
        parent, known_from = _parent(known, place, best)
        decided = _decide(known, place, parent)
        one = replace(one, parent=parent.version, parent_from=known_from)
        found.append(_against(known, one, side, parent, decided))
        over_best = decided if parent == best else _decide(known, place, best)
        if over_best.result == "won" or (not measured and one.mean is not None):
            best, measured, tied = side, True, False
        elif over_best.result == "tie":
            tied = True
    proven = None if best is None or tied else best.version
    return tuple(replace(one, is_current_best=one.version == proven) for one in found)


def oldest(stamps: Iterable[str | None]) -> str | None:
    """The earliest of some ISO 8601 times, as it was written; one without a zone is UTC.

    >>> oldest(["2026-01-15T10:30:00Z", "2026-01-15T11:00:00+02:00", None, "soon"])
    '2026-01-15T11:00:00+02:00'
    """
    times: dict[str, datetime] = {}
    for stamp in filter(None, stamps):
        try:
            time = datetime.fromisoformat(stamp)
        except ValueError:
            continue
        times[stamp] = time if time.tzinfo else time.replace(tzinfo=UTC)
    return min(times, key=lambda stamp: (times[stamp], stamp), default=None)


def _figures(known: Known, side: Side) -> Version:
    mean, n_evals, n_runs = figures(known.tables, side, known.rules.metric)
    said = known.stated.get(side.version)
    return Version(
        version=side.version,
        iteration=side.iteration,
        configuration=side.configuration,
        expectation_pass_rate=figures(known.tables, side, "pass_rate")[0],
        mean=mean,
        n_evals=n_evals,
        n_runs=n_runs,
        stated_pass_rate=said and said.pass_rate,
        stated_result=said and said.result,
        started_at=oldest(side.of(known.tables["runs"])["started_at"]),
    )


def _parent(known: Known, place: int, best: Side) -> tuple[Side, str]:
    """The version that the one in this place was made from, and how that is known."""
    mine = known.sides[place].version
    before = {one.version: one for one in known.sides[:place]}
    if mine in known.given:
        return before[known.given[mine]], "given"
    said = known.stated.get(mine)
    if said is not None and said.parent in before:
        return before[said.parent], "stated"
    return best, "best so far"


def _decide(known: Known, place: int, parent: Side) -> Decided:
    """Against the parent's runs: those of the version's own iteration, where it ran the parent."""
    side = known.sides[place]
    names = side.of_iteration(known.tables["runs"])["configuration"].unique().to_list()
    earlier = earlier_of(names)
    if earlier is not None and parent.iteration != side.iteration:
        own = Side(parent.version, side.iteration, earlier)
        same = known.kept.same(own, parent)
        # Where nothing says which version it was, it was the one before.
        if same or (same is None and parent == known.sides[place - 1]):
            parent = own
    return decide(known.tables, side, parent, known.rules)


def _against(known: Known, one: Version, side: Side, parent: Side, decided: Decided) -> Version:
    """The version with its figures against its parent, and what was changed."""
    changed = known.kept.changes(parent, side)
    row = decided.row
    return replace(
        one,
        compared=decided.compared,
        estimate=row.get("estimate"),
        low=row.get("low"),
        high=row.get("high"),
        p=row.get("p"),
        verdict=row.get("verdict"),
        grading_result=decided.result,
        reason=decided.reason,
        what_changed=None if changed is None else in_words(changed),
        lines_added=None if changed is None else sum(file.added or 0 for file in changed),
        lines_removed=None if changed is None else sum(file.removed or 0 for file in changed),
    )
