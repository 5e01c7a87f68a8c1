"""Many skills on one page: the answer over them, each skill's own, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import skill_eval_nb as sen
from skill_eval_nb.report import Library
from skill_eval_nb.view import blocks_of
from tests.corpus.build import graded, lay
from tests.report.made import HOSTILE, SIDES, Rows, run, workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def skill(name: str, *evals: Sequence[Sequence[float | None]], **more: Any) -> Rows:
    """Runs of a skill: for each eval the rates of either side."""
    sides = (SIDES[0], more.pop("baseline", SIDES[1]))
    known = {"workspace": f"{name}-workspace", "skill": name} | more
    return [
        run(str(at), side, number, rate, **known)
        for at, rates in enumerate(evals)
        for side, own in zip(sides, rates, strict=True)
        for number, rate in enumerate(own, 1)
    ]


def once(names: Iterable[str], *deltas: float, **more: Any) -> Rows:
    """Skills of which each eval was run once, with these differences."""
    evals = [([max(d, 0)], [max(-d, 0)]) for d in deltas]
    return [row for name in names for row in skill(name, *evals, **more)]


def of(*skills: Rows) -> Library:
    return sen.library(workspace(runs=[row for rows in skills for row in rows]))


UP, DOWN = [0.5, 0.5], [-0.5, -0.25]
CLEAR = [[[1.0, 0.75, 1.0], [0.0, 0.25, 0.0]]] * 3
FEW = "Too few skills to say whether a skill like these helps on average: {} pp."
UNCLEAR = "It is unclear whether a skill like these helps on average"
ANSWERS: dict[str, tuple[Rows, list[str]]] = {
    "too few skills": (once("abcde", *UP), [FEW.format("+50")]),
    "six that differ": (
        once("abcdef", *UP),
        ["A skill like these helps on average: +50 pp (exact p = 0.0312)."],
    ),
    "six of which five differ": (once("abcde", *UP) + once("f", 0, 0), [FEW.format("+41.7")]),
    "unclear": (
        once("ace", 0.25, 1) + once("bdf", 0.25, -1),
        [f"{UNCLEAR}: +12.5 pp (−37.5 to +62.5; exact p = 0.625)."],
    ),
    "two kinds of baseline, the most skills first": (
        once("abcdef", *UP, baseline="old_skill") + once("g", *UP),
        [
            "A new version helps on average: +50 pp (exact p = 0.0312).",
            "One skill is compared with no skill: +50 pp.",
        ],
    ),
    "a skill in two workspaces counts once": (
        once("abcde", *UP) + once("a", *DOWN, workspace="elsewhere"),
        [FEW.format("+41.2")],
    ),
    "the stand-in has no verdict": (
        once("abcdef", *UP, executor_model="stand-in"),
        ["No skill here can have a verdict."],
    ),
    "errors decide": (
        [row for name in "abcdef" for row in skill(name, ([1.0, None, None, None], [0.5]))],
        [f"{UNCLEAR}: errored runs decide: +50 pp."],
    ),
    "nothing is compared": ([run("1", SIDES[0], 1, 0.5)], []),
}


@pytest.mark.parametrize(("rows", "claims"), ANSWERS.values(), ids=ANSWERS)
def test_the_answer_over_skills(rows: Rows, claims: list[str]) -> None:
    found = of(rows)
    assert [answer.claim for answer in found.answers] == claims
    shown = " ".join(repr(found).split())
    assert ("No skill here has an eval" in shown) == (not claims)
    assert all(claim in shown for claim in claims)


def test_each_verdict_allows_for_those_that_could_have_been_one_and_leans_for_all_leans() -> None:
    draw = np.random.default_rng(0)
    rows = skill("clear", *CLEAR)
    for at in range(8):
        rates = draw.integers(0, 5, (3, 2, 3)) / 4
        rates[:, 0] = np.minimum(rates[:, 0] + 0.25 * (at > 3), 1)
        rows += skill(f"s{at}", *rates.tolist())
    for at, own in enumerate(([0.5, 1.0], [0.5, 0.5, 0.5], [1.0, 0.75, 1.0], [0.25])):
        rows += once([f"once-{at}"], *own)
    table = of(rows).table
    alone = {row["skill"]: row for row in sen.stats.deltas(workspace(runs=rows)).to_dicts()}
    able = [name for name, row in alone.items() if not row["verdict"].startswith("too few")]
    leaning = [name for name, row in alone.items() if row["lean_p"] is not None]
    assert (len(able) > 4, len(leaning)) == (True, 4)
    for names, column, how in ((able, "p", "holm-sidak"), (leaning, "lean_p", "fdr_bh")):
        raw = [min(alone[name][column], 1 - 1e-12) for name in names]  # of 1 it takes a logarithm
        found = dict(table.select("skill", f"{column}_adjusted").rows())
        assert [found.pop(name) for name in names] == pytest.approx(
            multipletests(raw, method=how)[1]
        )
        assert set(found.values()) == {None}
    for row in table.to_dicts():
        if row["verdict"] == "helps":
            assert row["p_adjusted"] <= 0.05
        elif alone[row["skill"]]["verdict"] == "helps":
            assert row["verdict"] == "unclear"
            assert row["low"] is None or row["low"] <= 0 <= row["high"]
            assert row["reason"].startswith("Not clear when corrected")
        if alone[row["skill"]]["lean"] != row["lean"]:
            assert row["lean"] == "no lean"
            assert row["lean_low"] <= 0 <= row["lean_high"]
    taken = sum(row["verdict"] == "helps" for row in alone.values())
    assert taken > table["verdict"].to_list().count("helps") > 0


def test_what_is_known_comes_first_then_what_leans_then_the_largest() -> None:
    found = of(
        once(["small"], 0.25, 0.0),
        once(["eight"], *[0.5] * 8),
        once(["leans"], *[1.0] * 4),
        once(["large"], -0.5),
        skill("clear", *CLEAR),
        skill("alike", *[[[1.0] * 3] * 2] * 3),
    )
    columns = ("skill", "scope", "verdict", "lean", "n_silent")
    assert found.table.select(columns).rows() == [
        ("clear", "suite", "helps", None, 0),
        ("eight", "population", "helps", "leans up", 0),
        ("leans", "suite", "too few runs", "leans up", 0),
        ("large", "suite", "too few runs", "no lean", 0),
        ("small", "suite", "too few runs", "no lean", 1),
        ("alike", "suite", "too few runs", "no lean", 3),
    ]
    own = "Individually: helps 2, leans up 1, undecided 3."
    assert own in found.answers[0].because
    assert (
        "Uninformative: 4 of 21 evals, where every run on both sides passes everything (3)"
        in "".join(line for block in blocks_of(found) for line in block.lines())
    )
    steps = dict(found.table.select("skill", "new_runs").rows())
    assert (steps["clear"], steps["leans"] is None) == (None, False)


def test_the_newest_iteration_that_compares_counts_and_models_are_rows_of_their_own() -> None:
    own = {"workspace": "a-workspace", "skill": "a", "iteration": "iteration-11"}
    small = once("b", -0.25, executor_model="small")
    mine, other = once("c", 0.25)
    found = of(
        once("a", 0.5, iteration="iteration-2"),
        once("a", -0.5, iteration="iteration-10"),
        [run("0", SIDES[0], 1, 1.0, **own)],
        once("b", 0.5, executor_model="large"),
        [row | {"run_number": 2} for row in small],
        [mine | {"tokens": 0}, other | {"tokens": 9, "cost_usd": 0.5}],
    )
    columns = ("skill", "iteration", "executor_model", "estimate", "tokens", "tokens_baseline")
    rows = found.table.select(*columns, "cost_usd", "cost_usd_baseline").rows()
    assert sorted(rows, key=str) == [
        ("a", "iteration-10", None, -0.5, *[None] * 4),
        ("b", "iteration-1", "large", 0.5, *[None] * 4),
        ("b", "iteration-1", "small", -0.25, *[None] * 4),
        ("c", "iteration-1", None, 0.25, 0, 9, None, 0.5),
    ]
    assert "Run by several models, each with its own row: b." in repr(found)
    assert found.answers[0].n_skills == 3
    assert found.answers[0].estimate == pytest.approx((-0.5 + 0.125 + 0.25) / 3)


def front(name: str, described: int = 39) -> str:
    return f"---\nname: {name}\ndescription: {'d' * described}\n---\n"


AS_RUN = "a-workspace/iteration-1/skill-snapshot/with_skill/SKILL.md"
NO_PART = {
    "a/evals/evals.json": "[]",
    "a/.cache/x.md": "x" * 40,
    "a/b-workspace/y.md": "y" * 40,
    "a/picture.png": b"\x89PNG\0" * 40,
}
PLACES: dict[str, tuple[dict[str, Any], tuple[int, int, int] | None]] = {
    "beside": ({"a/SKILL.md": front("a") + "b" * 400, "a/more.md": "m" * 40}, (10, 100, 10)),
    "among the host's skills": ({".claude/skills/a/SKILL.md": front("a")}, (10, 0, 0)),
    "by its name in another folder": ({"a-workspace/SKILL.md": front("a")}, (10, 0, 0)),
    "what is no part of it": ({"a/SKILL.md": front("a")} | NO_PART, (10, 0, 0)),
    "as run, before as it is": ({AS_RUN: front("a", 79), "a/SKILL.md": front("a")}, (20, 0, 0)),
    "of another name": ({"a-workspace/SKILL.md": front("b")}, None),
    "nowhere": ({}, None),
}


@pytest.mark.parametrize(("files", "tokens"), PLACES.values(), ids=PLACES)
def test_what_a_skill_takes_of_the_context(
    tmp_path: Any, files: dict[str, Any], tokens: tuple[int, int, int] | None
) -> None:
    for side, marks in zip(SIDES, "pf", strict=True):
        files = files | {f"a-workspace/iteration-1/eval-1/{side}/grading.json": graded(marks)}
    home = lay(tmp_path / "lib", files)
    columns = ("context_always", "context_opened", "context_files")
    for loaded in (home, home / "a-workspace"):
        found = sen.library(loaded)
        assert found.table.select(columns).rows() == [tokens or (None,) * 3]
        assert ("of every context" in repr(found)) == (tokens is not None)


def test_names_from_files_do_nothing_and_pages_are_the_same_for_the_same(tmp_path: Any) -> None:
    rows = once(HOSTILE, 0.5, 1.0)
    written = of(rows).write(tmp_path)
    markdown, html = (path.read_text("utf-8") for path in written)
    assert [path.name for path in written] == ["library.md", "library.html"]
    assert "<script>alert" not in html + markdown
    assert html.count("<svg") == 1
    assert [path.read_text("utf-8") for path in of(rows[::-1]).write(tmp_path)] == [markdown, html]
