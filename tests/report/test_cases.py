"""benchmark.md and benchmark.json of runs of known make, as they were; and what holds for all."""

from __future__ import annotations

import re
import statistics
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from skill_eval_nb.documents import dump
from skill_eval_nb.report import benchmark, markdown
from tests.golden import hold, lines_of
from tests.report.made import (
    Rows,
    balanced,
    check,
    helping,
    hostile,
    keys,
    of_two_models,
    one_side,
    problem,
    run,
    score,
    stated,
    workspace,
)
from tests.report.test_page import tables

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace

TWO = balanced()
FIRST = TWO[0]
FOUR_EACH = [row | {"run_number": row["run_number"] + 2 * more} for row in TWO for more in (0, 1)]
SUITE = {"workspace": "w", "skill": "pdf", "weight": 1.0, "n_structural": 0, "n_dimensions": 2}


def of_sides(*figures: tuple[str, str, float], **more: Any) -> Rows:
    """A run each: eval, side, rate."""
    return [run(of, side, 1, rate) | more for of, side, rate in figures]


RUNS: dict[str, Rows] = {
    "two evals": TWO,
    "costs, of which one is not known": [FIRST, *(row | {"cost_usd": 0.25} for row in TWO[1:])],
    "two models, a third of one side": of_two_models(),
    "an errored and an ungraded run": TWO
    + of_sides(("2", "with_skill", None), run_number=3)
    + of_sides(("1", "without_skill", None), run_number=3, status="ungraded"),
    "an eval of one side": TWO + of_sides(("3", "with_skill", 1.0)),
    "three configurations": TWO + of_sides(("1", "old_skill", 0.5), ("2", "old_skill", 0.5)),
    "no eval in common": of_sides(("1", "with_skill", 1.0), ("2", "without_skill", 0.0)),
    "it helps": helping(6, 3),
}
CASES: dict[str, Workspace] = {
    **{name: workspace(runs=rows) for name, rows in RUNS.items()},
    "nothing": workspace(),
    "both layers of checks": workspace(
        runs=TWO[:2],
        expectations=[
            check(FIRST, "judged", True),
            check(FIRST, "a file is there", False, layer="structural"),
            check(TWO[1], "a file is there", None, layer="structural"),
        ],
    ),
    "checks that tell nothing": workspace(
        runs=TWO,
        expectations=[
            *(check(row, "is there", True) for row in TWO),
            *(check(row, "is not there", False) for row in TWO),
            *(check(row, "too seldom seen", False) for row in TWO if row["eval_id"] == "2"),
            *(check(row, "leans", row["configuration"] == "with_skill") for row in TWO),
            *(check(row, "one side", True) for row in one_side()),
            *(check(row, "never scored", None) for row in TWO),
        ],
    ),
    "more checks that fail than are shown": workspace(
        runs=TWO, expectations=[check(row, f"check {n}", False) for n in range(7) for row in TWO]
    ),
    "checks that tell the sides apart": workspace(
        runs=FOUR_EACH,
        expectations=[
            check(row, text, (row["configuration"] == "with_skill") == (text == "tells"))
            for text in ("tells", "speaks | against")
            for row in FOUR_EACH
        ],
    ),
    "three judgings, one lost": workspace(
        runs=[FIRST],
        rubric_scores=[score(FIRST, "clarity", of, at) for at, of in enumerate((3, 4, None), 1)],
    ),
    "judged once": workspace(
        runs=TWO, rubric_scores=[score(row, "clarity", 3 + row["run_number"] / 2) for row in TWO]
    ),
    "notes": workspace(
        runs=[FIRST],
        notes=[{**keys(FIRST), "kind": "analyst", "text": "looks flaky"}] * 2
        + [{**keys(FIRST), "kind": "workaround", "text": "typed it by hand"}],
    ),
    "problems": workspace(
        runs=TWO,
        problems=[
            problem(one, path=f"{one}.json", where="$.x" * (one == "error"), message=f"an {one}")
            for one in ("info", "warning", "error", "info")
        ],
    ),
    "stated figures alone": workspace(
        stated=stated(
            ("with_skill", "pass_rate", "mean", 0.85),
            ("with_skill", "pass_rate", "stddev", 0.05),
            ("without_skill", "pass_rate", "mean", 0.35),
            ("delta", "pass_rate", "value", 0.5),
        )
    ),
    "stated figures, of which one is wrong": workspace(
        runs=TWO,
        stated=stated(
            ("with_skill", "pass_rate", "mean", 0.8125),
            ("without_skill", "pass_rate", "mean", 0.9),
            ("with_skill", "tokens", "mean", 4850),
        ),
    ),
    "stated figures of two models": workspace(
        runs=of_two_models(), stated=stated(("without_skill", "pass_rate", "mean", 0.5))
    ),
    "a stated difference of three models": workspace(
        runs=of_two_models(), stated=stated(("delta", "pass_rate", "value", 0.2))
    ),
    "evals without runs": workspace(
        evals=[
            {**SUITE, "eval_id": str(n), "eval_name": name, "n_expectations": n}
            for n, name in enumerate(("forms", "tables"), 1)
        ]
    ),
}


@cache
def text_of(name: str) -> str:
    return markdown(hostile() if name == "hostile" else CASES[name])


@pytest.mark.parametrize("form", ["md", "json"])
def test_what_is_written(form: str) -> None:
    """Of each but the first, lines that the first has as well are left out."""
    lines: list[str] = []
    first: set[str] = set()
    for name, ws in CASES.items():
        documents = [dump(one) for one in benchmark(ws)] if form == "json" else []
        own = [*lines_of(documents)] if form == "json" else text_of(name).splitlines()
        lines += [f"###### {name}", *(line for line in own if line not in first)]
        first = first or set(own)
    hold(f"benchmark_{form}", lines)


@pytest.mark.parametrize("name", [*CASES, "hostile"])
def test_no_section_is_empty_and_every_row_is_whole(name: str) -> None:
    text = text_of(name)
    assert not re.search(r"^#+ [^\n]+\n+(?=(#|\Z))", text, re.MULTILINE), text
    assert not re.search(r"\b(nan|none|null|inf)\b", text.replace("none of", ""), re.IGNORECASE)
    assert all(len(row) == len(rows[0]) for rows in tables(text).values() for row in rows)


@pytest.mark.parametrize("baseline", ["without_skill", "a_baseline"])
def test_the_summary_is_that_of_plain_python(baseline: str) -> None:
    """And the delta is the skill's side minus the baseline, whatever the names sort to."""
    rows = balanced(baseline)
    (document,) = benchmark(workspace(runs=rows))
    summary = document.run_summary
    assert list(summary) == ["with_skill", baseline, "delta"]
    for name in ("with_skill", baseline):
        for metric in ("pass_rate", "time_seconds", "tokens"):
            given = [row[metric] for row in rows if row["configuration"] == name]
            found = getattr(summary[name], metric)
            assert found.mean == pytest.approx(statistics.fmean(given), abs=1e-4)
            assert found.stddev == pytest.approx(statistics.stdev(given), abs=1e-4)
            assert (found.min, found.max) == (min(given), max(given))
    delta = summary["delta"]
    assert (delta.pass_rate, delta.time_seconds, delta.tokens) == ("+0.38", "+13.0", "+1700")


def test_the_time_is_the_newest_of_the_data_or_the_one_given() -> None:
    stamps = ("2026-01-15T10:30:00Z", "2026-01-15T11:00:00+02:00")
    ws = workspace(runs=[row | {"started_at": at} for row, at in zip(TWO, stamps, strict=False)])
    for given, told in ((None, stamps[0]), ("2026-02-01T00:00:00Z",) * 2):
        assert [one.metadata.timestamp for one in benchmark(ws, timestamp=given)] == [told]
