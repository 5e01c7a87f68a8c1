"""Where people put their results: every layout is read as what it is, and each run once."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.workspace import natural
from tests.corpus.build import expectations, graded, keys, lay, row, said

WS = "tdd-workspace"
BOTH = {"with_skill": "ppp", "without_skill": "pff"}
THIRD = pytest.approx(1 / 3)

Files = dict[str, Any]
Runs = list[tuple[str, str, str, int, Any]]


def pair(where: str, **fields: Any) -> Files:
    """A grading for each of the two configurations; `{}` in `where` is the configuration."""
    return {where.format(name): graded(marks, **fields) for name, marks in BOTH.items()}


def two(eval_id: str = "0", iteration: str = "iteration-1", *numbers: int) -> Runs:
    return [
        (iteration, eval_id, side, number, rate)
        for number in numbers or (1,)
        for side, rate in (("with_skill", 1.0), ("without_skill", THIRD))
    ]


def metadata(eval_id: Any, name: str = "named", prompt: str = "Do it.") -> Files:
    return {"eval_id": eval_id, "eval_name": name, "prompt": prompt, "assertions": []}


def stated(*rows: Any, **fields: Any) -> Files:
    """A benchmark with these rows; without any, those of eval 3, one a side."""
    return {"runs": list(rows) or [row(3, *side) for side in BOTH.items()], **fields}


ONE = "iteration-1"
DISK = f"{ONE}/eval-3/{{}}/grading.json"

LEVELS = {
    # Folders of the gradings, with `{}` for the configuration, and the runs that they are.
    "iteration-1/eval-0-a/{}/run-1 iteration-1/eval-0-a/{}/run-2": two("0", ONE, 1, 2),
    "iteration-1/eval-0/{}": two(),
    "eval-0/{}/run-1": two("0", "none"),
    "eval-0-a/{} eval-1-b/{}": two("0", "none") + two("1", "none"),
    "runs/eval-0/{}/run-1": two("0", "none"),
    "iteration-1/runs/eval-0/{}/run-1": two(),
    "iteration-1/eval-0/{}/runs/run-1 iteration-1/eval-0/{}/runs/run-2": two("0", ONE, 1, 2),
    "iteration-1/eval-0/{}/run_1 iteration-1/eval-0/{}/trial12": two("0", ONE, 1, 12),
    "iteration-1/eval-0/trial-001/{} iteration-1/eval-0/trial-002/{}": two("0", ONE, 1, 2),
    "iteration-5/eval-0/{} iteration-5b/eval-0/{} iteration-master/eval-0/{}": [
        run for name in ("5", "5b", "master") for run in two("0", f"iteration-{name}")
    ],
    "iteration-1/case_7/{}/attempt-007 iteration-1/TC3/{} iteration-1/eval-04/{}": (
        two("7", ONE, 7) + two("3") + two("4")
    ),
    "iteration-1/eval-3-a-long-name-2/{}": two("3"),
    "iteration-1/summarise-the-inbox/{} iteration-1/eval-basic/{}/run-1": (
        two("summarise-the-inbox") + two("eval-basic")
    ),
    "deploy-app/{} setup-vps/{}": two("deploy-app", "none") + two("setup-vps", "none"),
    "iteration-1/{}/eval-0 iteration-1/{}/crud-api": two() + two("crud-api"),
    "{}/eval-0/run-1": two("0", "none"),
    "iteration-1/eval-0/{}/outputs": two(),
    "iteration-1/eval-0/{}/run-2/outputs": two("0", ONE, 2),
    # The same grading at two levels is one run.
    "iteration-1/eval-0/{} iteration-1/eval-0/{}/run-1": two(),
}

LAYOUTS: dict[str, tuple[Files, Runs]] = {
    places: ({k: v for at in places.split() for k, v in pair(f"{at}/grading.json").items()}, runs)
    for places, runs in LEVELS.items()
} | {
    # ── evals ────────────────────────────────────────────────────────────────────────────────
    **{
        f"eval_metadata.json {below or 'of the eval'}": (
            pair("iteration-1/inbox/{}/run-1/grading.json")
            | {
                f"iteration-1/inbox/{below.format(side)}eval_metadata.json": metadata(7)
                for side in BOTH
            },
            two("7"),
        )
        for below in ("", "{}/", "{}/run-1/")
    },
    "an eval_id that is text": (
        pair("iteration-1/eval-1/{}/grading.json")
        | {"iteration-1/eval-1/info.json": metadata("login flow")},
        two("login flow"),
    ),
    "metadata of one iteration tell of the same folder in another": (
        pair("iteration-1/inbox/{}/grading.json")
        | pair("iteration-2/inbox/{}/grading.json")
        | {"iteration-2/inbox/eval_metadata.json": metadata(4)},
        two("4") + two("4", "iteration-2"),
    ),
    # ── configurations ───────────────────────────────────────────────────────────────────────
    "configurations of any name": (
        {
            f"iteration-1/eval-0/{name}/grading.json": graded("pf")
            for name in ("my_with_skill", "with_skill (iter5)", "baseline", "v2", "gpt-5")
        },
        [
            (ONE, "0", name, 1, 0.5)
            for name in ("my_with_skill", "with_skill (iter5)", "baseline", "v2", "gpt-5")
        ],
    ),
    "a lone configuration beside an eval with a known one": (
        {
            "iteration-1/eval-0/without_skill/run-1/grading.json": graded("pf"),
            "iteration-1/inbox/v2/run-1/grading.json": graded("pf"),
            "iteration-1/outbox/v2/grading.json": graded("pf"),
        },
        [
            (ONE, "0", "without_skill", 1, 0.5),
            (ONE, "inbox", "v2", 1, 0.5),
            (ONE, "outbox", "v2", 1, 0.5),
        ],
    ),
    "a name that comes again under another eval": (
        {f"{n}/{side}/grading.json": graded("pf") for n, side in product("ab", ("fast", "slow"))},
        [("none", n, side, 1, 0.5) for n, side in product("ab", ("fast", "slow"))],
    ),
    "names that come once are evals": (
        {f"{ONE}/{at}/grading.json": graded("pf") for at in ("a/fast", "a/slow", "b/else")},
        [(ONE, name, "unstated", 1, 0.5) for name in ("else", "fast", "slow")],
    ),
    "grading.json of an eval": (
        {
            "iteration-1/eval-0/grading.json": graded("pf"),
            "iteration-1/eval-1/grading.json": graded("pf", configuration="old_skill"),
            "iteration-1/eval-2/with_skill/grading.json": graded("pf", configuration="old_skill"),
            "iteration-1/eval-3/grading.json": graded("pf", condition="fast"),
        },
        [
            (ONE, "0", "unstated", 1, 0.5),
            (ONE, "1", "old_skill", 1, 0.5),
            (ONE, "2", "with_skill", 1, 0.5),
            (ONE, "3", "fast", 1, 0.5),
        ],
    ),
    # ── where the grading lies ───────────────────────────────────────────────────────────────
    "grading_with_skill.json": (pair("iteration-1/eval-basic/grading_{}.json"), two("eval-basic")),
    "grading-with_skill.json": (pair("iteration-1/eval-0/grading-{}.json"), two()),
    "eval-N-grading.json in the configuration": (
        pair("iteration-1/{}/eval-0-grading.json") | pair("iteration-1/{}/eval-1-grading.json"),
        two() + two("1"),
    ),
    "eval-N-grading.json": (
        {"iteration-1/eval-3-grading.json": graded("pf")},
        [(ONE, "3", "unstated", 1, 0.5)],
    ),
    "grading/<configuration>_<eval>_run<n>.json": (
        {
            f"grading/{side}_lookup_run{n}.json": {
                "pass": mark == "p",
                "assertions_met": ["check"] * (mark == "p"),
                "assertions_missed": ["check"] * (mark == "f"),
            }
            for side, marks in {"with_skill": "pp", "without_skill": "pf"}.items()
            for n, mark in enumerate(marks, start=1)
        },
        [
            ("none", "lookup", "with_skill", 1, 1.0),
            ("none", "lookup", "with_skill", 2, 1.0),
            ("none", "lookup", "without_skill", 1, 1.0),
            ("none", "lookup", "without_skill", 2, 0.0),
        ],
    ),
    "runs/run-<n>/grading/<eval>.json": (
        {"runs/run-4/grading/login.json": graded("pf")},
        [("none", "login", "with_skill", 4, 0.5)],
    ),
    "runs of which the names are no numbers": (
        {f"runs/2026-0{n}/grading/a.json": graded("p" * n + "f") for n in (2, 1)},
        [("none", "a", "with_skill", 1, 0.5), ("none", "a", "with_skill", 2, pytest.approx(2 / 3))],
    ),
    "several runs in one file": (
        {
            "iteration-1/eval-0/grading.json": {
                "runs": [
                    graded("p", configuration="fast"),
                    graded("f", configuration="fast"),
                    graded("pf", config="slow", run_number=4),
                    graded("p"),
                ]
            }
        },
        [
            (ONE, "0", "fast", 1, 1.0),
            (ONE, "0", "fast", 2, 0.0),
            (ONE, "0", "slow", 4, 0.5),
            (ONE, "0", "unstated", 1, 1.0),
        ],
    ),
    # ── benchmark.json ───────────────────────────────────────────────────────────────────────
    "benchmark.json alone": ({"iteration-1/benchmark.json": stated()}, two("3")),
    "benchmark.json alone, no iteration": ({"benchmark.json": stated()}, two("3", "none")),
    "benchmark.json that says its iteration": (
        {"benchmark.json": stated(metadata={"iteration": 7})},
        two("3", "iteration-7"),
    ),
    "benchmarks beside iterations": (
        {"tier2/benchmark.json": stated(), "iteration-1/benchmark.json": stated(), "x.json": {}},
        two("3", "tier2") + two("3"),
    ),
    "a benchmark of its own name": ({"new-figures.json": stated()}, two("3", "new-figures")),
    "benchmark.json beside eval_metadata.json": (
        {
            "iteration-1/benchmark.json": stated(),
            "iteration-1/inbox/eval_metadata.json": metadata(3),
        },
        two("3"),
    ),
    "flat runs, `condition` and `case_id`, percent": (
        {
            "iteration-1/benchmark.json": stated(
                {"case_id": "a", "condition": "one", "pass_rate": 100, "passed": 4, "total": 4},
                {"case_id": "a", "condition": "two", "pass_rate": 25, "passed": 1, "total": 4},
            )
        },
        [(ONE, "a", "one", 1, 1.0), (ONE, "a", "two", 1, 0.25)],
    ),
    "both configurations in a row": (
        {
            "benchmark.json": stated(
                *(
                    {
                        "eval_id": "a",
                        "run_index": index,
                        "with_skill": {"assertion_results": expectations("ppp")},
                        "without_skill": {"assertion_results": expectations("pff")},
                    }
                    for index in (0, 1)
                )
            )
        },
        two("a", "none", 1, 2),
    ),
    "rows without numbers, or numbered from 0": (
        {
            "benchmark.json": stated(
                *(row(3, "a", marks, None) for marks in ("p", "pf")),
                *(row(3, "b", marks, n) for n, marks in enumerate(("p", "pf"))),
                row("new", "c", "p", None),
                row(None, "c", "p", None),
            )
        },
        [
            ("none", "3", "a", 1, 1.0),
            ("none", "3", "a", 2, 0.5),
            ("none", "3", "b", 1, 1.0),
            ("none", "3", "b", 2, 0.5),
            ("none", "new", "c", 1, 1.0),
            ("none", "unstated", "c", 1, 1.0),
        ],
    ),
    # ── the same run in two files ────────────────────────────────────────────────────────────
    "in its folder and in benchmark.json": (
        pair(DISK) | {f"{ONE}/benchmark.json": stated()},
        two("3"),
    ),
    "in a folder of another number": (
        pair(f"{ONE}/eval-3/{{}}/run-7/grading.json") | {f"{ONE}/benchmark.json": stated()},
        two("3", ONE, 7),
    ),
    "one row for several runs on disk": (
        pair(f"{ONE}/eval-3/{{}}/run-1/grading.json")
        | pair(f"{ONE}/eval-3/{{}}/run-2/grading.json")
        | {f"{ONE}/benchmark.json": stated()},
        two("3", ONE, 1, 2),
    ),
    "benchmark.json that knows the eval by its name": (
        pair("iteration-1/inbox/{}/grading.json")
        | {
            "iteration-1/inbox/eval_metadata.json": metadata(4, "inbox"),
            "iteration-1/benchmark.json": stated(
                *(row(99, *side, eval_name="Inbox") for side in BOTH.items())
            ),
        },
        two("4"),
    ),
    "benchmark.json with another name for the baseline": (
        {
            f"{ONE}/eval-3/with_skill/grading.json": graded("ppp"),
            f"{ONE}/eval-3/old_skill/grading.json": graded("pff"),
            f"{ONE}/benchmark.json": stated(),
        },
        [(ONE, "3", "old_skill", 1, THIRD), (ONE, "3", "with_skill", 1, 1.0)],
    ),
    "benchmark.json with a configuration of other evals": (
        {
            f"{ONE}/eval-8/old_skill/grading.json": graded("pff"),
            f"{ONE}/benchmark.json": stated(row(3, "without_skill", "pff")),
        },
        [(ONE, "3", "without_skill", 1, THIRD), (ONE, "8", "old_skill", 1, THIRD)],
    ),
    "benchmark.json that adds the iteration to the configuration": (
        {
            "iteration-4/inbox/with_skill/grading.json": graded("ppp"),
            "iteration-5/inbox/with_skill/grading.json": graded("ppf"),
            "iteration-5/benchmark.json": stated(
                row("inbox", "with_skill (iter5)", "ppf", 5, eval_name="inbox"),
                row("inbox", "with_skill (iteration-4)", "ppp", 4, eval_name="inbox"),
                row("inbox", "with_skill (iter9)", "pff", 1, eval_name="inbox"),
            ),
        },
        [
            ("iteration-4", "inbox", "with_skill", 1, 1.0),
            ("iteration-5", "inbox", "with_skill", 1, pytest.approx(2 / 3)),
            ("iteration-5", "inbox", "with_skill (iter9)", 1, THIRD),
        ],
    ),
    "the same eval in two folders": (
        {
            path: one
            for folder in ("inbox", "eval-0-inbox")
            for path, one in (
                *pair(f"{ONE}/{folder}/{{}}/run-1/grading.json").items(),
                (f"{ONE}/{folder}/eval_metadata.json", metadata(0, folder[-5:])),
            )
        },
        two(),
    ),
    "an empty benchmark.json above gradings": (
        pair(DISK)
        | {
            "iteration-1/benchmark.json": {
                "metadata": {"skill_name": "tdd", "evals_run": [], "runs_per_configuration": 3},
                "runs": [],
                "run_summary": {"delta": {"pass_rate": "+0.00", "tokens": "+0"}},
                "notes": [],
            }
        },
        two("3"),
    ),
    # ── what is no run ───────────────────────────────────────────────────────────────────────
    "a summary, a snapshot and outputs": (
        pair(DISK)
        | {
            "iteration-1/grading_summary.json": {"evals": [{"with_skill_pass_rate": 1}]},
            "skill-snapshot/evals/evals.json": {"evals": [{"id": 0, "prompt": "Old."}]},
            f"{ONE}/eval-3/with_skill/outputs/grading.json": graded("pppf"),
        },
        two("3"),
    ),
}


@pytest.mark.parametrize(("files", "runs"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_layout(tmp_path: Path, files: Files, runs: Runs) -> None:
    """Loaded by itself or from the folder above, the runs are the same."""
    folder = lay(tmp_path / WS, files)
    expected = [(WS, *run) for run in sorted(runs, key=lambda run: run[:4])]
    for loaded in (folder, tmp_path):
        ws = sen.load(loaded)
        assert keys(ws) == expected
        assert not said(ws, "error")


def test_several_workspaces_below_one_folder(tmp_path: Path) -> None:
    names = ("skills/tdd-workspace", "skills/archive/pdf-workspace", "evals/workspace")
    for name in names:
        lay(tmp_path / name, pair("eval-0/{}/grading.json"))
    ws = sen.load(tmp_path)
    assert sorted(ws.runs["workspace"].unique()) == sorted(names)
    assert {"tdd", "pdf"} < set(ws.runs["skill"])
    assert ws.runs.height == 6


@given(st.lists(st.text(alphabet="a1²٣-")), st.sets(st.integers(0, 10**6)))
def test_any_names_can_be_sorted(names: list[str], numbers: set[int]) -> None:
    assert sorted(sorted(names, key=natural)) == sorted(names)
    iterations = sorted((f"iteration-{number}" for number in numbers), key=natural)
    assert iterations == [f"iteration-{number}" for number in sorted(numbers)]


@pytest.mark.parametrize("text", ["", "  ", "—", "N/A", "unknown", "<skill>", None])
def test_placeholders_name_no_skill(tmp_path: Path, text: str | None) -> None:
    named = stated(
        row(3, "with_skill", "p"), metadata={"skill_name": text, "iteration": "baseline"}
    )
    ws = sen.load(lay(tmp_path / WS, {"benchmark.json": named}))
    assert ws.runs.select("skill", "iteration").rows() == [("tdd", "baseline")]


# ── nothing is dropped in silence ────────────────────────────────────────────────────────────

RUN = f"{ONE}/eval-3/with_skill/run-1"
TWO_OF_TWO = {f"{RUN}/grading.json": graded("pp")}
LEFT = f"{ONE}/eval-3/without_skill"


def told(ws: sen.Workspace) -> list[tuple[str, str, str]]:
    """Severity, code and path of every problem."""
    return sorted(ws.polars("problems").select("severity", "code", "path").rows())


@pytest.mark.parametrize(
    ("files", "runs", "problems"),
    [
        (  # the folder is the run itself
            {**TWO_OF_TWO, f"{ONE}/benchmark.json": stated(row(3, "with_skill", "pff"))},
            [("3", "with_skill", 1, 1.0)],
            [("warning", "disagree", f"{ONE}/benchmark.json")],
        ),
        (  # less than a point is rounding
            {
                f"{RUN}/grading.json": graded("ppf"),
                f"{ONE}/benchmark.json": {
                    "runs": [
                        {
                            "eval_id": 3,
                            "configuration": "with_skill",
                            "result": {"pass_rate": 0.66},
                        }
                    ]
                },
            },
            [("3", "with_skill", 1, pytest.approx(2 / 3))],
            [],
        ),
        (  # of two benchmarks the first counts
            {
                f"{ONE}/benchmark.json": stated(row(3, "with_skill", "pp")),
                f"{ONE}/benchmark-old.json": stated(row(3, "with_skill", "pf")),
            },
            [("3", "with_skill", 1, 1.0)],
            [("warning", "disagree", f"{ONE}/benchmark-old.json")],
        ),
        (  # two rows with one number are never repeated runs
            {f"{ONE}/benchmark.json": stated(*(row(3, "a", marks) for marks in ("p", "f")))},
            [("3", "a", 1, 1.0), ("3 (2)", "a", 1, 0.0)],
            [("warning", "duplicate-id", f"{ONE}/benchmark.json")],
        ),
        (  # a run that only the benchmark knows
            {**TWO_OF_TWO, f"{ONE}/benchmark.json": stated(row(9, "with_skill", "pf"))},
            [("3", "with_skill", 1, 1.0), ("9", "with_skill", 1, 0.5)],
            [],
        ),
        (  # two folders claim one id: that is no copy
            {
                f"{ONE}/{name}/{file}": one
                for name, marks in (("inbox", "pp"), ("outbox", "pf"))
                for file, one in (
                    ("with_skill/grading.json", graded(marks)),
                    ("eval_metadata.json", metadata(0, name)),
                )
            },
            [("0", "with_skill", 1, 1.0), ("outbox", "with_skill", 1, 0.5)],
            [("warning", "duplicate-id", "outbox")],
        ),
        (  # metadata of one folder that disagree: the first counts
            {
                **TWO_OF_TWO,
                f"{ONE}/eval-3/eval_metadata.json": metadata(3),
                f"{RUN}/eval_metadata.json": metadata(4),
            },
            [("3", "with_skill", 1, 1.0)],
            [("warning", "disagree", f"{RUN}/eval_metadata.json")],
        ),
        (
            {**pair(DISK), f"{ONE}/eval-1/with_skill/grading.json": graded("p")},
            [("1", "with_skill", 1, 1.0), *((run[1:]) for run in two("3"))],
            [("warning", "missing-side", f"{ONE}/eval-1/with_skill")],
        ),
        (  # of two sides that one file grades neither takes the timing
            {
                f"{ONE}/eval-0/grading.json": {"with_skill": graded("p"), "old_skill": graded("f")},
                f"{ONE}/eval-0/timing.json": {"total_tokens": 1},
            },
            [("0", "old_skill", 1, 0.0), ("0", "with_skill", 1, 1.0)],
            [],
        ),
        (
            {**TWO_OF_TWO, "eval-notes.json": {"colour": 1}, "package.json": {"a": 1}},
            [("3", "with_skill", 1, 1.0)],
            [("info", "not-a-document", "eval-notes.json")],
        ),
    ],
)
def test_what_is_not_counted_is_told(
    tmp_path: Path, files: Files, runs: list[Any], problems: list[Any]
) -> None:
    ws = sen.load(lay(tmp_path / WS, files))
    assert [key[2:] for key in keys(ws)] == runs
    assert told(ws) == problems


def test_all_documents_of_a_run_and_none_that_its_agent_forged(tmp_path: Path) -> None:
    """Metrics beside the grading go before those in outputs; judgings come in their order."""
    files: Files = {
        f"{RUN}/grading.json": graded("pf-"),
        f"{RUN}/structural.json": {"expectations": expectations("pppf"), "gate_passed": True},
        f"{RUN}/timing.json": {"total_tokens": 5, "duration_ms": 900},
        f"{RUN}/metrics.json": {"total_steps": 1},
        f"{RUN}/outputs/metrics.json": {"total_steps": 2},
        **{
            f"{RUN}/judgings/{n}.json": {"rubric_scores": {"a": {"score": n - 7}}, "judging": n}
            for n in (10, 9)
        },
        f"{LEFT}/timing.json": {"status": "errored", "executor": "offline", "total_tokens": 0},
        f"{LEFT}/outputs/grading.json": graded("pp"),
        f"{LEFT}/outputs/metrics.json": {"total_steps": 3},
    }
    ws = sen.load(lay(tmp_path / "ws", files))
    columns = ("status", "passed", "failed", "total", "pass_rate", "structural_pass_rate")
    costs = ("tokens", "time_seconds", "steps")
    own, forged = ws.runs.select(*columns, *costs).rows()
    assert own == ("graded", 1, 1, 3, 0.5, 0.75, 5, 0.9, 1)
    assert forged == ("errored", None, None, None, None, None, None, None, None)
    assert ws.rubric_scores.select("judging", "score").rows() == [(9, 2.0), (10, 3.0)]
    layers = ws.expectations["layer"].to_list()
    assert (layers.count("structural"), layers.count("judged")) == (4, 3)
    files[f"{LEFT}/timing.json"] = {"status": "errored"}  # not made here: other tools do so
    ws = sen.load(lay(tmp_path / "theirs", files))
    assert ws.runs["steps"].to_list() == [1, 3]


def test_what_a_run_lacks_is_taken_from_the_benchmark(tmp_path: Path) -> None:
    """Its own figures stay; characters that stand where tokens should are left out."""
    files = {
        f"{RUN}/timing.json": {"total_tokens": 5, "total_duration_seconds": 0.0},
        f"{LEFT}/grading.json": graded("p"),
        f"{LEFT}/metrics.json": {"output_chars": 1000},
        f"{ONE}/benchmark.json": stated(
            row(3, "with_skill", "ppf", harness="codex"),
            row(3, "without_skill", "p", model="fast"),
            metadata={"executor_model": "slow", "analyzer_model": "<model>", "harness": "cli"},
        ),
    }
    ws = sen.load(lay(tmp_path, files))
    columns = ("pass_rate", "tokens", "time_seconds", "executor_model", "harness", "judge_model")
    assert {run["configuration"]: tuple(run[c] for c in columns) for run in ws.runs.to_dicts()} == {
        "with_skill": (pytest.approx(2 / 3), 5, 10.0, "slow", "codex", None),
        "without_skill": (1.0, None, 10.0, "fast", "cli", None),
    }
    assert told(ws) == [
        ("info", "characters-as-tokens", f"{ONE}/benchmark.json"),
        ("info", "graded-in-benchmark", RUN),
    ]


def test_tool_calls_are_a_sum_or_a_count_by_tool(tmp_path: Path) -> None:
    rows = [row(3, side, "p") for side in "ab"]
    for one, calls in zip(rows, ({"Bash": 2, "Read": 1}, 5), strict=True):
        one["result"]["tool_calls"] = calls
    ws = sen.load(lay(tmp_path, {"benchmark.json": stated(*rows)}))
    assert ws.runs["tool_calls"].to_list() == [3, 5]


# ── definitions ──────────────────────────────────────────────────────────────────────────────


def suite(*prompts: str, first: int = 1, **fields: Any) -> Files:
    """An evals.json with these prompts, numbered from `first`."""
    evals = [
        {"id": n, "prompt": prompt, "expected_output": "good", "expectations": ["a", "b"]}
        for n, prompt in enumerate(prompts, start=first)
    ]
    return {"skill_name": "tdd", "evals": evals, **fields}


def defined(tmp_path: Path, evals: Files, ran: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The prompts by id, and the codes of the problems; `ran` has metadata, or None."""
    files: Files = {"evals.json": evals}
    for folder, about in ran.items():
        files |= pair(f"{ONE}/{folder}/{{}}/grading.json")
        if about is not None:
            files[f"{ONE}/{folder}/eval_metadata.json"] = about
    ws = sen.load(lay(tmp_path / WS, files))
    codes = [code for severity, code, _ in told(ws) if code != "missing-runs"]
    return dict(ws.evals.select("eval_id", "prompt").rows()), codes


def numbered(*ids: int) -> dict[str, Any]:
    return {f"eval-{n}": None for n in ids}


def prompted(*prompts: str, first: int = 0) -> dict[str, Any]:
    return {f"eval-{n}": metadata(n, f"n{n}", prompt) for n, prompt in enumerate(prompts, first)}


@pytest.mark.parametrize(
    ("evals", "ran", "prompts", "codes"),
    [
        # The prompts say which is which, and one that was changed is shifted as the others are.
        (suite("P", "Q"), prompted("P", "Q"), {"0": "P", "1": "Q"}, ["id-offset"]),
        (suite(*"PQx"), prompted(*"PQR"), {"0": "P", "1": "Q", "2": "x"}, ["id-offset"]),
        (suite(*"PQx"), prompted(*"PQR", first=1), {"1": "P", "2": "Q", "3": "x"}, []),
        # Without prompts the reading that matches more is right; as it is goes first.
        (suite(*"PQR"), numbered(0, 1, 2), {"0": "P", "1": "Q", "2": "R"}, ["id-offset"]),
        (suite(*"PQR", first=0), numbered(0, 1, 2), {"0": "P", "1": "Q", "2": "R"}, []),
        (suite(*"PQR"), numbered(1, 2), {"1": "P", "2": "Q", "3": "R"}, []),
        # A name decides before the id, and an id may be the name.
        (
            {"evals": [{"id": 5, "name": "inbox-zero", "prompt": "x"}, {"id": "b", "prompt": "y"}]},
            {"one": metadata(0, "Inbox Zero", "P"), "5": metadata(5, "b", "Q")},
            {"0": "x", "5": "y"},
            [],
        ),
        # One that was never run keeps its id; one without id is counted.
        (
            {"evals": [{"id": "later", "prompt": "x"}]},
            numbered(0),
            {"0": None, "later": "x"},
            [],
        ),
        ({"evals": [{"prompt": "x"}, {"prompt": "y"}]}, {}, {"1": "x", "2": "y"}, []),
    ],
)
def test_definitions_find_the_evals_that_were_run(
    tmp_path: Path, evals: Files, ran: Any, prompts: dict[str, Any], codes: list[str]
) -> None:
    assert defined(tmp_path, evals, ran) == (prompts, codes)


@pytest.mark.parametrize(
    ("workspaces", "path", "home"),
    [
        ({"skills/tdd-workspace": None}, "skills/tdd/evals/evals.json", "skills/tdd-workspace"),
        ({"a-workspace": None, "tdd-workspace": None}, "tdd/evals.json", "tdd-workspace"),
        ({"runs-of-it": None}, "skill/evals.json", "runs-of-it"),
        ({"one": "tdd", "two": None}, "far/evals.json", "one"),
        ({"one": "pdf"}, "other/evals.json", "other"),
        ({"one": None, "two": None}, "other/evals.json", "other"),
        ({"ws": None, "b": None}, "ws2/evals.json", "ws2"),
    ],
)
def test_the_workspace_that_a_suite_is_of(
    tmp_path: Path, workspaces: dict[str, Any], path: str, home: str
) -> None:
    files: Files = {path: suite("P")}
    for name, said_skill in workspaces.items():
        files[f"{name}/iteration-1/eval-1/with_skill/grading.json"] = graded("p")
        if said_skill:
            files[f"{name}/benchmark.json"] = stated(
                row(1, "with_skill", "p"), metadata={"skill_name": said_skill}
            )
    ws = sen.load(lay(tmp_path, files))
    rows = ws.evals.filter(prompt="P").select("workspace", "skill", "n_expectations").rows()
    assert rows == [(home, "tdd", 2)]
    assert {row["workspace"] for row in ws.runs.to_dicts()} == set(workspaces)
