"""A note: a finding in a sentence or two, with the names and the numbers that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..values import GROUP

if TYPE_CHECKING:
    import polars as pl

KINDS = (
    "gain and cost",
    "hurts",
    "left out",
    "unpaired",
    "noisy dimension",
    "flaky eval",
    "always passes",
    "always fails",
    "outlier",
)
"""What a note is about, in the order in which it matters."""

Group = tuple[str | None, str | None, str | None]
"""Workspace, skill and iteration."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note on an iteration; `numbers` are those of its text, and a few behind them, by name."""

    group: Group
    kind: str
    text: str
    configuration: str | None = None
    evals: tuple[str, ...] = ()
    expectations: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def rank(self) -> int:
        """The place of its kind in KINDS."""
        return KINDS.index(self.kind)


def group_of(row: Mapping[str, Any]) -> Group:
    """The group of a row of any statistic."""
    return row["workspace"], row["skill"], row["iteration"]


def frame_of_notes(notes: Iterable[Note]) -> pl.DataFrame:
    """Notes as a table, in the order given."""
    import polars as pl

    names, number = pl.List(pl.String), pl.Struct({"name": pl.String, "value": pl.Float64})
    types = {
        **dict.fromkeys([*GROUP, "configuration", "kind", "text"], pl.String),
        **dict.fromkeys(("evals", "expectations", "runs"), names),
        "numbers": pl.List(number),
    }
    rows = [
        (
            *(*note.group, note.configuration, note.kind, note.text),
            *(list(note.evals), list(note.expectations), list(note.runs)),
            [{"name": name, "value": float(value)} for name, value in note.numbers.items()],
        )
        for note in notes
    ]
    return pl.DataFrame(rows, types, orient="row")
