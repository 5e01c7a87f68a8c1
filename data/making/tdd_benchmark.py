"""What tdd-workspace states of its runs: benchmark.json and eval_feedback_aggregate.json.

A run that timed out enters no figure and no list. A gated run has its structural pass rate, its
time and its tokens, and no rubric figures. Where an output was judged several times, the run's
scores are the means over its judgings.
"""

from __future__ import annotations

import statistics
from collections import Counter

from .benchmark import Columns, delta, graded, metadata, stated_run, summary_of
from .writing import CONFIGURATIONS, Json, pass_rate, stats


def benchmark(runs: list[Json], table: Json, timestamp: str) -> Json:
    """benchmark.json of one iteration."""
    finished = [run for run in runs if _is_finished(run)]
    columns = {side: _columns(finished, side, table["rubric"]) for side in CONFIGURATIONS}
    return {
        "metadata": metadata(table["skill"], finished, timestamp),
        "runs": [stated_run(run, _notes_on(run)) for run in finished],
        "run_summary": {
            **{side: _summary(columns[side], table["rubric"]) for side in CONFIGURATIONS},
            "delta": delta(*columns.values()),
        },
        "notes": _notes(runs, table),
    }


def mean_pass_rate(runs: list[Json], side: str) -> float:
    """The mean pass rate of a configuration's runs."""
    chosen = [run for run in runs if run["configuration"] == side and _is_finished(run)]
    return statistics.fmean(pass_rate(graded(run)) for run in chosen)


def suggestion_aggregate(iteration: int, runs: list[Json], table: Json) -> Json:
    """eval_feedback_aggregate.json: how many gradings made each suggestion."""
    gradings = [
        run["documents"]["grading.json"] for run in runs if "grading.json" in run["documents"]
    ]
    counted = Counter(
        suggestion["reason"]
        for grading in gradings
        for suggestion in grading.get("eval_feedback", {}).get("suggestions", ())
    )
    rows = {row["reason"]: row for row in table["suggestions"]}
    return {
        "skill_name": table["skill"],
        "iteration": iteration,
        "total_runs": len(gradings),
        "suggestions": [
            {
                "frequency": frequency,
                "assertion": rows[reason].get("assertion"),
                "reason": reason,
                "action": rows[reason]["action"],
            }
            for reason, frequency in counted.most_common()
        ],
    }


def _is_finished(run: Json) -> bool:
    return "structural.json" in run["documents"]


def _columns(runs: list[Json], side: str, rubric: list[Json]) -> Columns:
    """Each figure, and under their names the rubric dimensions."""
    columns: Columns = {"pass_rate": [], "rubric_normalized": [], "overall_efficiency": []}
    columns |= {name: [] for name in ("time_seconds", "tokens", *(row["name"] for row in rubric))}
    weights = [row["weight"] for row in rubric]
    for run in runs:
        if run["configuration"] != side:
            continue
        documents = run["documents"]
        quality = [pass_rate(documents["structural.json"])]
        columns["pass_rate"].append(pass_rate(graded(run)))
        columns["time_seconds"].append(documents["timing.json"]["total_duration_seconds"])
        columns["tokens"].append(documents["timing.json"]["total_tokens"])
        if "grading.json" in documents:
            scores = [_score(documents, row["name"]) for row in rubric]
            for row, score in zip(rubric, scores, strict=True):
                columns[row["name"]].append(score)
            quality.append(statistics.fmean(scores, weights) / 5)
            columns["rubric_normalized"].append(quality[-1])
        columns["overall_efficiency"].append(statistics.fmean(quality))
    return columns


def _score(documents: Json, dimension: str) -> float:
    """A run's score on a dimension, over its judgings."""
    judgings = [one for name, one in documents.items() if name.startswith("judgings/")]
    judgings = judgings or [documents["grading.json"]]
    return statistics.fmean(one["rubric_scores"][dimension]["score"] for one in judgings)


def _summary(columns: Columns, rubric: list[Json]) -> Json:
    efficiency = columns["overall_efficiency"]
    spread = statistics.stdev(efficiency) / statistics.fmean(efficiency)
    return {
        **summary_of(columns),
        "consistency": round(1 - spread, 4),
        "rubric_dimensions": {row["name"]: stats(columns[row["name"]]) for row in rubric},
    }


def _notes_on(run: Json) -> list[str]:
    return [] if "grading.json" in run["documents"] else ["Gate failed: the judge was skipped"]


def _notes(runs: list[Json], table: Json) -> list[str]:
    notes: list[str] = []
    for run in runs:
        where = f"{run['eval_name']}, {run['configuration']}, run {run['run_number']}"
        if not _is_finished(run):
            notes.append(f"{where}: timed out, enters no figure")
        elif "grading.json" not in run["documents"]:
            notes.append(f"{where}: gate failed, its pass rate is that of the structural checks")
    with_baseline = {run["eval_id"] for run in runs if run["configuration"] == "without_skill"}
    return notes + [
        f"{task['name']}: no baseline runs, so it moves the mean of one side only"
        for task in table["evals"]
        if task["id"] not in with_baseline
    ]
