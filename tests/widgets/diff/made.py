"""A workspace of two iterations, with the skill as each had it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.corpus.build import graded, lay

OLD = """---
name: notes
description: Writes notes.
---

# Notes

Write at most twenty words an entry.

One.
Two.
Three.
Four.
Five.
Six.
Seven.
"""
NEW = OLD.replace("twenty", "sixteen").replace("Seven.", "Seven.\nLeave out what was reverted.")

MARKS = {
    ("iteration-1", "with_skill"): ("ppf", "ppf", "pff"),
    ("iteration-1", "without_skill"): ("pff", "pff", "pff"),
    ("iteration-2", "with_skill"): ("fpp", "fpp", "ppp"),
    ("iteration-2", "without_skill"): ("pff", "pff", "pff"),
}
"""Three runs of eval 1: with the skill the first check flips to failing, the third to passing."""
KEPT = "{}/skill-snapshot/with_skill/SKILL.md"


def workspace(folder: Path, changes: dict[str, Any] | None = None, *, skill: bool = True) -> Path:
    """The workspace on disk; `changes` are files beside or instead of these.

    Of the second eval there is one run a side, and nothing changed.
    """
    files: dict[str, Any] = {
        f"iteration-{{1,2}}/eval-{number}-{name}/eval_metadata.json": {
            "eval_id": number,
            "eval_name": name,
            "prompt": f"Do the {name}",
        }
        for number, name in enumerate(("login", "logout"), 1)
    }
    unchanged = "iteration-{1,2}/eval-2-logout/{with_skill,without_skill}/run-1/grading.json"
    files[unchanged] = graded("pp")
    for (iteration, side), marks in MARKS.items():
        for number, mark in enumerate(marks, 1):
            run = f"{iteration}/eval-1-login/{side}/run-{number}"
            grading = graded(mark)
            for one in grading["expectations"]:
                one["evidence"] = f"{iteration} {side} {number}: {one['text']}"
            files[f"{run}/grading.json"] = grading
            files[f"{run}/timing.json"] = {"total_duration_seconds": 10.0 * number}
    if skill:
        files |= {KEPT.format("iteration-1"): OLD, KEPT.format("iteration-2"): NEW}
    return lay(folder / "notes-workspace", files | (changes or {}))
