"""Expectations that tell nothing: the same verdict in every run, with the skill and without."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ... import charts
from ...stats.names import natural
from ..content import Paragraph, Part, Picture, Section, Table, section
from ..measured import Measured
from ..plain import line
from ..words import counted, listed

MOST = 30
"""Checks that are shown."""


@dataclass(frozen=True, slots=True)
class SilentCheck:
    """An expectation whose verdict was the same everywhere; `n` counts verdicts a configuration."""

    text: str
    passes: bool
    evals: tuple[str, ...]
    n: Mapping[str, int]

    @property
    def verdict(self) -> str:
        """What it always does."""
        return "always passes" if self.passes else "always fails"


def silent_checks(measured: Measured) -> list[SilentCheck]:
    """The expectations that every configuration always passes, or always fails, in an eval.

    Those with the same text and verdict in several evals are one, and those of most evals
    come first. An eval counts where the expectation was scored at least once on each side;
    verdicts that were not scored are passed over. Nothing where there is no baseline.
    """
    found: dict[tuple[str, bool], list[tuple[str, Mapping[str, int]]]] = defaultdict(list)
    for (_, eval_name, _, text), sides in _verdicts(measured).items():
        passed, scored = (sum(column) for column in zip(*sides.values(), strict=True))
        both = measured.baseline in sides and any(name in sides for name in measured.compared)
        if both and passed in (0, scored):
            n = {name: count for name, (_, count) in sides.items()}
            found[text, passed > 0].append((eval_name, n))
    checks = [
        SilentCheck(
            text,
            passes,
            tuple(name for name, _ in evals),
            {name: sum(n.get(name, 0) for _, n in evals) for name in measured.configurations},
        )
        for (text, passes), evals in found.items()
    ]
    return sorted(checks, key=lambda check: (-len(check.evals), natural(check.text)))


def _verdicts(measured: Measured) -> dict[tuple[str, ...], dict[str, tuple[int, int]]]:
    """Each eval's expectations, in natural order: configuration to passed and scored."""
    import polars as pl

    check = ("eval_id", "eval_name", "layer", "text")
    table = measured.ws.polars("expectations").filter(pl.col("passed").is_not_null())
    counts = table.group_by(*check, "configuration").agg(
        pl.col("passed").sum(), pl.col("passed").count().alias("scored")
    )
    found: dict[tuple[str, ...], dict[str, tuple[int, int]]] = defaultdict(dict)
    for *names, configuration, passed, scored in counts.iter_rows():
        found[tuple(names)][configuration] = (passed, scored)
    return {names: found[names] for names in sorted(found, key=lambda one: [*map(natural, one)])}


def section_of(measured: Measured) -> Section:
    """The checks of an iteration."""
    return section("Checks", _parts(measured))


def _parts(measured: Measured) -> Iterator[Part]:
    if measured.ws.polars("expectations").height:
        yield Picture(
            "Every expectation by configuration and eval: how often it passed.",
            partial(charts.expectation_matrix, measured.ws),
        )
    silent = silent_checks(measured)
    if not silent:
        return
    yield Paragraph(
        "Checks that tell nothing about the skill, since they came out the same in every run "
        f"of an eval, whatever the configuration: {len(silent):,}."
    )
    yield Table(
        "n counts verdicts",
        ("Check", "Verdict", "Evals", *(f"n {line(name)}" for name in measured.configurations)),
        tuple(_row(check) for check in silent[:MOST]),
        labels=3,
    )
    if len(silent) > MOST:
        yield Paragraph(f"And {counted(len(silent) - MOST, 'check')} more.")


def _row(check: SilentCheck) -> tuple[str, ...]:
    evals = listed((line(name, 60) for name in check.evals), most=3)
    return (line(check.text), check.verdict, evals, *(f"{n:,}" for n in check.n.values()))
