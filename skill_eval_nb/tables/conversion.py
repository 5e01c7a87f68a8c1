"""What was loaded, written as a workspace of any dialect, and what that dialect cannot hold."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import msgspec

from skill_eval_nb.disk import open_file, write_atomic
from skill_eval_nb.documents import (
    ConfigurationSummary,
    Document,
    Eval,
    EvalMetadata,
    Expectation,
    Grading,
    Metrics,
    Review,
    RubricSummary,
    RunResult,
    Stats,
    Summary,
    Timing,
    dump,
    to_json,
)
from skill_eval_nb.documents.dialects import DIALECTS, PATHS, NoSuchDocument, check, write
from skill_eval_nb.documents.dialects.form import SKILL_SIDES, Paths
from skill_eval_nb.documents.run import GradingTiming
from skill_eval_nb.workspace import (
    NO_ITERATION,
    BenchmarkFile,
    Catalogue,
    EvalKey,
    FilePlace,
    Files,
    PathLike,
    Problems,
    RunPlace,
    Sides,
    catalogued,
    find,
    folder_of,
    group_problems,
    named_by,
    natural,
    read_files,
    skill_named,
    stated,
)
from skill_eval_nb.workspace.layout import (
    RESULTS_INSIDE,
    eval_parts,
    is_iteration,
)
from skill_eval_nb.workspace.names import slug

from .columns import RUN_KEYS, TABLES
from .counted import Counted, counted

LONGEST = 120
"""So many bytes of UTF-8 a name has at most; two of them fit into the name of a folder."""


class EvalName(NamedTuple):
    """An eval in the target: its id in the suite, its id elsewhere, its folder, its file."""

    in_suite: str | int
    id: str | int
    folder: str
    file: str


def name_evals(keys: Iterable[EvalKey], *, counted: bool) -> dict[EvalKey, EvalName]:
    """The names of the evals; those of one id have the same but for their folder's.

    Where a dialect counts evals, numbers keep their distances, and other ids are counted in the
    order of `keys`.
    """
    keys = list(dict.fromkeys(keys))
    ids = list(dict.fromkeys(key.id for key in keys))
    numbers = _counted(ids) if counted else {id_: number_of(id_) for id_ in ids}
    folders = apart((key.id, _folder(key, numbers[key.id], counted=counted)) for key in keys)
    files = apart((key.id, safe(str(numbers[key.id]))) for key in keys)
    return {
        key: EvalName(_in_suite(numbers[key.id], counted=counted), numbers[key.id], folder, file)
        for key, folder, file in zip(keys, folders, files, strict=True)
    }


def _in_suite(number: str | int, *, counted: bool) -> str | int:
    return number + 1 if counted and isinstance(number, int) else number


def _folder(key: EvalKey, id_: str | int, *, counted: bool) -> str:
    text = safe(str(id_))
    name = "" if counted else safe(slug(eval_parts(key.name)[1]), "")
    known = ("", slug(text), slug(f"eval-{text}"))
    return f"eval-{text}" if name in known else f"eval-{text}-{name}"


def _counted(ids: list[str]) -> dict[str, str | int]:
    """Ids as numbers from 0."""
    numbers = [number_of(id_) for id_ in ids]
    whole = [number for number in numbers if isinstance(number, int)]
    if len(whole) < len(ids):
        return {id_: place for place, id_ in enumerate(ids)}
    first = 1 if 0 not in whole else 0
    return {id_: number - first for id_, number in zip(ids, whole, strict=True)}


def number_of(id_: str) -> str | int:
    """An id as a number, where that is what it is written like."""
    return int(id_) if re.fullmatch(r"0|[1-9][0-9]{0,14}", id_) else id_


def name_iterations(used: Iterable[str], *, counted: bool) -> dict[str, str]:
    """The names of the folders of iterations; no folder where there is no such level.

    Where a dialect counts iterations, that level is needed: it has the first free number.
    """
    names = sorted(set(used) - {NO_ITERATION}, key=natural)
    plain = [name if is_iteration(name) else safe(f"iteration-{name}") for name in map(safe, names)]
    folders = dict(zip(names, apart(zip(names, plain, strict=True)), strict=True))
    free = (f"iteration-{number}" for number in count(1))
    taken = set(folders.values())
    return folders | {
        NO_ITERATION: next(name for name in free if name not in taken) if counted else ""
    }


def safe(name: str, otherwise: str = "-") -> str:
    r"""A text as the name of one file or folder, on any system.

    >>> safe("../a:b"), safe(".."), safe("naïve 🎉"), safe("")
    ('-a-b', '-', 'naïve 🎉', '-')
    """
    plain = re.sub(r'[\\/:*?"<>|\x00-\x1f\x7f\ud800-\udfff]', "-", name).strip(" .")
    return _short(plain, LONGEST) or otherwise


def _short(name: str, most: int) -> str:
    """The beginning of a name, so many bytes of UTF-8 at most."""
    return name.encode()[:most].decode(errors="ignore").strip(" .")


def apart(wanted: Iterable[tuple[str, str]]) -> list[str]:
    """The names that owners want, changed where another owner has the same already.

    >>> apart([("1", "a"), ("2", "A"), ("1", "a")])
    ['a', 'A-2', 'a']
    """
    owners: dict[str, str] = {}
    names = []
    for owner, text in wanted:
        name, number = text, 1
        while owners.setdefault(name.casefold(), owner) != owner:
            number += 1
            name = f"{_short(text, LONGEST - len(f'-{number}'))}-{number}"
        names.append(name)
    return names


def stem(path: str) -> str:
    """The name of a file without its ending, safe in a path."""
    return safe(os.path.basename(path).rsplit(".", 1)[0])


def same(old: str | int | None, new: str | int) -> str | int:
    """The new id; written as the old one was, where it is the same."""
    return old if old is not None and str(old) == str(new) else new


MARK = ".skill-eval-nb.converting"
"""A file in what is being written: with it, a conversion was cut off and nothing else is there."""

UNREAD = frozenset(("link", "not-a-document", "not-kept", "not-used"))
"""Codes of problems of severity below error that say that something was not loaded."""

OF_A_SKILL = "triggers-by-skill/{}.json"
"""The place of a trigger set, where a workspace has those of several skills: it tells whose."""

_FIGURES = TABLES["runs"].names[len(RUN_KEYS) :]


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written, and what the dialect cannot hold (a problem each)."""

    written: list[Path]
    losses: Problems


def refuse_full(out: PathLike) -> None:
    """Raise FileExistsError for what is there and is no empty folder."""
    target = Path(out)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileExistsError(f"{target} exists and is not empty; give a new folder")


def convert(path: PathLike, to: str, out: PathLike, *, configuration: Sides = None) -> Converted:
    """Load what is below `path`, and write it into the folder `out` in the dialect `to`.

    What is written passes the schema of the dialect, and loads again to the same tables but for
    the losses. What the runs have put out is copied. Several workspaces get a folder each.
    Nothing is written outside of `out`.

    Args:
        path: a workspace, a folder above several, or a single document.
        to: one of the dialects.
        out: a folder that is empty or does not exist; not one inside of a workspace. Where a
            conversion into it was cut off, it is emptied and begun anew.
        configuration: the side of a tool's results that state none, as `load` takes it.

    Returns:
        the files that were written, and the losses: an error where a file could not be loaded,
        a warning where the dialect cannot hold something, an info for what got another name and
        for fields that no dialect knows.

    Raises:
        FileNotFoundError: `path` does not exist.
        NothingToLoad: there is no evaluation document.
        FileExistsError: `out` exists and is not empty, or lies in what is to be converted.
        NoSuchDocument: there is no such dialect.
    """
    if to not in DIALECTS:
        raise NoSuchDocument(f"there is no dialect `{to}`; there are {', '.join(DIALECTS)}")
    target = Path(out)
    cut_off = (target / MARK).is_file()
    if not cut_off:
        refuse_full(target)
    found = find(path, configuration=configuration)
    problems = found.problems
    files = read_files(found.layout.files, problems)
    catalogue = catalogued(found.layout, files, found.base, problems)
    _refuse_inside(target, catalogue.names)
    runs: dict[str, list[Counted]] = {folder: [] for folder in catalogue.names}
    of_tools = Problems()
    for run in counted(found.layout, files, catalogue, problems):
        runs[run.folder].append(_without_tool(run, of_tools))
    for benchmark in catalogue.benchmarks:
        if benchmark.tool and benchmark.document.run_summary:
            of_tools.add("info", "loss", benchmark.path, "left out: what the tool itself sums up")
    losses = Problems(
        problem for problem in problems if problem.severity == "error" or problem.code in UNREAD
    )
    losses += of_tools
    disk = {run.path: run for run in found.layout.runs}
    for entry in target.iterdir() if cut_off else ():
        if entry.name != MARK:
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    target.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with _marked(target / MARK):
        for folder, below in zip(catalogue.names, _folders(catalogue, target), strict=True):
            mine = runs[folder]
            paths = Counter(run.documents.path for run in mine)
            workspace = _Workspace(folder, mine, files, catalogue, disk, paths)
            written += _Writer(workspace, to, below, losses).write_all()
    return Converted(written, Problems(group_problems(losses, found.base)))


def _without_tool(run: Counted, losses: Problems) -> Counted:
    """A run whose documents say all that can be said without the tool that ran it."""
    own, grading = run.documents, run.documents.grading
    if own.score is not None:
        losses.add("warning", "loss", own.path, "left out: the tool's own score")
    if own.incomplete is not None:
        message = f"its verdicts are left out: {own.incomplete}, so that it has no result"
        losses.add("warning", "loss", own.path, message)
        grading = None
    elif own.rate is not None and grading is not None:
        if grading.expectations:
            message = "its verdicts are left out: its pass rate is stated, and not their share"
            losses.add("warning", "loss", own.path, message)
        grading = changed(grading, expectations=[], summary=Summary(pass_rate=own.rate))
    return run._replace(documents=replace(own, grading=grading))


@contextmanager
def _marked(mark: Path) -> Iterator[None]:
    """Keep a mark where something was written and the end was not reached."""
    mark.touch()
    try:
        yield
    except OSError:
        if [entry.name for entry in mark.parent.iterdir()] == [mark.name]:
            mark.unlink()
        raise
    mark.unlink()


def _refuse_inside(target: Path, workspaces: Iterable[str]) -> None:
    real = f"{os.path.realpath(target)}/"
    for folder in workspaces:
        if real.startswith(f"{os.path.realpath(folder)}/"):
            raise FileExistsError(f"{target} lies in {folder}; give a folder outside of it")


def _folders(catalogue: Catalogue, target: Path) -> Iterator[Path]:
    """A folder of its own for each workspace, where there are several."""
    met: Counter[Path] = Counter()
    for name, _ in catalogue.names.values():
        below = target.joinpath(*map(safe, name.split("/"))) if len(catalogue.names) > 1 else target
        met[below] += 1
        yield below if met[below] == 1 else below.with_name(f"{below.name}-{met[below]}")


@dataclass(frozen=True, slots=True)
class _Workspace:
    """A workspace that was loaded: its folder, its runs, and what else was read of all."""

    folder: str
    runs: list[Counted]
    files: Files
    catalogue: Catalogue
    disk: dict[str, RunPlace]
    paths: Counter[str]

    def benchmarks(self) -> list[BenchmarkFile]:
        return [
            benchmark
            for benchmark in self.catalogue.benchmarks
            if benchmark.place.workspace == self.folder and not benchmark.tool
        ]

    def others(self) -> Iterator[tuple[str, FilePlace, Any]]:
        """Reviews, comparisons and what else was read, with its kind and its file."""
        return (other for other in self.files.others if other[1].place.workspace == self.folder)

    def skill(self) -> str:
        return self.catalogue.names[self.folder][1]

    def defined(self) -> Iterator[tuple[EvalKey, Eval]]:
        """What its suites define."""
        return ((key, eval_) for of, key, eval_ in self.catalogue.definitions if of == self.folder)

    def metadata(self) -> Iterator[tuple[str, EvalKey, EvalMetadata]]:
        """The metadata of evals with the iteration and the eval that it is of."""
        for folder, metadata in self.files.metadata.items():
            if folder.workspace == self.folder:
                yield folder.iteration, self.catalogue.keys[folder], metadata

    def row_eval(self, benchmark: BenchmarkFile, row: Any) -> EvalKey | None:
        """The eval that a row of a benchmark names."""
        id_ = None if row.eval_id is None else str(row.eval_id)
        name = stated(row.eval_name)
        key = self.catalogue.index.find(self.folder, benchmark.iteration, id_, name)
        return key or (EvalKey(id_ or name or "", name or id_ or "") if id_ or name else None)

    def evals(self) -> Iterator[EvalKey]:
        """The evals, those of the suites first."""
        yield from (key for key, _ in self.defined())
        yield from (eval_.key for eval_ in self.catalogue.seen.get(self.folder, []))
        yield from map(key_of, self.runs)
        for benchmark in self.benchmarks():
            named = (self.row_eval(benchmark, row) for row in benchmark.document.runs)
            yield from filter(None, named)


@dataclass(slots=True)
class _Writer:
    """Writes a workspace in a dialect."""

    source: _Workspace
    dialect: str
    folder: Path
    losses: Problems
    paths: Paths = field(init=False)
    evals: dict[EvalKey, EvalName] = field(init=False)
    ids: dict[str, EvalName] = field(init=False)
    iterations: dict[str, str] = field(init=False)
    sides: dict[str, str] = field(init=False)
    written: dict[Path, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.paths = PATHS[self.dialect]
        ws, is_counted = self.source, self.paths.counted
        self.evals = name_evals(ws.evals(), counted=is_counted)
        self.ids = {key.id: name for key, name in self.evals.items()}
        used = {run.side.iteration for run in ws.runs if not self._is_row(run)}
        used |= {iteration for iteration, _, _ in ws.metadata()}
        used |= {file.place.iteration for _, file, _ in ws.others()}
        stated = {benchmark.iteration for benchmark in ws.benchmarks()}
        alone = {
            benchmark.iteration
            for benchmark in ws.benchmarks()
            if self.paths.rows and stem(benchmark.path) == benchmark.iteration
        } - used
        used |= stated - alone
        self.iterations = name_iterations(used, counted=is_counted) | dict.fromkeys(alone, "")
        if NO_ITERATION not in {run.side.iteration for run in ws.runs}:
            self.iterations[NO_ITERATION] = ""
        sides = dict.fromkeys(run.side.configuration for run in ws.runs)
        self.sides = dict(zip(sides, apart((side, safe(side)) for side in sides), strict=True))

    def write_all(self) -> list[Path]:
        """Write everything; gives the files."""
        self._say_names()
        kept = list(self._kept())
        folders = [run for run in kept if not self._is_row(run)]
        self._suites()
        self._metadata(folders)
        copied = [path for run in folders for path in self._run(run)]
        self._benchmarks(kept)
        self._others(kept)
        return [*self.written, *copied]

    def lose(
        self, path: str, message: str, severity: Any = "warning", where: str | None = None
    ) -> None:
        self.losses.add(severity, "loss", path, message, where=where)

    def _say_names(self) -> None:
        """Tell what has another name in the dialect."""
        for old, new in self.iterations.items():
            if new and new != old:
                self.lose(self.source.folder, f"the iteration {old} is written as {new}", "info")
        for old, name in self.ids.items():
            own = name.file if "grading" in self.paths.stated else str(name.id)
            own = own if self.source.runs else str(name.in_suite)  # of which the suite alone tells
            if own != old:
                self.lose(self.source.folder, f"the eval {old} is written as {own}", "info")
        for old, new in self.sides.items():
            if new != old:
                message = f"the configuration {old} is written as {new}"
                self.lose(self.source.folder, message, "info")
        named = any(key.name != key.id for key in self.source.evals())
        if named and "eval_metadata" not in self.paths.kinds:
            self.lose(self.source.folder, f"left out: `{self.dialect}` has no names of evals")

    def _kept(self) -> Iterator[Counted]:
        """The runs that the dialect has a place for."""
        met: set[tuple[str, ...]] = set()
        for run in sorted(self.source.runs, key=lambda run: run.number):
            side, path = run.side, run.documents.path
            if self.paths.sides is not None and side.configuration not in self.paths.sides:
                only = " and ".join(self.paths.sides)
                self.lose(path, f"left out: a run of {side.configuration}; there is only {only}")
            elif not self.paths.several and side in met:
                self.lose(path, f"left out: run {run.number} of its side; there is room for one")
            else:
                met.add(side)
                yield run

    def _is_row(self, run: Counted) -> bool:
        """Whether a run that only a benchmark tells of stays a row of it, which holds it whole."""
        grading, metrics = run.documents.grading, run.documents.metrics
        more = (grading and grading.rubric_scores) or (metrics and metrics.cost_usd is not None)
        stating = {benchmark.path for benchmark in self.source.benchmarks()}
        return self.paths.rows and not more and run.documents.path in stating

    def _eval(self, iteration: str, key: EvalKey, side: str = "", run: int = 1) -> dict[str, Any]:
        """The names in the paths of what belongs to an eval, or to a run of it."""
        name, folder = self.evals[key], self.iterations[iteration]
        below = {"iteration": folder, "eval": name.folder, "id": name.file}
        return {**below, "side": self.sides.get(side, ""), "run": run}

    def _suites(self) -> None:
        definitions = self.source.defined()
        for suite in self.source.files.suites:
            if suite.workspace == self.source.folder:
                evals = [
                    changed(eval_, id=same(eval_.id, self.evals[next(definitions)[0]].in_suite))
                    for eval_ in suite.document.evals
                ]
                own = suite.document.skill_name or self.source.skill()
                document = changed(suite.document, evals=evals, skill_name=own)
                self.write("evals", document, suite.path)

    def _metadata(self, kept: list[Counted]) -> None:
        """The metadata of each eval of an iteration, where its folder does not tell all of it."""
        by_side = "{side}" in self.paths.kinds.get("eval_metadata", "")
        there = {(iteration, key): metadata for iteration, key, metadata in self.source.metadata()}
        defined: dict[str, Eval] = {}
        for key, definition in self.source.defined():
            defined.setdefault(key.id, definition)
        sides: dict[tuple[str, EvalKey], dict[str, Counted]] = {}
        for run in kept:
            at = (run.side.iteration, key_of(run))
            sides.setdefault(at, {}).setdefault(run.side.configuration, run)
        for at in dict.fromkeys([*there, *sides]):
            runs, key = sides.get(at, {}), at[1]
            own, suite, name = there.get(at), defined.get(key.id), self.evals[key]
            if own is None and (
                "eval_metadata" not in self.paths.kinds
                or (not by_side and eval_parts(name.folder) == (str(name.id), key.name))
            ):
                continue
            document = own or EvalMetadata()
            document = changed(
                document,
                eval_id=same(document.eval_id, name.id),
                eval_name=key.name,
                prompt=document.prompt or (suite.prompt if suite else None),
                assertions=document.assertions or (suite.expectations if suite else []),
            )
            path = next((run.documents.path for run in runs.values()), self.source.folder)
            if by_side and not runs:
                self.lose(path, f"left out: metadata of eval {key.id}, of which no run is written")
            for side in runs if by_side else ("",):
                graded = runs[side].documents.grading if by_side else None
                if graded is not None and not document.assertions:
                    message = f"the checks of eval {key.id} are those of its grading"
                    self.lose(path, message, "info", "$.assertions")
                    texts = [Expectation(expectation.text) for expectation in graded.expectations]
                    document = changed(document, assertions=texts)
                self.write("eval_metadata", document, path, **self._eval(*at, side))

    def _run(self, run: Counted) -> list[Path]:
        """Write a run's documents; gives the outputs that were copied."""
        side, documents = run.side, run.documents
        names = self._eval(side.iteration, key_of(run), side.configuration, run.number)
        before = len(self.written)
        for kind, document in self._documents(run):
            path = f"{documents.path}/{kind}.json"
            source = path if os.path.isfile(path) else documents.path
            self.write(kind, document, source, **names)
        for number, judging in enumerate(documents.judgings, 1):
            self.write("judging", judging, documents.path, **names, file=number)
        copied = self._outputs(run, names)
        there = self.paths.outputs and self._below(self.paths.outputs.format(**names)).exists()
        if len(self.written) == before and not copied and not there:
            self.lose(documents.path, "left out: nothing of this run can be written")
        return copied

    def _below(self, path: str) -> Path:
        """A path in the target, of which levels may be empty."""
        return self.folder.joinpath(*filter(None, path.split("/")))

    def _documents(self, run: Counted) -> Iterator[tuple[str, Document]]:
        """The documents of a run: what its row in the tables says stands in one of them."""
        row, kinds = dict(zip(_FIGURES, run.figures, strict=True)), self.paths.kinds
        grading, structural = run.documents.grading, run.documents.structural
        if structural is not None and "structural" not in kinds and grading is None:
            message = "has no layers: the structural verdicts are written as a grading"
            self.lose(run.documents.path, f"`{self.dialect}` {message}")
            grading = Grading(structural.expectations, structural.summary)
            structural = None
        if grading is None and row["status"] == "ungraded":
            grading = Grading([])
        timing, metrics = self._costs(run, grading, row)
        if grading is not None:
            yield "grading", self._grading(grading, run, row)
        if structural is not None:
            yield "structural", structural
        if "timing" not in kinds and grading is not None:  # which has its time
            timing = changed(timing, total_duration_seconds=None, duration_ms=None)
        if timing != Timing() or (grading is None and structural is None):  # something tells of it
            yield "timing", timing
        shadowed = grading is not None and grading.execution_metrics is not None
        if metrics != Metrics() or (shadowed and run.documents.metrics is not None):
            yield "metrics", metrics

    def _costs(
        self, run: Counted, grading: Grading | None, row: dict[str, Any]
    ) -> tuple[Timing, Metrics]:
        """What a run took: what the tables have of it stands in these two."""
        timing = run.documents.timing or Timing()
        metrics = run.documents.metrics or Metrics()
        if timing.total_duration_seconds is None or row["time_seconds"] is not None:
            timing = changed(timing, total_duration_seconds=row["time_seconds"])
        timing = changed(timing, total_tokens=row["tokens"] or timing.total_tokens)
        inside = grading.execution_metrics if grading is not None else None
        if metrics == Metrics() and inside is None and row["tool_calls"] is not None:
            metrics = Metrics(total_tool_calls=row["tool_calls"])
            timing = changed(timing, tool_calls=None)
        form = DIALECTS[self.dialect].get("metrics")
        has_use = form is not None and "skill_used" in form.wire.__struct_fields__
        if has_use and grading is not None and grading.skill_used is not None:
            metrics = changed(metrics, skill_used=row["skill_used"])
        stated_model = {
            benchmark.document.metadata.executor_model
            for benchmark in self.source.benchmarks()
            if benchmark.iteration == run.side.iteration and self.paths.rows
        }
        if row["executor_model"] not in stated_model:
            timing = changed(timing, model=row["executor_model"])
        return timing, metrics

    def _grading(self, grading: Grading, run: Counted, row: dict[str, Any]) -> Grading:
        """A grading that says what the dialect's folders do not, and nothing else of its run."""
        side = run.side
        if "grading" in self.paths.stated:
            name = self.evals[key_of(run)]
            run_id = grading.run_id or f"run-{run.number}"
            grading = changed(grading, eval_id=name.file, run_id=run_id)
        elif grading.eval_id is not None and str(grading.eval_id) == side.eval_id:
            grading = changed(grading, eval_id=None)
        for name, text in (("eval_name", side.eval_name), ("configuration", side.configuration)):
            if getattr(grading, name) == text:
                grading = changed(grading, **{name: None})
        if "timing" not in self.paths.kinds and row["time_seconds"] is not None:
            noted, seconds = grading.timing or GradingTiming(), row["time_seconds"]
            changes = {"total_duration_seconds": seconds, "executor_duration_seconds": None}
            grading = changed(grading, timing=changed(noted, **changes))
        scores = grading.rubric_scores
        weights = {name: score.weight for name, score in scores.items() if score.weight}
        if not run.documents.judgings and not weights.items() <= run.weights.items():
            mean = row["rubric_weighted_mean"]
            grading = changed(grading, rubric_summary=RubricSummary(mean, 5, mean / 5))
        return grading

    def _outputs(self, run: Counted, names: dict[str, Any]) -> list[Path]:
        """Copy the outputs of a run, and the files beside them that are no JSON."""
        disk = self.source.disk.get(run.documents.path)
        alone = self.source.paths[run.documents.path] == 1
        if disk is None or not alone or next(files_of(disk), None) is None:
            return []
        if self.paths.outputs is None:
            message = f"left out: `{self.dialect}` has no place for the outputs of runs"
            self.lose(run.documents.path, message)
            return []
        return copy_outputs(disk, self._below(self.paths.outputs.format(**names)), self.lose)

    def _benchmarks(self, kept: list[Counted]) -> None:
        """The benchmarks, those that come to lie in one file together."""
        runs: dict[tuple[str, str, str], list[Counted]] = defaultdict(list)
        for run in kept:
            runs[run.side.iteration, run.side.eval_id, run.side.configuration].append(run)
        together: dict[tuple[str, ...], list[tuple[BenchmarkFile, Any]]] = {}
        form = DIALECTS[self.dialect]["benchmark"]
        in_folders = form.many and "{iteration}" in self.paths.kinds["benchmark"]
        for benchmark in self.source.benchmarks():
            iteration = self.iterations[benchmark.iteration]
            if in_folders and benchmark.iteration == NO_ITERATION:
                message = f"left out: `{self.dialect}` has benchmarks of numbered versions only"
                self.lose(benchmark.path, message)
                continue
            document = self._benchmark(benchmark, runs)
            at = (iteration, benchmark.path)
            if form.many and (not in_folders or self._is_version(benchmark)):
                at = ("",)
            together.setdefault(at, []).append((benchmark, document))
        for (iteration, *_), ones in together.items():
            path, documents = ones[0][0].path, [document for _, document in ones]
            self.write("benchmark", documents, path, iteration=iteration, file=stem(path))

    def _is_version(self, benchmark: BenchmarkFile) -> bool:
        """Whether a benchmark is of a version of the description, in a dialect that has these."""
        return "grading" in self.paths.stated and benchmark.iteration.startswith("description-")

    def _benchmark(
        self, benchmark: BenchmarkFile, runs: dict[tuple[str, str, str], list[Counted]]
    ) -> Any:
        """A benchmark with the evals of the target; what the runs know is filled in."""
        rows = []
        for row in benchmark.document.runs:
            key = self.source.row_eval(benchmark, row)
            there = runs[benchmark.iteration, key.id, row.configuration] if key else []
            if key and not there and not (self.paths.repeats or self._is_version(benchmark)):
                message = "left out: a row of no run that is written of this iteration"
                self.lose(benchmark.path, message, where="$.runs[*]")
                continue
            of_it = [run for run in there if row.run_number in (None, run.number)]
            changes: dict[str, Any] = {}
            if key is not None:
                changes["eval_id"] = same(row.eval_id, self.ids[key.id].id)
            if len(of_it) == 1:
                changes["result"] = _filled(row.result or RunResult(), of_it[0])
            rows.append(changed(row, **changes))
        metadata, folder = benchmark.document.metadata, self.iterations[benchmark.iteration]
        if skill_named(metadata.skill_name) is None:
            metadata = changed(metadata, skill_name=self.source.skill())
        number = number_of(folder.removeprefix("iteration-")) or None
        if "benchmark" in self.paths.stated and metadata.iteration is None:
            metadata = changed(metadata, iteration=number)
        elif "benchmark" not in self.paths.stated and metadata.iteration in (number, folder):
            metadata = changed(metadata, iteration=None)
        return changed(benchmark.document, runs=rows, metadata=metadata)

    def _others(self, kept: list[Counted]) -> None:
        """Reviews, comparisons, analyses, versions, trigger sets and what else was read."""
        ws = self.source
        several = {document.skill_name for kind, _, document in ws.others() if kind == "triggers"}
        for kind, file, read in ws.others():
            document = read
            iteration = self.iterations[file.place.iteration]
            name = stem(file.path)
            names = {"iteration": iteration, "where": iteration, "file": name}
            names["named"] = name if name.startswith(kind) else f"{kind}-{name}"
            if folder_of(file.place) in ws.catalogue.keys:
                key = ws.catalogue.eval_of(file.place)
                names["where"] = f"{iteration}/{self.evals[key].folder}"
            if kind == "feedback":
                reviews = (self._review(review, file, kept) for review in document.reviews)
                document = changed(
                    document, reviews=[review for review in reviews if review is not None]
                )
            elif kind == "comparison" and document.eval_id is not None:
                id_ = self._known(file.place.iteration, str(document.eval_id))
                document = changed(document, eval_id=same(document.eval_id, id_))
            elif kind == "triggers":
                own = skill_named(document.skill_name)
                if own is not None and (own != ws.skill() or len(several) > 1):
                    names["apart"] = OF_A_SKILL.format(safe(own))
            self.write(kind, document, file.path, **names)

    def _known(self, iteration: str, id_: str) -> str | int:
        """The id in the target of an eval that a document names."""
        key = self.source.catalogue.index.find(self.source.folder, iteration, id_, id_)
        id_ = key.id if key else id_
        return self.ids[id_].id if id_ in self.ids else id_

    def _review(self, review: Review, file: Any, kept: list[Counted]) -> Review | None:
        """A review with the run id as the target names runs; None for a run that is left out."""
        ws, iteration = self.source, file.place.iteration
        named, side, number = named_by(review.run_id, self.sides)
        key = ws.catalogue.index.find(ws.folder, iteration, eval_parts(named)[0], named)
        if key is None or side is None:
            return review
        at = (iteration, key.id, side)
        if not any(
            (run.side.iteration, run.side.eval_id, run.side.configuration) == at
            and run.number == (1 if number is None else number)
            for run in kept
        ) and (self.paths.sides is not None or not self.paths.several):
            message = "left out: a review of a run that is left out"
            self.lose(file.path, message, where="$.reviews[*]")
            return None
        name = self.evals[key]
        if named not in (name.folder, f"eval-{name.id}"):
            named = f"eval-{name.id}"
        suffix = f"-run-{number}" if number is not None and self.paths.several else ""
        run_id = f"{named}-{self.sides.get(side, side)}{suffix}"
        return changed(review, run_id=run_id)

    def write(self, kind: str, document: Any, source: str, **names: Any) -> None:
        """Write a document where the dialect has it, as far as the dialect can hold it."""
        template = self.paths.kinds.get(kind)
        if template is None:
            self.lose(source, f"left out: `{self.dialect}` has no document `{kind}`")
            return
        value = self._value(kind, document, source)
        if value is None:
            return
        data = to_json(value)
        path = self._below(names.get("apart") or template.format(**names))
        others = (path.with_name(f"{path.stem}_{number:02}.json") for number in count(2))
        while path in self.written and self.written[path] != data:
            path = next(others)
        if path not in self.written:
            self.written[write_atomic(path, data)] = data

    def _value(self, kind: str, document: Any, source: str) -> Any:
        """A document as the dialect has it, without what does not pass its schema; None of none."""
        if kind not in DIALECTS[self.dialect]:
            return dump(document)
        value, lost = write(kind, document, self.dialect)
        if kind == "benchmark" and any(fault.code == "incomplete" for fault in lost):
            document = [self._summed(benchmark, source) for benchmark in document]
            value, lost = write(kind, document, self.dialect)
        for fault in lost:
            if fault.code != "incomplete":
                message = re.sub(r" \(\d+ times, first at [^)]*\)", "", fault.message)
                self.lose(source, message, fault.severity, fault.where)
        while faults := [
            fault for fault in check(kind, value, self.dialect) if fault.severity == "error"
        ]:
            elements: dict[tuple[str, int], str] = {}
            for fault in faults:
                message = f"left out: `{self.dialect}` demands more than is known: {fault.message}"
                found = re.match(r"\$\.?([a-z_]*)\[(\d+)\]", fault.where)
                if found is None:
                    message += "; so the whole file is left out"
                    self.lose(source, message, where=fault.where)
                    return None
                elements.setdefault((found[1], int(found[2])), message)
            for (name, place), message in sorted(elements.items(), reverse=True):
                self.lose(source, message, where=f"$.{name}[{place}]" if name else f"$[{place}]")
                del (value[name] if name else value)[place]
        return value

    def _summed(self, benchmark: Any, source: str) -> Any:
        """A benchmark whose figures with the skill are those of its rows, where it states none."""
        there = {row.configuration for row in benchmark.runs}
        side = next((name for name in SKILL_SIDES if name in there), None)
        if side is None:
            return benchmark
        summary = benchmark.run_summary.get(side) or ConfigurationSummary()
        figures = {}
        for metric in ("pass_rate", "tokens", "time_seconds"):
            evals: dict[Any, list[float]] = defaultdict(list)
            for row in benchmark.runs:
                value = getattr(row.result, metric, None)
                if row.configuration == side and value is not None:
                    evals[row.eval_id].append(value)
            means = [fmean(eval_) for eval_ in evals.values()]
            known = getattr(summary, metric)
            if (isinstance(known, Stats) and known.stddev is not None) or not means:
                continue
            if len(means) == 1:
                message = "a standard deviation of 0 of one eval stands for: not known"
                self.lose(source, message, "info", f"$.run_summary.{side}.{metric}")
            mean = known.mean if isinstance(known, Stats) else known
            spread = stdev(means) if len(means) > 1 else 0.0
            figures[metric] = Stats(mean if isinstance(mean, float | int) else fmean(means), spread)
        return changed(
            benchmark, run_summary={**benchmark.run_summary, side: changed(summary, **figures)}
        )


def _filled(result: RunResult, run: Counted) -> RunResult:
    """The figures of a row, with those of the run that it does not state."""
    row = dict(zip(_FIGURES, run.figures, strict=True))
    known = {
        name: row[name]
        for name in ("pass_rate", "time_seconds", "tokens")
        if getattr(result, name) is None and row[name] is not None
    }
    return changed(result, **known) if known else result


def key_of(run: Counted) -> EvalKey:
    """The eval of a run."""
    return EvalKey(run.side.eval_id, run.side.eval_name)


def changed(document: Any, **changes: Any) -> Any:
    """A copy with other values, which keeps what no dialect knows."""
    copy = msgspec.structs.replace(document, **changes)
    vars(copy).update(vars(document))
    return copy


def files_of(run: RunPlace) -> Iterator[tuple[str, str]]:
    """What a run has put out, and the files beside it that are no JSON: path and name below it."""
    for name in run.files:
        if not name.lower().endswith(".json"):
            yield f"{run.path}/{name}", name
    for folder, folders, names in os.walk(f"{run.path}/outputs") if run.has_outputs else ():
        below = os.path.relpath(folder, run.path)
        linked = [name for name in folders if os.path.islink(f"{folder}/{name}")]
        for name in names + linked:
            if not (below == "outputs" and name in RESULTS_INSIDE):
                yield f"{folder}/{name}", f"{below}/{name}"


def copy_outputs(run: RunPlace, target: Path, lose: Any) -> list[Path]:
    """Copy what a run has put out into `target`.

    Links to folders, links that lead out of the workspace, and whatever is no regular file or
    cannot be read, are losses.
    """
    copied = []
    for source, name in files_of(run):
        try:
            if not os.path.isfile(source):
                raise OSError("it is no regular file")  # noqa: TRY301
            with open_file(source, run.place.workspace) as file:
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "xb") as copy:
                    shutil.copyfileobj(file, copy)
                copied.append(path)
        except OSError as error:
            lose(source, f"not copied: {error.strerror or error}")
    return copied
