"""Run 1 with run 1 of the same eval; whatever has no partner is told."""

from __future__ import annotations

import json
import shutil

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving.comparing.pairs import pairs_of
from skill_eval_nb.improving.comparing.sides import sides_of
from skill_eval_nb.running.refused import Refused
from tests.checkout import ROOT
from tests.corpus.build import row
from tests.improving.comparing.made import workspace

NEW, OLD = "with_skill", "without_skill"
AT = "iteration-2/eval-{0}-ledger-{0}/{1}/run-{2}"


@pytest.fixture
def path(tmp_path):
    return workspace(tmp_path, evals=2, runs=2)


def paired(path, a=NEW, b=OLD, evals=None):
    pairs, left = pairs_of(*sides_of(sen.load(path), a, b), evals)
    return [(one.a.within, one.b.within) for one in pairs], dict(left)


def expected(*cells):
    return [(AT.format(n, NEW, run), AT.format(n, OLD, run)) for n, run in cells]


def test_runs_of_a_number_are_paired(path) -> None:
    assert paired(path) == (expected((1, 1), (1, 2), (2, 1), (2, 2)), {})


def test_keys_are_opaque_and_the_same_whoever_is_named_first(path) -> None:
    ws = sen.load(path)
    forth, _ = pairs_of(*sides_of(ws, NEW, OLD))
    back, _ = pairs_of(*sides_of(ws, OLD, NEW))
    above, _ = pairs_of(*sides_of(sen.load(path.parent), NEW, OLD))
    assert [one.key for one in forth] == [one.key for one in back] == [one.key for one in above]
    assert len({one.key for one in forth}) == 4


def test_what_cannot_be_compared_is_told_and_so_is_its_partner(path) -> None:
    shutil.rmtree(path / AT.format(1, NEW, 2) / "outputs")
    timing = path / AT.format(2, OLD, 1) / "timing.json"
    timing.write_text(json.dumps({"status": "errored", "reason": "it crashed"}))
    pairs, left = paired(path)
    assert pairs == expected((1, 1), (2, 2))
    assert left == {
        "eval 1, with_skill, run 2 of iteration-2": "it has no outputs",
        "eval 1, without_skill, run 2 of iteration-2": "with_skill has no such run of the same "
        "eval",
        "eval 2, without_skill, run 1 of iteration-2": "the run is errored (it crashed)",
        "eval 2, with_skill, run 1 of iteration-2": "without_skill has no such run of the same "
        "eval",
    }

    assert paired(path, evals=[2])[1].keys() == {name for name in left if "eval 2" in name}


def test_a_side_is_not_compared_with_itself_whatever_it_is_called(path) -> None:
    for same in (NEW, "iteration-2", "iteration-2/with_skill", path):
        with pytest.raises(Refused, match="both sides are with_skill of iteration-2"):
            paired(path, NEW, same)


def test_an_error_of_the_judge_is_none_of_the_run(path) -> None:
    timing = path / AT.format(2, OLD, 1) / "timing.json"
    timing.write_text(json.dumps({"status": "errored", "reason": "judge: it refused"}))
    assert len(paired(path)[0]) == 4


def test_runs_that_only_a_benchmark_tells_of_are_told(path) -> None:
    told = {"runs": [row(9, side, "p") for side in (NEW, OLD)]}
    (path / "iteration-2" / "benchmark.json").write_text(json.dumps(told))
    pairs, left = paired(path)
    assert len(pairs) == 4
    assert set(left) == {f"eval 9, {side}, run 1 of iteration-2" for side in (NEW, OLD)}
    assert all("no folder of its own" in reason for reason in left.values())


def test_evals_are_chosen_by_id_or_name(path) -> None:
    assert paired(path, evals=["ledger-2"])[0] == expected((2, 1), (2, 2))
    assert paired(path, evals=[1])[0] == expected((1, 1), (1, 2))
    with pytest.raises(Refused, match="there is no eval `ledger-9`; did you mean `ledger-"):
        paired(path, evals=["ledger-9"])


def test_an_eval_that_is_not_defined_is_told(path) -> None:
    suite = json.loads((path / "evals.json").read_text())
    del suite["evals"][1]
    (path / "evals.json").write_text(json.dumps(suite))
    pairs, left = paired(path)
    assert pairs == expected((1, 1), (1, 2))
    assert all("is not defined" in reason for reason in left.values())
    assert len(left) == 4


def test_a_workspace_of_tables_has_no_outputs(path) -> None:
    tables = sen.Workspace.from_tables({"runs": sen.load(path).runs})
    with pytest.raises(Refused, match="made of tables"):
        pairs_of(*sides_of(tables, NEW, OLD))


def test_several_workspaces_are_each_compared_within_themselves(path, tmp_path) -> None:
    workspace(tmp_path, evals=1, runs=1, name="second-workspace")
    pairs, left = pairs_of(*sides_of(sen.load(tmp_path), NEW, OLD))
    assert left == []
    assert all(one.a.stored.workspace == one.b.stored.workspace for one in pairs)
    assert len(pairs) == 5
    with pytest.raises(Refused, match="must be one alone"):
        pairs_of(*sides_of(sen.load(path), OLD, tmp_path))


def test_runs_without_a_folder_of_their_own_are_told_apart_too() -> None:
    ws = sen.load(ROOT / "data" / "test-cases-workspace")
    (configuration,) = set(ws.polars("runs")["configuration"])
    with pytest.raises(Refused, match="name two that differ"):
        pairs_of(*sides_of(ws, configuration, "none"))
