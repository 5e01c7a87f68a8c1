"""What documents say of each other: ids, folders, prompts, and the run ids of feedback."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from skill_eval_nb.documents import EvalMetadata, Evals, Feedback

from .names import UNSTATED, eval_parts, is_configuration, slug
from .problems import Problems

if TYPE_CHECKING:
    from .checking import Checked

COUNTS_FROM_ONE = "codingbuddy"
"""The dialect whose suite counts evals from 1 and whose folders count them from 0."""

SIDES = ("with_skill", "without_skill")


def check_references(documents: Iterable[Checked], dialect: str | None, problems: Problems) -> None:
    """Report what the documents of a workspace say of each other and what does not hold."""
    documents = list(documents)
    offset = -1 if dialect == COUNTS_FROM_ONE else 0
    metadata = [one for one in documents if one.kind == "eval_metadata"]
    for one in documents:
        if one.kind == "evals":
            _check_ids(one, problems)
            _check_folders(one, documents, offset, dialect, problems)
            _check_prompts(one, metadata, offset, problems)
        elif one.kind == "eval_metadata":
            _check_folder_number(one, problems)
        elif one.kind == "feedback":
            _check_run_ids(one, documents, problems)
        elif one.kind == "grading":
            _check_texts(one, metadata, dialect, problems)


def _check_ids(one: Checked, problems: Problems) -> None:
    suite: Evals = one.document
    counts = Counter(str(eval_.id) for eval_ in suite.evals if eval_.id is not None)
    for id_, count in counts.items():
        if count > 1:
            problems.add(
                "error",
                "duplicate-id",
                one.path,
                f"{count} evals have the id {id_}; give each its own",
                where="$.evals[*].id",
            )


def _check_folders(
    one: Checked, documents: list[Checked], offset: int, dialect: str | None, problems: Problems
) -> None:
    """Each eval of the suite has its folder, with both sides, in each iteration."""
    suite: Evals = one.document
    home = os.path.dirname(one.path)
    below = [other for other in documents if other.path.startswith(f"{home}/")]
    for iteration in sorted(
        {other.place.iteration for other in below if other.place.eval != UNSTATED}
    ):
        there = {
            (eval_parts(other.place.eval)[0] or slug(other.place.eval), other.place.configuration)
            for other in below
            if other.place.iteration == iteration
        }
        sides = (
            SIDES
            if dialect == COUNTS_FROM_ONE
            else sorted({side for _, side in there} - {UNSTATED})
        )
        for position, eval_ in enumerate(suite.evals):
            names = {_folder_number(eval_.id, offset), slug(eval_.name or "")}
            missing = [side for side in sides if not any((name, side) in there for name in names)]
            if missing:
                strict = dialect == COUNTS_FROM_ONE
                problems.add(
                    "error" if strict else "info",
                    "missing-runs",
                    one.path,
                    f"eval {eval_.id} has no {' and no '.join(missing)} in {iteration} "
                    f"(looked for eval-{_folder_number(eval_.id, offset)})",
                    where=f"$.evals[{position}]",
                )


def _folder_number(id_: str | int | None, offset: int) -> str:
    text = str(id_)
    return str(int(text) + offset) if text.isdecimal() else slug(text)


def _check_prompts(one: Checked, metadata: list[Checked], offset: int, problems: Problems) -> None:
    """The prompt that an eval was run with is the suite's."""
    suite: Evals = one.document
    prompts = {_folder_number(eval_.id, offset): eval_.prompt for eval_ in suite.evals}
    home = os.path.dirname(one.path)
    for other in metadata:
        described: EvalMetadata = other.document
        prompt = prompts.get(str(described.eval_id))
        within = other.path.startswith(f"{home}/")
        if within and prompt and described.prompt and prompt.strip() != described.prompt.strip():
            problems.add(
                "warning",
                "other-prompt",
                other.path,
                f"its prompt is not the one that {os.path.basename(one.path)} has for this eval",
                where="$.prompt",
            )


def _check_folder_number(one: Checked, problems: Problems) -> None:
    described: EvalMetadata = one.document
    number, _ = eval_parts(one.place.eval)
    if number is not None and described.eval_id is not None and str(described.eval_id) != number:
        problems.add(
            "error",
            "other-id",
            one.path,
            f"eval_id is {described.eval_id}, but its folder is {one.place.eval}",
            where="$.eval_id",
        )


def _check_run_ids(one: Checked, documents: list[Checked], problems: Problems) -> None:
    """Each run id of feedback names a run of its iteration: `eval-<id>-<configuration>`."""
    feedback: Feedback = one.document
    known: set[str] = set()
    for other in documents:
        place = other.place
        here = (place.workspace, place.iteration) == (one.place.workspace, one.place.iteration)
        if here and place.configuration != UNSTATED:
            number, name = eval_parts(place.eval)
            known |= {
                f"{text}-{place.configuration}" for text in (place.eval, f"eval-{number}", name)
            }
    for position, review in enumerate(feedback.reviews):
        run_id = review.run_id
        if run_id not in known and not any(run_id.startswith(f"{one}-run-") for one in known):
            problems.add(
                "error",
                "unknown-run",
                one.path,
                f"run id {run_id!r} names no run of {one.place.iteration}",
                where=f"$.reviews[{position}].run_id",
            )


def _check_texts(
    one: Checked, metadata: list[Checked], dialect: str | None, problems: Problems
) -> None:
    """In `codingbuddy`, the verdicts are on the assertions of the eval's metadata."""
    if dialect != COUNTS_FROM_ONE or not is_configuration(one.place.configuration):
        return
    described = next((other.document for other in metadata if other.place == one.place), None)
    if described is None:
        return
    known = {assertion.text for assertion in described.assertions}
    for position, graded in enumerate(one.document.expectations):
        if known and graded.text not in known:
            problems.add(
                "warning",
                "unknown-expectation",
                one.path,
                "the eval's metadata has no assertion with this description",
                where=f"$.expectations[{position}].text",
            )
