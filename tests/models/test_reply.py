from __future__ import annotations

import pickle
from typing import Any

import pytest

from skill_eval_nb.models import ModelFault, Reply
from tests.models.scripted import message


@pytest.mark.parametrize("name", ["type", "content", "stop_reason", "usage", "model", "id"])
def test_an_answer_that_lacks_something_is_none(name: str):
    said = message()
    del said[name]
    with pytest.raises(ValueError, match="no message object" if name == "type" else name):
        Reply.of(said)


@pytest.mark.parametrize("said", [None, [], "x", message() | {"content": ["text"]}])
def test_something_else_is_none(said: Any):
    with pytest.raises(ValueError, match=r"no message object|no list of blocks"):
        Reply.of(said)


def test_a_refusal_has_no_text_but_is_an_answer():
    reply = Reply.of(message() | {"content": [], "stop_reason": "refusal"})
    assert (reply.text, reply.stop_reason) == ("", "refusal")


def test_replies_and_faults_can_be_sent_between_processes():
    reply = Reply.of(message())
    assert pickle.loads(pickle.dumps(reply)) == reply
    fault = pickle.loads(pickle.dumps(ModelFault("timeout", "Late.", sent=True)))
    assert (fault.kind, str(fault), fault.sent) == ("timeout", "Late.", True)
