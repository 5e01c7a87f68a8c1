"""Turn a workspace of one dialect into one of another, and say what the target cannot hold."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from skill_eval_nb.documents.dialects import DIALECTS, NoSuchDocument, write
from skill_eval_nb.documents.encoding import to_json

from .catalogue import Catalogue, catalogue
from .checking import each_document
from .files import Files, read_files
from .finding import PathLike, find
from .homes import HOMES, Home
from .identity import EvalKey
from .layout import Layout, RunPlace
from .names import NO_ITERATION, UNSTATED, eval_parts, natural, slug
from .places import Place
from .problems import Problems
from .write import write_atomic


class Piece(NamedTuple):
    """A document on its way: its kind, where it was, its shared form, its path's names."""

    kind: str
    source: str
    document: Any
    names: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written, and what the target cannot hold (a problem each)."""

    written: list[Path]
    losses: Problems


def convert(path: PathLike, to: str, out: PathLike) -> Converted:
    """Write the documents below `path` into the folder `out`, in the dialect `to`.

    Files that a run has put out are copied. Several workspaces get a folder each. What the
    target cannot hold (documents, configurations, further runs, single fields) is told,
    never silently left out; nothing below `path` is changed.

    Raises:
        FileNotFoundError, NothingToLoad: as `load`.
        FileExistsError: `out` exists and is not empty.
        NoSuchDocument: there is no such dialect.
    """
    if to not in DIALECTS:
        raise NoSuchDocument(f"there is no dialect `{to}`; there are {', '.join(DIALECTS)}")
    target = Path(out)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileExistsError(f"{target} exists and is not empty; give a new folder")
    found = find(path)
    files = read_files(found.layout.files, found.problems)
    who = catalogue(found.layout, files, found.base, found.problems)
    losses = Problems(one for one in found.problems if one.severity != "info")
    written: list[Path] = []
    for folder, (name, _) in who.names.items():
        below = target / name if len(who.names) > 1 else target
        pieces = list(_pieces(folder, found.layout, files, who, HOMES[to], to, losses))
        written += _write(pieces, HOMES[to], to, below, losses)
        _copy_outputs(folder, found.layout, who, HOMES[to], below)
    return Converted(written, _together(losses))


def _pieces(
    folder: str,
    layout: Layout,
    files: Files,
    who: Catalogue,
    home: Home,
    to: str,
    losses: Problems,
) -> Iterator[Piece]:
    """The documents of a workspace, with ids as the target numbers them."""
    numbering = _numbering(folder, who, home)
    yield from _suite(folder, files, who, numbering)
    runs = [run for run in layout.runs if run.place.workspace == folder]
    for one in each_document(Layout(runs), Problems()):
        run = next(run for run in runs if one.path.startswith(run.path) or one.path == run.grading)
        names = _run_names(run, who, numbering, home, losses)
        if names is not None:
            yield Piece(one.kind, one.path, one.document, names)
    for place, described in _metadata(folder, files, runs):
        key = who.eval_of(place)
        document = _with(described, eval_id=numbering[key].in_folders)
        for configuration in _sides(place, runs, home):
            names = _place_names(place, who, numbering, home) | {"configuration": configuration}
            yield Piece("eval_metadata", place.eval, document, names)
    yield from _benchmarks(folder, who, numbering, to)
    counts: Counter[str] = Counter()
    for kind, file, document in files.others:
        if file.place.workspace == folder:
            counts[kind] += 1
            names = {"iteration": _iteration(file.place), "number": counts[kind]}
            if kind == "feedback":
                document = _renamed_feedback(document, file.place, who, numbering)
            yield Piece(kind, file.path, document, names)


class Number(NamedTuple):
    """The ids of an eval in the target."""

    in_suite: str | int
    in_folders: str | int


def _numbering(folder: str, who: Catalogue, home: Home) -> dict[EvalKey, Number]:
    keys = [one.key for one in who.seen.get(folder, [])]
    keys += [key for workspace, key, _ in who.definitions if workspace == folder]
    for one in who.benchmarks:
        if one.place.workspace == folder:
            keys += [
                EvalKey(str(run.eval_id), run.eval_name or str(run.eval_id))
                for run in one.document.runs
                if who.index.find(folder, one.iteration, str(run.eval_id), run.eval_name) is None
            ]
    ordered = sorted(dict.fromkeys(keys), key=lambda key: natural(key.id))
    ids = list(dict.fromkeys(key.id for key in ordered))
    return {
        key: Number(
            _id(key.id) if home.first_in_suite is None else home.first_in_suite + ids.index(key.id),
            _id(key.id)
            if home.first_in_folders is None
            else home.first_in_folders + ids.index(key.id),
        )
        for key in ordered
    }


def _id(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _suite(
    folder: str, files: Files, who: Catalogue, numbering: dict[EvalKey, Number]
) -> Iterator[Piece]:
    suites = [suite for suite in files.suites if suite.workspace == folder]
    keys = {id(definition): key for _, key, definition in who.definitions}
    for number, suite in enumerate(suites, 1):
        evals = [_with(one, id=numbering[keys[id(one)]].in_suite) for one in suite.document.evals]
        document = _with(suite.document, evals=evals)
        yield Piece("evals", suite.path, document, {"number": number})


def _metadata(folder: str, files: Files, runs: list[RunPlace]) -> Iterator[tuple[Place, Any]]:
    for eval_folder, described in files.metadata.items():
        if eval_folder.workspace == folder:
            yield Place(folder, eval_folder.iteration, eval_folder.folder), described


def _sides(place: Place, runs: list[RunPlace], home: Home) -> list[str]:
    """The configurations that an eval's metadata is written for; one where it stands above them."""
    if "{configuration}" not in home.paths.get("eval_metadata", ""):
        return [UNSTATED]
    there = {
        run.place.configuration
        for run in runs
        if (run.place.iteration, run.place.eval) == (place.iteration, place.eval)
    }
    return [side for side in home.sides or sorted(there) if side in there]


def _run_names(
    run: RunPlace, who: Catalogue, numbering: dict[EvalKey, Number], home: Home, losses: Problems
) -> dict[str, Any] | None:
    """The names in a run's paths, or None for a run that the target cannot hold."""
    side = run.place.configuration
    if home.sides is not None and side not in home.sides:
        known = " and ".join(home.sides)
        losses.add("warning", "loss", run.path, f"left out: runs of {side}; there is only {known}")
        return None
    if not home.runs and run.number != 1:
        losses.add("warning", "loss", run.path, "left out: a side has one run only")
        return None
    return _place_names(run.place, who, numbering, home) | {
        "configuration": side,
        "run": run.number,
    }


def _place_names(
    place: Place, who: Catalogue, numbering: dict[EvalKey, Number], home: Home
) -> dict[str, Any]:
    key = who.eval_of(place)
    id_ = numbering[key].in_folders
    name = slug(eval_parts(key.name)[1])
    folder = home.eval_folder.format(id=id_, slug=name).rstrip("-")
    if str(id_) == name or slug(str(id_)) == name:
        folder = home.eval_folder.format(id=id_, slug="").rstrip("-")
    return {"iteration": _iteration(place), "eval": _safe(folder), "id": _safe(str(id_))}


def _iteration(place: Place) -> str:
    return "iteration-1" if place.iteration == NO_ITERATION else place.iteration


def _safe(name: str) -> str:
    """A name that is one folder's name."""
    return re.sub(r"[\\/\x00-\x1f]", "-", name) or "-"


def _benchmarks(
    folder: str, who: Catalogue, numbering: dict[EvalKey, Number], to: str
) -> Iterator[Piece]:
    """The benchmarks: one an iteration, or one for all where the target's file holds many."""
    renumbered = []
    for one in who.benchmarks:
        if one.place.workspace != folder:
            continue
        runs = []
        for run in one.document.runs:
            id_ = str(run.eval_id)
            key = who.index.find(folder, one.iteration, id_, run.eval_name)
            key = key or EvalKey(id_, run.eval_name or id_)
            runs.append(_with(run, eval_id=numbering[key].in_folders, eval_name=key.name))
        metadata = one.document.metadata
        if metadata.iteration is None and one.iteration != NO_ITERATION:
            number = one.iteration.removeprefix("iteration-")
            metadata = _with(metadata, iteration=_id(number))
        document = _with(one.document, runs=runs, metadata=metadata)
        names = {"iteration": "iteration-1" if one.iteration == NO_ITERATION else one.iteration}
        renumbered.append(Piece("benchmark", one.path, [document], names))
    form = DIALECTS[to].get("benchmark")
    if form is not None and form.many and renumbered:
        documents = [document for piece in renumbered for document in piece.document]
        yield renumbered[0]._replace(document=documents)
    else:
        yield from renumbered


def _renamed_feedback(
    document: Any, place: Place, who: Catalogue, numbering: dict[EvalKey, Number]
) -> Any:
    """Reviews with run ids in the form that all dialects share: eval-<id>-<configuration>."""
    reviews = []
    for review in document.reviews:
        found = re.fullmatch(r"(.+?)[-/]((?:with|without|old|new)_skill|baseline)", review.run_id)
        key = None
        if found:
            number, _ = eval_parts(found[1])
            key = who.index.find(place.workspace, place.iteration, number, found[1])
        run_id = f"eval-{numbering[key].in_folders}-{found[2]}" if found and key else review.run_id
        reviews.append(_with(review, run_id=run_id))
    return _with(document, reviews=reviews)


def _with(document: Any, **changes: Any) -> Any:
    """A copy with other values, which keeps what no dialect knows."""
    copy = msgspec.structs.replace(document, **changes)
    copy.__dict__.update(document.__dict__)
    return copy


def _write(pieces: list[Piece], home: Home, to: str, below: Path, losses: Problems) -> list[Path]:
    written: dict[Path, None] = {}
    for piece in pieces:
        if piece.kind not in DIALECTS[to] or piece.kind not in home.paths:
            message = f"left out: `{to}` has no document `{piece.kind}`"
            losses.add("warning", "loss", piece.source, message)
            continue
        path = below / home.paths[piece.kind].format(**piece.names)
        if path in written:
            message = f"left out: `{to}` has room for one `{piece.kind}` only, at {path.name}"
            losses.add("warning", "loss", piece.source, message)
            continue
        value, lost = write(piece.kind, piece.document, to)
        losses.add_faults(piece.source, lost)
        written[write_atomic(path, to_json(value))] = None
    return list(written)


def _copy_outputs(folder: str, layout: Layout, who: Catalogue, home: Home, below: Path) -> None:
    if home.outputs is None:
        return
    numbering = _numbering(folder, who, home)
    for run in layout.runs:
        if run.place.workspace != folder:
            continue
        names = _run_names(run, who, numbering, home, Problems())
        if names is None:
            continue
        target = below / home.outputs.format(**names)
        if run.has_outputs:
            metrics = shutil.ignore_patterns("metrics.json", "grading.json")
            shutil.copytree(
                f"{run.path}/outputs", target / "outputs", ignore=metrics, dirs_exist_ok=True
            )
        for name in run.files:
            if name.startswith("transcript"):
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy2(f"{run.path}/{name}", target / name)


def _together(losses: Problems) -> Problems:
    """The losses, where those that say the same of several files are told once."""
    groups: dict[tuple[str, str, str], Problems] = {}
    for one in losses:
        message = re.sub(r" \(\d+ times, first at [^)]*\)", "", one.message)
        groups.setdefault((one.severity, one.where or "", message), Problems()).append(one)
    together = Problems()
    for (severity, where, message), ones in groups.items():
        first = ones[0]
        times = f" (in {len(ones)} files, first in this one)" if len(ones) > 1 else ""
        together.add(severity, first.code, first.path, message + times, where=where or None)  # type: ignore[arg-type]
    return together
