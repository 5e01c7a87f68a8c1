"""Logs of inspect_ai: opened by its own readers, and by ours as any other inspect log."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import skill_eval_nb as sen
from skill_eval_nb.stats.verdict import ADDITIONS
from skill_eval_nb.tables import TABLES as ALL
from tests.checkout import ROOT
from tests.cli.calls import run
from tests.corpus.build import graded, lay
from tests.report.made import SIDES

WORKSPACES = sorted((ROOT / "data").glob("*-workspace"))
HELD = ("evals", "runs", "expectations", "rubric_scores", "tool_calls")
TEXTS = ("claims", "notes", "suggestions")
KEYS = "iteration eval_id eval_name configuration run_number".split()
FIGURES = (
    "pass_rate rubric_weighted_mean time_seconds tokens tokens_cached cost_usd "
    "executor_model judge_model"
).split()
"""What `load` reads of a log; layers, judgings and what is metadata are for inspect's readers."""


@pytest.fixture
def inspect_ai() -> Any:
    return pytest.importorskip("inspect_ai", reason="left out: the extra inspect is missing")


def figures(ws: sen.Workspace) -> pl.DataFrame:
    """What of the runs comes back, whatever the folder of the workspace is called."""
    errored = pl.col("status") == "errored"
    runs = ws.polars("runs").select(*KEYS, *FIGURES, errored=errored)
    return runs.sort(runs.columns)


def headlines(ws: sen.Workspace) -> pl.DataFrame:
    """Every verdict on the pass rate, with its figures and its reason.

    Without what rests on how many checks a run had, which a log does not say.
    """
    found = sen.stats.deltas(ws, "pass_rate")
    found = found.drop("workspace", "harness", "warnings", *ADDITIONS)
    return found.sort("skill", "iteration", "executor_model", "configuration")


def verdicts(ws: sen.Workspace) -> list[tuple[object, ...]]:
    """Every verdict of a check and mean score of a dimension, by the names that a log has."""
    found = []
    for table, before, name, value in (
        ("expectations", "checks/", "text", "passed"),
        ("rubric_scores", "rubric/", "dimension", "score"),
    ):
        frame = ws.polars(table).drop_nulls(value).filter(pl.col(name) != "pass_rate")
        name_ = pl.lit(before) + pl.col(name).str.strip_prefix(before)
        own = frame.group_by(*KEYS, name_.alias("name")).agg(pl.col(value).cast(float).mean())
        found += own.rows()
    return sorted(found)


def assert_same(ws: sen.Workspace, back: sen.Workspace) -> None:
    assert_frame_equal(figures(back), figures(ws))
    assert_frame_equal(headlines(back), headlines(ws))


@pytest.mark.parametrize("path", WORKSPACES[::2], ids=lambda path: path.name)
def test_written_and_read_again_is_equal(path, inspect_ai, tmp_path):
    """Runs, verdicts and the headline come back; what a log has no place for is named."""
    ws = sen.load(path)
    written = sen.report.write_inspect(ws, tmp_path / path.name)
    back = sen.load(tmp_path)
    assert_same(ws, back)
    assert verdicts(back) == verdicts(ws)
    assert set(back.evals["prompt"]) == set(ws.evals["prompt"])
    assert set(sen.stats.audit(back).filter(agrees=False)["cause"]) <= {"per-eval mean"}
    lost = {name for name in ALL if ws.polars(name).height and name not in (*HELD, *TEXTS)}
    told = " ".join(written.losses)
    assert all(f"rows of {name}" in told or f"row of {name}" in told for name in lost)


READERS = """
import json, sys
from inspect_ai.analysis import evals_df, messages_df, samples_df
from inspect_ai.log import list_eval_logs, read_eval_log

out, first = sys.argv[1:]
log = read_eval_log(first)
logs = [read_eval_log(one) for one in list_eval_logs(out)]
rate = lambda sample: sample.scores["pass_rate"].value if sample.scores else None
evals, samples = evals_df(out).sort_values("log"), samples_df(out)
messages = messages_df(out)
print(json.dumps({
    "logs": len(list_eval_logs(out)),
    "tasks": evals["task_id"].nunique(),
    "used": int(sum(log.stats.model_usage[log.eval.model].total_tokens for log in logs)),
    "trusted": log.eval.viewer.trust_content,
    "rates": [[sample.id, sample.epoch, rate(sample)] for sample in log.samples],
    "errored": [[sample.id, sample.epoch] for sample in log.samples if sample.error],
    "means": evals["score_pass_rate_mean"].tolist(),
    "samples": len(samples),
    "tokens": int(samples["total_tokens"].sum()),
    "seconds": float(samples["total_time"].sum()),
    "roles": messages["role"].tolist(),
    "tool": messages["tool_call_function"].tolist()[2],
    "last": messages["content"].tolist()[-1],
}))
"""
"""In a process of its own: the library changes asyncio for all where a notebook's shell is."""


TRANSCRIPT = """
{"type": "system", "subtype": "init"}
{"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "I"}]}}
{"type": "assistant", "message": {"id": "m1", "content": [{"type": "tool_use", "id": "t1", \
"name": "Bash", "input": {"command": "ls"}}]}}
{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", \
"content": [{"type": "text", "text": "a"}]}]}}
{"type": "assistant", "message": {"id": "m2", "content": "Done, by sk-ant-abcdefghijkl"}}
{"type": "result"}
{broken"""
"""One message in two lines, a block a line."""


def test_inspects_own_readers(inspect_ai, tmp_path):
    """Logs, samples and messages as inspect_ai's viewer and data frames have them."""
    shutil.copytree(ROOT / "data" / "tdd-workspace", tmp_path / "ws")
    at = tmp_path / "ws" / "iteration-1" / "eval-1-lend-a-book" / "with_skill" / "run-1"
    (at / "transcript.jsonl").write_text(TRANSCRIPT)
    ws, out = sen.load(tmp_path / "ws"), tmp_path / "out"
    written = sen.report.write_inspect(ws, out)
    assert any("transcript" in loss for loss in written.losses)
    sides = [f"ws/iteration-{n}/{side}.eval" for n in (1, 2) for side in SIDES]
    assert [path.relative_to(out).as_posix() for path in written] == sides
    command = [sys.executable, "-c", READERS, out, written[0]]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    assert (seen["logs"], seen["trusted"], seen["samples"]) == (4, False, ws.runs.height)
    mine = ws.runs.filter(iteration="iteration-1", configuration="with_skill")
    keys = ["eval_id", "run_number"]
    rates = mine.select(*keys, "pass_rate").rows()
    assert sorted(map(tuple, seen["rates"])) == sorted(rates)
    assert list(map(tuple, seen["errored"])) == mine.filter(status="errored").select(keys).rows()
    side, rate = ["iteration", "configuration"], pl.col("pass_rate").mean()
    means = ws.runs.group_by(*side, "eval_id").agg(rate).group_by(*side).agg(rate).sort(side)
    assert seen["means"] == pytest.approx(means["pass_rate"].to_list())
    assert seen["tasks"] == 4  # logs of one task_id are hidden as retries of one another
    assert seen["used"] == seen["tokens"] == ws.runs["tokens"].sum()
    assert seen["seconds"] == pytest.approx(ws.runs["time_seconds"].sum())
    assert seen["roles"] == ["user", "assistant", "tool", "assistant"]
    assert (seen["tool"], seen["last"]) == ("Bash", "Done, by [hidden]")


def test_several_workspaces_and_odd_names(inspect_ai, tmp_path):
    """Workspaces stay apart, names need not be those of files, and each run its figures."""
    late = {"executor_start": "9999-12-31T23:59:59-01:00", "total_duration_seconds": 1e12}
    own, other = (f"a/iteration-1/eval-0/{side}" for side in SIDES)
    files = {
        f"{own}/run-1/grading.json": graded("pf"),
        f"{own}/run-1/timing.json": {"executor_start": "at noon"},
        f"{own}/run-2/timing.json": late,
        f"{own}/run-2/grading.json": {"expectations": []},
        f"{other}/run-1/outputs/a.txt": "",
        f"{other}/run-1/metrics.json": {"cost_usd": 0.5},
        f"{other}/run-1/transcript.jsonl": TRANSCRIPT.splitlines()[-3],
        "b: <x>/iteration-1/eval-0/with_skill/run-1/grading.json": graded("pp-"),
        "b: <x>/extra/eval-0/Baseline (v1)/run-1/grading.json": graded("f"),
    }
    ws = sen.load(lay(tmp_path / "in", files))
    written = sen.report.write_inspect(ws, tmp_path / "out")
    back = sen.load(tmp_path / "out")
    assert_frame_equal(figures(back), figures(ws))
    assert back.runs["workspace"].n_unique() == ws.runs["workspace"].n_unique()
    told = " ".join(written.losses)
    parts = "not an ISO 8601|a log needs a time|answers need a time|tokens are not known"
    assert [part for part in parts.split("|") if part not in told] == []


def test_a_damaged_log_is_a_problem_where_inspect_is_imported(inspect_ai, tmp_path):
    """The library teaches `zipfile` its packing, and faults of its own; a notebook has a loop."""

    async def cell() -> list[Path]:
        return sen.report.write_inspect(sen.load(WORKSPACES[0]), tmp_path)

    written = asyncio.run(cell())
    runs = sen.load(tmp_path).runs.height
    data = bytearray(written[0].read_bytes())
    with zipfile.ZipFile(written[0]) as log:
        sample = next(one for one in log.infolist() if one.filename.startswith("samples/"))
    at = data.index(b"\x28\xb5\x2f\xfd", sample.header_offset)  # where what is packed begins
    data[at : at + 16] = b"\xff" * 16
    written[0].write_bytes(data)
    ws = sen.load(tmp_path)
    assert ws.runs.height < runs
    assert "unreadable" in set(ws.problems["code"])


def test_without_inspect(tmp_path, monkeypatch):
    """What is missing is named with the command that brings it; reading needs nothing."""
    ws = sen.load(WORKSPACES[0])
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'skill-eval-nb\[inspect\]'"):
        sen.report.write_inspect(ws, tmp_path)
    result = run("convert", WORKSPACES[0], "--to", "inspect", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "skill-eval-nb[inspect]" in result.stderr


def test_shell(inspect_ai, tmp_path):
    """`convert --to inspect` writes logs into a new folder and names what is lost."""
    out = tmp_path / "out"
    command = ("convert", WORKSPACES[0], "--to", "inspect", "--out", out)
    result = run(*command)
    assert (result.exit_code, result.stdout) == (0, f"Wrote 4 files to {out}.\n")
    assert "not kept: 10 rows of triggers" in result.stderr
    assert run(*command).exit_code == 2


@pytest.mark.corpus
@pytest.mark.slow
def test_other_peoples_workspaces(inspect_ai, corpus_loaded, tmp_path):
    for at, ws in enumerate(corpus_loaded[::12]):  # it takes long to write all of them
        if ws.runs.height:
            sen.report.write_inspect(ws, tmp_path / f"{at}")
            assert_same(ws, sen.load(tmp_path / f"{at}"))
