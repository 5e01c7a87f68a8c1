"""A draft's values beside those of what it replaces: all evals, and those that prove something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from .asked import Asked
from .better import better
from .sides import counted, differences, table_of
from .stored import elsewhere
from .tried import Difference, What, Where

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Compared:
    """The fields of `Tried` of these names."""

    sides: pl.DataFrame
    deltas: pl.DataFrame
    delta: Difference | None
    elsewhere: Difference | None
    replaced: Difference | None
    separates_better: bool | None
    why_better: str

    @property
    def proof(self) -> Difference | None:
        """What the answer is taken from."""
        return self.elsewhere or self.delta

    def parts(self) -> dict[str, Any]:
        """The fields by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def compared(
    asked: Asked,
    who: pl.DataFrame,
    values: Mapping[What, pl.DataFrame],
    outcomes: Sequence[str],
    mean: str,
) -> Compared:
    """Count and compare.

    Args:
        asked: what was asked for.
        who: what `stats.pairing.sides` gives.
        values: of the draft and of what it replaces, as far as there is either: the keys of
            runs in the same order, `outcome`, `value`.
        outcomes: the outcomes that are counted.
        mean: what the column of the means is called.
    """
    import polars as pl

    mined = bool(asked.draft.found_on)
    where: list[Where] = ["all", "elsewhere"] if mined else ["all"]
    parts: dict[tuple[What, Where], pl.DataFrame] = {
        (what, place): one if place == "all" else elsewhere(asked.draft, one)
        for what, one in values.items()
        for place in where
    }
    found = {
        (what, place): differences(one, who, what, place, asked.level)
        for (what, place), one in parts.items()
    }
    first = {key: ones[0] if ones else None for key, ones in found.items()}
    proof: Where = where[-1]
    mine, theirs = first.get(("draft", proof)), first.get(("replaced", proof))
    is_better, why = None, "it replaces nothing"
    if "replaced" in values and "draft" not in values:
        why = "nothing comes in its place"
    elif "replaced" in values and (mine is None or theirs is None):
        why = "there are no two sides to tell apart"
    elif mine is not None and theirs is not None:
        own, other = parts["draft", proof], parts["replaced", proof]
        is_better, why = better(own, other, who, mine, theirs, asked.level)
    return Compared(
        sides=pl.concat([counted(one, outcomes, *key, mean) for key, one in parts.items()]),
        deltas=table_of([one for ones in found.values() for one in ones]),
        delta=first.get(("draft", "all")),
        elsewhere=first.get(("draft", "elsewhere")),
        replaced=theirs,
        separates_better=is_better,
        why_better=why,
    )
