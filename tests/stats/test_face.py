"""What other rooms may rely on: the names, the weight of the import, the speed."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from skill_eval_nb import stats
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.tables.frames import schema

RUNS = 60_000


def test_the_names_of_the_room() -> None:
    assert sorted(stats.__all__) == [
        "agreement",
        "audit",
        "deltas",
        "deltas_by_dimension",
        "deltas_by_eval",
        "discrimination",
        "discrimination_by_eval",
        "judge_severity",
        "notes",
        "outliers",
        "pass_at_k",
        "pass_at_k_by_eval",
        "plan",
        "preference",
        "summarize",
        "trigger_confusion",
        "trigger_doubts",
        "trigger_rates",
        "trigger_scores",
        "variance",
    ]
    assert all(callable(getattr(stats, name)) for name in stats.__all__)


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = "polars pandas numpy scipy altair narwhals pyarrow".split()
    code = f"import sys, skill_eval_nb.stats; print([n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def many() -> Workspace:
    """60,000 runs: 10 workspaces, 5 iterations, 200 evals, 2 configurations, 3 runs."""
    at = pl.int_range(RUNS, eager=True)
    noise = np.random.default_rng(1)
    keys = pl.DataFrame(
        {
            "workspace": pl.select(pl.format("w{}", at // 6000)).to_series(),
            "skill": pl.repeat("s", RUNS, eager=True),
            "iteration": pl.select(pl.format("iteration-{}", at // 1200 % 5)).to_series(),
            "eval_id": (at // 6 % 200).cast(pl.String),
            "eval_name": pl.select(pl.format("eval-{}", at // 6 % 200)).to_series(),
            "configuration": np.where(at // 3 % 2, "with_skill", "without_skill"),
            "run_number": at % 3 + 1,
        }
    )
    runs = keys.with_columns(
        status=pl.lit("graded"),
        pass_rate=noise.random(RUNS),
        overall_efficiency=noise.random(RUNS),
        tokens=noise.integers(1, 9999, RUNS),
        time_seconds=noise.lognormal(3, 1, RUNS),
    )
    texts = pl.DataFrame({"text": ["holds 12 rows", "names the total", "cites the file"]})
    checks = keys.join(texts, how="cross").with_columns(layer=pl.lit("judged"))
    checks = checks.with_columns(passed=noise.random(checks.height) < 0.7)
    judges = pl.DataFrame({"judge_model": ["one-judge", "another-judge"], "judging": [1, 2]})
    scores = keys.join(judges, how="cross").with_columns(dimension=pl.lit("clarity"))
    scores = scores.with_columns(score=noise.random(scores.height))
    stated = keys.select("workspace", "skill", "iteration", "configuration").unique()
    stated = stated.with_columns(
        metric=pl.lit("pass_rate"), statistic=pl.lit("mean"), value=0.123, printed=pl.lit("0.123")
    )
    comparisons = keys.with_columns(
        comparison=pl.format("{}-{}-{}", "iteration", "eval_id", "run_number"),
        winner=pl.lit("A"),
        side=pl.when(pl.col("configuration") == "with_skill")
        .then(pl.lit("A"))
        .otherwise(pl.lit("B")),
        group=pl.lit("overall"),
        criterion=pl.lit("overall_score"),
    )
    triggers = keys.select("workspace", "skill", query=pl.format("query {}", at))
    triggers = triggers.with_columns(should_trigger=at % 2 == 0, triggered=at % 3 % 2, runs=1)
    tables = {
        "runs": runs,
        "expectations": checks,
        "rubric_scores": scores,
        "stated": stated,
        "comparisons": comparisons,
        "triggers": triggers,
    }
    return Workspace.from_tables({name: _whole(name, table) for name, table in tables.items()})


def _whole(name: str, table: pl.DataFrame) -> pl.DataFrame:
    types = schema(TABLES[name])
    return table.with_columns(
        pl.lit(None, type_).alias(column)
        for column, type_ in types.items()
        if column not in table.columns
    ).select(list(types))


@pytest.mark.parametrize("name", [name for name in stats.__all__ if name != "notes"])  # of all
def test_60_000_runs_are_answered(name: str, many: Workspace) -> None:
    """How fast is for `make bench` to say."""
    statistic: Callable[[Any], pl.DataFrame] = getattr(stats, name)
    assert statistic(many).height > 0
