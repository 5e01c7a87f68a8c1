"""Plain JSON values to the shared documents, whatever the dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from ..benchmark import Benchmark
from ..document import Document, attach
from ..faults import Faults
from ..tolerant import mend
from ..unused import unused
from .comparing import differences
from .contradictions import contradictions
from .kinds import NEUTRAL
from .recognising import documented, form_of, recognise
from .wild import WILD, read_wild
from .wire import Form
from .written import written


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
        wrong or worth knowing. What the dialect itself prescribes is no fault.

    Raises:
        NoSuchDocument: there is no such kind or dialect.

    >>> grading, faults = read("grading", {"assertions": [{"assertion": "Fits", "result": "pass"}],
    ...                                    "test_case_id": "t1"})
    >>> grading.expectations[0].passed, grading.eval_id, faults
    (True, 't1', [])
    """
    dialect = dialect or recognise(kind, raw)
    if dialect == WILD:
        documents, faults = read_wild(kind, raw)
    else:
        form = form_of(kind, dialect)
        reader = _as_it_is if form.to_neutral is None else _converted
        documents, faults = reader(kind, raw, form)
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
    if dialect == WILD:
        faults = read(kind, raw, dialect)[1]
        faults.add("error", "no-dialect", "$", f"this is not the `{kind}` document of any dialect")
        return faults
    return mend(raw, form_of(kind, dialect).wire)[1]


def source_of(document: Any) -> Source | None:
    """Where a document (or a list of benchmarks) was read from, if it was read here."""
    found = document if isinstance(document, list) else [document]
    sources = (vars(one).get("source") for one in found if isinstance(one, Document))
    return next((source for source in sources if source is not None), None)


def _as_it_is(kind: str, raw: Any, form: Form) -> tuple[list[Any], Faults]:
    """The shared type reads the file itself; what the dialect prescribes is taken as read."""
    document, faults = mend(raw, NEUTRAL[kind])
    told = ("other-name", "converted", "inline")
    if any(fault.code in told for fault in faults):
        fine, _ = documented(raw, form.wire)
        faults = Faults(
            fault for fault in faults if fault.code not in told or fault.where not in fine
        )
    faults.extend(unused(document))
    return [document], faults


def _converted(kind: str, raw: Any, form: Form) -> tuple[list[Any], Faults]:
    """The dialect's own type reads the file, and is then converted."""
    assert form.to_neutral is not None
    wire, faults = mend(raw, form.wire)
    plain = written(wire, faults)
    converted = form.to_neutral(plain)
    shared = converted if form.many else [converted]
    documents = [mend(one, NEUTRAL[kind])[0] for one in shared]
    again = form.to_wire(msgspec.to_builtins(documents if form.many else documents[0]))
    for where, _ in differences(plain, again):
        faults.add("info", "not-kept", where, "only this dialect has it; it is not in the tables")
    faults.extend(unused(wire))
    return documents, faults
