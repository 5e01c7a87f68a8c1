"""What the dialect `codingbuddy` prescribes of folders and of documents among each other."""

from __future__ import annotations

import os
from collections.abc import Iterable

from skill_eval_nb.documents.dialects import source_of

from .gathering import Gathered
from .names import NO_ITERATION, UNSTATED, natural
from .places import Place
from .problems import Problems
from .references import STRICT, Whole

SIDES = ("with_skill", "without_skill")
AT_THE_ROOT = ("evals", "triggers")
IN_AN_ITERATION = ("benchmark", "feedback")


def check_layout(whole: Whole, folder: str, problems: Problems) -> None:
    """Report what is not where it belongs, or not there at all.

    Eval N of the suite has the folder eval-(N-1) in every iteration, with metadata for both
    sides; verdicts are on the assertions of this metadata; the benchmark is of the
    iteration that it lies in.
    """
    suites = list(whole.of("evals"))
    metadata = {(one.place, os.path.dirname(one.path)): one for one in whole.of("eval_metadata")}
    described = {one.place for one in metadata.values()}
    for suite in suites:
        _check_folders(suite, whole, described, problems)
    if suites:
        _check_strangers(suites, whole, problems)
    for one in whole.of("grading"):
        about = metadata.get((one.place, os.path.dirname(one.path)))
        if about is not None:
            _check_verdicts(one, about, problems)
    for one in whole.of("benchmark"):
        _check_benchmark(one, suites, whole, problems)
    _check_places(whole, folder, problems)


def is_kept(whole: Whole, main: str | None) -> bool:
    """Whether a workspace is written like this; `main` is the dialect that suits it best.

    A benchmark of this dialect is like no other; metadata for each side is less telling.
    """
    benchmarks = (source_of(one.document) for one in whole.of("benchmark"))
    return any(source is not None and source.dialect == STRICT for source in benchmarks) or (
        main == STRICT
        and any(one.place.configuration in SIDES for one in whole.of("eval_metadata"))
    )


def _iterations(whole: Whole) -> list[str]:
    return sorted({run.place.iteration for run in whole.runs}, key=natural)


def _check_folders(
    suite: Gathered, whole: Whole, described: set[Place], problems: Problems
) -> None:
    for iteration in _iterations(whole):
        for position, one in enumerate(suite.document.evals):
            if not isinstance(one.id, int) or one.id < 1:
                continue
            name = f"eval-{one.id - 1}"
            for side in SIDES:
                if Place(suite.place.workspace, iteration, name, side) not in described:
                    message = (
                        f"eval {one.id} wants {iteration}/{name}/{side}/eval_metadata.json, "
                        "which is not there"
                    )
                    where = f"$.evals[{position}]"
                    problems.add("error", "missing-folder", suite.path, message, where=where)


def _check_strangers(suites: Iterable[Gathered], whole: Whole, problems: Problems) -> None:
    """Every eval folder belongs to an eval of the suite."""
    known = {
        f"eval-{one.id - 1}"
        for suite in suites
        for one in suite.document.evals
        if isinstance(one.id, int)
    }
    told: set[tuple[str, str]] = set()
    for run in whole.runs:
        at = (run.place.iteration, run.place.eval)
        if run.place.eval != UNSTATED and run.place.eval not in known and at not in told:
            told.add(at)
            message = (
                f"{run.place.eval} belongs to no eval of evals.json (eval-N is that of id N+1)"
            )
            problems.add("error", "unknown-eval", os.path.dirname(run.path), message)


def _check_verdicts(grading: Gathered, about: Gathered, problems: Problems) -> None:
    asserted = [one.text for one in about.document.assertions]
    graded = [one.text for one in grading.document.expectations]
    for position, text in enumerate(graded):
        if text not in asserted:
            message = "eval_metadata.json has no assertion with this description"
            where = f"$.expectations[{position}].text"
            problems.add("warning", "unknown-expectation", grading.path, message, where=where)
    for position, text in enumerate(asserted):
        if text not in graded:
            message = f"grading.json has no verdict on {text!r}"
            where = f"$.assertions[{position}].description"
            problems.add("warning", "ungraded-assertion", about.path, message, where=where)


def _check_benchmark(
    one: Gathered, suites: list[Gathered], whole: Whole, problems: Problems
) -> None:
    for document in one.document:
        metadata = document.metadata
        iteration = f"iteration-{metadata.iteration}"
        if one.place.iteration not in (NO_ITERATION, iteration):
            message = (
                f"iteration is {metadata.iteration}, but the file lies in {one.place.iteration}"
            )
            problems.add("error", "other-iteration", one.path, message, where="$.iteration")
        names = {suite.document.skill_name for suite in suites}
        if names and metadata.skill_name not in names:
            told = ", ".join(map(str, names))
            message = f"skill_name is {metadata.skill_name}, but evals.json says {told}"
            problems.add("error", "other-skill", one.path, message, where="$.skill_name")
        folders = {
            run.place.eval for run in whole.runs if run.place.iteration == one.place.iteration
        }
        stated = dict.fromkeys(str(run.eval_id) for run in document.runs)
        for position, id_ in enumerate(stated):
            if folders and f"eval-{id_}" not in folders:
                message = f"eval_id is {id_}, but {one.place.iteration} has no eval-{id_}"
                where = f"$.eval_results[{position}].eval_id"
                problems.add("error", "unknown-eval", one.path, message, where=where)


def _check_places(whole: Whole, folder: str, problems: Problems) -> None:
    for one in whole.documents:
        if one.kind in AT_THE_ROOT and os.path.dirname(one.path) != folder:
            message = f"it belongs into {folder}"
            problems.add("warning", "misplaced", one.path, message)
        elif one.kind in IN_AN_ITERATION and one.place.iteration == NO_ITERATION:
            message = "it belongs into the folder of its iteration: iteration-1, …"
            problems.add("warning", "misplaced", one.path, message)
