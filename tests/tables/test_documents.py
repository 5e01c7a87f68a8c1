"""What each document puts into which table, row by row: kept in `tests/kept/documents.txt`.

And what a benchmark states, as numbers and as it was printed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.tables import TABLES
from tests.corpus.build import graded, row
from tests.golden import hold, lines_of
from tests.tables.made import RUN, load, two_sides

if TYPE_CHECKING:
    from pathlib import Path

Files = dict[str, Any]
REVIEW = {
    "run_id": "eval-1-with_skill",
    "feedback": "Too long.",
    "timestamp": "2026-01-02T03:04:05Z",
}


def reviewed(run_id: str = REVIEW["run_id"], more: Files | None = None, **fields: Any) -> Files:
    """A workspace with a review of a run."""
    feedback = {"reviews": [REVIEW | {"run_id": run_id} | fields], "status": "complete"}
    return two_sides() | (more or {}) | {"iteration-1/feedback.json": feedback}


GRADING: Files = {
    "expectations": [
        {"text": "A session exists", "passed": True, "evidence": "line 3", "confidence": "high"},
        {"text": "It is encrypted", "passed": None, "evidence": None},
    ],
    "rubric_scores": {"depth": {"score": 4, "evidence": "covers all", "weight": 0.5}, "style": 2},
    "claims": [{"claim": "It is fast", "type": "quality", "verified": False, "evidence": "3 s"}],
    "user_notes_summary": {
        "uncertainties": ["Which port?"],
        "needs_review": ["The schema"],
        "workarounds": ["No network"],
    },
    "factual_issues": ["Port 80 is not TLS"],
    "eval_feedback": {
        "suggestions": [{"assertion": "A session exists", "reason": "Too weak"}],
        "overall": "Fine otherwise",
    },
    "eval_critique": {
        "vague_assertions": ["It works"],
        "missing_coverage": ["Expiry"],
        "suggested_assertions": ["A session expires"],
    },
    "judge_model": "m-2",
    "execution_metrics": {"tool_calls": {"Read": 2, "Bash": 0, "Write": None}},
}
NO_FILE = {
    "id": "S1",
    "text": "a.ts",
    "type": "file_exists",
    "passed": False,
    "critical": True,
    "evidence": "no such file",
}
DIMENSION = {
    "id": "Q1",
    "name": "depth",
    "weight": 0.7,
    "description": "How deep it goes.",
    "scoring": {"1": "shallow", "5": "tief, naïve Fälle auch"},
}
SUITE: Files = {
    "skill_name": "auth",
    "evals": [
        {
            "id": 1,
            "name": "login",
            "prompt": "Log in.",
            "expected_output": "A session.",
            "files": ["user.json"],
            "tags": ["happy path"],
            "weight": 2,
            "expectations": ["A session exists", {"text": "It is encrypted"}],
            "structural_expectations": [{"type": "file_exists", "pattern": "*.ts"}],
            "quality_rubric": {"dimensions": [DIMENSION, {"name": "style"}]},
        },
        {"id": 2, "prompt": "Log out."},
    ],
}
ONE_RUN = {f"{RUN}/grading.json": graded("p")}
COMPARISON: Files = {
    "winner": "A",
    "reasoning": "A is deeper.",
    "rubric": {
        "A": {"content": {"correctness": 5}, "structure": {"order": 4}}
        | {"content_score": 5, "overall_score": 9.0},
        "B": {"content": {"correctness": 3}},
    },
    "output_quality": {"B": {"score": 6}},
    "eval_id": 1,
    "configuration_a": "with_skill",
    "configuration_b": "without_skill",
    "version_a": 2,
}
SUGGESTED = {
    "priority": "high",
    "category": "instructions",
    "suggestion": "Say how to log out.",
    "expected_impact": "One check more",
}
VERSIONS: list[Files] = [
    {"version": "v0", "expectation_pass_rate": 0.5, "grading_result": "baseline"},
    {"version": "v1", "parent": "v0", "expectation_pass_rate": 0.75, "grading_result": "won"},
    {"version": "v2", "parent": "v1", "is_current_best": True},
]
QUERY = {"query": "Log me in", "should_trigger": True}
RATES: list[Files] = [
    *({"triggered": 2, "runs": 3}, {"triggered": 0, "runs": 3}),
    *({"triggered": 2, "runs": 3, "trigger_rate": 0.7}, {"triggered": 0, "runs": 0}),
    *({"runs": 3}, {}, {"should_trigger": False, "tags": ["near miss", "for login"]}),
]
SEARCH = {
    "best_description": "Does logins.",
    "best_score": 0.9,
    "iterations": [
        {"description": "Logins.", "train_score": 0.5, "test_score": 0.4},
        {"iteration": 5, "description": "Does logins.", "train_score": 0.9},
    ],
}
AGGREGATE = {
    "suggestions": [
        {"reason": "Too weak", "frequency": 3, "assertion": "It works", "action": "Say how"},
        {"reason": "No expiry"},
    ]
}
BENCHMARK = {
    "metadata": {"skill_name": "auth"},
    "runs": [row(1, "with_skill", "pp"), row(1, "without_skill", "pf")],
    "run_summary": {
        "with_skill": {
            "pass_rate": {"mean": 1.0, "stddev": None, "min": 1.0, "max": 1.0},
            "consistency": 0.9,
            "tokens": 1000,
            "rubric_dimensions": {"depth": {"mean": 4.5, "stddev": 0.5}},
        },
        "delta": {"pass_rate": "+0.50", "tokens": "about the same"},
    },
    "notes": ["Eval 1 is easy."],
}
CASES: dict[str, Files] = {
    "scores of a human": reviewed(scores={"tone": 4, "ordre é": 2.5}),
    "a label of a human": reviewed(labels=[{"text": "é", "passed": True, "by": "Ann"}]),
    "all that a grader writes": {
        f"{RUN}/grading.json": GRADING,
        f"{RUN}/structural.json": {"expectations": [NO_FILE], "gate_passed": True},
    },
    "judgings with the weights of the suite": {
        "evals.json": SUITE,
        f"{RUN}/grading.json": GRADING,
        f"{RUN}/judgings/1.json": {"rubric_scores": {"depth": {"score": 5}}, "judge_model": "a"},
        f"{RUN}/judgings/2.json": {"rubric_scores": {"depth": {"score": 3}}, "judge_model": "b"},
        f"{RUN}/judgings/10.json": {"rubric_scores": {"depth": {"score": None}}, "judging": 7},
    },
    "a suite": {"evals.json": SUITE},
    "two files that define one eval otherwise": {
        **ONE_RUN,
        **{
            name: {"skill_name": "s", "evals": [{"id": 1, "prompt": prompt}]}
            for name, prompt in (("evals.json", "One"), ("old/evals.json", "Quite another"))
        },
    },
    "a row of a benchmark for several runs": {
        **{f"iteration-1/eval-0/with_skill/run-{n}/grading.json": graded("pf") for n in (1, 2, 3)},
        "iteration-1/benchmark.json": {"runs": [row(0, "with_skill", "pf")]},
    },
    "a comparison": {"comparison.json": COMPARISON},
    "a comparison that tells its pair and the runs behind": {
        "comparisons/comparison-1.json": COMPARISON
        | {"pair": "f00d", "order": 2, "repetition": 1}
        | {"runs": {"A": {"path": "iteration-1/eval-1/with_skill/run-1", "run_number": 1}}}
    },
    "an analysis": {
        "analysis.json": {
            "comparison_summary": {"winner": "A"},
            "improvement_suggestions": [SUGGESTED],
        }
    },
    "a history": {
        "history.json": {"skill_name": "auth", "current_best": "v1", "iterations": VERSIONS}
    },
    "trigger rates, stated or counted": {"trigger_eval.json": [QUERY | more for more in RATES]},
    "a search for a description": {"optimization_result.json": SEARCH},
    "suggestions over runs": two_sides() | {"iteration-1/eval_feedback_aggregate.json": AGGREGATE},
    "every figure of a benchmark, and an analyst's notes": {
        "iteration-1/benchmark.json": BENCHMARK
    },
}


def test_every_document_has_its_rows(tmp_path: Path) -> None:
    lines: list[str] = []
    for name, files in CASES.items():
        ws = load(tmp_path / name, files)
        lines.append(f"# {name}")
        for table in TABLES:
            lines += lines_of(ws.polars(table).to_dict(as_series=False), table)
    hold("documents", lines)


# ── what benchmark.json files state ──────────────────────────────────────────────────────────

PRINTED: list[tuple[str, dict[Any, float | None]]] = [
    ("pass_rate", {"+0.50": 0.5, ".5": 0.5, "+9pp": 0.09, "+9 pp": 0.09, "-13.3%": -0.133}),
    ("pass_rate", {"85%": 0.85, "+4.6": 0.046, "-4.6": -0.046, "0.0 (both 100%)": 0.0}),
    ("pass_rate", {"+0.10 ± 0.05": 0.1, -4.6: -0.046, 150.0: 150.0}),
    ("time_seconds", {"-0.5s (3.9% faster)": -0.5, "+52s": 52.0, "250 ms": 0.25}),
    ("time_seconds", {"-118.4s (-30.8%)": -118.4}),
    ("tokens", {"-1200 (2.7% fewer)": -1200.0, "\N{MINUS SIGN}1,200": -1200.0}),
    ("tokens", {"+1,234 tokens": 1234.0, 4.5: 4.5, 10**400: None}),
    ("tool_calls", {"-10.0 (-16.4%)": -10.0}),
    ("cost_usd", {"-$0.05": -0.05}),
    # None where no reading is clear.
    ("pass_rate", dict.fromkeys(("N/A", "3/4", "30 of 40", "80% → 90%", "0.8 to 0.9", "1.5"))),
    ("time_seconds", dict.fromkeys(("2 minutes", "2m 5s", "3.9% faster"))),
    ("tokens", dict.fromkeys(("about the same", "", "1200 fewer", "1.2k", "5%", "v2"))),
]


def printed_as(folder: Path, *figures: tuple[Any, str]) -> list[float | None]:
    """Each figure of a metric as it is read from the delta of an iteration."""
    files = {
        f"iteration-{n}/benchmark.json": {
            "runs": [row(1, "with_skill", "pp")],
            "run_summary": {"delta": {metric: figure}},
        }
        for n, (figure, metric) in enumerate(figures)
    }
    stated = load(folder, files).stated.filter(configuration="delta")
    found = {int(name[10:]): value for name, value in stated.select("iteration", "value").rows()}
    return [found[n] for n in range(len(figures))]


def test_a_figure_is_read_out_of_what_was_printed(tmp_path: Path) -> None:
    cases = [(figure, metric) for metric, of in PRINTED for figure in of]
    right = [value for _, of in PRINTED for value in of.values()]
    assert printed_as(tmp_path, *cases) == [pytest.approx(value) for value in right]


@given(
    st.lists(st.tuples(st.text(), st.sampled_from(["pass_rate", "time_seconds", "tokens"]))),
    st.lists(st.floats(-1, 1), min_size=1, max_size=4),
    st.sampled_from(["{:+.2f}", "{:+.1%}", "{:.3f} (remark)", "{:+.0%}"]),
)
def test_no_text_raises_and_a_rate_is_read_back_as_precisely_as_it_was_printed(
    tmp_path_factory: pytest.TempPathFactory, texts: Any, rates: list[float], form: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    read = printed_as(folder, *((form.format(rate), "pass_rate") for rate in rates), *texts)
    assert read[: len(rates)] == [pytest.approx(rate, abs=0.0051) for rate in rates]
    assert all(isinstance(one, float | None) for one in read)


@pytest.mark.parametrize("printed", [" " * 200_000, "1" + " " * 200_000 + "x1", "1," * 100_000])
def test_a_figure_of_megabytes_is_read_in_one_go(tmp_path: Path, printed: str) -> None:
    begun = time.thread_time()
    printed_as(tmp_path, (printed, "tokens"))
    assert time.thread_time() - begun < 10
