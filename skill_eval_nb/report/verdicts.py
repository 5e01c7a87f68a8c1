"""What a benchmark opens with and rests on: verdicts, certainty, evals, rubric, cost."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from skill_eval_nb import charts, stats
from skill_eval_nb.stats.agreement import ITSELF, KINDS
from skill_eval_nb.stats.comparison import fewest_moved
from skill_eval_nb.stats.confounds import OFFLINE
from skill_eval_nb.stats.expectations import CLASSES, FAILS, HURTS, PASSES, SEPARATES
from skill_eval_nb.stats.overview import explain_adjustment, say_how
from skill_eval_nb.stats.values import (
    HEADLINE,
    MODEL,
    RUBRIC,
    is_stand_in,
    model_name,
    natural_key,
    sort_stamps,
)
from skill_eval_nb.stats.variance import ROUGH
from skill_eval_nb.stats.verdict import Answer, say_answer, word_of
from skill_eval_nb.text import count, duration, p_value, some

from .measured import (
    MISSING,
    NO_ITERATION,
    IterationFigures,
    Paragraph,
    Part,
    Picture,
    Row,
    Table,
    cells,
    cut_table,
    difference,
    explain_cells,
    header,
    in_unit,
    interval,
    line,
    metric_name,
    with_n,
)


def heading_of(measured: IterationFigures) -> str:
    """The title of one benchmark."""
    return f"Benchmark of {_join_names(measured, 'skill', 'iteration')}"


def full_name(measured: IterationFigures) -> str:
    """The title of a benchmark among others."""
    return _join_names(measured, "workspace", "skill", "iteration")


def _join_names(measured: IterationFigures, *keys: str) -> str:
    place = measured.place
    names = [getattr(place, key) for key in keys]
    names += [model_name(dict(place.model))] if place.model else []
    return ", ".join(line(name) for name in dict.fromkeys(names) if name not in ("", NO_ITERATION))


def opening_parts(measured: IterationFigures) -> Iterator[Part]:
    """The parts that come before every section."""
    runs = measured.ws.polars("runs")
    if runs.select(is_stand_in(*MODEL, "judge_model").any()).item():
        yield Paragraph(OFFLINE)
    yield from verdicts(measured)
    yield Paragraph(_say_facts(measured))
    metrics = measured.metrics
    if metrics:
        rows = tuple((metric_name(metric), *cells(measured, metric)) for metric in metrics)
        yield Table(explain_cells(measured), header(measured, "Metric"), rows)
    if "rubric_normalized" in metrics:
        yield Paragraph(
            "Rubric, normalized is the weighted mean of the rubric scores divided by 5: "
            "its lowest value is 20%, not 0."
        )


def verdicts(measured: IterationFigures) -> Iterator[Part]:
    """What the skill does to the headline, on these evals and on tasks like these."""
    if measured.place.model and not measured.compared:
        only = some(map(line, measured.configurations), 6)
        yield Paragraph(f"All runs of this model are of {only}.", "There is nothing to compare.")
    for answer in answers(measured):
        yield from (Paragraph(claim.reason, f"{claim.words}.") for claim in answer.claims)
        yield from (Paragraph(answer.lean),) if answer.lean else ()
        for words, command in say_how(measured.ws, answer, named=True):
            yield Paragraph(words, command=command)


def answers(measured: IterationFigures) -> Iterator[Answer]:
    """What is said of the headline of each configuration that is compared."""
    for name in measured.compared:
        own = measured.deltas.get((name, HEADLINE), {})
        if "verdict" in own:
            yield say_answer(own, measured.beyond[name, HEADLINE], metric_name(HEADLINE))


def _say_facts(measured: IterationFigures) -> str:
    """What was run, by and judged by whom, from where."""
    runs = measured.ws.polars("runs")
    facts = []
    if runs.height:
        evals = runs.select("eval_id", "eval_name").n_unique()
        facts.append(f"{count(evals, 'eval')}, {count(runs.height, 'run')}")
    elif evals := measured.ws.polars("evals").height:
        facts.append(f"{count(evals, 'eval')}, no run")
    for did, column in (
        ("run by", "executor_model"),
        ("run in", "harness"),
        ("judged by", "judge_model"),
    ):
        models = sorted(runs[column].drop_nulls().unique())
        facts += [f"{did} {', '.join(map(line, models))}"] if models else []
    if stamps := sort_stamps(runs["started_at"]):
        facts.append(f"newest run {line(stamps[-1])}")
    facts.append(f"workspace {line(measured.place.workspace)}")
    text = "; ".join(facts)
    return f"{text[0].upper()}{text[1:]}."


EXACT = (
    "p is exact: it counts every arrangement of the labels within each eval, or every choice of "
    "signs of the evals' deltas."
)
TOO_FEW = "too few evals"
Key = tuple[str, str]
"""A compared configuration, and a metric."""


def certainty(measured: IterationFigures) -> Iterator[Part]:
    """The certainty of an iteration's deltas."""
    known = [
        (name, metric)
        for metric in (
            *measured.metrics,
            *(RUBRIC + dimension for dimension in measured.dimensions),
        )
        for name in measured.compared
        if "verdict" in measured.deltas.get((name, metric), {})
    ]
    if not known:
        return
    yield Picture(
        "The delta of the pass rate with its intervals, over all evals and for each of them. "
        "The tables below have the figures.",
        partial(charts.forest, measured.ws, HEADLINE, together=True),
    )
    yield _of_scope("These evals: uncertainty from running them again", measured, known, own=True)
    if any(measured.beyond[key]["verdict"] != TOO_FEW for key in known):
        title = "Tasks like these: uncertainty from other evals, too"
        yield _of_scope(title, measured, known, own=False)
    else:
        yield Paragraph(
            "Nothing can be claimed about tasks like these: that takes at least "
            f"{fewest_moved()} evals that differ between the sides."
        )
    yield Paragraph(f"{EXACT} {explain_adjustment(metric_name(HEADLINE).lower())}")


def _of_scope(title: str, measured: IterationFigures, known: Sequence[Key], *, own: bool) -> Table:
    """The deltas of one scope, with their intervals, p and verdicts."""
    several = len(measured.compared) > 1
    rows = measured.deltas if own else measured.beyond
    return Table(
        title,
        ("Metric", *(["Compared"] if several else []), "Delta", "Interval", "p", "Verdict"),
        tuple(
            (
                metric_name(metric),
                *([line(name)] if several else []),
                *_delta_cells(rows[name, metric]),
            )
            for name, metric in known
        ),
        labels=1 + several,
    )


def _delta_cells(row: Row) -> tuple[str, ...]:
    metric = row["metric"]
    delta, word = difference(row["estimate"], metric), word_of(row["verdict"], metric)
    return delta, interval(row), p_value(row["p_adjusted"]), word or MISSING


BY_EVAL = ("pass_rate", "rubric_normalized")
"""What is shown eval by eval, if it is known."""

SIDES = (("configuration", "mean", "n_runs"), ("baseline", "baseline_mean", "n_runs_baseline"))
"""The columns that hold either side of an eval: its name, its mean, its runs."""


def evals(measured: IterationFigures) -> Iterator[Part]:
    """The evals of an iteration."""
    metrics = [metric for metric in BY_EVAL if metric in measured.metrics and not measured.stated]
    if metrics and measured.compared:
        yield Picture(
            f"{metric_name(metrics[0])} of each eval with the skill and without. "
            "The table below has the figures.",
            partial(charts.deltas, measured.ws, metrics[0]),
        )
    for metric in metrics:
        yield _eval_table(measured, metric)


def _eval_table(measured: IterationFigures, metric: str) -> Table:
    evals: dict[tuple[str, str], dict[tuple[str, str], str]] = defaultdict(dict)
    for row in stats.deltas_by_eval(measured.ws, metric).iter_rows(named=True):
        shown = evals[row["eval_id"], row["eval_name"]]
        for side, mean, n in SIDES:
            shown["mean", row[side]] = with_n(in_unit(row[mean], metric), row[n])
        shown["delta", row["configuration"]] = difference(row["estimate"], metric)
    columns = [("mean", name) for name in measured.configurations]
    columns += [("delta", name) for name in measured.compared]
    rows = tuple(
        (line(name), *(shown.get(column, MISSING) for column in columns))
        for (_, name), shown in evals.items()
    )
    return Table(f"{metric_name(metric)}, by eval", header(measured, "Eval"), rows)


def rubric(measured: IterationFigures) -> Iterator[Part]:
    """The rubric of an iteration."""
    if not measured.dimensions:
        return
    if not measured.stated:
        yield Picture(
            "Each run's score on each rubric dimension, one point per run. "
            "The table below has the means.",
            partial(charts.rubric_dimensions, measured.ws),
        )
    rows = tuple((line(name), *cells(measured, RUBRIC + name)) for name in measured.dimensions)
    yield Table("Scores from 1 to 5", header(measured, "Dimension"), rows)


COSTS = ("time_seconds", "tokens", "cost_usd")


def cost(measured: IterationFigures) -> Iterator[Part]:
    """The cost of an iteration."""
    known = {*measured.metrics, *(name for name, each in measured.constant_costs.items() if each)}
    metrics = [metric for metric in COSTS if metric in known and not measured.stated]
    if not metrics:
        return
    yield Picture(
        "The quality of each run against its tokens, time and cost.",
        partial(charts.quality_against_cost, measured.ws),
    )
    names = measured.configurations
    rows = tuple((metric_name(metric), *_total_figures(measured, metric)) for metric in metrics)
    together = ("Together",) if len(names) > 1 else ()
    yield Table("All runs combined (n = runs with it)", ("", *map(line, names), *together), rows)


def _total_figures(measured: IterationFigures, metric: str) -> Iterator[str]:
    """A total for each configuration, and for all of them if there are several."""
    runs = measured.ws.polars("runs")
    sides = [runs.filter(configuration=name)[metric] for name in measured.configurations]
    for values in [*sides, runs[metric]] if len(sides) > 1 else sides:
        total = math.fsum(values.drop_nulls()) if values.count() else None
        shown = duration(total) if metric == "time_seconds" else in_unit(total, metric)
        yield with_n(shown, values.count())


MOST = 30
"""Checks that a table shows."""

SILENT = ({PASSES}, {FAILS})
"""The classes that an expectation is of in all comparisons if it tells nothing."""

CheckRow = Mapping[str, Any]


def _n_scored(row: CheckRow, end: str) -> int:
    return row[f"n_passed{end}"] + row[f"n_failed{end}"]


def check_parts(measured: IterationFigures) -> Iterator[Part]:
    """The checks of an iteration."""
    if measured.ws.polars("expectations").is_empty():
        return
    yield Picture(
        "Every expectation by configuration and eval: how often it passed.",
        partial(charts.expectation_matrix, measured.ws),
    )
    found = stats.discrimination(measured.ws).to_dicts()
    compared = [row for row in found if row["baseline"] is not None]
    if compared:
        yield Picture(
            "Every expectation by its pass rate with the skill and without.",
            partial(charts.discrimination, measured.ws, measured.baseline),
        )
        yield Paragraph(_count_classes(compared))
    yield from _proven_table([row for row in compared if row["class"] in (SEPARATES, HURTS)])
    yield from _silent_table(compared)


def _count_classes(compared: list[CheckRow]) -> str:
    """How many expectations are of which class, comparison by comparison."""
    sentences: list[str] = []
    for (who, other), own in groupby(
        compared, key=lambda row: (row["configuration"], row["baseline"])
    ):
        classes = Counter(row["class"] for row in own)
        shown = [f"{name} {classes[name]:,}" for name in CLASSES if classes[name]]
        checks = count(classes.total(), "check")
        sentences.append(f"{line(who)} against {line(other)}, {checks}: {some(shown, len(shown))}.")
    return " ".join(sentences)


def _proven_table(rows: list[CheckRow]) -> Iterator[Part]:
    """The table of what is proven, the largest differences first."""
    largest = sorted(rows, key=lambda row: -abs(row["estimate"]))
    yield from cut_table(
        "Checks that tell the sides apart; n counts verdicts, p is exact, corrected for all checks",
        ("Check", "Class", "Evals", "Pass rate", "Baseline", "Difference", "p"),
        map(_check_cells, largest),
        *(3, MOST),
    )


def _check_cells(row: CheckRow) -> tuple[str, ...]:
    sides = (("pass_rate", ""), ("baseline_pass_rate", "_baseline"))
    return (
        line(row["text"]),
        row["class"],
        _join_evals(row["evals"]),
        *(with_n(in_unit(row[rate], "pass_rate"), _n_scored(row, end)) for rate, end in sides),
        difference(row["estimate"], "pass_rate"),
        f"{row['p_adjusted']:.2g}",
    )


def _silent_table(compared: list[CheckRow]) -> Iterator[Part]:
    """The table of what always passes, or always fails, on both sides of every comparison.

    Checks of the most evals come first.
    """
    every: dict[tuple[str, str], list[CheckRow]] = defaultdict(list)
    for row in sorted(compared, key=lambda row: (row["layer"], row["text"])):
        every[row["layer"], row["text"]].append(row)
    silent = [own for own in every.values() if {row["class"] for row in own} in SILENT]
    silent.sort(key=lambda own: (-len(own[0]["evals"]), natural_key(own[0]["text"])))
    if not silent:
        return
    yield Paragraph(
        "Checks that tell nothing about the skill, since they came out the same in every run, "
        f"whatever the configuration: {len(silent):,}."
    )
    yield from cut_table(
        "n counts verdicts, of all configurations",
        ("Check", "Verdict", "Evals", "n"),
        (
            (
                line(own[0]["text"]),
                own[0]["class"],
                _join_evals(own[0]["evals"]),
                f"{sum(_n_scored(row, '') for row in own) + _n_scored(own[0], '_baseline'):,}",
            )
            for own in silent
        ),
        *(3, MOST),
    )


def _join_evals(names: list[str]) -> str:
    return some((line(name, 60) for name in names), most=3)


WORST = 5
"""Failing checks that stand before the details."""


def failing_checks(measured: IterationFigures) -> Iterator[Part]:
    """The checks that fail most often with the skill, each with what a failed run shows."""
    import polars as pl

    names = measured.configurations
    passed, evidence = pl.col("passed"), pl.col("evidence")
    of_skill = pl.col("configuration").is_in(measured.compared or names)
    keys = ("layer", "text", "eval_id", "eval_name")
    table = measured.ws.polars("expectations").drop_nulls("passed").sort("run_number", "evidence")
    checks = table.group_by(keys).agg(
        passed.filter(of_skill).mean().alias("rate"),
        evidence.filter(of_skill & ~passed & (evidence != "")).first(),
        *(passed.filter(configuration=name).alias(f"of {name}") for name in names),
    )
    failing = checks.filter(pl.col("rate") < 1).to_dicts()
    failing.sort(key=lambda row: (row["rate"], *(natural_key(row[name]) for name in keys)))
    yield from cut_table(
        "Runs that passed, of those scored, with the evidence of one that failed",
        ("Check", "Eval", "Evidence", *map(line, names)),
        (
            (
                line(row["text"]),
                line(row["eval_name"], 60),
                line(row["evidence"] or MISSING),
                *(_count_passed(row[f"of {name}"]) for name in names),
            )
            for row in failing
        ),
        *(3, WORST, " failed at least once"),
    )


def _count_passed(own: list[bool]) -> str:
    return f"{sum(own):,} of {len(own):,}" if own else MISSING


SHARES = ("share", "share_low", "share_high")


def variance(measured: IterationFigures) -> Iterator[Part]:
    """The variance components of an iteration."""
    if measured.stated or not measured.dimensions:
        return
    rows = [row for row in stats.variance(measured.ws).to_dicts() if row["share"] is not None]
    if not rows:
        return
    yield Picture(
        "The share of evals, runs and the judge in the variance of each rubric dimension. "
        "The table below has the figures.",
        partial(charts.variance_components, measured.ws),
    )
    parts = list(dict.fromkeys(row["component"] for row in rows))
    known = {(row["dimension"], row["configuration"], row["component"]): row for row in rows}
    several = len(measured.configurations) > 1
    yield Table(
        "Standard deviation in points, and share of the variance with its 95% interval",
        ("Dimension", *(["Configuration"] if several else []), *map(str.capitalize, parts)),
        tuple(
            (
                line(dimension),
                *([line(name)] if several else []),
                *(_component_cell(known.get((dimension, name, part))) for part in parts),
            )
            for dimension in measured.dimensions
            for name in measured.configurations
            if any((dimension, name, part) in known for part in parts)
        ),
        labels=1 + several,
    )
    few = max(row["n_evals"] for row in rows) < ROUGH
    yield Paragraph(
        "More evals shrink the part of the evals, more runs that of the runs, and judging "
        "again that of the judge."
        + (" With so few evals the parts are rough guesses." if few else "")
    )


def _component_cell(row: Row | None) -> str:
    """A component: its standard deviation, its share and how sure that is."""
    if row is None:
        return MISSING
    share, low, high = (in_unit(row[name], "pass_rate") for name in SHARES)
    ends = f" ({low}–{high})" if None not in (row["share_low"], row["share_high"]) else ""
    return f"{row['variance'] ** 0.5:.2f}, {share}{ends}"


COEFFICIENTS = ("sem", "icc_a1", "alpha", "ac2")


def judge(measured: IterationFigures) -> Iterator[Part]:
    """The judge's agreement in an iteration."""
    if measured.stated or not measured.dimensions:
        return
    rows = stats.agreement(measured.ws).to_dicts()
    again = [row for row in rows if row["n_repeated"] and row["kind"] in KINDS]
    if not again:
        yield Paragraph(
            "No output was judged twice, so the judge's part in their variance is unknown: "
            "judge again to see how reliable they are."
        )
        return
    yield Picture(
        "How often the judge gave an output the same score again, dimension by dimension. "
        "The table below has the figures.",
        partial(charts.judge_confusion, measured.ws),
    )
    yield Table(
        "Scores of the same output, judged again; sem is the standard error of measurement",
        ("Dimension", "Who", "Equal", "Within 1 point", "sem", "ICC(A,1)", "Alpha", "AC2", "n"),
        tuple(_agreement_cells(row) for row in again),
        labels=2,
    )
    notes = dict.fromkeys(row["note"] for row in again if row["note"])
    for note in notes:
        yield Paragraph(note)


def _agreement_cells(row: Row) -> tuple[str, ...]:
    who = line(row["judge"]) if row["kind"] == ITSELF else line(f"{row['judge']}, {row['other']}")
    return (
        line(row["dimension"]),
        who,
        in_unit(row["exact"], "pass_rate"),
        in_unit(row["within_one"], "pass_rate"),
        *(MISSING if row[name] is None else f"{row[name]:.2f}" for name in COEFFICIENTS),
        count(row["n_repeated"], "output"),
    )
