"""A plan says what will be done, refuses what cannot be, and writes nothing."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from enum import Enum
from html import unescape
from itertools import groupby, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.models import Connection, Prices, StandIn
from skill_eval_nb.models.usage import Rates
from skill_eval_nb.running import Limits, Plan, plan_runs
from skill_eval_nb.running.journal import Journal
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.running.spec import make_cells, plain
from skill_eval_nb.running.suite import folder_names
from skill_eval_nb.workspace.folders import is_eval
from tests.corpus.build import lay
from tests.golden import hold, lines_of
from tests.running.made_jobs import EVALS, Writer, make_skill, plan, steps_of

DEAR, CHEAP = Rates(6, 30, 0.6, 7.5, 12, 0.5), Rates(3, 15, 0.3, 3.75, 6, 0.5)
PRICES = Prices("2026-01", {"claude-opus-4-8": DEAR, "claude-sonnet-5": CHEAP})
REAL = {
    "executor": Writer(name="real"),
    "executor_model": "claude-sonnet-5",
    "judge_model": "claude-opus-4-8",
}


def begin(one: Plan) -> None:
    """What a start writes first."""
    lay(one.folder, {"journal.jsonl": json.dumps(one.fingerprint.event()) + "\n"})


def done(one: Plan, count: int) -> None:
    names = ("timing", "structural", "judgings/1", "grading")
    for cell in one.cells[:count]:
        lay(one.run_of(cell).place, {f"{name}.json": {} for name in names})


WRONG: dict[str, Any] = {"runs": 0, "judgings": -1, "concurrency": 0, "iteration": 0}
WRONG |= {"budget_usd": -1, "limits": Limits(turns=0, seconds=float("inf")), "sandbox": "docker"}
WRONG |= {"configurations": ["with_skill", "old_skill", "run-1", "../x"]}
WRONG |= {"executor": Writer(name="real", reason="no box"), "executor_options": {"x": 1}}
MISSPELT = {**REAL, "executor_model": "claude-sonet-5"}
SAME_MODEL = {**REAL, "judge_model": "claude-sonnet-5"}
PLANS: dict[str, dict[str, Any]] = {
    "the stand-in": {},
    "everything wrong": WRONG,
    "evals by name and id": {"evals_only": ["Short log", 3]},
    "evals misspelt": {"evals_only": ["Shrt log", "1"]},
    "no evals": {"evals_only": []},
    "a side alone, with scripts": {"configurations": ["with_skill"], "allow_scripts": True},
    "no skill twice": {**SAME_MODEL, "sandbox": "none", "configurations": {"a": None, "b": None}},
    "sides that are no names of folders": {"configurations": {"run-1": None, "../x": None}},
    "a model misspelt": MISSPELT,
    "a model misspelt, under a budget": {**MISSPELT, "budget_usd": 1},
    "no key": {**REAL, "connection": Connection(api_key_name="NO_SUCH_KEY")},
    "judged thrice, by batch": {**REAL, "judgings": 3, "judge_batch": True},
    "judged by dimension": {**REAL, "judge_per_dimension": True, "limits": Limits(turns=3)},
    "a budget that is enough": {**REAL, "budget_usd": 100},
    "a budget of nothing, which is enough": {"budget_usd": 0},
    "a limit of a run": {**REAL, "budget_usd": 9, "limits": Limits(usd=0.5)},
    "a budget for no run": {**REAL, "budget_usd": 0.01},
    "a budget for a few": {**REAL, "budget_usd": 0.02, "limits": Limits(usd=0.01)},
    "looks": {**REAL, "looks": (2, 4), "runs": None},
}


def test_what_plans_say_is_what_they_said(tmp_path, monkeypatch):
    """Faults, or warnings, sides, sizes and prices; the page says no less."""
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    script = {"structural_expectations": [{"type": "custom_script", "script": "true"}]}
    more = [{"id": 4, "prompt": "Do"}, {"id": 5, "prompt": "Do", **script}]
    make_skill(tmp_path / "skill", [*EVALS, *more], skill_name="other")
    lines, nowhere = [], Connection("http://127.0.0.1:9")
    for name, options in PLANS.items():
        lines += [f"── {name}"]
        try:
            made = plan(tmp_path, **{"connection": nowhere, "prices": PRICES, **options})
        except Refused as refused:
            lines += refused.faults
        else:
            told = {"limits": asdict(made.limits), "runs": len(made.todo)}
            lines += lines_of(told | {"estimate": asdict(made.estimate)})
            lines += made.warnings
            for one in made.warnings:
                assert one in unescape(made._repr_html_())
    assert not (tmp_path / "ws").exists(), "a plan writes nothing"
    hold("plans", "\n".join(lines).replace(str(tmp_path), "HOME").splitlines())


@pytest.mark.parametrize(
    ("what", "target"),
    [("evals", "nowhere"), ("evals", "evals"), ("workspace", "workspace"), ("skill", "skill")],
)
def test_a_link_that_leads_nowhere_is_a_fault(tmp_path, what, target):
    make_skill(tmp_path / "made")
    (tmp_path / what).symlink_to(tmp_path / target)
    given = {"skill": tmp_path / "made", what: tmp_path / what}
    with pytest.raises(Refused, match=f"{tmp_path / what} (is a link|does not exist)"):
        plan_runs(**given)


SAME: list[dict[str, Any]] = [{"runs": 3}, {"judgings": 2}, {"judgings": 0}, {"budget_usd": 5}]
SAME += [{"concurrency": 2}, {"retry_errored": True}]
OTHER = {
    "seed": {"seed": 1},
    "executor": {"executor": Writer(name="offline", stand_in=StandIn(), seed=1)},
    "executor ": {"executor": Writer(name="offline", stand_in=StandIn(effect=0.2))},
    "executor_model": {"executor_model": "stand-in-2"},
    "judge": {"judge_model": "stand-in-judge-2"},
    "judge ": {"judge_per_dimension": True},
    "limits": {"limits": Limits(turns=3)},
    "skills": {"configurations": ["with_skill"]},
    "allow_scripts": {"allow_scripts": True},
    "sandbox": {"sandbox": "none"},
    "skills (with_skill)": "SKILL.md",
    "evals": "evals/files/log.txt",
}
"""What results depend on, by what is said of it."""


def test_more_of_the_same_continues_and_what_results_depend_on_begins_the_next(tmp_path):
    first = plan(tmp_path, runs=1)
    begin(first)
    done(first, 2)
    for same in SAME:
        made = plan(tmp_path, **{"runs": 1, **same})
        assert made.iteration == 1, same
        assert {cell.key for cell in first.cells} <= {cell.key for cell in made.cells}
    assert len(plan(tmp_path, runs=3).todo) == 16
    twice = plan(tmp_path, runs=1, judgings=2).todo
    assert [steps_of(one.missing) for one in twice][:2] == [("judge 2", "grade")] * 2
    for named, change in OTHER.items():
        if isinstance(change, str):
            with (tmp_path / "skill" / change).open("a") as file:
                file.write("More.\n")
        made = plan(tmp_path, runs=1, **(change if isinstance(change, dict) else {}))
        assert made.iteration == 2, named
        assert named.strip() in made.why_iteration
        assert {cell.key for cell in made.cells}.isdisjoint(cell.key for cell in first.cells)


def test_the_estimate_is_of_what_is_missing_and_what_was_spent_counts(tmp_path):
    options = {**REAL, "budget_usd": 20, "limits": Limits(usd=1.0)}
    first = plan(tmp_path, **options)
    assert first.spent_usd == 0
    journal = Journal(first.folder, first.fingerprint.event())
    journal.add("finished", launch=journal.launch("execute", "k", 1.0), usd=19.5)
    journal.close()
    done(first, 18)
    rest = plan(tmp_path, **options)
    assert (rest.iteration, rest.todo, rest.spent_usd) == (1, (), 19.5)
    assert (rest.estimate.calls.high, rest.estimate.usd.high) == (0, 0)
    assert "everything is done" in repr(rest)
    more = plan(tmp_path, **options, runs=4)
    assert more.estimate.usd.high == pytest.approx(first.estimate.usd.high / 3)
    assert "$20.00; $19.50 is spent" in repr(more)
    assert any("$0.50 that is left of the budget" in one for one in more.warnings)


# ── runs, their order and their folders ──────────────────────────────────────────────────────────


def order(count: int, sides: list[str], runs: int, seed: int = 0, fingerprint: str = "f"):
    evals: Any = [SimpleNamespace(id=f"{n}", folder=f"eval-{n}", name="") for n in range(count)]
    return make_cells(evals, sides, runs, seed=seed, iteration=1, fingerprint=fingerprint)


@given(
    count=st.integers(1, 12),
    sides=st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True),
    runs=st.integers(1, 6),
    seed=st.integers(0, 2**40),
)
def test_every_cell_once_in_blocks_with_the_sides_of_an_eval_together(count, sides, runs, seed):
    cells = order(count, sides, runs, seed)
    wanted = Counter(product(map(str, range(count)), sides, range(1, runs + 1)))
    assert Counter((c.eval_id, c.configuration, c.run_number) for c in cells) == wanted
    assert [c.run_number for c in cells] == sorted(c.run_number for c in cells)
    for _, block in groupby(cells, key=lambda c: c.run_number):
        pairs = [[c.configuration for c in pair] for _, pair in groupby(block, lambda c: c.eval_id)]
        assert len(pairs) == count  # an eval's cells stand together, once a block
        assert all(sorted(pair) == sorted(sides) for pair in pairs)
    keys = {c.key for c in cells}
    assert len(keys) == len({c.folder for c in cells}) == len(cells)
    assert set("".join(keys)) <= set("0123456789abcdef")  # they tell nothing
    assert keys.isdisjoint(c.key for c in order(count, sides, runs, seed, "another plan"))
    more = order(count + 3, sides, runs + 2, seed)
    assert [c for c in more if c.key in keys] == list(cells)


IDS = st.integers(0, 99).map(str) | st.text(max_size=8)


@given(st.lists(st.tuples(IDS, st.text(max_size=90)), max_size=8))
def test_folder_names_are_safe_known_as_evals_and_each_once(named):
    names = folder_names(named)
    assert len(set(names)) == len(names) == len(named)
    for name in names:
        assert is_eval(name)
        assert not {"/", "\0"} & set(name)
        assert name not in (".", "..")
        assert len(name) < 100


# ── which iteration ──────────────────────────────────────────────────────────────────────────────


def test_it_is_the_one_that_was_begun_or_the_next_that_nobody_else_has_filled(tmp_path):
    def chosen(seed: int, **more: Any) -> tuple[int, str]:
        made = plan(tmp_path, seed=seed, **more)
        return made.iteration, made.why_iteration

    begin(plan(tmp_path, judgings=0))
    assert plan(tmp_path).iteration == 1  # a judge joins what nobody judged
    lay(tmp_path / "ws/iteration-2", {})
    assert chosen(1) == (2, "still empty")
    assert chosen(1, iteration=2)[0] == 2
    begin(plan(tmp_path, seed=1))
    assert [chosen(seed)[0] for seed in (0, 1)] == [1, 2]
    assert chosen(3) == (3, "new: in iteration-2 seed (1, now 3) differed")
    lay(tmp_path / "ws/iteration-4/eval-0", {})  # another tool's
    lay(tmp_path / "ws/iteration-master", {})
    assert chosen(3)[0] == 5
    assert "no journal" in chosen(3)[1]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_what_is_no_folder_is_no_iteration_and_is_named(tmp_path, make):
    begin(plan(tmp_path))
    make(tmp_path / "ws/iteration-2")
    assert plan(tmp_path).iteration == 1
    new, why = plan(tmp_path, seed=1), "it is not a folder"
    assert (new.iteration, new.why_iteration) == (3, f"new: in iteration-2 {why}")
    with pytest.raises(Refused, match=f"^iteration-2 exists, but {why}"):
        plan(tmp_path, seed=1, iteration=2)


def test_a_value_is_the_same_on_every_machine_and_forgets_what_changes_nothing():
    class Kind(Enum):
        A = "a"

    @dataclass
    class Options:
        path: Path
        kinds: frozenset[str]
        call: object
        own: object = field(default=None, compare=False)

    given = [Options(Path("a/b"), frozenset("cab"), len, object()), Kind.A, 1.5, None]
    told = {"is": "Options", "path": "a/b", "kinds": ["a", "b", "c"], "call": "len"}
    assert json.loads(json.dumps(plain(given))) == [told, "a", 1.5, None]
