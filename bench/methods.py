"""The ways of reading a generated workspace that are measured side by side.

A method is a function that imports what it needs and gives its reader: path in, result out.
The readers are written as somebody would write them who knows the tool and these files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Reader = Callable[[str], Any]

CHUNK = 1 << 16


def every_byte(path: str) -> int:
    """Walk the folders and read every byte of every JSON file: no reader can do with less."""
    total = 0
    waiting = [path]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    waiting.append(entry.path)
                elif entry.name.endswith(".json"):
                    descriptor = os.open(entry.path, os.O_RDONLY)
                    size = CHUNK
                    while size == CHUNK:
                        size = len(os.read(descriptor, CHUNK))
                        total += size
                    os.close(descriptor)
    return total


def json_and_pandas() -> Reader:
    """`rglob`, `json.load`, and `pandas.json_normalize` into one frame, a row a file."""
    import json

    import pandas as pd

    def load(file: Path) -> dict[str, Any]:
        with file.open() as opened:
            return {"path": str(file), **json.load(opened)}

    def read(path: str) -> pd.DataFrame:
        return pd.json_normalize([load(file) for file in Path(path).rglob("*.json")])

    return read


_KEYS = ["iteration", "eval", "configuration", "run"]


def json_and_pandas_tables() -> Reader:
    """The same into the tables that the loader gives of runs: a `json_normalize` for each list.

    The keys are the names of the folders.
    """
    import json

    import pandas as pd

    def load(folder: Path, name: str) -> list[dict[str, Any]]:
        documents = []
        for file in folder.rglob(name):
            with file.open() as opened:
                keys = dict(zip(_KEYS, file.relative_to(folder).parts[:-1], strict=False))
                documents.append({**keys, **json.load(opened)})
        return documents

    def without_lists(documents: list[dict[str, Any]]) -> pd.DataFrame:
        lists = ("expectations", "claims", "rubric_scores")
        return pd.json_normalize(
            [{key: document[key] for key in document if key not in lists} for document in documents]
        )

    def items(documents: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
        """Documents with an object of unknown keys as a list, which `json_normalize` wants."""
        return [
            {
                **document,
                name: [{"name": key, "value": value} for key, value in document[name].items()],
            }
            for document in documents
        ]

    def read(path: str) -> dict[str, pd.DataFrame]:
        folder = Path(path)
        gradings, structural = load(folder, "grading.json"), load(folder, "structural.json")
        timings, metrics = load(folder, "timing.json"), load(folder, "metrics.json")
        runs = without_lists(gradings)
        for others in (structural, timings, metrics):
            runs = runs.merge(without_lists(others), "left", _KEYS, suffixes=("_graded", ""))
        notes = ("uncertainties", "needs_review", "workarounds")
        return {
            "runs": runs,
            "expectations": pd.concat(
                [
                    pd.json_normalize(documents, "expectations", _KEYS).assign(layer=layer)
                    for layer, documents in (("structural", structural), ("judged", gradings))
                ]
            ),
            "rubric_scores": pd.json_normalize(
                items(gradings, "rubric_scores"), "rubric_scores", _KEYS
            ),
            "claims": pd.json_normalize(gradings, "claims", _KEYS),
            "notes": pd.concat(
                [
                    pd.json_normalize(gradings, ["user_notes_summary", kind], _KEYS).assign(
                        kind=kind
                    )
                    for kind in notes
                ]
            ),
            "suggestions": pd.json_normalize(
                gradings,
                ["eval_feedback", "suggestions"],
                [*_KEYS, ["eval_feedback", "overall"]],
            ),
            "tool_calls": pd.json_normalize(items(metrics, "tool_calls"), "tool_calls", _KEYS),
            "evals": pd.json_normalize(load(folder, "evals.json"), "evals"),
        }

    return read


_VERDICTS = (
    "STRUCT(id VARCHAR, text VARCHAR, type VARCHAR, "
    "passed BOOLEAN, critical BOOLEAN, evidence VARCHAR)[]"
)
_SUMMARY = "STRUCT(passed BIGINT, failed BIGINT, total BIGINT, pass_rate DOUBLE)"
_TYPES = {
    "grading.json": {
        "expectations": _VERDICTS,
        "summary": _SUMMARY,
        "rubric_scores": "MAP(VARCHAR, STRUCT(score DOUBLE, evidence VARCHAR))",
        "rubric_summary": "STRUCT(weighted_mean DOUBLE, normalized DOUBLE)",
        "claims": "STRUCT(claim VARCHAR, type VARCHAR, verified BOOLEAN, evidence VARCHAR)[]",
        "user_notes_summary": (
            "STRUCT(uncertainties VARCHAR[], needs_review VARCHAR[], workarounds VARCHAR[])"
        ),
        "eval_feedback": (
            "STRUCT(suggestions STRUCT(assertion VARCHAR, reason VARCHAR)[], overall VARCHAR)"
        ),
    },
    "structural.json": {"expectations": _VERDICTS, "summary": _SUMMARY, "gate_passed": "BOOLEAN"},
    "timing.json": {
        "total_duration_seconds": "DOUBLE",
        "total_tokens": "BIGINT",
        "executor_start": "VARCHAR",
    },
    "outputs/metrics.json": {
        "tool_calls": "MAP(VARCHAR, BIGINT)",
        "total_tool_calls": "BIGINT",
        "total_steps": "BIGINT",
        "errors_encountered": "BIGINT",
        "output_chars": "BIGINT",
        "transcript_chars": "BIGINT",
    },
}
"""The columns of each file, as DuckDB wants them."""


def duckdb_read_json() -> Reader:
    """DuckDB's `read_json` with every type given: the four files joined, as an Arrow table."""
    import duckdb

    def scan(path: str, name: str, types: dict[str, str]) -> str:
        files = f"{path}/iteration-*/*/*/*/{name}".replace("'", "''")
        columns = ", ".join(f"{column}: '{type_}'" for column, type_ in types.items())
        return (
            f"(SELECT * EXCLUDE filename, left(filename, -{len(name) + 1}) AS run FROM read_json("
            f"'{files}', format = 'unstructured', columns = {{{columns}}}, filename = true))"
        )

    def read(path: str) -> Any:
        first, *others = (scan(path, name, types) for name, types in _TYPES.items())
        joins = " ".join(f"LEFT JOIN {other} USING (run)" for other in others)
        with duckdb.connect() as connection:
            return connection.sql(f"SELECT * FROM {first} {joins}").to_arrow_table()

    return read


def figures() -> Reader:
    """`sen.load(path).runs`."""
    import skill_eval_nb as sen

    return lambda path: sen.load(path).runs


def tables() -> Reader:
    """`sen.load(path).tables()`: every table with every text."""
    import skill_eval_nb as sen

    return lambda path: sen.load(path).tables()


class Method(NamedTuple):
    """A way of reading: what it is called, how it gets ready, how many runs its result has."""

    title: str
    get_ready: Callable[[], Reader]
    runs: Callable[[Any], int] | None = len


def _gradings(frame: Any) -> int:
    return int(frame["path"].str.endswith("grading.json").sum())


METHODS = {
    "floor": Method("(a) every byte, `os.read`", lambda: every_byte, None),
    "figures": Method("`sen.load(path).runs`", figures),
    "tables": Method("`sen.load(path).tables()`", tables, lambda found: len(found["runs"])),
    "duckdb": Method("(c) DuckDB `read_json`, types given", duckdb_read_json),
    "pandas": Method(
        "(b) `rglob` + `json` + `json_normalize`, a row a file", json_and_pandas, _gradings
    ),
    "pandas_tables": Method(
        "(b) `rglob` + `json` + `json_normalize`, a frame a table",
        json_and_pandas_tables,
        lambda found: len(found["runs"]),
    ),
}
"""By the names that `--methods` takes, the fastest first."""
