"""The tables of an iteration as `Benchmark`, the document that every dialect writes from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..documents import (
    Benchmark,
    BenchmarkMetadata,
    BenchmarkRun,
    GradedExpectation,
    RubricScore,
    RunResult,
)
from ..stats.names import natural
from .measured import Measured, Row, measure
from .remarks import remarks
from .run_summary import in_document_order, rounded, run_summary
from .slices import NO_ITERATION, slices
from .times import newest

if TYPE_CHECKING:
    import polars as pl

    from ..tables import Workspace

KEY = ("eval_id", "eval_name", "configuration", "run_number")
"""What tells a run from the others of its iteration."""
ByRun = Mapping[tuple[Any, ...], list[Row]]


def benchmark(ws: Workspace, timestamp: str | None = None) -> list[Benchmark]:
    """The aggregate of every iteration, in the form that all dialects are written from.

    One document an iteration (of a skill, of a workspace), in natural order. Runs, verdicts
    and notes are those of the tables; `run_summary` is `stats.summarize`. Its `delta` is the
    first configuration's mean minus that of the baseline, printed with its sign, as the
    documents have it; where pairing by eval gives another figure, `notes` says which. What
    is not known is absent, never 0.

    Args:
        ws: what `load` returned.
        timestamp: what to write as the time; the newest `started_at` of the runs otherwise,
            and none where no run says. Never the time of writing, so the same workspace
            always gives the same document.

    >>> from skill_eval_nb.tables import Workspace
    >>> benchmark(Workspace.from_tables({}))
    []
    """
    return [document(measure(ws, place), timestamp) for place in slices(ws)]


def document(measured: Measured, timestamp: str | None = None) -> Benchmark:
    """The aggregate of one iteration."""
    runs = ordered(measured)
    notes, verdicts, scores = (
        _by_run(measured.ws.polars(table)) for table in ("notes", "expectations", "rubric_scores")
    )
    return Benchmark(
        metadata=_metadata(measured, runs, timestamp),
        runs=[
            _run(row, notes[key], verdicts[key], scores[key])
            for row in runs
            for key in (_key(row),)
        ],
        run_summary=run_summary(measured),
        notes=remarks(measured),
    )


def ordered(measured: Measured) -> list[Row]:
    """The runs by eval, the compared configuration before the baseline, by number."""
    place = {name: at for at, name in enumerate(in_document_order(measured))}
    return sorted(
        measured.ws.polars("runs").iter_rows(named=True),
        key=lambda row: (
            natural(row["eval_id"]),
            natural(row["eval_name"]),
            place[row["configuration"]],
            row["run_number"],
        ),
    )


def _metadata(measured: Measured, runs: list[Row], timestamp: str | None) -> BenchmarkMetadata:
    place = measured.place
    cells: dict[tuple[Any, ...], int] = defaultdict(int)
    for row in runs:
        cells[_key(row)[:-1]] += 1
    return BenchmarkMetadata(
        skill_name=place.skill,
        executor_model=_named(runs, "executor_model"),
        analyzer_model=_named(runs, "judge_model"),
        timestamp=timestamp or newest(row["started_at"] for row in runs),
        evals_run=list(dict.fromkeys(_number(row["eval_id"]) for row in runs)),
        runs_per_configuration=max(cells.values(), default=None),
        iteration=_iteration(place.iteration),
    )


def _run(row: Row, notes: list[Row], verdicts: list[Row], scores: list[Row]) -> BenchmarkRun:
    status = [] if row["status"] == "graded" else [f"status: {row['status']}"]
    return BenchmarkRun(
        configuration=row["configuration"],
        eval_id=_number(row["eval_id"]),
        eval_name=row["eval_name"],
        run_number=row["run_number"],
        result=RunResult(
            **{
                name: rounded(row[name], name)
                for name in RunResult.__struct_fields__
                if name in row
            }
        ),
        expectations=[_expectation(one) for one in counted(verdicts)],
        notes=status + [note["text"] for note in notes if note["kind"] != "analyst"],
        rubric_scores=_scores(scores),
        model=row["executor_model"],
    )


def counted(verdicts: list[Row]) -> list[Row]:
    """The expectations that a run's pass rate counts: the judged, else the structural ones."""
    return [one for one in verdicts if one["layer"] == "judged"] or verdicts


def _expectation(row: Row) -> GradedExpectation:
    return GradedExpectation(
        **{
            name: row[name]
            for name in ("text", "passed", "evidence", "type", "critical", "confidence")
        },
        id=row["expectation_id"],
    )


def _scores(rows: list[Row]) -> dict[str, RubricScore]:
    """Each dimension's score, the mean over judgings, with the evidence of the first."""
    judgings: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["score"] is not None:
            judgings[row["dimension"]].append(row)
    return {
        dimension: RubricScore(
            score=rounded(sum(row["score"] for row in rows) / len(rows), dimension),
            evidence=next((row["evidence"] for row in rows if row["evidence"]), None),
            weight=rows[0]["weight"],
        )
        for dimension, rows in judgings.items()
    }


def _by_run(table: pl.DataFrame) -> ByRun:
    rows: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in table.iter_rows(named=True):
        rows[_key(row)].append(row)
    return rows


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


def _named(runs: list[Row], column: str) -> str | None:
    """The model that the runs name, or all of them where they name several."""
    return ", ".join(sorted({row[column] for row in runs if row[column]})) or None


def _number(name: str) -> int | str:
    """An eval's id as a number where it is written as one."""
    return int(name) if re.fullmatch(r"0|[1-9][0-9]{0,14}", name) else name


def _iteration(name: str) -> int | str | None:
    found = re.fullmatch(r"iteration-([1-9][0-9]{0,8})", name)
    return int(found[1]) if found else None if name == NO_ITERATION else name
