"""A plan says what will be done, refuses what cannot be, and writes nothing."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from html import unescape
from itertools import groupby, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.models import Connection, StandIn
from skill_eval_nb.running import Limits, Plan, plan_runs
from skill_eval_nb.running.journal import Journal
from skill_eval_nb.running.protocol import Refused, no_such
from skill_eval_nb.running.spec import (
    make_cells,
    plain,
)
from skill_eval_nb.running.suite import folder_names
from skill_eval_nb.workspace.names import is_eval
from tests.corpus.build import lay
from tests.running.made_plans import EVALS, SKILL, Fake, make_skill, plan, steps_of

REAL = {
    "executor": Fake("real"),
    "executor_model": "claude-sonnet-5",
    "judge_model": "claude-opus-4-8",
}


def faults(folder: Path, **options) -> tuple[str, ...]:
    with pytest.raises(Refused) as caught:
        plan(folder, **options)
    return caught.value.faults


def begin(one: Plan) -> None:
    """What a start writes first."""
    one.folder.mkdir(parents=True, exist_ok=True)
    (one.folder / "journal.jsonl").write_text(json.dumps(one.fingerprint.event()) + "\n")


def done(one: Plan, count: int) -> None:
    names = ("timing", "structural", "judgings/1", "grading")
    for cell in one.cells[:count]:
        lay(one.run_of(cell).place, {f"{name}.json": {} for name in names})


def test_a_plan_writes_nothing_and_offers_each_side_what_it_names(tmp_path):
    made = plan(tmp_path)
    assert (made.iteration, len(made.todo)) == (1, 18)
    sides = Counter(cell.configuration for cell in made.cells)
    assert sides == {"with_skill": 9, "without_skill": 9}
    assert not (tmp_path / "ws").exists()
    make_skill(tmp_path / "old")
    (tmp_path / "old/SKILL.md").write_text(SKILL + "Older.\n")
    named = {"with_skill": tmp_path / "skill", "old_skill": tmp_path / "old", "bare": None}
    made = plan(tmp_path, configurations=named)
    assert made.configurations == ("with_skill", "old_skill", "bare")
    new, old, bare = (side.skill for side in made.sides)
    assert new.digest != old.digest
    assert old.files == ("SKILL.md", "scripts/help.py")
    assert bare is None


def test_every_fault_at_once(tmp_path):
    make_skill(tmp_path / "skill", [*EVALS, {"id": 1, "prompt": "Do"}])
    found = faults(
        tmp_path,
        runs=0,
        judgings=-1,
        concurrency=0,
        budget_usd=-1,
        iteration=0,
        limits=Limits(turns=0, seconds=float("inf")),
        configurations=["with_skill", "old_skill", "run-1", "../x"],
        executor=Fake("real", reason="there is no bubblewrap"),
        sandbox="docker",
        executor_options={"x": 1},
    )
    for one in (
        "evals 1 and 4 have the same id",
        "runs is 0",
        "judgings is -1",
        "concurrency is 0",
        "budget_usd is -1; it is a number of at least 0",
        "iteration is 0",
        "limits.turns is 0",
        "limits.seconds is inf",
        "configuration `old_skill`: which skill",
        "executor `real` cannot run here: there is no bubblewrap",
        "sandbox is 'docker'",
        "executor_options are for",
        "executor_model is not given",
    ):
        assert sum(one in fault for fault in found) == 1, one


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


def test_evals_are_chosen_by_id_or_name_and_wrong_ones_are_told(tmp_path):
    made = plan(tmp_path, evals_only=["Short log", 3])
    assert {cell.eval_id for cell in made.cells} == {"1", "3"}
    assert plan(tmp_path, evals_only=2).evals[0].name == "No log"
    found = faults(tmp_path, evals_only=["Shrt log", "1"])
    (one,) = found
    assert one == no_such("eval", "Shrt log", ["Short log", "No log", "eval-3"])
    assert "did you mean `Short log`" in one
    assert "names no eval" in faults(tmp_path, evals_only=[])[0]


def test_no_price_and_a_budget_do_not_go_together(tmp_path):
    options = {**REAL, "executor_model": "claude-sonet-5"}
    (one,) = faults(tmp_path, **options, budget_usd=1)
    assert "budget_usd is set" in one
    assert "Did you mean `claude-sonnet-5`" in one
    assert "SKILL_EVAL_NB_PRICES" in one
    made = plan(tmp_path, **options)
    assert made.estimate.usd is None
    assert made.estimate.tokens.low > 0
    assert any("No price is known" in one for one in made.warnings)


def test_what_may_not_be_meant_is_told(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    script = [{"type": "custom_script", "script": "true"}]
    scripted = {"id": 5, "prompt": "Do", "structural_expectations": script}
    evals = [*EVALS, {"id": 4, "prompt": "Do"}, scripted]
    make_skill(tmp_path / "skill", evals, skill_name="other")
    made = plan(
        tmp_path,
        **{**REAL, "judge_model": "claude-sonnet-5"},
        sandbox="none",
        configurations={"a": None, "b": None},
        connection=Connection("http://127.0.0.1:9", api_key_name="NO_SUCH_KEY"),
    )
    text = "\n".join(made.warnings)
    for one in (
        "`a` and `b` both offer no skill",
        "nothing to grade in eval-4",
        "custom_script expectations of eval-5 are not scored",
        "judge and executor are the same model",
        'sandbox="none"',
        "no budget is set",
        "but its folder is skill: hosts want them to be the same",
    ):
        assert one in text, one
    only = plan(tmp_path, configurations=["with_skill"], allow_scripts=True).warnings
    assert any("no baseline" in one for one in only)
    assert any("for skill `other`" in one for one in only)
    assert not any("custom_script" in one for one in only)
    keyless = plan(tmp_path, **REAL, connection=Connection(api_key_name="NO_SUCH_KEY"))
    assert any("NO_SUCH_KEY" in one for one in keyless.warnings)


def test_under_a_budget_each_run_has_a_limit_and_one_too_small_is_told(tmp_path):
    assert plan(tmp_path, **REAL).limits.usd is None
    made = plan(tmp_path, **REAL, budget_usd=100)
    run = max(part.usd.high / part.number for part in made.estimate.parts if part.what != "judging")
    assert made.limits.usd >= 4 * run - 1e-4
    free = plan(tmp_path, budget_usd=0)  # the stand-in costs nothing
    assert free.limits.usd == 0
    assert "budget" not in "\n".join(free.warnings)
    assert plan(tmp_path, **REAL, budget_usd=9, limits=Limits(usd=0.5)).limits.usd == 0.5
    none = "\n".join(plan(tmp_path, **REAL, budget_usd=0.01).warnings)
    assert "no run can be launched" in none
    few = plan(tmp_path, **REAL, budget_usd=0.02, limits=Limits(usd=0.01)).warnings
    assert "at most 2 instead of 8 go at a time" in "\n".join(few)
    assert "will end as partial" in "\n".join(few)


def test_more_of_the_same_continues_the_iteration(tmp_path):
    first = plan(tmp_path, runs=1, evals_only=[1])
    begin(first)
    done(first, 2)
    for options in (
        {"runs": 3},
        {"judgings": 2},
        {"budget_usd": 5},
        {"concurrency": 2},
        {"judgings": 0},
        {"retry_errored": True},
    ):
        made = plan(tmp_path, **options)
        assert made.iteration == 1, options
        assert {cell.key for cell in first.cells} <= {cell.key for cell in made.cells}
    assert len(plan(tmp_path, runs=3).todo) == 16
    twice = plan(tmp_path, runs=1, judgings=2, evals_only=[1]).todo
    assert [steps_of(one.missing) for one in twice] == [("judge 2", "grade")] * 2


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 1}, "seed"),
        ({"executor": Fake("offline", StandIn(), detail=1)}, "executor"),
        ({"executor": Fake("offline", StandIn(effect=0.2))}, "executor"),
        ({"executor_model": "stand-in-2"}, "executor_model"),
        ({"judge_model": "stand-in-judge-2"}, "judge"),
        ({"judge_per_dimension": True}, "judge"),
        ({"limits": Limits(turns=3)}, "limits"),
        ({"configurations": ["with_skill"]}, "skills"),
        ({"allow_scripts": True}, "allow_scripts"),
        ({"sandbox": "none"}, "sandbox"),
        ("SKILL.md", "skills (with_skill)"),
        ("evals/files/log.txt", "evals"),
    ],
)
def test_anything_that_results_depend_on_begins_the_next(tmp_path, change, named):
    first = plan(tmp_path)
    begin(first)
    if isinstance(change, str):
        with (tmp_path / "skill" / change).open("a") as file:
            file.write("More.\n")
        change = {}
    made = plan(tmp_path, **change)
    assert made.iteration == 2
    assert named in made.why_iteration
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
    assert "$20.00, of which $19.50 is spent" in repr(more)
    assert any("$0.50 that is left of the budget" in one for one in more.warnings)


def test_the_skill_is_staged_as_it_was_planned(tmp_path):
    made = plan(tmp_path)
    skill = made.staged("with_skill")
    assert skill.folder == made.folder / "skill-snapshot/with_skill"
    names = sorted(one.name for one in skill.folder.rglob("*") if one.is_file())
    assert names == ["SKILL.md", "help.py"]
    assert made.staged("without_skill") is None
    assert made.staged("with_skill") == skill
    (tmp_path / "skill/SKILL.md").write_text(SKILL + "More.\n")
    with pytest.raises(Refused, match="changed since the plan"):
        made.staged("with_skill")
    with pytest.raises(KeyError):
        made.staged("other")


# ── shown ──────────────────────────────────────────────────────────────────────────────────────


def test_the_page_escapes_what_files_say(tmp_path):
    nasty = "<script>alert(1)</script>&'\""
    make_skill(tmp_path / "skill", [{"id": 1, "name": nasty, "prompt": "Do"}], skill_name=nasty)
    (tmp_path / "skill" / "<img src=x>-workspace").mkdir()
    made = plan(tmp_path, executor=Fake("<b>real</b>"), executor_model="<i>m", judge_model="<u>j")
    page = made._repr_html_()
    for tag in ("<script", "<img", "<b>real", "<i>m", "<u>j"):
        assert tag not in page, tag
    for one in (nasty, "<b>real</b>", "<i>m", *made.warnings):
        assert one in unescape(page), one


# ── runs, their order and their folders ────────────────────────────────────────────────────────


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


# ── which iteration ────────────────────────────────────────────────────────────────────────────


def test_the_same_continues_and_another_begins_the_next(tmp_path):
    begin(plan(tmp_path, judgings=0))
    assert plan(tmp_path).iteration == 1  # a judge joins what nobody judged
    begin(plan(tmp_path, seed=1))
    assert [plan(tmp_path, seed=seed).iteration for seed in (0, 1)] == [1, 2]
    new = plan(tmp_path, seed=3)
    wanted = (3, "new: in iteration-2 seed (1, now 3) differed")
    assert (new.iteration, new.why_iteration) == wanted
    (tmp_path / "ws/iteration-4/eval-0").mkdir(parents=True)  # another tool's
    (tmp_path / "ws/iteration-master").mkdir()
    new = plan(tmp_path, seed=3)
    assert new.iteration == 5
    assert "no journal" in new.why_iteration


@pytest.mark.parametrize("make", [os.mkfifo, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_what_is_no_folder_is_no_iteration_and_is_named(tmp_path, make):
    begin(plan(tmp_path))
    make(tmp_path / "ws/iteration-2")
    assert plan(tmp_path).iteration == 1
    new = plan(tmp_path, seed=1)
    wanted = (3, "new: in iteration-2 nothing can be kept, as it is not a folder")
    assert (new.iteration, new.why_iteration) == wanted
    (fault,) = faults(tmp_path, seed=1, iteration=2)
    assert fault.startswith("iteration-2 is there, but nothing can be kept, as it is not a folder")


def test_an_empty_iteration_is_taken_and_one_that_somebody_else_filled_is_not(tmp_path):
    begin(plan(tmp_path))
    folder = tmp_path / "ws/iteration-2"
    folder.mkdir()
    made = plan(tmp_path, seed=1)
    assert (made.iteration, made.why_iteration) == (2, "empty so far")
    assert plan(tmp_path, seed=1, iteration=2).iteration == 2
    lay(folder, {"eval-1/with_skill/grading.json": {}})
    begin(plan(tmp_path, seed=1))
    made = plan(tmp_path, seed=1)
    assert (made.iteration, made.why_iteration[:9]) == (3, "continued")
    assert plan(tmp_path, seed=2).iteration == 4


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
