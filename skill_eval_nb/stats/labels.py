"""A human's labels of single checks: which to ask for, what they say of the judge, the mending."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from skill_eval_nb.text import count, with_sign

from .pairing import UNSTATED
from .preference import Wins
from .values import EVAL, GROUP, ITERATION, MODEL, RUN, is_table, rows_of_runs, runs_of
from .verdict import LEANS

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

CELL = [*GROUP, *EVAL, "configuration"]
"""A side of an eval."""
LEAST = 3
"""Labels that a side of an eval takes, or as many as it has checks: with two, intervals of these
evals held the truth in 91 to 92 of 100 simulated cases."""
BESIDE = (*LEANS, "next_step")
"""Columns of `deltas` that rest on what the judge said, which labels do not correct."""
APART = 0.5
"""So far apart are the rates of script and judge in a run that is looked at for it."""


def find_judged_checks(ws: Workspace) -> pl.DataFrame:
    """The checks that a judge decided, each once: RUN, MODEL, what is said of them, label, sampled.

    `label` is the human's verdict, the last one if there are several, and `sampled` whether
    the check was drawn at random; both are null if nobody labelled it.
    """
    import polars as pl

    label = {"text": pl.String, "passed": pl.Boolean, "sampled": pl.Boolean}
    checks = rows_of_runs(ws, "expectations")
    judged = checks.filter(pl.col("layer") == "judged", pl.col("passed").is_not_null())
    run = [name for name in RUN if name not in ("skill", "eval_name")]
    given = ws.polars("feedback").drop_nulls("labels").sort("timestamp", maintain_order=True)
    given = given.select(*run, pl.col("labels").str.json_decode(pl.List(pl.Struct(label))))
    labels = given.explode("labels").unnest("labels")
    labels = labels.unique([*run, "text"], keep="last").rename({"passed": "label"})
    return (
        judged.unique([*RUN, "text"], keep="first", maintain_order=True)
        .select(*RUN, *MODEL, "expectation_id", "text", "passed", "confidence")
        .join(labels, on=[*run, "text"], how="left", nulls_equal=True, maintain_order="left")
    )


def offer_checks(ws: Workspace) -> pl.DataFrame:
    """The checks that a human is asked about, in order: RUN, text, sampled.

    First come those about which there is doubt: the judge contradicts a script's verdict on a
    check of the same text or id, judgings differ (the grading is not sure), or in the run the
    rates of script and judge lie far apart. They take turns with checks that were drawn at random
    (`sampled`), one of each side of an eval after the other. A check is kept for one of the two
    before anybody looks at it, so that those drawn at random stay a sample of all: the first LEAST
    of a random order of each side of an eval, and then every other one. That order rests on the
    names of run and check alone.
    """
    import polars as pl

    apart = (pl.col("pass_rate") - pl.col("structural_pass_rate")).abs() > APART
    runs = runs_of(ws).select(*RUN, apart=apart.fill_null(value=False)).unique(RUN)
    checks = find_judged_checks(ws).join(runs, on=RUN, how="left", nulls_equal=True)
    scripts: dict[tuple[Any, ...], bool] = {}
    structural = rows_of_runs(ws, "expectations").filter(layer="structural").drop_nulls("passed")
    told = [*RUN, "expectation_id", "text", "passed"]
    for *run, id_, text, passed in structural.select(told).iter_rows():
        scripts |= dict.fromkeys([(*run, id_ or text), (*run, text)], passed)
    doubts: list[int | None] = []
    draws: list[str] = []
    told += ["confidence", "apart"]
    for *run, id_, text, passed, sure, differs in checks.select(told).iter_rows():
        against = any(scripts.get((*run, name), passed) != passed for name in (id_ or text, text))
        unsure = (sure or "").lower() in ("low", "medium")
        doubts.append(0 if against else 1 if unsure else 2 if differs else None)
        draws.append(sha256(repr((*run, text)).encode()).hexdigest())
    place = pl.col("draw").rank("ordinal").over(CELL).cast(pl.Int64) - 1
    turn = pl.int_range(pl.len()).over(*ITERATION, "sampled") * 2 + pl.col("sampled")
    return (
        checks.with_columns(
            pl.Series("doubt", doubts, pl.Int64), pl.Series("draw", draws, pl.String)
        )
        .with_columns(place=place, sampled=(place < LEAST) | (place % 2 == 0))
        .filter(pl.col("sampled") | pl.col("doubt").is_not_null())
        .sort(pl.when("sampled").then("place").otherwise("doubt"), "draw")
        .sort(turn, maintain_order=True)
        .select(*RUN, "text", "sampled")
    )


RATES = {"exact": (True, False), "sensitivity": (True,), "specificity": (False,)}
"""Shares of checks on which the judge is right, and the human's verdicts on those checks."""
ON_LABELS = tuple(f"{rate}{end}" for rate in RATES for end in ("", "_low", "_high"))[1:]
"""What `agreement` says of a judge on the checks that a human labelled, beside `exact`."""


def trust_judges(ws: Workspace, level: float) -> list[dict[str, Any]]:
    """A row a judge of what it says of labelled checks; those not drawn at random in the note."""
    import polars as pl

    judges = runs_of(ws).select(*RUN, judge=pl.col("judge_model").fill_null(UNSTATED)).unique(RUN)
    checks = find_judged_checks(ws).drop_nulls("label").join(judges, on=RUN, nulls_equal=True)
    rows = []
    for key, own in checks.group_by([*GROUP, "judge"], maintain_order=True):
        drawn = own.filter("sampled")
        n = drawn.height
        row: dict[str, Any] = dict(zip([*GROUP, "judge"], key, strict=True))
        row |= {"n_evals": drawn.select(EVAL).n_unique(), "n_outputs": n, "n_repeated": n}
        for rate, labels in RATES.items():
            of = drawn.filter(pl.col("label").is_in(labels))
            right = int((of["passed"] == of["label"]).sum())
            low, high = Wins(right, of.height - right, 0).interval(level)
            share = right / of.height if of.height else None
            row |= {rate: share, f"{rate}_low": low, f"{rate}_high": high}
        more = count(own.height - n, "label")
        note = f"{more} left out: of checks not drawn at random." if own.height > n else None
        rows.append(row | {"note": note})
    return rows


def correct_by_labels(data: Any, values: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pass rates of runs as a human would have given them, as far as labels tell; and how far.

    Prediction-powered inference (Angelopoulos et al., Science 382, 2023): of each side of an
    eval the rate is the judge's over all checks, and the mean of (human - judge) over those that
    were drawn at random and labelled. Each run has that mean, and its own labels' distance from
    it, enlarged as a variance of n labels is by n / (n - 1). So the mean over runs is the
    corrected rate, and their spread that of runs and of labelling together: what rests on it, a
    test or an interval, allows for both. A run without a check that a judge decided stays as it
    is; a side of an eval with fewer than LEAST labels has no figure.

    Args:
        data: a `Workspace`.
        values: as `values_of` gives them, of `pass_rate`.

    Returns:
        The values; and by CELL `n`, the labels, and `off`, that mean, both null if too few.

    Raises:
        ValueError: for another metric, a table, or where nothing is labelled.
    """
    import polars as pl

    if is_table(data) or set(values["metric"]) - {"pass_rate"}:
        raise ValueError("`corrected` is of the pass rate of a Workspace: labels are of checks.")
    checks = find_judged_checks(data)
    if not checks["sampled"].any():
        some = checks["label"].count()
        why = f"The {count(some, 'label')} here are of checks not drawn at random." if some else ""
        raise ValueError(
            f"Nothing tells how far the judge is off. {why or 'No check has a human label.'} "
            f'`sen.review(ws, "checks")` asks for some: {LEAST} for each side of an eval.'
        )
    off = pl.when("sampled").then(pl.col("label").cast(pl.Int64) - pl.col("passed").cast(pl.Int64))
    own = checks.group_by(RUN).agg(
        pl.len().alias("checks"),
        off.count().alias("labels"),
        (off.count() / pl.len()).alias("weight"),
        (off.sum() / pl.len()).alias("off"),
    )
    runs = values.join(own, on=RUN, how="left", nulls_equal=True, maintain_order="left")
    runs = runs.with_columns(judged=pl.all_horizontal(pl.col("value", "checks").is_not_null()))
    n, weight = pl.col("labels").sum().over(CELL), pl.col("weight").sum().over(CELL)
    enough = n >= pl.min_horizontal(LEAST, pl.col("checks").sum().over(CELL))
    mean = pl.col("off").sum().over(CELL) / weight
    apart = (pl.col("off") - mean * pl.col("weight")) / weight * pl.col("judged").sum().over(CELL)
    mended = pl.col("value") + mean + apart * (n / pl.max_horizontal(n - 1, 1)).sqrt()
    found = runs.with_columns(
        pl.when(~pl.col("judged")).then("value").when(enough).then(mended).alias("value"),
        pl.when(enough).then(n).alias("n"),
        pl.when(enough).then(mean).alias("off"),
    )
    cells = found.filter("judged").select(*CELL, "n", "off").unique(CELL)
    return found.select(values.columns), cells


def state_labels(found: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """`deltas` with a sentence in each reason: what was corrected, by how many labels.

    Raises:
        ValueError: if no eval has enough labels on both sides of any comparison.
    """
    import polars as pl

    if not found["n_evals"].sum():
        raise ValueError(
            f"Too little is labelled: no eval has {LEAST} labels of checks drawn at random on both "
            'of its sides. `sen.review(ws, "checks")` asks for them in turn.'
        )
    reasons = []
    for row in found.to_dicts():
        names = [*ITERATION[:2], *(name for name in MODEL if row[name] is not None)]
        own = cells.filter(
            *(pl.col(name) == row[name] for name in names),
            ~pl.col("eval_name").is_in(row["unpaired"]),
            pl.col("iteration").is_in([row["iteration"], row["baseline"]]),
            pl.col("configuration").is_in([row["configuration"], row["baseline"]]),
        )
        which = "configuration" if own["iteration"].n_unique() < 2 else "iteration"
        sides = own.group_by(which).agg(pl.col("off").mean(), pl.col("n").sum()).sort(which)
        texts = [
            f"{who} {with_sign(100 * off)} pp ({count(n, 'label')})" for who, off, n in sides.rows()
        ]
        said = ", ".join(texts) or "no eval has enough of them"
        reasons.append(f"{row['reason']} Corrected by a human's labels: {said}.")
    rest_on_the_judge = [pl.lit(None, found.schema[name]).alias(name) for name in BESIDE]
    return found.with_columns(*rest_on_the_judge, reason=pl.Series(reasons, dtype=pl.String))
