"""Without a judged expectation the figures are those of the others."""

from __future__ import annotations

import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from skill_eval_nb.stats import deltas
from tests.corpus.build import lay
from tests.improving.trying.made import EVALS, JUDGED, OTHER, SIDES, draft, planted, suite, world


def judged(**more):
    """A draft of judged expectations."""
    return draft(*more.pop("new", ()), part="expectations", **more)


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    """A judge who passes the first of two expectations with the skill alone."""
    folder = tmp_path_factory.mktemp("verdicts")
    return sen.load(world(folder, planted(4, 4), judged=lambda _, side, __: side == SIDES[0]))


def test_what_separates_goes_and_the_difference_with_it(ws):
    tried = try_out(judged(target=JUDGED), ws)
    assert (tried.replaced.says, tried.separates_better) == ("separates", None)
    assert tried.by_run["pass_rate_before"].equals(ws.runs["pass_rate"])
    assert set(tried.by_run["pass_rate_after"]) == {1.0}
    row = tried.suite.row(0, named=True)
    assert row["estimate_before"] == deltas(ws)["estimate"].item() == 0.5
    assert (row["estimate_after"], row["p_after"]) == (0, 1)
    assert "+0.5" in tried.answer


def test_of_some_evals_the_others_stay(ws):
    tried = try_out(judged(target=OTHER, evals=EVALS[:1]), ws)
    assert tried.by_run["eval_id"].unique().to_list() == ["1"]
    rates = tried.by_run.group_by("configuration").agg(pl.col("pass_rate_after").mean())
    assert dict(rates.iter_rows()) == {"with_skill": 1.0, "without_skill": 0.0}
    assert tried.suite["estimate_after"].item() == pytest.approx((1 + 3 * 0.5) / 4)


def test_what_comes_is_not_counted_and_that_is_said(ws):
    tried = try_out(judged(target=JUDGED, new=("one half", "the other"), kind="split"), ws)
    assert set(tried.by_run["pass_rate_after"]) == {1.0}
    assert "The 2 expectations in its place would have to be judged" in tried.notes[0]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (judged(new=("a new one",)), "No judge has decided it yet"),
        (judged(target="no such"), "No stored run has a verdict on no such."),
    ],
)
def test_what_nobody_has_decided_is_not_tried(ws, made, said):
    tried = try_out(made, ws)
    assert tried.status == "not tried"
    assert tried.answer.startswith(said)


def test_an_expectation_goes_by_its_name_where_verdicts_tell_its_text_alone(tmp_path):
    named = suite()
    for one in named["evals"]:
        one["expectations"] = [{"name": "sources", "text": JUDGED}, OTHER]
    judged_so = world(tmp_path, planted(4, 4), judged=lambda _, side, __: side == SIDES[0])
    plain = try_out(judged(target=JUDGED), sen.load(judged_so))
    by_name = try_out(judged(target="sources"), sen.load(lay(judged_so, {"evals.json": named})))
    assert by_name.status == "tried"
    assert by_name.by_run.equals(plain.by_run)


def test_without_two_runs_of_an_eval_there_is_a_difference_and_no_p(tmp_path):
    once = world(tmp_path, planted(1, 1), runs=1, judged=lambda _, side, __: side == SIDES[0])
    tried = try_out(judged(target=JUDGED), sen.load(once))
    none = "no p without two runs of an eval on a side"
    assert f"goes from +0.5 ({none}) to 0 ({none})." in tried.answer
