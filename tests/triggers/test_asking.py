"""The proposer asked: kept at once, never paid for twice, within what is left."""

from __future__ import annotations

import pytest

from skill_eval_nb.models import Connection, load_prices
from skill_eval_nb.running.asking import Terms, worst_usd
from skill_eval_nb.triggers.attempt import Query
from skill_eval_nb.triggers.measurement import QueryOutcome
from skill_eval_nb.triggers.search import (
    Proposal,
    SearchOver,
    Step,
    propose,
    question,
    read_proposal,
)
from tests.stand_in import Fault, RiggedStandIn
from tests.triggers.made import lines

HAIKU = "claude-haiku-4-5"
MISSED = QueryOutcome(Query("stamp the letters", True, split="train"), (False,) * 3)
ROUND = Step(1, "Sorts mail.", (MISSED,))
QUESTION = question(HAIKU, "mail", "# Mail\n", (ROUND,), ROUND, ())
WORST = worst_usd([QUESTION], load_prices())


def asked(folder, *faults: Fault, left_usd: float | None = 1.0) -> Proposal:
    stand_in = RiggedStandIn(faults=faults, log=str(folder / "log"))
    given = propose(QUESTION, folder, Terms(Connection(stand_in=stand_in), budget_usd=left_usd))
    there = read_proposal(folder, QUESTION.key)
    assert there.description == given
    return there


def test_an_answer_is_kept_with_its_price_and_asked_for_once(tmp_path):
    first = asked(tmp_path)
    more = "Use it as well for requests that mention “letter” or “stamp”."
    assert first.description == f"Sorts mail. {more}"
    (call,) = lines(tmp_path / "log")
    usage = call["usage"]
    billed = (usage["input_tokens"] + 5 * usage["output_tokens"]) / 1e6
    assert first.spent_usd == pytest.approx(billed)
    assert asked(tmp_path) == first
    assert len(lines(tmp_path / "log")) == 1


def test_an_answer_that_an_earlier_version_kept_is_given_back(tmp_path):
    file = tmp_path / ".skill-eval-nb" / "proposals" / f"{QUESTION.key}.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"description": "Stamps letters.", "spent_usd": 0.25}')
    assert asked(tmp_path, left_usd=0.0) == Proposal("Stamps letters.", 0.25)
    assert lines(tmp_path / "log") == []


def test_an_answer_that_cannot_be_used_is_asked_for_anew_and_all_of_it_is_counted(tmp_path):
    proposal = asked(tmp_path, Fault("invalid_json", first=1))
    assert len(lines(tmp_path / "log")) == 2
    assert proposal.description is not None
    failed = tmp_path / "failed"
    failed.mkdir()
    with pytest.raises(SearchOver, match="no usable answer in 3 attempts"):
        asked(failed, Fault("invalid_json"))
    before = read_proposal(failed, QUESTION.key)
    assert before.description is None
    assert 0 < before.spent_usd < WORST
    assert asked(failed).spent_usd > before.spent_usd


def test_one_that_was_killed_half_way_counts_at_its_worst_and_is_asked_again(tmp_path, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("skill_eval_nb.triggers.search.ask_all", killed)
        with pytest.raises(KeyboardInterrupt):
            asked(tmp_path)
    assert read_proposal(tmp_path, QUESTION.key) == Proposal(None, pytest.approx(WORST))
    again = asked(tmp_path)
    assert again.description is not None
    assert WORST < again.spent_usd < 2 * WORST
