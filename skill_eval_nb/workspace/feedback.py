"""Reviews in feedback.json: what the file says now, and one review of it changed.

Everything else in the file stays: others' reviews, fields that nobody knows, how it is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from skill_eval_nb.disk import read_bytes, write_atomic
from skill_eval_nb.documents import CheckLabel, Faults, NotJSON, Review, dump, mend, parse
from skill_eval_nb.documents.base import origin_of
from skill_eval_nb.documents.sides import UNSTATED

from .catalogue import Catalogue, catalogue_files, named_by
from .find import PathLike, find
from .folders import NO_ITERATION, eval_parts, is_eval, is_iteration
from .jobs import iteration_folder
from .writing import lock_path, now, written_like

COMPLETE, IN_PROGRESS = "complete", "in_progress"
"""What the status of feedback may be."""


@dataclass(frozen=True, slots=True)
class Remarks:
    """What a human says of a run: a text, scores by dimension, labels by the text of a check.

    Nothing of all this is fine, unless only checks of the run were labelled: then the run itself
    was not `reviewed`.
    """

    text: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, CheckLabel] = field(default_factory=dict)
    reviewed: bool = True

    def __bool__(self) -> bool:
        return bool(self.text.strip() or self.scores)


class ReviewEntry(NamedTuple):
    """A review as the file has it; `raw` is what stands there."""

    run_id: str
    remarks: Remarks
    timestamp: str | None
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reviews:
    """What a feedback.json says.

    Attributes:
        entries: the reviews, in their order.
        status: `in_progress`, `complete`, or whatever stands there.
        fault: why nothing may be written to the file; None if it may.
    """

    entries: tuple[ReviewEntry, ...] = ()
    status: str | None = None
    fault: str | None = None


class NotKept(OSError):
    """The file was left as it is; the message says why."""


def read_reviews(path: str | os.PathLike[str]) -> Reviews:
    """What a file says now; nothing if there is none."""
    return _read_feedback_file(path)[2]


def keep_review(
    path: str | os.PathLike[str],
    run_id: str,
    remarks: Remarks | None,
    was: ReviewEntry | None,
    status: Callable[[Reviews], str | None] = lambda now: now.status or IN_PROGRESS,
) -> ReviewEntry | None:
    """Write one review, in one step, into the file as it is by now.

    A review that is no longer as it `was` has been changed by somebody else: theirs stays, and
    this one is put beside it.

    Args:
        path: the file; it is made if there is none.
        run_id: the run.
        remarks: what is said of it; None takes the review away.
        was: the review as the file had it; None for a new one.
        status: gives the file's status, from what it says with this review.

    Returns:
        the review as the file now has it; None if it has none.

    Raises:
        NotKept: the file is not feedback, or cannot be read as it is.
        OSError: it cannot be written.
    """
    with _open_feedback(path) as raw:
        items: list[Any] = raw.setdefault("reviews", [])
        found = (at for at, item in enumerate(items) if was is not None and item == was.raw)
        place = next(found, None)
        if remarks is None:
            if place is not None:
                del items[place]
        elif place is not None and _entry(items[place]).remarks != remarks:
            items[place] = _change_review(items[place], remarks)
        elif place is None:
            place = len(items)
            items.append(_change_review({"run_id": run_id, "feedback": ""}, remarks))
        kept = None if remarks is None or place is None else _entry(items[place])
        if (state := status(_reviews(raw))) is not None:
            raw["status"] = state
    return kept


def keep_status(path: str | os.PathLike[str], status: str) -> None:
    """Write the status alone.

    Raises:
        NotKept: the file is not feedback, or cannot be read as it is.
        OSError: it cannot be written.
    """
    with _open_feedback(path) as raw:
        if _reviews(raw).status != status:
            raw |= {"reviews": raw.get("reviews", []), "status": status}


@contextmanager
def _open_feedback(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """What a file says now, by its keys; it is written where they were changed, or it is not there.

    Raises:
        NotKept: the file is not feedback, or cannot be read as it is.
        OSError: it cannot be written.
    """
    with lock_path(path):
        data, raw, there = _read_feedback_file(path)
        if there.fault is not None:
            raise NotKept(there.fault)
        before = deepcopy(raw)
        yield raw
        if data is None or raw != before:
            write_atomic(path, written_like(raw, data))


def _read_feedback_file(
    path: str | os.PathLike[str],
) -> tuple[bytes | None, dict[str, Any], Reviews]:
    """The bytes of a file, its plain value, and what it says."""
    try:
        data = read_bytes(os.fspath(path))
    except FileNotFoundError:
        return None, {}, Reviews()
    except OSError as error:
        return b"", {}, Reviews(fault=f"{path} cannot be read: {error.strerror}")
    faults = Faults()
    try:
        raw = parse(data, faults)
    except NotJSON as error:
        return data, {}, Reviews(fault=f"{path} cannot be read: {error}")
    if not isinstance(raw, dict) or not isinstance(raw.get("reviews", []), list):
        return data, {}, Reviews(fault=f"{path} is not feedback: it has no list of `reviews`")
    texts = [fault.message for fault in faults if not fault.message.startswith("the file is UTF-8")]
    fault = f"{path} is {'; '.join(texts)}" if texts else None
    return data, raw, replace(_reviews(raw), fault=fault)


def _reviews(raw: dict[str, Any]) -> Reviews:
    items = [item for item in raw.get("reviews", []) if isinstance(item, dict)]
    status = raw.get("status")
    return Reviews(tuple(map(_entry, items)), status if isinstance(status, str) else None)


def _entry(raw: Mapping[str, Any]) -> ReviewEntry:
    review, _ = mend(raw, Review)
    labels = {label.text: label for label in review.labels}
    remarks = Remarks(review.feedback, review.scores, labels, review.reviewed)
    return ReviewEntry(review.run_id, remarks, review.timestamp, raw)


def _change_review(raw: Mapping[str, Any], remarks: Remarks) -> dict[str, Any]:
    """A review with other words, scores or labels, under the names that its fields have there."""
    review, _ = mend(raw, Review)
    origin = origin_of(review)
    if origin is not None and "feedback" not in origin.keys.values():
        review, _ = mend({**raw, "feedback": ""}, Review)
    review.feedback, review.timestamp = remarks.text, now()
    review.scores = {
        name: int(score) if score == int(score) else score for name, score in remarks.scores.items()
    }
    review.labels, review.reviewed = list(remarks.labels.values()), remarks.reviewed
    unsaid = {name for name in ("scores", "labels") if not getattr(review, name)}
    return {name: value for name, value in dump(review).items() if name not in unsaid}


class RunOf(NamedTuple):
    """A run of an iteration, as the tables name it."""

    eval_id: str
    configuration: str
    run_number: int


class RunIds:
    """The runs below a path as feedback names them: read there, and to be written there.

    An id is the one that loading and checking read back as the same run. If several would
    do it is the path of the run's folder, as the viewer of `skill-creator` writes it.
    """

    def __init__(self, folders: Mapping[str, str], configurations: Iterable[str] = ()) -> None:
        """Look at what lies there now.

        Args:
            folders: of the workspaces, by their names in the tables.
            configurations: those of their runs, be they only told of.

        Raises:
            FileNotFoundError: a folder does not exist.
            NothingToLoad: there is no evaluation document.
        """
        found = find(folders.values())
        self._folders = folders
        self._catalogue = catalogue_files(found)
        self._sides = {*configurations, *(run.place.configuration for run in found.runs)}
        self._iterations = _iteration_folders(self._catalogue)
        self._evals = _eval_folders(self._catalogue)
        self._files: dict[tuple[str, str], list[str]] = {}
        for kind, file, _ in self._catalogue.files.others:
            if kind == "feedback":
                place = (file.place.workspace, file.place.iteration)
                self._files.setdefault(place, []).append(file.path)

    def files(self, workspace: str, iteration: str) -> list[str]:
        """The files of an iteration's feedback; the first is the one to write, there or not.

        There is none for an iteration that is not a folder and could be none: one that only a
        benchmark of this name tells of.
        """
        folder = self._folders[workspace]
        there = self._files.get((folder, iteration), [])
        home = self._iterations.get((folder, iteration))
        if home is None and iteration != NO_ITERATION and not is_iteration(iteration):
            return there
        if home is None:
            home = folder if iteration == NO_ITERATION else f"{folder}/{iteration}"
        own = f"{home}/feedback.json"
        if own not in there and len(there) == 1:
            own = there[0]
        return [own, *(path for path in there if path != own)]

    def id_of(
        self, workspace: str, iteration: str, run: RunOf, numbered: bool, sides: Iterable[str]
    ) -> str:
        """The id of a run.

        Args:
            workspace: its name in the tables.
            iteration: its name.
            run: the run.
            numbered: whether the iteration has runs that only their number tells apart.
            sides: the configurations of the iteration.
        """
        known = frozenset(sides)
        ids = list(self._ids(workspace, iteration, run, numbered))
        for id_ in ids:
            read = {self.run_of(workspace, iteration, id_, of) for of in (self._sides, known)}
            if read == {run}:
                return id_
        return ids[0]

    def _ids(self, workspace: str, iteration: str, run: RunOf, numbered: bool) -> Iterator[str]:
        place = (self._folders[workspace], iteration, run.eval_id)
        folder, name = self._evals.get(place, (UNSTATED, run.eval_id))
        number = f"-run-{run.run_number}"
        evals = [f"eval-{run.eval_id}", run.eval_id, name, folder]
        if is_eval(folder):
            evals.insert(0, folder)
        for tail in (number,) if numbered else ("", number):
            yield from (f"{eval_}-{run.configuration}{tail}" for eval_ in evals)

    def run_of(
        self, workspace: str, iteration: str, run_id: str, sides: Iterable[str] | None = None
    ) -> RunOf | None:
        """The run that an id names; None for an id that names none."""
        named, side, number = named_by(run_id, self._sides if sides is None else sides)
        id_ = eval_parts(named)[0]
        key = self._catalogue.index.find(self._folders[workspace], iteration, id_, named)
        if side is None:
            return None
        eval_id = key.id if key else id_ or named  # one that only a benchmark tells of
        return RunOf(eval_id, side, 1 if number is None else number)


def folders_of(base: PathLike, runs: Mapping[str, str]) -> dict[str, str]:
    """The folders of workspaces.

    Args:
        base: the folder below which the tables tell of them.
        runs: by the name of each workspace the path of one of its runs, as the tables have it.

    >>> folders_of("/x", {"a/ws": "a/ws/iteration-1/eval-0/with_skill"})
    {'a/ws': '/x/a/ws'}
    >>> folders_of("/x/ws/iteration-1", {"ws": "eval-0/with_skill"})
    {'ws': '/x/ws'}
    """
    above = os.path.abspath(base)
    return {name: _folder_of(above, name, path) for name, path in runs.items()}


def _folder_of(base: str, name: str, path: str) -> str:
    for at in (base, os.path.dirname(base)):  # a workspace, or an iteration of it
        if os.path.basename(at) == name:
            return at
    if f"{path}/".startswith(f"{name}/"):
        return f"{base}/{name}"
    return str(iteration_folder(Path(base, path), name) or base)


def _iteration_folders(catalogue: Catalogue) -> dict[tuple[str, str], str]:
    """The folder of each iteration, by its workspace and name."""
    inside = [(run.place, run.path) for run in catalogue.layout.runs]
    inside += [(benchmark.place, benchmark.path) for benchmark in catalogue.benchmarks]
    found: dict[tuple[str, str], str] = {}
    for place, path in inside:
        if (place.workspace, place.iteration) in found:
            continue
        if (at := iteration_folder(Path(path), place.iteration)) is not None:
            found[place.workspace, place.iteration] = str(at)
    return found


def _eval_folders(catalogue: Catalogue) -> dict[tuple[str, str, str], tuple[str, str]]:
    """The folder and the name of each eval, by its workspace, its iteration and its id."""
    found: dict[tuple[str, str, str], tuple[str, str]] = {}
    for (workspace, iteration, folder), key in catalogue.keys.items():
        found.setdefault((workspace, iteration, key.id), (folder, key.name))
    return found
