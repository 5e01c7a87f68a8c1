"""Who scored the same outputs: each judge again, two judges, a judge and a human."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import frame_of

from ..values import EVAL, GROUP, RUN

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]

ITSELF, JUDGE, HUMAN = KINDS = (
    "judge against itself",
    "judge against judge",
    "judge against human",
)
OUTPUT = [*RUN, "dimension"]
"""What is scored: a run's output on a dimension."""
KEYS = [*GROUP, "dimension", "kind", "judge", "other"]
"""What one comparison of raters is."""
UNSTATED, SOMEBODY = "unstated", "human"
"""What a judge is called that no file names, and a human."""


@dataclass(frozen=True, slots=True)
class Raters:
    """The scores that raters gave the same outputs.

    `matrix` has a row an output and a column a judging; for two raters, a row for every pair
    of their judgings of an output and a column a rater. `outputs` and `evals` say by whole
    numbers from 0 which output and eval a row is of, `scores` holds each score once, and
    `stray` counts the human scores that are of no judged output.
    """

    keys: tuple[str, ...]
    matrix: Array
    outputs: Array
    evals: Array
    scores: Array
    stray: int = 0

    @property
    def two(self) -> bool:
        """Whether the columns are two raters, and not the judgings of one."""
        return self.keys[4] != ITSELF


def raters(data: Any, human: Any = None) -> list[Raters]:
    """Every comparison that the scores allow, those of a judge against itself first.

    Args:
        data: a `Workspace` or a table of rubric scores (polars or pandas).
        human: as for `agreement`.

    Raises:
        ValueError: for a table `human` that does not say what was scored.
    """
    import polars as pl

    judged = _judged(frame_of(data, "rubric_scores"))
    several = pl.col("judge").n_unique().over("output") > 1
    shared = judged.filter(several)
    found = [*_itself(judged), *_two(shared, shared, JUDGE)]
    if human is not None:
        scored, stray = _human(human, judged)
        found += _two(judged, scored, HUMAN, stray)
    return found


def _judged(scores: pl.DataFrame) -> pl.DataFrame:
    """OUTPUT, judge, score, `output` and `eval`, in an order of their own.

    `output` numbers the runs × dimensions, `eval` the evals; scores that are no finite numbers
    are left out. Texts become enums, by which all that follows is three times as fast.
    """
    import polars as pl

    kept = scores.filter(pl.col("score").is_finite()).select(
        *OUTPUT, pl.col("judge_model").fill_null(UNSTATED).alias("judge"), "judging", "score"
    )
    texts = kept.select(pl.col(pl.String)).columns
    kept = kept.cast({name: pl.Enum(kept[name].drop_nulls().unique().sort()) for name in texts})
    evals = pl.struct(*GROUP, *EVAL).rle_id().cast(pl.Int64)
    numbered = (
        kept.select(OUTPUT)
        .unique()
        .sort(OUTPUT)
        .with_columns(pl.int_range(pl.len()).alias("output"), evals.alias("eval"))
    )
    order = ["output", "judge", "judging", "score"]
    return kept.join(numbered, on=OUTPUT, nulls_equal=True).sort(order).drop("judging")


def _itself(judged: pl.DataFrame) -> Iterator[Raters]:
    """A judge's judgings of each output beside each other, in the order of their numbers."""
    import numpy as np
    import polars as pl

    judge = judged.with_columns(pl.lit(ITSELF).alias("kind"), other="judge")
    for keys, rows in judge.partition_by(KEYS, as_dict=True, include_key=False).items():
        outputs, first, row = np.unique(rows["output"], return_index=True, return_inverse=True)
        place = np.arange(rows.height) - first[row]
        matrix = np.full((len(outputs), place.max() + 1), np.nan)
        matrix[row, place] = score = rows["score"].to_numpy()
        evals = _from_zero(rows["eval"].to_numpy()[first])
        yield Raters(keys, matrix, np.arange(len(outputs)), evals, score)


def _two(judged: pl.DataFrame, others: pl.DataFrame, kind: str, stray: int = 0) -> Iterator[Raters]:
    """Each judge beside each of the others, over the outputs that both scored."""
    import numpy as np
    import polars as pl

    beside = others.with_row_index("other_at").select(
        "output", "other_at", other="judge", other_score="score"
    )
    pairs = (
        judged.with_row_index("at")
        .join(beside, on="output", maintain_order="left_right")
        .filter(pl.col("judge") < pl.col("other") if kind == JUDGE else True)
        .with_columns(pl.lit(kind).alias("kind"))
    )
    for keys, rows in pairs.partition_by(KEYS, as_dict=True, include_key=False).items():
        once = (rows.unique("at")["score"], rows.unique("other_at")["other_score"])
        yield Raters(
            keys,
            rows.select("score", "other_score").to_numpy(),
            _from_zero(rows["output"].to_numpy()),
            _from_zero(rows["eval"].to_numpy()),
            np.sort(np.concatenate(once)),
            stray,
        )


def _human(human: Any, judged: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The human scores of judged outputs as `_judged` has them, and how many are of none."""
    import narwhals as nw
    import polars as pl
    from polars import selectors as cs

    there = nw.from_native(human, eager_only=True).columns
    keys = [name for name in RUN if name in there]
    lacking = [name for name in ("dimension", "score") if name not in there]
    if lacking or not keys:
        raise ValueError(
            f"`human` has to have the columns `dimension`, `score` and those of {', '.join(RUN)} "
            f"that tell the runs apart. It has: {', '.join(there)}."
        )
    scores = frame_of(human, "rubric_scores").filter(pl.col("score").is_finite())
    if scores.is_empty():
        raise ValueError("`human` holds no score.")
    outputs = judged.select(*OUTPUT, "output").unique().cast({cs.enum(): pl.String})
    on = [*keys, "dimension"]
    if outputs.select(on).is_duplicated().any():
        more = [name for name in RUN if name not in there]
        raise ValueError(
            f"The columns {', '.join(keys)} of `human` do not tell the runs apart. "
            f"Add those of {', '.join(more)} that do."
        )
    named = scores.select(*on, pl.col("judge_model").fill_null(SOMEBODY).alias("judge"), "score")
    matched = outputs.join(named, on=on, nulls_equal=True)
    if matched.is_empty():
        raise ValueError(
            f"No row of `human` is of a judged run: there is none with {_said(named, on)}. "
            f"A judged one has {_said(outputs, on)}."
        )
    return matched.sort("output", "judge", "score"), scores.height - matched.height


def _from_zero(numbers: Array) -> Array:
    """The numbers by their rank: 0, 1, and so on."""
    import numpy as np

    return np.unique(numbers, return_inverse=True)[1]


def _said(frame: pl.DataFrame, columns: list[str]) -> str:
    """The first row in words."""
    row = frame.select(columns).row(0, named=True)
    return ", ".join(f"{name} `{value}`" for name, value in row.items())
