"""The stand-in as analyst: quotes what its features find best and worst, and says so openly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from . import reading
from .expected import as_score
from .features import Features, measure
from .judge import OUTPUT, QUOTED
from .outputs import OPENLY
from .stand_in import StandIn

SIDE = re.compile(
    r'<side name="(?P<side>winner|loser)" nonce="(?P<nonce>[^"]+)">\n'
    r'(?P<text>.*?)</side nonce="(?P=nonce)">',
    re.DOTALL,
)
SKILL = re.compile(r"^<skill file=", re.MULTILINE)
OPENED = re.compile(r"^Calls by which it opened a skill.*: (\d+)$", re.MULTILINE)


def answer(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The analyst's answer; the same for the same request, whatever the stand-in's settings."""
    del stand_in
    texts = [text for message in request["messages"] for text in reading.texts(message["content"])]
    sides = {one["side"]: one["text"] for one in SIDE.finditer("".join(texts))}
    works = {side: sides.get(side, "") for side in ("winner", "loser")}
    seen = {
        side: measure([(one["name"], one["text"]) for one in OUTPUT.finditer(text)])
        for side, text in works.items()
    }
    best = _quoted(seen["winner"], good=True)
    worst = _quoted(seen["loser"], good=False)
    whose = "the loser's" if SKILL.search(works["loser"]) else "the winner's"
    return {
        "transcript_insights": {
            f"{side}_execution_pattern": _pattern(text) for side, text in works.items()
        },
        "instruction_following": {
            side: {"issues": [], "score": 2 * as_score(one.quality("overall"))}
            for side, one in seen.items()
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


def _quoted(seen: Features, *, good: bool) -> str:
    found = seen.telling("overall", good=good)
    return f"{found[0]}: “{found[1][:QUOTED]}”" if found else "no output was shown."
