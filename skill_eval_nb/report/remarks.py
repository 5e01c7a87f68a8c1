"""`notes` of a benchmark.json: what an analyst said, and what the figures do not say alone."""

from __future__ import annotations

from collections.abc import Iterator

from .measured import Measured
from .plain import line
from .sections import left_out, notes
from .words import listed


def remarks(measured: Measured) -> list[str]:
    """The remarks on an iteration, each once."""
    told = measured.ws.polars("notes").filter(kind="analyst")["text"].to_list()
    ours = [*_comparison(measured), *notes.sentences(measured), *left_out.sentences(measured)]
    return list(dict.fromkeys([*told, *ours]))


def _comparison(measured: Measured) -> Iterator[str]:
    """Which two configurations `delta` compares, where that could be taken for another pair."""
    if len(measured.compared) > 1:
        name, *others = (line(name) for name in measured.compared)
        yield f"delta is {name} minus {line(measured.baseline or '')}, not {listed(others)}."
