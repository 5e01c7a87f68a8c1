"""Shapes that people keep their results in, made up after real ones: what becomes of each.

What is read of a shape is kept in `tests/kept/shapes.txt`: runs, evals, checks, scores, queries
and problems, by its name here.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import skill_eval_nb as sen
from tests.corpus.build import graded, lay
from tests.golden import hold, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Row = dict[str, Any]
Files = dict[str, Any]
BOTH = ("with_skill", "without_skill")
EACH = [*product((1, 2), BOTH)]
TOLD = {
    "runs": "workspace skill iteration eval_id eval_name configuration run_number status passed "
    "total pass_rate score rubric_weighted_mean tokens time_seconds executor_model",
    "evals": "workspace skill eval_id prompt n_expectations",
    "expectations": "text passed",
    "rubric_scores": "dimension score",
    "triggers": "workspace skill query should_trigger triggered runs description tags",
    "stated": "configuration metric value",
    "problems": "severity code workspace path where",
}
"""What is kept of a shape: columns by table."""


def lines_of_workspace(ws: sen.Workspace, more: Mapping[str, str] | None = None) -> Iterator[str]:
    more = more or {}
    for name in [*TOLD, *(more.keys() - TOLD)]:
        columns, table = f"{TOLD.get(name, '')} {more.get(name, '')}", ws.polars(name)
        if table.height:
            yield from lines_of(table.select(columns.split()).to_dict(as_series=False), name)
    yield from dict.fromkeys(ws.polars("problems")["message"])


def each(path: str, content: Any) -> Files:
    """The same file at each side of two evals, where the path says so."""
    return {
        path.replace("{side}", "{with_skill,without_skill}").replace("{eval}", "{1,2}"): content
    }


def pairs(path: str) -> Files:
    return each(path, HALF)


def each_side(**rows: Any) -> list[Row]:
    """A row for each side."""
    return [{"configuration": side, **rows} for side in BOTH]


def bench(rows: Any, name: str = "ws/iteration-1/benchmark.json", **more: Any) -> Files:
    return {name: {"runs": rows, **more}}


HALF = graded("pf")
DISK = pairs("ws/iteration-1/eval-{eval}/{side}/grading.json")
RESULT = {"pass_rate": 1.0, "passed": 2, "failed": 0, "total": 2}
OF_S = {"metadata": {"skill_name": "s"}, "run_summary": {}}
"""What makes a list of runs a benchmark as skill-creator writes it."""


def configs() -> Files:
    """Beside each grading a file with the metadata and the costs of its run."""
    files = pairs("ws/iteration-3/{side}/eval-{eval}-grading.json")
    for n, side in EACH:
        config = {"eval_id": n, "prompt": f"p{n}", "assertions": ["a"], "model": f"m-{side}"}
        usage = {"usage": {"input_tokens": 40 * n, "output_tokens": 2}, "duration_ms": 1500}
        files[f"ws/iteration-3/{side}/eval-{n}-config.json"] = config | usage
    suite = [{"id": n, "prompt": f"p{n}"} for n in (1, 2)]
    return files | {"ws/evals.json": {"skill_name": "s", "evals": suite}}


def suites_of(*skills: str) -> Files:
    return {
        f"skills/{skill}/evals/evals.json": {
            "skill_name": skill,
            "evals": [{"id": n, "prompt": f"{skill} {n}"} for n in (1, 2)],
        }
        for skill in skills
    }


def figures(eval_: int, side: str, passed: int, seconds: float) -> Row:
    rate = passed / 4
    counts = {"passed": passed, "failed": 4 - passed, "total": 4, "pass_rate": rate}
    result = {**counts, "time_seconds": seconds, "tokens": int(seconds * 100)}
    return {"eval_id": eval_, "configuration": side, "run_number": 1, "result": result}


TWO_SKILLS = [figures(1, side, 4 - n, 10.5 + n) for n, (_, side) in enumerate(product("ab", BOTH))]


def two_skills() -> Files:
    """Of two that number their evals alike: folders, a third copy, and a benchmark."""
    files: Files = {}
    for n, (skill, side) in enumerate(product("ab", BOTH)):
        about = {"eval_id": 1, "eval_name": f"{skill}-site", "prompt": skill}
        timing = {"total_tokens": 1050 + 100 * n, "total_duration_seconds": 10.5 + n}
        for folder in (f"ws/iteration-1/eval-{skill}", f"ws/iteration-1/raw/{skill}-eval-1"):
            files |= {
                f"{folder}/eval_metadata.json": about,
                f"{folder}/{side}/grading.json": graded("pppp"[n:] + "ffff"[:n], skill=skill),
                f"{folder}/{side}/timing.json": timing,
            }
    return files | bench(TWO_SKILLS, **OF_S)


def above_runs(name: str, inside: Any, above: Any) -> Files:
    side = "ws/iteration-1/eval-1/with_skill"
    files = {f"{side}/run-1/grading.json": HALF, f"{side}/run-1/{name}": inside}
    return files | {f"{side}/{name}": above}


def letters(other: str) -> Files:
    """Cases of two sides that are called by letters, each with what it is; of one `other`."""
    cases = [
        {
            "eval_id": n,
            "prompt": "Write the letter",
            "configuration_a": {"version": "v2", "grading": graded("pp")["expectations"]},
            "configuration_b": {"label": label, "grades": HALF["expectations"]},
        }
        for n, label in ((1, "v1"), (2, other))
    ]
    return {"ws/runs/v2-vs-v1.json": {"comparison": {}, "cases": cases}}


SCORED = {
    "ws/benchmark.json": {
        "results": {
            "advert": {
                "version_a": {"dimension_scores": {"clarity": 3, "depth": 4}},
                "version_b": {"dimension_scores": {"clarity": 9, "depth": 8}},
            }
        }
    }
}


def clip(n: int, *, fits: bool) -> Row:
    flags = {"length_match": fits, "style_match": True, "has_alias": False}
    return {"clip": n, **flags, "duration": 6, "expected_duration": 6, "parts_passed": 9}


SUMS = [
    {"pass": good, "score": float(good), "reason": "seen", "assertion": {"type": "contains"}}
    | {"assertion": {"type": "contains", "value": value}}
    for value, good in (("a", True), ("b", False))
]
NESTED = {
    "pass": False,
    "score": 0.5,
    "component_results": [{"pass": True, "component_results": SUMS[:1]}, SUMS[1]],
}
TIMED = "adder/2026-07-04T03-53-57-344Z"


def measured(time: str, marks: str) -> Row:
    case = {"eval_id": 1, "eval_name": "scan", "assertions": graded(marks)["expectations"]}
    ended = {"eval_id": 2, "status": "error", "assertions": [], "pass_rate": 0}
    return {"timestamp": time, "model": "m", "skill_name": "scout", "cases": [case, ended]}


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
NUMBERED = [{"configuration": side, "run": n, **HALF} for side, n in product(BOTH, (1, 2))]
NAMED = [{"eval_id": 1, "config": side, **HALF} for side in BOTH * 2]
PER_EVAL = {"seconds": {"a": 4, "b": 6}, "tokens": {"a": 40, "b": 60}}
DATED = [{"entry_point": name, "version": "1.2.0", "pass_rate": 0.5} for name in ("api", "cli")]
COSTS = {f"eval-{n}": {"seconds": n, "tokens": 10 * n} for n in (1, 2)}
LIMIT = {"error": "output_token_limit_exceeded"}
QUERY = {"prompt": "do it", "should_trigger": True}
ASKED = {"query": "do it", "should_trigger": True}
HIT = {"id": "q1", "should_trigger": True, "picked": "tdd", "ok": True}
ROUTED = [
    {"id": 1, "expect": "tdd", "got": "else", "ok": False},
    {"id": 2, "expect": "none", "got": "none", "ok": True},
    {"id": 3, "expect": None, "got": "tdd", "ok": False},
]
GROUPED = [
    {"query": "do it", "expected": "tdd", "predicted": "tdd", "pass": True},
    {"query": "do not", "expected": "none", "predicted": "tdd", "pass": False},
]
BY_ID = {
    side: [{"query_id": "q1", "expected": True, "triggered": side == "candidate"}]
    for side in ("baseline", "candidate")
}
TOTALS = {
    "task_success": {side: {"passed": 1, "rate": 1.0} for side in BOTH},
    "operations": {side: {"errors": 0, "tokens": 20} for side in BOTH},
}

SHAPES: dict[str, Files] = {
    # ── evals and sides ─────────────────────────────────────────────────────────────────────
    "rows that name no eval are never repeated runs": bench(each_side(result=RESULT) * 4, **OF_S),
    "a side that lies in itself again is that side": pairs(
        "ws/iteration-2/eval-{eval}/{side}/grading.json"
    )
    | pairs("ws/iteration-2/eval-{1,2,3}/without_skill/without_skill/grading.json"),
    "files beside a grading tell of its run": configs(),
    "a side lies below a graded side, and other things": {
        "ws/iteration-1/eval-1/without_skill/grading.json": HALF,
        "ws/iteration-1/eval-1/without_skill/workspace/grading.json": graded("ff"),
        "ws/iteration-1/eval-1/without_skill/workspace/notes/x.json": {},
        "ws/iteration-1/eval-1/without_skill/with_skill/grading.json": graded("pp"),
    },
    "two skills that number their evals alike": two_skills(),
    "evals called after their skill": {
        **{
            f"skills/{skill}/evals/evals.json": {
                "skill_name": skill,
                "evals": [{"id": 1, "prompt": f"Use {skill}.", "expectations": ["It is used."]}],
            }
            for skill in ("acme-csv-tools", "acme-web-search")
        },
        **each("evals-workspace/iteration-1/{csv-1,web-search-1}/{side}/grading.json", graded("p")),
    },
    "suites of several skills, of which one was run": DISK
    | suites_of(*"abc")
    | {f"ws/iteration-1/eval-{n}/eval_metadata.json": {"prompt": f"b {n}"} for n in (1, 2)},
    "a trigger set beside a suite": {
        "evals/evals.json": {"skill_name": "tcr", "evals": [{"id": 1, "prompt": "Do it."}]},
        "evals/trigger_eval.json": [ASKED],
    },
    "letters for sides": letters("v1"),
    "letters for sides, of which one differs": letters("v0"),
    "lists called after a side": {
        "ws/iteration-1/{with,old}_skill/timing.json": {},
        "ws/iteration-1/grading.json": {
            "n_clips": 2,
            "with_skill_detail": [clip(1, fits=True), clip(2, fits=True)],
            "old_skill_detail": [clip(1, fits=False), clip(2, fits=False)],
        },
    },
    # ── several runs in one file ────────────────────────────────────────────────────────────
    **{
        f"several runs: {name}": each(f"ws/iteration-3/{path}grading.json", one)
        for name, path, one in (
            ("a list with configurations", "eval-1/", {"runs": NUMBERED}),
            ("lists in sides", "eval-1/", {side: {"runs": [HALF] * 2} for side in BOTH}),
            ("evals named in the list", "", {"runs": NAMED}),
        )
    },
    **{
        f"results that only passed or not: {name}": {"ws/iteration-2/evals/grading_v2.json": raw}
        for name, raw in {
            "runs": {"runs": [{"name": n, "result": "PASS" if n == "a" else "FAIL"} for n in "ab"]},
            "results of nobody": {
                "results": [{"entry": n, "recall": 1, "nodes": 4, "pass": n == "a"} for n in "ab"]
            },
        }.items()
    },
    "checks in results stay the checks of one run": {
        "ws/eval-1/with_skill/grading.json": {
            "results": [{"id": "a", "passed": True}, {"id": "b", "passed": False}]
        }
    },
    "a second grader beside the grading of a run": {
        "ws/eval-1/with_skill/run-1/grading.json": graded("pf"),
        "ws/eval-1/with_skill/run-1/grading-gpt.json": graded("pp"),
    },
    "rows that only passed or not": {
        "ws/results.json": {
            "model": "m",
            "results": [
                {"case": "a", "variant": side, "repeat": n, "success": True}
                | ({"passed": n == 1} if side == "with_skill" else {"score": {"pass": False}})
                for side, n in product(BOTH, (1, 2))
            ],
        }
    },
    # ── models ──────────────────────────────────────────────────────────────────────────────
    "models before sides": pairs("ws/iteration-1/{claude,gemini}_{side}/eval-{eval}-grading.json"),
    "models above evals": pairs(
        "multi-model/{claude-haiku,gpt-52}/eval-{eval}/{side}/grading.json"
    ),
    "runs of several models that came out alike are all counted": pairs(
        "ws/iteration-1/eval-{eval}/{claude,gemini}_{side}/run-{1,2,3}/grading.json"
    ),
    "a model that a run states counts before the folder's": {
        "ws/iteration-1/eval-1/claude_with_skill/grading.json": graded("p"),
        "ws/iteration-1/eval-1/claude_with_skill/timing.json": {"model": "claude-opus-4-5"},
    },
    **{
        f"{name} merely begins like a model": pairs(f"{name}/eval-{{eval}}/{{side}}/grading.json")
        for name in ("claude-review", "codex")
    },
    # ── what other files say ────────────────────────────────────────────────────────────────
    "a second grader is neither preferred nor dropped": pairs(
        "ws/iteration-2/eval-{eval}/{side}/grading.json"
    )
    | {
        "ws/iteration-2/grading-results.json": {
            "results": [
                {"eval_id": n, "variant": side}
                | {"grades": [{"text": "a", "passed": side == "with_skill"}]}
                for n, side in EACH
            ]
        }
    },
    "other files add no runs of evals that are not there": DISK
    | {
        "ws/iteration-1/scores.json": {
            "results": [{"eval_id": "else", "config": s, "passed": 1, "total": 2} for s in BOTH]
        }
    },
    "costs of an iteration by side": DISK
    | {
        "ws/iteration-1/timing.json": {
            side: {f"eval-{n}": {"tokens": 10 * n, "ms": 500} for n in (1, 2)} for side in BOTH
        }
    },
    "a copy of a workspace is said": pairs("{one,two}/iteration-1/eval-{eval}/{side}/grading.json"),
    "the same problem of many files is said once; disagreements stand alone": {
        f"ws/iteration-{n}/eval-{n}/{side}/grading.json": {
            "assertions": HALF["expectations"],
            "summary": {"passed": 2 if n < 3 else 1, "total": 2},
            "execution_metrics": f"{n} calls",
            "verdict_rate": n / 100,
        }
        for n, side in product(range(1, 40), BOTH)
    },
    "a stated total is no mean": {
        **DISK,
        **each("ws/iteration-1/eval-{eval}/{side}/timing.json", {"total_tokens": 1000}),
        "ws/iteration-1/benchmark.json": {
            "summary": {side: {"total_tokens": 2000, "pass_rate": 0.5} for side in BOTH}
        },
    },
    "what a run lacks is taken from the benchmark": {
        "ws/iteration-1/eval-1/with_skill/run-1/timing.json": {"total_tokens": 5},
        **bench([figures(1, "with_skill", 2, 1.5)]),
    },
    "what lies above a run and says something else": above_runs(
        "timing.json", {"total_tokens": 5}, {"total_tokens": 6}
    ),
    "a grading above a run that says the same": above_runs(
        "grading.json", graded("pf", summary={"passed": 1, "total": 2}), HALF
    ),
    "a summary is no eval": {
        "all/gotchas/grading/prompt-1.json": {
            "prompt_number": 1,
            "control": HALF,
            "treatment": graded("pp"),
        },
        "all/gotchas/grading/grading-summary.json": {
            "control": {"passed": 1, "total": 2},
            "treatment": {"passed": 2, "total": 2},
        },
        **bench(
            [
                {"eval_id": 1, "eval_name": "Prompt 1", "configuration": name}
                | {"result": {"pass_rate": rate, "time_seconds": 3.5}}
                for name, rate in (("control", 0.5), ("treatment", 1.0))
            ],
            "all/gotchas/gotchas-benchmark.json",
            metadata={},
            run_summary={},
        ),
    },
    "a folder named by a time is an iteration, and a hash is no name": {
        f"{TIMED}/sums--c6cd8f9f52ad/sample-1/grading.json": NESTED,
        f"{TIMED}/summary.json": {
            "cases": [
                {
                    "test_id": "sums",
                    "samples": [{"test_id": "sums", "sample_index": 1, "score": 0.5}],
                }
            ]
        },
        "adder/second/sums--c6cd8f9f52ad/sample-1/grading.json": NESTED,
    },
    "measurements of other times are iterations, and errors no rates": {
        "scout/evals/benchmark.json": measured("2026-03-02", "pp"),
        "scout/evals/history/2026-03-01.json": measured("2026-03-01", "pf"),
        "scout/evals/history/2026-03-02.json": measured("2026-03-02", "pp"),
    },
    "scores of ten are halved in a whole file": SCORED,
    "metrics with a figure a side are no evals": pairs("ws/eval-{eval}/{side}/grading.json")
    | {"ws/benchmark.json": {"skill_name": "s", **TOTALS}},
    "figures by eval beside rows are named": {
        "benchmark.json": {
            "results": [{"eval": "a", "condition": side, "pass_rate": 0.5} for side in BOTH],
            "per_eval_seconds": {"a": 4},
            "per_eval_tokens": {"a": 40},
        }
    },
    # ── queries ─────────────────────────────────────────────────────────────────────────────
    **{
        f"queries: {name}": DISK | {path: raw}
        for name, path, raw in (
            (
                "that say the skill",
                "trigger-tests/other.json",
                {"skill": "tdd", "test_cases": [QUERY]},
            ),
            (
                "in a suite",
                "skills/tdd/evals/evals.json",
                {"skill_name": "tdd", "evals": [{"id": 1, **QUERY}]},
            ),
        )
    },
    "what was expected and found elsewhere is no query": {
        "results.json": {
            "results": [{"id": 1, "expected": "42", "actual": "41", "passed": False, "score": 0.5}]
        }
    },
    "the same set in two places is counted once": {"{evals,old}/per-skill/tdd.json": [ASKED]},
    **{
        f"outcomes: {name}": {f"tdd/{path}": raw for path, raw in files.items()}
        for name, files in {
            "a skill's name": {"trigger.json": {"results": ROUTED}},
            "lists in groups": {"any.json": [{"group": "plain", "results": GROUPED}]},
            "two variants by the ids of a set": {
                "ab.json": BY_ID,
                "evals/queries.json": [{"id": "q1", **QUERY}],
            },
            "a variant in each row": {
                "x.json": {"rows": [{**HIT, "variant": "v2", "query": "do it"}]}
            },
        }.items()
    },
    # ── what people keep ────────────────────────────────────────────────────────────────────
    **{
        name: {f"tdd/{path}": raw for path, raw in files.items()}
        for name, files in {
            "versions of any name": {
                "results/{main,shorter prompt}/in/results.json": weighed(True)
            },
            "rounds of versions are runs": {
                "results/{v1,v2}/in/round1/results.json": weighed(False),
                "results/{v1,v2}/in/round2/results.json": weighed(True),
                "results/v2/out/results.json": weighed(True),
            },
            "rounds of one version are sides": {
                "results/v1/{in,out}/round1/results.json": weighed(False),
                "results/v1/{in,out}/round2/results.json": weighed(True),
            },
            "a list of evals with what to meet and to reject": each(
                "iteration-1/{side}/grading.json", accepted("pf", "p")
            ),
            "a list of runs by path": {
                "iteration-1/grading.json": [
                    {"run": f"{name}/{side}", "coverage": 0.5, "tokens": 90, "sec": 3}
                    for name in "AB"
                    for side in BOTH
                ]
            },
            **{
                f"a flat file: {name}": {
                    **pairs(name.replace("{n}", "{eval}").replace("{what}", "grading")),
                    "eval-1-x.metadata.json": {"eval_id": 1, "eval_name": "x", "prompt": "p"},
                    "eval-2-x.metadata.json": {"eval_id": 2, "eval_name": "x", "prompt": "p"},
                    name.format(n=2, side=BOTH[0], what="timing"): {"total_tokens": 7},
                }
                for name in (
                    "eval-{n}-x.{side}.{what}.json",
                    "eval-{n}-x.iter3.{side}.run-2.{what}.json",
                )
            },
            "a skill, an entry point and a version in rows": {
                "results/v3.json": {"results": POINTS}
            },
            "the same in a list": {"v3/results.json": POINTS},
            "a version of the skill is no side beside sides": each(
                "iteration-1/{side}/grading.json", DATED
            ),
            "maps by eval": {
                "benchmark.json": {
                    side: {"per_eval": PER_EVAL | {"pass_rate": {"a": 1, "b": 0.5}}}
                    for side in BOTH
                }
            },
            "costs by eval, a file a side": pairs("iteration-1/eval-{eval}/{side}/grading.json")
            | each("iteration-1/timing-{side}.json", {"per_eval": COSTS}),
            "an error in timing.json": {
                f"iteration-1/eval-1/{BOTH[0]}/grading.json": graded("ff"),
                f"iteration-1/eval-1/{BOTH[1]}/grading.json": HALF,
                **each("iteration-1/eval-1/{side}/timing.json", LIMIT),
            },
        }.items()
    },
}


def test_what_people_keep_is_read_as_what_it_is(tmp_path: Path) -> None:
    lines: list[str] = []
    for at, (name, files) in enumerate(SHAPES.items()):
        ws = sen.load(lay(tmp_path / f"{at}" / "all", files))
        lines += [f"# {name}", *lines_of_workspace(ws)]
        rows = ws.runs.select("workspace", "iteration", "eval_id", "configuration", "run_number")
        assert not rows.is_duplicated().any(), name
    hold("shapes", (line.replace(str(tmp_path), "") for line in lines))


def test_rows_that_are_no_grading_make_no_run(tmp_path: Path) -> None:
    rows = {"results": [{"id": 1, "title": "x"}]}
    with pytest.raises(sen.NothingToLoad):
        sen.load(lay(tmp_path, {"a/b/results.json": rows}))
