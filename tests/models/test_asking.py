"""A question is asked until its answer can be used, and no oftener than is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skill_eval_nb.models import Tally, worst_case
from skill_eval_nb.models.ask import (
    ATTEMPTS,
    Answered,
    BadAnswer,
    Unanswered,
    ask,
    fault_text,
    parse_answer,
)
from tests.models.scripted import QUESTION, Answer, Scripted, good, message, plain, with_client

GOOD = good(json.dumps({"word": "yes"}))
EMPTY = good(json.dumps({"word": " "}))


def asked(*answers: Answer) -> tuple[Answered[str], list[dict[str, Any]], Tally]:
    tally = Tally()
    with Scripted(answers) as server:
        answered = with_client(server, lambda client: ask(client, QUESTION, tally))
        return answered, [json.loads(one.body) for one in server.seen], tally


def test_a_refused_answer_is_asked_for_again_with_what_was_wrong() -> None:
    answered, requests, tally = asked(EMPTY, good("no json"), GOOD)
    assert answered.value == "yes"
    first, second = answered.refused
    assert first == "the answer has no word"
    assert second.startswith("the answer is not JSON (")
    assert answered.usage == tally.usage
    assert tally.usage.calls == 3
    assert requests == [QUESTION.body(fault) for fault in (None, first, second)]
    text = requests[2]["messages"][0]["content"][-1]["text"]
    assert text.startswith("Which?\n")
    assert second in text
    with pytest.raises(Unanswered, match="in 3 attempts; the last: the answer has no word"):
        asked(*[EMPTY] * ATTEMPTS, GOOD)


@pytest.mark.parametrize(
    ("stop_reason", "reason"),
    [
        ("refusal", "refused to answer"),
        ("max_tokens", "cut off at max_tokens=50; raise it"),
        ("model_context_window_exceeded", "too long for"),
        ("pause_turn", "stopped for pause_turn"),
    ],
)
def test_what_stopped_early_is_no_answer_and_not_asked_again(stop_reason: str, reason: str) -> None:
    said = plain(message(json.dumps({"word": "yes"})) | {"stop_reason": stop_reason})
    with pytest.raises(Unanswered, match=reason):
        asked(said, GOOD)


def test_the_worst_case_bounds_every_way_of_asking() -> None:
    fault = fault_text(["é" * 4000, '"quoted"'])
    assert len(json.dumps(fault)) <= 2002
    assert QUESTION.worst == worst_case(QUESTION.body("?" * 2000)) * ATTEMPTS
    assert worst_case(QUESTION.body(fault)).input_tokens * ATTEMPTS <= QUESTION.worst.input_tokens


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not JSON"),
        ('{"a": 1', "not JSON"),
        ('{"a": NaN}', "contains NaN"),
        ('{"a": 1, "a": 1}', "same key twice"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "not JSON"),
        ('{"a": "\\ud800"}', "not JSON"),
    ],
)
def test_what_has_no_one_reading_is_refused(text: str, fault: str) -> None:
    with pytest.raises(BadAnswer, match=fault):
        parse_answer(text)
