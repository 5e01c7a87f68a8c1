"""Made-up workspaces with planted differences between the sides, for drafting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skill_eval_nb.improving.drafting import draft
from skill_eval_nb.improving.evidence import Evidence, evidence_of
from skill_eval_nb.improving.values import Draft, RunRef, Source, Suggestion
from skill_eval_nb.tables import load
from tests.corpus.build import lay

SIDES = ("with_skill", "without_skill")
EXISTS = {
    "id": "S1",
    "type": "file_exists",
    "description": "A report was written",
    "pattern": "*.md",
    "critical": False,
}

Verdict = Callable[[str, str, int], bool]
"""Whether a check passes, by eval, side and run."""


class Found:
    """Suggestions, in the place of an aggregate."""

    def __init__(self, *suggestions: Suggestion) -> None:
        self.suggestions = suggestions


def said(reason: str, *evals: str, assertion: str | None = None, runs: int = 2, **more: Any):
    """A suggestion that so many runs of each of these evals made."""
    sources = tuple(
        Source(RunRef("ws", "ws", "none", one, one, "with_skill", n + 1), "critique", None, reason)
        for one in evals
        for n in range(runs)
    )
    fields = {"key": f"s-{reason[:12]}", "action": None, "kind": "critique", **more}
    return Suggestion(
        reason=reason, frequency=len(sources), assertion=assertion, sources=sources, **fields
    )


def world(
    folder: Path,
    *,
    checks: Mapping[str, tuple[Mapping[str, Any] | str, Verdict]],
    output: Callable[[str, str, int], str] = lambda *_: "# Report\n",
    evals: int = 6,
    runs: int = 3,
    dimensions: tuple[Mapping[str, Any], ...] = (),
    scores: Callable[[str, str, int], Mapping[str, Any]] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """A workspace `ws` whose evals all have the same checks, and an output report.md each."""
    structural = [one for one, _ in checks.values() if not isinstance(one, str)]
    judged = [one for one, _ in checks.values() if isinstance(one, str)]
    names = [str(n) for n in range(1, evals + 1)]
    files: dict[str, Any] = {
        "evals.json": {
            "skill_name": "ws",
            "evals": [
                {
                    "id": int(name),
                    "name": name,
                    "prompt": f"Report on subject{name}.",
                    "expectations": judged,
                    "structural_expectations": structural,
                    **({"quality_rubric": {"dimensions": list(dimensions)}} if dimensions else {}),
                }
                for name in names
            ],
        }
    }
    for name in names:
        for side in SIDES:
            for run in range(1, runs + 1):
                below = f"eval-{name}/{side}/run-{run}"
                files[f"{below}/outputs/report.md"] = output(name, side, run)
                rows = [(one, passes(name, side, run)) for one, passes in checks.values()]
                files[f"{below}/structural.json"] = {
                    "expectations": [
                        {**_row(one), "passed": passed, "evidence": "made up"}
                        for one, passed in rows
                        if not isinstance(one, str)
                    ]
                }
                files[f"{below}/grading.json"] = {
                    "expectations": [
                        {"text": one, "passed": passed, "evidence": "made up"}
                        for one, passed in rows
                        if isinstance(one, str)
                    ],
                    **(scores(name, side, run) if scores else {}),
                }
    return lay(folder / "ws", {**files, **(more or {})})


def _row(one: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: one[name] for name in ("id", "type", "critical") if name in one}
    return {**row, "text": one["description"]}


def always(*_: Any) -> bool:
    """A check that always passes."""
    return True


def look(path: Path, *suggestions: Suggestion) -> Evidence:
    """What the rules see of a workspace."""
    return evidence_of(load(path), Found(*suggestions), None)  # pyright: ignore[reportArgumentType]


def drafted(path: Path, *suggestions: Suggestion, **options: Any) -> tuple[Draft, ...]:
    """The drafts of a workspace."""
    return draft(load(path), Found(*suggestions), **options)  # pyright: ignore[reportArgumentType]
