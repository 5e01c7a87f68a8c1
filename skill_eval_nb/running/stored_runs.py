"""The runs that are stored below a path, each with the eval that it is a run of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents import Eval, EvalMetadata
from skill_eval_nb.workspace import (
    UNSTATED,
    Catalogue,
    EvalKey,
    Files,
    PathLike,
    Problems,
    RunPlace,
    catalogued,
    find,
    folder_of,
    read_files,
    read_run,
)
from skill_eval_nb.workspace.layout import is_iteration

HIGHEST = 5
"""So far above a folder its workspace is looked for: run, side, eval, iteration, one more."""


def top_of(folder: Path) -> Path:
    """The workspace that `folder` is a part of, where the names above it say so; else itself.

    It is the folder that holds the iteration, or the one with the suite.
    """
    above = [folder, *list(folder.parents)[:HIGHEST]]
    iterations = [parent for parent in above if is_iteration(parent.name)]
    if iterations:
        return iterations[-1].parent
    return next((parent for parent in above if _suite_in(parent)), folder)


def with_suite(workspace: Path, evals: PathLike | None) -> list[Path]:
    """What to read for a workspace: itself, and the suite that defines its evals.

    That is the one given, else the one of the skill beside it: `tdd-workspace` lies beside
    `tdd`, whose suite is `tdd/evals/evals.json`.
    """
    if evals is not None:
        return [workspace, Path(evals).expanduser().resolve()]
    if not workspace.name.endswith("-workspace") or _suite_in(workspace) is not None:
        return [workspace]
    beside = _suite_in(workspace.with_name(workspace.name.removesuffix("-workspace")))
    return [workspace] if beside is None else [workspace, beside]


def _suite_in(folder: Path) -> Path | None:
    suites = (folder / name for name in ("evals.json", "evals/evals.json"))
    return next((suite for suite in suites if suite.is_file()), None)


TRANSCRIPTS = ("transcript.jsonl", "transcript.json", "transcript.md", "transcript.txt")
"""The forms of a transcript, the one that says most first."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run on disk and the eval that it is a run of.

    Attributes:
        folder: the run's folder.
        eval: the eval as its suite defines it, completed by its eval_metadata.json; None
            where neither was found.
        workspace: the folder of its workspace.
        iteration: `"none"` where the run lies below no iteration.
        eval_id: as the tables have it.
        eval_name: as the tables have it.
        configuration: `"unstated"` where nothing names it.
        run_number: 1 where nothing numbers it.
        outputs: the folder of its outputs; None where there is none, or a link leads out of
            the run's folder.
        transcript: the transcript that says most; None as for the outputs.
        inputs: the folder of the files that were left as they were; None as for the outputs.
    """

    folder: Path
    eval: Eval | None
    workspace: Path
    iteration: str
    eval_id: str
    eval_name: str
    configuration: str
    run_number: int
    outputs: Path | None
    transcript: Path | None
    inputs: Path | None = None

    @property
    def home(self) -> Path:
        """What whoever writes into the run holds: its iteration's folder, as a job does."""
        above = (parent for parent in self.folder.parents if parent.name == self.iteration)
        return next(above, self.workspace)


def stored_runs(
    path: PathLike, *, evals: PathLike | None = None, problems: Problems | None = None
) -> list[StoredRun]:
    """The runs below `path` that have a folder of their own, in the order they lie there.

    What defines the evals is looked for in the whole workspace, also where `path` is only a
    part of it (an iteration, a single run), and in the skill's folder beside it.

    Args:
        path: a workspace, a folder above several, or any folder in one.
        evals: an evals.json, or a folder with one, where it lies somewhere else.
        problems: takes up what could not be read.

    Raises:
        FileNotFoundError: where `path` does not exist.
        NothingToLoad: where there is neither a run nor any other evaluation document.
    """
    noted = Problems() if problems is None else problems
    target = Path(path).expanduser().resolve()
    if not target.is_dir():
        find(path)  # says what is missing, or what is there instead
        target = target.parent
    found = find(with_suite(top_of(target), evals))
    noted.extend(found.problems)
    files = read_files(found.layout.files, noted)
    who = catalogued(found.layout, files, found.base, noted)
    evals_of = _Evals(files, who)
    return [
        _stored(run, evals_of, noted)
        for run in found.layout.runs
        if _lies_in(run.path, target, noted)
    ]


def _lies_in(path: str, folder: Path, problems: Problems) -> bool:
    """Whether a run's own folder lies in another one; a link that leads out is a problem."""
    if not Path(path).is_dir():
        return False
    fault = leads_out(path, folder)
    if fault is not None and Path(path).is_relative_to(folder):
        problems.add("warning", "link", path, f"not looked at: {fault}")
    return fault is None


def folder_in(run: PathLike, name: str) -> Path | None:
    """A folder in a run's; None where there is none, or a link leads out of the run's."""
    path = Path(run, name)
    return path if path.is_dir() and leads_out(path, run) is None else None


def transcript_in(run: PathLike) -> Path | None:
    """The transcript in a run's folder that says most; None as for `folder_in`."""
    names = (*TRANSCRIPTS, *(f"outputs/{name}" for name in TRANSCRIPTS))
    paths = (Path(run, name) for name in names)
    return next((path for path in paths if path.is_file() and leads_out(path, run) is None), None)


class _Evals:
    """The evals of a workspace by their keys: the first definition counts, as in the tables."""

    def __init__(self, files: Files, who: Catalogue) -> None:
        self._who = who
        self._metadata = files.metadata
        self._defined: dict[tuple[str, str], Eval] = {}
        for workspace, key, definition in who.definitions:
            self._defined.setdefault((workspace, key.id), definition)

    def of(self, run: RunPlace) -> tuple[EvalKey, Eval | None]:
        """The key of the eval that a run is a run of, and the eval itself."""
        key = self._who.eval_of(run.place)
        defined = self._defined.get((run.place.workspace, key.id))
        described = self._metadata.get(folder_of(run.place))
        return key, _completed(defined, described)


def _completed(defined: Eval | None, described: EvalMetadata | None) -> Eval | None:
    """A definition, with the checks of the metadata where it has none of its own."""
    if described is None:
        return defined
    if defined is None:
        if not described.prompt:
            return None
        return Eval(
            prompt=described.prompt,
            id=described.eval_id,
            name=described.eval_name,
            expectations=list(described.assertions),
        )
    if defined.expectations or not described.assertions:
        return defined
    return msgspec.structs.replace(defined, expectations=list(described.assertions))


def _stored(run: RunPlace, evals: _Evals, problems: Problems) -> StoredRun:
    key, definition = evals.of(run)
    place = run.place
    if place.configuration == UNSTATED and "grading.json" in run.files:
        places = read_run(run, problems)
        place = places[0][0] if len(places) == 1 else place
    return StoredRun(
        folder=Path(run.path),
        eval=definition,
        workspace=Path(place.workspace),
        iteration=place.iteration,
        eval_id=key.id,
        eval_name=key.name,
        configuration=place.configuration,
        run_number=run.number,
        outputs=folder_in(run.path, "outputs"),
        transcript=transcript_in(run.path),
        inputs=folder_in(run.path, "inputs"),
    )
