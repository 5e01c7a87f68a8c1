"""The stand-in as proposer: words of missed queries come in, those that mislead go."""

from __future__ import annotations

import json
from typing import Any

from skill_eval_nb.models.standin import StandIn, reading
from skill_eval_nb.models.standin.proposer import answer


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


def misled(query: str) -> dict[str, Any]:
    return {"query": query, "should_trigger": False}


def said(asked: dict[str, Any]) -> str:
    return answer(StandIn(), asked)["description"]


def test_the_schema_tells_its_role():
    assert reading.role_of(request("a", failures=[])) == "proposer"


def test_words_that_missed_queries_share_come_in():
    asked = request("Sorts mail.", failures=[missed("Ada stamps letters"), missed("Bob: letters")])
    assert said(asked) == "Sorts mail. Use for: letter."
    assert said(request("Sorts mail.", failures=[missed("stamp letters")])) == (
        "Sorts mail. Use for: letter, stamp."
    )


def test_words_that_mislead_go_and_never_come_in():
    failures = [missed("parcel stamps"), missed("parcel duty"), misled("parcel mail")]
    assert said(request("Sorts mail fast. Use for: letter.", failures=failures)) == (
        "Sorts … fast. Use for: letter."
    )


def test_it_starts_from_the_round_that_it_is_told_and_never_says_the_same_twice():
    failures = [missed("stamp letters")]
    tried = ("Sorts mail.", "Sorts mail. Use for: letter, stamp.")
    assert said(request(*tried, failures=failures)) == "Sorts mail. Use for: letter, stamp. (2)"
    third = (*tried, "Sorts mail. Use for: letter, stamp. (2)")
    assert said(request(*third, failures=failures, base=3)).endswith("stamp. (3)")


def test_it_answers_whatever_it_is_sent():
    assert said(request(failures=[], base=7)) == "A skill."
    assert said({"messages": [{"role": "user", "content": "hello"}]}) == "A skill."
    long = said(request("word " * 400, failures=[missed("stamp letters")]))
    assert len(long) <= 1024
