"""`trigger_doubts`: what makes a measurement of triggers worth little, with the likely cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from ..phrases import count, quoted
from .seen import COUNTS, SCORED, SUITE, seen_of, total

if TYPE_CHECKING:
    import polars as pl

    Row = dict[str, Any]
    Said = tuple[str, bool, str]
    """A doubt, whether the measurement is broken, and the sentence."""

MANY_ERRORED = 0.1
"""Share of errored runs, of those that were begun, above which it is said; of more than half of
them the measurement is broken."""
FEW_MISSES = 3
"""Runs that opened another skill below which none is said to stand in the way."""


def trigger_doubts(data: Any) -> Any:
    """Why the figures of a measurement may say nothing of the description.

    Nobody should optimise a description on a measurement that is `broken`: the scores would
    follow the fault and not the words.

    Args:
        data: as for `trigger_rates`.

    Returns:
        In the kind of `data`, one row a workspace × skill × description × doubt; none where
        there is nothing to doubt. `doubt` is its name, `broken` whether the figures say nothing,
        `message` what was found, the likely cause and what to do:

        - `nothing measured`: no run tells (broken);
        - `no positives`, `no negatives`: all queries are of one class (broken);
        - `never triggers`: no run of any query that should trigger did (broken);
        - `always triggers`: every run did, of those that should not, too (broken);
        - `shadowed`: the runs of queries that should trigger, where they do not, open one and
          the same other skill;
        - `errored`: more than a tenth of the runs (broken above a half);
        - `not run`: some runs were not made;
        - `one run a query`: no query can be seen to flip;
        - `unlabelled`: queries of which nobody said whether they should trigger;
        - `contradictory`: queries with more triggered runs than runs.

        Queries of a skill that were never measured are no doubt where others of it were.

    Raises:
        ValueError: as `trigger_rates`.

    >>> import polars as pl
    >>> asked = pl.DataFrame({
    ...     "query": ["a", "a", "b", "b"],
    ...     "should_trigger": [True, True, False, False],
    ...     "outcome": ["not triggered"] * 4,
    ... })
    >>> trigger_doubts(asked).select("doubt", "broken").rows()
    [('never triggers', True)]
    """
    import polars as pl

    groups = seen_of(data).partition_by(SUITE, maintain_order=True, as_dict=True)
    measured = {key[:2] for key, own in groups.items() if own["rate"].count()}
    rows = [
        (*key, *said)
        for key, own in groups.items()
        if own["rate"].count() or key[:2] not in measured
        for said in _doubts(own)
    ]
    texts = dict.fromkeys([*SUITE, "doubt"], pl.String)
    schema: Row = texts | {"broken": pl.Boolean, "message": pl.String}
    return like(data, pl.DataFrame(rows, schema, orient="row"))


def _doubts(queries: pl.DataFrame) -> Iterator[Said]:
    """What to say of one description, the worst first."""
    positives, negatives = (queries.filter(should_trigger=should) for should in (True, False))
    if queries["rate"].count():
        yield from _one_class(positives, "no positives", "should", "recall")
        yield from _one_class(negatives, "no negatives", "should not", "precision")
        yield from _constant(positives, negatives)
        yield from _shadowed(positives)
        yield from _runs(queries)
    else:
        yield "nothing measured", True, _nothing(queries)
    yield from _stated(queries)


def _nothing(queries: pl.DataFrame) -> str:
    errored, absent = (total(queries, name) for name in COUNTS[2:])
    what = f"No run of {_queries(queries.height)} tells whether the skill is picked up: "
    if errored:
        return f"{what}{count(errored, 'run')} errored{_reason(queries)}. Mend that and run again."
    if absent:
        return f"{what}none was made, as the budget or a stop ended it. Run again with more."
    return f"{what}no file has a result of theirs. Measure them first."


def _one_class(own: pl.DataFrame, name: str, says: str, figure: str) -> Iterator[Said]:
    if not own["rate"].count():
        which = "none has a run that tells" if own.height else "there are none"
        what = f"Of queries that {says} trigger {which}, so nothing is known of {figure}. "
        yield name, True, what + "Add some, near misses above all, and run them."


def _constant(positives: pl.DataFrame, negatives: pl.DataFrame) -> Iterator[Said]:
    """Figures that would be the same for any description."""
    wanted, others = (own["rate"].drop_nulls() for own in (positives, negatives))
    if len(wanted) and wanted.max() == 0:
        what = f"No run of {_queries(len(wanted))} that should trigger did. "
        yield "never triggers", True, what + _why_never(positives)
    if len(wanted) and len(others) and wanted.min() == others.min() == 1:
        what = f"Every run triggered, also those of {_queries(len(others))} that should not. "
        why = (
            "Likely something else than the description opens the skill (the system text, the "
            "executor), it is the only skill on offer, or the description claims everything. "
            "Put other skills beside it, and read a transcript."
        )
        yield "always triggers", True, what + why


def _why_never(positives: pl.DataFrame) -> str:
    opened = _others(positives)
    if len(opened) == 1:
        return (
            f"Wherever a skill was opened it was {quoted(min(opened))}, which takes these queries. "
            "Measure without it, or tell the two descriptions apart."
        )
    if opened:
        return "Other skills were opened. Read a transcript: is this one on the list?"
    return (
        "As far as is known no other skill was opened either: likely the skill was not on offer "
        "(its folder, its name, its front matter), or the queries are so easy that the model "
        "needs none. Read a transcript: is the skill on the list?"
    )


def _shadowed(positives: pl.DataFrame) -> Iterator[Said]:
    opened, missed = _others(positives), total(positives, SCORED[1]) or 0
    often = opened.total()
    if len(opened) == 1 and often >= max(FEW_MISSES, missed / 2):
        what = f"{often:,} of {count(missed, 'run')} that should have triggered opened "
        why = "instead: it stands in the way. See what both descriptions claim."
        yield "shadowed", False, f"{what}{quoted(min(opened))} {why}"


def _runs(queries: pl.DataFrame) -> Iterator[Said]:
    """Runs that no rate rests on, and too few to make one."""
    import polars as pl

    scored = total(queries, *SCORED) or 0
    errored, absent = (total(queries, name) or 0 for name in COUNTS[2:])
    begun = scored + errored
    if errored > MANY_ERRORED * begun:
        what = f"{errored:,} of {count(begun, 'run')} errored{_reason(queries)}. "
        why = "They enter no rate; where a query itself makes runs fail, the rates mislead."
        yield "errored", 2 * errored > begun, what + why
    if absent:
        what = f"{absent:,} of {count(begun + absent, 'run')} were not made. "
        yield "not run", False, what + "The rates rest on the others; run again for the rest."
    if queries.select(pl.sum_horizontal(COUNTS)).max().item() == 1:
        what = "Each query was run once: none can be seen to flip, and a rate is 0 or 1. "
        yield "one run a query", False, what + "Run each three times or more."


def _stated(queries: pl.DataFrame) -> Iterator[Said]:
    """What is odd about the queries themselves."""
    unlabelled, odd = queries["should_trigger"].null_count(), int(queries["odd"].sum())
    if unlabelled:
        what = f"Nobody said of {_queries(unlabelled)} whether the skill should be picked up. "
        yield "unlabelled", False, what + "They are in no score: say it in `should_trigger`."
    if odd:
        what = f"More runs are stated to have triggered than there were, of {_queries(odd)}. "
        yield "contradictory", False, what + "These are not counted: mend the file."


def _others(positives: pl.DataFrame) -> Counter[str]:
    """The other skills that were opened, each by the runs that opened it first."""
    return Counter(name for own in positives["others"] for name in own if name is not None)


def _reason(queries: pl.DataFrame) -> str:
    """The commonest reason, in brackets."""
    reasons = Counter(reason for own in queries["reasons"] for reason in own)
    return f" (most often: {quoted(reasons.most_common(1)[0][0])})" if reasons else ""


def _queries(number: int) -> str:
    """How many.

    >>> _queries(1), _queries(20)
    ('1 query', '20 queries')
    """
    return f"{number:,} quer{'y' if number == 1 else 'ies'}"
