"""Outputs, transcripts, runs and boxes for tests of grading, and what a model may say of runs."""

from __future__ import annotations

import copy
import io
import json
import os
import secrets
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from skill_eval_nb.documents import (
    Comparison,
    Dimension,
    Expectation,
    GradedExpectation,
    StructuralExpectation,
    mend,
)
from skill_eval_nb.documents.results import ExpectationResults
from skill_eval_nb.grading.analyst import ShownWork
from skill_eval_nb.grading.box import Box, BoxLimits, Ran, lend_folders, wrap_command
from skill_eval_nb.grading.comparator import Prepared, prepare
from skill_eval_nb.grading.judge import Case
from skill_eval_nb.grading.sandbox import run_in_box
from skill_eval_nb.grading.structural import check
from skill_eval_nb.models.ask import Question
from tests.corpus.build import lay

MIB = 1024 * 1024


def wanted(kind: str, **fields: Any) -> StructuralExpectation:
    """A structural expectation as its JSON says it."""
    return mend({"type": kind, **fields}, StructuralExpectation)[0]


def checked(
    folder: Path,
    kind: str,
    files: Mapping[str, str | bytes] | None = None,
    *,
    transcript: Path | None = None,
    options: Mapping[str, Any] | None = None,
    **fields: Any,
) -> GradedExpectation:
    """What one check finds in outputs of these files."""
    outputs = lay(folder / "outputs", files or {})
    done = check([wanted(kind, **fields)], outputs, transcript, **(options or {}))
    return done.expectations[0]


def picture(form: str, size: tuple[int, int] = (40, 30), **how: Any) -> bytes:
    out = io.BytesIO()
    Image.effect_mandelbrot(size, (-2, -1, 1, 1), 40).convert("RGB").save(out, form, **how)
    return out.getvalue()


def pdf(words: str) -> bytes:
    """The least PDF that shows words."""
    stream = f"BT /F1 12 Tf 20 100 Td ({words}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R %s >>"
        % b"/Resources << /Font << /F1 5 0 R >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    numbered = b"".join(b"%d 0 obj\n%s\nendobj\n" % one for one in enumerate(objects, 1))
    return b"%PDF-1.4\n" + numbered + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"


def said(text: str) -> dict[str, Any]:
    return event("assistant", {"type": "text", "text": text})


def event(role: str, block: dict[str, Any]) -> dict[str, Any]:
    """A line of a transcript."""
    return {"type": role, "message": {"role": role, "content": [block]}}


def called(
    name: str, result: str | None, *, failed: bool = False, **given: Any
) -> list[dict[str, Any]]:
    """A call of a tool, and what it gave, where that is known."""
    id_ = f"t-{name}-{given}"
    done = {"type": "tool_result", "tool_use_id": id_, "content": result, "is_error": failed}
    use = event("assistant", {"type": "tool_use", "id": id_, "name": name, "input": given})
    return [use] if result is None else [use, event("user", done)]


# ── boxes ─────────────────────────────────────────────────────────────────────────────────────────


def python(code: str) -> list[str]:
    """The command that runs code."""
    return ["python3", "-c", code]


def boxed(folder: Path, command: str | list[str], *, kind="bubblewrap", **limits) -> Ran:
    """Run a command in a box; a text is the shell's."""
    box = Box(folder, kind=kind, limits=BoxLimits(**limits))
    return run_in_box(box, ["sh", "-c", command] if isinstance(command, str) else command)


def wrapped_run(box: Box, command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command in a box as those do who start it themselves."""
    with lend_folders(box), wrap_command(box, ["sh", "-c", command]) as (argv, files):
        return subprocess.run(
            argv, check=False, capture_output=True, pass_fds=files, timeout=60, cwd=box.folder
        )


def marker() -> str:
    """Seconds to sleep that nobody else sleeps, by which a process is found."""
    return f"98765.{secrets.randbelow(10**9):09d}"


def running(mark: str) -> list[int]:
    """The processes whose command line holds the mark, but for this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in command:
            found.append(int(entry.name))
    return found


# ── runs to be judged, compared and analysed ──────────────────────────────────────────────────────

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
    outputs = lay(folder / "outputs", files or {"table.md": "| May | 1,204.50 |\n"})
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
    yes, no = (
        ExpectationResults(details=[GradedExpectation(text="There is a total", passed=passed)])
        for passed in (True, False)
    )
    checks = {"A": yes, "B": no}
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

    def row(name: str, what: str, a: float, b: float) -> dict[str, Any]:
        evidence = {"evidence_a": f"{name} of a", "evidence_b": f"{name} of b"}
        return {"id": name, **evidence, f"{what}_a": a, f"{what}_b": b}

    return {
        "expectations": [row("E1", "passed", True, True), row("E2", "passed", True, False)],
        "scores": [row(name, "score", 4, 2) for name in ("C1", "C2", "C3")],
        "key_differentiators": ["the total"],
        "reasoning": "A has the total.",
        "winner": "A",
        "quality_a": {"strengths": ["good a"], "weaknesses": [], "score": 4},
        "quality_b": {"strengths": ["good b"], "weaknesses": [], "score": 2},
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
