"""Where people put their results: every layout is read as what it is, and each run once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.corpus.build import graded, keys, lay, row, said

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


def halves(*runs: str) -> Runs:
    """Runs of which one of two checks passed, as iteration/eval/configuration[/number]."""
    places = [f"{run}/1".split("/")[:4] for run in runs]
    return [(*place, int(number), 0.5) for *place, number in places]


def of_one(runs: str) -> Runs:
    """The same in the first iteration."""
    return halves(*(f"{ONE}/{run}" for run in runs.split()))


ONE = "iteration-1"
MARKED = [
    *(("with_skill", 1, "p"), ("with_skill", 2, "p")),
    *(("without_skill", 1, "p"), ("without_skill", 2, "f")),
]
DISK = f"{ONE}/eval-3/{{}}/grading.json"


OF_RUNS = ("run-a", "run-1-retry", "run-1 (copy)", "run_2", "seed-7")
LEVELS = {
    # Folders of the gradings, with `{}` for the configuration, and the runs that they are.
    "iteration-1/eval-0-a/{}/run-1 iteration-1/eval-0-a/{}/run-2": two("0", ONE, 1, 2),
    "iteration-1/eval-0/{}": two(),
    "eval-0-a/{} eval-1-b/{}": two("0", "none") + two("1", "none"),
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
    "{}/iteration-1/eval-0 {}/iteration-2/eval-0": two() + two("0", "iteration-2"),
    "iteration-1/test-suite/{}/eval-0 iteration-1/test-suite/{}/eval-1": two() + two("1"),
    "iteration-1/models/fast/eval-0/{}": two(),
    "iteration-1/eval-0/gpt-5/{} iteration-1/eval-0/opus-4.5/{}": two("0", ONE, 1, 2),
    "iteration-1/eval-0/{}/run-2/outputs": two("0", ONE, 2),
    # Whatever lies below the side of an eval is a run.
    " ".join(f"iteration-1/eval-0/{{}}/{name}" for name in OF_RUNS): two("0", ONE, 1, 2, 3, 4, 7),
    "eval-0-a/{}/alpha eval-0-a/{}/2026-10-01 eval-0-a/{}/round-2": two("0", "none", 1, 2, 3),
    "eval-0/{}/v1 eval-0/{}/after eval-0/{}/v2/run-7": two("0", "none", 1, 2, 7),
    "iteration-1/eval-0/runs/{}/run-1 iteration-1/eval-0/runs/{}/b": two("0", ONE, 1, 2),
    "inbox/{}/1 inbox/{}/r2 outbox/{}/run-a outbox/{}/run-b": (
        two("inbox", "none", 1, 2) + two("outbox", "none", 1, 2)
    ),
    "eval-0/{}/batch-1/run-1 eval-0/{}/batch-2/run-1 eval-0/{}/batch-2/run-2": (
        two("0", "none", 1, 2, 3)
    ),
    "iteration-1/{}/eval-0/run-a iteration-1/{}/eval-0/else iteration-1/{}/crud-api/try-1": (
        two("0", ONE, 1, 2) + two("crud-api")
    ),
    # Runs of two parents may come out alike.
    "iteration-1/first/eval-0/{}/run-1 iteration-1/second/eval-0/{}/run-1": two("0", ONE, 1, 2),
    # A graded side beside runs from 2 on is the first run.
    "iteration-1/eval-0/{} iteration-1/eval-0/{}/rep2 iteration-1/eval-0/{}/rep3": (
        two("0", ONE, 1, 2, 3)
    ),
    # The same grading at two levels is one run.
    "iteration-1/eval-0/{} iteration-1/eval-0/{}/run-1": two(),
}

HALVES = {
    # Folders of gradings with one check of two, and the runs that they are.
    # Names of configurations above evals, and names that merely hold such a word.
    "iteration-1/{noskill,baseline-2}/crud iteration-1/testing-skill/with_skill": of_one(
        "crud/baseline-2 crud/noskill testing-skill/with_skill"
    ),
    # A lone configuration beside an eval with a known one.
    "iteration-1/eval-0/without_skill/run-1 iteration-1/inbox/v2/run-1 iteration-1/outbox/v2": (
        of_one("0/without_skill inbox/v2 outbox/v2")
    ),
    # A name that comes again under another eval is a side; names that come once are evals.
    "{a,b}/{fast,slow}": halves("none/a/fast", "none/a/slow", "none/b/fast", "none/b/slow"),
    # Runs of sides that no name shows.
    "iteration-1/eval-1-a/fast/{run-a,else} iteration-1/eval-1-a/slow/x": of_one(
        "1/fast 1/fast/2 1/slow"
    ),
    # Runs without a side, beside evals and below folders whose names are often a side's.
    "iteration-1/{eval-0/run-1,eval-1/round-1,eval-basic/retry,skills/x/eval-2/a/run-1}": of_one(
        "0/unstated 1/unstated eval-basic/unstated 2/a"
    ),
    # Evals of the same names in several iterations and folders.
    "iteration-{1,2}/{fast,slow} iteration-1/{a/eval-x,a/eval-y,b/eval-x}": (
        of_one("fast/unstated slow/unstated eval-x/unstated eval-y/unstated eval-x/unstated/2")
        + halves("iteration-2/fast/unstated", "iteration-2/slow/unstated")
    ),
}

LAYOUTS: dict[str, tuple[Files, Runs]] = {
    places: (
        {
            k: v
            for at in places.replace(" (", "_(").split()
            for k, v in pair(f"{at}/grading.json").items()
        },
        runs,
    )
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
    "metadata of one iteration tell of the same folder in another": (
        pair("iteration-{{1,2}}/inbox/{}/grading.json")
        | {"iteration-2/inbox/eval_metadata.json": metadata(4)},
        two("4") + two("4", "iteration-2"),
    ),
    # ── configurations ───────────────────────────────────────────────────────────────────────
    **{
        f"halves: {where}": ({f"{at}/grading.json": graded("pf") for at in where.split()}, runs)
        for where, runs in HALVES.items()
    },
    "runs of any name below the side of an eval of the suite": (
        pair("inbox/{}/{{alpha,final}}/grading.json")
        | {"evals.json": {"evals": [{"id": 1, "name": "inbox", "prompt": "Do it."}]}},
        two("inbox", "none", 1, 2),
    ),
    "grading.json of an eval": (
        {
            "iteration-1/eval-0/grading.json": graded("pf"),
            "iteration-1/eval-1/grading.json": graded("pf", configuration="old_skill"),
            "iteration-1/eval-2/with_skill/grading.json": graded("pf", configuration="old_skill"),
            "iteration-1/eval-3/grading.json": graded("pf", condition="fast"),
        },
        of_one("0/unstated 1/old_skill 2/with_skill 3/fast"),
    ),
    # ── where the grading lies ───────────────────────────────────────────────────────────────
    **{
        path: (pair(path), runs)
        for path, runs in {
            "iteration-1/eval-basic/grading_{}.json": two("eval-basic"),
            "iteration-1/eval-0/grading-{}.json": two(),
            "iteration-1/{}/eval-{{0,1}}-grading.json": two() + two("1"),
            "iteration-1/{}/eval-0-run-{{1,2}}-grading.json": two("0", ONE, 1, 2),
            "iteration-1/grading_{}.json": two("unstated"),
        }.items()
    },
    "grading/<configuration>_<eval>_run<n>.json": (
        {
            f"grading/{side}_lookup_run{n}.json": {
                "assertions_met": ["check"] * (mark == "p"),
                "assertions_missed": ["check"] * (mark == "f"),
            }
            for side, n, mark in MARKED
        },
        [("none", "lookup", side, n, float(mark == "p")) for side, n, mark in MARKED],
    ),
    "runs/run-<n>/grading/<eval>.json": (
        {"runs/run-4/grading/login.json": graded("pf")},
        halves("none/login/with_skill/4"),
    ),
    # ── benchmark.json ───────────────────────────────────────────────────────────────────────
    "benchmark.json alone": ({"iteration-1/benchmark.json": stated()}, two("3")),
    "benchmark.json alone, no iteration": ({"benchmark.json": stated()}, two("3", "none")),
    "benchmark.json that says its iteration": (
        {"benchmark.json": stated(metadata={"iteration": 7})},
        two("3", "iteration-7"),
    ),
    "a benchmark of its own name": ({"new-figures.json": stated()}, two("3", "new-figures")),
    "rows without numbers, or numbered from 0": (
        {
            "benchmark.json": stated(
                *(row(3, "a", marks, None) for marks in ("p", "pf")),
                *(row(3, "b", marks, n) for n, marks in enumerate(("p", "pf"))),
                row("new", "c", "p", None),
                row(None, "c", "p", None),
            )
        },
        [("none", "3", side, n, rate) for side in "ab" for n, rate in ((1, 1.0), (2, 0.5))]
        + [("none", id_, "c", 1, 1.0) for id_ in ("new", "unstated")],
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
    "benchmark.json with another name for the baseline": (
        {
            f"{ONE}/eval-3/with_skill/grading.json": graded("ppp"),
            f"{ONE}/eval-3/old_skill/grading.json": graded("pff"),
            f"{ONE}/benchmark.json": stated(),
        },
        [(ONE, "3", "old_skill", 1, THIRD), (ONE, "3", "with_skill", 1, 1.0)],
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
    # ── what is no run ───────────────────────────────────────────────────────────────────────
    "a trace beside results, and a folder that is called no run": (
        pair("iteration-1/eval-3-inbox/{}/{{run-1,pre-fix}}/grading.json")
        | {
            "iteration-1/inbox/{,with_skill/run-1/}timing.json": {"total_tokens": 5},
            "iteration-1/eval-3-inbox/with_skill/logs/timing.json": {"total_tokens": 5},
        },
        two("3", ONE, 1, 2),
    ),
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


SEGMENTS = (
    "iteration-1 round-2 2026-07-04T03-53-57-344Z runs evals results cases models with_skill "
    "without_skill skills v2 after gemini_with_skill eval-0 eval-1-a eval-basic case_2 test-suite "
    "gpt-5 claude-haiku run-1 run-2 run-a rep2 retry 1 r1 2026-10-01 inbox fast slow logs"
).split()
PATHS = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=5).map("/".join)


@given(st.sets(PATHS, min_size=1, max_size=5))
def test_wherever_a_grading_lies_it_is_a_run_or_a_problem(
    tmp_path_factory: pytest.TempPathFactory, folders: set[str]
) -> None:
    marks = zip(sorted(folders), ("p", "f", "pf", "ppf", "pff"), strict=False)
    files = {f"{folder}/grading.json": graded(of) for folder, of in marks}
    ws = sen.load(lay(tmp_path_factory.mktemp("any") / WS, files))
    told = {*ws.runs["path"], *ws.problems["path"]}
    assert all({folder, f"{folder}/grading.json"} & told for folder in folders)
    keys_of_runs = ("workspace", "iteration", "eval_id", "configuration", "run_number")
    assert not ws.runs.select(keys_of_runs).is_duplicated().any()
