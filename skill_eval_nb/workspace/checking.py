"""Check files, or whole workspaces, against what a dialect prescribes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skill_eval_nb.documents import Faults
from skill_eval_nb.documents.dialects import DIALECTS, NoSuchDocument, kind_of, read
from skill_eval_nb.documents.dialects import check as check_document

from .finding import find
from .layout import Layout, RunPlace
from .places import Place
from .problems import Problems
from .reading import load_raw
from .references import check_references

ENOUGH = 200
"""So many documents tell the dialect of a workspace."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A document with its file, its place, its raw value and its shared form."""

    kind: str
    path: str
    place: Place
    raw: Any
    document: Any


def check(path: str | os.PathLike[str], dialect: str | None = None) -> Problems:
    """Every fault of a file or of all documents of a workspace, with file and JSON path.

    Args:
        path: a file or a folder.
        dialect: what to check against; found out from the documents where it is not given.

    Returns:
        the problems: what each document breaks of the dialect's rules, and what the
        documents say of each other that does not hold (ids, folders, run ids of feedback).

    Raises:
        FileNotFoundError, NothingToLoad: as `load`.
        NoSuchDocument: there is no such dialect.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise NoSuchDocument(f"there is no dialect `{dialect}`; there are {', '.join(DIALECTS)}")
    found = find(path)
    problems = found.problems
    documents = list(each_document(found.layout, problems))
    against = (
        dict.fromkeys((one.kind for one in documents), dialect) if dialect else nearest(documents)
    )
    for one in documents:
        problems.add_faults(one.path, _faults(one, against[one.kind]).collapsed())
    check_references(documents, dialect or _main(against), problems)
    for name in dict.fromkeys(against.values()):
        kinds = ", ".join(kind for kind, of in against.items() if of == name)
        what = f"checked against `{name}`" if name else "not of any dialect's"
        problems.add("info", "dialect", found.base, f"{what}: {kinds}")
    return problems


def _faults(one: Checked, dialect: str | None) -> Faults:
    """What a document breaks of its dialect's rules; of the common ones, where it has none."""
    if dialect is None or one.kind not in DIALECTS[dialect]:
        return read(one.kind, one.raw)[1]
    return check_document(one.kind, one.raw, dialect)


def nearest(documents: list[Checked]) -> dict[str, str | None]:
    """For each kind of document the dialect in which these have the fewest errors.

    Where several have equally few, the one that suits all the documents best counts. A
    kind that the main dialect lacks is of no dialect where it suits none.
    """
    errors: dict[str, Counter[str]] = {}
    for one in documents[:: max(1, len(documents) // ENOUGH)]:
        having = [name for name, forms in DIALECTS.items() if one.kind in forms]
        counts = errors.setdefault(one.kind, Counter(dict.fromkeys(having, 0)))
        for name in having:
            faults = check_document(one.kind, one.raw, name)
            counts[name] += sum(fault.severity == "error" for fault in faults)
    overall = {name: sum(counts.get(name, 1) for counts in errors.values()) for name in DIALECTS}
    best = {
        kind: min(counts, key=lambda name: (counts[name], overall[name]), default=None)
        for kind, counts in errors.items()
    }
    main = _main(best)
    for kind, name in best.items():
        foreign = main is not None and kind not in DIALECTS[main]
        if name is not None and foreign and errors[kind][name]:
            best[kind] = None
    return {one.kind: best.get(one.kind) for one in documents}


def _main(against: dict[str, str | None]) -> str | None:
    """The dialect of most kinds of document."""
    counts = Counter(name for name in against.values() if name)
    return counts.most_common(1)[0][0] if counts else None


def each_document(layout: Layout, problems: Problems) -> Iterator[Checked]:
    """All documents of a layout, those of the runs first."""
    for run in layout.runs:
        for kind, path in _of_run(run):
            yield from _read(kind, path, run.place, problems)
    for file in layout.files:
        yield from _read(None, file.path, file.place, problems)


def _of_run(run: RunPlace) -> Iterator[tuple[str, str]]:
    if run.grading is not None:
        yield "grading", run.grading
    for kind in ("grading", "structural", "timing", "metrics"):
        if f"{kind}.json" in run.files:
            yield kind, f"{run.path}/{kind}.json"
    inside = f"{run.path}/outputs/metrics.json"
    if run.has_outputs and os.path.isfile(inside):
        yield "metrics", inside


def _read(kind: str | None, path: str, place: Place, problems: Problems) -> Iterator[Checked]:
    raw = load_raw(path, problems)
    if raw is None:
        return
    kind = kind or kind_of(os.path.basename(path), raw)
    if kind is None:
        problems.add("info", "not-a-document", path, "not checked: it is none of the documents")
        return
    yield Checked(kind, path, place, raw, read(kind, raw)[0])
