"""Shapes that people keep their results in, made up after real ones: what becomes of each."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from tests.corpus.build import graded, keys, lay

BOTH = ("with_skill", "without_skill")
Row = dict[str, Any]


def load(folder: Path, files: dict[str, Any]) -> sen.Workspace:
    return sen.load(lay(folder / "all", files))


def found(ws: sen.Workspace, *columns: str, table: str = "runs") -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in columns) for row in ws.polars(table).to_dicts())


def coded(ws: sen.Workspace, code: str) -> list[Row]:
    return [row for row in ws.polars("problems").to_dicts() if row["code"] == code]


def pairs(path: str, marks: str = "pf", evals: tuple[int, ...] = (1, 2)) -> dict[str, Any]:
    return {path.format(eval=n, side=side): graded(marks) for n in evals for side in BOTH}


def test_rows_that_name_no_eval_are_never_repeated_runs(tmp_path: Path) -> None:
    """Four rows of two sides, taken for four runs of one eval, would give p = 0.03."""
    result = {"pass_rate": 1.0, "passed": 2, "failed": 0, "total": 2}
    rows = [{"configuration": side, "result": result} for side in BOTH * 4]
    raw = {"metadata": {"skill_name": "s"}, "runs": rows, "run_summary": {}}
    ws = load(tmp_path, {"iteration-1/benchmark.json": raw})
    assert len({row["eval_id"] for row in ws.runs.to_dicts()}) == 8
    assert {row["run_number"] for row in ws.runs.to_dicts()} == {1}
    assert len(coded(ws, "unnamed-eval")) == 1
    alone = {**raw, "runs": rows[:2]}  # one of each side: nothing to take for anything
    ws = load(tmp_path / "alone", {"iteration-1/benchmark.json": alone})
    assert {row["eval_id"] for row in ws.runs.to_dicts()} == {"unstated"}


def test_a_skill_of_its_own_is_that_of_the_run(tmp_path: Path) -> None:
    rows = {
        f"C-{n}": {
            "skill": f"x/skills/s{n}/SKILL.md",
            **{side: {"pass_rate": 1.0} for side in BOTH},
        }
        for n in (1, 2)
    }
    ws = load(tmp_path, {"ws/iteration-1/benchmark.json": {"results": rows}})
    assert set(found(ws, "eval_id", "skill")) == {("C-1", "s1"), ("C-2", "s2")}
    files = pairs("ws/iteration-1/eval-{eval}/{side}/grading.json")
    own = {path: content | {"skill": "mine"} for path, content in files.items() if "eval-1" in path}
    ws = load(tmp_path / "disk", files | own)
    for table in ("runs", "evals"):
        assert set(found(ws, "eval_id", "skill", table=table)) == {("1", "mine"), ("2", "ws")}


def test_a_side_that_lies_in_itself_again_is_that_side(tmp_path: Path) -> None:
    files = pairs("ws/iteration-2/eval-{eval}/{side}/grading.json")
    nested = {
        f"ws/iteration-2/eval-{n}/without_skill/without_skill/grading.json": graded("pf")
        for n in (1, 2, 3)
    }
    ws = load(tmp_path, files | nested)
    assert found(ws, "eval_id", "configuration", "run_number") == sorted(
        [(n, side, 1) for n, side in product("12", BOTH)] + [("3", "without_skill", 1)]
    )
    assert len(coded(ws, "duplicate-run")) == 2


def test_files_beside_a_grading_tell_of_its_run(tmp_path: Path) -> None:
    """`with_skill/eval-1-config.json` is no metadata of an eval called with_skill."""
    files: dict[str, Any] = pairs("ws/iteration-3/{side}/eval-{eval}-grading.json")
    for n, side in product((1, 2), BOTH):
        config = {"eval_id": n, "prompt": f"p{n}", "assertions": ["a"], "model": f"m-{side}"}
        config["usage"] = {"input_tokens": 40 * n, "output_tokens": 2}
        files[f"ws/iteration-3/{side}/eval-{n}-config.json"] = config | {"duration_ms": 1500}
    suite = [{"id": n, "prompt": f"p{n}"} for n in (1, 2)]
    files["ws/evals.json"] = {"skill_name": "s", "evals": suite}
    ws = load(tmp_path, files)
    columns = ("eval_id", "configuration", "executor_model", "tokens", "time_seconds")
    assert found(ws, *columns) == [
        (n, side, f"m-{side}", 40 * int(n) + 2, 1.5) for n, side in product("12", BOTH)
    ]
    assert found(ws, "eval_id", "prompt", table="evals") == [("1", "p1"), ("2", "p2")]
    assert [row["code"] for row in ws.problems.to_dicts() if row["severity"] != "info"] == []


HALF = graded("pf")
SIDES = dict.fromkeys(BOTH, HALF)
OF_EVAL = "eval-1/grading.json"
NUMBERED = [{"configuration": side, "run": n, **HALF} for side, n in product(BOTH, (1, 2))]
NAMED = [{"eval_id": 1, "config": side, **HALF} for side in BOTH * 2]
SEVERAL: dict[str, Any] = {
    "a list with configurations": {OF_EVAL: {"runs": NUMBERED}},
    "a list a side": {OF_EVAL: dict.fromkeys(BOTH, [HALF] * 2)},
    "a side's own list": {f"eval-1/{side}/grading.json": {"runs": [HALF] * 2} for side in BOTH},
    "lists in sides": {OF_EVAL: {side: {"runs": [HALF] * 2} for side in BOTH}},
    "sides in a list": {OF_EVAL: {"runs": [SIDES] * 2}},
    "evals named in the list": {"grading.json": {"runs": NAMED}},
}


@pytest.mark.parametrize("files", SEVERAL.values(), ids=SEVERAL.keys())
def test_one_file_grades_several_runs(tmp_path: Path, files: dict[str, Any]) -> None:
    ws = load(tmp_path, {f"ws/iteration-3/{name}": one for name, one in files.items()})
    assert [key[2:] for key in keys(ws)] == [
        ("1", side, n, 0.5) for side, n in product(BOTH, (1, 2))
    ]


@pytest.mark.parametrize(
    ("path", "models"),
    [
        ("ws/iteration-1/{model}_{side}/eval-{eval}-grading.json", ("claude", "gemini")),
        ("ws/iteration-1/eval-{eval}/{model}_{side}/grading.json", ("gpt-5", "o3-mini")),
        ("multi-model/{model}/eval-{eval}/{side}/grading.json", ("claude-haiku", "gpt-52")),
        ("ws/{model}/iteration-1/eval-{eval}/{side}/grading.json", ("opus-4.5", "sonnet-4.5")),
    ],
)
def test_models_in_names_are_no_part_of_the_configuration(
    tmp_path: Path, path: str, models: tuple[str, str]
) -> None:
    files = {
        path.format(model=model, side=side, eval=n): graded("pf")
        for model, side, n in product(models, BOTH, (1, 2))
    }
    ws = load(tmp_path, files)
    columns = ("workspace", "eval_id", "configuration", "executor_model")
    expected = product(path.split("/")[:1], "12", BOTH, models)
    assert found(ws, *columns) == sorted(expected)
    (told,) = coded(ws, "model-in-name")
    assert told["severity"] == "info"
    assert all(model in told["message"] for model in models)
    rows = ws.runs.select("eval_id", "configuration", "run_number")
    assert not rows.is_duplicated().any()


def test_runs_of_several_models_that_came_out_alike_are_all_counted(tmp_path: Path) -> None:
    """Three runs of each model: what the one's are numbered on to is no other run of its own."""
    path = "ws/iteration-1/eval-{eval}/{model}_{side}/run-{run}/grading.json"
    every = list(product(("claude", "gemini"), BOTH, (1, 2), (1, 2, 3)))
    files = {
        path.format(model=model, side=side, eval=n, run=run): graded("pf")
        for model, side, n, run in every
    }
    ws = load(tmp_path, files)
    columns = ("executor_model", "configuration", "eval_id", "run_number")
    assert found(ws, *columns) == sorted(
        (model, side, str(n), run + 3 * (model == "gemini")) for model, side, n, run in every
    )
    assert coded(ws, "duplicate-run") == []


def test_a_model_that_a_run_states_counts_before_the_folders(tmp_path: Path) -> None:
    files = {"ws/iteration-1/eval-1/claude_with_skill/grading.json": graded("p")}
    files["ws/iteration-1/eval-1/claude_with_skill/timing.json"] = {"model": "claude-opus-4-5"}
    assert found(load(tmp_path, files), "executor_model") == [("claude-opus-4-5",)]


@pytest.mark.parametrize("name", ["claude-review", "codex", "haiku-poems", "gemini"])
def test_a_name_that_merely_begins_like_a_model_is_none(tmp_path: Path, name: str) -> None:
    ws = load(tmp_path, pairs(f"{name}/eval-{{eval}}/{{side}}/grading.json"))
    assert coded(ws, "model-in-name") == []
    assert {row["workspace"] for row in ws.runs.to_dicts()} == {name}


def test_a_second_grader_is_neither_preferred_nor_dropped(tmp_path: Path) -> None:
    rows = [
        {"eval_id": n, "variant": side, "grades": [{"text": "a", "passed": side == "with_skill"}]}
        for n, side in product((1, 2), BOTH)
    ]
    files = pairs("ws/iteration-2/eval-{eval}/{side}/grading.json")
    second = {"ws/iteration-2/grading-results.json": {"results": rows}}
    ws = load(tmp_path, files | second)
    assert {key[-1] for key in keys(ws)} == {0.5}
    (problem,) = coded(ws, "second-grader")
    assert problem["severity"] == "warning"
    assert "with_skill 100% (their own gradings 50%)" in problem["message"]
    assert "without_skill 0% (their own gradings 50%)" in problem["message"]
    ws = load(tmp_path / "alone", second)  # without gradings of their own these are the runs
    assert {key[-1] for key in keys(ws)} == {0.0, 1.0}


def test_other_files_add_no_runs_of_evals_that_are_not_there(tmp_path: Path) -> None:
    rows = [{"eval_id": "else", "config": side, "passed": 1, "total": 2} for side in BOTH]
    files = pairs("ws/iteration-2/eval-{eval}/{side}/grading.json")
    ws = load(tmp_path, files | {"ws/iteration-2/scores.json": {"results": rows}})
    assert len(keys(ws)) == 4
    (problem,) = coded(ws, "unknown-eval")
    assert "2 of its entries" in problem["message"]


EVALS = (("eval-1", 10), ("eval-2", 20))


@pytest.mark.parametrize(
    "costs",
    [
        {name: {side: {"tokens": n, "ms": 500} for side in BOTH} for name, n in EVALS},
        {side: {name: {"tokens": n, "ms": 500} for name, n in EVALS} for side in BOTH},
    ],
)
def test_costs_of_an_iteration_in_one_file(tmp_path: Path, costs: Any) -> None:
    files = pairs("ws/iteration-1/eval-{eval}/{side}/grading.json")
    ws = load(tmp_path, files | {"ws/iteration-1/timing.json": costs})
    measured = found(ws, "eval_id", "tokens", "time_seconds")
    assert measured == [("1", 10, 0.5)] * 2 + [("2", 20, 0.5)] * 2
    assert {key[-1] for key in keys(ws)} == {0.5}


QUERY = {"prompt": "do it", "should_trigger": True}


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("evals/per-skill/tdd.json", [{"query": "do it", "should_trigger": True}]),
        ("evals/per-skill/tdd.json", {"cases": [QUERY]}),
        ("trigger-tests/other.json", {"skill": "tdd", "test_cases": [QUERY]}),
        ("skills/tdd/evals/evals.json", {"skill_name": "tdd", "evals": [{"id": 1, **QUERY}]}),
    ],
)
def test_queries_by_other_names_are_trigger_sets_of_their_skill(
    tmp_path: Path, path: str, raw: Any
) -> None:
    ws = load(tmp_path, {path: raw} | pairs("ws/iteration-1/eval-{eval}/{side}/grading.json"))
    assert found(ws, "skill", "query", "should_trigger", table="triggers") == [
        ("tdd", "do it", True)
    ]
    assert {row["skill"] for row in ws.evals.to_dicts()} == {"ws"}


HITS = [{"id": "q1", "should_trigger": True, "picked": "tdd", "ok": True}]
MISSES = [{"id": "q1", "should_trigger": True, "picked": "none", "ok": False}]
ROUTED = [
    {"id": 1, "expect": "tdd", "got": "else", "ok": False},
    {"id": 2, "expect": "none", "got": "none", "ok": True},
    {"id": 3, "expect": "none", "got": "tdd", "ok": False},
]
YES_OR_NO = [
    {"id": row["id"], "expect": row["id"] == 1, "got": row["id"] == 3, "ok": row["ok"]}
    for row in ROUTED
]
NULLS = [{key: None if value == "none" else value for key, value in row.items()} for row in ROUTED]
GROUPED = [
    {"query": "do it", "expected": "tdd", "predicted": "tdd", "pass": True},
    {"query": "do not", "expected": "none", "predicted": "tdd", "pass": False},
]
BY_ID = {
    side: [{"query_id": "q1", "expected": True, "triggered": side == "candidate"}]
    for side in ("baseline", "candidate")
}
THREE = [("1", True, 0), ("2", False, 0), ("3", False, 1)]
OUTCOMES: dict[str, tuple[dict[str, Any], list[tuple[Any, ...]], list[str]]] = {
    # Files, then query, should_trigger and triggered (once each), and descriptions and tags.
    "rows of variants": (
        {"figures.json": {"new": {"rows": HITS}, "old": {"rows": MISSES, "share": 0.0}}},
        [("q1", True, 0), ("q1", True, 1)],
        ["new", "old"],
    ),
    "expected and got, a skill's name": ({"trigger.json": {"results": ROUTED}}, THREE, []),
    "expected and got, true or false": ({"trigger.json": {"results": YES_OR_NO}}, THREE, []),
    "expected and got, null for none": ({"trigger_results.json": {"cases": NULLS}}, THREE, []),
    "lists in groups": (
        {"any.json": [{"group": "plain", "results": GROUPED}]},
        [("do it", True, 1), ("do not", False, 1)],
        ["plain"],
    ),
    "two variants by the ids of a set": (
        {"ab.json": BY_ID, "evals/queries.json": [{"id": "q1", **QUERY}]},
        [("do it", True, 0), ("do it", True, 1)],
        ["baseline", "candidate"],
    ),
    "a set beside its results": (
        {
            "trigger-results.json": [{**QUERY, "triggered": 0, "runs": 1}],
            "trigger-eval-set.json": [QUERY, {"prompt": "do not", "should_trigger": False}],
        },
        [("do it", True, 0), ("do not", False, None)],
        [],
    ),
    "a variant in each row": (
        {"x.json": {"rows": [{**row, "variant": "v2", "query": "do it"} for row in HITS]}},
        [("do it", True, 1)],
        ["v2"],
    ),
}


@pytest.mark.parametrize(("files", "queries", "under"), OUTCOMES.values(), ids=OUTCOMES.keys())
def test_what_queries_were_to_do_and_did(
    tmp_path: Path, files: dict[str, Any], queries: list[tuple[Any, ...]], under: list[str]
) -> None:
    ws = load(tmp_path, {f"tdd/{name}": raw for name, raw in files.items()})
    assert found(ws, "query", "should_trigger", "triggered", table="triggers") == queries
    rows = ws.triggers.to_dicts()
    assert all(row["runs"] in (1, None) and row["skill"] == "tdd" for row in rows)
    told = {row["description"] for row in rows} | {tag for row in rows for tag in row["tags"]}
    assert sorted(told - {None}) == under
    assert not [row for row in ws.problems.to_dicts() if row["severity"] == "error"]


def test_what_was_expected_and_found_elsewhere_is_no_query(tmp_path: Path) -> None:
    rows = [{"id": 1, "expected": "42", "actual": "41", "passed": False, "score": 0.5}]
    ws = load(tmp_path, {"results.json": {"results": rows}})
    assert ws.triggers.height == 0


def test_an_eval_that_also_says_should_trigger_is_an_eval(tmp_path: Path) -> None:
    raw = {"skill_name": "s", "evals": [{"id": 1, **QUERY, "expectations": ["it is done"]}]}
    ws = load(tmp_path, {"evals/evals.json": raw})
    assert (ws.evals.height, ws.triggers.height) == (1, 0)


def test_the_same_set_in_two_places_is_counted_once(tmp_path: Path) -> None:
    raw = [{"query": "do it", "should_trigger": True}]
    ws = load(tmp_path, {f"{folder}/per-skill/tdd.json": raw for folder in ("evals", "old")})
    assert ws.triggers.height == 1
    assert len(coded(ws, "copy")) == 1


def test_suites_of_several_skills_stay_several(tmp_path: Path) -> None:
    files: dict[str, Any] = pairs("ws/iteration-1/eval-{eval}/{side}/grading.json")
    for skill in "abc":
        evals = [{"id": n, "prompt": f"{skill} {n}"} for n in (1, 2)]
        files[f"skills/{skill}/evals/evals.json"] = {"skill_name": skill, "evals": evals}
    ws = load(tmp_path, files)
    found_ = set(found(ws, "skill", "prompt", table="evals"))
    assert {(skill, f"{skill} {n}") for skill in "abc" for n in (1, 2)} <= found_
    assert coded(ws, "defined-twice") == []
    ran = {"skills/b/evals/evals.json": files["skills/b/evals/evals.json"]}
    meta = {f"ws/iteration-1/eval-{n}/eval_metadata.json": {"prompt": f"b {n}"} for n in (1, 2)}
    ws = load(tmp_path / "ran", files | ran | meta)  # these are the evals that were run
    assert {row["workspace"] for row in ws.evals.to_dicts() if row["skill"] == "b"} == {"ws"}


def test_a_grading_of_evals_with_both_sides_each(tmp_path: Path) -> None:
    def side(passed: int) -> dict[str, Any]:
        checks = [{"name": f"check {n}", "passed": n <= passed} for n in (1, 2)]
        return {"success": True, "assertions": checks, "passed_count": passed}

    results = [
        {"id": n, "name": name, "prompt": name, "with_skill": side(2), "baseline": side(n - 1)}
        for n, name in ((1, "api"), (2, "page"))
    ]
    ws = load(tmp_path, {"evals/grading.json": {"results": results}})
    assert found(ws, "eval_name", "configuration", "passed", "total") == [
        ("api", "baseline", 0, 2),
        ("api", "with_skill", 2, 2),
        ("page", "baseline", 1, 2),
        ("page", "with_skill", 2, 2),
    ]


@pytest.mark.parametrize("ran", [False, True])
def test_suites_of_several_skills_in_one_folder_are_not_one(tmp_path: Path, ran: bool) -> None:
    suites: dict[str, Any] = {
        f"evals/{name}": {"skill_name": skill, "evals": [{"id": 1, "prompt": skill}]}
        for name, skill in (("evals.json", "tcr"), ("beck.json", "beck"), ("git.json", "git"))
    }
    runs = pairs("iteration-1/eval-{eval}/{side}/grading.json") if ran else {}
    meta = {"iteration-1/eval-1/eval_metadata.json": {"prompt": "beck"}} if ran else {}
    ws = load(tmp_path, {**suites, **runs, **meta})
    rows = [row for row in ws.evals.to_dicts() if row["prompt"]]
    assert sorted((row["skill"], row["prompt"]) for row in rows) == [
        (skill, skill) for skill in ("beck", "git", "tcr")
    ]
    assert len({row["workspace"] for row in rows}) == 3
    assert coded(ws, "defined-twice") == []
    if ran:
        assert ws.runs["workspace"].unique().to_list() == [
            row["workspace"] for row in rows if row["skill"] == "beck"
        ]


def test_a_trigger_set_beside_a_suite_is_of_its_skill(tmp_path: Path) -> None:
    files: dict[str, Any] = {
        "evals/evals.json": {"skill_name": "tcr", "evals": [{"id": 1, "prompt": "Do it."}]},
        "evals/trigger_eval.json": [{"query": "do it", "should_trigger": True}],
    }
    ws = load(tmp_path, files)
    keys = ws.evals.select("workspace", "skill").rows()
    assert ws.triggers.select("workspace", "skill").rows() == keys
    assert keys[0][1] == "tcr"


def test_a_copy_of_a_workspace_is_said(tmp_path: Path) -> None:
    files = pairs("{{}}/iteration-1/eval-{eval}/{side}/grading.json")
    twice = {path.format(ws): one for path, one in files.items() for ws in ("one", "two")}
    ws = load(tmp_path, twice)
    assert len(keys(ws)) == 8
    (problem,) = coded(ws, "copy")
    assert (problem["path"], problem["workspace"]) == ("two", "two")
    assert "the same 4 runs as in one" in problem["message"]


def test_the_same_problem_of_many_files_is_said_once(tmp_path: Path) -> None:
    """With how often, where first, and a pattern of all; disagreements stand alone."""
    files: dict[str, Any] = {
        f"ws/iteration-{n}/eval-{n}/{side}/grading.json": {
            "assertions": graded("pf")["expectations"],
            "summary": {"passed": 2 if n < 3 else 1, "total": 2},
            "execution_metrics": f"{n} calls",
            "verdict_rate": n / 100,
        }
        for n, side in product(range(1, 40), BOTH)
    }
    ws = load(tmp_path, files)
    rows = coded(ws, "not-used") + coded(ws, "wrong-type")
    assert [row["path"] for row in rows] == ["ws/iteration-1/eval-1/with_skill/grading.json"] * 2
    places = "ws/iteration-*/eval-*/with*_skill/grading.json"
    assert all(f"(78 times in 78 places, {places})" in row["message"] for row in rows)
    assert len(coded(ws, "disagree")) == 4
    assert set(ws.problems["code"]) == {"not-used", "wrong-type", "disagree"}


def test_a_stated_total_is_no_mean(tmp_path: Path) -> None:
    files: dict[str, Any] = pairs("ws/iteration-1/eval-{eval}/{side}/grading.json", "pf", (1, 2, 3))
    for path in list(files):
        files[path.replace("grading", "timing")] = {"total_tokens": 1000}
    summary = {side: {"total_tokens": 3000, "pass_rate": 0.5} for side in BOTH}
    ws = load(tmp_path, files | {"ws/iteration-1/benchmark.json": {"summary": summary}})
    stated = found(ws, "metric", "value", "configuration", table="stated")
    assert [value for metric, value, _ in stated if metric == "tokens"] == [1000, 1000]
    assert len(coded(ws, "sum-over-runs")) == 2


def figures(eval_: int, side: str, passed: int, seconds: float) -> Row:
    rate = passed / 4
    counts = {"passed": passed, "failed": 4 - passed, "total": 4, "pass_rate": rate}
    result = {**counts, "time_seconds": seconds, "tokens": int(seconds * 100)}
    return {"eval_id": eval_, "configuration": side, "run_number": 1, "result": result}


def test_two_skills_that_number_their_evals_alike(tmp_path: Path) -> None:
    """Folders apart, ids the same: neither a third copy nor the benchmark's rows add runs."""
    files: dict[str, Any] = {}
    rows: list[Row] = []
    for n, (skill, side) in enumerate(product(("a", "b"), BOTH)):
        about = {"eval_id": 1, "eval_name": f"{skill}-site", "prompt": skill}
        for place in (f"eval-{skill}", f"raw/{skill}-eval-1"):
            folder = f"ws/iteration-1/{place}"
            timing = {"total_tokens": 1050 + 100 * n, "total_duration_seconds": 10.5 + n}
            files |= {
                f"{folder}/eval_metadata.json": about,
                f"{folder}/{side}/grading.json": graded("pppp"[n:] + "ffff"[:n], skill=skill),
                f"{folder}/{side}/timing.json": timing,
            }
        rows.append(figures(1, side, 4 - n, 10.5 + n))
    raw = {"metadata": {"skill_name": "both"}, "runs": rows, "run_summary": {}}
    ws = load(tmp_path, files | {"ws/iteration-1/benchmark.json": raw})
    columns = ("skill", "eval_id", "configuration", "run_number", "passed")
    of = (("a", "1"), ("b", "eval-b"))
    assert found(ws, *columns) == [
        (*one, side, 1, 4 - n) for n, (one, side) in enumerate(product(of, BOTH))
    ]
    ws = load(tmp_path / "stated", {"ws/iteration-1/benchmark.json": raw})
    assert found(ws, *columns[1:]) == [
        (*one, 1, 4 - n) for n, one in enumerate(product(("1", "1 (2)"), BOTH))
    ]


def test_rows_of_an_arm_are_of_that_configuration(tmp_path: Path) -> None:
    files = pairs("ws/iteration-2/eval-{eval}-x/{side}/run-1/grading.json")
    rows = [
        {"eval": f"eval-{n}-x", "arm": side, "passed": 1, "total": 2, "seconds": 9.5, "tokens": 7}
        for n, side in product((1, 2), BOTH)
    ]
    ws = load(tmp_path, files | {"ws/iteration-2/benchmark.json": {"iteration": 2, "runs": rows}})
    assert found(ws, "eval_id", "configuration", "time_seconds") == [
        (n, side, 9.5) for n, side in product("12", BOTH)
    ]


def test_the_benchmark_names_the_skill_before_other_files(tmp_path: Path) -> None:
    files = pairs("ws/iteration-1/eval-{eval}/{side}/grading.json")
    one = {"skill": "skills/one/SKILL.md", "evals": [{"eval_id": 1, "with_skill": {"score": 0.5}}]}
    raw = {"metadata": {"skill_name": "all"}, "runs": [], "run_summary": {}}
    files |= {"ws/METRICS.json": one, "ws/iteration-1/benchmark.json": raw}
    assert {skill for (skill,) in found(load(tmp_path, files), "skill")} == {"all"}


@pytest.mark.parametrize(
    ("name", "inside", "above", "severity"),
    [
        ("timing.json", {"total_tokens": 5, "duration_ms": 9}, {"total_tokens": 5}, "info"),
        ("timing.json", {"total_tokens": 5}, {"total_tokens": 6}, "warning"),
        ("grading.json", graded("pf", summary={"passed": 1, "total": 2}), graded("pf"), "info"),
    ],
)
def test_what_lies_above_a_run_and_says_the_same_is_no_warning(
    tmp_path: Path, name: str, inside: Any, above: Any, severity: str
) -> None:
    side = "ws/iteration-1/eval-1/with_skill"
    files = {f"{side}/run-1/grading.json": graded("pf"), f"{side}/run-1/{name}": inside}
    ws = load(tmp_path, files | {f"{side}/{name}": above})
    assert [row["severity"] for row in coded(ws, "above-runs")] == [severity]


@pytest.mark.parametrize(
    ("raw", "evals"),
    [
        ([{"eval_id": n, "recall": 0.5, "pass": n == "a"} for n in "ab"], ["a", "b"]),
        ({"runs": [{"name": n, "result": "PASS" if n == "a" else "FAIL"} for n in "ab"]}, "ab"),
        (
            {"results": [{"entry": n, "recall": 1, "nodes": 4, "pass": n == "a"} for n in "ab"]},
            ["row 1", "row 2"],
        ),
    ],
    ids=["a list", "runs", "results of nobody"],
)
def test_results_that_only_passed_or_not_are_a_run_each(
    tmp_path: Path, raw: Any, evals: list[str]
) -> None:
    ws = load(tmp_path, {"ws/iteration-2/evals/grading_v2.json": raw})
    columns = ("eval_id", "configuration", "run_number", "passed", "total")
    assert found(ws, *columns) == [(evals[0], "v2", 1, 1, 1), (evals[1], "v2", 1, 0, 1)]
    assert len(coded(ws, "unnamed-eval")) == (evals[0] == "row 1")


def test_checks_in_results_stay_the_checks_of_one_run(tmp_path: Path) -> None:
    checks = [{"id": "a", "passed": True}, {"id": "b", "passed": False}]
    for rows in (checks, [{"name": "a", "weight": 1, "score": 2, "pass": True}] * 2):
        raw = {"results": rows}
        ws = load(tmp_path / str(len(rows[0])), {"ws/eval-1/with_skill/grading.json": raw})
        assert found(ws, "eval_id", "total") == [("1", 2)]


def test_evals_called_after_their_skill_are_of_that_skill(tmp_path: Path) -> None:
    """`csv-1` and `web-search-1` of one workspace: eval 1 of either suite."""
    names = {"acme-csv-tools": "csv-1", "acme-web-search": "web-search-1"}
    files: dict[str, Any] = {}
    for skill, name in names.items():
        one = {"id": 1, "prompt": f"Use {skill}.", "expectations": ["It is used."]}
        files[f"skills/{skill}/evals/evals.json"] = {"skill_name": skill, "evals": [one]}
        files |= {
            f"evals-workspace/iteration-1/{name}/{side}/grading.json": graded("p") for side in BOTH
        }
    ws = load(tmp_path, files)
    assert set(found(ws, "skill", "eval_id")) == set(names.items())
    assert found(ws, "eval_id", "prompt", table="evals") == [
        (name, f"Use {skill}.") for skill, name in names.items()
    ]


def test_rows_that_only_passed_or_not_are_graded(tmp_path: Path) -> None:
    rows = [
        {"case": "a", "variant": side, "repeat": n, "success": True, **verdict}
        for side, n in product(BOTH, (1, 2))
        for verdict in ({"passed": n == 1} if side == "with_skill" else {"score": {"pass": False}},)
    ]
    ws = load(tmp_path, {"ws/results.json": {"model": "m", "results": rows}})
    assert found(ws, "eval_id", "configuration", "run_number", "passed", "total") == [
        ("a", side, n, int(side == "with_skill" and n == 1), 1) for side, n in product(BOTH, (1, 2))
    ]


def test_a_skill_by_several_names_is_said(tmp_path: Path) -> None:
    files = {
        f"ws/iteration-{n}/benchmark.json": {"skill_name": name, "runs": [figures(1, side, 2, 1.5)]}
        for n, (name, side) in enumerate(zip(("old-name", "new-name"), BOTH, strict=True), 1)
    }
    ws = load(tmp_path, files)
    assert {skill for (skill,) in found(ws, "skill")} == {"old-name"}
    assert "old-name, new-name" in coded(ws, "skill-names")[0]["message"]


def test_sides_called_by_letters_are_called_what_every_row_calls_them(tmp_path: Path) -> None:
    """Rows with prompts, too, are results where they hold verdicts of two sides."""
    cases = [
        {
            "eval_id": n,
            "prompt": "Write the letter",
            "configuration_a": {"version": "v2", "grading": graded("pp")["expectations"]},
            "configuration_b": {"label": "v1", "grades": graded("pf")["expectations"]},
        }
        for n in (1, 2)
    ]
    ws = load(tmp_path, {"ws/runs/v2-vs-v1.json": {"comparison": {}, "cases": cases}})
    assert found(ws, "eval_id", "configuration", "passed") == [
        (n, side, passed) for n, (side, passed) in product("12", (("v1", 1), ("v2", 2)))
    ]
    # What B is differs: then all are called by their letters.
    cases[1]["configuration_b"]["label"] = "v0"
    ws = load(tmp_path / "two", {"ws/runs/v2-vs-v1.json": {"comparison": {}, "cases": cases}})
    assert {side for (side,) in found(ws, "configuration")} == {
        "configuration_a",
        "configuration_b",
    }


def scored(low: int) -> dict[str, Any]:
    sides = {"version_a": {"clarity": low, "depth": 4}, "version_b": {"clarity": 9, "depth": 8}}
    return {"results": {"advert": {side: {"dimension_scores": of} for side, of in sides.items()}}}


def test_scores_of_ten_are_halved_in_a_whole_file_or_not_used(tmp_path: Path) -> None:
    ws = load(tmp_path, {"ws/benchmark.json": scored(3)})
    assert found(ws, "configuration", "rubric_weighted_mean") == [
        ("version_a", 1.75),
        ("version_b", 4.25),
    ]
    ws = load(tmp_path / "low", {"ws/benchmark.json": scored(1)})
    assert [row["rubric_weighted_mean"] for row in ws.polars("runs").to_dicts()] in ([], [None] * 2)
    assert coded(ws, "not-scored")


def test_lists_called_after_a_side_hold_its_rows(tmp_path: Path) -> None:
    """Only flags of which true is the good one are verdicts; what was compared is no figure."""

    def clip(n: int, *, fits: bool) -> Row:
        flags = {"length_match": fits, "style_match": True, "has_alias": False}
        return {"clip": n, **flags, "duration": 6, "expected_duration": 6, "parts_passed": 9}

    raw = {
        "n_clips": 2,
        "with_skill_detail": [clip(1, fits=True), clip(2, fits=True)],
        "old_skill_detail": [clip(1, fits=False), clip(2, fits=False)],
    }
    files = {f"ws/iteration-1/{side}/timing.json": {} for side in ("with_skill", "old_skill")}
    ws = load(tmp_path, files | {"ws/iteration-1/grading.json": raw})
    rows = found(ws, "configuration", "eval_id", "passed", "total", "time_seconds")
    assert [one for one in rows if one[1] != "unstated"] == [
        (side, row, passed, 2, None)
        for side, passed in (("old_skill", 1), ("with_skill", 2))
        for row in ("row 1", "row 2")
    ]
    assert any("parts_passed" in row["message"] for row in coded(ws, "not-used"))


def test_what_lies_below_a_graded_side_is_no_run_but_another_side_is(tmp_path: Path) -> None:
    side = "ws/iteration-1/eval-1/without_skill"
    work = {f"{side}/workspace/grading.json": graded("ff"), f"{side}/workspace/notes/x.json": {}}
    slipped = {f"{side}/with_skill/grading.json": graded("pp")}
    ws = load(tmp_path, {f"{side}/grading.json": graded("pf"), **work, **slipped})
    assert found(ws, "eval_id", "configuration", "passed") == [
        ("1", "with_skill", 2),
        ("1", "without_skill", 1),
    ]
    (told,) = coded(ws, "above-runs")
    assert told["path"].endswith("workspace/grading.json")


def test_a_summary_is_no_eval_and_a_benchmark_of_the_folders_name_no_iteration(
    tmp_path: Path,
) -> None:
    sides = {"control": graded("pf"), "treatment": graded("pp")}
    totals = {"control": {"passed": 1, "total": 2}, "treatment": {"passed": 2, "total": 2}}
    rows = [
        {"eval_id": 1, "eval_name": "Prompt 1", "configuration": name, "result": result}
        for name, rate in (("control", 0.5), ("treatment", 1.0))
        for result in ({"pass_rate": rate, "time_seconds": 3.5},)
    ]
    files = {
        "all/gotchas/grading/prompt-1.json": {"prompt_number": 1, **sides},
        "all/gotchas/grading/grading-summary.json": totals,
        "all/gotchas/gotchas-benchmark.json": {"metadata": {}, "runs": rows, "run_summary": {}},
    }
    ws = load(tmp_path, files)
    assert found(ws, "iteration", "eval_id", "configuration", "passed", "time_seconds") == [
        ("none", "prompt-1", "control", 1, 3.5),
        ("none", "prompt-1", "treatment", 2, 3.5),
    ]
    assert any(row["path"].endswith("summary.json") for row in ws.polars("problems").to_dicts())


def test_a_folder_named_by_a_time_is_an_iteration_and_a_hash_is_no_name(tmp_path: Path) -> None:
    def component(value: str, *, good: bool) -> Row:
        check = {"type": "contains", "value": value}
        return {"pass": good, "score": float(good), "reason": "seen", "assertion": check}

    grading = {
        "pass": False,
        "score": 0.5,
        "component_results": [
            {"pass": True, "component_results": [component("a", good=True)]},
            component("b", good=False),
        ],
    }
    sample = {"test_id": "sums", "sample_index": 1, "score": 0.5}
    below = "2026-07-04T03-53-57-344Z"
    ws = load(
        tmp_path,
        {
            f"adder/{below}/sums--c6cd8f9f52ad/sample-1/grading.json": grading,
            f"adder/{below}/summary.json": {"cases": [{"test_id": "sums", "samples": [sample]}]},
            "adder/second/sums--c6cd8f9f52ad/sample-1/grading.json": grading,
        },
    )
    assert found(ws, "iteration", "eval_name", "passed", "total")[0] == (below, "sums", 1, 2)
    assert ws.polars("runs").height == 2
    assert set(ws.polars("expectations")["text"]) == {"contains: a", "contains: b"}


def test_an_eval_of_a_suite_may_be_of_a_skill_of_its_own(tmp_path: Path) -> None:
    own = ({"skill": "adder"}, {"skill_dir": "skills/divider"}, {})
    evals = [{"id": n, "prompt": "Do it", **one} for n, one in enumerate(own, 1)]
    suite = {"skill_name": "toolkit", "evals": evals}
    files = pairs("ws/iteration-1/eval-{eval}/{side}/grading.json", evals=(1, 2, 3))
    ws = load(tmp_path, {**files, "ws/evals/evals.json": suite})
    skills = {("1", "adder"), ("2", "divider"), ("3", "toolkit")}
    assert set(found(ws, "eval_id", "skill")) == skills
    assert set(found(ws, "eval_id", "skill", table="evals")) == skills


def test_measurements_of_other_times_are_iterations_and_errors_no_rates(tmp_path: Path) -> None:
    def measured(time: str, marks: str) -> dict[str, Any]:
        case = {"eval_id": 1, "eval_name": "scan", "assertions": graded(marks)["expectations"]}
        ended = {"eval_id": 2, "status": "error", "assertions": [], "pass_rate": 0}
        return {"timestamp": time, "model": "m", "skill_name": "scout", "cases": [case, ended]}

    files = {
        "scout/evals/benchmark.json": measured("2026-03-02", "pp"),
        "scout/evals/history/2026-03-01.json": measured("2026-03-01", "pf"),
        "scout/evals/history/2026-03-02.json": measured("2026-03-02", "pp"),
    }
    ws = load(tmp_path, files)
    rates = found(ws, "iteration", "eval_id", "pass_rate")
    assert [one for one in rates if one[1] == "1"] == [
        ("iteration-2026-03-01", "1", 0.5),
        ("none", "1", 1.0),
    ]
    assert not [one for one in rates if one[1] == "2" and one[2] is not None]
    assert len(coded(ws, "copy")) == 1


def test_metrics_with_a_figure_a_side_are_no_evals(tmp_path: Path) -> None:
    """Objects with both sides at the top are evals where they have figures in common."""
    evals = {name: {side: {"pass_rate": 0.5} for side in BOTH} for name in ("CMP-1", "CMP-2")}
    ws = load(tmp_path / "evals", {"ws/benchmark.json": evals})
    assert {row["eval_id"] for row in ws.runs.to_dicts()} == {"CMP-1", "CMP-2"}
    totals = {
        "task_success": {side: {"passed": 1, "rate": 1.0} for side in BOTH},
        "operations": {side: {"errors": 0, "tokens": 20} for side in BOTH},
    }
    files = pairs("ws/eval-{eval}/{side}/grading.json")
    ws = load(tmp_path / "totals", {**files, "ws/benchmark.json": {"skill_name": "s", **totals}})
    assert set(found(ws, "eval_id")) == {("1",), ("2",)}
    named = " ".join(str(row["where"]) for row in coded(ws, "not-used"))
    assert "task_success" in named


def weighed(*passed: bool, skill: str = "tdd") -> Row:
    """A results.json of rows with a weight and a score of 5 each."""
    names = ("clear", "short", "kind")
    rows = [
        {"name": name, "weight": 1 + n, "passed": one, "score": 4 - n, "reasoning": "seen"}
        for n, (name, one) in enumerate(zip(names, passed, strict=False))
    ]
    totals = {"total_passed": sum(passed), "total_score": 6, "max_score": 8}
    return {"skill": skill, "results": rows, **totals}


def accepted(*marks: str) -> list[Row]:
    """A list at the top: of each eval what was to be met, and what was not to happen."""
    return [
        {
            "id": f"e{n}",
            "acceptance": [{"criterion": f"c{at}", "met": m == "p"} for at, m in enumerate(some)],
            "reject": [{"criterion": "it guesses", "triggered": False}],
        }
        for n, some in enumerate(marks, 1)
    ]


POINTS = [
    {"skill": skill, "entry_point": point, "version": version, "passed": n, "total": 4}
    for skill, point in (("a", "cli"), ("b", "cli"), ("b", "api"))
    for n, version in ((1, "v1"), (3, "v2"))
]
OF_POINTS = [
    (id_, side, n / 4) for id_ in ("a/cli", "api", "b/cli") for n, side in ((1, "v1"), (3, "v2"))
]
LIMIT = {"error": "output_token_limit_exceeded"}
ID, SIDE, RATE = "eval_id", "configuration", "pass_rate"
PER_EVAL = {"seconds": {"a": 4, "b": 6}, "tokens": {"a": 40, "b": 60}}
DATED = [{"entry_point": name, "version": "1.2.0", "pass_rate": 0.5} for name in ("api", "cli")]
CRITERIA = [{"criterion": "x", "met": True}, {"criterion": "y", "met": False}]
COUNTS = {"passed": 1, "total": 2, "criteria": CRITERIA}
TWO = [(n, side) for n in "12" for side in BOTH]
WANTED: dict[str, tuple[dict[str, Any], str, list[tuple[Any, ...]]]] = {
    # Files, columns of `runs` and what they hold.
    "versions above cases": (
        {
            f"results/{v}/{case}/results.json": weighed(True, v == "v2")
            for v in ("v1", "v2")
            for case in ("in", "out")
        },
        "skill eval_id configuration pass_rate score rubric_weighted_mean",
        [
            ("tdd", case, v, rate, 0.75, pytest.approx(10 / 3))
            for case in ("in", "out")
            for v, rate in (("v1", 0.5), ("v2", 1.0))
        ],
    ),
    "versions of any name": (
        {f"results/{v}/in/results.json": weighed(True) for v in ("main", "shorter prompt")},
        "eval_id configuration",
        [("in", "main"), ("in", "shorter prompt")],
    ),
    "rounds of versions are runs": (
        {
            f"results/{v}/in/round{n}/results.json": weighed(n > 1)
            for v in ("v1", "v2")
            for n in (1, 2)
        }
        | {"results/v2/out/results.json": weighed(True)},
        "eval_id configuration run_number pass_rate",
        [("in", v, n, float(n > 1)) for v in ("v1", "v2") for n in (1, 2)] + [("out", "v2", 1, 1)],
    ),
    "rounds of one version are sides": (
        {
            f"results/v1/{case}/round{n}/results.json": weighed(n > 1)
            for n in (1, 2)
            for case in ("in", "out")
        },
        "eval_id configuration run_number pass_rate",
        [(case, f"round{n}", 1, float(n > 1)) for case in ("in", "out") for n in (1, 2)],
    ),
    "a list of evals with what to meet and to reject": (
        {f"iteration-1/{side}/grading.json": accepted("pf", "p") for side in BOTH},
        "eval_id configuration passed total",
        [(f"e{n}", side, 2, 4 - n) for n in (1, 2) for side in BOTH],
    ),
    "the same, of no side": (
        {"grading.json": accepted("pf", "p")},
        "eval_id configuration passed total",
        [("e1", "unstated", 2, 3), ("e2", "unstated", 2, 2)],
    ),
    "a list of runs by path": (
        {
            "iteration-1/grading.json": [
                {"run": f"{name}/{side}", "coverage": 0.5, "tokens": 90, "sec": 3}
                for name in "AB"
                for side in BOTH
            ]
        },
        "eval_id configuration pass_rate tokens time_seconds",
        [(name, side, 0.5, 90, 3.0) for name in "AB" for side in BOTH],
    ),
    **{
        f"a flat file: {name}": (
            {name.format(n=n, side=side, what="grading"): HALF for n in (1, 2) for side in BOTH}
            | {
                f"eval-{n}-x.metadata.json": {"eval_id": n, "eval_name": "x", "prompt": "p"}
                for n in (1, 2)
            }
            | {name.format(n=2, side=BOTH[0], what="timing"): {"total_tokens": 7}},
            "iteration eval_id configuration run_number pass_rate tokens",
            [
                (iteration, n, side, run, 0.5, 7 if (n, side) == ("2", BOTH[0]) else None)
                for n, side in TWO
            ],
        )
        for name, iteration, run in (
            ("eval-{n}-x.{side}.{what}.json", "none", 1),
            ("eval-{n}-x.{side}.iter3.{what}.json", "iteration-3", 1),
            ("eval-{n}-x.iter3.{side}.run-2.{what}.json", "iteration-3", 2),
            ("eval-{n}-x_{side}_{what}.json", "none", 1),
        )
    },
    "a skill, an entry point and a version in a benchmark's rows": (
        {"results/v3.json": {"results": POINTS}},
        "eval_id configuration pass_rate",
        OF_POINTS,
    ),
    "the same in a list": (
        {"v3/results.json": POINTS},
        "eval_id configuration pass_rate",
        OF_POINTS,
    ),
    "the same in a grading": (
        {"ws/v3/grading.json": POINTS},
        "eval_id configuration pass_rate",
        OF_POINTS,
    ),
    "a version of the skill is no side beside sides": (
        {f"iteration-1/{side}/grading.json": DATED for side in BOTH},
        "eval_id configuration pass_rate",
        [(name, side, 0.5) for name in ("api", "cli") for side in BOTH],
    ),
    "maps by eval": (
        {
            "benchmark.json": {
                side: {"per_eval": PER_EVAL | {"pass_rate": {"a": 1, "b": 0.5}}} for side in BOTH
            }
        },
        "eval_id configuration pass_rate time_seconds tokens",
        [
            (id_, side, rate, n, 10 * n)
            for id_, rate, n in (("a", 1.0, 4.0), ("b", 0.5, 6.0))
            for side in BOTH
        ],
    ),
    "costs by eval, a file a side": (
        pairs("iteration-1/eval-{eval}/{side}/grading.json")
        | {
            f"iteration-1/timing-{side}.json": {
                "per_eval": {f"eval-{n}": {"seconds": n, "tokens": 10 * n} for n in (1, 2)}
            }
            for side in BOTH
        },
        "eval_id configuration time_seconds tokens pass_rate",
        [(n, side, float(n), 10 * int(n), 0.5) for n, side in TWO],
    ),
    "usage in rows": (
        {
            "benchmark.json": {
                "runs": [
                    {
                        "eval_id": n,
                        "configuration": side,
                        "passed": 1,
                        "total": 2,
                        "usage": {"total_tokens": 500},
                    }
                    for n in (1, 2)
                    for side in BOTH
                ]
            }
        },
        "eval_id configuration tokens",
        [(n, side, 500) for n, side in TWO],
    ),
    "an error in timing.json": (
        {
            f"iteration-1/eval-1/{BOTH[0]}/grading.json": graded("ff"),
            f"iteration-1/eval-1/{BOTH[1]}/grading.json": graded("pf"),
            **{f"iteration-1/eval-1/{side}/timing.json": LIMIT for side in BOTH},
        },
        "configuration status pass_rate",
        [(BOTH[0], "errored", None), (BOTH[1], "graded", 0.5)],
    ),
    "verdicts under another key": (
        {
            "benchmark.json": {
                "scenarios": [{"id": n, **dict.fromkeys(BOTH, COUNTS)} for n in (1, 2)]
            }
        },
        "eval_id configuration passed total",
        [(n, side, 1, 2) for n, side in TWO],
    ),
}


@pytest.mark.parametrize(("files", "columns", "rows"), WANTED.values(), ids=WANTED.keys())
def test_what_people_keep_is_read_as_what_it_is(
    tmp_path: Path, files: dict[str, Any], columns: str, rows: list[tuple[Any, ...]]
) -> None:
    ws = load(tmp_path, {f"tdd/{name}": raw for name, raw in files.items()})
    assert found(ws, *columns.split()) == rows
    assert [row for row in ws.problems.to_dicts() if row["severity"] == "error"] == []


def test_verdicts_under_another_key_are_expectations(tmp_path: Path) -> None:
    ws = load(tmp_path, WANTED["verdicts under another key"][0])
    assert (
        found(ws, "text", "passed", table="expectations") == [("x", True)] * 4 + [("y", False)] * 4
    )
    ws = load(tmp_path / "list", {"grading.json": accepted("p")})
    texts = [("c0", True), ("it guesses", True)]
    assert found(ws, "text", "passed", table="expectations") == texts


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("rounds of versions are runs", "rounds"),
        ("rounds of one version are sides", "rounds"),
        ("an error in timing.json", "errored-run"),
    ],
)
def test_what_was_decided_is_said(tmp_path: Path, name: str, code: str) -> None:
    assert coded(load(tmp_path, WANTED[name][0]), code)


def test_figures_by_eval_beside_rows_are_named(tmp_path: Path) -> None:
    rows = [{"eval": "a", "condition": side, "pass_rate": 0.5} for side in BOTH]
    raw = {"results": rows, "per_eval_seconds": {"a": 4}, "per_eval_tokens": {"a": 40}}
    ws = load(tmp_path, {"benchmark.json": raw})
    assert {row["where"] for row in coded(ws, "not-used")} == {
        "$.per_eval_seconds",
        "$.per_eval_tokens",
    }


def test_rows_that_are_no_grading_make_no_run(tmp_path: Path) -> None:
    with pytest.raises(sen.NothingToLoad):
        load(tmp_path, {"a/b/results.json": {"results": [{"id": 1, "title": "x"}]}})
