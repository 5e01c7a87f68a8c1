"""What viewers and schemas cannot take is left out, or stands in for the unknown, and is said."""

import jsonschema
import pytest

from skill_eval_nb.report.dialects import OneIteration, benchmark_as
from skill_eval_nb.report.document import NO_SPREAD, document
from skill_eval_nb.report.measured import measure, slices
from tests.report.made import balanced, check, one_side, run, score, workspace

RATE = {"type": "number", "minimum": 0, "maximum": 1}
AMOUNT = {"type": "number", "minimum": 0}


def record(**fields):
    return {"type": "object", "required": list(fields), "properties": fields}


SIDE = record(pass_rate=RATE, tokens={"type": "integer", "minimum": 0}, duration=AMOUNT)
CODINGBUDDY = record(
    skill_name={"type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
    iteration={"type": "integer", "minimum": 1},
    summary=record(
        pass_rate=record(mean=RATE, stddev=AMOUNT),
        tokens=record(mean=AMOUNT, stddev=AMOUNT),
        duration_seconds=record(mean=AMOUNT, stddev=AMOUNT),
    ),
    eval_results={
        "type": "array",
        "items": record(eval_id={"type": "integer", "minimum": 0}, with_skill=SIDE, baseline=SIDE),
    },
) | {"$schema": "http://json-schema.org/draft-07/schema#"}
"""What the dialect's document demands of benchmark.json."""


def written(ws, dialect, number=1):
    (place,) = slices(ws)
    measured = measure(ws, place)
    return benchmark_as(dialect, [OneIteration(document(measured), measured, number)])


def test_a_viewer_gets_no_run_without_a_pass_rate():
    ws = workspace(runs=[*balanced(), run("2", "with_skill", 3, None)])
    value, told = written(ws, "skill-creator")
    assert len(value["runs"]) == 8
    assert all(one["result"]["pass_rate"] is not None for one in value["runs"])
    assert told == ["Not in the list of runs, for lack of a pass rate: 1 run, eval 2 with_skill 3."]
    assert told[0] in value["notes"]


def test_a_viewer_gets_no_verdict_that_was_not_scored():
    first = run("1", "with_skill", 1, 0.5, total=5)
    checks = [check(first, str(place), passed) for place, passed in enumerate((True, None, False))]
    value, told = written(workspace(runs=[first], expectations=checks), "skill-creator")
    (one,) = value["runs"]
    assert [each["text"] for each in one["expectations"]] == ["0", "2"]
    assert one["result"]["total"] == one["result"]["passed"] + one["result"]["failed"]
    assert "Verdicts that were not scored are not in the lists of expectations." in told


@pytest.mark.parametrize("dialect", ["skill-creator", "skill-evaluator"])
def test_a_viewer_gets_numbers_for_every_spread(dialect):
    rows = [row for row in balanced() if row["run_number"] == 1 and row["eval_id"] == "1"]
    scores = [score(row, "clarity", 3.0) for row in rows]
    value, told = written(workspace(runs=rows, rubric_scores=scores), dialect)
    for side in ("with_skill", "without_skill"):
        for stats in value["run_summary"][side].values():
            if isinstance(stats, dict) and "mean" in stats:
                assert stats["stddev"] == 0.0
    assert NO_SPREAD in told
    assert NO_SPREAD in value["notes"]


@pytest.mark.parametrize("baseline", ["without_skill", "old_skill", "claude_without_skill"])
def test_the_schema_of_codingbuddy_is_met(baseline):
    value, told = written(workspace(runs=balanced(baseline)), "codingbuddy")
    jsonschema.validate(value, CODINGBUDDY, jsonschema.Draft7Validator)
    assert not [one for one in told if "demanded" in one]
    first, second = value["eval_results"]
    assert (first["eval_id"], second["eval_id"]) == (1, 2)
    assert first["with_skill"] == {"pass_rate": 0.875, "tokens": 4850, "duration": 68.0}
    assert first["baseline"] == {"pass_rate": 0.375, "tokens": 3150, "duration": 55.0}
    assert value["summary"]["pass_rate"] == {"mean": 0.8125, "stddev": 0.125}


def test_the_schema_is_met_where_things_are_missing():
    cost = {"tokens": 10, "time_seconds": 1.0, "iteration": "master"}
    given = [("1", "with_skill", 1.0), ("1", "a_baseline", 0.5), ("1", "third", 1.0)]
    given += [("3", "with_skill", 1.0), ("4", "with_skill", None), ("4", "a_baseline", 1.0)]
    rows = [run(of, side, 1, rate, **cost) for of, side, rate in given]
    value, told = written(workspace(runs=rows), "codingbuddy", number=2)
    jsonschema.validate(value, CODINGBUDDY, jsonschema.Draft7Validator)
    assert not [one for one in told if "demanded" in one]
    assert value["iteration"] == 2
    assert [one["eval_id"] for one in value["eval_results"]] == [1]
    said = " ".join(told)
    assert "a_baseline is written as without_skill." in said
    assert "Left out: third" in said
    assert "2 evals, eval 3 and eval 4" in said
    assert "The iteration master is written as 2." in said


def test_what_is_known_of_no_eval_is_an_error_and_not_made_up():
    rows = [row | {"tokens": None} for row in balanced()]
    value, told = written(workspace(runs=rows), "codingbuddy")
    assert "tokens" not in value["summary"]
    assert [one["with_skill"]["pass_rate"] for one in value["eval_results"]] == [0.875, 0.75]
    assert [one for one in told if "summary.tokens" in one]


def test_one_configuration_has_no_evals_with_both_sides():
    value, told = written(workspace(runs=one_side()), "codingbuddy")
    jsonschema.validate(value, CODINGBUDDY, jsonschema.Draft7Validator)
    assert value["eval_results"] == []
    assert not [one for one in told if "demanded" in one]
    assert any("for lack of figures on both sides: 2 evals" in each for each in told)
