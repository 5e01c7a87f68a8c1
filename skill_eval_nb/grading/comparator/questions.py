"""From two works to the question that a comparator is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skill_eval_nb.grading.judge.prompt import EXPECTED
from skill_eval_nb.grading.settings import look_at
from skill_eval_nb.grading.showing import SHOWN_CHARS
from skill_eval_nb.models.asking import Question

from .answers import Answer, read_answer
from .preparing import Prepared
from .prompt import CLOSE, OPEN, SYSTEM, TASK, asked
from .schema import SCHEMA

WHO = "the comparator"
"""What the model is called in reasons."""


@dataclass(frozen=True, slots=True)
class Comparator:
    """Who compares, and how.

    Args:
        model: the model's name.
        shown_chars: the most characters that are shown of both works together.
        images: whether pictures may go as pictures; not where the model's API refuses them.
        max_tokens: the most tokens of one answer.
        effort: how much the model is to think, where it takes such a setting.
        deadline: seconds that one call may take, with all its retries.

    Raises:
        ValueError: a figure that makes no sense.
    """

    model: str
    shown_chars: int = SHOWN_CHARS
    images: bool = True
    max_tokens: int = 8192
    effort: str | None = None
    deadline: float = 600.0

    def __post_init__(self) -> None:
        """Look at the figures before money is spent on them."""
        look_at(self, "a comparator", shown_chars=4000)


def question(
    comparator: Comparator, prepared: Prepared, key: str, *, swapped: bool = False
) -> Question[Answer]:
    """What is asked of two works.

    Args:
        comparator: who is asked.
        prepared: the two works.
        key: an opaque name of the question; it is sent, so it must give nothing away.
        swapped: whether the second of them is A and stands first.
    """
    n_expectations, n_criteria = len(prepared.expectations), len(prepared.criteria)

    def read(raw: Any) -> Answer:
        return read_answer(raw, n_expectations, n_criteria)

    return Question(
        key=key,
        model=comparator.model,
        system=SYSTEM,
        content=tuple(_content(prepared, swapped)),
        schema=SCHEMA,
        read=read,
        max_tokens=comparator.max_tokens,
        effort=comparator.effort,
        deadline=comparator.deadline,
        who=WHO,
    )


def _content(prepared: Prepared, swapped: bool) -> Iterator[dict[str, Any]]:
    order = prepared.showings[::-1] if swapped else prepared.showings
    nonce = prepared.nonce
    head = TASK.format(nonce=nonce, a=order[0].nonce, b=order[1].nonce, prompt=prepared.prompt)
    if prepared.expected:
        head += EXPECTED.format(nonce=nonce, expected=prepared.expected)
    yield _text(head)
    for side, showing in zip("AB", order, strict=True):
        yield _text(OPEN.format(side=side, nonce=showing.nonce))
        yield from showing.blocks
        yield _text(CLOSE.format(nonce=showing.nonce))
    yield _text(asked(prepared.criteria, prepared.expectations))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
