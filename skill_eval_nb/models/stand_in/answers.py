"""Compose the content of an answer to a request, without side effects.

As judge, comparator and analyst, the stand-in knows two kinds of outputs: those that state their
quality (`stand-in quality: 3.42`), and the texts written by hand for the demo skill's evals. What
it finds in any other output is drawn, always the same for the same text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from . import Role, StandIn, agent, normal, reading, writers
from .agent import OPENLY
from .reading import as_score, minimal

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
    r"""The outputs in a text: as good as their lines on average, and the lowest if there are none.

    >>> shown = '<output name="{}" nonce="1">\nstand-in quality: {}\n</output nonce="1">'
    >>> seen = see_work(StandIn(), shown.format("a.md", 2) + shown.format("b.md", 3))
    >>> seen.quality, seen.quote()
    (2.5, 'b.md: “stand-in quality: 3”')
    """
    lines = [
        (output["name"], line.strip())
        for output in OUTPUT.finditer(text)
        for line in output["text"].splitlines()
        if line.strip()
    ]
    known = [(level, row) for row in lines if (level := _level_of(row[1])) is not None]
    if known:
        known.sort(key=lambda entry: -entry[0])
        return SeenWork(fmean(level for level, _ in known), [row for _, row in known])
    drawn = PASSES_AT + normal(stand_in.seed, "work", lines) if lines else 1.0
    return SeenWork(drawn, lines)


def _level_of(line: str) -> float | None:
    """The quality that a line states, or that the texts by hand with this line have on average."""
    stated = STATED.search(line)
    return float(stated[1]) if stated else agent.levels_by_hand().get(line)


DIMENSION = re.compile(r"^### (.+?)(?: \(weight [^)\n]*\))?[ \t]*$", re.MULTILINE)
EXPECTATION = re.compile(r"^\[(E[\w.-]*)\] (.+)$", re.MULTILINE)


def answer_judge(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's answer; the last text has the rubric, the texts before it the outputs."""
    *shown, rubric = reading.message_texts(request)
    seen = see_work(stand_in, "\n".join(shown))
    judging = reading.mark_of(request, 32)

    def hear_quality(name: str) -> float:
        """The quality that this judging finds for one dimension or expectation."""
        return seen.quality + stand_in.judging_sd * normal(stand_in.seed, "judging", judging, name)

    dimensions = [
        {
            "name": name.strip(),
            "score": (score := as_score(hear_quality(name.strip()))),
            "evidence": seen.quote(good=score > 3),
        }
        for name in DIMENSION.findall(rubric)
    ]
    expectations = [
        {
            "id": name,
            "passed": (passed := hear_quality(name) >= passing_quality(stand_in, text)),
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
OPENED = re.compile(r"^Calls by which it opened a skill.*: (\d+)$", re.MULTILINE)


def answer_analyst(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The analyst's answer."""
    sides = SIDE.finditer("".join(reading.message_texts(request)))
    works = {side["name"]: side["text"] for side in sides}
    seen = {side: see_work(stand_in, text) for side, text in works.items()}
    best, worst = seen["winner"].quote(), seen["loser"].quote(good=False)
    whose = "the loser's" if SKILL.search(works["loser"]) else "the winner's"
    return {
        "transcript_insights": {
            f"{side}_execution_pattern": _pattern(text) for side, text in works.items()
        },
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


def _pattern(work: str) -> str:
    opened = OPENED.search(work)
    if opened is None:
        return "no transcript -> outputs"
    return f"{'opened the skill' if int(opened[1]) else 'opened no skill'} -> outputs"


FENCE = reading.fences("suggestions")
WORD = re.compile(r"\w{5,}")
SHARED = 0.5
"""The share of its longer words that the shorter of two texts must share with the other."""


def merge(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of the numbers of similar suggestions about the same expectation."""
    fence = FENCE.search(reading.message_texts(request)[-1])
    lists: list[list[Mapping[str, Any]]] = []
    for row in map(json.loads, fence["text"].splitlines() if fence else ()):
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


ANSWERERS: dict[Role, Callable[[StandIn, Mapping[str, Any]], Any]] = {
    "analyst": answer_analyst,
    "comparator": compare,
    "drafter": writers.draft,
    "eval_drafter": writers.draft_evals,
    "judge": answer_judge,
    "merger": merge,
    "proposer": writers.propose,
    "query_drafter": writers.draft_queries,
}
"""The functions that answer with JSON, by role; other roles get a minimal answer."""


@dataclass(frozen=True, slots=True)
class ComposedReply:
    """The content of an answer, its stop reason, and its number of tokens."""

    content: list[dict[str, Any]]
    stop_reason: str
    output_tokens: int


def compose(stand_in: StandIn, request: Mapping[str, Any], role: Role) -> ComposedReply:
    """The answer to a valid request."""
    if role == "executor":
        content, stop_reason = agent.act(agent.Situation(stand_in, request))
    else:
        answerer = ANSWERERS.get(role)
        answer = answerer(stand_in, request) if answerer else minimal(reading.schema_of(request))
        text, stop_reason = json.dumps(answer, ensure_ascii=False), "end_turn"
        content = [{"type": "text", "text": text}]
    return limit(content, stop_reason, request["max_tokens"])


def limit(content: list[dict[str, Any]], stop_reason: str, allowed: int) -> ComposedReply:
    """An answer that stops at `max_tokens`, like the API's: in its text, before any tool use."""
    whole = sum(map(reading.count, content))
    if whole <= allowed:
        return ComposedReply(content, stop_reason, max(1, whole))
    room = max(0, allowed * reading.BYTES_A_TOKEN - len('{"type":"text","text":""}'))
    text = content[0]["text"].encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    kept = [{**content[0], "text": text}] if text.strip() else []
    return ComposedReply(kept, "max_tokens", max(1, allowed))
