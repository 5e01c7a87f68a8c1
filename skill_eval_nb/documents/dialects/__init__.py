"""The dialects: one module each, and what reads, writes, recognises and checks them all.

A dialect's module holds nothing but facts: a `Dialect`, with the form in which it writes each
kind of document that it has, and where they lie.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from ..base import Document, Fault, Faults, at_default, attach, origin_of, struct_fields
from ..repair import mend, unused
from ..results import Benchmark, RunResult
from .codingbuddy import CODINGBUDDY
from .form import Form
from .home_made import HOME_MADE, read_home_made
from .iterations import ITERATIONS
from .recognition import (
    DIALECTS,
    NEUTRAL,
    NoSuchDocument,
    form_of,
    is_foreign,
    kind_of,
    recognise,
    sample,
    walk,
)
from .skill_creator import SKILL_CREATOR
from .skill_evaluator import SKILL_EVALUATOR
from .test_cases import TEST_CASES

__all__ = [
    "DIALECTS",
    "NEUTRAL",
    "PATHS",
    "NoSuchDocument",
    "Source",
    "check",
    "form_of",
    "is_foreign",
    "kind_of",
    "read",
    "recognise",
    "sample",
    "source_of",
    "write",
]


ROUNDING = 0.0101
"""How far a rate may be from its counts: rates are often printed with two digits."""


def contradictions(benchmark: Benchmark, where: str, faults: Faults) -> None:
    """Add a fault for each run whose pass rate and counts contradict each other."""
    for index, run in enumerate(benchmark.runs):
        if run.result is not None:
            place = f"{where}.runs[{index}].result"
            for message in _of(run.result):
                faults.add("warning", "contradiction", place, message)
        verdicts = [
            expectation.passed for expectation in run.expectations if expectation.passed is not None
        ]
        if run.result is not None and run.result.passed is not None and verdicts:
            passed = sum(verdicts)
            if passed != run.result.passed and len(verdicts) == len(run.expectations):
                message = f"passed is {run.result.passed}, but {passed} expectations passed"
                faults.add("warning", "contradiction", f"{where}.runs[{index}]", message)


def _of(result: RunResult) -> list[str]:
    passed, failed, total = result.passed, result.failed, result.total
    sentences = []
    if passed is not None and total is not None and passed > total:
        sentences.append(f"{passed} passed of only {total}")
    scored = passed + failed if passed is not None and failed is not None else total
    if total is not None and scored is not None and scored > total:
        sentences.append(f"{passed} passed and {failed} failed, but {total} in all")
    if passed is not None and scored and result.pass_rate is not None and passed <= scored:
        shares = {passed / scored, passed / total if total else passed / scored}
        if all(abs(result.pass_rate - share) > ROUNDING for share in shares):
            sentences.append(f"pass_rate is {result.pass_rate:g}, but {passed} of {scored} passed")
    return sentences


_IDENTITY = (
    "eval_id",
    "test_case_id",
    "configuration",
    "iteration",
    "run_id",
    "version",
    "query",
    "id",
    "name",
    "text",
    "prompt",
)
"""Keys that tell the elements of a list apart."""


def differences(before: Any, after: Any, where: str = "$") -> Iterator[tuple[str, str]]:
    """Each place where `before` has something that `after` lacks or has otherwise.

    Gives its JSON path in `before`, and what became of it. What only `after` has is no
    difference.

    >>> list(differences({"a": 1, "b": [{"id": 1}, {"id": 2}]}, {"a": 2, "b": [{"id": 2}]}))
    [('$.a', '1 became 2'), ('$.b[0]', 'left out')]
    """
    if _is_empty(before):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key, item in before.items():
            if not _is_empty(item) and key not in after:
                yield f"{where}.{key}", "left out"
            else:
                yield from differences(item, after.get(key), f"{where}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        for index, (item, other) in enumerate(pairs(before, after)):
            if other is NOTHING:
                yield f"{where}[{index}]", "left out"
            else:
                yield from differences(item, other, f"{where}[{index}]")
    elif after is None:
        yield where, "left out"
    elif not _alike(before, after):
        yield where, f"{_show(before)} became {_show(after)}"


NOTHING: Any = object()
"""The partner of an element that has none."""


def pairs(before: list[Any], after: list[Any]) -> list[tuple[Any, Any]]:
    """Each element of `before` with the one of `after` that is the same thing, or `NOTHING`.

    Objects are matched by the names and ids that both lists have, other elements by place.
    """
    shared = [
        key
        for key in _IDENTITY
        if all(isinstance(item, dict) and key in item for item in [*before, *after])
    ]
    if not shared or not after:
        return [
            (item, after[index] if index < len(after) else NOTHING)
            for index, item in enumerate(before)
        ]
    waiting: dict[tuple[str, ...], list[Any]] = {}
    for item in reversed(after):
        waiting.setdefault(tuple(str(item[key]) for key in shared), []).append(item)
    found = []
    for item in before:
        same = waiting.get(tuple(str(item[key]) for key in shared))
        found.append((item, same.pop() if same else NOTHING))
    if all(partner is NOTHING for _, partner in found) and len(before) == len(after):
        return list(zip(before, after, strict=True))  # the names themselves were changed
    return found


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)


def _alike(value: Any, other: Any) -> bool:
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, float) and isinstance(other, float):
        return math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12)
    return value == other or (not isinstance(value, (dict, list)) and str(value) == str(other))


def _show(value: Any) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else text[:57] + "…"


_ABSENT = ("missing", "wrong-type")


def written(document: Document, faults: Faults) -> Any:
    """The fields of a document that `mend` made, in the document's order.

    Fields that the type does not know are left out, and so are those that there was nothing
    usable for (`faults` of the same `mend` say which): a required figure that is not known
    is absent, never 0.
    """
    empty = {fault.where for fault in faults if fault.code in _ABSENT}
    return _plain(document, "$", empty)


def _plain(value: Any, where: str, empty: set[str]) -> Any:
    if isinstance(value, list):
        return [_plain(item, f"{where}[{index}]", empty) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _plain(item, f"{where}.{key}", empty) for key, item in value.items()}
    if not isinstance(value, Document):
        return value
    origin = origin_of(value)
    names = {} if origin is None else {name: key for key, name in origin.keys.items()}
    out = {}
    bare = origin is not None and not isinstance(origin.raw, dict)
    for field in struct_fields(type(value)):
        name, item = field.encode_name, getattr(value, field.name)
        place = where if bare else f"{where}.{names.get(name, name)}"
        if place in empty or (name not in names and at_default(item, field)):
            continue
        out[name] = _plain(item, place, empty)
    return out.get(value.plain) if bare else out


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document came from: its dialect, its kind and the file's plain JSON value."""

    dialect: str
    kind: str
    raw: Any


def read(kind: str, raw: Any, dialect: str | None = None) -> tuple[Any, Faults]:
    """Read a plain JSON value as the shared document of its kind.

    Args:
        kind: one of the kinds of document.
        raw: what the file holds.
        dialect: how it is written; found out where it is not given.

    Returns:
        the shared document (for `benchmark` a list of them, one an iteration), and what was
        wrong or worth knowing. A field under a name by which it is known is no fault.

    Raises:
        NoSuchDocument: there is no such kind or dialect.

    >>> grading, faults = read("grading", {"assertions": [{"assertion": "Fits", "result": "pass"}],
    ...                                    "test_case_id": "t1"})
    >>> grading.expectations[0].passed, grading.eval_id, faults
    (True, 't1', [])
    """
    dialect = dialect or recognise(kind, raw)
    if dialect == HOME_MADE:
        documents, faults = read_home_made(kind, raw, NEUTRAL[kind])
    else:
        form = form_of(kind, dialect)
        reader = _as_it_is if form.to_neutral is None else _converted
        documents, faults = reader(kind, raw, form)
    faults = faults.remarkable()
    for document in documents:
        attach(document, "source", Source(dialect, kind, raw))
    if kind == "benchmark":
        for place, document in enumerate(documents):
            assert isinstance(document, Benchmark)
            contradictions(document, f"$[{place}]" if len(documents) > 1 else "$", faults)
        return documents, faults
    return documents[0], faults


def check(kind: str, raw: Any, dialect: str | None = None) -> Faults:
    """Everything in which a document differs from what its dialect prescribes.

    >>> [fault.message for fault in check("timing", {"total_tokens": -1}, "codingbuddy")][:2]
    ['expected a whole number of at least 0, found -1', '`duration_ms` is missing']
    """
    dialect = dialect or recognise(kind, raw)
    if dialect == HOME_MADE:
        faults = read(kind, raw, dialect)[1]
        faults.add("error", "no-dialect", "$", f"this is not the `{kind}` document of any dialect")
        return faults
    return mend(raw, form_of(kind, dialect).wire)[1]


def source_of(document: Any) -> Source | None:
    """Where a document (or a list of benchmarks) was read from, if it was read here."""
    found = document if isinstance(document, list) else [document]
    sources = (vars(part).get("source") for part in found if isinstance(part, Document))
    return next((source for source in sources if source is not None), None)


def _as_it_is(kind: str, raw: Any, _: Form) -> tuple[list[Any], Faults]:
    """The shared type reads the file itself."""
    document, faults = mend(raw, NEUTRAL[kind])
    faults.extend(unused(document))
    return [document], faults


def _converted(kind: str, raw: Any, form: Form) -> tuple[list[Any], Faults]:
    """The dialect's own type reads the file, and is then converted."""
    assert form.to_neutral is not None
    wire, faults = mend(raw, form.wire)
    plain = written(wire, faults)
    converted = form.to_neutral(plain)
    shared = converted if form.many else [converted]
    documents = [mend(plain, NEUTRAL[kind])[0] for plain in shared]
    again = form.to_wire(msgspec.to_builtins(documents if form.many else documents[0]))
    for where, _ in differences(plain, again):
        faults.add("info", "not-kept", where, "only this dialect has it; it is not in the tables")
    faults.extend(unused(wire))
    return documents, faults


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
    for fault in faults:
        if fault.severity == "error":
            message = f"`{dialect}` demands more than is known: {fault.message}"
            losses.add("error", "incomplete", fault.where, message)
    for document in neutral if isinstance(neutral, list) else [neutral]:
        for mark, where in walk(document):
            if mark == "unknown":
                losses.add("info", "loss", where, f"left out: not a field that `{dialect}` has")
    again, _ = read(kind, value, dialect)
    back = again if form.many or kind != "benchmark" else again[0]
    apart = f"`{dialect}` does not keep it apart: it is left out, or part of a mean"
    for where, what in differences(msgspec.to_builtins(whole), msgspec.to_builtins(back)):
        gone = apart if where.endswith("]") else f"left out: `{dialect}` has no place for it"
        losses.add("warning", "loss", where, gone if what == "left out" else what)
    return value, losses.collapsed()


def _latest(benchmarks: list[Any], dialect: str, losses: Faults) -> Any:
    """The last iteration, for dialects whose file holds one."""
    if not benchmarks:
        raise NoSuchDocument(f"there is no iteration to write as a benchmark of `{dialect}`")
    for place in range(len(benchmarks) - 1):
        message = f"a benchmark of `{dialect}` holds one iteration; write this one to its own file"
        losses.add("warning", "loss", f"$[{place}]", message)
    return benchmarks[-1]
