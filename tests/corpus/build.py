"""Small workspaces for tests, laid out by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VERDICTS = {"p": True, "f": False, "-": None}

Key = tuple[str, str, str, str, int, float | None]
"""workspace, iteration, eval_id, configuration, run_number, pass_rate"""


CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")


def spread(name: str) -> list[str]:
    """The names that one with braces stands for, as a shell reads `eval-{1,2}/{a,b}`."""
    if not (choice := CHOICE.search(name)):
        return [name]
    before, after = name[: choice.start()], name[choice.end() :]
    return [one for part in choice[1].split(",") for one in spread(f"{before}{part}{after}")]


def lay(root: Path, files: Mapping[str, Any]) -> Path:
    """Write files below a folder: text and bytes as they are, anything else as JSON.

    A name with braces is of several files: `eval-{1,2}/{with_skill,without_skill}/grading.json`.
    Without any file it is an empty folder.
    """
    root.mkdir(parents=True, exist_ok=True)
    for name, content in ((name, one) for names, one in files.items() for name in spread(names)):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return root


def expectations(marks: str) -> list[dict[str, Any]]:
    """Expectations with these verdicts: `p` passed, `f` failed, `-` not scored."""
    return [
        {"text": f"check {n}", "passed": VERDICTS[mark], "evidence": f"line {n}"}
        for n, mark in enumerate(marks, start=1)
    ]


def graded(marks: str, **fields: Any) -> dict[str, Any]:
    """A grading.json with these verdicts."""
    return {"expectations": expectations(marks), **fields}


def row(
    eval_id: Any, configuration: str, marks: str, run_number: int | None = 1, **fields: Any
) -> dict[str, Any]:
    """A row of the runs of a benchmark.json with these verdicts."""
    passed, failed = marks.count("p"), marks.count("f")
    return {
        "eval_id": eval_id,
        "configuration": configuration,
        "run_number": run_number,
        "result": {
            "pass_rate": passed / (passed + failed),
            "passed": passed,
            "failed": failed,
            "total": len(marks),
            "time_seconds": 10.0,
            "tokens": 1000,
        },
        "expectations": expectations(marks),
        **fields,
    }


def keys(ws: Any) -> list[Key]:
    """What a workspace's runs are, and their pass rates, in order."""
    names = ("workspace", "iteration", "eval_id", "configuration", "run_number", "pass_rate")
    return sorted(tuple(run[name] for name in names) for run in ws.runs.to_dicts())


def said(ws: Any, *severities: str) -> list[str]:
    """The problems as text: path and message, of some severities or of all."""
    return [
        f"{problem['path']} {problem['message']}"
        for problem in ws.problems.to_dicts()
        if not severities or problem["severity"] in severities
    ]


def parts(repository: Path) -> list[Path]:
    """The repository; of one with thousands of files its smaller workspaces, to take less long."""
    if sum(1 for _ in repository.rglob("*.json")) < 1_000:
        return [repository]
    homes = {path.parent for path in repository.rglob("iteration-1")}
    return sorted(home for home in homes if sum(1 for _ in home.rglob("*.json")) < 100)
