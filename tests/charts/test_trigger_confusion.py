"""The confusion table, drawn."""

from __future__ import annotations

from skill_eval_nb.charts import trigger_confusion
from skill_eval_nb.stats import trigger_confusion as counted
from tests.charts.specs import rows_of, subtitle_of, texts_of, title_of
from tests.charts.test_trigger_rates import ASKED, ZERO
from tests.charts.worlds import workspace
from tests.stats.asked import attempts


def cells_of(chart) -> dict[tuple[str, str], list[str]]:
    """The numbers by class and outcome: by query, by run."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in sorted(rows_of(chart, "should", "hue"), key=lambda row: row["by"]):
        found.setdefault((row["should"], row["outcome"]), []).append(row["text"])
    return found


def test_cells_are_what_the_statistic_counts() -> None:
    cells = cells_of(trigger_confusion(ASKED))
    for row in counted(ASKED).to_dicts():
        should = "should trigger" if row["should_trigger"] else "should not trigger"
        expected = [str(row["n_queries"]), str(row["n_runs"])]
        assert cells[should, row["outcome"]] == expected


def test_the_title_has_recall_and_precision() -> None:
    title = title_of(trigger_confusion(ASKED))
    assert title.startswith("Recall 0.67 (")
    assert ", precision 0.67 (" in title
    assert title.endswith("(n = 15 runs of 5 queries)")


def test_right_is_green_and_wrong_is_purple_the_more_the_darker() -> None:
    rows = rows_of(trigger_confusion(attempts((True, "tttn"), (False, "nnnn"))), "hue")
    hues = {(row["should"], row["outcome"], row["share"]): row["hue"] for row in rows}
    assert hues["should trigger", "triggered", "75%"] == 0.875
    assert hues["should trigger", "not triggered", "25%"] == 0.375
    assert hues["should not trigger", "not triggered", "100%"] == 1


def test_errored_ones_stand_apart_where_there_are_any() -> None:
    assert {"errored", "not run"} <= set(texts_of(trigger_confusion(ASKED)))
    apart = [row for row in rows_of(trigger_confusion(ASKED), "hue") if row["hue"] is None]
    assert {row["outcome"] for row in apart} == {"errored", "not run"}
    assert "errored" not in texts_of(trigger_confusion(ZERO))


def test_what_was_not_counted_is_a_dash() -> None:
    keys = {"workspace": "w", "skill": "s", "should_trigger": True}
    rows = [keys | {"query": "q", "trigger_rate": 1.0}]
    cells = cells_of(trigger_confusion(workspace(triggers=rows)))
    assert cells["should trigger", "triggered"] == ["1", "–"]


def test_queries_that_nobody_labelled_have_a_row() -> None:
    chart = trigger_confusion(attempts((True, "t"), (False, "n"), (None, "t")))
    assert "nobody said" in texts_of(chart)
    assert "at least 50% of its scored runs" in subtitle_of(chart)
