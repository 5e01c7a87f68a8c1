"""Many questions: every answer is kept at once, the ceiling holds, an interrupt is waited for."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from skill_eval_nb.models import Connection, StandIn
from skill_eval_nb.models.ask import Answered, Question
from skill_eval_nb.running.asking import NO_MONEY, Item, Terms, ask_all, worst_usd
from skill_eval_nb.running.threads import Stopped
from tests.models.scripted import QUESTION, Scripted, Seen, bad, good
from tests.stand_in import Fault, RiggedStandIn

OFFLINE = Connection(stand_in=StandIn())


def question(number: int, **more: Any) -> Question[str]:
    return replace(QUESTION, key=f"q{number}", **more)


def asked(questions: Iterable[Question[str]], terms: Terms, keep: Any = lambda _: None) -> Any:
    def item(one: Question[str]) -> Item[str]:
        def save(answered: Answered[str]) -> str:
            keep(one)
            return answered.value

        return Item(one.key, f"question {one.key}", one, None, save)

    return ask_all([item(one) for one in questions], terms)


def test_one_that_fails_takes_nothing_from_the_others() -> None:
    def say(seen: Seen) -> Any:
        key = json.loads(seen.body)["metadata"]["user_id"]
        if key == "q3":
            return bad(400, words="not this one")
        return good(json.dumps({} if key == "q1" else {"word": "yes"}))

    with Scripted(say) as server:
        got = asked([question(n) for n in range(4)], Terms(server.connection))
    assert sorted(got.values) == ["q0", "q2"]
    assert sorted(got.failed) == ["q1", "q3"]
    assert "in 3 attempts; the last: the answer lacks word" in got.failed["q1"].reason
    assert "not this one" in got.failed["q3"].reason
    assert got.usage.calls == 5


def test_the_ceiling_holds_and_what_does_not_fit_is_told_and_no_price_is_not_zero() -> None:
    questions = [question(n) for n in range(6)]
    one = worst_usd(questions[:1])
    assert worst_usd(questions) == pytest.approx(6 * (one or 0))
    broken = RiggedStandIn(faults=(Fault("invalid_json"),))  # asked thrice each
    got = asked(questions, Terms(Connection(stand_in=broken), budget_usd=2.5 * one))
    assert got.cost_usd <= 2.5 * one
    assert len(got.failed) == 6
    nothing = asked(questions, Terms(OFFLINE, budget_usd=one / 2))
    assert {why.reason for why in nothing.failed.values()} == {NO_MONEY}
    assert (len(nothing.failed), nothing.usage.calls) == (6, 0)
    enough = asked(questions, Terms(OFFLINE, budget_usd=1.5 * one, concurrency=6))
    assert len(enough.values) == 6  # they wait for what the others do not use
    assert enough.cost_usd <= 1.5 * one
    unknown = [question(1), question(2, model="unheard-of")]
    assert worst_usd(unknown) is None
    assert asked(unknown, Terms(OFFLINE)).cost_usd is None


def test_what_was_answered_when_it_was_stopped_is_kept_however_many_wait_for_it() -> None:
    n, stop, gate = 40, threading.Event(), threading.Event()
    answered, kept = list[str](), list[str]()

    def read(raw: Any) -> str:
        answered.append(raw)
        if len(answered) == n:
            stop.set()
            threading.Timer(0.5, gate.set).start()
        return "word"

    def keep(one: Question[str]) -> None:
        gate.wait(20)
        kept.append(one.key)

    questions = [question(at, read=read) for at in range(n)]
    with pytest.raises(Stopped):
        asked(questions, Terms(OFFLINE, concurrency=n, stop=stop), keep)
    assert sorted(kept) == sorted(one.key for one in questions)


def test_what_cannot_be_kept_ends_everything() -> None:
    def keep(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        asked([question(n) for n in range(3)], Terms(OFFLINE), keep)
