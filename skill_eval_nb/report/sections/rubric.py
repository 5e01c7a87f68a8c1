"""Rubric dimensions, with n on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ... import charts
from ..content import Part, Picture, Section, Table, section
from ..measured import DIMENSION, Measured
from ..plain import line
from ..sides import cells, header


def section_of(measured: Measured) -> Section:
    """The rubric of an iteration."""
    return section("Rubric dimensions", _parts(measured))


def _parts(measured: Measured) -> Iterator[Part]:
    if not measured.dimensions:
        return
    if not measured.stated:
        yield Picture(
            "Each run's score on each rubric dimension, a point a run. "
            "The table below has the means.",
            partial(charts.rubric_dimensions, measured.ws),
        )
    rows = tuple((line(name), *cells(measured, DIMENSION + name)) for name in measured.dimensions)
    yield Table("Scores from 1 to 5", header(measured, "Dimension"), rows)
