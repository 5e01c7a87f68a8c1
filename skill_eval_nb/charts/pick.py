"""Which rows a chart shows: the last iteration unless told otherwise, a part a workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from skill_eval_nb.stats.values import (
    GROUP,
    ITERATION,
    MODEL,
    natural_key,
    no_such,
    order_iterations,
)
from skill_eval_nb.tables import Workspace
from skill_eval_nb.text import as_label, clip, count, in_quotes
from skill_eval_nb.workspace.folders import NO_ITERATION

from .theme import TOOLTIP

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
SUITE = ["workspace", "skill"]
NAMES = [*GROUP, "eval_id", "eval_name", "configuration", "layer", "text"]
PARTS, REASONS = 6, 4
"""Parts that one chart holds, and reasons why it holds nothing."""


@dataclass(frozen=True, slots=True)
class Part:
    """What belongs together, and the heading above it (empty if it is the only part)."""

    heading: str
    keys: tuple[tuple[str, str], ...]

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table that belong to this part; of all models if it has no such."""
        return frame.filter(**{key: name for key, name in self.keys if key in frame.columns})

    def heading_of(self, configuration: str, baseline: str) -> str:
        """What stands above a comparison in it, if there are several."""
        sides = f"{as_label(configuration, 40)} against {as_label(baseline, 40)}"
        return f"{self.heading} · {sides}" if self.heading else sides


def as_polars(table: Any) -> pl.DataFrame:
    """A table in polars whatever kind it is in; names that a table made by hand lacks are empty."""
    import narwhals as nw
    import polars as pl

    frame = nw.from_native(table, eager_only=True).to_polars()
    known = [name for name in NAMES if name in frame.columns]
    return frame.with_columns(pl.col(known).fill_null(""))


def pick_parts(
    frame: pl.DataFrame, iteration: str | Sequence[str] | None, ws: Any
) -> tuple[tuple[Part, ...], list[str]]:
    """A part for every workspace, skill and iteration that is to be drawn, and for every model.

    Args:
        frame: what there is to draw, with the columns workspace, skill and iteration, and MODEL
            if that tells its rows apart.
        iteration: its name, or several; None for the last of every workspace.
        ws: what the chart was asked of; a `Workspace` knows iterations with nothing to draw.

    Returns:
        The parts, none if there is nothing to draw; and what to say about the choice.

    Raises:
        ValueError: for an iteration that is not there; the message names those that are.
    """
    import polars as pl

    names = sorted(frame["iteration"].unique(), key=natural_key)
    note = ""
    if iteration is None:
        frame = _last_iterations(frame, _known_runs(ws))
        left = frame["iteration"].unique().to_list()
        if len(left) < len(names):
            which = in_quotes(left[0], 40) if len(left) == 1 else "Of each workspace"
            note = f"{which}, the last of the iterations with such figures."
    else:
        wanted = [iteration] if isinstance(iteration, str) else list(iteration)
        known = [*names, *_known_runs(ws)["iteration"]]
        for name in wanted:
            if name not in known:
                raise no_such("iteration", name, set(known))
        frame = frame.filter(pl.col("iteration").is_in(wanted))
        note = f"{in_quotes(wanted[0], 40)}." if len(wanted) == 1 else ""
    parts, more = part_by(frame, [*ITERATION, *model_keys(frame)])
    return parts, [note, more]


def model_keys(frame: pl.DataFrame) -> list[str]:
    """The columns of MODEL that tell rows of an iteration apart."""
    import polars as pl

    there = [name for name in MODEL if name in frame.columns]
    counts = frame.group_by(ITERATION).agg(pl.col(there).n_unique())
    return [name for name in there if (counts[name] > 1).any()]


def not_compared(deltas: pl.DataFrame, parts: Sequence[Part]) -> str:
    """The models of what is drawn that have no difference, and why.

    Args:
        deltas: rows of `stats.deltas`, those without an estimate among them.
        parts: what is drawn.
    """
    import polars as pl

    shown = pl.DataFrame([{key: dict(part.keys)[key] for key in ITERATION} for part in parts])
    without = deltas.filter(pl.col("estimate").is_null()).join(shown, on=ITERATION, how="semi")
    reasons = without["reason"].unique(maintain_order=True)
    return " ".join(clip(reason, TOOLTIP) for reason in reasons)


def why_none(
    ws: Any,
    what: str,
    iteration: str | Sequence[str] | None = None,
    reasons: Iterable[str | None] = (),
) -> str:
    """Why there is nothing to draw: the reasons, else what runs lack, or that there are none."""
    import polars as pl

    told = [clip(reason, 200).removesuffix(".") for reason in dict.fromkeys(reasons) if reason]
    if told:
        return " ".join(f"{reason[0].upper()}{reason[1:]}." for reason in told[:REASONS])
    article = "an" if what[0] in "aeiou" else "a"
    if not isinstance(ws, Workspace):
        return f"No row of the table has {article} {what}."
    runs = _known_runs(ws)
    if iteration is not None:
        wanted = [iteration] if isinstance(iteration, str) else list(iteration)
        runs = runs.filter(pl.col("iteration").is_in(wanted))
    if runs.is_empty():
        return "There are no runs. `ws.problems` says what could not be used."
    none = f"None of {count(runs.height, 'run')} has {article} {what}"
    return f"{none}. `ws.problems` says what could not be used."


def _known_runs(ws: Any) -> pl.DataFrame:
    import polars as pl

    return ws.polars("runs") if isinstance(ws, Workspace) else pl.DataFrame({"iteration": []})


def part_by(frame: pl.DataFrame, keys: Sequence[str]) -> tuple[tuple[Part, ...], str]:
    """The parts by these keys, in natural order, and what to say of those left out.

    Headings name only the keys that differ. Above PARTS parts, those with most rows stay.
    """
    sizes = frame.group_by(keys).len().rows()
    order = sorted(sizes, key=lambda row: [natural_key(name) for name in row[:-1]])
    most = sorted(order, key=lambda row: -row[-1])[:PARTS]
    shown = [dict(zip(keys, row[:-1], strict=True)) for row in order if row in most]
    alone = len(shown) == 1
    parts = tuple(
        Part("" if alone else _distinguish_part(own, shown), tuple(own.items())) for own in shown
    )
    more = f"{len(shown)} of {len(order)} parts are shown, those with most rows: see ws.select(…)."
    return parts, more if len(shown) < len(order) else ""


def first_of(
    parts: Sequence[Part], list_rows: Callable[[Part], Sequence[T]], most: int, least: int = 4
) -> tuple[list[T], int]:
    """The first rows of each part, and how many are left out.

    Args:
        parts: the parts.
        list_rows: gives all rows of one.
        most: rows that the chart holds, which the parts share.
        least: rows that a part has room for in any case.
    """
    each = max(most // len(parts), least)
    every = [list_rows(part) for part in parts]
    return [row for own in every for row in own[:each]], sum(len(own[each:]) for own in every)


def _last_iterations(frame: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """The rows of each workspace's last iteration; `runs` tell when it was."""
    import polars as pl

    known = frame.select(ITERATION).unique(maintain_order=True)
    if "started_at" in runs.columns:
        known = known.join(runs.select(*ITERATION, "started_at"), on=ITERATION, how="left")
    newest = [(*keys, order_iterations(own)[-1]) for keys, own in known.group_by(SUITE)]
    last = pl.DataFrame(newest, schema=known.select(*SUITE, "iteration").schema, orient="row")
    on = [*SUITE, "iteration"]
    return frame.join(last, on=on, how="semi", maintain_order="left")


def _distinguish_part(own: dict[str, str], every: Sequence[dict[str, str]]) -> str:
    """What tells the part from the others; its skill only where the workspace holds several."""
    skills = {part["skill"] for part in every if part["workspace"] == own["workspace"]}
    differing = [key for key in own if len({part[key] for part in every}) > 1]
    names = [
        own[key] or "no stated model" if key in MODEL else own[key]
        for key in differing
        if key != "skill" or len(skills) > 1
    ]
    return " · ".join(as_label(name) for name in names if name != NO_ITERATION) or "(no iteration)"
