"""Published studies come out of their raw files, through our loaders and our statistics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import skill_eval_nb as sen

JUDGMENTS = "claude-plugins-judgments/docs/benchmarks"


def means(ws: sen.Workspace, metric: str = "pass_rate") -> dict[str, float]:
    """The mean of each configuration."""
    found = sen.stats.summarize(ws).filter(pl.col("metric") == metric)
    return dict(found.select("configuration", "mean").rows())


def judged(folder: Path) -> sen.Workspace:
    """The judgments of a study as a row a unit, dimension and judge."""
    rows: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*_j?.json")):
        raw = json.loads(path.read_bytes())
        for name, one in raw["dimensions"].items():
            rows.append(
                {"unit": path.stem[:-3], "judge": raw["judge_id"], "dimension": name, **one}
            )
    return sen.from_table(rows, eval="unit", evidence="rationale")


def test_agreement_and_dimension_means_of_two_judges(published: Path) -> None:
    ws = judged(published / JUDGMENTS / "2026-07-context-engineering" / "judgments")
    found = {
        name: round(means(ws, f"rubric:{name}")["unstated"], 2)
        for name in ws.rubric_scores["dimension"].unique()
    }
    assert found == {"C1": 3.9, "C2": 3.86, "C3": 2.9, "C4": 2.65, "C5": 1.67, "C6": 3.15}
    ws = judged(published / JUDGMENTS / "2026-08-agent-skills-research" / "judgments")
    pairs = sen.stats.agreement(ws).filter(pl.col("exact").is_not_null())
    assert (pairs["n_outputs"].sum(), set(pairs["within_one"])) == (128, {1.0})
    assert (pairs["exact"] * pairs["n_outputs"]).sum() == pytest.approx(110)  # 85.9 %


def test_pilot(published: Path) -> None:
    """4 tasks, 3 trials a side: 8.3 % to 75 %; the second suite is at 100 % on both sides."""
    folder = published / "make-no-mistakes-pilot" / "results"
    stated = json.loads((folder / "summary.json").read_bytes())
    ws = sen.load(folder / "raw")
    assert means(ws) == {
        "with_skill": pytest.approx(0.75),
        "without_skill": pytest.approx(1 / 12),
    }
    for task, sides in stated["models"]["gpt-5.5"]["tasks"].items():
        mine = ws.select(eval_id=task)
        rates = means(mine)
        assert rates["with_skill"] == pytest.approx(sides["with_skill"]["pass_rate"], abs=1e-4)
        assert rates["without_skill"] == pytest.approx(sides["no_skill"]["pass_rate"], abs=1e-4)
        spent = dict(mine.runs.group_by("configuration").agg(pl.col("tokens").sum()).rows())
        assert spent["with_skill"] == sides["cost"]["with_skill"]["total_tokens"]
    delta = sen.stats.deltas(ws).row(0, named=True)
    assert delta["estimate"] == pytest.approx(2 / 3)
    assert delta["verdict"] == "helps"  # on these four evals
    beyond = sen.stats.deltas(ws, scope="population").row(0, named=True)
    assert beyond["verdict"] == "too few evals"  # and no word on others
    second = sen.load(folder / "make-no-mistakes")
    assert second.runs.height == 60
    assert set(second.runs["pass_rate"]) == {1.0}


@pytest.mark.parametrize(
    ("model", "sides", "delta", "left_out", "n"),
    [
        ("gemini-3-flash-preview", (0.457, 0.276), 0.181, 0.125, 70),
        ("gemini-3-pro-preview", (0.342, 0.237), 0.105, 0.118, 73),
    ],
)
def test_skillsbench(
    published: Path, model: str, sides: Any, delta: float, left_out: float, n: int
) -> None:
    """Both readings of errored runs: as failures, which is what was published, and left out."""
    ws = sen.from_table(published / "skillsbench-gemini-cli" / "runs.csv")
    one = ws.select(executor_model=model)
    counted = one.runs.with_columns(pl.col("pass_rate").fill_null(0))
    found = means(counted)
    assert (found["with_skill"], found["without_skill"]) == pytest.approx(sides, abs=5e-4)
    row = sen.stats.deltas(one).row(0, named=True)
    assert row["estimate_with_errors"] == pytest.approx(delta, abs=5e-4)
    assert row["estimate"] == pytest.approx(left_out, abs=5e-4)
    assert row["n_evals"] == n
    both = sen.stats.deltas(ws)
    assert both["executor_model"].n_unique() == 2  # no figure pools the models
