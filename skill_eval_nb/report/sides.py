"""The columns that most tables have: each configuration, then each delta."""

from __future__ import annotations

from .content import Figure
from .measured import Measured
from .plain import line
from .words import difference, figure, with_n


def header(measured: Measured, *labels: str) -> tuple[str, ...]:
    """The head of a table: its labels, the configurations, the deltas."""
    several = len(measured.compared) > 1
    deltas = (f"Delta {line(name)}" if several else "Delta" for name in measured.compared)
    return (*labels, *map(line, measured.configurations), *deltas)


def cells(measured: Measured, metric: str) -> tuple[Figure, ...]:
    """A metric under each configuration, and each difference, with what they rest on."""
    figures = (
        with_n(figure(measured.figure(name, metric), metric), measured.figure(name, metric, "n"))
        for name in measured.configurations
    )
    deltas = (
        with_n(
            difference(measured.delta(name, metric), metric),
            measured.delta(name, metric, "n_evals"),
        )
        for name in measured.compared
    )
    return (*figures, *deltas)


def how(measured: Measured) -> str:
    """What stands in a table of `cells`, and what its n count."""
    if measured.stated:
        return "As benchmark.json states it"
    if not measured.compared:
        return "Means over runs (n = runs)"
    more, less = line(" or ".join(measured.compared)), line(measured.baseline or "")
    return f"Means over runs (n = runs); delta is {more} minus {less}, paired by eval (n = evals)"
