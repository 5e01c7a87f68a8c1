"""`notes` of a benchmark.json: what an analyst said, and what the figures do not say alone."""

from __future__ import annotations

from collections.abc import Iterator

from .measured import Measured
from .plain import line
from .sections import left_out
from .sections.checks import silent_checks
from .words import counted, listed

MOST = 20
"""Checks that are named one by one."""


def remarks(measured: Measured) -> list[str]:
    """The remarks on an iteration, each once."""
    told = measured.ws.polars("notes").filter(kind="analyst")["text"].to_list()
    ours = [*_comparison(measured), *left_out.sentences(measured), *_silent(measured)]
    return list(dict.fromkeys([*told, *ours]))


def _comparison(measured: Measured) -> Iterator[str]:
    """Which two configurations `delta` compares, where that could be taken for another pair."""
    if len(measured.compared) > 1:
        name, *others = (line(name) for name in measured.compared)
        yield f"delta is {name} minus {line(measured.baseline or '')}, not {listed(others)}."


def _silent(measured: Measured) -> Iterator[str]:
    checks = silent_checks(measured)
    for check in checks[:MOST]:
        where = listed((line(name, 60) for name in check.evals), most=3)
        yield f"‘{line(check.text)}’ {check.verdict}, with the skill or without: {where}."
    if len(checks) > MOST:
        yield f"{counted(len(checks) - MOST, 'further check')} always pass or always fail."
