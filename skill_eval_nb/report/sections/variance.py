"""Where the variance of the rubric's scores comes from: evals, runs or the judge."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby

from ... import charts, stats
from ..content import Paragraph, Part, Picture, Section, Table, section
from ..measured import Measured, Row
from ..plain import line
from ..words import MISSING, figure

SHARES = ("share", "share_low", "share_high")
FEW = 20
"""Evals below which it is said that the parts are rough guesses."""


def section_of(measured: Measured) -> Section:
    """The variance components of an iteration."""
    return section("Where the variance comes from", _parts(measured))


def _parts(measured: Measured) -> Iterator[Part]:
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
                *(_cell({row["component"]: row for row in own}.get(part)) for part in parts),
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
    few = max(row["n_evals"] for row in rows) < FEW
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


def _cell(row: Row | None) -> str:
    """A component: its standard deviation, its share and how sure that is."""
    if row is None:
        return MISSING
    share, low, high = (figure(row[name], "pass_rate") for name in SHARES)
    interval = f" ({low}–{high})" if None not in (row["share_low"], row["share_high"]) else ""
    return f"{row['variance'] ** 0.5:.2f}, {share}{interval}"
