"""Where people put their results: every layout is read as what it is, and each run once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

import skill_eval_nb as sen
from tests.corpus.build import expectations, graded, keys, lay, row, said

WS = "tdd-workspace"


class Layout(NamedTuple):
    """Files below a workspace, and the runs that they are."""

    files: dict[str, Any]
    runs: list[tuple[str, str, str, int, float | None]]


BOTH = {"with_skill": "ppp", "without_skill": "pff"}


def pair(where: str, **fields: Any) -> dict[str, Any]:
    """A grading for each of the two configurations; `{}` in `where` is the configuration."""
    return {where.format(name): graded(marks, **fields) for name, marks in BOTH.items()}


def pair_of_runs(
    eval_id: str, iteration: str = "iteration-1", run_number: int = 1
) -> list[tuple[str, str, str, int, float | None]]:
    return [
        (iteration, eval_id, "with_skill", run_number, 1.0),
        (iteration, eval_id, "without_skill", run_number, pytest.approx(1 / 3)),
    ]


def metadata(eval_id: Any, name: str = "named", prompt: str = "Do it.") -> dict[str, Any]:
    return {"eval_id": eval_id, "eval_name": name, "prompt": prompt, "assertions": []}


LAYOUTS = {
    # ── levels ───────────────────────────────────────────────────────────────────────────────
    "iteration, eval, configuration, run": Layout(
        {
            **pair("iteration-1/eval-0-a/{}/run-1/grading.json"),
            **pair("iteration-1/eval-0-a/{}/run-2/grading.json"),
        },
        pair_of_runs("0") + pair_of_runs("0", run_number=2),
    ),
    "no run level": Layout(pair("iteration-1/eval-0/{}/grading.json"), pair_of_runs("0")),
    "no iteration": Layout(pair("eval-0/{}/run-1/grading.json"), pair_of_runs("0", "none")),
    "no iteration, no run level": Layout(
        pair("eval-0-a/{}/grading.json") | pair("eval-1-b/{}/grading.json"),
        pair_of_runs("0", "none") + pair_of_runs("1", "none"),
    ),
    "runs/ above the evals": Layout(
        pair("runs/eval-0/{}/run-1/grading.json"), pair_of_runs("0", "none")
    ),
    "runs/ in an iteration": Layout(
        pair("iteration-1/runs/eval-0/{}/run-1/grading.json"), pair_of_runs("0")
    ),
    "runs/ in a configuration": Layout(
        pair("iteration-1/eval-0/{}/runs/run-1/grading.json")
        | pair("iteration-1/eval-0/{}/runs/run-2/grading.json"),
        pair_of_runs("0") + pair_of_runs("0", run_number=2),
    ),
    "run_1": Layout(
        pair("iteration-1/eval-0/{}/run_1/grading.json")
        | pair("iteration-1/eval-0/{}/run_12/grading.json"),
        pair_of_runs("0") + pair_of_runs("0", run_number=12),
    ),
    # ── iterations ───────────────────────────────────────────────────────────────────────────
    "iterations of any name": Layout(
        {
            path: content
            for name in ("5", "5b", "master", "7-rerun", "4-gpt-5.3-codex")
            for path, content in pair(f"iteration-{name}/eval-0/{{}}/grading.json").items()
        },
        [
            run
            for name in ("5", "5b", "master", "7-rerun", "4-gpt-5.3-codex")
            for run in pair_of_runs("0", f"iteration-{name}")
        ],
    ),
    # ── evals ────────────────────────────────────────────────────────────────────────────────
    "eval-N-long-name": Layout(
        pair("iteration-1/eval-3-a-long-name-2/{}/grading.json"), pair_of_runs("3")
    ),
    "evals of any name": Layout(
        pair("iteration-1/summarise-the-inbox/{}/grading.json")
        | pair("iteration-1/eval-basic/{}/run-1/grading.json"),
        pair_of_runs("summarise-the-inbox") + pair_of_runs("eval-basic"),
    ),
    "evals of any name, no iteration": Layout(
        pair("deploy-app/{}/grading.json") | pair("setup-vps/{}/grading.json"),
        pair_of_runs("deploy-app", "none") + pair_of_runs("setup-vps", "none"),
    ),
    "eval_metadata.json at eval level": Layout(
        pair("iteration-1/inbox/{}/grading.json")
        | {"iteration-1/inbox/eval_metadata.json": metadata(7)},
        pair_of_runs("7"),
    ),
    "eval_metadata.json at configuration level": Layout(
        pair("iteration-1/inbox/{}/run-1/grading.json")
        | {f"iteration-1/inbox/{name}/eval_metadata.json": metadata(7) for name in BOTH},
        pair_of_runs("7"),
    ),
    "eval_metadata.json at run level": Layout(
        pair("iteration-1/inbox/{}/run-1/grading.json")
        | {f"iteration-1/inbox/{name}/run-1/eval_metadata.json": metadata(7) for name in BOTH},
        pair_of_runs("7"),
    ),
    "an eval_id that is text": Layout(
        pair("iteration-1/eval-1/{}/grading.json")
        | {"iteration-1/eval-1/eval_metadata.json": metadata("login flow")},
        pair_of_runs("login flow"),
    ),
    # ── configurations ───────────────────────────────────────────────────────────────────────
    "configurations of any name": Layout(
        {
            f"iteration-1/eval-0/{name}/grading.json": graded("pf")
            for name in ("my_with_skill", "with_skill (iter5)", "baseline", "v2", "old_skill")
        },
        [
            ("iteration-1", "0", name, 1, 0.5)
            for name in ("my_with_skill", "with_skill (iter5)", "baseline", "v2", "old_skill")
        ],
    ),
    "configurations of any name, with runs": Layout(
        {
            f"iteration-1/inbox/{name}/run-{n}/grading.json": graded("pf")
            for name in ("v1", "v2")
            for n in (1, 2)
        },
        [("iteration-1", "inbox", name, n, 0.5) for name in ("v1", "v2") for n in (1, 2)],
    ),
    "a lone configuration of any name": Layout(
        {f"iteration-1/inbox/v2/run-{n}/grading.json": graded("pf") for n in (1, 2)},
        [("iteration-1", "inbox", "v2", n, 0.5) for n in (1, 2)],
    ),
    "a lone configuration of any name, no run level": Layout(
        {"iteration-1/inbox/v2/grading.json": graded("pf")},
        [("iteration-1", "inbox", "v2", 1, 0.5)],
    ),
    "a lone configuration of any name beside an eval with a known one": Layout(
        {
            "iteration-1/eval-0/without_skill/run-1/grading.json": graded("pf"),
            "iteration-1/inbox/v2/run-1/grading.json": graded("pf"),
        },
        [
            ("iteration-1", "0", "without_skill", 1, 0.5),
            ("iteration-1", "inbox", "v2", 1, 0.5),
        ],
    ),
    "configuration above the eval": Layout(
        pair("iteration-1/{}/eval-0/grading.json") | pair("iteration-1/{}/eval-1/grading.json"),
        pair_of_runs("0") + pair_of_runs("1"),
    ),
    "configuration above the eval, no iteration": Layout(
        pair("{}/eval-0/run-1/grading.json"), pair_of_runs("0", "none")
    ),
    # ── where the grading lies ───────────────────────────────────────────────────────────────
    "grading.json of an eval, no configuration": Layout(
        {"iteration-1/eval-0/grading.json": graded("ppf")},
        [("iteration-1", "0", "unstated", 1, pytest.approx(2 / 3))],
    ),
    "grading.json of an eval, configuration in the file": Layout(
        {"iteration-1/eval-0/grading.json": graded("pf", configuration="old_skill")},
        [("iteration-1", "0", "old_skill", 1, 0.5)],
    ),
    "grading_with_skill.json": Layout(
        pair("iteration-1/eval-basic/grading_{}.json"), pair_of_runs("eval-basic")
    ),
    "grading-with_skill.json": Layout(
        pair("iteration-1/eval-0/grading-{}.json"), pair_of_runs("0")
    ),
    "eval-N-grading.json in the configuration": Layout(
        pair("iteration-1/{}/eval-0-grading.json") | pair("iteration-1/{}/eval-1-grading.json"),
        pair_of_runs("0") + pair_of_runs("1"),
    ),
    "both configurations in one file": Layout(
        {
            "iteration-1/eval-0/grading.json": {
                "runs": [
                    {"configuration": name, "expectations": expectations(marks)}
                    for name, marks in BOTH.items()
                ]
            }
        },
        pair_of_runs("0"),
    ),
    "grading.json under outputs/": Layout(
        pair("iteration-1/eval-0/{}/outputs/grading.json"), pair_of_runs("0")
    ),
    "grading.json under outputs/ of a run": Layout(
        pair("iteration-1/eval-0/{}/run-2/outputs/grading.json"), pair_of_runs("0", run_number=2)
    ),
    "grading/<configuration>_<eval>_run<n>.json": Layout(
        {
            f"grading/{name}_lookup_run{n}.json": {
                "pass": mark == "p",
                "assertions_met": ["check"] * (mark == "p"),
                "assertions_missed": ["check"] * (mark == "f"),
            }
            for name, marks in {"with_skill": "pp", "without_skill": "pf"}.items()
            for n, mark in enumerate(marks, start=1)
        },
        [
            ("none", "lookup", "with_skill", 1, 1.0),
            ("none", "lookup", "with_skill", 2, 1.0),
            ("none", "lookup", "without_skill", 1, 1.0),
            ("none", "lookup", "without_skill", 2, 0.0),
        ],
    ),
    # ── benchmark.json ───────────────────────────────────────────────────────────────────────
    "results in benchmark.json only": Layout(
        {"iteration-1/benchmark.json": {"runs": [row(3, *side) for side in BOTH.items()]}},
        pair_of_runs("3"),
    ),
    "results in benchmark.json only, no iteration": Layout(
        {"benchmark.json": {"runs": [row(3, *side) for side in BOTH.items()]}},
        pair_of_runs("3", "none"),
    ),
    "results in benchmark.json only, beside eval_metadata.json": Layout(
        {
            "iteration-1/benchmark.json": {"runs": [row(3, *side) for side in BOTH.items()]},
            "iteration-1/inbox/eval_metadata.json": metadata(3),
        },
        pair_of_runs("3"),
    ),
    "flat runs, `condition` and `case_id`, percent": Layout(
        {
            "iteration-1/benchmark.json": {
                "runs": [
                    {
                        "case_id": "a",
                        "condition": "with_skill",
                        "pass_rate": 100,
                        "passed": 4,
                        "total": 4,
                    },
                    {
                        "case_id": "a",
                        "condition": "baseline",
                        "pass_rate": 25,
                        "passed": 1,
                        "total": 4,
                    },
                ]
            }
        },
        [("iteration-1", "a", "baseline", 1, 0.25), ("iteration-1", "a", "with_skill", 1, 1.0)],
    ),
    "both configurations in a row": Layout(
        {
            "benchmark.json": {
                "runs": [
                    {
                        "eval_id": "a",
                        "run_index": index,
                        "with_skill": {"assertion_results": expectations("pp")},
                        "without_skill": {"assertion_results": expectations("pf")},
                    }
                    for index in (0, 1)
                ]
            }
        },
        [("none", "a", "with_skill", n, 1.0) for n in (1, 2)]
        + [("none", "a", "without_skill", n, 0.5) for n in (1, 2)],
    ),
    # ── the same run in two files ────────────────────────────────────────────────────────────
    "the same run in its folder and in benchmark.json": Layout(
        pair("iteration-1/eval-3/{}/run-1/grading.json")
        | {"iteration-1/benchmark.json": {"runs": [row(3, *side) for side in BOTH.items()]}},
        pair_of_runs("3"),
    ),
    "benchmark.json without run numbers": Layout(
        pair("iteration-1/eval-3/{}/grading.json")
        | {
            "iteration-1/benchmark.json": {
                "runs": [row(3, *side, run_number=None) for side in BOTH.items()]
            }
        },
        pair_of_runs("3"),
    ),
    "benchmark.json that knows the eval by its name": Layout(
        pair("iteration-1/inbox/{}/grading.json")
        | {
            "iteration-1/inbox/eval_metadata.json": metadata(4, "inbox"),
            "iteration-1/benchmark.json": {
                "runs": [row("inbox", *side, eval_name="inbox") for side in BOTH.items()]
            },
        },
        pair_of_runs("4"),
    ),
    "benchmark.json with another name for the baseline": Layout(
        {
            "iteration-1/eval-3/with_skill/grading.json": graded("ppp"),
            "iteration-1/eval-3/old_skill/grading.json": graded("pff"),
            "iteration-1/benchmark.json": {"runs": [row(3, *side) for side in BOTH.items()]},
        },
        [
            ("iteration-1", "3", "old_skill", 1, pytest.approx(1 / 3)),
            ("iteration-1", "3", "with_skill", 1, 1.0),
        ],
    ),
    "benchmark.json that adds the iteration to the configuration": Layout(
        {
            "iteration-4/inbox/with_skill/grading.json": graded("ppp"),
            "iteration-5/inbox/with_skill/grading.json": graded("ppf"),
            "iteration-5/benchmark.json": {
                "runs": [
                    row("inbox", "with_skill (iter5)", "ppf", 5, eval_name="inbox"),
                    row("inbox", "with_skill (iter4)", "ppp", 4, eval_name="inbox"),
                ]
            },
        },
        [
            ("iteration-4", "inbox", "with_skill", 1, 1.0),
            ("iteration-5", "inbox", "with_skill", 1, pytest.approx(2 / 3)),
        ],
    ),
    "the same grading at configuration and at run level": Layout(
        pair("iteration-1/eval-0/{}/grading.json")
        | pair("iteration-1/eval-0/{}/run-1/grading.json"),
        pair_of_runs("0"),
    ),
    "the same eval in two folders": Layout(
        pair("iteration-1/inbox/{}/run-1/grading.json")
        | pair("iteration-1/eval-0-inbox/{}/run-1/grading.json")
        | {
            "iteration-1/inbox/eval_metadata.json": metadata(0, "inbox"),
            "iteration-1/eval-0-inbox/eval_metadata.json": metadata(0, "inbox"),
        },
        pair_of_runs("0"),
    ),
    "an empty benchmark.json above gradings": Layout(
        pair("iteration-1/eval-0/{}/grading.json")
        | {
            "iteration-1/benchmark.json": {
                "metadata": {"skill_name": "tdd", "evals_run": [], "runs_per_configuration": 3},
                "runs": [],
                "run_summary": {"delta": {"pass_rate": "+0.00", "tokens": "+0"}},
                "notes": [],
            }
        },
        pair_of_runs("0"),
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("above", [False, True], ids=["itself", "from above"])
def test_layout(tmp_path: Path, layout: Layout, above: bool) -> None:
    """Loaded by itself or from the folder above, the runs are the same."""
    folder = lay(tmp_path / WS, layout.files)
    ws = sen.load(tmp_path if above else folder)
    assert keys(ws) == [(WS, *run) for run in sorted(layout.runs, key=lambda run: run[:4])]
    assert not said(ws, "error")


# ── what is loaded ───────────────────────────────────────────────────────────────────────────

PLAIN = pair("iteration-1/eval-0/{}/run-1/grading.json") | pair(
    "iteration-2/eval-0/{}/run-1/grading.json"
)


def test_several_workspaces_below_one_folder(tmp_path: Path) -> None:
    lay(tmp_path / "skills/tdd-workspace", PLAIN)
    lay(tmp_path / "skills/archive/pdf-workspace", PLAIN)
    lay(tmp_path / "evals/workspace", pair("eval-0/{}/grading.json"))
    found = keys(sen.load(tmp_path))
    assert {key[0] for key in found} == {
        "skills/tdd-workspace",
        "skills/archive/pdf-workspace",
        "evals/workspace",
    }
    assert len(found) == 4 + 4 + 2


def test_one_iteration_alone(tmp_path: Path) -> None:
    lay(tmp_path / WS, PLAIN)
    ws = sen.load(tmp_path / WS / "iteration-2")
    assert keys(ws) == [(WS, *run) for run in pair_of_runs("0", "iteration-2")]
    assert set(ws.runs["skill"]) == set(sen.load(tmp_path / WS).runs["skill"]) == {"tdd"}


def test_one_benchmark_json(tmp_path: Path) -> None:
    """Asked for one file, nothing else is read: it is all there is to know of these runs."""
    runs = [row(3, *side) for side in BOTH.items()]
    lay(tmp_path / WS, {"iteration-1/benchmark.json": {"runs": runs}})
    ws = sen.load(tmp_path / WS / "iteration-1" / "benchmark.json")
    assert [key[1:] for key in keys(ws)] == pair_of_runs("3")


def test_one_evals_json(tmp_path: Path) -> None:
    evals = {"skill_name": "tdd", "evals": [{"id": n, "prompt": f"Task {n}"} for n in (1, 2)]}
    lay(tmp_path, {"evals.json": evals})
    ws = sen.load(tmp_path / "evals.json")
    assert ws.runs.height == 0
    assert ws.evals.select("eval_id", "prompt").rows() == [("1", "Task 1"), ("2", "Task 2")]
    assert set(ws.evals["skill"]) == {"tdd"}


def test_a_list_of_paths(tmp_path: Path) -> None:
    lay(tmp_path / "a/one-workspace", PLAIN)
    lay(tmp_path / "b/two-workspace", pair("eval-0/{}/grading.json"))
    ws = sen.load([tmp_path / "a/one-workspace", str(tmp_path / "b/two-workspace")])
    found = keys(ws)
    assert len(found) == 4 + 2
    assert len({key[0] for key in found}) == 2


def test_a_list_with_the_same_folder_twice_counts_it_once(tmp_path: Path) -> None:
    lay(tmp_path / WS, PLAIN)
    ws = sen.load([tmp_path / WS, tmp_path / WS / "iteration-1", tmp_path / WS])
    assert len(keys(ws)) == 4


def test_two_workspaces_of_one_name_are_two(tmp_path: Path) -> None:
    """The folders differ, and so must the column `workspace`."""
    for above in "ab":
        lay(tmp_path / above / "workspace", pair("eval-0/{}/grading.json"))
    found = keys(sen.load([tmp_path / "a/workspace", tmp_path / "b/workspace"]))
    assert len({key[:5] for key in found}) == 4


def test_a_glob(tmp_path: Path) -> None:
    for name in ("tdd-workspace", "pdf-workspace", "notes"):
        lay(tmp_path / name, pair("eval-0/{}/grading.json"))
    found = keys(sen.load(str(tmp_path / "*-workspace")))
    assert {key[0] for key in found} == {"tdd-workspace", "pdf-workspace"}
    assert len(found) == 4


def test_a_path_as_text_and_as_path_are_the_same(tmp_path: Path) -> None:
    lay(tmp_path / WS, PLAIN)
    assert keys(sen.load(str(tmp_path / WS))) == keys(sen.load(tmp_path / WS))


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path / WS, PLAIN)
    monkeypatch.chdir(tmp_path / WS)
    assert keys(sen.load(".")) == keys(sen.load(tmp_path / WS))


# ── what is not a run ────────────────────────────────────────────────────────────────────────


def test_a_workspace_inside_outputs_is_an_output(tmp_path: Path) -> None:
    """A skill that writes evals leaves whole workspaces in its outputs."""
    inner = "iteration-1/eval-0/with_skill/run-1/outputs/pdf-workspace"
    ws = sen.load(
        lay(
            tmp_path / WS,
            PLAIN
            | pair(f"{inner}/iteration-1/eval-9/{{}}/run-1/grading.json")
            | {
                f"{inner}/benchmark.json": {"runs": [row(8, "with_skill", "p")]},
                f"{inner}/evals/evals.json": {"evals": [{"id": 77, "prompt": "inner"}]},
                "iteration-1/eval-0/with_skill/run-1/outputs/evals.json": {
                    "evals": [{"id": 78, "prompt": "inner"}]
                },
            },
        )
    )
    assert keys(ws) == [(WS, *run) for n in (1, 2) for run in pair_of_runs("0", f"iteration-{n}")]
    assert not {"77", "78"} & set(ws.evals["eval_id"])


def test_an_own_grading_goes_before_one_in_outputs(tmp_path: Path) -> None:
    files = {
        "iteration-1/eval-0/with_skill/run-1/grading.json": graded("pf"),
        "iteration-1/eval-0/with_skill/run-1/outputs/grading.json": graded("pppp"),
    }
    ws = sen.load(lay(tmp_path / WS, files))
    assert keys(ws) == [(WS, "iteration-1", "0", "with_skill", 1, 0.5)]


def test_a_summary_of_gradings_is_no_run(tmp_path: Path) -> None:
    files = PLAIN | {"iteration-1/grading_summary.json": {"evals": [{"with_skill_pass_rate": 1}]}}
    assert len(keys(sen.load(lay(tmp_path / WS, files)))) == 4


def test_a_snapshot_of_a_skill_is_no_workspace(tmp_path: Path) -> None:
    evals = {"skill_name": "tdd", "evals": [{"id": 0, "prompt": "Old."}]}
    ws = sen.load(lay(tmp_path / WS, PLAIN | {"skill-snapshot/evals/evals.json": evals}))
    assert set(ws.runs["workspace"]) == {WS}
    assert len(keys(ws)) == 4


# ── nothing is dropped in silence ────────────────────────────────────────────────────────────


def test_folder_and_benchmark_that_disagree(tmp_path: Path) -> None:
    """The folder is the run itself; the problem names both files."""
    files = {
        "iteration-1/eval-3/with_skill/run-1/grading.json": graded("pff"),
        "iteration-1/benchmark.json": {"runs": [row(3, "with_skill", "ppp")]},
    }
    ws = sen.load(lay(tmp_path / WS, files))
    assert keys(ws) == [(WS, "iteration-1", "3", "with_skill", 1, pytest.approx(1 / 3))]
    assert [
        text
        for text in said(ws)
        if "benchmark.json" in text and "iteration-1/eval-3/with_skill/run-1" in text
    ]


def test_folder_and_benchmark_that_agree_are_no_problem(tmp_path: Path) -> None:
    files = pair("iteration-1/eval-3/{}/run-1/grading.json") | {
        "iteration-1/benchmark.json": {"runs": [row(3, *side) for side in BOTH.items()]}
    }
    ws = sen.load(lay(tmp_path / WS, files))
    assert not said(ws, "error", "warning")


def test_a_run_that_only_the_benchmark_knows_beside_others_is_told(tmp_path: Path) -> None:
    """Either it is a run of the tables, or a problem names the benchmark.json."""
    files = {
        "iteration-1/eval-3/with_skill/run-1/grading.json": graded("ppp"),
        "iteration-1/benchmark.json": {
            "runs": [row(3, "with_skill", "ppp"), row(9, "with_skill", "pff")]
        },
    }
    ws = sen.load(lay(tmp_path / WS, files))
    told = [text for text in said(ws) if "benchmark.json" in text and "9" in text]
    assert told or "9" in {key[2] for key in keys(ws)}


def test_one_key_with_two_results_loses_neither(tmp_path: Path) -> None:
    """Two eval folders claim one eval_id, with other verdicts: that is no copy."""
    files = {
        "iteration-1/inbox/with_skill/grading.json": graded("pp"),
        "iteration-1/inbox/eval_metadata.json": metadata(0, "inbox"),
        "iteration-1/outbox/with_skill/grading.json": graded("pf"),
        "iteration-1/outbox/eval_metadata.json": metadata(0, "outbox"),
    }
    ws = sen.load(lay(tmp_path / WS, files))
    both = {"inbox/with_skill", "outbox/with_skill"}
    rows = " ".join(run["path"] for run in ws.runs.to_dicts())
    told = " ".join(said(ws, "error", "warning"))
    assert all(place in rows or place in told for place in both)
    assert told
    found = keys(ws)
    assert len({key[:5] for key in found}) == len(found)


def test_a_pair_with_one_side_missing(tmp_path: Path) -> None:
    files = pair("iteration-1/eval-0/{}/grading.json") | {
        "iteration-1/eval-1/with_skill/grading.json": graded("p")
    }
    ws = sen.load(lay(tmp_path / WS, files))
    assert [text for text in said(ws) if "without_skill" in text and "iteration-1" in text]


def test_a_run_without_grading_is_executed(tmp_path: Path) -> None:
    files = pair("iteration-1/eval-0/{}/run-1/grading.json") | {
        "iteration-1/eval-0/with_skill/run-2/outputs/answer.md": "done",
        "iteration-1/eval-0/with_skill/run-2/timing.json": {"total_tokens": 5, "duration_ms": 900},
    }
    ws = sen.load(lay(tmp_path / WS, files))
    runs = {
        run["run_number"]: run for run in ws.runs.to_dicts() if run["configuration"] == "with_skill"
    }
    assert (runs[1]["status"], runs[2]["status"]) == ("graded", "executed")
    assert runs[2]["pass_rate"] is None
    assert (runs[2]["tokens"], runs[2]["time_seconds"]) == (5, pytest.approx(0.9))
    assert [text for text in said(ws) if "run-2" in text]


def test_verdicts_that_are_all_null_are_no_pass_rate(tmp_path: Path) -> None:
    files = {"iteration-1/eval-0/with_skill/grading.json": graded("---")}
    ws = sen.load(lay(tmp_path / WS, files))
    (run,) = ws.runs.to_dicts()
    assert run["pass_rate"] is None
    assert run["status"] != "graded"
    assert run["total"] == 3


def test_what_is_not_scored_enters_no_rate(tmp_path: Path) -> None:
    files = {"iteration-1/eval-0/with_skill/grading.json": graded("pp-f-")}
    (run,) = sen.load(lay(tmp_path / WS, files)).runs.to_dicts()
    assert (run["passed"], run["failed"], run["total"]) == (2, 1, 5)
    assert run["pass_rate"] == pytest.approx(2 / 3)


def test_a_failed_gate(tmp_path: Path) -> None:
    structural = {
        "expectations": [
            {
                "id": "S1",
                "text": "a file",
                "type": "file_exists",
                "passed": False,
                "critical": True,
            },
            {"id": "S2", "text": "no errors", "type": "no_errors", "passed": True},
        ],
        "gate_passed": False,
    }
    files = {"iteration-1/eval-0/with_skill/run-1/structural.json": structural}
    (run,) = sen.load(lay(tmp_path / WS, files)).runs.to_dicts()
    assert (run["status"], run["gate_passed"]) == ("gated", False)
    assert (run["structural_pass_rate"], run["pass_rate"]) == (0.5, 0.5)


def test_layers_are_told_apart(tmp_path: Path) -> None:
    """The pass rate is the judge's; the structural one has its own column."""
    structural = {"expectations": expectations("pppf"), "gate_passed": True}
    files = {
        "iteration-1/eval-0/with_skill/run-1/structural.json": structural,
        "iteration-1/eval-0/with_skill/run-1/grading.json": graded("pf"),
    }
    ws = sen.load(lay(tmp_path / WS, files))
    (run,) = ws.runs.to_dicts()
    assert (run["status"], run["pass_rate"], run["structural_pass_rate"]) == ("graded", 0.5, 0.75)
    layers = [check["layer"] for check in ws.expectations.to_dicts()]
    assert (layers.count("structural"), layers.count("judged")) == (4, 2)


def test_zero_tokens_and_zero_seconds_are_missing(tmp_path: Path) -> None:
    timing = {"total_tokens": 0, "duration_ms": 0, "total_duration_seconds": 0.0}
    files = {
        "iteration-1/eval-0/with_skill/grading.json": graded("p"),
        "iteration-1/eval-0/with_skill/timing.json": timing,
    }
    (run,) = sen.load(lay(tmp_path / WS, files)).runs.to_dicts()
    assert (run["tokens"], run["time_seconds"]) == (None, None)


# ── definitions ──────────────────────────────────────────────────────────────────────────────


def suite(*prompts: str, first: int = 1) -> dict[str, Any]:
    """An evals.json with these prompts, numbered from `first`."""
    evals = [
        {"id": n, "prompt": prompt, "expected_output": "good", "expectations": ["a", "b"]}
        for n, prompt in enumerate(prompts, start=first)
    ]
    return {"skill_name": "tdd", "evals": evals}


def prompts(ws: Any) -> dict[str, str]:
    return {row["eval_id"]: row["prompt"] for row in ws.evals.to_dicts()}


def test_evals_json_in_the_skill_beside_the_workspace(tmp_path: Path) -> None:
    lay(
        tmp_path / "skills/tdd",
        {"SKILL.md": "---\nname: tdd\n---\n", "evals/evals.json": suite("P", "Q")},
    )
    lay(
        tmp_path / "skills/tdd-workspace",
        pair("iteration-1/eval-1/{}/grading.json") | pair("iteration-1/eval-2/{}/grading.json"),
    )
    ws = sen.load(tmp_path / "skills")
    assert {key[2] for key in keys(ws)} == {"1", "2"}
    assert set(ws.runs["skill"]) == {"tdd"}
    named = ws.evals.to_dicts()
    assert {(row["workspace"], row["eval_id"], row["prompt"]) for row in named} == {
        ("tdd-workspace", "1", "P"),
        ("tdd-workspace", "2", "Q"),
    }
    assert {row["n_expectations"] for row in named} == {2}


def test_definitions_join_by_prompt_before_id(tmp_path: Path) -> None:
    """The folders count from 0, the suite from 1, and the prompts say which is which."""
    files = {"evals.json": suite("P", "Q")}
    for n, prompt in enumerate("PQ"):
        files |= pair(f"iteration-1/eval-{n}/{{}}/grading.json")
        files[f"iteration-1/eval-{n}/eval_metadata.json"] = metadata(n, f"name-{n}", prompt)
    ws = sen.load(lay(tmp_path / WS, files))
    assert {key[2] for key in keys(ws)} == {"0", "1"}
    assert prompts(ws) == {"0": "P", "1": "Q"}
    assert ws.evals["expected_output"].to_list() == ["good", "good"]


@pytest.mark.parametrize(("first", "offset"), [(1, True), (0, False)])
def test_whether_ids_are_offset_is_decided_once_and_told(
    tmp_path: Path, first: int, offset: bool
) -> None:
    """Three folders, eval-0 to eval-2: of the readings, the one that matches more is right."""
    files: dict[str, Any] = {"evals.json": suite("P", "Q", "R", first=first)}
    for n in range(3):
        files |= pair(f"iteration-1/eval-{n}/{{}}/grading.json")
    ws = sen.load(lay(tmp_path / WS, files))
    assert {key[2] for key in keys(ws)} == {"0", "1", "2"}
    assert prompts(ws) == {"0": "P", "1": "Q", "2": "R"}
    told = [row for row in ws.problems.to_dicts() if "offset" in f"{row['code']} {row['message']}"]
    assert [row["severity"] for row in told] == (["info"] if offset else [])


def test_ids_that_match_as_they_are_stay_as_they_are(tmp_path: Path) -> None:
    """Runs of evals 1 and 2 of three: both readings find two folders, as it is goes first."""
    files: dict[str, Any] = {"evals.json": suite("P", "Q", "R")}
    for n in (1, 2):
        files |= pair(f"iteration-1/eval-{n}/{{}}/grading.json")
    ws = sen.load(lay(tmp_path / WS, files))
    assert {n: prompts(ws)[n] for n in ("1", "2")} == {"1": "P", "2": "Q"}


def test_an_eval_is_one_row_however_many_files_define_it(tmp_path: Path) -> None:
    files = PLAIN | {"evals.json": suite("P", first=0), "evals/evals.json": suite("P", first=0)}
    for n in (1, 2):
        files[f"iteration-{n}/eval-0/eval_metadata.json"] = metadata(0, "inbox", "P")
    ws = sen.load(lay(tmp_path / WS, files))
    assert ws.evals.height == 1


def test_an_eval_that_only_its_folder_knows_has_a_row(tmp_path: Path) -> None:
    """Whoever joins runs with evals finds every run's eval."""
    ws = sen.load(lay(tmp_path / WS, PLAIN))
    assert ws.evals.select("eval_id", "prompt").rows() == [("0", None)]
