"""The stand-in as comparator: prefers a work by features of its outputs, or as it was told to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from . import reading
from .chance import normal
from .expected import PASSES_AT, as_score
from .features import Features, measure
from .instance import minimal
from .judge import OUTPUT, QUOTED
from .outputs import OPENLY
from .stand_in import StandIn

WORK = re.compile(
    r'<work name="(?P<side>[AB])" nonce="(?P<nonce>[^"]+)">\n'
    r'(?P<text>.*?)</work nonce="(?P=nonce)">',
    re.DOTALL,
)
ASKED = re.compile(r"^\[(?P<id>[CE]\d+)\] (?P<text>.+)$", re.MULTILINE)
STATED = re.compile(r"(?:stand-in|\[name \d+\]) quality:\s*(-?\d+(?:\.\d+)?)")
"""A stated quality, also where the stand-in's name is covered up as that of the executor."""
NOTICED = 0.25
"""Works whose qualities differ by less are as good as each other."""
TOLD = {"first": (4.0, 3.0), "last": (3.0, 4.0), "tie": (3.0, 3.0)}
"""The qualities of A and B, where it does not look at them."""


def answer(stand_in: StandIn, request: Mapping[str, Any]) -> Any:
    """The comparator's answer, as its setting `prefers` has it; of another form, the least."""
    schema = reading.schema_of(request) or {}
    compared = _compared(stand_in, request)
    return compared if set(compared) == set(schema.get("properties", ())) else minimal(schema)


def _compared(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    texts = [text for message in request["messages"] for text in reading.texts(message["content"])]
    works = {one["side"]: one["text"] for one in WORK.finditer("".join(texts))}
    seen = {side: _seen(works.get(side, "")) for side in ("A", "B")}
    mark = reading.mark_of(request, 32)
    qualities = {
        side: _quality(stand_in, works.get(side, ""), seen[side], mark, side) for side in seen
    }
    if stand_in.prefers in TOLD:
        qualities = dict(zip("AB", TOLD[stand_in.prefers], strict=True))
    difference = qualities["A"] - qualities["B"]
    winner = "tie" if abs(difference) < NOTICED else "A" if difference > 0 else "B"
    # What comes after it, where an answer is asked for anew, has no such lines.
    last = next((text for text in reversed(texts) if ASKED.search(text)), "")
    asked = [(one["id"], one["text"]) for one in ASKED.finditer(last)]
    return {
        "expectations": [
            {"id": name}
            | {f"evidence_{side.lower()}": _quoted(seen[side], text) for side in seen}
            | {f"passed_{side.lower()}": qualities[side] >= PASSES_AT for side in seen}
            for name, text in asked
            if name.startswith("E")
        ],
        "scores": [
            {"id": name}
            | {f"evidence_{side.lower()}": _quoted(seen[side], text) for side in seen}
            | {f"score_{side.lower()}": as_score(qualities[side]) for side in seen}
            for name, text in asked
            if name.startswith("C")
        ],
        **{
            f"quality_{side.lower()}": {
                "strengths": [_quoted(seen[side], "overall")],
                "weaknesses": [],
                "score": max(1, min(10, round(2 * qualities[side]))),
            }
            for side in seen
        },
        "key_differentiators": [] if winner == "tie" else [f"quality, by {abs(difference):.2f}"],
        "reasoning": (
            f"{OPENLY} It finds a quality of {qualities['A']:.2f} in A and of "
            f"{qualities['B']:.2f} in B."
        ),
        "winner": winner,
    }


def _seen(work: str) -> Features:
    return measure([(one["name"], one["text"]) for one in OUTPUT.finditer(work)])


def _quality(stand_in: StandIn, work: str, seen: Features, mark: str, side: str) -> float:
    """The quality that is found in a work: the one it states, else by its features."""
    stated = STATED.search(work)
    true = float(stated[1]) if stated else seen.quality("")
    if stand_in.prefers == "better":
        return true
    return true + stand_in.judging_sd * normal(stand_in.seed, "comparing", mark, side)


def _quoted(seen: Features, about: str) -> str:
    found = seen.telling(about, good=True)
    return f"{found[0]}: “{found[1][:QUOTED]}”" if found else "No output was shown."
