"""What becomes of all that lies in a workspace: counted, told, or the definition of an eval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from tests.corpus.build import expectations, graded, keys, lay, row
from tests.workspace.test_layouts import DISK, ONE, WS, Files, metadata, pair, stated, two

# ── nothing is dropped in silence ────────────────────────────────────────────────────────────

RUN = f"{ONE}/eval-3/with_skill/run-1"
TWO_OF_TWO = {f"{RUN}/grading.json": graded("pp")}
LEFT = f"{ONE}/eval-3/without_skill"
ROUNDED = {"eval_id": 3, "configuration": "with_skill", "result": {"pass_rate": 0.66}}


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
                f"{ONE}/benchmark.json": {"runs": [ROUNDED]},
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
                f"{ONE}/inbox/with_skill/grading.json": graded("pp"),
                f"{ONE}/outbox/with_skill/grading.json": graded("pf"),
                **{
                    f"{ONE}/{name}/eval_metadata.json": metadata(0, name)
                    for name in ("inbox", "outbox")
                },
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
            [("warning", "whose", f"{ONE}/eval-0/timing.json")],
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
        ("info", "graded-in-benchmark", RUN),
        ("warning", "characters-as-tokens", f"{ONE}/benchmark.json"),
    ]


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


ASK = "Do it"


def asked(*definitions: tuple[Any, str | None, int], prompt: str = ASK) -> Files:
    """Definitions of one prompt: each with an id, a name and so many expectations."""
    return {
        "evals": [
            {"id": id_, "name": name, "prompt": prompt, "expectations": list("abcdef"[:n])}
            for id_, name, n in definitions
        ]
    }


ALL_ASKED = {name: metadata(n, name, ASK) for n, name in enumerate("xyz", 1)}


@pytest.mark.parametrize(
    ("evals", "ran", "expectations", "codes"),
    [
        # A prompt of several evals tells none of them: their names do, else their ids.
        (asked((1, "x", 1), (2, "y", 2), (3, "z", 3)), ALL_ASKED, {"1": 1, "2": 2, "3": 3}, []),
        (asked((9, "y", 1), (8, "x", 2), (7, "z", 3)), ALL_ASKED, {"2": 1, "1": 2, "3": 3}, []),
        (asked((3, None, 1), (1, None, 2)), ALL_ASKED, {"3": 1, "1": 2, "2": 0}, []),
        # One of them was not run: it takes nobody's place.
        (
            asked((1, "x", 1), (4, "w", 4)),
            {"x": metadata(1, "x", ASK)},
            {"1": 1, "4": 4},
            [],
        ),
        # Name and id together go before a prompt that was copied from another eval.
        (
            {"evals": [{"id": 1, "name": "x", "prompt": "Q", "expectations": ["a"]}]},
            {"x": metadata(1, "x", "P"), "y": metadata(2, "y", "Q")},
            {"1": 1, "2": 0},
            [],
        ),
        # An id that a suite gives twice is lost neither time.
        (asked((1, "x", 1), (1, "v", 2)), {}, {"1": 1, "v": 2}, ["duplicate-id"]),
        (asked((1, None, 1), (1, None, 2)), numbered(1), {"1": 1, "1 (2)": 2}, ["duplicate-id"]),
    ],
)
def test_no_definition_is_lost_where_prompts_or_ids_are_shared(
    tmp_path: Path, evals: Files, ran: Any, expectations: dict[str, int], codes: list[str]
) -> None:
    assert defined(tmp_path, evals, ran)[1] == codes
    table = sen.load(tmp_path / WS).evals
    assert dict(table.select("eval_id", "n_expectations").rows()) == expectations


@pytest.mark.parametrize(
    ("first", "second", "ids", "codes"),
    [
        ((2, "sort"), ("sort", "sort"), {"2"}, ["disagree"]),
        (("sort-it", "sort"), (2, "sort"), {"2"}, ["disagree"]),
        ((2, "sort"), (None, "sort"), {"2"}, []),
        ((2, "sort"), ("other", "other"), {"2", "other"}, []),
        ((2, "sort"), (3, "sort"), {"2", "3"}, []),
    ],
)
def test_an_eval_that_keeps_folder_and_name_is_one_in_every_iteration(
    tmp_path: Path, first: Any, second: Any, ids: set[str], codes: list[str]
) -> None:
    files: Files = {}
    for number, about in enumerate((first, second), 1):
        files |= pair(f"iteration-{number}/sort/{{}}/grading.json")
        files[f"iteration-{number}/sort/eval_metadata.json"] = metadata(*about)
    ws = sen.load(lay(tmp_path / WS, files))
    assert set(ws.runs["eval_id"]) == ids
    assert [code for _, code, _ in told(ws)] == codes


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
