"""comparison-1.json and analysis.json of skill-creator-workspace: two outputs, compared blind."""

from __future__ import annotations

import statistics

from .model import normal
from .writing import Files, Json, as_json


def comparison_files(folder: str, gradings: Json, table: Json) -> Files:
    """The comparison of two graded outputs, `A` and `B`, and what an analyst makes of it."""
    rubric = {side: _side(side, one, table["comparison"]) for side, one in gradings.items()}
    winner = max("AB", key=lambda side: rubric[side]["overall_score"])
    comparison = _comparison(gradings, rubric, winner)
    return {
        f"{folder}/comparison-1.json": as_json(comparison),
        f"{folder}/analysis.json": as_json(_analysis(comparison, table)),
    }


def _side(side: str, grading: Json, plan: Json) -> Json:
    """Scores near 2 for an output that fails everything, near 5 for one that passes all."""
    near = 2 + 3 * grading["summary"]["pass_rate"]
    scored = {
        group: {
            criterion: min(5, max(1, round(near + normal(0.5, side, criterion))))
            for criterion in plan[group]
        }
        for group in ("content", "structure")
    }
    means = {group: round(statistics.fmean(of.values()), 1) for group, of in scored.items()}
    return {
        **scored,
        "content_score": means["content"],
        "structure_score": means["structure"],
        "overall_score": round(means["content"] + means["structure"], 1),
    }


def _comparison(gradings: Json, rubric: Json, winner: str) -> Json:
    counts = {side: grading["summary"] for side, grading in gradings.items()}
    loser = "B" if winner == "A" else "A"
    return {
        "winner": winner,
        "reasoning": (
            f"Output {winner} meets {counts[winner]['passed']} of {counts[winner]['total']} "
            f"expectations and scores {rubric[winner]['overall_score']}; output {loser} meets "
            f"{counts[loser]['passed']} and scores {rubric[loser]['overall_score']}."
        ),
        "rubric": rubric,
        "output_quality": {
            side: {
                "score": round(rubric[side]["overall_score"]),
                "strengths": [one["text"] for one in grading["expectations"] if one["passed"]],
                "weaknesses": [
                    one["evidence"] for one in grading["expectations"] if not one["passed"]
                ],
            }
            for side, grading in gradings.items()
        },
        "expectation_results": {
            side: {
                **{key: counts[side][key] for key in ("passed", "total", "pass_rate")},
                "details": [
                    {"text": one["text"], "passed": one["passed"]}
                    for one in grading["expectations"]
                ],
            }
            for side, grading in gradings.items()
        },
    }


def _analysis(comparison: Json, table: Json) -> Json:
    winner = comparison["winner"]
    loser = "B" if winner == "A" else "A"
    skills = {"A": f"skills/{table['skill']}", "B": "none (without_skill)"}
    quality = comparison["output_quality"]
    return {
        "comparison_summary": {
            "winner": winner,
            "winner_skill": skills[winner],
            "loser_skill": skills[loser],
            "comparator_reasoning": comparison["reasoning"],
        },
        "winner_strengths": quality[winner]["strengths"],
        "loser_weaknesses": quality[loser]["weaknesses"],
        "instruction_following": {
            "winner": {"score": 9, "issues": quality[winner]["weaknesses"]},
            "loser": {"score": 5, "issues": quality[loser]["weaknesses"]},
        },
        "improvement_suggestions": table["improvements"],
        "transcript_insights": {
            "winner_execution_pattern": "Opened the skill, read the notes, wrote the minutes",
            "loser_execution_pattern": "Read the notes, wrote the minutes",
        },
    }
