"""What a judge is, what it is given to judge, and how it says that it could not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skill_eval_nb.documents import Dimension, Expectation
from skill_eval_nb.grading.settings import look_at
from skill_eval_nb.grading.showing.rule import SHOWN_CHARS

WHO = "the judge model"
"""What the model is called in reasons."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Who judges, and how.

    Args:
        model: the model's name.
        judgings: how often each run is judged.
        per_dimension: one call a dimension (and one for the expectations) instead of one call
            for everything: dearer, and no score is coloured by the one before it.
        shown_chars: the most characters of outputs and transcript that are shown.
        max_tokens: the most tokens of one answer.
        effort: how much the model is to think, where it takes such a setting.
        deadline: seconds that one call may take, with all its retries.

    Raises:
        ValueError: a figure that makes no sense.
    """

    model: str
    judgings: int = 1
    per_dimension: bool = False
    shown_chars: int = SHOWN_CHARS
    max_tokens: int = 8192
    effort: str | None = None
    deadline: float = 600.0

    def __post_init__(self) -> None:
        """Look at the figures before money is spent on them."""
        look_at(self, "a judge", judgings=1, shown_chars=2000)


@dataclass(frozen=True, slots=True)
class Case:
    """One run's output, and what it is judged by.

    Args:
        prompt: the task that the executor was given.
        expected_output: what success looks like, in the suite's words.
        expectations: what the judge is to verify.
        dimensions: the rubric; each is scored from 1 to 5.
        outputs: the folder of the output files.
        transcript: what the executor did, as `transcript.jsonl` or as text.
        key: an opaque id of the run; the orders and the fence are drawn from it.
        inputs: the folder of the files that the executor was given and left unchanged; it need
            not exist.
        hidden: names of skills, the same for every side: covered where they are spoken of as
            skills.
        configurations: names of configurations: covered where they are whole words.
        ignored: files directly in `outputs` that the executor did not put out.
    """

    prompt: str
    expected_output: str | None
    expectations: Sequence[Expectation]
    dimensions: Sequence[Dimension]
    outputs: Path
    transcript: Path | None
    key: str
    inputs: Path | None = None
    hidden: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


class Unjudged(Exception):
    """There is no judging, and `reason` says why: never a score in its place."""

    def __init__(self, reason: str) -> None:
        """Keep the reason apart from the exception's own form."""
        super().__init__(reason)
        self.reason = reason


def same_model(judge: Judge | str, executor_model: str | None) -> str | None:
    """What to tell the user where the judge would judge its own work; else None.

    >>> same_model(Judge("model-b"), "model-a") is None
    True
    >>> print(same_model("model-a", "model-a"))
    judge and executor are the same model (model-a): models favour their own work, so the scores
    may be too high on both sides; choose another judge_model
    """
    model = judge if isinstance(judge, str) else judge.model
    if not executor_model or model.lower() != executor_model.lower():
        return None
    return (
        f"judge and executor are the same model ({model}): models favour their own work, so the "
        "scores may be too high on both sides; choose another judge_model"
    )
