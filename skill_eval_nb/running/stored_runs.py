"""Find the runs stored below a path, each with its eval.

It also repeats the checks of layer 1 on them, without running anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents import (
    Eval,
    EvalMetadata,
    GradedExpectation,
    Grading,
    Structural,
    Timing,
)
from skill_eval_nb.documents.run import CHECK_FAILED, STRUCTURAL
from skill_eval_nb.grading.structural import OF_TRANSCRIPT, check, expectations_of
from skill_eval_nb.text import some
from skill_eval_nb.workspace import (
    UNSTATED,
    EvalKey,
    Layout,
    PathLike,
    Problem,
    Problems,
    RunPlace,
    catalogue_files,
    find,
    folder_of,
    read_run,
    write_atomic,
)
from skill_eval_nb.workspace.folders import is_iteration
from skill_eval_nb.workspace.read import load_document, load_if_there

from .journal import hold_folders
from .protocol import Refused, refuse
from .steps import structural_json, unjudged_json

HIGHEST = 5
"""How far above a folder its workspace is looked for: run, side, eval, iteration, one more."""


def top_of(folder: Path) -> Path:
    """The workspace that `folder` belongs to by the names above it; else the folder itself.

    It is the folder that holds the iteration, or the one with the suite.
    """
    above = [folder, *list(folder.parents)[:HIGHEST]]
    iterations = [parent for parent in above if is_iteration(parent.name)]
    if iterations:
        return iterations[-1].parent
    return next((parent for parent in above if _suite_in(parent)), folder)


def with_suite(workspace: Path, evals: PathLike | None) -> list[Path]:
    """What to read for a workspace: itself, and the suite that defines its evals.

    That is the given one, else the one of the skill next to it: `tdd-workspace` is next to `tdd`,
    whose suite is `tdd/evals/evals.json`.
    """
    if evals is not None:
        return [workspace, Path(evals).expanduser().resolve()]
    if not workspace.name.endswith("-workspace") or _suite_in(workspace) is not None:
        return [workspace]
    beside = _suite_in(workspace.with_name(workspace.name.removesuffix("-workspace")))
    return [workspace] if beside is None else [workspace, beside]


def _suite_in(folder: Path) -> Path | None:
    suites = (folder / name for name in ("evals.json", "evals/evals.json"))
    return next(
        (suite for suite in suites if suite.is_file() and not leads_out(suite, folder)), None
    )


TRANSCRIPTS = ("transcript.jsonl", "transcript.json", "transcript.md", "transcript.txt")
"""The forms of a transcript, the one that says most first."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run on disk and its eval.

    Attributes:
        folder: the run's folder.
        eval: the eval as its suite defines it, completed by its eval_metadata.json; None
            if neither was found.
        workspace: the folder of its workspace.
        iteration: `"none"` if the run is not in an iteration.
        eval_id: as in the tables.
        eval_name: as in the tables.
        configuration: `"unstated"` if nothing names it.
        run_number: 1 if nothing numbers it.
        outputs: the folder of its outputs; None if there is none, or a link leads out of
            the run's folder.
        transcript: the transcript that says most; None as for the outputs.
        inputs: the folder of unchanged input files; None as for the outputs.
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
        """The folder that a writer has to hold: the iteration's, as a job does."""
        above = (parent for parent in self.folder.parents if parent.name == self.iteration)
        return next(above, self.workspace)

    @property
    def within(self) -> str:
        """The run's folder, below its workspace."""
        return self.folder.relative_to(self.workspace).as_posix()


def stored_runs(
    path: PathLike, *, evals: PathLike | None = None, problems: Problems | None = None
) -> list[StoredRun]:
    """The runs below `path` that have their own folder, in the order of the folders.

    Definitions of evals are looked for in the whole workspace, even if `path` is only a part of it
    (an iteration, a single run), and in the skill's folder next to it.

    Args:
        path: a workspace, a folder above several, or any folder in one.
        evals: an evals.json, or a folder with one, if it is somewhere else.
        problems: collects what could not be read.

    Raises:
        FileNotFoundError: if `path` does not exist.
        NothingToLoad: if there is neither a run nor any other evaluation document.
    """
    noted = Problems() if problems is None else problems
    target = Path(path).expanduser().resolve()
    if not target.is_dir():
        find(path)  # says what is missing, or what is there instead
        target = target.parent
    found = find(with_suite(top_of(target), evals))
    who = catalogue_files(found)
    noted.extend(found.problems)
    defined: dict[tuple[str, str], Eval] = {}  # the first definition counts, as in the tables
    for workspace, key, definition in who.definitions:
        defined.setdefault((workspace, key.id), definition)
    stored = []
    for run in found.runs:
        if _lies_in(run.path, target, noted):
            key = who.eval_of(run.place)
            suite = defined.get((run.place.workspace, key.id))
            described = who.files.metadata.get(folder_of(run.place))
            stored.append(_make_stored(run, key, _complete_definition(suite, described), noted))
    return stored


def _lies_in(path: str, folder: Path, problems: Problems) -> bool:
    """Whether a run's own folder is inside another one; a link that leads out is a problem."""
    if not Path(path).is_dir():
        return False
    fault = leads_out(path, folder)
    if fault is not None and Path(path).is_relative_to(folder):
        problems.add("warning", "link", path, f"not looked at: {fault}")
    return fault is None


def folder_in(run: PathLike, name: str) -> Path | None:
    """A folder in a run's; None if there is none, or a link leads out of the run's."""
    path = Path(run, name)
    return path if path.is_dir() and leads_out(path, run) is None else None


def transcript_in(run: PathLike) -> Path | None:
    """The transcript in a run's folder that says most; None as for `folder_in`."""
    names = (*TRANSCRIPTS, *(f"outputs/{name}" for name in TRANSCRIPTS))
    paths = (Path(run, name) for name in names)
    return next((path for path in paths if path.is_file() and leads_out(path, run) is None), None)


def _complete_definition(defined: Eval | None, described: EvalMetadata | None) -> Eval | None:
    """A definition, with the checks of the metadata if it has none of its own."""
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


def _make_stored(
    run: RunPlace, key: EvalKey, definition: Eval | None, problems: Problems
) -> StoredRun:
    place = run.place
    if place.configuration == UNSTATED and "grading.json" in run.files:
        places = read_run(run, Layout(problems=problems))
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


Outcome = Literal["written", "same", "kept"]
"""What became of structural.json: it is new, or was replaced; it says the same; it differs and was
kept."""


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A checked run: what was found, and what happened to its structural.json."""

    folder: Path
    structural: Structural
    outcome: Outcome


@dataclass(frozen=True, slots=True, repr=False)
class StoredChecks:
    """The result of checking stored runs.

    `problems` says what was left out and what differs, and why.
    """

    runs: tuple[CheckedRun, ...]
    problems: tuple[Problem, ...]

    @property
    def kept(self) -> tuple[CheckedRun, ...]:
        """The runs whose structural.json differs and was kept."""
        return tuple(run for run in self.runs if run.outcome == "kept")

    def __repr__(self) -> str:
        """The result in numbers, for notebooks and the shell."""
        checks = (check for run in self.runs for check in run.structural.expectations)
        marks = Counter(check.passed for check in checks)
        written = sum(run.outcome == "written" for run in self.runs)
        return (
            f"{len(self.runs)} runs checked: {marks[True]} checks passed, {marks[False]} failed, "
            f"{marks[None]} not scored\n"
            f"{written} structural.json written, {len(self.kept)} kept that differ, "
            f"{len(self.problems)} problems"
        )


def grade_stored(
    path: PathLike,
    *,
    layer: Literal["structural"] = "structural",
    allow_scripts: bool = False,
    near: int = 2,
    force: bool = False,
    sandbox: Literal["bubblewrap", "none"] = "bubblewrap",
    evals: PathLike | None = None,
) -> StoredChecks:
    """Check the stored runs below `path` and write their structural.json.

    It checks every run that has outputs and whose eval has expectations of layer 1. A
    structural.json with other verdicts is kept and reported, unless `force` is true; one with
    the same verdicts is left alone. Each file is written in one step.

    Args:
        path: a workspace, a folder above several, or any folder in one.
        layer: `"structural"`; for the judge's layer, use `judge_again`.
        allow_scripts: whether `custom_script` may run the suite author's scripts.
        near: within how many lines of a match a text of `except_context` exempts it.
        force: replace a structural.json that differs.
        sandbox: what scripts run in; `"none"` runs them with your own rights.
        evals: an evals.json, or a folder with one, if it is somewhere else.

    Raises:
        Refused: for another layer, or a negative `near`.
        FileNotFoundError: if `path` does not exist.
        NothingToLoad: if there is nothing to check.
    """
    if layer != "structural":
        raise refuse(
            f"there is no layer {layer!r} to check: 'structural' is the one without a model; "
            "judge_again judges stored outputs with one"
        )
    if near < 0:
        raise refuse(f"near is {near}: it must be a number of lines, 0 or more")
    problems = Problems()
    checked = []
    for run in stored_runs(path, evals=evals, problems=problems):
        if (outputs := _find_outputs(run, problems)) is None:
            continue
        assert run.eval is not None
        wanted = expectations_of(run.eval)
        found = check(
            wanted,
            outputs,
            run.transcript,
            near=near,
            allow_scripts=allow_scripts,
            sandbox=sandbox,
        )
        for broken in found.expectations:
            if (broken.evidence or "").startswith(CHECK_FAILED):
                message = f"{_name(broken)}: {broken.evidence}"
                problems.add("error", "check-failed", str(run.folder), message)
        if (outcome := _settle_structural(run, found, force, problems)) is not None:
            checked.append(CheckedRun(run.folder, found, outcome))
    return StoredChecks(tuple(checked), tuple(dict.fromkeys(problems)))


def _find_outputs(run: StoredRun, problems: Problems) -> Path | None:
    """The outputs of a run that can be checked; what is left out is a problem."""
    outputs, wanted = run.outputs, expectations_of(run.eval) if run.eval else []
    if run.transcript is not None and all(check.type in OF_TRANSCRIPT for check in wanted):
        outputs = outputs or run.folder / "outputs"  # no check reads it
    if run.eval is None:
        what = "no-definition", "its eval is not defined; give the suite as `evals`"
    elif not wanted:
        what = "nothing-to-check", "its eval has no structural checks"
    elif outputs is None:
        what = "no-outputs", "it has no stored outputs"
    else:
        timing = load_if_there(f"{run.folder}/timing.json", Timing, problems)
        if timing is None or not timing.says_error or (run.folder / "structural.json").exists():
            return outputs
        what = "errored-run", "the run ended in an error"
    severity = "info" if what[0] == "nothing-to-check" else "warning"
    problems.add(severity, what[0], str(run.folder), f"not checked: {what[1]}")
    return None


def _settle_structural(
    run: StoredRun, found: Structural, force: bool, problems: Problems
) -> Outcome | None:
    """Write what was found, or keep what is there; None if it cannot be written."""
    folder = run.folder
    file = folder / "structural.json"
    if file.exists():
        stored = load_document(str(file), Structural, problems)
        differs = ["it is unreadable"] if stored is None else [*_verdict_changes(stored, found)]
        if not differs:
            return "same"
        if not force:
            change = f"checking now gives: {some(differs, 5)}; force=True replaces it"
            problems.add("warning", "differs", str(file), f"kept, though {change}")
            return "kept"
    try:
        with hold_folders([run.home], "a check of stored outputs"):
            write_atomic(file, structural_json(found))
            grading = load_if_there(f"{folder}/grading.json", Grading, problems)
            if grading is not None and grading.layer == STRUCTURAL:
                write_atomic(folder / "grading.json", unjudged_json(folder, found))
    except (OSError, Refused) as error:
        reason = getattr(error, "strerror", None) or error
        problems.add("error", "not-written", str(file), f"not written: {reason}")
        return None
    return "written"


_WORDS = {True: "passed", False: "failed", None: "not scored"}


def _verdict_changes(stored: Structural, found: Structural) -> Iterator[str]:
    """The checks whose verdicts differ, in words; also a check that is on one side only."""
    before = {_name(check): check.passed for check in stored.expectations}
    now = {_name(check): check.passed for check in found.expectations}
    for name in {**now, **before}:
        if name not in now or name not in before or before[name] != now[name]:
            yield f"{name} (there {_WORDS[before.get(name)]}, now {_WORDS[now.get(name)]})"
    if stored.gate_passed not in (None, found.gate_passed):
        yield "its gate"


def _name(expectation: GradedExpectation) -> str:
    return expectation.id or expectation.text
