"""The stand-in as drafter of checks, evals and trigger queries, and proposer of descriptions."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from skill_eval_nb.skill_md import fields, parts

from . import StandIn, reading
from .agent import words

DRAFT_PART = reading.fences("suggestions")
SUGGESTION = re.compile(
    r"^\[(?P<id>G\d+)\] \(\d+ runs; .*?; evals (?P<evals>[^)]*)\) (?P<text>.*)$", re.MULTILINE
)
NAMED = re.compile(r"`([^`]{2,60})`")
FIELDS = (
    *("text", "type", "description", "pattern", "match", "match_any", "match_regex", "critical"),
    *("count", "operator", "name", "weight", "anchor_1", "anchor_3", "anchor_5", "prompt"),
)


def _fenced_parts(
    fences: re.Pattern[str], request: Mapping[str, Any]
) -> tuple[str, dict[str, str]]:
    """All texts of a request as one, and the material between its fences by their tags."""
    text = "\n".join(reading.message_texts(request))
    return text, {part["tag"]: part["text"] for part in fences.finditer(text)}


def draft(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The drafter's answer: a check for each name that a suggestion has in backticks."""
    _, parts = _fenced_parts(DRAFT_PART, request)
    return {
        "drafts": [
            {
                "why": f"Graders miss a check of `{name}`.",
                "rests_on": [suggestion["id"]],
                "kind": "add",
                "part": "structural_expectations",
                "evals": suggestion["evals"].split(", "),
                "target": None,
                "items": [
                    dict.fromkeys(FIELDS)
                    | {"type": "file_contains", "description": f"An output file names {name}"}
                    | {"match": name, "critical": False}
                ],
            }
            for suggestion in SUGGESTION.finditer(parts.get("suggestions", ""))
            for name in NAMED.findall(suggestion["text"])
        ]
    }


TRIED_PART = reading.fences("tried|failures")
BASE = re.compile(r"went wrong in round (\d+)")
LISTS = {
    "for": " Use it as well for requests that mention {}.",
    "not for": " Not for requests that mention {}.",
}
"""The sentences at the end of a proposal; the stand-in as executor respects the second one."""
NUMBER = re.compile(r" \(\d+\)$")
MOST_WORDS = 30
LONGEST_DESCRIPTION = 1000


def propose(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The description, with one sentence about further uses and one about what it is not for.

    The first sentence lists words of missed queries: the shared ones, or if there are none, all.
    The second lists words of the description that occur in queries that should not trigger. A
    description that was tried before gets a number, as it must differ.
    """
    whole, parts = _fenced_parts(TRIED_PART, request)
    tried = [row["description"] for row in _json_rows(parts["tried"])]
    base = BASE.search(whole)
    plain, listed = _part_description(NUMBER.sub("", tried[int(base[1]) - 1] if base else ""))
    failures = [
        (row["should_trigger"], words(row["query"])) for row in _json_rows(parts["failures"])
    ]
    misleading = frozenset().union(*(query for should, query in failures if not should))
    counts = Counter(word for should, query in failures if should for word in query)
    often = min(2, max(counts.values(), default=0))
    shared = {word for word, n in counts.items() if n >= often} - misleading
    lists = _list_words("for", (listed["for"] | shared) - misleading - words(plain))
    lists += _list_words("not for", (listed["not for"] | words(plain) & misleading) - shared)
    description = (plain.strip() or "A skill.")[: LONGEST_DESCRIPTION - len(lists)] + lists
    times = sum(NUMBER.sub("", text).casefold() == description.casefold() for text in tried)
    return {
        "why": f"{len(shared)} words of missed queries come in.",
        "description": f"{description} ({times + 1})" if times else description,
    }


def _part_description(text: str) -> tuple[str, dict[str, set[str]]]:
    """A description without the sentences of `LISTS`, and the words of each."""
    found: dict[str, set[str]] = {}
    for which, sentence in LISTS.items():
        before, _, after = sentence.partition("{}")
        match = re.search(f"{re.escape(before)}(.*?){re.escape(after)}", text)
        found[which] = set(re.findall("“([^”]*)”", match[1]) if match else ())
        text = text.replace(match[0], "") if match else text
    return text, found


def _list_words(which: str, names: set[str]) -> str:
    quoted = [f"“{name}”" for name in sorted(names)[:MOST_WORDS]]
    listed = " or ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:])))
    return LISTS[which].format(listed) if quoted else ""


def _json_rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


QUERY_PART = reading.fences("skill|others|existing")
COUNTS = re.compile(
    r"exactly (\d+) queries that should trigger and (\d+) that should not, at least (\d+) of these"
)
OTHER = re.compile(r"^- ([\w .-]+?): (.+)$", re.MULTILINE)
OPENING = re.compile(
    r"^(?P<when>(?:use |apply )?(?:this |it )?(?:skill )?(?:when(?:ever)? |if |for )|)"
    r"(?:(?:the |a )?users? |you |somebody |someone |people |)"
    r"(?:(?:asks?|wants?|needs?|has|have) (?:you )?(?P<thing>to |for )|)",
    re.IGNORECASE,
)
"""The beginning of a sentence that says when a skill is used."""
LONGEST = 14
"""Words of a task."""

WHATEVER = "do this: {:.100}"
"""The task of a description that names no action."""
DISTINCT = 88
"""At this ratio of rapidfuzz (0-100) or more, two queries count as the same."""

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


def draft_queries(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The requested number of queries of each kind, from the sentences of the descriptions.

    Near misses come from the other skills' descriptions; without other skills, they are small talk
    about words of the skill.
    """
    text, parts = _fenced_parts(QUERY_PART, request)
    positives, negatives, near_misses = map(int, COUNTS.findall(text)[-1])
    name, own = _front_matter(parts["skill"])
    known = parts["existing"]
    near = max(near_misses, negatives - 2)
    listed = OTHER.findall(parts["others"])
    others = [(other, _without_name(description, name)) for other, description in listed]
    return {
        "queries": [
            *_some(positives, _positive(own), known),
            *_some(near, _near(own, others), known),
            *_some(negatives - near, _rows("It is about something else.", FAR), known),
        ]
    }


EVAL_COUNTS = re.compile(r"exactly (\d+) evals of which .*? and (\d+) that it should not change")
FOR = {True: "It is to show what “{}” makes better.", False: "It is about something else."}
HEADING = re.compile(r"^#{1,4} +(.+?)[ #]*$", re.MULTILINE)


def draft_evals(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """A form to fill in: tasks from the description, for one heading of the skill after another."""
    text, parts = _fenced_parts(QUERY_PART, request)
    total, unchanged = map(int, EVAL_COUNTS.findall(text)[-1])
    name, own = _front_matter(parts["skill"])
    tasks = _some(total - unchanged, _positive(own), "") + _some(unchanged, _rows("", FAR), "")
    headings = HEADING.findall(parts["skill"]) or [name]
    evals = [
        {
            "why": FOR[task["should_trigger"]].format(heading),
            "skill_helps": task["should_trigger"],
            "name": f"task-{at + 1}",
            "prompt": task["query"],
            "expected_output": f"To be written: what a good answer looks like ({heading}).",
            "files": [],
            "checks": [ANY_OUTPUT],
            "judged": ["All that was asked for is there"],
        }
        for at, task in enumerate(tasks)
        for heading in [headings[at % len(headings)]]
    ]
    anchors = {"anchor_1": "Of no use.", "anchor_3": "Of some use.", "anchor_5": "Ready for use."}
    useful = {"name": "usefulness", "description": f"What {name} is for is reached.", "weight": 1.0}
    return {"rubric": [useful | anchors], "evals": evals}


ANY_OUTPUT = {"type": "file_count", "description": "Something was written", "critical": True}
ANY_OUTPUT |= {"pattern": "*", "count": 1, "operator": ">="}


def _some(number: int, rows: Iterator[dict[str, Any]], known: str) -> list[dict[str, Any]]:
    """The first rows whose queries are new, and not almost the same as an earlier one."""
    from rapidfuzz import fuzz

    before = [line.partition(") ")[2].casefold() for line in known.splitlines()]
    found: list[dict[str, Any]] = []
    while len(found) < number and (row := next(rows, None)) is not None:
        query = " ".join(row["query"].split()).casefold()
        if max((fuzz.ratio(query, text) for text in before), default=0) < DISTINCT:
            before.append(query)
            found.append(row)
    return found


def _positive(own: str) -> Iterator[dict[str, Any]]:
    for row in _rows("It is what the skill does.", _tasks(own)):
        yield row | {"should_trigger": True}


def _near(own: str, others: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    each = [_rows(f"It is what {other} does.", _tasks(text), other) for other, text in others]
    for rows in zip(*each, strict=False):
        yield from rows
    if not others:
        longest = sorted(words(own), key=lambda word: (-len(word), word))
        close = [sentence.format(word=word) for word in longest or ["it"] for sentence in CLOSE]
        for row in _rows("It shares a word with the skill.", close):
            yield row | {"near_miss": True}


def _rows(why: str, tasks: Sequence[str], right: str | None = None) -> Iterator[dict[str, Any]]:
    """Each task in each way of asking, in an order in which neighbours share little."""
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
    """The actions in a description, as requests: `Sorts tables.` gives `sort tables`."""
    found = []
    for part in re.split(r"[.;:()\n]+\s*|, (?:or|and) (?=when)", description):
        opening = OPENING.match(part)
        task = part[opening.end() if opening else 0 :].partition(" and has ")[0].split()[:LONGEST]
        if len(words(" ".join(task))) < 2 or opening is None:
            continue
        if opening["thing"] == "for ":
            found.append(" ".join(["prepare", *task]))
        elif opening["thing"] or not opening["when"]:
            verb = re.sub("(?<=[a-rt-z])s(?=,?$)", "", task[0][:1].lower() + task[0][1:])
            found.append(" ".join([verb, *task[1:]]))
    return [row.rstrip(",") for row in found] or [WHATEVER.format(description)]


def _front_matter(skill_md: str) -> tuple[str, str]:
    """A skill's name, and its description without the name."""
    front = fields(parts(skill_md)[1])
    name = str(front["name"])
    return name, _without_name(str(front["description"]), name)


def _without_name(description: str, name: str) -> str:
    """A description without the skill's name, unless the name is an ordinary word."""
    coined = re.search(r"[\W_]", name) is not None
    return (
        re.sub(re.escape(name), "it", description, flags=re.IGNORECASE) if coined else description
    )
