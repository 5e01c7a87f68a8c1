"""The stand-in as judge: reads what it was sent, and scores by features of the outputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import reading
from .chance import normal
from .expected import as_score, threshold
from .features import Features, measure
from .instance import minimal
from .outputs import OPENLY, stated
from .stand_in import StandIn

OUTPUT = re.compile(
    r'<output file="(?P<name>[^"]*)"[^>]*?nonce="(?P<nonce>[^"]+)"[^>]*>\n?'
    r'(?P<text>.*?)</output nonce="(?P=nonce)">',
    re.DOTALL,
)
DIMENSION = re.compile(r"^### (?P<name>.+?)(?: \(weight [^)\n]*\))?[ \t]*$", re.MULTILINE)
EXPECTATION = re.compile(r"^\[(?P<id>E[\w.-]*)\] (?P<text>.+)$", re.MULTILINE)
QUOTED = 160
"""Characters of a line that evidence quotes."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a judge was sent: outputs (name, text), dimensions and expectations by id."""

    outputs: tuple[tuple[str, str], ...]
    dimensions: Mapping[str, str]
    expectations: Mapping[str, str]


def sent(request: Mapping[str, Any]) -> Sent:
    """What the request puts before the judge.

    The rubric is in the last text of the user that has one, with lines `### name (weight w)`
    and `[E1] text`; outputs stand in the texts before it.
    """
    asked = [
        text
        for message in request["messages"]
        if message["role"] == "user"
        for text in reading.texts(message["content"])
    ]
    # Outputs could hold such lines too; what stands between their tags is no rubric.
    rubric = next((bare for bare in map(_bare, reversed(asked)) if _is_rubric(bare)), "")
    found = list(DIMENSION.finditer(rubric))
    # Each dimension reaches to the next one; without any, nothing has an end.
    ends = [*(match.start() for match in found[1:]), len(rubric)]
    outputs = tuple((m["name"], m["text"]) for m in OUTPUT.finditer("\n".join(asked)))
    return Sent(
        outputs,
        {m["name"].strip(): rubric[m.start() : end] for m, end in zip(found, ends, strict=False)},
        {m["id"]: m["text"] for m in EXPECTATION.finditer(rubric)},
    )


def judge(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's answer, of the form that the request asks for."""
    schema = reading.schema_of(request) or {}
    seen = sent(request)
    features = measure(seen.outputs)
    said = stated("\n".join(text for _, text in seen.outputs))
    judging = reading.mark_of(request, 32)

    def heard(about: str, name: str) -> float:
        """The quality that this judging finds, as to one dimension or expectation."""
        true = features.quality(about) if said is None else said
        return true + stand_in.judging_sd * normal(stand_in.seed, "judging", judging, name)

    dimensions = [
        {
            "name": name,
            "score": (score := as_score(heard(about, name))),
            "evidence": _evidence(features, about, good=score > 3),
        }
        for name, about in seen.dimensions.items()
    ]
    expectations = [
        {
            "id": name,
            "passed": (passed := heard(text, name) >= threshold(stand_in, text)),
            "evidence": _evidence(features, text, good=passed),
        }
        for name, text in seen.expectations.items()
    ]
    full = {
        "expectations": expectations,
        "dimensions": dimensions,
        "claims": [],
        "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": [OPENLY]},
        "eval_feedback": {"suggestions": [], "overall": OPENLY},
    }
    return _of_form(full, schema)


def _bare(text: str) -> str:
    return OUTPUT.sub("", text)


def _is_rubric(text: str) -> bool:
    return bool(DIMENSION.search(text) or EXPECTATION.search(text))


def _evidence(features: Features, about: str, *, good: bool) -> str:
    """A quotation that goes with a verdict, and the figure that it comes from."""
    quoted = features.telling(about, good=good)
    if quoted is None:
        return "No output was shown that could be read."
    name, line = quoted
    return f"{name}: “{line[:QUOTED]}”"


def _of_form(full: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """What of the answer the schema asks for, and the least of what else it asks for."""
    known = schema.get("properties")
    names = list(known) if isinstance(known, dict) else list(full)
    least = minimal(schema)
    extra = least if isinstance(least, dict) else {}
    return {
        name: full.get(name, extra.get(name)) for name in names if name in full or name in extra
    }
