"""Read the documents of a workspace besides its runs, each by what its content says it is."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from skill_eval_nb.documents import Benchmark, EvalMetadata, Evals, Expectation
from skill_eval_nb.documents.dialects import kind_of, read

from .identity import EvalFolder, folder_of
from .layout import FilePlace
from .names import UNSTATED
from .places import Place
from .problems import Problems
from .reading import decoder, load_raw, read_bytes


@dataclass(slots=True)
class Suite:
    """An eval suite: its file, the workspace that it defines the evals of, what it says."""

    path: str
    workspace: str
    document: Evals


@dataclass(slots=True)
class Files:
    """The documents besides the runs, with where each lies."""

    metadata: dict[EvalFolder, EvalMetadata] = field(default_factory=dict)
    metadata_places: list[Place] = field(default_factory=list)
    suites: list[Suite] = field(default_factory=list)
    benchmarks: list[tuple[FilePlace, list[Benchmark]]] = field(default_factory=list)
    others: list[tuple[str, FilePlace, Any]] = field(default_factory=list)


TELLING = re.compile(
    r"eval|benchmark|grading|feedback|history|comparison|analysis|trigger|optimi[sz]|result|test.?case",
    re.IGNORECASE,
)
"""Names of JSON files that promise to tell about evals."""


def read_files(files: list[FilePlace], problems: Problems) -> Files:
    """Read them all, whatever they are called.

    A JSON file that is none of the documents is a problem of severity info where its name
    promises one; others have nothing to do with evals.
    """
    found = Files()
    for file in files:
        name = os.path.basename(file.path)
        metadata = _strict_metadata(file.path) if name == "eval_metadata.json" else None
        if metadata is not None:
            _add_metadata(file, metadata, found, problems)
            continue
        raw = load_raw(file.path, problems)
        if raw is None:
            continue
        kind = kind_of(name, raw)
        if kind is None:
            if TELLING.search(name):
                problems.add("info", "not-a-document", file.path, _unknown(raw))
            continue
        document, faults = read(kind, raw)
        problems.add_faults(file.path, faults.collapsed())
        _add(kind, file, document, found, problems)
    return found


class _Texts(msgspec.Struct, forbid_unknown_fields=True):
    """Metadata whose assertions are plain texts."""

    eval_id: str | int
    eval_name: str | None = None
    prompt: str | None = None
    assertions: list[str] = []


_TEXTS = msgspec.json.Decoder(_Texts)


def _strict_metadata(path: str) -> EvalMetadata | None:
    """The commonest file, in the forms that the documents give it; None for any other."""
    try:
        data = read_bytes(path)
    except OSError:
        return None
    try:
        document = decoder(EvalMetadata).decode(data)
    except ValueError:  # not this form, or not UTF-8
        try:
            plain = _TEXTS.decode(data)
        except ValueError:
            return None
        texts = [Expectation(text=text) for text in plain.assertions]
        return EvalMetadata(plain.eval_id, plain.eval_name, plain.prompt, texts)
    return document if document.eval_id is not None else None


def _add(kind: str, file: FilePlace, document: Any, found: Files, problems: Problems) -> None:
    if kind == "eval_metadata":
        if file.place.eval == UNSTATED:
            name = os.path.basename(os.path.dirname(file.path))
            file = FilePlace(file.path, replace(file.place, eval=name))
        _add_metadata(file, document, found, problems)
    elif kind == "evals":
        found.suites.append(Suite(file.path, file.place.workspace, document))
    elif kind == "benchmark":
        found.benchmarks.append((file, document))
    elif kind in ("grading", "structural", "timing", "metrics"):
        problems.add(
            "warning",
            "above-runs",
            file.path,
            f"a {kind} document that lies above the runs; the runs below it have their own, "
            "so it was not counted",
        )
    else:
        found.others.append((kind, file, document))


def _add_metadata(
    file: FilePlace, document: EvalMetadata, found: Files, problems: Problems
) -> None:
    """The metadata in the eval's own folder counts before that of a single run."""
    folder = folder_of(file.place)
    found.metadata_places.append(file.place)
    known = found.metadata.setdefault(folder, document)
    if known is not document and str(known.eval_id) != str(document.eval_id):
        problems.add(
            "warning",
            "disagree",
            file.path,
            f"eval id {document.eval_id!r}, but the same eval's metadata elsewhere says {known.eval_id!r}, "
            "which was used",
            where="$.eval_id",
        )


def _unknown(raw: Any) -> str:
    what = (
        f"an object with {', '.join(list(raw)[:5])}"
        if isinstance(raw, dict) and raw
        else type(raw).__name__
    )
    return f"not read: {what} is none of the known documents"
