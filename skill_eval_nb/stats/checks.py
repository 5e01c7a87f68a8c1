"""Single checks: whether both sides of an eval had the same, and how a human labelled them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from skill_eval_nb.text import count, with_sign

from .values import (
    EVAL,
    GROUP,
    ITERATION,
    MODEL,
    RUN,
    SIDES,
    by_model,
    cache_on_workspace,
    is_table,
    join_sides,
    natural_key,
    rows_of_runs,
    runs_of,
    sort_rows,
    stand_in_keys,
)
from .verdict import LEANS

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

Check = tuple[str | None, str]
"""The id of a check, if it has one, and its text."""
COUNTED = ("pass_rate", "score", "overall_efficiency", "passed", "failed")
"""Metrics, besides those of a rubric, in which a judge may have a say."""
CHECKED = (*COUNTED, "total", "structural_pass_rate")
"""Metrics that are counted from checks."""
NEAR = 0.9
"""How like two texts are of which a grader may have worded one again."""
MOSTLY = 0.8
"""The same, in words in common, if all words of the one are in the other."""
MOST = 100
"""Checks of a side that are held against the other's by their words: a suite has fewer."""
MOST_PAIRS = 50_000_000
"""Pairs of their characters: each takes some nanoseconds."""
DECIDING = re.compile(r"\d+(?:\.\d+)?|\b(?:not?|never|none|without|cannot)\b|n['’]t\b")
"""What makes another check of the same words: numbers and negations."""
ASIDE = re.compile(r"\W")
"""What an addition begins with that a grader made or left out."""


@cache_on_workspace
def checks_of(data: Any) -> pl.DataFrame:
    """The checks that runs were graded on: RUN, layer, expectation_id, text; none of a table."""
    import polars as pl

    columns = [*RUN, "layer", "expectation_id", "text"]
    if is_table(data):
        types = dict.fromkeys(columns, pl.String) | {"run_number": pl.Int64}
        return pl.DataFrame(schema=types)
    return data.polars("expectations").with_columns(stand_in_keys()).select(columns)


def find_other_checks(
    checks: pl.DataFrame, runs: pl.DataFrame, compared: pl.DataFrame, *, one_suite: bool
) -> pl.DataFrame:
    """Evals whose sides were graded on other checks: GROUP, EVAL, SIDES, n, n_baseline.

    Checks are held against each other layer by layer, of layers that both sides have. The runs
    of a side count together, so a check that one of them lacks is no other check.

    Args:
        checks: what runs were graded on: RUN, layer, expectation_id, text.
        runs: the runs, with the same names of iterations and configurations.
        compared: what `choose_sides` gives.
        one_suite: whether ids mean the same on both sides, as in one iteration.
    """
    import polars as pl

    models = by_model(runs).select(*RUN, *MODEL).unique(RUN)
    keys = [*GROUP, *EVAL, "layer"]
    text = pl.col("text").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars(" .:;!,")
    cells = (
        checks.join(models, on=RUN, nulls_equal=True)
        .group_by(*keys, "configuration")
        .agg(
            text.unique().sort().alias("texts"),
            pl.struct("expectation_id", text).unique().alias("own"),
        )
    )
    compared = compared.select(*ITERATION, *SIDES)
    rows = cells.select(keys).unique().join(compared, ITERATION, nulls_equal=True)
    both = join_sides(rows, cells, keys).filter(pl.col("texts") != pl.col("texts_baseline"))
    differ = [
        not are_same_checks(
            *([(each["expectation_id"], each["text"]) for each in own] for own in pair),
            one_suite=one_suite,
        )
        for pair in both.select("own", "own_baseline").iter_rows()
    ]
    others = both.filter(pl.Series(differ, dtype=pl.Boolean)).group_by(*GROUP, *EVAL, *SIDES)
    counts = others.agg(
        pl.col("texts").list.len().sum().alias("n"),
        pl.col("texts_baseline").list.len().sum().alias("n_baseline"),
    )
    return sort_rows(counts, **dict.fromkeys([*GROUP, *EVAL], natural_key))


def are_same_checks(
    ones: Iterable[Check], others: Iterable[Check], *, one_suite: bool = True
) -> bool:
    """Whether each check of a side has its like on the other, if in other words.

    Of one suite ids decide, and as many checks, of which most are the same, are the same.

    >>> six = [(None, f"row {n} is right") for n in range(6)]
    >>> are_same_checks(six, six[::-1]), are_same_checks(six, six[:1])
    (True, False)
    >>> are_same_checks([("S1", "is a table")], [("S1", "shows rows and columns")])
    True
    >>> are_same_checks([*six, (None, "names all hosts")], [*six, (None, "each host is named")])
    True
    """
    own, theirs = list(ones), list(others)
    lacking = [_find_missing(own, theirs, one_suite), _find_missing(theirs, own, one_suite)]
    if one_suite and len(own) == len(theirs) > 2 * len(lacking[0]):
        lacking = [sorted(DECIDING.findall(" ".join(texts))) for texts in lacking]
        return lacking[0] == lacking[1]
    return not any(lacking)


def _find_missing(ones: Sequence[Check], others: Sequence[Check], one_suite: bool) -> list[str]:
    """The texts of those that are not among the others."""
    texts = {text for _, text in others}
    ids = {id_ for id_, _ in others if id_ is not None and one_suite}
    missing = [text for id_, text in ones if text not in texts and id_ not in ids]
    pairs = sum(map(len, missing)) * sum(map(len, texts))
    if max(len(missing), len(texts)) > MOST or pairs > MOST_PAIRS:
        return missing
    return [text for text in missing if not any(is_reworded(text, other) for other in texts)]


@lru_cache(maxsize=20_000)
def is_reworded(text: str, other: str) -> bool:
    """Whether two texts say the same in nearly the same words, or one adds an aside to the other.

    >>> is_reworded("is a table", "is a table (no list)")
    True
    >>> is_reworded("has at least 3 rows", "has at least 5 rows")
    False
    >>> is_reworded("calls no fetch/axios", "there are no calls of fetch, axios")
    False
    >>> is_reworded("the link is made by bash, not shown", "the link made by bash (not shown)")
    True
    """
    short, long = sorted((text, other), key=len)
    if long.startswith(short) and ASIDE.match(long[len(short) :].lstrip()):
        return True
    if sorted(DECIDING.findall(text)) != sorted(DECIDING.findall(other)):
        return False
    words, more = (set(re.findall(r"\w+", each)) for each in (short, long))
    if words <= more and 2 * len(words) >= MOSTLY * (len(words) + len(more)):
        return True
    matcher = SequenceMatcher(None, text, other, autojunk=False)
    quick, quicker = matcher.quick_ratio, matcher.real_quick_ratio
    return quicker() >= NEAR and quick() >= NEAR and matcher.ratio() >= NEAR


def leave_out(paired: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """`paired` without what the checks in `others` decide, if that leaves any estimate."""
    import polars as pl

    if others.is_empty():
        return paired
    keys = [name for name in others.columns if name in paired.columns]
    flagged = paired.join(others, on=keys, how="left", nulls_equal=True, maintain_order="left")
    other = pl.col("n").is_not_null() & pl.col("metric").is_in(CHECKED)
    comparison = [*GROUP, *SIDES, "metric"]
    lost = other & (pl.col("estimate").is_not_null() & ~other).any().over(comparison)
    why = pl.format("graded on different checks ({} and {})", "n", "n_baseline")
    return mark_unpaired(flagged, lost, why).drop("n", "n_baseline")


def mark_unpaired(paired: pl.DataFrame, lost: pl.Expr, why: pl.Expr) -> pl.DataFrame:
    """`paired` without the estimates of the rows that are `lost`, and why in `unpaired`."""
    import polars as pl

    return paired.with_columns(
        estimate=pl.when(~lost).then("estimate"),
        unpaired=pl.coalesce("unpaired", pl.when(lost).then(why)),
    )


CELL = [*GROUP, *EVAL, "configuration"]
"""A side of an eval."""
LEAST = 3
"""Labels that a side of an eval takes, or as many as it has checks: with two, intervals of these
evals held the truth in 91 to 92 of 100 simulated cases."""
BESIDE = (*LEANS, "next_step")
"""Columns of `deltas` that rest on what the judge said, which labels do not correct."""
DOUBTED = 0.5
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

    apart = (pl.col("pass_rate") - pl.col("structural_pass_rate")).abs() > DOUBTED
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
        raise ValueError("`corrected` takes the pass rate of a Workspace: labels are about checks.")
    checks = find_judged_checks(data)
    if not checks["sampled"].any():
        some = checks["label"].count()
        why = f"No labelled check was drawn at random ({count(some, 'label')})." if some else ""
        raise ValueError(
            f"The judge's error is unknown. {why or 'No check has a human label.'} "
            f'Label some with `sen.review(ws, "checks")`: {LEAST} for each side of an eval.'
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
            f"Too few labels: no eval has {LEAST} labels of checks drawn at random on both "
            'sides. Add some with `sen.review(ws, "checks")`.'
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
        reasons.append(f"{row['reason']} Corrected with human labels: {said}.")
    rest_on_the_judge = [pl.lit(None, found.schema[name]).alias(name) for name in BESIDE]
    return found.with_columns(*rest_on_the_judge, reason=pl.Series(reasons, dtype=pl.String))
