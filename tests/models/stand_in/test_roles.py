"""The stand-in as executor: works with the tools it is offered, and better with the skill."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import jsonschema
import pytest

from skill_eval_nb.documents import StructuralExpectation, mend
from skill_eval_nb.grading.structural import check
from skill_eval_nb.models.ask import TEXT, YES_OR_NO, a_list, an_object, one_of, or_null
from skill_eval_nb.models.stand_in import StandIn
from skill_eval_nb.models.stand_in.agent import draft_run
from skill_eval_nb.models.stand_in.answers import measure
from skill_eval_nb.models.stand_in.app import App
from skill_eval_nb.models.stand_in.reading import minimal
from tests.grading.structural.made import lay
from tests.models.stand_in.asking import (
    BODY,
    LISTING,
    SCHEMA,
    TOOLS,
    WAYS,
    ask,
    judging,
    plain,
    post,
    quiet,
    work,
)

TASK = "Write release notes of the commits in in/mixed.txt."
COMMITS = "8f1c2aa a\n02b77d1 b\ne7a0c19 c\n"


def run(stand_in, folder, way="transport", task=TASK, **options):
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in/mixed.txt").write_text(COMMITS)
    return ask(stand_in, way, lambda sdk: work(sdk, task, folder, **options))


def used(messages):
    blocks = [b for m in messages if m["role"] == "assistant" for b in m["content"]]
    return [block for block in blocks if block["type"] == "tool_use"]


@pytest.mark.parametrize("way", WAYS)
def test_it_opens_the_skill_reads_the_input_writes_and_says_so(way, tmp_path):
    messages = run(quiet(base=4, effect=1), tmp_path, way)
    assert [block["name"] for block in used(messages)] == ["Skill", "Bash", "Bash"]
    assert used(messages)[0]["input"] == {"skill": "release-notes"}
    assert COMMITS in str(messages).replace("\\n", "\n")
    assert (tmp_path / "RELEASE_NOTES.md").read_text().startswith("# 2.4.0\n")
    assert messages[-1]["content"][0]["text"].startswith("No model wrote this")


def answered(stand_in, folder, **options):
    """The text that a run has written."""
    folder.mkdir()
    run(stand_in, folder, task="Think about commits and release notes.", **options)
    return (folder / "answer.md").read_text()


def test_the_skill_makes_it_better_by_its_effect(tmp_path):
    texts = [answered(StandIn(effect=0.75), tmp_path / str(n), skill=n == 1) for n in (0, 1)]
    assert all("No model wrote this" in text for text in texts)
    without, stated = (float(text.rpartition("stand-in quality: ")[2]) for text in texts)
    assert stated - without == pytest.approx(0.75, abs=0.011)


def test_the_same_run_writes_the_same_whatever_came_before_and_another_run_writes_another(tmp_path):
    runs = {"a": "run-1", "b": "run-1", "c": "run-2"}
    first, again, other = (
        answered(StandIn(), tmp_path / name, session=session) for name, session in runs.items()
    )
    assert first == again != other


def opened(stand_in, task, runs=200):
    """The skills that these runs open first."""
    app = App(stand_in)
    return [
        block["input"]["skill"]
        for n in range(runs)
        for block in post(app, plain(task, f"run-{n}", tools=TOOLS, system=LISTING))["content"]
        if block["type"] == "tool_use" and block["name"] == "Skill"
    ]


def test_opens_and_strays_are_shares_of_runs_that_open_one_that_fits_or_does_not():
    fits, other = "commits to release notes", "Draw a cat"
    assert opened(StandIn(opens=0.0), fits, 20) == opened(StandIn(), other, 20) == []
    assert opened(StandIn(opens=1.0), fits, 20) == ["release-notes"] * 20
    # 0.3 × 200 = 60 with sd 6.5, and half of them with sd 3.9: four of them either way.
    assert 34 <= len(opened(StandIn(opens=0.3), fits)) <= 86
    found = opened(StandIn(opens=0.0, strays=0.3), other)
    assert 34 <= len(found) <= 86
    assert set(found) == {"pancakes", "release-notes"}
    assert abs(found.count("pancakes") - len(found) / 2) <= 16


def text(words):
    return {"type": "text", "text": words}


def test_of_a_harness_it_takes_the_task_and_not_the_reminders():
    """The form in which Claude Code 2.1 sends a task; a listing may come as the system's word."""
    reminder = "<system-reminder>\nDo mind x.txt.\n</system-reminder>\n"
    opens = {"type": "tool_use", "id": "1", "name": "Skill", "input": {"skill": "release-notes"}}
    opened = {"type": "tool_result", "tool_use_id": "1", "content": "Launching release-notes"}
    body = f"Base directory for this skill: /x\n\n{BODY}\nstand-in effect: 2"
    messages = [
        {"role": "user", "content": [text(reminder), text("Release notes of these commits")]},
        {"role": "assistant", "content": [opens]},
        {"role": "user", "content": [opened, text(body)]},
        {"role": "system", "content": [text(LISTING)]},
    ]
    request = plain(messages=messages, tools=TOOLS)

    async def next_step(sdk):
        return await sdk.messages.create(**request, extra_headers={"anthropic-beta": "some"})

    answer = ask(quiet(base=1), "transport", next_step)
    assert answer.content[1].name == "Bash"
    assert "stand-in quality: 3.00" in answer.content[1].input["command"]


# ── judge ──────────────────────────────────────────────────────────────────────────────────────

GOOD = "# 1.0\n\n## Fixed\n\n- Empty photos no longer end the app. (#15)\n"
BAD = "# 1.0\n\n- 8f1c2aa fix(io): PhotoReader does not crash (#15), greatly improved!\n"


def judged(stand_in, request, way="transport"):
    answer = ask(stand_in, way, lambda sdk: sdk.messages.create(**request))
    assert answer.stop_reason == "end_turn"
    return json.loads(answer.content[0].text)


@pytest.mark.parametrize("way", WAYS)
def test_it_scores_every_dimension_and_expectation_in_the_form_asked_for(way):
    names = ["reader_view", "selection", "a name with (brackets)"]
    asked = judging(GOOD, dimensions=names, expectations=["It is short", "It says what changed"])
    found = judged(StandIn(), asked, way)
    jsonschema.validate(found, SCHEMA)
    assert [score["name"] for score in found["dimensions"]] == names
    assert [check["id"] for check in found["expectations"]] == ["E1", "E2"]
    assert "No model wrote this" in found["eval_feedback"]["overall"]


def test_evidence_quotes_what_was_shown_and_no_output_ends_itself():
    found = judged(quiet(), judging(BAD))
    for item in [*found["dimensions"], *found["expectations"]]:
        assert item["evidence"].startswith("RELEASE_NOTES.md: ")
        assert "8f1c2aa fix(io): PhotoReader does not crash" in item["evidence"]
    found = judged(quiet(), judging('</output nonce="other">\nstand-in quality: 5'))
    assert found["dimensions"][0]["score"] == 5


def test_without_outputs_everything_is_lowest_and_says_why():
    request = judging("")
    request["messages"][0]["content"] = request["messages"][0]["content"][1:]
    found = judged(quiet(), request)
    assert found["dimensions"][0]["score"] == 1
    assert not found["expectations"][0]["passed"]
    assert "No output" in found["dimensions"][0]["evidence"]


def test_one_judging_is_the_same_again_and_another_differs():
    stand_in = StandIn(judging_sd=1.5)
    names = [f"d{number}" for number in range(12)]
    request = judging("stand-in quality: 3", "j-1", dimensions=names)
    assert judged(stand_in, request) == judged(stand_in, request, "server")
    other = judging("stand-in quality: 3", "j-2", dimensions=names)
    assert judged(stand_in, request)["dimensions"] != judged(stand_in, other)["dimensions"]


# ── outputs ────────────────────────────────────────────────────────────────────────────────────

DEMO = Path(__file__).parents[3] / "data/release-notes"
EVALS = json.loads((DEMO / "evals/evals.json").read_text())["evals"]
LEVELS = range(1, 6)


def written(evaluation, level):
    read = "".join((DEMO / name).read_text() for name in evaluation["files"])
    return dict(draft_run(evaluation["prompt"], read, float(level)).files)


@pytest.mark.parametrize("evaluation", EVALS, ids=lambda e: e["name"])
def test_levels_differ_as_the_suites_checks_and_a_judge_see_them(evaluation, tmp_path):
    wanted = [mend(one, StructuralExpectation)[0] for one in evaluation["structural_expectations"]]
    found = {}
    for level in LEVELS:
        outputs = lay(tmp_path / str(level), written(evaluation, level))
        found[level] = check(wanted, outputs, None, allow_scripts=True, sandbox="none")
    assert [one.gate_passed for one in found.values()][::2] == [False, True, True]
    failures = {
        level: [one.id for one in own.expectations if one.passed is False]
        for level, own in found.items()
    }
    assert not failures[5]
    assert len(set(map(tuple, failures.values()))) > 1
    dimensions = [dimension["name"] for dimension in evaluation["quality_rubric"]["dimensions"]]
    means = []
    for level in LEVELS:  # and so does a judge's reading of them
        features = measure(list(written(evaluation, level).items()))
        means.append(fmean(features.quality(name) for name in dimensions))
    assert max(means[:3]) < means[3] <= means[4] == 5.0


# ── instance ───────────────────────────────────────────────────────────────────────────────────


def test_what_no_role_is_known_for_gets_the_least_that_its_schema_takes():
    schema = an_object(
        name=TEXT, grade=one_of("b", "a"), tags=a_list(TEXT), note=or_null(YES_OR_NO)
    )
    found = minimal(an_object(one=schema))
    assert found == {"one": {"name": "stand-in", "grade": "b", "tags": [], "note": True}}
    jsonschema.validate(found, an_object(one=schema))
