"""The result of a search as a table and as a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.documents import Optimization, OptimizationStep, dump, to_json
from skill_eval_nb.workspace import write_atomic

from .scoring import Score

if TYPE_CHECKING:
    from .optimised import Optimised, Step

NAME = "optimization_result.json"


def rounds_table(steps: Iterable[Step], backend: Literal["polars", "pandas"]) -> Any:
    """One row a round, as `Optimised.rounds_table` has it."""
    import polars as pl

    schema: dict[str, Any] = {"round": pl.Int64, "description": pl.String}
    schema |= dict.fromkeys([*_ends("train", None), *_ends("test", None)], pl.Float64)
    schema["is_best"] = pl.Boolean
    rows = [
        {
            "round": one.round,
            "description": one.description,
            **_ends("train", one.train),
            **_ends("test", one.test),
            "is_best": one.is_best,
        }
        for one in steps
    ]
    frame = pl.DataFrame(rows, schema)
    return frame if backend == "polars" else frame.to_pandas()


def document_of(found: Optimised) -> Optimization:
    """The result as a document."""
    best = _ends("best", found.best)
    return Optimization(
        best_description=found.best_description,
        iterations=[
            OptimizationStep(
                description=one.description,
                iteration=one.round,
                **_ends("train", one.train),
                **_ends("test", one.test),
            )
            for one in found.steps
        ],
        **best,
        selected_score=found.selected_score,
        why=found.why,
        skill_name=found.skill_name,
    )


def write(found: Optimised, path: Path) -> Path:
    """Write the result to a file, or under its usual name into a folder."""
    file = path if path.suffix == ".json" else path / NAME
    return write_atomic(file, to_json(dump(document_of(found))))


def _ends(name: str, score: Score | None) -> dict[str, float | None]:
    """A score and its interval under their names; null where there is none."""
    figures = (None,) * 3 if score is None else (score.score, score.low, score.high)
    return dict(zip((f"{name}_score", f"{name}_low", f"{name}_high"), figures, strict=True))
