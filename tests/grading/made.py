"""Runs to be judged, compared and analysed, and what a model may say of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_eval_nb.documents import Comparison, Dimension, Expectation, GradedExpectation
from skill_eval_nb.documents.results import ExpectationResults
from skill_eval_nb.grading.analyst import ShownWork
from skill_eval_nb.grading.comparator import Prepared, prepare
from skill_eval_nb.grading.judge import Case
from skill_eval_nb.models.ask import Question
from tests.grading.evidence.made import called, said, written

DIMENSIONS = (
    Dimension(name="clarity", weight=2.0, scoring={"1": "muddled", "3": "readable", "5": "clear"}),
    Dimension(name="depth", description="How far it goes"),
    Dimension(name="care", weight=0.5),
)
EXPECTATIONS = (
    Expectation(text="The total is 1,204.50", id="X1"),
    Expectation(text="Every invoice has a line"),
)


def case(folder: Path, files: Mapping[str, str] | None = None, *events: Any, **more: Any) -> Case:
    """A run with these files, and a transcript of these events."""
    folder.mkdir(parents=True, exist_ok=True)
    outputs = written(folder / "outputs", files or {"table.md": "| May | 1,204.50 |\n"})
    path = folder / "transcript.jsonl"
    path.write_text("\n".join(map(json.dumps, events)), "utf-8")
    about = {
        "prompt": "Add up the invoices",
        "expected_output": "A table with a total",
        "expectations": EXPECTATIONS,
        "dimensions": DIMENSIONS,
        "transcript": path if events else None,
        "key": "0f3c",
    }
    return Case(outputs=outputs, **about | more)


def two(folder: Path, one: Any = None, other: Any = None, **more: Any) -> Prepared:
    """Two works of these files, to be compared."""
    cases = [
        case(folder / key, files, **{"key": key, **more})
        for key, files in (("0a", one or {"a.md": "first"}), ("0b", other or {"b.md": "second"}))
    ]
    return prepare(*cases)


SKILL = "---\nname: ledgers\ndescription: Keeps ledgers.\n---\n\nAdd up every column.\n"


def works(folder: Path, files: Any = (("SKILL.md", SKILL),)) -> tuple[ShownWork, ShownWork]:
    """Winner and loser, for an analyst: one with a skill that it opened twice, one without."""
    opened = [*called("Skill", "", skill="ledgers"), *called("Skill", "", skill="ledgers", n=2)]
    won = case(folder / "w", {"a.md": "total: 7"}, *opened, said("I add with_skill up."), key="0a")
    lost = case(folder / "l", {"b.md": "total: ?"}, said("I guess."), key="0b")
    return (
        ShownWork("with_skill of iteration-2, run 1", "A", won, "skill-snapshot/with_skill", files),
        ShownWork("without_skill of iteration-2, run 1", "B", lost, "none (without_skill)"),
    )


def compared() -> Comparison:
    """A comparison that A won."""
    checks = {
        side: ExpectationResults(
            details=[GradedExpectation(text="There is a total", passed=side == "A")]
        )
        for side in "AB"
    }
    return Comparison("A", reasoning="A has a total.", expectation_results=checks)


def text_of(question: Question[Any]) -> str:
    """The texts of the message in one."""
    return "".join(block.get("text", "(picture)") for block in question.content)


# ── sound answers ──────────────────────────────────────────────────────────────────────────────


def judging(**more: Any) -> dict[str, Any]:
    """Of a judge, to `case`."""
    verdicts, scores = {"E1": True, "E2": False}, {"clarity": 4, "depth": 2, "care": 5}
    return {
        "expectations": [
            {"id": name, "evidence": f"seen for {name}", "passed": passed}
            for name, passed in verdicts.items()
        ],
        "dimensions": [
            {"name": name, "evidence": f"seen for {name}", "score": score}
            for name, score in scores.items()
        ],
        "claims": [],
        "user_notes": {"uncertainties": [], "needs_review": [], "workarounds": []},
        "eval_feedback": {"suggestions": [], "overall": ""},
        **more,
    }


def comparing(**more: Any) -> dict[str, Any]:
    """Of a comparator, to `two`: A wins."""
    sides = {"a": 4, "b": 2}

    def row(name: str, what: str, of_side: Any) -> dict[str, Any]:
        evidence = {f"evidence_{side}": f"{name} of {side}" for side in sides}
        return {"id": name} | evidence | {f"{what}_{side}": of_side(side) for side in sides}

    qualities = {
        f"quality_{side}": {"strengths": [f"good {side}"], "weaknesses": [], "score": score}
        for side, score in sides.items()
    }
    return {
        "expectations": [
            row("E1", "passed", lambda _: True),
            row("E2", "passed", lambda side: side == "a"),
        ],
        "scores": [row(name, "score", sides.get) for name in ("C1", "C2", "C3")],
        "key_differentiators": ["the total"],
        "reasoning": "A has the total.",
        "winner": "A",
        **qualities,
        **more,
    }


def analysing() -> dict[str, Any]:
    """Of an analyst, to `works`."""
    patterns = {"winner_execution_pattern": "added up", "loser_execution_pattern": "guessed"}
    suggestion = {"suggestion": "Show a ledger with its total", "category": "examples"}
    return {
        "transcript_insights": patterns,
        "instruction_following": {
            "winner": {"issues": [], "score": 9},
            "loser": {"issues": ["no total"], "score": 3},
        },
        "winner_strengths": ["‘Add up every column.’ was done"],
        "loser_weaknesses": ["it guessed"],
        "improvement_suggestions": [
            suggestion | {"priority": "high", "expected_impact": "totals in one form"}
        ],
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
