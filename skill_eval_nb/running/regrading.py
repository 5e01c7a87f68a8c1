"""What judgings a stored run has, and its grading.json made anew from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import msgspec

from skill_eval_nb.disk import leads_out, read_bytes
from skill_eval_nb.documents import (
    Dimension,
    Document,
    Expectation,
    Faults,
    Grading,
    Judging,
    Metrics,
    NotJSON,
    RubricScore,
    Structural,
    Timing,
    dump,
    mend,
    parse,
    to_json,
)
from skill_eval_nb.documents.run import STRUCTURAL
from skill_eval_nb.grading import grade
from skill_eval_nb.workspace import write_atomic

D = TypeVar("D", bound=Document)

_MADE = (
    "expectations summary rubric_scores rubric_summary claims user_notes_summary eval_feedback "
    "judge_model timestamp"
).split()
"""The fields of a grading that are made from judgings; its others stay as they are."""

_SAME = 0.051
"""Scores that differ by less are the same: some tools round to one place."""


@dataclass(frozen=True, slots=True)
class ExistingGrades:
    """The judgings that a run has, by their numbers, and its grading.

    Attributes:
        folder: the run's folder.
        judgings: by number; from `judgings/N.json`, or the grading itself as the first.
        grading: as it was found; None where there is none.
        preserve: the judging that has to be written before the grading is made anew, since
            what it holds stands in the grading alone.
        keep: why grading.json is not to be made anew; None where it is.
    """

    folder: Path
    judgings: dict[int, Judging]
    grading: Grading | None
    preserve: int | None = None
    keep: str | None = None

    @property
    def last(self) -> int:
        """The highest number of a judging; 0 where there is none."""
        return max(self.judgings, default=0)


class UnreadableGrading(ValueError):
    """A document that is needed cannot be read; the message says which and why."""


def judged(folder: Path) -> ExistingGrades:
    """The judgings of a run.

    Raises:
        Unreadable: a judging or the grading cannot be read, so nothing of it must be lost.
    """
    for name in ("judgings", "grading.json", "timing.json"):  # what will be written
        if fault := leads_out(folder / name, folder):
            raise UnreadableGrading(f"{folder / name} cannot be written: {fault}")
    judgings = dict(_numbered(folder / "judgings"))
    timing = document(folder / "timing.json", Timing)
    places = [folder / "grading.json"]
    if timing is None or timing.executor is None:  # else what lies there is the agent's alone
        places.append(folder / "outputs" / "grading.json")
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        return ExistingGrades(folder, judgings, None)
    grading, faults = _read(found, Grading, folder)
    if grading.layer == STRUCTURAL:  # no judge's: what is judged now takes its place
        return ExistingGrades(folder, judgings, None)
    useless = not grading.expectations and not grading.rubric_scores
    if useless and any(fault.severity == "error" for fault in faults):
        reason = f"{found.name} is no grading of this run alone; it was left as it is"
        return ExistingGrades(folder, judgings, grading, keep=reason)
    if not judgings:
        return ExistingGrades(folder, {1: _as_judging(grading)}, grading, preserve=1)
    return _beside(folder, judgings, grading)


def _numbered(folder: Path) -> list[tuple[int, Judging]]:
    found = []
    for path in folder.glob("*.json") if folder.is_dir() else ():
        judging, _ = _read(path, Judging, folder.parent)
        number = int(path.stem) if path.stem.isdecimal() else judging.judging
        if number is None:
            raise UnreadableGrading(f"{path} has no number: call it 1.json, 2.json, …")
        found.append((number, judging))
    return sorted(found, key=lambda pair: pair[0])


def _beside(folder: Path, judgings: dict[int, Judging], grading: Grading) -> ExistingGrades:
    """A grading that lies beside judgings: is it made of them?"""
    source = _source(grading, judgings)
    if source is None and grading.rubric_scores:
        reason = "grading.json is not made from the judgings beside it; it was left as it is"
        return ExistingGrades(folder, judgings, grading, keep=reason)
    if not grading.expectations or any(judging.expectations for judging in judgings.values()):
        return ExistingGrades(folder, judgings, grading)
    # Verdicts that stand in the grading alone are those of the judging whose scores it shows.
    number = source or min(judgings)
    judgings[number].expectations = list(grading.expectations)
    return ExistingGrades(folder, judgings, grading, preserve=number)


def _source(grading: Grading, judgings: dict[int, Judging]) -> int | None:
    """The judging whose scores a grading shows; the first where it shows a mean; else None."""
    for number, judging in judgings.items():
        if _same(grading.rubric_scores, [judging]):
            return number
    every = list(judgings.values())
    for many in range(2, len(every) + 1):
        if _same(grading.rubric_scores, every[:many]):
            return min(judgings)
    return None


def _same(scores: dict[str, RubricScore], judgings: Sequence[Judging]) -> bool:
    names = {name for judging in judgings for name in judging.rubric_scores}
    if not scores or set(scores) != names:
        return False
    for name, stated in scores.items():
        given = [
            judging.rubric_scores[name].score
            for judging in judgings
            if name in judging.rubric_scores
        ]
        known = [score for score in given if score is not None]
        if (stated.score is None) != (not known):
            return False
        if known and abs((stated.score or 0) - fmean(known)) > _SAME:
            return False
    return True


def _as_judging(grading: Grading) -> Judging:
    """A grading as the one judging that it is."""
    noted = grading.timing
    return Judging(
        judging=1,
        judge_model=grading.judge_model,
        rubric_scores=dict(grading.rubric_scores),
        rubric_summary=grading.rubric_summary,
        expectations=list(grading.expectations),
        claims=list(grading.claims),
        user_notes_summary=grading.user_notes_summary,
        eval_feedback=grading.eval_feedback,
        seconds=noted.grader_duration_seconds if noted is not None else None,
        timestamp=grading.timestamp,
    )


def preserve(before: ExistingGrades) -> None:
    """Keep as a judging what stands in the grading alone, before that is changed.

    Raises:
        OSError: it cannot be written.
    """
    if before.preserve is not None and before.keep is None:
        number = before.preserve
        write_judging(before.folder, number, before.judgings[number])


def write_judging(folder: Path, number: int, judging: Judging) -> Path:
    """Write judgings/N.json.

    Raises:
        OSError: it cannot be written.
    """
    path = folder / "judgings" / f"{number}.json"
    return write_atomic(path, to_json(dump(judging)), root=folder)


def regrade(
    before: ExistingGrades,
    new: dict[int, Judging],
    expectations: Sequence[Expectation],
    dimensions: Sequence[Dimension],
) -> None:
    """Make grading.json anew from the judgings there were and the new ones.

    Fields that are not made from judgings stay as they were, as do those that we do not know.

    Raises:
        OSError: it cannot be written.
        Unreadable: a document beside it cannot be read.
    """
    if before.keep is not None or not new:
        return
    folder = before.folder
    every = {**before.judgings, **new}
    new_grading = grade(
        document(folder / "structural.json", Structural),
        [aligned(every[number], expectations) for number in sorted(every)],
        document(folder / "metrics.json", Metrics),
        document(folder / "timing.json", Timing),
        dimensions=dimensions,
    )
    grading = before.grading
    if grading is None:
        grading = new_grading
    else:
        for name in _MADE:
            value = getattr(new_grading, name)
            if value is not None or name in ("rubric_summary", "summary"):
                setattr(grading, name, value)
        _take_times(grading, new_grading)
    write_atomic(folder / "grading.json", to_json(dump(grading)))


def _take_times(grading: Grading, new_grading: Grading) -> None:
    """The judge's time; what else a grading says of the run's time and tokens stays."""
    if grading.timing is None:
        grading.timing = new_grading.timing
    elif new_grading.timing is not None and new_grading.timing.grader_duration_seconds is not None:
        grader = grading.timing.grader_duration_seconds = new_grading.timing.grader_duration_seconds
        executor = new_grading.timing.executor_duration_seconds
        if grading.timing.total_duration_seconds is not None and executor is not None:
            grading.timing.total_duration_seconds = round(executor + grader, 3)


def heal(folder: Path) -> None:
    """Take back that a run is errored, where it was for want of a judging only.

    Raises:
        OSError: it cannot be written.
        Unreadable: timing.json cannot be read.
    """
    timing = document(folder / "timing.json", Timing)
    if timing is not None and (timing.reason or "").startswith("judge:"):
        timing.status, timing.reason = "done", None
        write_atomic(folder / "timing.json", to_json(dump(timing)))


def aligned(judging: Judging, expectations: Sequence[Expectation]) -> Judging:
    """A judging whose verdicts have the suite's words, so that votes are counted together.

    A verdict belongs to an expectation by its id, else by its text, else (where there are as
    many of them) by its place.
    """
    by_id = {
        expectation.id: expectation for expectation in expectations if expectation.id is not None
    }
    by_text = {_plain(expectation.text): expectation for expectation in expectations}
    known = [
        (by_id.get(expectation.id) if expectation.id is not None else None)
        or by_text.get(_plain(expectation.text))
        for expectation in judging.expectations
    ]
    if not any(known) and len(known) == len(expectations):
        known = list(expectations)
    return msgspec.structs.replace(
        judging,
        expectations=[
            verdict
            if wanted is None
            else msgspec.structs.replace(verdict, text=wanted.text, id=wanted.id)
            for verdict, wanted in zip(judging.expectations, known, strict=True)
        ],
    )


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def document(path: Path, kind: type[D]) -> D | None:
    """A document beside a run's others; None where there is none.

    Raises:
        Unreadable: there is one, and it cannot be read.
    """
    return _read(path, kind, path.parent)[0] if path.is_file() else None


def _read(path: Path, kind: type[D], run: Path) -> tuple[D, Any]:
    try:
        raw = parse(read_bytes(path, run), Faults())
    except (NotJSON, OSError) as error:
        raise UnreadableGrading(
            f"{path} cannot be read ({error}); mend or remove it first"
        ) from error
    return mend(raw, kind)
