"""What other rooms may rely on: the names, the weight of the import, the speed."""

import subprocess
import sys
import time
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
        "audit",
        "deltas",
        "deltas_by_dimension",
        "deltas_by_eval",
        "summarize",
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
    )
    scores = keys.with_columns(dimension=pl.lit("clarity"), score=noise.random(RUNS))
    stated = keys.select("workspace", "skill", "iteration", "configuration").unique()
    stated = stated.with_columns(
        metric=pl.lit("pass_rate"), statistic=pl.lit("mean"), value=0.123, printed=pl.lit("0.123")
    )
    tables = {"runs": runs, "rubric_scores": scores, "stated": stated}
    return Workspace.from_tables({name: _whole(name, table) for name, table in tables.items()})


def _whole(name: str, table: pl.DataFrame) -> pl.DataFrame:
    types = schema(TABLES[name])
    return table.with_columns(
        pl.lit(None, type_).alias(column)
        for column, type_ in types.items()
        if column not in table.columns
    ).select(list(types))


@pytest.mark.parametrize("name", stats.__all__)
def test_60_000_runs_take_less_than_a_second(name: str, many: Workspace) -> None:
    statistic: Callable[[Any], pl.DataFrame] = getattr(stats, name)
    taken: list[float] = []
    for _ in range(3):
        begun = time.perf_counter()
        assert statistic(many).height > 0
        taken.append(time.perf_counter() - begun)
    assert min(taken) < 1
