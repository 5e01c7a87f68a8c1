"""The shared documents to the plain JSON values of a dialect's files."""

from __future__ import annotations

from typing import Any

import msgspec

from ..base import Document, Fault, Faults
from ..repair import mend
from .codingbuddy import CODINGBUDDY
from .iterations import ITERATIONS
from .reading import differences, read, written
from .recognition import NoSuchDocument, form_of, walk
from .skill_creator import SKILL_CREATOR
from .skill_evaluator import SKILL_EVALUATOR
from .test_cases import TEST_CASES

PATHS = {
    dialect.name: dialect.paths
    for dialect in (SKILL_CREATOR, SKILL_EVALUATOR, ITERATIONS, CODINGBUDDY, TEST_CASES)
}
"""Where the documents of each dialect lie."""


def write(kind: str, neutral: Any, dialect: str) -> tuple[Any, list[Fault]]:
    """Write a shared document as the plain JSON value that a dialect's file holds.

    Args:
        kind: one of the kinds of document.
        neutral: what `read` gives; for `benchmark` a list, one an iteration.
        dialect: the dialect to write.

    Returns:
        the value, and what the dialect cannot hold: each loss with its JSON path in the
        shared document. A loss is an error where the dialect demands something that is not
        known: it is then absent from the value, and never made up.

    Raises:
        NoSuchDocument: the dialect has no such document, or there is nothing to write.

    >>> from skill_eval_nb.documents import GradedExpectation, Grading
    >>> one = GradedExpectation(text="It runs", passed=True, confidence="high")
    >>> value, losses = write("grading", Grading(expectations=[one]), "codingbuddy")
    >>> value
    {'expectations': [{'text': 'It runs', 'passed': True, 'evidence': ''}]}
    >>> [(loss.where, loss.message) for loss in losses]
    [('$.expectations[0].confidence', 'left out: `codingbuddy` has no place for it')]
    """
    form = form_of(kind, dialect)
    losses = Faults()
    whole = neutral
    if kind == "benchmark" and not form.many:
        whole = _latest(neutral, dialect, losses)
    wire, faults = mend(form.to_wire(msgspec.to_builtins(whole)), form.wire)
    value = written(wire, faults)
    _report_missing(faults, dialect, losses)
    _report_unknown(neutral, dialect, losses)
    again, _ = read(kind, value, dialect)
    back = again if form.many or kind != "benchmark" else again[0]
    for where, what in differences(msgspec.to_builtins(whole), msgspec.to_builtins(back)):
        losses.add("warning", "loss", where, _sentence(where, what, dialect))
    return value, losses.collapsed()


def _sentence(where: str, what: str, dialect: str) -> str:
    if what != "left out":
        return what
    if where.endswith("]"):
        return f"`{dialect}` does not keep it apart: it is left out, or part of a mean"
    return f"left out: `{dialect}` has no place for it"


def _latest(benchmarks: list[Any], dialect: str, losses: Faults) -> Any:
    """The last iteration, for dialects whose file holds one."""
    if not benchmarks:
        raise NoSuchDocument(f"there is no iteration to write as a benchmark of `{dialect}`")
    for place in range(len(benchmarks) - 1):
        message = f"a benchmark of `{dialect}` holds one iteration; write this one to its own file"
        losses.add("warning", "loss", f"$[{place}]", message)
    return benchmarks[-1]


def _report_missing(faults: Faults, dialect: str, losses: Faults) -> None:
    for fault in faults:
        if fault.severity == "error":
            message = f"`{dialect}` demands more than is known: {fault.message}"
            losses.add("error", "incomplete", fault.where, message)


def _report_unknown(neutral: Any, dialect: str, losses: Faults) -> None:
    """Fields that no dialect knows stay behind when a document goes to another one."""
    for document in neutral if isinstance(neutral, list) else [neutral]:
        if isinstance(document, Document):
            for mark, where in walk(document):
                if mark == "unknown":
                    losses.add("info", "loss", where, f"left out: not a field that `{dialect}` has")
