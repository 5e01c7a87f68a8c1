"""The neutral document: its figures against plain Python, and what is absent."""

import statistics
from functools import cache

import pytest

from skill_eval_nb.documents import dump
from skill_eval_nb.report import benchmark
from tests.report.made import (
    balanced,
    check,
    in_iterations,
    keys,
    one_side,
    run,
    score,
    stated,
    workspace,
)


def only(ws, **options):
    (one,) = benchmark(ws, **options)
    return one


@cache
def plain():
    """The document of two evals and two sides, with nothing else known."""
    return only(workspace(runs=balanced()))


def values(rows, configuration, column):
    return [row[column] for row in rows if row["configuration"] == configuration]


def test_the_summary_is_that_of_plain_python():
    rows = balanced()
    summary = plain().run_summary
    for name in ("with_skill", "without_skill"):
        for metric in ("pass_rate", "time_seconds", "tokens"):
            given = values(rows, name, metric)
            stats = getattr(summary[name], metric)
            assert stats.mean == pytest.approx(statistics.fmean(given), abs=1e-4)
            assert stats.stddev == pytest.approx(statistics.stdev(given), abs=1e-4)
            assert (stats.min, stats.max) == (min(given), max(given))


@pytest.mark.parametrize("baseline", ["without_skill", "old_skill", "a_baseline"])
def test_delta_is_with_minus_baseline_whatever_the_names_sort_to(baseline):
    summary = only(workspace(runs=balanced(baseline))).run_summary
    assert list(summary) == ["with_skill", baseline, "delta"]
    delta = summary["delta"]
    assert (delta.pass_rate, delta.time_seconds, delta.tokens) == ("+0.38", "+13.0", "+1700")


def test_a_figure_that_no_run_has_is_absent():
    rows = [row | {"tokens": None} for row in balanced()]
    written = dump(only(workspace(runs=rows)))
    assert "tokens" not in written["run_summary"]["with_skill"]
    assert "tokens" not in written["run_summary"]["delta"]
    assert "tokens" not in written["runs"][0]["result"]
    assert "cost_usd" not in written["runs"][0]["result"]


def test_a_run_that_errored_has_no_pass_rate_and_is_named():
    one = only(workspace(runs=[*balanced(), run("2", "with_skill", 3, None)]))
    (errored,) = (one for one in one.runs if one.run_number == 3)
    assert errored.result.pass_rate is None
    assert errored.notes == ["status: errored"]
    (told,) = (note for note in one.notes if "of 9 runs 1 errored" in note)
    assert "eval 2 with_skill run 3" in told
    assert one.run_summary["with_skill"].pass_rate.mean == 0.8125  # of the four that were graded


def test_the_time_is_the_newest_of_the_data_or_the_one_given():
    rows = balanced()[:2]
    rows[0]["started_at"] = "2026-01-15T10:30:00Z"
    rows[1]["started_at"] = "2026-01-15T11:00:00+02:00"
    ws = workspace(runs=rows)
    assert only(ws).metadata.timestamp == "2026-01-15T10:30:00Z"
    assert only(ws, timestamp="2026-02-01T00:00:00Z").metadata.timestamp == "2026-02-01T00:00:00Z"
    assert plain().metadata.timestamp is None


def test_the_metadata_say_what_was_run():
    rows = balanced(executor_model="model-a", judge_model="model-b")
    metadata = only(workspace(runs=rows)).metadata
    assert metadata.skill_name == "tdd"
    assert (metadata.executor_model, metadata.analyzer_model) == ("model-a", "model-b")
    assert metadata.evals_run == [1, 2]
    assert metadata.runs_per_configuration == 2
    assert metadata.iteration == 1


def test_each_model_has_a_benchmark_of_its_own():
    rows = balanced(executor_model="model-b")
    rows += [row | {"run_number": row["run_number"] + 2} for row in balanced(executor_model="a")]
    rows[0] |= {"pass_rate": 0.0}
    made = benchmark(workspace(runs=rows))
    assert [one.metadata.executor_model for one in made] == ["a", "model-b"]
    assert [len(one.runs) for one in made] == [8, 8]
    assert [one.run_summary["with_skill"].pass_rate.mean for one in made] == [0.8125, 0.5625]

    rows = balanced()
    for row in rows:
        row["executor_model"] = f"of {row['configuration']}"
    assert only(workspace(runs=rows)).metadata.executor_model == "of with_skill, of without_skill"


def test_uneven_numbers_of_runs_and_another_delta_by_pairs_are_said():
    one = only(workspace(runs=[*balanced(), run("2", "with_skill", 3, 0.0)]))
    assert one.metadata.runs_per_configuration == 3
    assert any("2 to 3 runs" in note for note in one.notes)
    assert one.run_summary["delta"].pass_rate == "+0.21"  # 0.65 - 0.4375
    assert any(note.endswith(": pass rate +25 pp against +21.3 pp.") for note in one.notes)


def test_of_three_configurations_the_first_two_are_compared():
    rows = [*balanced(), run("1", "old_skill", 1, 0.5), run("2", "old_skill", 1, 0.5)]
    one = only(workspace(runs=rows))
    assert list(one.run_summary) == ["with_skill", "without_skill", "old_skill", "delta"]
    assert one.run_summary["delta"].pass_rate == "+0.38"
    assert "delta is with_skill minus without_skill, not old_skill." in one.notes


def test_one_configuration_has_no_delta():
    one = only(workspace(runs=one_side()))
    assert list(one.run_summary) == ["with_skill"]
    assert any("nothing to compare" in note for note in one.notes)


def test_sides_without_a_common_eval_have_no_delta():
    rows = [run("1", "with_skill", 1, 1.0), run("2", "without_skill", 1, 0.0)]
    one = only(workspace(runs=rows))
    assert one.run_summary["delta"].pass_rate is None
    assert any(note.startswith("2 of 2 evals cannot be compared") for note in one.notes)


def test_ids_are_numbers_only_where_they_are_written_as_such():
    rows = [run(name, "with_skill", 1, 1.0) for name in ("0", "7", "007", "1.0", "login", "-1")]
    found = {one.eval_id for one in only(workspace(runs=rows)).runs}
    assert found == {0, 7, "007", "1.0", "login", "-1"}


def test_evals_are_in_natural_order():
    rows = [run(name, side, 1, 1.0) for name in ("10", "9") for side in ("old_skill", "with_skill")]
    runs = only(workspace(runs=rows)).runs
    expected = [(at, side) for at in (9, 10) for side in ("with_skill", "old_skill")]
    assert [(one.eval_id, one.configuration) for one in runs] == expected


def test_the_expectations_are_those_that_the_pass_rate_counts():
    first, second = balanced()[:2]
    checks = [
        check(first, "judged", True),
        check(first, "a file is there", False, layer="structural"),
        check(second, "a file is there", None, layer="structural"),
    ]
    one = only(workspace(runs=[first, second], expectations=checks))
    shown = [[(each.text, each.passed, each.evidence) for each in r.expectations] for r in one.runs]
    assert shown == [[("judged", True, "line 3")], [("a file is there", None, "line 3")]]


def test_a_dimension_is_the_mean_of_its_judgings():
    first = balanced()[0]
    scores = [score(first, "clarity", value, at) for at, value in enumerate((3, 4, None), 1)]
    one = only(workspace(runs=[first], rubric_scores=scores))
    assert one.runs[0].rubric_scores["clarity"].score == 3.5
    dimension = one.run_summary["with_skill"].rubric_dimensions["clarity"]
    assert (dimension.mean, dimension.stddev) == (3.5, None)  # one run: its spread is not known


def test_notes_keep_to_their_run_and_an_analysts_to_the_benchmark():
    first = balanced()[0]
    flaky = {**keys(first), "kind": "analyst", "text": "looks flaky"}
    notes = [flaky, flaky, {**keys(first), "kind": "workaround", "text": "typed it by hand"}]
    one = only(workspace(runs=[first], notes=notes))
    assert one.runs[0].notes == ["typed it by hand"]
    assert one.notes.count("looks flaky") == 1


def test_stated_figures_stand_where_there_are_no_runs():
    one = only(
        workspace(
            stated=stated(
                ("with_skill", "pass_rate", "mean", 0.85),
                ("with_skill", "pass_rate", "stddev", 0.05),
                ("without_skill", "pass_rate", "mean", 0.35),
                ("delta", "pass_rate", "value", 0.5),
            )
        )
    )
    assert one.runs == []
    assert one.run_summary["with_skill"].pass_rate.mean == 0.85
    assert one.run_summary["with_skill"].pass_rate.stddev == 0.05
    assert one.run_summary["delta"].pass_rate == "+0.50"
    assert any("No run was found" in note for note in one.notes)


def test_an_iteration_has_a_document_of_its_own():
    made = benchmark(workspace(runs=in_iterations(10, 9)))
    assert [one.metadata.iteration for one in made] == [9, 10]
    assert benchmark(workspace()) == []
