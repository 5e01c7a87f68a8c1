"""The checks of a suite: the same one in several evals is one, with figures over all runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from skill_eval_nb.documents import Document, Eval, Expectation, StructuralExpectation
from skill_eval_nb.tables.columns import RUN_KEYS

from ..values import RunRef

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables.workspace import Workspace

KEYS = [column.name for column in RUN_KEYS]
Defined = StructuralExpectation | Expectation
"""A check as its suite defines it."""


@dataclass(frozen=True, slots=True)
class Check:
    """An expectation that stands in several evals under one name, and what became of it.

    Attributes:
        target: what a draft calls it: its id, else its text.
        text: what it checks.
        definition: as the first of its evals defines it.
        evals: ids of the evals that have it.
        figures: rows of `stats.discrimination` over all iterations taken together, the side
            that is compared first; empty where it has no verdicts.
        verdicts: of each run with one.
    """

    target: str
    text: str
    definition: Defined
    evals: tuple[str, ...]
    figures: tuple[Mapping[str, Any], ...]
    verdicts: Mapping[RunRef, bool]

    @property
    def structural(self) -> bool:
        """Whether it stands among the structural expectations of its evals."""
        return isinstance(self.definition, StructuralExpectation)

    @property
    def critical(self) -> bool:
        """Whether failing it fails the gate."""
        return isinstance(self.definition, StructuralExpectation) and self.definition.critical

    @property
    def reasons(self) -> tuple[str, ...]:
        """What its figures say, a sentence a comparison."""
        return tuple(str(row["reason"]) for row in self.figures)

    @property
    def failures(self) -> int:
        """How many of its verdicts are failures."""
        return sum(not passed for passed in self.verdicts.values())

    def is_any(self, *classes: str) -> bool:
        """Whether a comparison gives it one of these classes."""
        return any(row["class"] in classes for row in self.figures)

    def is_all(self, *classes: str) -> bool:
        """Whether all comparisons give it one of these classes."""
        return bool(self.figures) and all(row["class"] in classes for row in self.figures)


def checks_of(
    ws: Workspace, suite: Mapping[str, Eval], baseline: str | None = None
) -> tuple[Check, ...]:
    """The checks that the evals of a suite define, in their order, with what became of them.

    Raises:
        ValueError: the baseline is not there.
    """
    together: dict[tuple[str, str], tuple[Defined, list[str]]] = {}
    for eval_id, one in suite.items():
        for check in (*one.structural_expectations, *one.expectations):
            key = (type(check).__name__, form(check))
            together.setdefault(key, (check, []))[1].append(eval_id)
    defined = list(together.values())
    rows = _own_rows(defined, ws.polars("expectations"))
    figures = _figures(ws, rows, baseline)
    verdicts: list[dict[RunRef, bool]] = [{} for _ in defined]
    refs: dict[tuple[Any, ...], RunRef] = {}
    for *keys, number, passed in rows.select(*KEYS, "check", "passed").iter_rows():
        if passed is not None:
            ref = refs.setdefault(tuple(keys), RunRef(*keys))
            verdicts[number][ref] = passed
    return tuple(
        Check(_target(one), text_of(one), one, tuple(evals), figures.get(at, ()), verdicts[at])
        for at, (one, evals) in enumerate(defined)
    )


def _own_rows(defined: list[tuple[Defined, list[str]]], table: pl.DataFrame) -> pl.DataFrame:
    """The verdicts on checks that are defined, each with the number of its check.

    An eval's check is known by its id, else by its text, among those of its layer first.
    """
    import polars as pl

    known: dict[tuple[bool, str, str], int] = {}
    for number, (one, evals) in enumerate(defined):
        for name in {one.id, text_of(one)} - {None}:
            for eval_id in evals:
                known.setdefault((isinstance(one, StructuralExpectation), eval_id, name), number)

    def number_of(row: tuple[str, str, str | None, str]) -> int | None:
        layer, eval_id, *names = row
        first = layer == "structural"
        keys = ((one, eval_id, name) for one in (first, not first) for name in names if name)
        return next((known[key] for key in keys if key in known), None)

    rows = table.select("layer", "eval_id", "expectation_id", "text").iter_rows()
    numbers = pl.Series("check", [number_of(row) for row in rows], pl.Int64)
    return table.with_columns(numbers).drop_nulls("check")


def _figures(
    ws: Workspace, rows: pl.DataFrame, baseline: str | None
) -> dict[int, tuple[Mapping[str, Any], ...]]:
    """`stats.discrimination` of each check, each eval of each iteration a block of its own."""
    import polars as pl

    from skill_eval_nb.stats import discrimination
    from skill_eval_nb.tables.workspace import Workspace

    if not rows.height:
        return {}
    block = pl.concat_str("iteration", "eval_id", separator="\n").alias("eval_id")
    pooled = [block, pl.lit("all").alias("iteration")]
    one_check = [pl.col("check").cast(pl.String).alias("text"), pl.lit("any").alias("layer")]
    tables = {
        "runs": ws.polars("runs").with_columns(*pooled),
        "expectations": rows.with_columns(
            *pooled, *one_check, pl.lit(None, pl.String).alias("expectation_id")
        ),
    }
    found: dict[int, tuple[Mapping[str, Any], ...]] = {}
    for row in discrimination(Workspace.from_tables(tables), baseline).to_dicts():
        at = int(row["text"])
        found[at] = (*found.get(at, ()), row)
    return found


def _target(check: Defined) -> str:
    name = check.name if isinstance(check, Expectation) else None
    return check.id or name or text_of(check)


def text_of(check: Defined) -> str:
    """What a check checks, in words."""
    if isinstance(check, Expectation):
        return check.text
    return check.description or check.id or check.type


def form(document: Document) -> str:
    """A document's JSON, the same for the same document."""
    return json.dumps(msgspec.to_builtins(document), sort_keys=True)
