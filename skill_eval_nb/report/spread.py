"""Where the spread comes from: expectations, variance components, the judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any

from skill_eval_nb import charts, stats
from skill_eval_nb.stats.agreement import ITSELF
from skill_eval_nb.stats.expectations import CLASSES, FAILS, HURTS, PASSES, SEPARATES
from skill_eval_nb.stats.values import natural
from skill_eval_nb.stats.variance import ROUGH
from skill_eval_nb.text import count, some

from .content import Cell, Figure, Paragraph, Part, Picture, Table, line
from .measured import MISSING, Measured, Row, difference, figure, with_n

MOST = 30
"""Checks that a table shows."""

SILENT = ({PASSES}, {FAILS})
"""The classes that an expectation is of in all comparisons where it tells nothing."""

CheckRow = Mapping[str, Any]


def _compared(measured: Measured) -> list[CheckRow]:
    """The expectations that are held against a baseline, as `stats.discrimination` has them."""
    if measured.ws.polars("expectations").is_empty():
        return []
    found = stats.discrimination(measured.ws, measured.baseline).to_dicts()
    return [row for row in found if row["baseline"] is not None]


def _n(row: CheckRow, end: str) -> int:
    return row[f"n_passed{end}"] + row[f"n_failed{end}"]


def checks(measured: Measured) -> Iterator[Part]:
    """The checks of an iteration."""
    if measured.ws.polars("expectations").height:
        yield Picture(
            "Every expectation by configuration and eval: how often it passed.",
            partial(charts.expectation_matrix, measured.ws),
        )
    compared = _compared(measured)
    if compared:
        yield Picture(
            "Every expectation by its pass rate with the skill and without.",
            partial(charts.discrimination, measured.ws, measured.baseline),
        )
        yield Paragraph(_classes(compared))
    yield from _telling([row for row in compared if row["class"] in (SEPARATES, HURTS)])
    yield from _silent(measured, compared)


def _classes(compared: list[CheckRow]) -> str:
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


def _telling(rows: list[CheckRow]) -> Iterator[Part]:
    """The table of what is proven, the largest differences first."""
    if not rows:
        return
    largest = sorted(rows, key=lambda row: -abs(row["estimate"]))
    yield Table(
        "Checks that tell the sides apart; n counts verdicts, p is exact and allows for all checks",
        ("Check", "Class", "Evals", "Pass rate", "Baseline", "Difference", "p"),
        tuple(_cells(row) for row in largest[:MOST]),
        labels=3,
    )
    yield from _more(len(rows))


def _cells(row: CheckRow) -> tuple[str | Figure, ...]:
    sides = (("pass_rate", ""), ("baseline_pass_rate", "_baseline"))
    return (
        line(row["text"]),
        row["class"],
        _evals(row["evals"]),
        *(with_n(figure(row[rate], "pass_rate"), _n(row, end)) for rate, end in sides),
        difference(row["estimate"], "pass_rate"),
        f"{row['p_adjusted']:.2g}",
    )


def _silent(measured: Measured, compared: list[CheckRow]) -> Iterator[Part]:
    """The table of what always passes, or always fails, on both sides of every comparison.

    Those of most evals come first.
    """
    every: dict[tuple[str, str], list[CheckRow]] = defaultdict(list)
    for row in sorted(compared, key=lambda row: (row["layer"], row["text"])):
        every[row["layer"], row["text"]].append(row)
    silent = [own for own in every.values() if {row["class"] for row in own} in SILENT]
    silent.sort(key=lambda own: (-len(own[0]["evals"]), natural(own[0]["text"])))
    if not silent:
        return
    yield Paragraph(
        "Checks that tell nothing about the skill, since they came out the same in every run, "
        f"whatever the configuration: {len(silent):,}."
    )
    yield Table(
        "n counts verdicts",
        ("Check", "Verdict", "Evals", *(f"n {line(name)}" for name in measured.configurations)),
        tuple(
            (line(own[0]["text"]), own[0]["class"], _evals(own[0]["evals"]), *_ns(measured, own))
            for own in silent[:MOST]
        ),
        labels=3,
    )
    yield from _more(len(silent))


def _ns(measured: Measured, rows: list[CheckRow]) -> Iterator[str]:
    """How many verdicts each configuration has of an expectation."""
    n = dict.fromkeys(measured.configurations, 0)
    for row in rows:
        n[row["configuration"]], n[row["baseline"]] = _n(row, ""), _n(row, "_baseline")
    return (f"{number:,}" for number in n.values())


def _evals(names: list[str]) -> str:
    return some((line(name, 60) for name in names), most=3)


def _more(number: int) -> Iterator[Part]:
    """How many checks a table leaves out."""
    if number > MOST:
        yield Paragraph(f"And {count(number - MOST, 'check')} more.")


SHARES = ("share", "share_low", "share_high")


def variance(measured: Measured) -> Iterator[Part]:
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
    several = len(measured.configurations) > 1
    yield Table(
        "Standard deviation in points, and share of the variance with its 95% interval",
        ("Dimension", *(["Configuration"] if several else []), *map(_head, parts)),
        tuple(
            (
                line(dimension),
                *([line(name)] if several else []),
                *(
                    _of_component({row["component"]: row for row in own}.get(part))
                    for part in parts
                ),
            )
            for (dimension, name), own in (
                (key, list(group))
                for key, group in groupby(
                    sorted(rows, key=lambda row: _place(measured, row)),
                    key=lambda row: (row["dimension"], row["configuration"]),
                )
            )
        ),
        labels=1 + several,
    )
    few = max(row["n_evals"] for row in rows) < ROUGH
    yield Paragraph(
        "More evals make the part of the evals count less, more runs that of the runs, and judging "
        "again that of the judge."
        + (" With so few evals the parts are rough guesses." if few else "")
    )


def _head(component: str) -> str:
    return component[0].upper() + component[1:]


def _place(measured: Measured, row: Row) -> tuple[int, int]:
    dimensions, names = measured.dimensions, measured.configurations
    return dimensions.index(row["dimension"]), names.index(row["configuration"])


def _of_component(row: Row | None) -> str:
    """A component: its standard deviation, its share and how sure that is."""
    if row is None:
        return MISSING
    share, low, high = (figure(row[name], "pass_rate") for name in SHARES)
    interval = f" ({low}–{high})" if None not in (row["share_low"], row["share_high"]) else ""
    return f"{row['variance'] ** 0.5:.2f}, {share}{interval}"


COEFFICIENTS = ("sem", "icc_a1", "alpha", "ac2")


def judge(measured: Measured) -> Iterator[Part]:
    """The judge's agreement in an iteration."""
    if measured.stated or not measured.dimensions:
        return
    rows = stats.agreement(measured.ws).to_dicts()
    again = [row for row in rows if row["n_repeated"]]
    if not again:
        yield Paragraph(
            "No output was judged twice, so the judge's part in these scores is not known: "
            "judge again to see how far they hold."
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
        tuple(_agreement(row) for row in again),
        labels=2,
    )
    notes = dict.fromkeys(row["note"] for row in again if row["note"])
    for note in notes:
        yield Paragraph(note)


def _agreement(row: Row) -> tuple[Cell, ...]:
    who = line(row["judge"]) if row["kind"] == ITSELF else line(f"{row['judge']}, {row['other']}")
    return (
        line(row["dimension"]),
        who,
        figure(row["exact"], "pass_rate"),
        figure(row["within_one"], "pass_rate"),
        *(MISSING if row[name] is None else f"{row[name]:.2f}" for name in COEFFICIENTS),
        count(row["n_repeated"], "output"),
    )
