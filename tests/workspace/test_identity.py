"""Runs of tools: each once, of its eval, side and model, with its end, and copies named."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.corpus.build import lay
from tests.workspace.made_tools import (
    inspect_log,
    promptfoo_row,
    trial,
    vally_trial,
    waza_suite,
)

Files = dict[str, Any]
WITH, WITHOUT = "with_skill", "without_skill"
MODELS = ("vendor/tiny:free", "vendor/grand:free")
"""Whole names that differ in neither what stands before the slash nor what follows the colon."""


class Told(NamedTuple):
    """A run as a file tells of it; `passed` is None where it ended in an error."""

    eval: str
    side: str
    model: str
    passed: bool | None


Build = Callable[[Sequence[Told], Sequence[Told]], Files]
"""Files of a tool with these runs, and with copies of some of them."""


def by_file(rows: Sequence[Told]) -> dict[tuple[str, str], list[Told]]:
    """The runs by side and model, for tools that write a file of each."""
    found: dict[tuple[str, str], list[Told]] = {}
    for row in rows:
        found.setdefault((row.side, row.model), []).append(row)
    return found


def of_harbor(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    files: Files = {}
    ids: dict[Told, str] = {}
    for at, row in enumerate([*rows, *copies]):
        error = {"exception_info": {"exception_type": "Crash"}} if row.passed is None else {}
        reward = None if row.passed is None else float(row.passed)
        raw = trial(row.eval, reward, ["/s/x"] if row.side == WITH else [], **error)
        raw["id"] = ids.setdefault(row, f"t{at}") if at >= len(rows) else f"t{at}"
        ids.setdefault(row, raw["id"])
        raw["config"]["agent"]["model_name"] = f"router/{row.model}"
        raw["agent_info"]["model_info"] = None
        files[f"jobs/j/{row.eval}__{at}/trial-result.json"] = raw
    return files


def of_vally(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    lines, ids = [], {}
    for at, row in enumerate([*rows, *copies]):
        line = vally_trial(row.side, 2 * bool(row.passed), stimulus=row.eval, model=row.model)
        if row.passed is None:
            line |= {"status": "error", "gradeResult": None, "error": "no answer"}
        name = ids.setdefault(row, at) if at >= len(rows) else ids.setdefault((row, at), at)
        ids.setdefault(row, at)
        line["trajectory"] = {**line["trajectory"], "id": f"t{name}", "metadata": {}}
        lines.append(json.dumps(line))
    return {"results.jsonl": "\n".join(lines)}


def of_inspect(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    files: Files = {}
    copied = by_file(copies)
    for at, ((side, model), mine) in enumerate(by_file(rows).items()):
        log = inspect_log([], {"skill": side == WITH}, results={})
        epochs: Counter[str] = Counter()
        samples: dict[Told, Any] = {}
        for row in mine:
            epochs[row.eval] += 1
            sample = {"id": row.eval, "epoch": epochs[row.eval], "input": f"Do {row.eval}"}
            score = {"graded": {"value": "C" if row.passed else "I"}}
            ended = {"scores": score} if row.passed is not None else {"error": {"message": "no"}}
            samples.setdefault(row, {**sample, **ended})
            log["samples"].append({**sample, **ended})
        log["samples"] += [samples[row] for row in copied.get((side, model), [])]
        log["eval"] |= {"model": f"router/{model}", "eval_id": f"e{at}", "task_id": f"t{at}"}
        files[f"logs/{at}.json"] = log
    return files


def of_waza(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    files: Files = {}
    for kind, told in (("new", rows), ("again", copies)):
        for at, ((side, model), mine) in enumerate(by_file(told).items()):
            suite = waza_suite(model, eval_id=f"{kind} {side} {model}", configuration=side)
            suite["summary"], suite["tasks"] = {}, []
            for name in dict.fromkeys(row.eval for row in mine):
                runs = []
                for row in (row for row in mine if row.eval == name):
                    run = waza_suite(model, float(bool(row.passed)))["tasks"][0]["runs"][0]
                    run["validations"].pop("short")
                    run |= {"run_number": len(runs) + 1, "final_output": str(row.passed)}
                    run |= {"status": "error", "error_msg": "no"} if row.passed is None else {}
                    runs.append(run)
                cached = {"cached": True} if kind == "again" else {}
                suite["tasks"].append({"test_id": name, "runs": runs, **cached})
            files[f"{kind}/{at}.json"] = suite
    return files


def of_promptfoo(rows: Sequence[Told], copies: Sequence[Told]) -> Files:
    found = []
    for at, told in enumerate([*rows, *copies]):
        checks = () if told.passed is None else (told.passed,)
        row = promptfoo_row(int(told.side == WITH), at, *checks, vars={"q": told.eval})
        row["provider"] = {"id": f"openrouter:{told.model}"}
        row["response"] = {"output": f"{told}", "cached": at >= len(rows)}
        found.append(row | ({"failureReason": 2, "error": "no"} if told.passed is None else {}))
    return {"output.jsonl": "\n".join(map(json.dumps, found))}


BUILDERS: dict[str, Build] = {
    "harbor": of_harbor,
    "vally": of_vally,
    "inspect": of_inspect,
    "waza": of_waza,
    "promptfoo": of_promptfoo,
}


def named_copies(ws: Any) -> int:
    """How many results the problems say that they were left out as copies."""
    messages = ws.problems.filter(code="copy")["message"]
    found = (re.match(r"(\d+) of its \d+ results repeat others", text) for text in messages)
    return sum(int(match[1]) if match else 1 for match in found)


TOLD = st.builds(
    Told,
    st.sampled_from(["alpha", "beta case"]),
    st.sampled_from([WITH, WITHOUT]),
    st.sampled_from(MODELS),
    st.sampled_from([True, True, False, None]),
)


@pytest.mark.parametrize("tool", BUILDERS)
@given(data=st.data())
@settings(max_examples=15)
def test_rows_in_are_runs_and_what_is_named(tool: str, data: st.DataObject) -> None:
    """Each run once, of its eval, side and model, with its end; each copy named, none a run."""
    rows = data.draw(st.lists(TOLD, min_size=1, max_size=9))
    first = {row: None for row in rows if row.passed is not None}
    copies = list(first)[: data.draw(st.integers(0, 3))]
    if tool == "waza":  # a task is taken from a cache with all its runs
        cells = {row[:3] for row in copies}
        copies = [row for row in rows if row[:3] in cells]
    with tempfile.TemporaryDirectory() as folder:
        ws = sen.load(lay(Path(folder) / "ws", BUILDERS[tool](rows, copies)))
        assert ws.runs.height + named_copies(ws) == len(rows) + len(copies)
        ends = {True: ("graded", 1.0), False: ("graded", 0.0), None: ("errored", None)}
        names = ("eval_name", "configuration", "executor_model", "status", "pass_rate")
        seen = Counter((name.split("/")[-1], *row) for name, *row in ws.runs.select(names).rows())
        assert seen == Counter((*row[:3], *ends[row.passed]) for row in rows)
