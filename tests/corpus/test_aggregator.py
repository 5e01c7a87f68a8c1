"""skill-creator's aggregate_benchmark.py and ours, on the same runs.

THEIRS_PLAIN is what that script printed into benchmark.json
for the workspace below, which was laid out on disk and given to it (the script of the `skills`
repository of anthropics, 2026; it is not part of this one). They are facts about it, not about us.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from tests.corpus.build import expectations, lay

METRICS = ("pass_rate", "time_seconds", "tokens")


def grading(marks: str, **fields: Any) -> dict[str, Any]:
    """A grading.json with the summary that the aggregator reads, and nothing else of it."""
    passed, failed = marks.count("p"), marks.count("f")
    rate = passed / len(marks)
    summary = {"passed": passed, "failed": failed, "total": len(marks), "pass_rate": rate}
    return {"expectations": expectations(marks), "summary": summary, **fields}


def timing(tokens: int, seconds: float) -> dict[str, Any]:
    return {
        "total_tokens": tokens,
        "duration_ms": round(seconds * 1000),
        "total_duration_seconds": seconds,
    }


def run(folder: str, marks: str, tokens: int, seconds: float) -> dict[str, Any]:
    """The files of a run."""
    return {
        f"{folder}/grading.json": grading(marks),
        f"{folder}/timing.json": timing(tokens, seconds),
    }


def load(tmp_path: Path, files: dict[str, Any]) -> Any:
    return sen.load(
        lay(tmp_path / "tdd-workspace", {f"iteration-1/{f}": c for f, c in files.items()})
    )


def written(ws: Any, tmp_path: Path) -> dict[str, Any]:
    """The benchmark.json that we write for it."""
    sen.report.write_benchmark(ws, tmp_path / "out", dialect="skill-creator")
    (path,) = (tmp_path / "out").rglob("benchmark.json")
    return json.loads(path.read_text(encoding="utf-8"))


def summary(ws: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """`summarize`, by configuration and metric."""
    return {
        (row["configuration"], row["metric"]): row for row in sen.stats.summarize(ws).to_dicts()
    }


PLAIN = (
    run("eval-0-a/with_skill/run-1", "pppp", 4000, 40.0)
    | run("eval-0-a/with_skill/run-2", "pppf", 4400, 52.5)
    | run("eval-0-a/without_skill/run-1", "ppff", 2000, 30.0)
    | run("eval-0-a/without_skill/run-2", "pfff", 2600, 33.0)
    | run("eval-1-b/with_skill/run-1", "ppfff", 5100, 61.2)
    | run("eval-1-b/with_skill/run-2", "pppff", 4900, 58.0)
    | run("eval-1-b/without_skill/run-1", "pffff", 3100, 28.4)
    | run("eval-1-b/without_skill/run-2", "fffff", 2900, 41.0)
)
THEIRS_PLAIN: dict[str, Any] = {
    "with_skill": {
        "pass_rate": {"mean": 0.6875, "stddev": 0.2529, "min": 0.4, "max": 1.0},
        "time_seconds": {"mean": 52.925, "stddev": 9.3357, "min": 40.0, "max": 61.2},
        "tokens": {"mean": 4600.0, "stddev": 496.6555, "min": 4000, "max": 5100},
    },
    "without_skill": {
        "pass_rate": {"mean": 0.2375, "stddev": 0.2056, "min": 0.0, "max": 0.5},
        "time_seconds": {"mean": 33.1, "stddev": 5.6012, "min": 28.4, "max": 41.0},
        "tokens": {"mean": 2650.0, "stddev": 479.5832, "min": 2000, "max": 3100},
    },
    "delta": {"pass_rate": "+0.45", "time_seconds": "+19.8", "tokens": "+1950"},
}


def test_agrees_on_a_plain_workspace_and_writes_the_same_run_summary(tmp_path: Path) -> None:
    """Means, sample standard deviations, smallest and largest; and the delta."""
    ws = load(tmp_path, PLAIN)
    ours, run_summary = summary(ws), written(ws, tmp_path)["run_summary"]
    for configuration in ("with_skill", "without_skill"):
        for metric in METRICS:
            theirs = pytest.approx(THEIRS_PLAIN[configuration][metric], abs=1e-4)
            for found in (ours[configuration, metric], run_summary[configuration][metric]):
                assert {name: found[name] for name in ("mean", "stddev", "min", "max")} == theirs
            assert ours[configuration, metric]["n"] == 4
    assert run_summary["delta"] == THEIRS_PLAIN["delta"]
    (delta,) = sen.stats.deltas(ws).to_dicts()
    assert delta["estimate"] == pytest.approx(float(THEIRS_PLAIN["delta"]["pass_rate"]), abs=0.005)
