"""What becomes of all that lies in a workspace: counted, told, or the definition of an eval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from tests.corpus.build import graded, keys, lay, row
from tests.workspace.test_layouts import DISK, ONE, WS, Files, metadata, pair, stated

# ── nothing is dropped in silence ────────────────────────────────────────────────────────────

RUN = f"{ONE}/eval-3/with_skill/run-1"
TWO_OF_TWO = {f"{RUN}/grading.json": graded("pp")}
BENCH = f"{ONE}/benchmark.json"


DISAGREE = f"warning disagree {RUN}/eval_metadata.json"


def told(ws: sen.Workspace) -> list[str]:
    """Severity, code and path of every problem."""
    return sorted(map(" ".join, ws.polars("problems").select("severity", "code", "path").rows()))


def with_row(*row_: Any) -> Files:
    return {**TWO_OF_TWO, BENCH: stated(row(*row_))}


@pytest.mark.parametrize(
    ("files", "runs", "problem"),
    [
        # The folder is the run itself.
        (with_row(3, "with_skill", "pff"), "3 with_skill 1", f"warning disagree {BENCH}"),
        # A run that only the benchmark knows; of two benchmarks the first counts.
        (with_row(9, "with_skill", "pf"), "3 with_skill 1; 9 with_skill 0.5", ""),
        (
            {
                BENCH: stated(row(3, "with_skill", "pp")),
                f"{ONE}/benchmark-old.json": stated(row(3, "with_skill", "pf")),
            },
            "3 with_skill 1",
            f"warning disagree {ONE}/benchmark-old.json",
        ),
        # Two rows with one number are never repeated runs; two folders of one id are no copies.
        (
            {BENCH: stated(*(row(3, "a", marks) for marks in ("p", "f")))},
            "3 a 1; 3 (2) a 0",
            f"warning duplicate-id {BENCH}",
        ),
        (
            {
                f"{ONE}/inbox/with_skill/grading.json": graded("pp"),
                f"{ONE}/outbox/with_skill/grading.json": graded("pf"),
                f"{ONE}/inbox/eval_metadata.json": metadata(0, "inbox"),
                f"{ONE}/outbox/eval_metadata.json": metadata(0, "outbox"),
            },
            "0 with_skill 1; outbox with_skill 0.5",
            "warning duplicate-id outbox",
        ),
        # Metadata of one folder that disagree: the first counts.
        (
            {
                **TWO_OF_TWO,
                f"{ONE}/eval-3/eval_metadata.json": metadata(3),
                f"{RUN}/eval_metadata.json": metadata(4),
            },
            "3 with_skill 1",
            DISAGREE,
        ),
        *(
            (
                {
                    **TWO_OF_TWO,
                    f"{ONE}/eval-3/eval_metadata.json": metadata(3, "sort", "Sort it") | of_eval,
                    f"{RUN}/eval_metadata.json": metadata(3, "sort", "Sort it") | of_run,
                },
                "3 with_skill 1",
                problem,
            )
            for problem, of_eval, of_run in (
                ("", {}, {"configuration": "with_skill", "assertions": []}),
                (DISAGREE, {}, {"prompt": "other"}),
                (DISAGREE, {"assertions": ["a"]}, {"assertions": ["b"]}),
            )
        ),
        (
            {**pair(DISK), f"{ONE}/eval-1/with_skill/grading.json": graded("p")},
            "1 with_skill 1; 3 with_skill 1; 3 without_skill 0.333",
            f"warning missing-side {ONE}/eval-1/with_skill",
        ),
        (
            {**TWO_OF_TWO, "eval-notes.json": {"colour": 1}, "package.json": {"a": 1}},
            "3 with_skill 1",
            "info not-a-document eval-notes.json",
        ),
    ],
)
def test_what_is_not_counted_is_told(tmp_path: Path, files: Files, runs: str, problem: str) -> None:
    ws = sen.load(lay(tmp_path / WS, files))
    found = [(eval_, side, number, rate) for _, _, eval_, side, number, rate in keys(ws)]
    assert "; ".join(f"{eval_} {side} {rate:.3g}" for eval_, side, _, rate in found) == runs
    assert {number for _, _, number, _ in found} == {1}
    assert told(ws) == ([problem] if problem else [])
    if "Sort it" in str(files):  # what one file leaves open, the other says
        assert ws.evals["prompt"].to_list() == ["Sort it"]


def test_what_an_agent_puts_out_is_no_result_of_its_run(tmp_path: Path) -> None:
    """Where the run was made here: other tools put their own results there."""
    forged = {"grading.json": graded("pp"), "metrics.json": {"total_steps": 3}}
    files = {f"{RUN}/outputs/{name}": one for name, one in forged.items()}
    for made_by, found in (({"executor": "offline"}, (None, None)), ({}, (2, 3))):
        timing = {f"{RUN}/timing.json": {"status": "errored", **made_by}}
        ws = sen.load(lay(tmp_path / f"{len(made_by)}", files | timing))
        assert ws.runs.select("passed", "steps").rows() == [found]


# ── definitions ──────────────────────────────────────────────────────────────────────────────


def suite(*prompts: str, first: int = 1) -> Files:
    """An evals.json with these prompts, numbered from `first`, with one more expectation each."""
    evals = [
        {"id": n, "prompt": prompt, "expectations": list("abcdef"[: n - first + 1])}
        for n, prompt in enumerate(prompts, start=first)
    ]
    return {"skill_name": "tdd", "evals": evals}


ASK = "Do it"


def asked(*definitions: tuple[Any, str | None]) -> Files:
    """Definitions of one prompt by id and name, with one more expectation each."""
    evals = suite(*[ASK] * len(definitions))["evals"]
    named = zip(evals, definitions, strict=True)
    return {"evals": [one | {"id": id_, "name": name} for one, (id_, name) in named]}


def numbered(*ids: int) -> dict[str, Any]:
    return {f"eval-{n}": None for n in ids}


def prompted(*prompts: str, first: int = 0) -> dict[str, Any]:
    return {f"eval-{n}": metadata(n, f"n{n}", prompt) for n, prompt in enumerate(prompts, first)}


BY_NAME = [{"id": 5, "name": "inbox-zero", "prompt": "x"}, {"id": "b", "prompt": "y"}]
OF_NAMES = {"one": metadata(0, "Inbox Zero", "P"), "5": metadata(5, "b", "Q")}
COPIED = {"x": metadata(1, "x", "P"), "y": metadata(2, "y", "Q")}
ALL_ASKED = {name: metadata(n, name, ASK) for n, name in enumerate("xyz", 1)}
Q_OF_X = {"id": 1, "name": "x", "prompt": "Q", "expectations": ["a"]}


@pytest.mark.parametrize(
    ("evals", "ran", "found"),
    [
        # The prompts say which is which, and one that was changed is shifted as the others are.
        (suite("P", "Q"), prompted("P", "Q"), "0 P 1; 1 Q 2; id-offset"),
        (suite(*"PQx"), prompted(*"PQR"), "0 P 1; 1 Q 2; 2 x 3; id-offset"),
        # Without prompts the reading that matches more is right; as it is goes first.
        (suite(*"PQR"), numbered(0, 1, 2), "0 P 1; 1 Q 2; 2 R 3; id-offset"),
        (suite(*"PQR"), numbered(1, 2), "1 P 1; 2 Q 2; 3 R 3"),
        # A name decides before the id, and an id may be the name.
        ({"evals": BY_NAME}, OF_NAMES, "0 x 0; 5 y 0"),
        # One that was never run keeps its id; one without id is counted.
        ({"evals": [{"id": "later", "prompt": "x"}]}, numbered(0), "0 None 0; later x 0"),
        # A prompt of several evals tells none of them: their names do, else their ids.
        (asked((9, "y"), (8, "x"), (7, "z")), ALL_ASKED, "1 Do it 2; 2 Do it 1; 3 Do it 3"),
        (asked((3, None), (1, None)), ALL_ASKED, "1 Do it 2; 2 Do it 0; 3 Do it 1"),
        # One of them was not run: it takes nobody's place.
        (asked((1, "x"), (4, "w")), {"x": ALL_ASKED["x"]}, "1 Do it 1; 4 Do it 2"),
        # Name and id together go before a prompt that was copied from another eval.
        ({"evals": [Q_OF_X]}, COPIED, "1 Q 1; 2 Q 0"),
        # An id that a suite gives twice is lost neither time.
        (asked((1, "x"), (1, "v")), {}, "1 Do it 1; v Do it 2; duplicate-id"),
        (asked((1, None), (1, None)), numbered(1), "1 (2) Do it 2; 1 Do it 1; duplicate-id"),
    ],
)
def test_definitions_find_the_evals_that_were_run(
    tmp_path: Path, evals: Files, ran: dict[str, Any], found: str
) -> None:
    """By id, prompt and number of expectations; with the codes of what is told."""
    files: Files = {"evals.json": evals}
    for folder, about in ran.items():
        files |= pair(f"{ONE}/{folder}/{{}}/grading.json")
        if about is not None:
            files[f"{ONE}/{folder}/eval_metadata.json"] = about
    ws = sen.load(lay(tmp_path / WS, files))
    rows = ws.evals.select("eval_id", "prompt", "n_expectations").rows()
    codes = [one.split()[1] for one in told(ws) if "missing-runs" not in one]
    assert "; ".join([*sorted(" ".join(map(str, row)) for row in rows), *codes]) == found


@pytest.mark.parametrize(
    ("workspaces", "path", "home"),
    [
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
            about = {"skill_name": said_skill}
            files[f"{name}/benchmark.json"] = stated(row(1, "with_skill", "p"), metadata=about)
    ws = sen.load(lay(tmp_path, files))
    rows = ws.evals.filter(prompt="P").select("workspace", "skill", "n_expectations").rows()
    assert rows == [(home, "tdd", 1)]
    assert {row["workspace"] for row in ws.runs.to_dicts()} == set(workspaces)
