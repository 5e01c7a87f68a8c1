"""Can the judge be trusted: scores of the same outputs, given again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ... import charts, stats
from ..content import Cell, Paragraph, Part, Picture, Section, Table, section
from ..measured import Measured, Row
from ..plain import line
from ..words import MISSING, counted, figure

COEFFICIENTS = ("sem", "icc_a1", "alpha", "ac2")
ITSELF = "judge against itself"


def section_of(measured: Measured) -> Section:
    """The judge's agreement in an iteration."""
    return section("Can the judge be trusted?", _parts(measured))


def _parts(measured: Measured) -> Iterator[Part]:
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
        tuple(_row(row) for row in again),
        labels=2,
    )
    notes = dict.fromkeys(row["note"] for row in again if row["note"])
    for note in notes:
        yield Paragraph(note)


def _row(row: Row) -> tuple[Cell, ...]:
    who = line(row["judge"]) if row["kind"] == ITSELF else line(f"{row['judge']}, {row['other']}")
    return (
        line(row["dimension"]),
        who,
        figure(row["exact"], "pass_rate"),
        figure(row["within_one"], "pass_rate"),
        *(MISSING if row[name] is None else f"{row[name]:.2f}" for name in COEFFICIENTS),
        counted(row["n_repeated"], "output"),
    )
