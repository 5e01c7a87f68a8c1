"""How a measurement shows itself: every text of others is escaped."""

from __future__ import annotations

from skill_eval_nb.triggers import Query

from .made import FLY, OPENED, measured, used, went

EVIL = Query("<script>alert(1)</script>", should_trigger=True)


def test_a_notebook_sees_no_markup_of_others(tmp_path):
    run = went(used("Bash", command="<img src=x>"))
    found = measured(tmp_path, EVIL, run=lambda task: run, description="<b>builds</b>")
    shown = found._repr_html_()
    assert not any(one in shown for one in ("<script", "<img", "<b>"))
    assert "&lt;script&gt;" in shown
    assert "used Bash: &lt;img src=x&gt;" in shown


def test_the_text_has_rates_scores_and_doubts(tmp_path):
    shown = repr(measured(tmp_path, FLY, run=lambda task: OPENED))
    assert "kites with no other skill, measured with stand-in: done" in shown
    assert "3 of 3 (44% to 100%)  should  Build me a kite" in shown
    assert "doubt: " in shown


def test_attempts_in_pandas_have_the_same_rows(tmp_path):
    found = measured(tmp_path, run=lambda task: OPENED)
    assert found.attempts_table("pandas").shape == found.attempts_table().shape == (6, 11)
