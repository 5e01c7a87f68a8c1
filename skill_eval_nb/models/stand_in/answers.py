"""What the stand-in answers in JSON: as judge, comparator, analyst, merger, drafter, proposer.

As judge, comparator and analyst, the stand-in knows two kinds of outputs: those that state their
quality (`stand-in quality: 3.42`), and the texts written by hand for the demo skill's evals. What
it finds in any other output is drawn, always the same for the same text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any

from skill_eval_nb.skill_md import read_front_matter, split_skill_md

from . import StandIn, normal, reading
from .agent import OPENLY, levels_by_hand, words
from .reading import as_score

PASSES_AT = 3.0
"""The quality at which an expectation of average difficulty is met half of the time."""


def passing_quality(stand_in: StandIn, expectation: str) -> float:
    """The quality that an expectation asks for."""
    return PASSES_AT + stand_in.check_sd * normal(stand_in.seed, "expectation", expectation)


OUTPUT = reading.fences("output")
STATED = re.compile(r"(?:stand-in|\[name \d+\]) quality:\s*(-?\d+(?:\.\d+)?)")
"""A stated quality, even if the stand-in's name is covered as the executor's."""
QUOTED = 160
"""Characters of a line that evidence quotes."""


@dataclass(frozen=True, slots=True)
class SeenWork:
    """The outputs of a run: their quality, and their lines with their files, the best first."""

    quality: float
    lines: Sequence[tuple[str, str]]

    def quote(self, *, good: bool = True) -> str:
        """The line that speaks most for a good verdict, or against it, with its file."""
        if not self.lines:
            return "No output was shown."
        name, line = self.lines[0 if good else -1]
        return f"{name}: “{line[:QUOTED]}”"


def see_work(stand_in: StandIn, text: str) -> SeenWork:
    r"""The outputs in a text: as good as the first line that says so, else as their lines by hand.

    >>> shown = '<output name="{}" nonce="1">\nstand-in quality: {}\n</output nonce="1">'
    >>> seen = see_work(StandIn(), shown.format("a.md", 2) + shown.format("b.md", 3))
    >>> seen.quality, seen.quote()
    (2.0, 'b.md: “stand-in quality: 3”')
    """
    lines = [
        (output["name"], line.strip())
        for output in OUTPUT.finditer(text)
        for line in output["text"].splitlines()
        if line.strip()
    ]
    if not lines:
        return SeenWork(1.0, lines)
    stated = {line: float(found[1]) for _, line in lines if (found := STATED.search(line))}
    known = levels_by_hand() | stated
    levels = [known[line] for _, line in lines if line in known]
    if not levels:
        drawn = PASSES_AT + stand_in.run_sd * normal(stand_in.seed, "work", lines)
        return SeenWork(drawn, lines)
    quality = next(iter(stated.values()), fmean(levels))
    best = sorted((row for row in lines if row[1] in known), key=lambda row: -known[row[1]])
    return SeenWork(quality, best)


DIMENSION = re.compile(r"^### (.+?)(?: \(weight [^)\n]*\))?[ \t]*$", re.MULTILINE)
EXPECTATION = re.compile(r"^\[(E[\w.-]*)\] (.+)$", re.MULTILINE)


def answer_judge(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's answer; the last text has the rubric, the texts before it the outputs."""
    *shown, rubric = reading.message_texts(request)
    seen = see_work(stand_in, "\n".join(shown))
    judging = reading.mark_of(request, 32)

    def judged_quality(name: str) -> float:
        """The quality that this judging finds for a dimension or an expectation."""
        return seen.quality + stand_in.judging_sd * normal(stand_in.seed, "judging", judging, name)

    dimensions = [
        {
            "name": name.strip(),
            "score": (score := as_score(judged_quality(name.strip()))),
            "evidence": seen.quote(good=score > 3),
        }
        for name in DIMENSION.findall(rubric)
    ]
    expectations = [
        {
            "id": name,
            "passed": (passed := judged_quality(name) >= passing_quality(stand_in, text)),
            "evidence": seen.quote(good=passed),
        }
        for name, text in EXPECTATION.findall(rubric)
    ]
    return {
        "expectations": expectations,
        "dimensions": dimensions,
        "claims": [],
        "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": [OPENLY]},
        "eval_feedback": {"suggestions": [], "overall": OPENLY},
    }


WORK = reading.fences("work")
CRITERION = re.compile(r"^\[([CE]\d+)\] ", re.MULTILINE)
NOTICED = 0.25
"""Works whose qualities differ by less are equally good."""
PREFERRED = {"first": (4.0, 3.0), "last": (3.0, 4.0), "tie": (3.0, 3.0)}
"""The qualities of A and B if only the position counts."""


def compare(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The comparator's answer, by the setting `prefers`."""
    *shown, asked = reading.message_texts(request)
    works = WORK.finditer("".join(shown))
    seen = {work["name"]: see_work(stand_in, work["text"]) for work in works}
    mark = reading.mark_of(request, 32)
    noise = 0.0 if stand_in.prefers == "better" else stand_in.judging_sd
    qualities = {
        side: work.quality + noise * normal(stand_in.seed, "comparing", mark, side)
        for side, work in seen.items()
    }
    if stand_in.prefers in PREFERRED:
        qualities = dict(zip("AB", PREFERRED[stand_in.prefers], strict=True))
    difference = qualities["A"] - qualities["B"]
    winner = "tie" if abs(difference) < NOTICED else "A" if difference > 0 else "B"
    criteria = CRITERION.findall(asked)
    evidence = {f"evidence_{side.lower()}": work.quote() for side, work in seen.items()}
    passed = {f"passed_{side.lower()}": qualities[side] >= PASSES_AT for side in seen}
    scores = {f"score_{side.lower()}": as_score(qualities[side]) for side in seen}
    return {
        "expectations": [{"id": name} | evidence | passed for name in criteria if name[0] == "E"],
        "scores": [{"id": name} | evidence | scores for name in criteria if name[0] == "C"],
        **{
            f"quality_{side.lower()}": {
                "strengths": [work.quote()],
                "weaknesses": [],
                "score": max(1, min(10, round(2 * qualities[side]))),
            }
            for side, work in seen.items()
        },
        "key_differentiators": [] if winner == "tie" else [f"quality, by {abs(difference):.2f}"],
        "reasoning": (
            f"{OPENLY} It finds a quality of {qualities['A']:.2f} in A and of "
            f"{qualities['B']:.2f} in B."
        ),
        "winner": winner,
    }


SIDE = reading.fences("side")
SKILL = re.compile(r"^<skill file=", re.MULTILINE)


def answer_analyst(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The analyst's answer."""
    sides = SIDE.finditer("".join(reading.message_texts(request)))
    works = {side["name"]: side["text"] for side in sides}
    seen = {side: see_work(stand_in, text) for side, text in works.items()}
    best, worst = seen["winner"].quote(), seen["loser"].quote(good=False)
    whose = "the loser's" if SKILL.search(works["loser"]) else "the winner's"
    return {
        "transcript_insights": {f"{side}_execution_pattern": OPENLY for side in works},
        "instruction_following": {
            side: {"issues": [], "score": 2 * as_score(work.quality)} for side, work in seen.items()
        },
        "winner_strengths": [f"{OPENLY} It likes best: {best}"],
        "loser_weaknesses": [f"It likes least: {worst}"],
        "improvement_suggestions": [
            {
                "suggestion": f"Show in {whose} skill what a good line is: {best}",
                "category": "examples",
                "priority": "high",
                "expected_impact": "More lines like that one.",
            },
            {
                "suggestion": f"Say in {whose} skill how to do without lines such as: {worst}",
                "category": "instructions",
                "priority": "medium",
                "expected_impact": "Fewer lines like that one.",
            },
        ],
    }


FENCE = reading.fences("suggestions|tried|failures|skill|others|existing")
WORD = re.compile(r"\w{5,}")
SHARED = 0.5
"""The share of its longer words that the shorter of two texts must share with the other."""


def merge(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of the numbers of similar suggestions about the same expectation."""
    lists: list[list[Mapping[str, Any]]] = []
    for row in _read_rows(_fenced_parts(request)[1].get("suggestions", "")):
        near = next((many for many in lists if _is_same(many[0], row)), None)
        if near is None:
            lists.append([row])
        else:
            near.append(row)
    return {"same": [[row["number"] for row in many] for many in lists if len(many) > 1]}


def _is_same(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if row["expectation"] != other["expectation"]:
        return False
    both = [set(WORD.findall(str(each["reason"]).casefold())) for each in (row, other)]
    fewest = min(map(len, both))
    return fewest > 0 and len(both[0] & both[1]) >= SHARED * fewest


SUGGESTION = re.compile(
    r"^\[(?P<id>G\d+)\] \(\d+ runs; .*?; evals (?P<evals>[^)]*)\) (?P<text>.*)$", re.MULTILINE
)
NAMED = re.compile(r"`([^`]{2,60})`")
FIELDS = (
    *("text", "type", "description", "pattern", "match", "match_any", "match_regex", "critical"),
    *("count", "operator", "name", "weight", "anchor_1", "anchor_3", "anchor_5", "prompt"),
)


def _fenced_parts(request: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """All texts of a request as one, and the material between its fences by their tags."""
    text = "\n".join(reading.message_texts(request))
    return text, {part["tag"]: part["text"] for part in FENCE.finditer(text)}


def draft(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The drafter's answer: a check for each name that a suggestion has in backticks."""
    parts = _fenced_parts(request)[1]
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
    whole, parts = _fenced_parts(request)
    tried = [row["description"] for row in _read_rows(parts["tried"])]
    base = BASE.search(whole)
    plain, listed = _part_description(NUMBER.sub("", tried[int(base[1]) - 1] if base else ""))
    failures = [
        (row["should_trigger"], words(row["query"])) for row in _read_rows(parts["failures"])
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


def _read_rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


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
    text, parts = _fenced_parts(request)
    positives, negatives, near_misses = map(int, COUNTS.findall(text)[-1])
    name, own = _front_matter(parts["skill"])
    known = parts["existing"]
    near = max(near_misses, negatives - 2)
    listed = OTHER.findall(parts["others"])
    others = [(other, _without_name(description, name)) for other, description in listed]
    return {
        "queries": [
            *_pick_new(positives, _draft_positives(own), known),
            *_pick_new(near, _draft_near_misses(own, others), known),
            *_pick_new(negatives - near, _word_tasks("It is about something else.", FAR), known),
        ]
    }


EVAL_COUNTS = re.compile(r"exactly (\d+) evals of which .*? and (\d+) that it should not change")
FOR = {True: "It is to show what “{}” makes better.", False: "It is about something else."}
HEADING = re.compile(r"^#{1,4} +(.+?)[ #]*$", re.MULTILINE)


def draft_evals(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """A form to fill in: tasks from the description, for one heading of the skill after another."""
    text, parts = _fenced_parts(request)
    total, unchanged = map(int, EVAL_COUNTS.findall(text)[-1])
    name, own = _front_matter(parts["skill"])
    tasks = _pick_new(total - unchanged, _draft_positives(own), "")
    tasks += _pick_new(unchanged, _word_tasks("", FAR), "")
    headings = HEADING.findall(parts["skill"]) or [name]
    evals = [
        {
            "why": why,
            "skill_helps": task["should_trigger"],
            "name": f"task-{at + 1}",
            "prompt": task["query"],
            "expected_output": f"To be written: what a good answer looks like. {why}",
            "files": [],
            "checks": [ANY_OUTPUT | {"critical": task["should_trigger"]}],
            "judged": ["All that was asked for is there"],
        }
        for at, task in enumerate(tasks)
        for why in [FOR[task["should_trigger"]].format(headings[at % len(headings)])]
    ]
    anchors = {"anchor_1": "Of no use.", "anchor_3": "Of some use.", "anchor_5": "Ready for use."}
    useful = {"name": "usefulness", "description": f"What {name} is for is reached.", "weight": 1.0}
    return {"rubric": [useful | anchors], "evals": evals}


ANY_OUTPUT = {"type": "file_count", "description": "Something was written"}
ANY_OUTPUT |= {"pattern": "*", "count": 1, "operator": ">="}


def _pick_new(number: int, rows: Iterator[dict[str, Any]], known: str) -> list[dict[str, Any]]:
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


def _draft_positives(own: str) -> Iterator[dict[str, Any]]:
    for row in _word_tasks("It is what the skill does.", _find_tasks(own)):
        yield row | {"should_trigger": True}


def _draft_near_misses(own: str, others: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    each = [
        _word_tasks(f"It is what {other} does.", _find_tasks(text), other) for other, text in others
    ]
    for rows in zip(*each, strict=False):
        yield from rows
    if not others:
        longest = sorted(words(own), key=lambda word: (-len(word), word))
        close = [sentence.format(word=word) for word in longest or ["it"] for sentence in CLOSE]
        for row in _word_tasks("It shares a word with the skill.", close):
            yield row | {"near_miss": True}


def _word_tasks(
    why: str, tasks: Sequence[str], right: str | None = None
) -> Iterator[dict[str, Any]]:
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


def _find_tasks(description: str) -> list[str]:
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
    front = read_front_matter(split_skill_md(skill_md)[1])
    name = str(front["name"])
    return name, _without_name(str(front["description"]), name)


def _without_name(description: str, name: str) -> str:
    """A description without the skill's name, unless the name is an ordinary word."""
    coined = re.search(r"[\W_]", name) is not None
    return (
        re.sub(re.escape(name), "it", description, flags=re.IGNORECASE) if coined else description
    )
