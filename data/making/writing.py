"""What all workspaces are written with: JSON, moments, means and printed differences."""

from __future__ import annotations

import json
import statistics
import tomllib
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Files = dict[str, str]
"""Text by path below a workspace."""

EXECUTOR = "made-up-model"
JUDGE = "made-up-judge"
CONFIGURATIONS = ("with_skill", "without_skill")


def texts(name: str) -> Json:
    """The hand-written table of a workspace."""
    path = Path(__file__).parent / "texts" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def as_json(value: object) -> str:
    """`value` as it stands in a file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def moment(start: str, seconds: float = 0) -> str:
    """The moment so many seconds after `start`, ISO 8601 in UTC."""
    then = datetime.fromisoformat(start) + timedelta(seconds=round(seconds))
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def stats(values: Sequence[float], digits: int = 4) -> Json:
    """Mean, sample standard deviation (null for a single value), smallest and largest."""
    return {
        "mean": round(statistics.fmean(values), digits),
        "stddev": round(statistics.stdev(values), digits) if len(values) > 1 else None,
        "min": round(min(values), digits),
        "max": round(max(values), digits),
    }


def signed(difference: float, digits: int) -> str:
    """A difference as benchmarks print it: ``+0.25``."""
    return f"{difference:+.{digits}f}"


def summary(verdicts: Sequence[bool]) -> Json:
    """How many of the verdicts are passes."""
    passed = sum(verdicts)
    return {
        "passed": passed,
        "failed": len(verdicts) - passed,
        "total": len(verdicts),
        "pass_rate": round(passed / len(verdicts), 4),
    }


def pass_rate(graded: Json) -> float:
    """The pass rate of a document with expectations, not rounded."""
    return statistics.fmean(one["passed"] for one in graded["expectations"])


def input_files(table: dict[str, str]) -> Files:
    """Input files as the tables have them, without the line end that opens each text."""
    return {path: text.lstrip("\n") for path, text in table.items()}


def eval_folder(number: int, name: str) -> str:
    """The folder of an eval: its number and its name."""
    return f"eval-{number}-{name}"


def run_folder(run: Json) -> str:
    """The folder of a run below its iteration."""
    of_eval = eval_folder(run["eval_id"], run["eval_name"])
    return f"{of_eval}/{run['configuration']}/run-{run['run_number']}"


def document_files(folder: str, documents: Json) -> Files:
    """The documents of a run as files below its folder."""
    return {
        f"{folder}/{name}": document if isinstance(document, str) else as_json(document)
        for name, document in documents.items()
    }


def metadata_file(folder: str, task: Json, eval_id: int, assertions: Sequence[object]) -> Files:
    """eval_metadata.json in a folder: which eval it is, and what is checked."""
    metadata = {
        "eval_id": eval_id,
        "eval_name": task["name"],
        "prompt": task["prompt"],
        "assertions": assertions,
    }
    return {f"{folder}/eval_metadata.json": as_json(metadata)}


def feedback_file(folder: str, rows: Sequence[Json], start: str, status: str) -> Files:
    """feedback.json in the folder of an iteration: reviews a minute apart, a day after `start`."""
    reviews = [
        {
            "run_id": row["run_id"],
            "feedback": row["feedback"],
            "timestamp": moment(start, 86_400 + 60 * minute),
        }
        for minute, row in enumerate(rows)
    ]
    return {f"{folder}/feedback.json": as_json({"reviews": reviews, "status": status})}
