"""Made-up workspaces of which it is known what is to be found, and suites and drafts for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from skill_eval_nb.improving import Draft, RunRef, Source, Suggestion
from skill_eval_nb.improving.drafting import Drafts
from skill_eval_nb.improving.drafting import draft as drafts_of
from skill_eval_nb.improving.rules import Evidence, evidence_of
from skill_eval_nb.improving.values import Part, key_of
from skill_eval_nb.models import Connection
from skill_eval_nb.running import grade_stored
from skill_eval_nb.tables import load
from tests.corpus.build import graded, lay
from tests.grading.made import called
from tests.grading.made import said as told
from tests.stand_in import RiggedStandIn, logged

SIDES = NEW, OLD = ("with_skill", "without_skill")
CHECKS = "structural_expectations"
EXISTS = {"id": "S1", "type": "file_exists", "description": "A report", "pattern": "*.md"}
TOTAL = {"id": "S2", "type": "file_contains", "description": "A total", "match": "Total"}
SOURCES = {"type": "file_contains", "pattern": "*.md", "match": "Source:"}
"""The check that drafts add: a text that outputs are planted with."""
JUDGED = "The sources are named below the table"
OTHER = "It reads well"
DEPTH = {"id": "Q1", "name": "depth", "description": "How deep", "weight": 2.0, "scoring": {}}
CLARITY = {"id": "Q2", "name": "clarity", "description": "How clear", "weight": 1.0, "scoring": {}}
EVALS = ("1", "2", "3", "4")

Verdict = Callable[[str, str, int], bool]
"""Whether a check passes, by eval, side and run."""
Text = Callable[[str, str, int], str]
"""What an output says, by eval, side and run."""


def always(*_: Any) -> bool:
    """A check that always passes."""
    return True


def with_the_skill(_: str, side: str, __: int) -> bool:
    """A check that passes with the skill alone."""
    return side == NEW


def planted(with_skill: int, without_skill: int) -> Text:
    """Reports of which so many runs of each eval name their source; all of them total."""
    named = {NEW: with_skill, OLD: without_skill}

    def text(_: str, side: str, run: int) -> str:
        return "# Report\nTotal 3\n" + ("Source: the ledger\n" if run <= named[side] else "")

    return text


def world(
    folder: Path,
    checks: Sequence[tuple[Mapping[str, Any] | str, Verdict | None]],
    *,
    output: Text = lambda *_: "# Report\n",
    evals: int = 6,
    runs: int = 3,
    dimensions: Sequence[Mapping[str, Any]] = (),
    more: Callable[[str, str, int], Mapping[str, Any]] = lambda *_: {},
) -> Path:
    """A workspace `ws` whose evals all have the same checks, and an output report.md each.

    A structural check without a verdict is made on the outputs; `more` are fields of gradings.
    """
    lists = {kind: [one for one, _ in checks if isinstance(one, kind)] for kind in (str, dict)}
    suite = [
        {"id": n, "name": f"{n}", "prompt": f"Report on subject{n}.", "expectations": lists[str]}
        | {CHECKS: lists[dict]}
        | ({"quality_rubric": {"dimensions": list(dimensions)}} if dimensions else {})
        for n in range(1, evals + 1)
    ]
    files: dict[str, Any] = {"evals.json": {"skill_name": "ws", "evals": suite}}
    for at in product(map(str, range(1, evals + 1)), SIDES, range(1, runs + 1)):
        rows: dict[type, list[Any]] = {str: [], dict: []}
        for one, verdict in checks:
            own = {"text": one} if isinstance(one, str) else {**one, "text": one["description"]}
            if verdict:
                given = {"passed": verdict(*at), "evidence": f"evidence on {own['text']}"}
                rows[type(one)].append(own | given)
        below = "eval-{}/{}/run-{}".format(*at)
        files[f"{below}/outputs/report.md"] = output(*at)
        files[f"{below}/structural.json"] = {"expectations": rows[dict]}
        files[f"{below}/grading.json"] = {"expectations": rows[str], **more(*at)}
    root = lay(folder / "ws", files)
    if not all(verdict for _, verdict in checks):
        grade_stored(root, force=True)
    return root


def tried_on(folder: Path, text: Text, judged: Verdict = always, **more: Any) -> Path:
    """A world on which drafts are tried: its checks are made, its scores differ by side and run."""

    def scores(_: str, side: str, run: int) -> dict[str, Any]:
        given = {"depth": 3 + (side == NEW), "clarity": 1 + run % 5}
        scored = {name: {"score": score, "evidence": "seen"} for name, score in given.items()}
        return {"rubric_scores": scored, "judge_model": "a-judge"}

    gate = EXISTS | {"critical": True}
    checks = [(gate, None), (TOTAL, None), (JUDGED, judged), (OTHER, always)]
    made = {"evals": 4, "runs": 4, "dimensions": (DEPTH, CLARITY), "more": scores}
    return world(folder, checks, output=text, **(made | more))


def look(path: Path, *suggestions: Suggestion) -> Evidence:
    """What the rules see of a workspace."""
    found: Any = SimpleNamespace(suggestions=suggestions)
    return evidence_of(load(path), found, None)


def drafted(path: Path, *suggestions: Suggestion, **options: Any) -> Drafts:
    """The drafts of a workspace."""
    found: Any = SimpleNamespace(suggestions=suggestions)
    return drafts_of(load(path), found, **options)


def said(reason: str, *evals: str, assertion: str | None = None, runs: int = 2, **more: Any):
    """A suggestion that so many runs of each of these evals made."""
    sources = tuple(
        Source(RunRef("ws", "ws", "none", one, one, NEW, n + 1), "critique", None, reason)
        for one in evals
        for n in range(runs)
    )
    fields = {"key": f"s-{reason[:12]}", "action": None, "kind": "critique", **more}
    return Suggestion(
        reason=reason, frequency=len(sources), assertion=assertion, sources=sources, **fields
    )


# ── suites and drafts ──────────────────────────────────────────────────────────────────────────

SUITE: list[dict[str, Any]] = [
    {
        "id": 1,
        "name": "short log",
        "prompt": "Write notes of the log",
        "expected_output": "one note",
        "files": [],
        "mine": {"kept": [1.0, 2e3]},
        "expectations": ["It has one note", "It is polite"],
        CHECKS: [
            {"id": "S1", "type": "file_exists", "pattern": "*.md", "critical": True, "note": "n"},
            {"id": "S2", "type": "file_contains", "pattern": "*.md", "match": "# "},
        ],
        "quality_rubric": {
            "dimensions": [
                {"id": "Q1", "name": "plain", "description": "Plain words", "weight": 0.6}
                | {"scoring": {"1": "jargon", "3": "some jargon", "5": "none"}},
                {"id": "Q2", "name": "short", "description": "Few words", "weight": 0.4},
            ]
        },
    },
    {"id": 2, "name": "no log", "prompt": "Write notes", "files": [], "expectations": []},
]


def suite(folder: Path, evals: Any = SUITE, *, name: str = "evals.json") -> Path:
    """A suite's file."""
    text = json.dumps({"skill_name": "notes", "evals": evals}, indent=2)
    return lay(folder, {name: f"{text}\n"}) / name


def draft(
    part: Part, *new: Any, target: str | None = None, evals: Sequence[str] = ("1",), **more: Any
) -> Draft:
    """A draft that adds, changes or drops, as there is a target and something new."""
    about = () if part == "evals" else tuple(evals)
    kind = "add" if target is None else "sharpen" if new else "drop"
    key = key_of(part, about, target, new)
    fields = {"key": key, "kind": kind, "part": part, "evals": about, "target": target}
    return Draft(**(fields | {"new": new, "why": "made up"} | more))


# ── comparisons ────────────────────────────────────────────────────────────────────────────────

LINE = "Begin each entry with what the reader of the ledger gains from it."
SKILL = f"---\nname: ledger-keeper\ndescription: Keeps ledgers.\n---\n\n# Ledgers\n\n{LINE}\n"
EXECUTOR = "made-up-executor-7"
ITERATIONS = ("iteration-1", "iteration-2")


def ledgers(
    folder: Path,
    *,
    evals: int = 3,
    runs: int = 2,
    iterations: Sequence[str] = ITERATIONS,
    sides: Sequence[str] = SIDES,
    name: str = "ledger-keeper-workspace",
    files: Mapping[str, Any] | None = None,
) -> Path:
    """A workspace whose outputs state their quality, and the skill beside it.

    With the skill all is better, and better still in the second iteration.
    """
    suite = [
        {"id": n, "name": f"ledger-{n}", "prompt": f"Keep ledger number {n} in answer.md"}
        | {"expectations": ["It adds up"]}
        for n in range(1, evals + 1)
    ]
    laid: dict[str, Any] = {
        f"{name}/evals.json": {"skill_name": "ledger-keeper", "evals": suite},
        "ledger-keeper/SKILL.md": SKILL,
    }
    runs_of = product(iterations, range(1, evals + 1), sides, range(1, runs + 1))
    for iteration, n, side, run in runs_of:
        at = f"{name}/{iteration}/eval-{n}-ledger-{n}/{side}/run-{run}"
        quality = 3 + (side == NEW) * (1 + iteration.endswith("2")) * 0.5
        text = f"Ledger {n}, copy {run}\n\nstand-in quality: {quality}"
        laid[f"{at}/outputs/answer.md"] = text
        laid[f"{at}/grading.json"] = graded("p", judge_model="stand-in-judge")
        laid[f"{at}/timing.json"] = {"executor_model": EXECUTOR}
        laid[f"{at}/transcript.jsonl"] = _transcript(folder / at, side)
    lay(folder, laid | {f"{name}/{path}": content for path, content in (files or {}).items()})
    return folder / name


def _transcript(run: Path, side: str) -> str:
    """What an executor did: with the skill it opened it, and its notes repeat a line of it."""
    events = [
        *(called("Skill", SKILL, skill="ledger-keeper") if side == NEW else ()),
        told(f"As {EXECUTOR} I work {side} in {run}/outputs; I note:\n{LINE}"),
        told("The ledger of ledger-keeper-workspace/iteration-1 is in answer.md"),
    ]
    return "\n".join(map(json.dumps, events))


def offline(prefers: Any = "better", **fields: Any) -> Connection:
    """A connection to a stand-in that compares like this."""
    return Connection(stand_in=RiggedStandIn(prefers=prefers, **fields))


def requests(log: Path) -> list[str]:
    """Everything that was sent: bodies as text."""
    return [json.dumps(one["body"], ensure_ascii=False) for one in logged(log)]
