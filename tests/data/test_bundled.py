"""The bundled data agrees with itself, and says that it is made up.

Plain code over plain JSON: nothing here uses the package or the modules that wrote the data,
so that the package can be held against this data in turn.
"""

from __future__ import annotations

import csv
import fnmatch
import hashlib
import json
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

Json = dict[str, Any]

DATA = Path(__file__).parents[2] / "data"
TDD = DATA / "tdd-workspace"
MINUTES = DATA / "skill-creator-workspace"
RECIPES = DATA / "test-cases-workspace"
MIGRATIONS = DATA / "codingbuddy-workspace"
TABLES = DATA / "iterations-workspace"
DEMO = DATA / "demo-skill"
FOLDERS = (TDD, MINUTES, RECIPES, MIGRATIONS, TABLES, DEMO)
SIDES = ("with_skill", "without_skill")


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def found(folder: Path, pattern: str) -> list[Path]:
    """The files of a pattern, of which there must be some."""
    paths = sorted(folder.glob(pattern))
    assert paths, f"nothing matches {pattern} in {folder}"
    return paths


def label(path: Path) -> str:
    return path.relative_to(DATA).as_posix()


def each(*paths: Path) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=label)


def agree(stated: Json, values: Sequence[float]) -> None:
    """`stated` gives mean, sample standard deviation, smallest and largest, rounded."""
    truth = {
        "mean": statistics.fmean(values),
        "stddev": statistics.stdev(values) if len(values) > 1 else None,
        "min": min(values),
        "max": max(values),
    }
    assert stated == {
        key: None if value is None else pytest.approx(value, abs=0.06 if value > 99 else 0.006)
        for key, value in truth.items()
    }


def mean_delta(with_skill: Sequence[float], without: Sequence[float]) -> float:
    return statistics.fmean(with_skill) - statistics.fmean(without)


# ---- the script, and what all files have in common ----


def generate(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(data / "generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_files_are_what_the_script_writes():
    checked = generate(DATA, "--check")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_check_names_every_difference_and_a_new_run_mends_it(tmp_path: Path):
    data = tmp_path / "data"
    shutil.copytree(DATA, data, ignore=shutil.ignore_patterns("__pycache__"))
    changed = data / "tdd-workspace" / "history.json"
    missing = data / "iterations-workspace" / "benchmark.json"
    added = data / "codingbuddy-workspace" / "more.json"
    changed.write_text("{}\n", encoding="utf-8")
    missing.unlink()
    added.write_text("{}\n", encoding="utf-8")
    checked = generate(data, "--check")
    assert checked.returncode == 1
    assert set(checked.stdout.splitlines()) == {
        f"differs: {changed}",
        f"missing: {missing}",
        f"should not be there: {added}",
    }
    assert generate(data).returncode == 0
    assert generate(data, "--check").returncode == 0
    assert changed.read_bytes() == (TDD / "history.json").read_bytes()
    assert (data / "tdd-workspace" / "README.md").is_file()


def test_json_is_written_in_one_way():
    for path in found(DATA, "**/*.json"):
        check_form(path)


def check_form(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    again = json.dumps(json.loads(text), indent=2, ensure_ascii=False, allow_nan=False)
    assert text == again + "\n"


def test_it_is_small():
    sizes = [path.stat().st_size for path in found(DATA, "**/*.*") if path.suffix != ".pyc"]
    assert sum(sizes) < 1_500_000


@each(*FOLDERS)
def test_every_folder_says_what_it_is(path: Path):
    readme = (path / "README.md").read_text(encoding="utf-8")
    assert "Made-up data" in readme or "no model has run it" in readme


def test_no_model_is_named_but_made_up_ones():
    texts = [path.read_text(encoding="utf-8") for path in found(DATA, "**/*.json")]
    named = re.compile(r'"(?:executor|analyzer|judge)_model": "([^"]*)"')
    assert {name for text in texts for name in named.findall(text)} == {
        "made-up-model",
        "made-up-judge",
    }
    assert not re.search(r"claude|gpt|gemini|llama|mistral", "\n".join(texts), re.IGNORECASE)


def test_dates_are_of_early_2026():
    stamp = re.compile(r'"(\d{4}-\d\d-\d\dT[^"]*)"')
    texts = [path.read_text(encoding="utf-8") for path in found(DATA, "**/*.json")]
    stamps = [datetime.fromisoformat(one) for text in texts for one in stamp.findall(text)]
    assert stamps
    assert all((one.year, one.month) in {(2026, 1), (2026, 2), (2026, 3)} for one in stamps)


@each(*found(DATA, "**/evals.json"))
def test_input_files_are_there(path: Path):
    skill = path.parent.parent if path.parent.name == "evals" else path.parent
    for one in load(path)["evals"]:
        assert all((skill / name).is_file() for name in one["files"])


def test_summaries_count_their_expectations():
    for path in (*found(DATA, "*/iteration-*/**/grading.json"), *found(DATA, "**/structural.json")):
        check_summary(path)


def check_summary(path: Path) -> None:
    document = load(path)
    passed = [one["passed"] for one in document["expectations"]]
    assert all(one["text"] and one["evidence"] for one in document["expectations"])
    assert "$" not in "".join(one["text"] for one in document["expectations"])
    if MIGRATIONS in path.parents or TABLES in path.parents:
        assert list(document) == ["expectations"]
        return
    assert document["summary"] == {
        "passed": sum(passed),
        "failed": len(passed) - sum(passed),
        "total": len(passed),
        "pass_rate": round(sum(passed) / len(passed), 4),
    }


def test_timing_agrees_with_itself():
    for path in found(DATA, "**/timing.json"):
        check_timing(path)


def check_timing(path: Path) -> None:
    timing = load(path)
    if timing.get("status") == "timeout":
        assert timing.keys() == {"executor_start", "executor_end", "exit_code", "status"}
        return
    assert timing["total_tokens"] > 0
    assert timing["duration_ms"] == round(timing["total_duration_seconds"] * 1000)
    if "executor_start" in timing:
        start, end = (datetime.fromisoformat(timing[f"executor_{key}"]) for key in ("start", "end"))
        seconds = timing["executor_duration_seconds"]
        assert (end - start).total_seconds() == pytest.approx(seconds, abs=0.51)
        total = seconds + timing.get("grader_duration_seconds", 0)
        assert timing["total_duration_seconds"] == pytest.approx(total)


def test_metrics_count_what_is_there():
    for path in found(DATA, "**/outputs/metrics.json"):
        check_metrics(path)


def check_metrics(path: Path) -> None:
    metrics = load(path)
    outputs = [one for one in path.parent.iterdir() if one.name != "metrics.json"]
    assert metrics["files_created"] == [one.name for one in outputs]
    assert metrics["output_chars"] == sum(len(one.read_text(encoding="utf-8")) for one in outputs)
    assert metrics["total_tool_calls"] == sum(metrics["tool_calls"].values())
    transcript = path.parent.parent / "transcript.md"
    if transcript.is_file():
        text = transcript.read_text(encoding="utf-8")
        assert metrics["transcript_chars"] == len(text)
        assert metrics["errors_encountered"] == text.count("Error:")
        assert metrics["total_steps"] == len(re.findall(r"(?m)^\d+\. ", text))
        assert metrics["skill_used"] == ("Opened the skill" in text)
    assert metrics["tool_calls"]["Skill"] == metrics.get("skill_used", "with_skill" in path.parts)


# ---- tdd-workspace ----


def tdd_suite() -> dict[int, Json]:
    return {one["id"]: one for one in load(TDD / "evals.json")["evals"]}


def tdd_runs(iteration: int, side: str) -> Iterator[tuple[int, int, Path]]:
    """Eval, run number and folder of each run that left outputs."""
    for path in found(TDD, f"iteration-{iteration}/eval-*/{side}/run-*"):
        if (path / "outputs").is_dir():
            eval_id = load(path.parents[1] / "eval_metadata.json")["eval_id"]
            yield eval_id, int(path.name.removeprefix("run-")), path


def share(document: Json) -> float:
    return statistics.fmean(one["passed"] for one in document["expectations"])


def test_tdd_metadata_repeats_the_suite():
    for path in found(TDD, "iteration-*/eval-*/eval_metadata.json"):
        metadata = load(path)
        one = tdd_suite()[metadata["eval_id"]]
        assert path.parent.name == f"eval-{one['id']}-{one['name']}"
        assert metadata["eval_name"] == one["name"]
        assert metadata["prompt"] == one["prompt"]
        assert metadata["assertions"] == one["expectations"]


def test_tdd_gradings_answer_the_suite():
    for iteration in (1, 2):
        for side in SIDES:
            for eval_id, _, path in tdd_runs(iteration, side):
                one = tdd_suite()[eval_id]
                structural = load(path / "structural.json")
                keys = ("id", "type", "critical")
                assert [[row[key] for key in keys] for row in structural["expectations"]] == [
                    [row[key] for key in keys] for row in one["structural_expectations"]
                ]
                gate = all(row["passed"] for row in structural["expectations"] if row["critical"])
                assert structural["gate_passed"] == gate == (path / "grading.json").is_file()
                if gate:
                    texts = [row["text"] for row in load(path / "grading.json")["expectations"]]
                    assert texts == one["expectations"]


def holds(row: Json, run: Path) -> bool:
    """Whether a structural expectation is true of what the run left behind."""
    if row["type"] == "no_errors":
        return "Error:" not in (run / "transcript.md").read_text(encoding="utf-8")
    outputs = run / "outputs"
    if row["type"] == "custom_script":
        script = ["sh", "-c", row["script"]]
        return subprocess.run(script, cwd=outputs, check=False).returncode == 0
    names = [one.name for one in outputs.iterdir() if fnmatch.fnmatch(one.name, row["pattern"])]
    if row["type"] == "file_exists":
        return bool(names)
    text = "\n".join((outputs / name).read_text(encoding="utf-8") for name in names)
    hit = any(needle in text for needle in row.get("match_any", ())) or (
        "match_regex" in row and re.search(row["match_regex"], text) is not None
    )
    return hit == (row["type"] == "file_contains")


@pytest.mark.parametrize("iteration", [1, 2])
@pytest.mark.parametrize("side", SIDES)
def test_structural_verdicts_are_true_of_the_outputs(iteration: int, side: str):
    for eval_id, _, path in tdd_runs(iteration, side):
        for row, verdict in zip(
            tdd_suite()[eval_id]["structural_expectations"],
            load(path / "structural.json")["expectations"],
            strict=True,
        ):
            assert holds(row, path) == verdict["passed"], f"{path}: {verdict}"


def test_rubric_summaries_are_weighted_means():
    for path in (*found(TDD, "**/grading.json"), *found(TDD, "**/judgings/*.json")):
        check_rubric(path)


def check_rubric(path: Path) -> None:
    document = load(path)
    rubric = tdd_suite()[1]["quality_rubric"]["dimensions"]
    weights = {one["name"]: one["weight"] for one in rubric}
    scores = {name: one["score"] for name, one in document["rubric_scores"].items()}
    assert scores.keys() == weights.keys()
    assert all(type(score) is int and 1 <= score <= 5 for score in scores.values())
    total = sum(score * weights[name] for name, score in scores.items())
    mean = total / sum(weights.values())
    assert document["rubric_summary"] == {
        "weighted_mean": round(mean, 4),
        "max_possible": 5.0,
        "normalized": round(mean / 5, 4),
    }


def test_judgings_belong_to_iteration_2_and_the_first_is_the_grading():
    assert not list(TDD.glob("iteration-1/**/judgings"))
    for path in found(TDD, "iteration-2/**/grading.json"):
        judgings = [load(one) for one in found(path.parent, "judgings/*.json")]
        assert [one["judging"] for one in judgings] == [1, 2, 3]
        assert {one["judge_model"] for one in judgings} == {"made-up-judge"}
        for key in ("rubric_scores", "rubric_summary"):
            assert judgings[0][key] == load(path)[key]


def test_the_trouble_that_the_readme_names_is_there():
    first, second = TDD / "iteration-1", TDD / "iteration-2"
    stopped = first / "eval-3-waiting-list" / "with_skill" / "run-2"
    assert {one.name for one in stopped.iterdir()} == {"timing.json", "transcript.md"}
    assert load(stopped / "timing.json")["exit_code"] == 1
    assert not (first / "eval-5-import-members" / "without_skill").exists()
    unopened = first / "eval-2-late-fee" / "with_skill" / "run-1" / "outputs" / "metrics.json"
    assert load(unopened)["skill_used"] is False
    gated = second / "eval-6-reminder-mailer" / "without_skill" / "run-3"
    assert load(gated / "structural.json")["gate_passed"] is False
    assert not (gated / "grading.json").exists()
    # and no other run is in trouble
    finished = Counter(
        (iteration, side)
        for iteration in (1, 2)
        for side in SIDES
        for _ in tdd_runs(iteration, side)
    )
    assert list(finished.values()) == [17, 15, 18, 18]
    assert len(found(TDD, "**/grading.json")) == sum(finished.values()) - 1


def seen_verdicts(text: str, eval_name: str = "*") -> dict[str, set[bool]]:
    """By side, the verdicts that an expectation of this text ever got."""
    paths = [
        path
        for name in ("grading", "structural")
        for path in found(TDD, f"iteration-*/eval-{eval_name}/*/run-*/{name}.json")
    ]
    return {
        side: {
            one["passed"]
            for path in paths
            if path.parts[-3] == side
            for one in load(path)["expectations"]
            if one["text"] == text
        }
        for side in SIDES
    }


def both(seen: set[bool]) -> dict[str, set[bool]]:
    return dict.fromkeys(SIDES, seen)


def test_one_check_always_passes_one_always_fails_one_is_flaky():
    assert seen_verdicts("A test file was written") == both({True})
    assert seen_verdicts("A coverage report was written") == both({False})
    toss_up = "Two entries of the same time are put into a stated order"
    assert seen_verdicts(toss_up, "3-waiting-list") == both({True, False})


def components(side: str, dimension: str) -> dict[str, float]:
    """Variance between evals, runs and judgings, from the evals with three judged runs."""
    by_eval: dict[int, list[list[int]]] = {}
    for eval_id, _, path in tdd_runs(2, side):
        judgings = [load(one) for one in sorted(path.glob("judgings/*.json"))]
        if judgings:
            scores = [one["rubric_scores"][dimension]["score"] for one in judgings]
            by_eval.setdefault(eval_id, []).append(scores)
    evals = [runs for runs in by_eval.values() if len(runs) == 3]
    judging = statistics.fmean(statistics.variance(run) for runs in evals for run in runs)
    run_means = [[statistics.fmean(run) for run in runs] for runs in evals]
    between_runs = statistics.fmean(statistics.variance(means) for means in run_means)
    between_evals = statistics.variance([statistics.fmean(means) for means in run_means])
    return {
        "eval": between_evals - between_runs / 3,
        "run": between_runs - judging / 3,
        "judging": judging,
    }


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    ("dimension", "largest"),
    [("behaviour_focus", "eval"), ("isolation", "run"), ("readability", "judging")],
)
def test_each_noisy_dimension_is_noisy_for_its_own_reason(side: str, dimension: str, largest: str):
    found_components = components(side, dimension)
    others = [value for name, value in found_components.items() if name != largest]
    assert found_components[largest] > 2 * max(others)


def test_the_skill_clearly_helps_on_one_dimension():
    figures = load(TDD / "iteration-2" / "benchmark.json")["run_summary"]
    means = {
        name: figures["with_skill"]["rubric_dimensions"][name]["mean"]
        - figures["without_skill"]["rubric_dimensions"][name]["mean"]
        for name in figures["with_skill"]["rubric_dimensions"]
    }
    assert max(means, key=lambda name: means[name]) == "small_steps"
    assert means["small_steps"] > 1.5


def tdd_figures(iteration: int, side: str) -> dict[str, list[float]]:
    """The figures of a side's runs, by their names in benchmark.json."""
    weights = {one["name"]: one["weight"] for one in tdd_suite()[1]["quality_rubric"]["dimensions"]}
    figures: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        figures.setdefault(name, []).append(value)

    for _, _, path in tdd_runs(iteration, side):
        timing, structural = load(path / "timing.json"), load(path / "structural.json")
        note("time_seconds", timing["total_duration_seconds"])
        note("tokens", timing["total_tokens"])
        if not structural["gate_passed"]:
            note("pass_rate", share(structural))
            note("overall_efficiency", share(structural))
            continue
        grading = load(path / "grading.json")
        judgings = [load(one) for one in sorted(path.glob("judgings/*.json"))] or [grading]
        scores = {
            name: statistics.fmean(one["rubric_scores"][name]["score"] for one in judgings)
            for name in weights
        }
        total = sum(score * weights[name] for name, score in scores.items())
        rubric = total / sum(weights.values()) / 5
        note("pass_rate", share(grading))
        note("rubric_normalized", rubric)
        note("overall_efficiency", 0.5 * share(structural) + 0.5 * rubric)
        for name, score in scores.items():
            note(name, score)
    return figures


@pytest.mark.parametrize("iteration", [1, 2])
def test_tdd_benchmark_equals_its_runs(iteration: int):
    benchmark = load(TDD / f"iteration-{iteration}" / "benchmark.json")
    stated = benchmark["run_summary"]
    figures = {side: tdd_figures(iteration, side) for side in SIDES}
    for side in SIDES:
        dimensions = stated[side]["rubric_dimensions"]
        for name, values in figures[side].items():
            agree(dimensions[name] if name in dimensions else stated[side][name], values)
        efficiency = figures[side]["overall_efficiency"]
        consistency = 1 - statistics.stdev(efficiency) / statistics.fmean(efficiency)
        assert stated[side]["consistency"] == pytest.approx(consistency, abs=1e-4)
    for name, printed in stated["delta"].items():
        step = 10.0 ** -len(printed.partition(".")[2])
        truth = mean_delta(figures["with_skill"][name], figures["without_skill"][name])
        assert printed[0] in "+-"
        assert float(printed) == pytest.approx(truth, abs=0.501 * step)


@each(TDD, MINUTES)
def test_benchmark_states_every_run_as_it_is(path: Path):
    for file in found(path, "iteration-*/benchmark.json"):
        benchmark = load(file)
        on_disk = {one.parent for one in file.parent.glob("eval-*/*/run-*/outputs") if one.is_dir()}
        stated: set[Path] = set()
        for run in benchmark["runs"]:
            of_eval = f"eval-{run['eval_id']}-{run['eval_name']}"
            folder = file.parent / of_eval / run["configuration"] / f"run-{run['run_number']}"
            stated.add(folder)
            graded = folder / "grading.json"
            document = load(graded if graded.is_file() else folder / "structural.json")
            timing, metrics = load(folder / "timing.json"), load(folder / "outputs/metrics.json")
            assert run["result"] == {
                **document["summary"],
                "time_seconds": timing["total_duration_seconds"],
                "tokens": timing["total_tokens"],
                "tool_calls": metrics["total_tool_calls"],
                "errors": metrics["errors_encountered"],
            }
            assert run["expectations"] == [
                {key: one[key] for key in ("text", "passed", "evidence")}
                for one in document["expectations"]
            ]
        assert stated == on_disk
        assert len(benchmark["runs"]) == len(on_disk)


@pytest.mark.parametrize("iteration", [1, 2])
def test_suggestions_are_counted_over_gradings(iteration: int):
    folder = TDD / f"iteration-{iteration}"
    gradings = [load(path) for path in found(folder, "eval-*/**/grading.json")]
    counted = Counter(
        (suggestion.get("assertion"), suggestion["reason"])
        for grading in gradings
        for suggestion in grading.get("eval_feedback", {"suggestions": ()})["suggestions"]
    )
    aggregate = load(folder / "eval_feedback_aggregate.json")
    assert aggregate["iteration"] == iteration
    assert aggregate["total_runs"] == len(gradings)
    rows = aggregate["suggestions"]
    assert {(one["assertion"], one["reason"]): one["frequency"] for one in rows} == counted
    assert [one["frequency"] for one in rows] == sorted(counted.values(), reverse=True)


@each(TDD, MINUTES)
def test_history_ends_with_the_last_iteration(path: Path):
    history = load(path / "history.json")
    versions = history["iterations"]
    assert [one["version"] for one in versions] == [f"v{n}" for n in range(len(versions))]
    best = [one for one in versions if one["is_current_best"]]
    assert [one["version"] for one in best] == [history["current_best"]]
    assert best[0]["expectation_pass_rate"] == max(one["expectation_pass_rate"] for one in versions)
    kept = [load(file)["run_summary"] for file in found(path, "iteration-*/benchmark.json")]
    rates = [one["with_skill"]["pass_rate"]["mean"] for one in kept]
    assert [one["expectation_pass_rate"] for one in versions[-len(rates) :]] == rates


@each(*found(DATA, "**/feedback.json"))
def test_reviews_are_of_runs_that_exist(path: Path):
    feedback = load(path)
    assert feedback["status"] in {"in_progress", "complete"}
    folders = {
        one.relative_to(path.parent).as_posix().replace("/", "-")
        for pattern in ("eval-*/*", "eval-*/*/run-*")
        for one in path.parent.glob(pattern)
    }
    assert {review["run_id"] for review in feedback["reviews"]} <= folders


# ---- skill-creator-workspace ----


def test_minutes_benchmark_equals_its_runs():
    stated = load(MINUTES / "iteration-1" / "benchmark.json")["run_summary"]
    figures: dict[str, dict[str, list[float]]] = {}
    for side in SIDES:
        paths = found(MINUTES, f"iteration-1/eval-*/{side}/run-*")
        timings = [load(path / "timing.json") for path in paths]
        figures[side] = {
            "pass_rate": [share(load(path / "grading.json")) for path in paths],
            "time_seconds": [one["total_duration_seconds"] for one in timings],
            "tokens": [one["total_tokens"] for one in timings],
        }
        assert stated[side].keys() == figures[side].keys()
        for name, values in figures[side].items():
            agree(stated[side][name], values)
    for name, printed in stated["delta"].items():
        step = 10.0 ** -len(printed.partition(".")[2])
        truth = mean_delta(figures["with_skill"][name], figures["without_skill"][name])
        assert float(printed) == pytest.approx(truth, abs=0.501 * step)


@each(*found(MINUTES, "iteration-1/**/grading.json"))
def test_minutes_gradings_repeat_metrics_timing_and_suite(path: Path):
    grading = load(path)
    metrics, timing = load(path.parent / "outputs/metrics.json"), load(path.parent / "timing.json")
    assert grading["execution_metrics"] == {
        key: value for key, value in metrics.items() if key != "files_created"
    }
    assert grading["timing"] == {key: timing[key] for key in grading["timing"]}
    assert grading["claims"]
    metadata = load(path.parents[2] / "eval_metadata.json")
    suite = {one["id"]: one for one in load(MINUTES / "evals.json")["evals"]}
    texts = [one["text"] for one in grading["expectations"]]
    assert texts == metadata["assertions"] == suite[metadata["eval_id"]]["expectations"]
    assert metadata["prompt"] == suite[metadata["eval_id"]]["prompt"]


def test_some_executors_flag_something():
    paths = found(MINUTES, "iteration-1/**/grading.json")
    flagged = [load(path)["user_notes_summary"] for path in paths]
    assert all(one.keys() == {"uncertainties", "needs_review", "workarounds"} for one in flagged)
    assert any(one["uncertainties"] for one in flagged)
    assert any(one["workarounds"] for one in flagged)
    assert any("eval_feedback" in load(path) for path in paths)


@each(*found(MINUTES, "iteration-1/**/minutes.md"))
def test_verdicts_on_minutes_are_true_of_them(path: Path):
    lines = path.read_text(encoding="utf-8").splitlines()
    grading = load(path.parent.parent / "grading.json")
    passed = {one["text"]: one["passed"] for one in grading["expectations"]}
    assert passed["Decisions stand under a heading of their own"] == ("## Decisions" in lines)
    assert passed["The title gives the meeting and its date"] == ("2026" in lines[0])
    short = passed.get("The minutes have no more than fifteen lines")
    assert short is None or short == (len(lines) <= 15)


def test_comparison_and_analysis_are_of_the_first_runs():
    path = MINUTES / "iteration-1" / "eval-2-board-call"
    comparison, analysis = load(path / "comparison-1.json"), load(path / "analysis.json")
    for side, configuration in zip("AB", SIDES, strict=True):
        grading = load(path / configuration / "run-1" / "grading.json")
        results = comparison["expectation_results"][side]
        assert results["details"] == [
            {key: one[key] for key in ("text", "passed")} for one in grading["expectations"]
        ]
        for key in ("passed", "total", "pass_rate"):
            assert results[key] == grading["summary"][key]
        rubric = comparison["rubric"][side]
        for group in ("content", "structure"):
            assert all(1 <= score <= 5 for score in rubric[group].values())
            mean = statistics.fmean(rubric[group].values())
            assert rubric[f"{group}_score"] == pytest.approx(mean, abs=0.051)
        both = rubric["content_score"] + rubric["structure_score"]
        assert rubric["overall_score"] == pytest.approx(both)
        score = comparison["output_quality"][side]["score"]
        assert score == pytest.approx(rubric["overall_score"], abs=0.5)
    winner = max("AB", key=lambda side: comparison["rubric"][side]["overall_score"])
    assert comparison["winner"] == analysis["comparison_summary"]["winner"] == winner
    assert analysis["comparison_summary"]["comparator_reasoning"] == comparison["reasoning"]
    assert analysis["improvement_suggestions"]


# ---- test-cases-workspace ----


def recipe_gradings() -> list[Json]:
    return [load(path) for path in found(RECIPES, "eval/runs/*/grading/*.json")]


def test_recipe_gradings_answer_their_test_cases():
    cases = {one["id"]: one for one in load(RECIPES / "eval/eval_metadata.json")["test_cases"]}
    for path in found(RECIPES, "eval/runs/*/grading/*.json"):
        grading = load(path)
        assert path.stem == grading["test_case_id"]
        assert path.parent.parent.name == grading["run_id"]
        texts = [one["assertion"] for one in grading["assertions"]]
        assert texts == cases[grading["test_case_id"]]["assertions"]
        results = [one["result"] for one in grading["assertions"]]
        assert set(results) <= {"pass", "fail"}
        assert {one["confidence"] for one in grading["assertions"]} <= {"high", "medium", "low"}
        assert grading["overall_score"] == round(results.count("pass") / len(results), 4)
        start, end = (datetime.fromisoformat(grading["timing"][key]) for key in ("start", "end"))
        seconds = grading["timing"]["duration_seconds"]
        assert (end - start).total_seconds() == pytest.approx(seconds, abs=0.51)
    assert len(recipe_gradings()) == 3 * len(cases)
    assert any(one["factual_issues"] for one in recipe_gradings())
    assert any(one["eval_critique"]["vague_assertions"] for one in recipe_gradings())


def test_recipe_benchmark_equals_its_gradings():
    benchmark = load(RECIPES / "eval/benchmark.json")
    entries = benchmark["entries"]
    assert [one["description_version"] for one in entries] == [1, 2, 3]
    assert benchmark["description_version"] == 3
    for entry in entries:
        graded = {
            one["test_case_id"]: one
            for one in recipe_gradings()
            if one["run_id"] == f"run-{entry['description_version']}"
        }
        assert entry["num_test_cases"] == len(graded) == len(entry["per_test_case"])
        for row in entry["per_test_case"]:
            assert row["score"] == graded[row["test_case_id"]]["overall_score"]
            timing = graded[row["test_case_id"]]["timing"]
            assert row["duration_seconds"] == timing["duration_seconds"]
        scores = [row["score"] for row in entry["per_test_case"]]
        assert entry["scores"] == pytest.approx(
            {
                "mean": statistics.fmean(scores),
                "median": statistics.median(scores),
                "std_dev": statistics.stdev(scores),
                "min": min(scores),
                "max": max(scores),
            },
            abs=1e-4,
        )
        total = sum(row["duration_seconds"] for row in entry["per_test_case"])
        assert entry["total_duration_seconds"] == pytest.approx(total)


def test_the_skill_has_the_last_description():
    text = (RECIPES / "SKILL.md").read_text(encoding="utf-8")
    described = re.search(r'(?m)^description: "(.*)"$', text)
    assert described is not None
    digest = hashlib.sha256(described[1].encode()).hexdigest()
    entries = load(RECIPES / "eval/benchmark.json")["entries"]
    assert entries[-1]["description_hash"] == digest
    assert len({one["description_hash"] for one in entries}) == len(entries)


@each(*found(RECIPES, "eval/comparisons/*.json"))
def test_comparisons_add_up(path: Path):
    comparison = load(path)
    assert comparison["comparison_id"] == path.stem
    criteria = comparison["criteria_scores"]
    totals = [sum(one[f"score_{side}"] for one in criteria) for side in "ab"]
    assert totals == [comparison["total_score_a"], comparison["total_score_b"]]
    assert all(1 <= one[f"score_{side}"] <= 5 for one in criteria for side in "ab")
    winner = "tie" if totals[0] == totals[1] else "A" if totals[0] > totals[1] else "B"
    assert comparison["winner"] == winner
    assert comparison["version_a"] < comparison["version_b"] <= 3
    assert comparison["test_case_id"] in {one["test_case_id"] for one in recipe_gradings()}


# ---- codingbuddy-workspace: the constraints of the dialect, as JSON Schema (draft 7) ----

TEXT: Json = {"type": "string"}
KEBAB: Json = {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"}
AMOUNT: Json = {"type": "number", "minimum": 0}
COUNT: Json = {"type": "integer", "minimum": 0}
RATE: Json = {"type": "number", "minimum": 0, "maximum": 1}


def whole(**properties: Json) -> Json:
    """An object in which each of these must stand."""
    return {"type": "object", "required": list(properties), "properties": properties}


def some(items: Json, least: int = 1) -> Json:
    return {"type": "array", "minItems": least, "items": items}


SIDE = whole(pass_rate=RATE, tokens=COUNT, duration=AMOUNT)
RUN_ID: Json = {"type": "string", "pattern": "^eval-[0-9]+-(?:with_skill|without_skill)$"}
SCHEMAS: dict[str, Json] = {
    "evals.json": whole(
        skill_name=KEBAB,
        evals=some(
            whole(
                id={"type": "integer", "minimum": 1},
                prompt=TEXT,
                expected_output=TEXT,
                files=some(TEXT, 0),
            )
        ),
    ),
    "trigger_eval.json": some(whole(query=TEXT, should_trigger={"type": "boolean"})),
    "eval_metadata.json": whole(
        eval_id=COUNT,
        eval_name=TEXT,
        prompt=TEXT,
        assertions=some(whole(name=TEXT, description=TEXT)),
    ),
    "grading.json": whole(
        expectations=some(whole(text=TEXT, passed={"type": "boolean"}, evidence=TEXT))
    ),
    "timing.json": whole(total_tokens=COUNT, duration_ms=COUNT, total_duration_seconds=AMOUNT),
    "feedback.json": whole(
        reviews=some(whole(run_id=RUN_ID, feedback=TEXT, timestamp=TEXT), 0),
        status={"type": "string", "enum": ["in_progress", "complete"]},
    ),
    "benchmark.json": whole(
        skill_name=KEBAB,
        iteration={"type": "integer", "minimum": 1},
        summary=whole(
            pass_rate=whole(mean=RATE, stddev=AMOUNT),
            tokens=whole(mean=AMOUNT, stddev=AMOUNT),
            duration_seconds=whole(mean=AMOUNT, stddev=AMOUNT),
        ),
        eval_results=some(whole(eval_id=COUNT, with_skill=SIDE, baseline=SIDE)),
    ),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_migration_documents_keep_to_the_dialect(name: str):
    validator = jsonschema.Draft7Validator(SCHEMAS[name])
    for path in found(MIGRATIONS, f"**/{name}"):
        assert not [error.message for error in validator.iter_errors(load(path))]


def test_every_migration_document_has_a_schema():
    assert {path.name for path in found(MIGRATIONS, "**/*.json")} == SCHEMAS.keys()


def test_migration_ids_and_folders_match():
    suite = load(MIGRATIONS / "evals.json")["evals"]
    assert [one["id"] for one in suite] == [1, 2, 3]
    for iteration in (1, 2):
        for one in suite:
            for side in SIDES:
                folder = MIGRATIONS / f"iteration-{iteration}" / f"eval-{one['id'] - 1}" / side
                metadata = load(folder / "eval_metadata.json")
                assert metadata["eval_id"] == one["id"] - 1
                assert metadata["prompt"] == one["prompt"]
                texts = [row["text"] for row in load(folder / "grading.json")["expectations"]]
                assert texts == [row["description"] for row in metadata["assertions"]]
                assert list((folder / "outputs").iterdir())


@pytest.mark.parametrize("iteration", [1, 2])
def test_migration_benchmark_equals_its_runs(iteration: int):
    folder = MIGRATIONS / f"iteration-{iteration}"
    benchmark = load(folder / "benchmark.json")
    page = (folder / "benchmark.md").read_text(encoding="utf-8")
    assert benchmark["iteration"] == iteration
    for row in benchmark["eval_results"]:
        for side, configuration in zip(("with_skill", "baseline"), SIDES, strict=True):
            run = folder / f"eval-{row['eval_id']}" / configuration
            timing = load(run / "timing.json")
            assert row[side] == {
                "pass_rate": pytest.approx(share(load(run / "grading.json")), abs=1e-4),
                "tokens": timing["total_tokens"],
                "duration": timing["total_duration_seconds"],
            }
            assert f" {row[side]['tokens']} " in page
    figures = {"pass_rate": "pass_rate", "tokens": "tokens", "duration_seconds": "duration"}
    for stated, name in figures.items():
        values = [row["with_skill"][name] for row in benchmark["eval_results"]]
        assert benchmark["summary"][stated] == pytest.approx(
            {"mean": statistics.fmean(values), "stddev": statistics.stdev(values)}, abs=1e-4
        )


# ---- iterations-workspace ----


def test_table_suite_and_metadata_agree():
    suite = {one["id"]: one for one in load(TABLES / "evals.json")["evals"]}
    assert list(suite) == [0, 1, 2]
    for path in found(TABLES, "iteration-*/eval-*/eval_metadata.json"):
        metadata = load(path)
        assert path.parent.name == f"eval-{metadata['eval_id']}"
        for key in ("prompt", "assertions"):
            assert metadata[key] == suite[metadata["eval_id"]][key]
    types = {row["type"] for one in suite.values() for row in one["assertions"]}
    assert types == {"file_exists", "row_count", "contains_text", "csv_valid"}


@each(*found(TABLES, "iteration-*/eval-*/*/outputs/clean.csv"))
def test_verdicts_on_tables_are_true_of_them(path: Path):
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    metadata = load(path.parents[2] / "eval_metadata.json")
    verdicts_of = load(path.parents[1] / "grading.json")["expectations"]
    for row, verdict in zip(metadata["assertions"], verdicts_of, strict=True):
        assert verdict["text"] == row["description"]
        if row["type"] == "row_count":
            wanted = int(re.findall(r"\d+", row["description"])[0])
            assert verdict["passed"] == (len(rows) == wanted)
        elif row["type"] == "contains_text":
            day = re.findall(r"\d{4}-\d\d-\d\d", row["description"])[0]
            assert verdict["passed"] == (day in path.read_text(encoding="utf-8"))
        elif row["type"] == "csv_valid":
            assert verdict["passed"] == all(len(one) == len(header) for one in rows)
        else:
            assert verdict["passed"]


def test_table_benchmark_equals_its_runs():
    names = [one["name"] for one in load(TABLES / "evals.json")["evals"][0]["assertions"]]
    for stated in load(TABLES / "benchmark.json")["iterations"]:
        means: dict[str, dict[str, float]] = {}
        for configuration in stated["configurations"]:
            figures: dict[str, list[float]] = {"rate": [], "tokens": [], "seconds": []}
            for test in configuration["tests"]:
                of_eval = TABLES / f"iteration-{stated['iteration']}" / f"eval-{test['eval_id']}"
                run = of_eval / configuration["name"]
                grading, timing = load(run / "grading.json"), load(run / "timing.json")
                figures["rate"].append(share(grading))
                figures["tokens"].append(timing["total_tokens"])
                figures["seconds"].append(timing["total_duration_seconds"])
                passed = [one["passed"] for one in grading["expectations"]]
                assert test["assertions"] == [
                    {"name": name, "pass_rate": float(one), "details": f"passed {one:d}/1 runs"}
                    for name, one in zip(names, passed, strict=True)
                ]
                agree(test["tokens"], figures["tokens"][-1:])
                agree(test["duration_seconds"], figures["seconds"][-1:])
            mean = {name: statistics.fmean(values) for name, values in figures.items()}
            means[configuration["name"]] = mean
            assert configuration["overall"] == {
                "pass_rate": pytest.approx(mean["rate"], abs=1e-4),
                "avg_tokens": pytest.approx(mean["tokens"], abs=0.501),
                "avg_duration_seconds": pytest.approx(mean["seconds"], abs=0.0501),
            }
        check_printed(stated["deltas"], means["with_skill"], means["without_skill"])


def check_printed(deltas: Json, with_skill: dict[str, float], without: dict[str, float]) -> None:
    """The printed differences: with the skill minus without, share of the latter, its word."""
    rate = with_skill["rate"] - without["rate"]
    assert float(deltas["pass_rate_improvement"]) == pytest.approx(rate, abs=0.00501)
    for key, figure, step, words in (
        ("token_difference", "tokens", 1, ("more", "fewer")),
        ("duration_difference", "seconds", 0.1, ("slower", "faster")),
    ):
        printed = re.fullmatch(r"([+-][\d.]+)s? \(([\d.]+)% (\w+)\)", deltas[key])
        assert printed is not None
        difference = with_skill[figure] - without[figure]
        assert float(printed[1]) == pytest.approx(difference, abs=0.501 * step)
        share_of = 100 * abs(difference) / without[figure]
        assert float(printed[2]) == pytest.approx(share_of, abs=0.0501)
        assert printed[3] == words[difference < 0]


def test_the_optimisation_counts_whole_queries():
    queries = load(TABLES / "trigger-eval-set.json")
    result = load(TABLES / "optimization_result.json")
    held_out = len(queries) // 3
    for step in result["iterations"]:
        for score, of in (("train_score", len(queries) - held_out), ("test_score", held_out)):
            assert step[score] * of == pytest.approx(round(step[score] * of), abs=0.001)
    best = max(result["iterations"], key=lambda step: step["test_score"])
    assert result["best_score"] == best["test_score"]
    assert result["best_description"] == best["description"]


@each(*found(DATA, "**/trigger*.json"))
def test_trigger_sets_have_both_kinds_of_queries(path: Path):
    queries = load(path)
    assert Counter(one["should_trigger"] for one in queries)[True] == len(queries) / 2
    assert len({one["query"] for one in queries}) == len(queries)


# ---- demo-skill ----


def test_the_demo_skill_has_its_front_matter():
    _, front, body = (DEMO / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
    keys = dict(line.split(": ", 1) for line in front.splitlines())
    assert keys["name"] == load(DEMO / "evals/evals.json")["skill_name"] == "release-notes"
    assert len(keys["description"]) <= 1024
    assert body.strip()


def test_the_demo_suite_uses_every_kind_of_check():
    suite = load(DEMO / "evals/evals.json")
    assert suite["eval_config"].keys() == {
        "runs_per_eval",
        "structural_gate",
        "judge_model",
        "baseline_comparison",
    }
    assert [one["id"] for one in suite["evals"]] == [1, 2, 3, 4, 5, 6]
    rows = [row for one in suite["evals"] for row in one["structural_expectations"]]
    kinds = "file_exists file_contains file_not_contains no_errors file_count custom_script"
    assert {row["type"] for row in rows} == set(kinds.split())
    assert {"match", "match_any", "match_regex", "except_context"} <= {
        key for row in rows for key in row
    }
    for one in suite["evals"]:
        ids = [row["id"] for row in one["structural_expectations"]]
        assert ids == [f"S{n}" for n in range(1, len(ids) + 1)]
        assert any(row["critical"] for row in one["structural_expectations"])
        dimensions = one["quality_rubric"]["dimensions"]
        assert len(dimensions) == 4
        assert all(dimension["scoring"].keys() == {"1", "3", "5"} for dimension in dimensions)
    for row in rows:
        re.compile(row.get("match_regex", ""))
        shell = ["sh", "-n", "-c", row.get("script", "")]
        assert subprocess.run(shell, check=False).returncode == 0


def test_good_notes_pass_the_checks_of_the_demo_skill(tmp_path: Path):
    """The checks can be met: notes as `SKILL.md` asks for them pass those of eval 2."""
    suite = load(DEMO / "evals/evals.json")["evals"]
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    (tmp_path / "transcript.md").write_text("Wrote the notes.\n", encoding="utf-8")
    notes = outputs / "RELEASE_NOTES.md"
    good = (
        "# 3.0.0\n\n## Breaking changes\n\n- Settings are read from settings.toml. (#402)\n"
        "  To upgrade: copy them over.\n\n## New\n\n- Settings may be split. (#405)\n"
    )
    notes.write_text(good, encoding="utf-8")
    rows = [row for row in suite[1]["structural_expectations"] if "match" not in row]
    assert all(holds(row, tmp_path) for row in rows)
    _, breaking, new = good.split("## ")
    notes.write_text(f"# 3.0.0\n\n## {new}\n## {breaking}", encoding="utf-8")
    failed = [row["type"] for row in rows if not holds(row, tmp_path)]
    assert failed == ["custom_script"]
