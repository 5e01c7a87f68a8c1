"""Who analyses a comparison, and what is known of its two sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skill_eval_nb.grading.judge import Case
from skill_eval_nb.grading.settings import look_at
from skill_eval_nb.grading.showing import SHOWN_CHARS


@dataclass(frozen=True, slots=True)
class Analyst:
    """Who analyses, and how.

    Args:
        model: the model's name.
        shown_chars: the most characters that are shown of both skills and works together.
        max_tokens: the most tokens of one answer.
        effort: how much the model is to think, where it takes such a setting.
        deadline: seconds that one call may take, with all its retries.

    Raises:
        ValueError: a figure that makes no sense.
    """

    model: str
    shown_chars: int = SHOWN_CHARS
    max_tokens: int = 8192
    effort: str | None = None
    deadline: float = 600.0

    def __post_init__(self) -> None:
        """Look at the figures before money is spent on them."""
        look_at(self, "an analyst", shown_chars=6000)


@dataclass(frozen=True, slots=True)
class Work:
    """One side of a comparison, with its name.

    Args:
        label: what it is called, as `with_skill of iteration-2`.
        letter: A or B: what the comparator called it.
        case: the run.
        skill: which version of the skill it had, or why there is none to show.
        files: name and text of the files of that version, SKILL.md first.
    """

    label: str
    letter: str
    case: Case
    skill: str
    files: Sequence[tuple[str, str]] = ()
