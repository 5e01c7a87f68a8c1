"""Trigger evals: rates by query, confusion, scores with intervals, and what makes them doubtful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.documents.evals import NO_SKILL_OPENED, find_broken_rates
from skill_eval_nb.tables.columns import frame_of, to_backend_of
from skill_eval_nb.text import count, in_quotes

from .values import cast_columns, check_level, natural_key, no_such, sort_rows

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Row = dict[str, Any]
    Doubt = tuple[str, bool, str]
    "A doubt, whether the measurement is broken, and the sentence."
    Array = np.ndarray[Any, Any]


SUITE = ["workspace", "skill", "description"]
"""What is measured at once: a description of a skill."""
QUERY = ["query", "should_trigger"]
OUTCOMES = ("triggered", "not triggered", "errored", "not run")
COUNTS = tuple(f"n_{outcome.replace(' ', '_')}" for outcome in OUTCOMES)
"""Runs of each outcome; null if nobody counted."""
SCORED = COUNTS[:2]
"""The outcomes that enter a rate."""
NEAR_MISS = "near miss"
NEEDED = ("query", "should_trigger", "outcome")
"""What a table of attempts has to hold."""
QUERY_TEXTS = ("instead", "reasons", "others")
"""Lists of texts that only attempts know, a text a run."""


def count_by_query(data: Any) -> pl.DataFrame:
    """One row a description × query: SUITE, QUERY, tags, split, COUNTS, `rate`, `odd`, QUERY_TEXTS.

    Queries that were asked more than once under the same description add up.

    Args:
        data: a `Workspace`, its table `triggers`, or a table of attempts: one row a query × run,
            with `query`, `should_trigger` and `outcome` (one of OUTCOMES), and what else is
            known: `tags`, `split`, `reason`, `instead`, `opened`.

    Returns:
        Suites in natural order, their queries as they came. `rate` is triggered / (triggered +
        not triggered), or as stated if there are no counts; null if nothing is known.
        `odd` says that more runs are stated to have triggered than there were: they are not
        counted. `instead` holds what the model did in the runs that did not trigger, `others`
        the first skill that each of those opened (null: none), `reasons` why runs failed.

    Raises:
        ValueError: for a table of attempts that lacks a column, or holds another outcome.
    """
    columns = getattr(data, "columns", None)
    attempts = columns is not None and "outcome" in columns
    seen = _read_attempts(data) if attempts else _queries_with_counts(data)
    return sort_rows(seen, **dict.fromkeys(SUITE, natural_key))


def partition_queries(
    data: Any, keys: Sequence[str], *figures: pl.Expr
) -> list[tuple[Row, pl.DataFrame]]:
    """The queries of each part with these figures, and its keys.

    Raises:
        ValueError: as `count_by_query`.
    """
    groups = count_by_query(data).with_columns(figures).partition_by(keys, maintain_order=True)
    return [(own.select(keys).row(0, named=True), own) for own in groups]


def sum_counts(queries: pl.DataFrame, *counts: str) -> int | None:
    """Runs of these outcomes over the queries; None if nobody counted."""
    known = [int(queries[name].sum()) for name in counts if queries[name].count()]
    return sum(known) if known else None


def _read_attempts(data: Any) -> pl.DataFrame:
    import narwhals as nw
    import polars as pl

    given = nw.from_native(data, eager_only=True).to_polars()
    if lacking := [name for name in NEEDED if name not in given.columns]:
        raise ValueError(
            f"A table of attempts has the columns {', '.join(NEEDED)}; "
            f"this lacks {', '.join(lacking)}."
        )
    texts = dict.fromkeys((*SUITE, "query", "split", "outcome", "reason", "instead"), pl.String)
    types: dict[str, Any] = texts | {"should_trigger": pl.Boolean}
    types |= dict.fromkeys(("tags", "opened"), pl.List(pl.String))
    frame = cast_columns(given, types)
    for outcome in frame["outcome"].unique().to_list():
        if outcome not in OUTCOMES:
            raise no_such("outcome", str(outcome), OUTCOMES)
    outcome, missed = pl.col("outcome"), pl.col("outcome") == OUTCOMES[1]
    first = pl.col("opened").list.first()
    seen = frame.group_by(*SUITE, *QUERY, maintain_order=True).agg(
        pl.col("tags", "split").drop_nulls().first(),
        *(
            (outcome == name).sum().cast(pl.Int64).alias(count)
            for name, count in zip(OUTCOMES, COUNTS, strict=True)
        ),
        pl.col("instead").filter(missed).drop_nulls(),
        pl.col("reason").filter(outcome == OUTCOMES[2]).drop_nulls().alias("reasons"),
        first.filter(missed).alias("others"),
    )
    return seen.with_columns(rate=_rate(), odd=pl.lit(value=False))


def _queries_with_counts(data: Any) -> pl.DataFrame:
    import polars as pl

    frame = frame_of(data, "triggers")
    tags = pl.col("tags") if "tags" in frame.columns else pl.lit(None)
    odd = (pl.col("triggered") > pl.col("runs")).fill_null(value=False)
    both = (pl.col("triggered").is_not_null() & pl.col("runs").is_not_null()) & ~odd
    return (
        frame.with_columns(
            tags.cast(pl.List(pl.String)).alias("tags"),
            odd.alias("odd"),
            pl.when(both).then("triggered").alias(COUNTS[0]),
            pl.when(both).then(pl.col("runs") - pl.col("triggered")).alias(COUNTS[1]),
            pl.when(~odd).then("trigger_rate").alias("stated"),
        )
        .group_by(*SUITE, *QUERY, maintain_order=True)
        .agg(
            pl.col("tags", "split", "stated").drop_nulls().first(),
            *(_sum_if_known(name) for name in SCORED),
            pl.col("odd").any(),
        )
        .with_columns(
            pl.coalesce(_rate(), "stated").alias("rate"),
            *(pl.lit(None, pl.Int64).alias(name) for name in COUNTS[2:]),
            *(pl.lit([], pl.List(pl.String)).alias(name) for name in QUERY_TEXTS),
        )
        .drop("stated")
    )


def _sum_if_known(name: str) -> pl.Expr:
    """The sum, null if nothing is known."""
    import polars as pl

    return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name)


def _rate() -> pl.Expr:
    import polars as pl

    hit, missed = map(pl.col, SCORED)
    return pl.when(hit + missed > 0).then(hit / (hit + missed))


def trigger_rates(data: Any, level: float = 0.95, threshold: float = 0.5) -> Any:
    """How often each query triggers the skill, and whether it should.

    Runs that errored, or were never made, enter no rate.

    Args:
        data: a `Workspace`; its table `triggers`; or a table of attempts, one row per query ×
            run, with the columns `query`, `should_trigger`, `outcome` (`triggered`, `not
            triggered`, `errored`, `not run`) and, if known, `tags`, `split`, `reason`,
            `instead`, `opened` (polars or pandas).
        level: of the interval.
        threshold: the rate at which a query counts as triggering.

    Returns:
        In the kind of `data`, one row a workspace × skill × description × query (these three
        are null if the table has no such column):

        - `should_trigger`, `tags`, `split`, `near_miss` (a tag says so; null: no tags known);
        - `rate`: triggered / (triggered + not triggered), 0-1, as stated where the file has no
          counts; null if no run tells. `low` and `high`: Wilson's interval (1927); null
          if there are no counts;
        - `n_triggered`, `n_not_triggered`, `n_errored`, `n_not_run`: runs, null if nobody
          counted, as a file of results has no errored ones;
        - `triggers`: whether the rate reaches the threshold; `right`: the share of scored runs
          that did what they should; `flips`: whether runs of the same query differ; null
          without a rate, `right` also where not stated whether the query should trigger;
        - `instead`: what the model did most often in runs that did not trigger.

    Raises:
        ValueError: for a table of attempts that lacks a column or holds another outcome, or a
            level or threshold that is none.

    >>> import polars as pl
    >>> asked = pl.DataFrame({
    ...     "query": ["fill in this form"] * 3 + ["what is a form?"] * 2,
    ...     "should_trigger": [True] * 3 + [False] * 2,
    ...     "outcome": ["triggered", "triggered", "not triggered", "not triggered", "errored"],
    ... })
    >>> trigger_rates(asked).select(pl.col("rate", "low", "high").round(3), "flips").rows()
    [(0.667, 0.208, 0.939, True), (0.0, 0.0, 0.793, False)]
    """
    import polars as pl

    hit, missed = map(pl.col, SCORED)
    rate = pl.col("rate")
    low, high = wilson_interval(hit, hit + missed, check_level(level))
    right = pl.when("should_trigger").then(rate).otherwise(1 - rate)
    plain = pl.element().str.to_lowercase().str.replace_all("[-_ ]+", " ").str.strip_chars()
    near = pl.col("tags").list.eval(plain).list.contains(NEAR_MISS)  # also of `Near-Miss`
    instead = pl.col("instead").list.eval(pl.element().mode().sort()).list.first()
    answered = count_by_query(data).select(
        *SUITE,
        "query",
        "should_trigger",
        "tags",
        "split",
        near.alias("near_miss"),
        "rate",
        low.alias("low"),
        high.alias("high"),
        *COUNTS,
        reaches_threshold(threshold).alias("triggers"),
        pl.when(pl.col("should_trigger").is_not_null()).then(right).alias("right"),
        ((rate > 0) & (rate < 1)).alias("flips"),
        instead.alias("instead"),
    )
    return to_backend_of(data, answered)


def reaches_threshold(threshold: float) -> pl.Expr:
    """Whether a query triggers, by its `rate`; null without one.

    Raises:
        ValueError: for a threshold that is not above 0 and at most 1.
    """
    import polars as pl

    if not 0 < threshold <= 1:
        raise ValueError(f"`threshold` must be above 0 and at most 1, such as 0.5: {threshold}.")
    return pl.col("rate") >= threshold - 1e-9


def wilson_interval(hits: pl.Expr, n: pl.Expr, level: float) -> tuple[pl.Expr, pl.Expr]:
    """Wilson's score interval of the rate hits / n (JASA 22, 1927); null if n is 0 or null.

    >>> import polars as pl
    >>> counts = pl.DataFrame({"hits": [0, 2, 3, 0], "n": [3, 3, 3, 0]})
    >>> low, high = wilson_interval(pl.col("hits"), pl.col("n"), level=0.95)
    >>> counts.select(low.round(3).alias("low"), high.round(3).alias("high")).rows()
    [(0.0, 0.561), (0.208, 0.939), (0.439, 1.0), (None, None)]
    """
    import polars as pl
    from scipy import special

    z = float(special.ndtri((1 + level) / 2))
    n = pl.when(n > 0).then(n)
    middle = (hits + z * z / 2) / (n + z * z)
    reach = z / (n + z * z) * (hits * (n - hits) / n + z * z / 4).sqrt()
    low = pl.when(hits == 0).then(0.0 * n).otherwise(middle - reach)
    high = pl.when(hits == n).then(1.0 + 0.0 * n).otherwise(middle + reach)
    return low, high


def trigger_confusion(data: Any, threshold: float = 0.5) -> Any:
    """Should trigger × what happened, counted by query and by run; errors are separate.

    Args:
        data: as for `trigger_rates`.
        threshold: the rate at which a query counts as triggering.

    Returns:
        In the kind of `data`, for each workspace × skill × description × `should_trigger` (null
        if nobody said, if there are such queries) four rows, one an `outcome`: `triggered`,
        `not triggered`, `errored`, `not run`:

        - `right`: whether the outcome is the wanted one; null for the last two, and where
          nobody said what is wanted;
        - `n_queries`: a query with a rate is `triggered` if that reaches the threshold, else
          `not triggered`; one without is `errored` where a run of it errored, else `not run`;
        - `n_runs`; null if nobody counted;
        - `query_share` and `run_share`: of the class's queries and runs that were scored, 0-1;
          null for the last two outcomes, and where none was scored.

    Raises:
        ValueError: as `trigger_scores`.

    >>> import polars as pl
    >>> asked = pl.DataFrame({
    ...     "query": ["a", "a", "a", "b"],
    ...     "should_trigger": [True, True, True, False],
    ...     "outcome": ["triggered", "triggered", "not triggered", "errored"],
    ... })
    >>> trigger_confusion(asked).head(3).select("outcome", "right", "n_queries", "n_runs").rows()
    [('triggered', True, 1, 2), ('not triggered', False, 0, 1), ('errored', None, 0, 0)]
    """
    import polars as pl

    rows = [
        keys | row
        for keys, queries in partition_queries(data, SUITE, _query_outcome(threshold))
        for should in (True, False, None)
        for row in _class_rows(queries.filter(pl.col("should_trigger").eq_missing(should)), should)
    ]
    schema: Row = dict.fromkeys(SUITE, pl.String)
    schema |= {"should_trigger": pl.Boolean, "outcome": pl.String, "right": pl.Boolean}
    schema |= dict.fromkeys(("n_queries", "n_runs"), pl.Int64)
    schema |= dict.fromkeys(("query_share", "run_share"), pl.Float64)
    return to_backend_of(data, pl.DataFrame(rows, schema))


def _query_outcome(threshold: float) -> pl.Expr:
    """What a query counts as, one of OUTCOMES: `verdict`."""
    import polars as pl

    triggers = reaches_threshold(threshold)
    hit, missed, errored, absent = map(pl.lit, OUTCOMES)
    scored = pl.when(triggers).then(hit).when(~triggers).then(missed)
    return scored.when(pl.col(COUNTS[2]) > 0).then(errored).otherwise(absent).alias("verdict")


def _class_rows(queries: pl.DataFrame, should: bool | None) -> list[Row]:
    """The four outcomes of one class; none of the unlabelled if there are none."""
    if should is None and queries.is_empty():
        return []
    verdicts = Counter(queries["verdict"])
    asked = [verdicts[outcome] for outcome in OUTCOMES]
    runs = [sum_counts(queries, name) if queries.height else 0 for name in COUNTS]
    scored, scored_runs = sum(asked[:2]), sum(filter(None, runs[:2]))
    rows: list[Row] = []
    for at, outcome in enumerate(OUTCOMES):
        row: Row = {"should_trigger": should, "outcome": outcome}
        row |= {"n_queries": asked[at], "n_runs": runs[at]}
        if at < len(SCORED):
            right = None if should is None else should == (at == 0)
            share = asked[at] / scored if scored else None
            run_share = (runs[at] or 0) / scored_runs if scored_runs else None
            row |= {"right": right, "query_share": share, "run_share": run_share}
        rows.append(row)
    return rows


MANY_ERRORED = 0.1
"""Share of errored runs, of those that were begun, above which it is said; of more than half of
them the measurement is broken."""
FEW_MISSES = 3
"""Runs that opened another skill below which none is said to stand in the way."""


def trigger_doubts(data: Any) -> Any:
    """Why the figures of a measurement may say nothing about the description.

    Do not optimise a description on a `broken` measurement: the scores would follow the fault
    and not the words.

    Args:
        data: as for `trigger_rates`.

    Returns:
        In the kind of `data`, one row a workspace × skill × description × doubt; none if
        there is nothing to doubt. `doubt` is its name, `broken` whether the figures say nothing,
        `message` what was found, the likely cause and what to do:

        - `nothing measured`: no run tells (broken);
        - `no positives`, `no negatives`: all queries are of one class (broken);
        - `never triggers`: no run of any query that should trigger did (broken);
        - `always triggers`: every run did, of those that should not, too (broken);
        - `shadowed`: the runs of queries that should trigger, if they do not, open one and
          the same other skill;
        - `errored`: more than a tenth of the runs (broken above a half);
        - `not run`: some runs were not made;
        - `one run a query`: no query can be seen to flip;
        - `unlabelled`: queries of which not stated whether they should trigger;
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

    groups = count_by_query(data).partition_by(SUITE, maintain_order=True, as_dict=True)
    measured = {key[:2] for key, own in groups.items() if own["rate"].count()}
    rows = [
        (*key, *doubt)
        for key, own in groups.items()
        if own["rate"].count() or key[:2] not in measured
        for doubt in _doubt_queries(own)
    ]
    texts = dict.fromkeys([*SUITE, "doubt"], pl.String)
    schema: Row = texts | {"broken": pl.Boolean, "message": pl.String}
    return to_backend_of(data, pl.DataFrame(rows, schema, orient="row"))


def _doubt_queries(queries: pl.DataFrame) -> Iterator[Doubt]:
    """What to say of one description, the worst first."""
    positives, negatives = (queries.filter(should_trigger=should) for should in (True, False))
    if queries["rate"].count():
        yield from _doubt_class(positives, "no positives", "should", "recall")
        yield from _doubt_class(negatives, "no negatives", "should not", "precision")
        rates = queries.select("should_trigger", "rate").iter_rows()
        for name, message in find_broken_rates(rates, _why_never(positives)):
            yield name, True, message
        yield from _doubt_shadowed(positives)
        yield from _doubt_runs(queries)
    else:
        yield "nothing measured", True, _say_no_results(queries)
    yield from _doubt_statements(queries)


def _say_no_results(queries: pl.DataFrame) -> str:
    errored, absent = (sum_counts(queries, name) for name in COUNTS[2:])
    what = f"No run of {count(queries.height, 'query')} tells whether the skill is picked up: "
    if errored:
        return f"{what}{count(errored, 'run')} errored{_reason(queries)}. Fix that and run again."
    if absent:
        return f"{what}none was made: the budget ran out, or it was stopped. Run again."
    return f"{what}no file has results for them. Measure them first."


def _doubt_class(own: pl.DataFrame, name: str, should: str, figure: str) -> Iterator[Doubt]:
    if not own["rate"].count():
        which = "has a run that counts" if own.height else "exists"
        what = f"No query that {should} trigger {which}, so {figure} is unknown. "
        yield name, True, what + "Add some and run them."


def _why_never(positives: pl.DataFrame) -> str:
    opened = _count_other_skills(positives)
    if len(opened) == 1:
        return (
            f"Whenever a skill was opened, it was {in_quotes(min(opened))}, which "
            "takes these queries. "
            "Measure without it, or make the two descriptions more distinct."
        )
    if opened:
        return "Other skills were opened. Read a transcript: is this one on the list?"
    return NO_SKILL_OPENED


def _doubt_shadowed(positives: pl.DataFrame) -> Iterator[Doubt]:
    opened, missed = _count_other_skills(positives), sum_counts(positives, SCORED[1]) or 0
    often = opened.total()
    if len(opened) == 1 and often >= max(FEW_MISSES, missed / 2):
        what = f"{often:,} of {count(missed, 'run')} that should have triggered opened "
        why = "instead. Compare what both descriptions claim."
        yield "shadowed", False, f"{what}{in_quotes(min(opened))} {why}"


def _doubt_runs(queries: pl.DataFrame) -> Iterator[Doubt]:
    """Runs that no rate rests on, and too few to make one."""
    import polars as pl

    scored = sum_counts(queries, *SCORED) or 0
    errored, absent = (sum_counts(queries, name) or 0 for name in COUNTS[2:])
    begun = scored + errored
    if errored > MANY_ERRORED * begun:
        what = f"{errored:,} of {count(begun, 'run')} errored{_reason(queries)}. "
        why = "They count in no rate; if a query itself makes runs fail, the rates mislead."
        yield "errored", 2 * errored > begun, what + why
    if absent:
        what = f"Of {count(begun + absent, 'run')}, {absent:,} not made. "
        yield "not run", False, what + "The rates use the others; run again for the rest."
    if queries.select(pl.sum_horizontal(COUNTS)).max().item() == 1:
        what = "Each query was run once, so its rate is 0 or 1 and does not show how stable it is. "
        yield "one run a query", False, what + "Run each at least three times."


def _doubt_statements(queries: pl.DataFrame) -> Iterator[Doubt]:
    """What is odd about the queries themselves."""
    unlabelled, odd = queries["should_trigger"].null_count(), int(queries["odd"].sum())
    if unlabelled:
        what = f"No label says whether {count(unlabelled, 'query')} should trigger. "
        yield "unlabelled", False, what + "They are in no score: add `should_trigger`."
    if odd:
        what = f"More triggered runs than runs are stated for {count(odd, 'query')}. "
        yield "contradictory", False, what + "These are not counted: correct the file."


def _count_other_skills(positives: pl.DataFrame) -> Counter[str]:
    """The other skills that were opened, each by the runs that opened it first."""
    return Counter(name for own in positives["others"] for name in own if name is not None)


def _reason(queries: pl.DataFrame) -> str:
    """The commonest reason, in brackets."""
    reasons = Counter(reason for own in queries["reasons"] for reason in own)
    return f" (most often: {in_quotes(reasons.most_common(1)[0][0])})" if reasons else ""


SCORES = ("precision", "recall", "f1", "accuracy")
DRAWS = 2000


def estimate_scores(
    positives: Array, negatives: Array, level: float
) -> list[tuple[float | None, float | None, float | None]]:
    """SCORES, each with its interval, from the queries of both classes; None where there is none.

    Precision = TP / (TP + FP), recall = TP / (TP + FN), F1 = 2 TP / (2 TP + FP + FN), accuracy =
    (TP + TN) / all. Precision is None if nothing triggered; precision and F1 where a class
    is empty, as they are then the same for every description; recall without positives.

    The intervals come from resampling the queries within their class. A draw weighs the queries
    of a class by a flat Dirichlet (Rubin, Annals of Statistics 9, 1981), and among them one that
    was never asked: for the low end the worst that could be (it never triggers if it should,
    always if it should not), for the high end the best. So the mean of a class gets the bound of
    Gaffke (2005; Learned-Miller & Thomas, arXiv 1905.06208), which asks nothing of the queries
    but rates between 0 and 1, lets the runs of a query go together, and for counts of 0 and 1 is
    that of Clopper and Pearson (1934). Scores over both classes take the low end from draws of
    both classes' low ends, and the high one likewise (melding: Fay, Proschan & Brittain,
    Biometrics 71, 2015). The ends are percentiles of 2,000 draws, and never leave the estimate
    out. The order of the queries does not matter.

    Args:
        positives: queries × what triggered and of how many. By query these are 0 or 1 of 1, by
            run the runs that triggered of those scored.
        negatives: the same of the queries that should not trigger.
        level: of the intervals.

    >>> import numpy as np
    >>> found = estimate_scores(np.array([[1, 1]] * 10), np.array([[0, 1]] * 10), 0.95)
    >>> [(round(low, 1), high) for _, low, high in found]
    [(0.7, 1.0), (0.7, 1.0), (0.8, 1.0), (0.8, 1.0)]
    """
    import numpy as np

    generator = np.random.default_rng(0)
    totals = [total for own in (positives, negatives) for total in own.sum(axis=0, dtype=float)]
    worst, best = (
        _scores(
            *_draw_queries(positives, more, generator),
            *_draw_queries(negatives, 1 - more, generator),
        )
        for more in (0.0, 1.0)
    )
    tail = (1 - level) / 2
    found: list[tuple[float | None, float | None, float | None]] = []
    for [estimate], low, high in zip(_scores(*np.array(totals)[:, None]), worst, best, strict=True):
        if np.isnan(estimate):
            found.append((None, None, None))
        else:
            ends = min(np.quantile(low, tail), estimate), max(np.quantile(high, 1 - tail), estimate)
            found.append((float(estimate), float(ends[0]), float(ends[1])))
    return found


def _draw_queries(
    counts: Array, more: float, generator: np.random.Generator
) -> tuple[Array, Array]:
    """What triggered and of how many, in each draw, with a query more that triggers at this rate.

    Queries that are alike are weighed at once.
    """
    import numpy as np

    counts = counts[counts[:, 1] > 0].astype(float)
    if not len(counts):
        return np.zeros(DRAWS), np.zeros(DRAWS)
    alike, often = np.unique(counts, axis=0, return_counts=True)
    usual = counts[:, 1].mean()
    pairs = np.vstack([alike, (more * usual, usual)])
    weights = generator.gamma(np.append(often, 1), size=(DRAWS, len(pairs)))
    hits, of = (weights @ pairs).T
    return hits / of * counts[:, 1].sum(), np.full(DRAWS, counts[:, 1].sum())


def _scores(hits: Array, positives: Array, false: Array, negatives: Array) -> tuple[Array, ...]:
    """SCORES, NaN if there is none: from true positives, false ones, and both classes' sizes."""
    import numpy as np

    both = np.where((positives > 0) & (negatives > 0), 1.0, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (
            both * hits / (hits + false),
            hits / positives,
            both * 2 * hits / (hits + false + positives),
            (hits + negatives - false) / (positives + negatives),
        )


OF_RUNS = "run_"
"""What scores over runs begin with; those over queries have no prefix."""
ENDS = ("", "_low", "_high")
SIZES = ("n_queries", "n_positive", "n_negative", "n_unlabelled", "n_unmeasured")
RUNS = ("n_runs", *COUNTS[2:])


def trigger_scores(
    data: Any, level: float = 0.95, threshold: float = 0.5, by: Literal["split"] | None = None
) -> Any:
    """How well a description triggers: precision, recall, F1 and accuracy, with intervals.

    The headline is by query: a query triggers if its rate reaches the threshold, and each query
    counts once. By run (`run_…`), every scored run counts, so a query that flips counts partly
    each way, and one whose runs errored counts less.

    The intervals are for queries like these, with as many runs of each: the queries are
    resampled within their class (should trigger, should not), 2,000 draws, with one extra query
    that goes wrong for the low end and one that goes right for the high end. That makes them
    exact for the recall (Clopper and Pearson; over runs Gaffke's bound), and wide enough for the
    others (melding: Fay, Proschan & Brittain 2015), even with few queries and no failures: in
    simulations with at least 5 queries per class, they contain the truth in at least 96 of 100
    cases.

    Args:
        data: as for `trigger_rates`.
        level: of the intervals.
        threshold: the rate at which a query counts as triggering.
        by: `split` to group the queries by their split, too.

    Returns:
        In the kind of `data`, one row a workspace × skill × description (× `split`):

        - `precision`, `recall`, `f1`, `accuracy` (0-1), each with its `…_low` and `…_high`; then
          the same over runs, as `run_precision`, …. Precision is null if nothing triggered;
          precision and F1 if one class is empty; recall without a query that should
          trigger; all of them if nothing was measured. `run_…` are null too where a file
          has rates without counts;
        - `n_queries` (in the scores), of them `n_positive` and `n_negative`; left out:
          `n_unlabelled` (not stated whether they should trigger), `n_unmeasured` (no run
          tells);
        - `n_runs` (in the scores), `n_errored`, `n_not_run`, of all queries; null if nobody
          counted.

    Raises:
        ValueError: as `trigger_rates`; for another `by`.

    >>> import polars as pl
    >>> asked = pl.DataFrame({
    ...     "query": ["a", "a", "a", "b", "b", "b"],
    ...     "should_trigger": [True] * 3 + [False] * 3,
    ...     "outcome": ["triggered", "triggered", "not triggered"] + ["not triggered"] * 3,
    ... })
    >>> trigger_scores(asked).select("f1", "f1_high", pl.col("run_f1").round(3)).rows()
    [(1.0, 1.0, 0.8)]
    """
    import polars as pl

    level = check_level(level)
    if by not in (None, "split"):
        raise no_such("score by", by, ["split"])
    keys = [*SUITE, *filter(None, [by])]
    parts = partition_queries(data, keys, reaches_threshold(threshold).alias("triggers"))
    rows = [of | _score_row(own, level) for of, own in parts]
    figures = [
        f"{prefix}{name}{end}" for prefix in ("", OF_RUNS) for name in SCORES for end in ENDS
    ]
    schema: Row = dict.fromkeys(keys, pl.String)
    schema |= dict.fromkeys(figures, pl.Float64)
    schema |= dict.fromkeys((*SIZES, *RUNS), pl.Int64)
    return to_backend_of(data, pl.DataFrame(rows, schema))


def _score_row(queries: pl.DataFrame, level: float) -> Row:
    """All columns but the keys."""
    import polars as pl

    labelled = queries.drop_nulls("should_trigger")
    measured = labelled.drop_nulls("rate")
    classes = [measured.filter(should_trigger=should) for should in (True, False)]
    hit, missed = map(pl.col, SCORED)
    counted = {
        "": (pl.col("triggers").cast(pl.Int64), pl.lit(1).alias("of")),
        OF_RUNS: (hit.fill_null(0), (hit + missed).fill_null(0).alias("of")),
    }
    figures: Row = {}
    for prefix, both in counted.items():
        positives, negatives = (own.select(both).to_numpy() for own in classes)
        for name, own in zip(SCORES, estimate_scores(positives, negatives, level), strict=True):
            figures |= {f"{prefix}{name}{end}": own[at] for at, end in enumerate(ENDS)}
    return {
        **figures,
        "n_queries": measured.height,
        "n_positive": classes[0].height,
        "n_negative": classes[1].height,
        "n_unlabelled": queries.height - labelled.height,
        "n_unmeasured": labelled.height - measured.height,
        "n_runs": sum_counts(measured, *SCORED),
        **{name: sum_counts(queries, name) for name in COUNTS[2:]},
    }
