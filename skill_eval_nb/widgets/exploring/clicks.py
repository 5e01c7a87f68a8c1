"""From a click to what it selects, each in words that stand behind the number of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .selection import Selection, numbered
from .words import called, iteration_name, quoted


def of_iteration(iteration: str) -> Selection:
    """All runs of an iteration."""
    said = f"those of {iteration_name(iteration)} that are compared"
    return Selection(("verdict", iteration), said, iteration=iteration)


def of_eval(iteration: str, eval_id: str, name: str) -> Selection:
    """The runs of an eval, of both sides."""
    return Selection(
        ("evals", iteration, eval_id, name),
        f"eval {quoted(name)}{_in(iteration)}",
        iteration=iteration,
        eval_id=eval_id,
    )


def of_runs(
    iteration: str, eval_id: str, name: str, configuration: str, numbers: tuple[int, ...]
) -> Selection:
    """Runs of an eval under a configuration; all of them where no number is given."""
    which = f", {numbered(numbers)}" if numbers else ""
    return Selection(
        ("evals", iteration, eval_id, name),
        f"eval {quoted(name)}, {called(configuration, 40)}{which}{_in(iteration)}",
        iteration=iteration,
        eval_id=eval_id,
        configuration=configuration,
        numbers=numbers,
    )


def of_dimension(iteration: str, dimension: str, configuration: str | None) -> Selection:
    """The runs that were scored on a dimension."""
    return Selection(
        ("dimensions", iteration, dimension),
        f"{_who(configuration)}scored on {quoted(dimension)}{_in(iteration)}",
        iteration=iteration,
        dimension=dimension,
        configuration=configuration,
    )


def of_check(iteration: str, layer: str, text: str, configuration: str | None) -> Selection:
    """The runs that were checked for an expectation."""
    return Selection(
        ("checks", iteration, layer, text),
        f"{_who(configuration)}checked for {quoted(text)}{_in(iteration)}",
        iteration=iteration,
        check=(layer, text),
        configuration=configuration,
    )


def of_note(iteration: str, number: int, note: Mapping[str, Any]) -> Selection:
    """The runs that a note is about: those that it names, else those of its evals."""
    return Selection(
        ("notes", iteration, str(number)),
        f"what the note {quoted(note['kind'])} is about{_in(iteration)}",
        iteration=iteration,
        names=tuple(note["runs"]),
        evals=() if note["runs"] else tuple(note["evals"]),
    )


def of_problem(number: int, problem: Mapping[str, Any]) -> Selection:
    """The runs that a problem touches, whatever iterations are chosen."""
    said = f"what the problem {quoted(problem['code'])} is about, in any iteration"
    return Selection(("problems", str(number)), said, path=problem["path"])


def _who(configuration: str | None) -> str:
    return "" if configuration is None else f"{called(configuration, 40)}, "


def _in(iteration: str) -> str:
    return "" if iteration == "none" else f", {iteration_name(iteration)}"
