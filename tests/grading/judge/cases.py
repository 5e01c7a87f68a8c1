"""Runs to be judged, and a client that answers as a test tells it to."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_eval_nb.documents import Dimension, Expectation
from skill_eval_nb.grading.judge import Case
from skill_eval_nb.models import Meter, ModelFault, Reply, Usage, worst_case

DIMENSIONS = (
    Dimension(name="clarity", weight=2.0, scoring={"1": "muddled", "3": "readable", "5": "clear"}),
    Dimension(name="depth", description="How far it goes"),
    Dimension(name="care", weight=0.5),
)
EXPECTATIONS = (
    Expectation(text="The total is 1,204.50", id="X1"),
    Expectation(text="Every invoice has a line"),
)


def case(
    folder: Path,
    files: Mapping[str, str] | None = None,
    *,
    expectations: Any = EXPECTATIONS,
    dimensions: Any = DIMENSIONS,
    transcript: str | None = None,
    **more: Any,
) -> Case:
    outputs = folder / "outputs"
    outputs.mkdir(parents=True, exist_ok=True)
    for name, text in (files or {"table.md": "| May | 1,204.50 |\n"}).items():
        (outputs / name).write_text(text, "utf-8")
    path = None
    if transcript is not None:
        path = folder / "transcript.jsonl"
        path.write_text(transcript, "utf-8")
    return Case(
        prompt="Add up the invoices",
        expected_output="A table with a total",
        expectations=expectations,
        dimensions=dimensions,
        outputs=outputs,
        transcript=path,
        **{"key": "0f3c", **more},
    )


def answer(
    expectations: Mapping[str, bool] | None = None,
    scores: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A sound answer to `case`."""
    verdicts = {"E1": True, "E2": False} if expectations is None else expectations
    given = {"clarity": 4, "depth": 2, "care": 5} if scores is None else scores
    return {
        "expectations": [
            {"id": name, "evidence": f"seen for {name}", "passed": passed}
            for name, passed in verdicts.items()
        ],
        "dimensions": [
            {"name": name, "evidence": f"seen for {name}", "score": score}
            for name, score in given.items()
        ],
        "claims": [],
        "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": []},
        "eval_feedback": {"suggestions": [], "overall": ""},
        **more,
    }


def broken(said: Any, path: str, to: Any = ...) -> Any:
    """An answer with one thing in it changed, or left out; a path is names and places by dots."""
    said = copy.deepcopy(said)
    *above, last = (int(step) if step.isdecimal() else step for step in path.split("."))
    inner = said
    for step in above:
        inner = inner[step]
    if to is ...:
        del inner[last]
    else:
        inner[last] = to
    return said


def reply(said: Any, stop_reason: str = "end_turn", usage: Usage | None = None) -> Reply:
    text = said if isinstance(said, str) else json.dumps(said)
    used = Usage(input_tokens=100, output_tokens=10, calls=1) if usage is None else usage
    return Reply([{"type": "text", "text": text}], stop_reason, used, "judge-1", "msg_1")


@dataclass
class Scripted:
    """A client that gives the next of its answers, and keeps what it was asked."""

    answers: list[Reply | ModelFault]
    requests: list[dict[str, Any]] = field(default_factory=list)

    async def send(self, request: dict[str, Any], *, meter: Meter, deadline: float) -> Reply:
        ticket = meter.reserve(request["model"], worst_case(request))
        self.requests.append(request)
        said = self.answers.pop(0)
        if isinstance(said, ModelFault):
            meter.release(ticket)
            raise said
        meter.settle(ticket, said.usage)
        return said


def last_text(request: dict[str, Any]) -> str:
    return request["messages"][0]["content"][-1]["text"]


def every_text(request: dict[str, Any]) -> str:
    return json.dumps(request, ensure_ascii=False)
