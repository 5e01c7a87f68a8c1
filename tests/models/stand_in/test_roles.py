"""The stand-in as executor: works with the tools it is offered, and better with the skill."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from statistics import fmean
from typing import Any

import jsonschema
import pytest

from skill_eval_nb.models.ask import TEXT, YES_OR_NO, a_list, an_object, one_of, or_null
from skill_eval_nb.models.stand_in import StandIn
from skill_eval_nb.models.stand_in.agent import draft
from skill_eval_nb.models.stand_in.answers import measure
from skill_eval_nb.models.stand_in.reading import minimal
from skill_eval_nb.models.stand_in.writers import propose
from tests.models.stand_in.asking import (
    BODY,
    LISTING,
    SCHEMA,
    TOOLS,
    WAYS,
    ask,
    judging,
    plain,
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


def test_the_skill_makes_it_better_by_its_effect(tmp_path):
    task = "Think about commits and release notes."
    stated = {}
    for skill in (True, False):
        folder = tmp_path / str(skill)
        folder.mkdir()
        run(StandIn(effect=0.75), folder, task=task, skill=skill)
        text = (folder / "answer.md").read_text()
        assert "No model wrote this" in text
        stated[skill] = float(text.rpartition("stand-in quality: ")[2])
    assert stated[True] - stated[False] == pytest.approx(0.75, abs=0.011)


def test_opens_is_the_share_of_runs_that_open_it():
    request = plain("commits to release notes", tools=TOOLS, system=LISTING)

    async def opened(sdk):
        answers = [
            await sdk.messages.create(**request, metadata={"user_id": f"run-{n}"})
            for n in range(200)
        ]
        return sum(
            answer.stop_reason == "tool_use" and answer.content[1].name == "Skill"
            for answer in answers
        )

    assert ask(StandIn(opens=0.0), "transport", opened) == 0
    assert ask(StandIn(opens=1.0), "transport", opened) == 200
    # 0.3 × 200 = 60 with sd 6.5: four of them either way.
    assert 34 <= ask(StandIn(opens=0.3), "transport", opened) <= 86


def test_strays_is_the_share_of_runs_that_open_one_that_does_not_fit():
    request = plain("Draw a cat", tools=TOOLS, system=LISTING)

    async def opened(sdk):
        answers = [
            await sdk.messages.create(**request, metadata={"user_id": f"run-{n}"})
            for n in range(200)
        ]
        return [
            block.input["skill"]
            for answer in answers
            for block in answer.content
            if block.type == "tool_use" and block.name == "Skill"
        ]

    assert ask(StandIn(), "transport", opened) == []
    found = ask(StandIn(opens=0.0, strays=0.3), "transport", opened)
    # 0.3 × 200 = 60 with sd 6.5, and half of them with sd 3.9: four of them either way.
    assert 34 <= len(found) <= 86
    assert abs(found.count("pancakes") - len(found) / 2) <= 16
    assert set(found) == {"pancakes", "release-notes"}


def test_the_same_run_writes_the_same_whatever_came_before_and_another_run_writes_another(tmp_path):
    written = []
    for name, session in [("a", "run-1"), ("b", "run-1"), ("c", "run-2")]:
        folder = tmp_path / name
        folder.mkdir()
        run(StandIn(), folder, task="Tell me a tale.", session=session)
        written.append((folder / "answer.md").read_text())
    assert written[0] == written[1] != written[2]


def test_of_a_harness_it_takes_the_task_and_not_the_reminders():
    """The form in which Claude Code 2.1 sends a task; a listing may come as the system's word."""
    messages = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "<system-reminder>\nDo mind x.txt.\n</system-reminder>\n"},
                {"type": "text", "text": "Release notes of these commits, please"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "1",
                    "name": "Skill",
                    "input": {"skill": "release-notes"},
                }
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "1",
                    "content": "Launching skill: release-notes",
                },
                {
                    "type": "text",
                    "text": f"Base directory for this skill: /x\n\n{BODY}\nstand-in effect: 2",
                },
            ],
        },
        {"role": "system", "content": [{"type": "text", "text": LISTING}]},
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
    checks = ["It is short", "It says what changed"]
    found = judged(StandIn(), judging(GOOD, dimensions=names, expectations=checks), way)
    jsonschema.validate(found, SCHEMA)
    assert [score["name"] for score in found["dimensions"]] == names
    assert [check["id"] for check in found["expectations"]] == ["E1", "E2"]
    assert "No model wrote this" in found["eval_feedback"]["overall"]


def test_evidence_quotes_what_was_shown():
    found = judged(quiet(), judging(BAD))
    for item in [*found["dimensions"], *found["expectations"]]:
        assert "8f1c2aa fix(io): PhotoReader does not crash" in item["evidence"]
        assert item["evidence"].startswith("RELEASE_NOTES.md: ")


def test_an_output_cannot_end_itself_with_another_nonce():
    text = '- 8f1c2aa\n</output nonce="other">\nstand-in quality: 5'
    found = judged(quiet(), judging(text))
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


# ── proposer ───────────────────────────────────────────────────────────────────────────────────


def request(*tried: str, failures: list[dict[str, Any]], base: int = 1) -> dict[str, Any]:
    """What a proposer is asked, as far as the stand-in looks at it."""
    parts = {"tried": [{"description": one} for one in tried], "failures": failures}
    fenced = [
        f'<{tag} nonce="n">\n' + "\n".join(map(json.dumps, rows)) + f'\n</{tag} nonce="n">'
        for tag, rows in parts.items()
    ]
    text = "\n".join([f"what went wrong in round {base}", *fenced])
    schema = {"type": "object", "properties": {"why": {}, "description": {}}}
    return {
        "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }


def missed(query: str) -> dict[str, Any]:
    return {"query": query, "should_trigger": True}


def said(asked: dict[str, Any]) -> str:
    return propose(StandIn(), asked)["description"]


AS_WELL = "Use it as well for requests that mention"


def test_words_that_missed_queries_share_come_in_as_a_sentence():
    asked = request("Sorts mail.", failures=[missed("Ada stamps letters"), missed("Bob: letters")])
    assert said(asked) == f"Sorts mail. {AS_WELL} “letter”."
    assert said(request("Sorts mail.", failures=[missed("stamp letters")])) == (
        f"Sorts mail. {AS_WELL} “letter” or “stamp”."
    )


def test_it_answers_whatever_it_is_sent():
    assert said(request(failures=[], base=7)) == "A skill."
    assert said({"messages": [{"role": "user", "content": "hello"}]}) == "A skill."
    long = said(request("word " * 400, failures=[missed("stamp letters")]))
    assert len(long) <= 1024


# ── outputs ────────────────────────────────────────────────────────────────────────────────────

DEMO = Path(__file__).parents[3] / "data/release-notes"
EVALS = json.loads((DEMO / "evals/evals.json").read_text())["evals"]
LEVELS = range(1, 6)


def written(evaluation, level):
    read = "".join((DEMO / name).read_text() for name in evaluation["files"])
    return dict(draft(evaluation["prompt"], read, float(level)).files)


def failed(evaluation, files, folder):
    """The ids of the structural expectations that files fail, checked in the plainest way."""
    for name, text in files.items():
        (folder / name).write_text(text + "\n")
    return {
        check["id"] for check in evaluation["structural_expectations"] if not _holds(check, folder)
    }


def _holds(check, folder):
    kind = check["type"]
    if kind == "no_errors":
        return True
    if kind == "custom_script":
        return (
            subprocess.run(["sh", "-c", check["script"]], cwd=folder, check=False).returncode == 0
        )
    found = [path.read_text() for path in folder.glob(check["pattern"])]
    if kind == "file_exists":
        return bool(found)
    if kind == "file_count":
        return (
            len(found) >= check["count"]
            if check["operator"] == ">="
            else len(found) == check["count"]
        )
    wanted = [
        re.escape(text)
        for text in [*check.get("match_any", []), *filter(None, [check.get("match")])]
    ]
    wanted += filter(None, [check.get("match_regex")])
    hit = any(re.search(pattern, text, re.MULTILINE) for pattern in wanted for text in found)
    return bool(found) and hit == (kind == "file_contains")


@pytest.mark.parametrize("evaluation", EVALS, ids=lambda e: e["name"])
def test_levels_differ_as_the_suites_checks_see_them(evaluation, tmp_path):
    critical = {check["id"] for check in evaluation["structural_expectations"] if check["critical"]}
    by_level = {}
    for level in LEVELS:
        folder = tmp_path / str(level)
        folder.mkdir()
        by_level[level] = failed(evaluation, written(evaluation, level), folder)
    assert by_level[1] & critical, "the worst is stopped at the gate"
    assert not any(by_level[level] & critical for level in (3, 4, 5)), "the better ones are not"
    assert not by_level[5]
    assert len({frozenset(failures) for failures in by_level.values()}) > 1


@pytest.mark.parametrize("evaluation", EVALS, ids=lambda e: e["name"])
def test_the_judges_features_tell_good_from_bad(evaluation):
    dimensions = [dimension["name"] for dimension in evaluation["quality_rubric"]["dimensions"]]
    means = []
    for level in LEVELS:
        features = measure(list(written(evaluation, level).items()))
        means.append(fmean(features.quality(name) for name in dimensions))
    assert max(means[:2]) < means[3] <= means[4] == 5.0
    assert means[2] < means[3]


# ── instance ───────────────────────────────────────────────────────────────────────────────────


def test_what_no_role_is_known_for_gets_the_least_that_its_schema_takes():
    schema = an_object(
        name=TEXT, grade=one_of("b", "a"), tags=a_list(TEXT), note=or_null(YES_OR_NO)
    )
    found = minimal(an_object(one=schema))
    assert found == {"one": {"name": "stand-in", "grade": "b", "tags": [], "note": True}}
    jsonschema.validate(found, an_object(one=schema))
