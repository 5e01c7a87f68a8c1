"""The stand-in as drafter of trigger queries: what the descriptions say, asked as users ask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from . import reading
from .skills import words
from .stand_in import StandIn

PART = re.compile(
    r'<(?P<tag>skill|others|existing) nonce="(?P<nonce>[^"]+)">\n'
    r'(?P<text>.*?)\n</(?P=tag) nonce="(?P=nonce)">',
    re.DOTALL,
)
ASKED = re.compile(
    r"exactly (\d+) queries that should trigger and (\d+) that should not, at least (\d+) of these"
)
HEAD = re.compile(r"^---\s*\n(.*?)\n---\s*$", re.DOTALL | re.MULTILINE)
OTHER = re.compile(r"^- ([\w .-]+?): (.+)$", re.MULTILINE)
OPENING = re.compile(
    r"^(?P<when>(?:use |apply )?(?:this |it )?(?:skill )?(?:when(?:ever)? |if |for )|)"
    r"(?:(?:the |a )?users? |you |somebody |someone |people |)"
    r"(?:(?:asks?|wants?|needs?|has|have) (?:you )?(?P<thing>to |for )|)",
    re.IGNORECASE,
)
"""How a sentence begins that says when a skill is used."""
LONGEST = 14
"""Words of a task."""

WHATEVER = "do this: {:.100}"
"""The task of a description that says of nothing that it is done."""
DISTINCT = 88
"""From this ratio of rapidfuzz (0-100) on, a query is not written a second time."""

WISHES = (
    "can you {do}? {why}",
    "{why} I have to {do}, and would be glad of some help",
    "hey, please {do} for me. {why}",
    "{why} So what I am after: {do}.",
    "Could somebody {do} here? {why}",
    "i keep putting this off... {do}, that is all i want. {why}",
    "{why} What is the best way to {do}? Just do it, please.",
    "My task for this afternoon is to {do}. {why}",
    "{do} - could you start on that? {why}",
    "Not sure how to put it, but: {do}. {why}",
)
REASONS = (
    "My boss wants it by Friday and I am already late.",
    "I have just taken over from a colleague who left no hints at all.",
    "It is the third time this month, and last time took me a whole day.",
    "We are four people in the team and none of us has done it before.",
    "Everything is in the folder from yesterday, as far as I know.",
    "A customer rang up this morning and was not amused, to say the least.",
    "No hurry, it would simply make next Monday's meeting shorter.",
    "I tried on my own for an hour and gave up somewhere in the middle.",
    "There is an old attempt somewhere, yet nobody trusts it any longer.",
    "Sorry for the bother, I am rather new to all of this.",
)
CLOSE = (
    "explain to my mother what {word} means, in a sentence or two",
    "tell me who invented {word} and in what year",
    "find a nice picture of {word} for the front of a birthday card",
    "translate the single word {word} to Spanish",
    "spell {word} backwards, it is for a quiz",
)
FAR = (
    "suggest a name for our new cat",
    "work out how long it takes to boil eleven eggs",
    "recommend a novel for a long train ride",
    "write a limerick about Tuesday",
    "say whether it rains more in Bergen or in Cork",
)


def answer(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """As many queries of each kind as are asked for, from the sentences of the descriptions.

    Near misses are what another skill says of itself; without others, small talk about the
    skill's own words.
    """
    text = "\n".join(
        text for message in request["messages"] for text in reading.texts(message["content"])
    )
    asked = ASKED.search(text)
    if asked is None:
        return {"queries": []}
    positives, negatives, near_misses = map(int, asked.groups())
    parts = {one["tag"]: one["text"] for one in PART.finditer(text)}
    name, own = _front_matter(parts.get("skill", ""))
    known = parts.get("existing", "")
    near = max(near_misses, negatives - 2)
    own = _unnamed(own, name)
    others = [(one, _unnamed(says, name)) for one, says in OTHER.findall(parts.get("others", ""))]
    return {
        "queries": [
            *_some(positives, _positive(own), known),
            *_some(near, _near(own, others), known),
            *_some(negatives - near, _rows("It is about something else.", FAR), known),
        ]
    }


def _some(number: int, rows: Iterator[dict[str, Any]], known: str) -> list[dict[str, Any]]:
    """The first rows whose query is not known, nor nearly the same as one before it."""
    from rapidfuzz import fuzz

    before = [line.partition(") ")[2].casefold() for line in known.splitlines()]
    found: list[dict[str, Any]] = []
    while len(found) < number and (row := next(rows, None)) is not None:
        query = " ".join(row["query"].split()).casefold()
        if max((fuzz.ratio(query, one) for one in before), default=0) < DISTINCT:
            before.append(query)
            found.append(row)
    return found


def _positive(own: str) -> Iterator[dict[str, Any]]:
    for row in _rows("It is what the skill does.", _tasks(own)):
        yield row | {"should_trigger": True}


def _near(own: str, others: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    each = [_rows(f"It is what {one} does.", _tasks(says), one) for one, says in others]
    for rows in zip(*each, strict=False):
        yield from rows
    if not others:
        telling = sorted(words(own), key=lambda word: (-len(word), word))
        close = [one.format(word=word) for word in telling or ["it"] for one in CLOSE]
        for row in _rows("It shares a word with the skill.", close):
            yield row | {"near_miss": True}


def _rows(why: str, tasks: Sequence[str], right: str | None = None) -> Iterator[dict[str, Any]]:
    """Each task in each way of asking; those that follow each other share little."""
    ways = [*product(range(len(WISHES)), range(len(REASONS)))]
    ways.sort(key=lambda way: (way[1] - way[0]) % len(REASONS))
    for turn, (shift, (wish, reason)) in enumerate(product(range(len(tasks)), ways)):
        query = WISHES[wish].format(do=tasks[(turn + shift) % len(tasks)], why=REASONS[reason])
        yield {
            "why": why,
            "should_trigger": False,
            "near_miss": right is not None,
            "right_skill": right,
            "query": query,
        }


def _tasks(description: str) -> list[str]:
    """What a description says is done, as requests: `Sorts tables.` gives `sort tables`."""
    found = []
    for part in re.split(r"[.;:()\n]+\s*|, (?:or|and) (?=when)", description):
        opening = OPENING.match(part)
        said = part[opening.end() if opening else 0 :].partition(" and has ")[0].split()[:LONGEST]
        if len(words(" ".join(said))) < 2 or opening is None:
            continue
        if opening["thing"] == "for ":
            found.append(" ".join(["prepare", *said]))
        elif opening["thing"] or not opening["when"]:
            verb = re.sub("(?<=[a-rt-z])s(?=,?$)", "", said[0][:1].lower() + said[0][1:])
            found.append(" ".join([verb, *said[1:]]))
    return [one.rstrip(",") for one in found] or [WHATEVER.format(description)]


def _front_matter(skill_md: str) -> tuple[str, str]:
    """A skill's name and description; empty where it has none."""
    import yaml

    head = HEAD.search(skill_md)
    try:
        told = yaml.safe_load(head[1]) if head else None
    except yaml.YAMLError:
        told = None
    fields = told if isinstance(told, dict) else {}
    return str(fields.get("name", "")), str(fields.get("description", ""))


def _unnamed(description: str, name: str) -> str:
    """A description without the skill's name, unless that is a word that anybody might say."""
    coined = re.search(r"[\W_]", name) is not None
    return (
        re.sub(re.escape(name), "it", description, flags=re.IGNORECASE) if coined else description
    )
