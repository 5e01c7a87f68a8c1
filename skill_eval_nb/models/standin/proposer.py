"""The stand-in as proposer: words of missed queries come in, those that mislead go."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from . import reading
from .skills import words
from .stand_in import StandIn

PART = re.compile(
    r'<(?P<tag>tried|failures) nonce="(?P<nonce>[^"]+)">\n'
    r'(?P<text>.*?)\n</(?P=tag) nonce="(?P=nonce)">',
    re.DOTALL,
)
BASE = re.compile(r"went wrong in round (\d+)")
FOR = " Use for: "
NUMBER = re.compile(r" \(\d+\)$")
MOST_WORDS = 60


def answer(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """A description with the words that queries which were missed have in common.

    Words of queries that should not trigger are taken out of it, and "…" stands in their place. A
    word that only one missed query has is not taken in where others are shared. What was tried
    already is told apart by a number, since there is nothing else it could say.
    """
    del stand_in
    texts = [text for message in request["messages"] for text in reading.texts(message["content"])]
    whole = "\n".join(texts)
    parts = {one["tag"]: list(_lines(one["text"])) for one in PART.finditer(whole)}
    tried = [str(one.get("description")) for one in parts.get("tried", [])]
    named = BASE.search(whole)
    base = tried[int(named[1]) - 1] if named and int(named[1]) <= len(tried) else ""
    failures = parts.get("failures", [])
    missed, misled = (
        [words(str(one.get("query"))) for one in failures if one.get("should_trigger") is should]
        for should in (True, False)
    )
    misleading = frozenset().union(*misled)
    counts = Counter(word for one in missed for word in one)
    often = min(2, max(counts.values(), default=0))
    added = sorted(word for word, n in counts.items() if n >= often and word not in misleading)
    sentence, _, listed = NUMBER.sub("", base).partition(FOR)
    had = [one for one in listed.strip(". ").split(", ") if one]
    kept = [one for one in had if not words(one) & misleading]
    plain = " ".join("…" if words(one) & misleading else one for one in sentence.split())
    every = list(dict.fromkeys([*kept, *(one for one in added if one not in words(plain))]))
    said = f"{plain}{FOR}{', '.join(every[:MOST_WORDS])}." if every else plain
    return {
        "why": f"{len(every) - len(kept)} words of missed queries come in.",
        "description": _new(said, tried),
    }


def _new(said: str, tried: list[str]) -> str:
    """The text, with a number behind it where it was tried before."""
    known = {one.casefold() for one in tried}
    said = said[:1000].strip() or "A skill."
    number, one = 1, said
    while one.casefold() in known:
        number += 1
        one = f"{said} ({number})"
    return one


def _lines(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            continue
        if isinstance(one, dict):
            yield one
