"""From a comparison and its two sides to the question that an analyst is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from skill_eval_nb.documents import Comparison, dump
from skill_eval_nb.grading.judge import Case, Unjudged
from skill_eval_nb.grading.showing import Showing, show, uncovered
from skill_eval_nb.grading.showing.shares import cut, shares
from skill_eval_nb.grading.showing.transcripts import transcript_of
from skill_eval_nb.models.asking import Question

from .answers import Answer, read_answer
from .prompt import ASKED, CLOSE, NO_TRANSCRIPT, OPEN, OPENED, OTHER_ORDER, SKILL_FILE, SYSTEM, TASK
from .schema import SCHEMA
from .values import Analyst, Work

WHO = "the analyst"
"""What the model is called in reasons."""
SKILLS, VERDICTS = 3, 6
"""Of the room the skills may take one part in so many, and so may what was said."""
TOLD = ("winner", "reasoning", "key_differentiators", "rubric", "output_quality")
"""What is told of a comparison, besides the expectations."""


def question(
    analyst: Analyst, winner: Work, loser: Work, comparisons: Sequence[Comparison]
) -> Question[Answer]:
    """What is asked of a comparison; its key is a digest of all that is asked.

    Args:
        analyst: who is asked.
        winner: the side that won.
        loser: the other side.
        comparisons: the first one, of which the sides' letters are, and the one in the other
            order where there is one.

    Raises:
        Unjudged: the files of a run cannot be read.
    """
    asked = Question(
        key="",
        model=analyst.model,
        system=SYSTEM,
        content=tuple(_text(text) for text in _content(analyst, (winner, loser), comparisons)),
        schema=SCHEMA,
        read=read_answer,
        max_tokens=analyst.max_tokens,
        effort=analyst.effort,
        deadline=analyst.deadline,
        who=WHO,
    )
    told = json.dumps(asked.body(), sort_keys=True)
    return replace(asked, key=hashlib.sha256(told.encode()).hexdigest())


def _content(
    analyst: Analyst, sides: tuple[Work, Work], comparisons: Sequence[Comparison]
) -> Iterator[str]:
    """The texts of the request: task and verdict, then both sides, then what is asked."""
    skills = _skills(sides, analyst.shown_chars // SKILLS)
    said = [_said(one) for one in comparisons[:2]]
    said = [cut(text, analyst.shown_chars // VERDICTS // len(said))[0] for text in said]
    taken = sum(len(text) for own in skills for _, text in own) + sum(map(len, said))
    works = _works(sides, analyst.shown_chars - taken)
    nonce = _nonce(said, skills, works)
    winner, loser = sides
    yield TASK.format(
        nonce=nonce,
        winner=works[0].nonce,
        loser=works[1].nonce,
        prompt=winner.case.prompt,
        winner_letter=winner.letter,
        loser_letter=loser.letter,
        comparison=said[0],
    )
    if len(said) > 1:
        yield OTHER_ORDER.format(
            nonce=nonce,
            winner_letter=loser.letter,
            loser_letter=winner.letter,
            comparison=said[1],
        )
    for name, side, files, work in zip(("winner", "loser"), sides, skills, works, strict=True):
        yield _side(name, side, files, work, nonce)
    yield ASKED


def _side(
    name: str, side: Work, files: Sequence[tuple[str, str]], work: Showing, nonce: str
) -> str:
    parts = [OPEN.format(name=name, nonce=nonce, label=_line(side.label), skill=_line(side.skill))]
    parts += [
        SKILL_FILE.format(file=json.dumps(file), nonce=nonce, text=text) for file, text in files
    ]
    if side.case.transcript is None:
        parts.append(NO_TRANSCRIPT)
    else:
        parts.append(OPENED.format(calls=transcript_of(side.case.transcript).setup_calls))
    # Sides are no secret here: what was covered up for a judge is shown as it is.
    parts += [uncovered(one["text"], work.originals) for one in work.blocks]
    return "".join([*parts, CLOSE.format(nonce=nonce)])


def _skills(sides: Sequence[Work], room: int) -> list[list[tuple[str, str]]]:
    """The files of both skills, within room; SKILL.md comes first."""
    files = [(at, name, text) for at, side in enumerate(sides) for name, text in side.files]
    given = shares([len(text) for *_, text in files], room)
    found: list[list[tuple[str, str]]] = [[] for _ in sides]
    for (at, name, text), share in zip(files, given, strict=True):
        shown = cut(text, share)[0] or f"[{len(text):,} characters left out here]"
        found[at].append((name, shown))
    return found


def _works(sides: Sequence[Work], room: int) -> list[Showing]:
    """What each put out and how; each has half of the room."""
    try:
        return [_shown(side.case, room // 2) for side in sides]
    except OSError as error:
        raise Unjudged(f"the files cannot be read ({error.strerror or error})") from error


def _shown(case: Case, chars: int) -> Showing:
    return show(
        case.outputs,
        case.transcript,
        inputs=case.inputs,
        chars=chars,
        key=case.key,
        ignored=case.ignored,
        images=False,
    )


def _said(one: Comparison) -> str:
    """A comparator's verdict and reasons, and how it found the expectations."""
    raw = dump(one)
    told = {name: raw[name] for name in TOLD if raw.get(name)}
    checks = {
        side: {check.text: check.passed for check in results.details}
        for side, results in one.expectation_results.items()
    }
    told |= {"expectations_met": checks} if checks else {}
    return json.dumps(told, ensure_ascii=False, indent=1)


def _nonce(*texts: object) -> str:
    """Letters that follow from all that is shown, so that nobody who wrote it knew them."""
    return hashlib.sha256(repr(texts).encode("utf-8", "replace")).hexdigest()[:16]


def _line(text: str) -> str:
    return " ".join(text.split())


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
