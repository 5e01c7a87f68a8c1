"""What was loaded, by whoever's tool, written as a workspace of ours."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from skill_eval_nb.disk import open_file, write_atomic
from skill_eval_nb.documents import (
    EvalMetadata,
    Grading,
    Review,
    Summary,
    Timing,
    to_json,
)
from skill_eval_nb.documents.dialects import canonical
from skill_eval_nb.documents.run import STRUCTURAL
from skill_eval_nb.workspace import (
    NO_ITERATION,
    Catalogue,
    EvalKey,
    PathLike,
    Problems,
    RunPlace,
    Sides,
    catalogue_files,
    find,
    folder_of,
    natural_key,
)
from skill_eval_nb.workspace.benchmarks import BenchmarkFile
from skill_eval_nb.workspace.catalogue import named_by
from skill_eval_nb.workspace.evals import eval_named, number_id, skill_named, slug
from skill_eval_nb.workspace.folders import eval_parts, is_iteration
from skill_eval_nb.workspace.layout import RESULTS_INSIDE
from skill_eval_nb.workspace.problems import group_problems

from .counted import CountedRun, count_runs

LONGEST = 120
"""So many bytes of UTF-8 a name has at most; two of them fit into the name of a folder."""
RUN = "{iteration}/{eval}/{side}/run-{run}"
PLACES = {
    "evals": "evals/evals.json",
    "eval_metadata": "{iteration}/{eval}/eval_metadata.json",
    **{kind: f"{RUN}/{kind}.json" for kind in ("grading", "structural", "timing")},
    "judging": f"{RUN}/judgings/{{file}}.json",
    "metrics": f"{RUN}/outputs/metrics.json",
    "benchmark": "{iteration}/{file}.json",
    "feedback": "{iteration}/feedback.json",
    "suggestions": "{iteration}/eval_feedback_aggregate.json",
    "comparison": "{iteration}/{eval}/{named}.json",
    "analysis": "{iteration}/{eval}/{named}.json",
    "history": "history.json",
    "triggers": "trigger-eval-set.json",
    "optimization": "optimization_result.json",
}
"""Where each kind of document lies; a level without a name is none."""


def name_evals(keys: Iterable[EvalKey]) -> dict[EvalKey, str]:
    """The folders of the evals."""
    keys = list(dict.fromkeys(keys))
    return dict(zip(keys, unique_names((key.id, _folder(key)) for key in keys), strict=True))


def _folder(key: EvalKey) -> str:
    text = safe_name(key.id)
    name = safe_name(slug(eval_parts(key.name)[1]), "")
    return f"eval-{text}" + ("" if name in ("", slug(text), slug(f"eval-{text}")) else f"-{name}")


def name_iterations(used: Iterable[str]) -> dict[str, str]:
    """The names of the folders of iterations; no folder if there is no such level."""
    names = sorted(set(used) - {NO_ITERATION}, key=natural_key)
    safe = (safe_name(name) for name in names)
    plain = [name if is_iteration(name) else safe_name(f"iteration-{name}") for name in safe]
    folders = unique_names(zip(names, plain, strict=True))
    return {**dict(zip(names, folders, strict=True)), NO_ITERATION: ""}


def safe_name(name: str, otherwise: str = "-") -> str:
    r"""A text as the name of one file or folder, on any system.

    >>> safe_name("../a:b"), safe_name(".."), safe_name("naïve 🎉"), safe_name("")
    ('-a-b', '-', 'naïve 🎉', '-')
    """
    plain = re.sub(r'[\\/:*?"<>|\x00-\x1f\x7f\ud800-\udfff]', "-", name).strip(" .")
    return _cut_bytes(plain, LONGEST) or otherwise


def _cut_bytes(name: str, most: int) -> str:
    """The beginning of a name, so many bytes of UTF-8 at most."""
    return name.encode()[:most].decode(errors="ignore").strip(" .")


def unique_names(wanted: Iterable[tuple[str, str]]) -> list[str]:
    """The names that owners want, changed where another owner has the same already.

    >>> unique_names([("1", "a"), ("2", "A"), ("1", "a")])
    ['a', 'A-2', 'a']
    """
    owners: dict[str, str] = {}
    names = []
    for owner, text in wanted:
        name, number = text, 1
        while owners.setdefault(name.casefold(), owner) != owner:
            number += 1
            name = f"{_cut_bytes(text, LONGEST - len(f'-{number}'))}-{number}"
        names.append(name)
    return names


def safe_stem(path: str) -> str:
    """The name of a file without its ending, safe in a path."""
    return safe_name(os.path.basename(path).rsplit(".", 1)[0])


MARK = ".skill-eval-nb.converting"
"""A file in what is being written: with it, a conversion was cut off and nothing else is there."""

UNREAD = frozenset(("link", "not-a-document", "not-kept", "not-used"))
"""Codes of problems of severity below error that say that something was not loaded."""

OF_A_SKILL = "triggers-by-skill/{}.json"
"""The place of a trigger set, where a workspace has those of several skills: it tells whose."""


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written, and what has no place there (a problem each)."""

    written: list[Path]
    losses: Problems


def refuse_full(out: PathLike) -> None:
    """Raise FileExistsError for what is there and is no empty folder."""
    target = Path(out)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileExistsError(f"{target} exists and is not empty; give a new folder")


def convert(path: PathLike, out: PathLike, *, configuration: Sides = None) -> Converted:
    """Load what is below `path`, and write it into the folder `out` as a workspace of ours.

    What is written has skill-creator's layout with skill-evaluator's fields, and loads again to
    the same tables but for the losses. What the runs have put out is copied. Several workspaces
    get a folder each. Nothing is written outside of `out`.

    Args:
        path: a workspace, a folder above several, or a single document.
        out: a folder that is empty or does not exist; not one inside of a workspace. Where a
            conversion into it was cut off, it is emptied and begun again.
        configuration: the side of a tool's results that state none, as `load` takes it.

    Returns:
        the files that were written, and the losses: an error where a file could not be loaded,
        a warning for what has no place in a workspace of ours, an info for what got another name.

    Raises:
        FileNotFoundError: `path` does not exist.
        NothingToLoad: there is no evaluation document.
        FileExistsError: `out` exists and is not empty, or lies in what is to be converted.
    """
    target = Path(out)
    cut_off = (target / MARK).is_file()
    if not cut_off:
        refuse_full(target)
    found = find(path, configuration=configuration)
    catalogue = catalogue_files(found)
    _refuse_inside(target, catalogue.names)
    runs: dict[str, list[CountedRun]] = {folder: [] for folder in catalogue.names}
    of_tools = Problems()
    for run in count_runs(catalogue):
        runs[run.side.run.workspace].append(_without_tool(run, of_tools))
    for benchmark in catalogue.benchmarks:
        if benchmark.tool and benchmark.document.run_summary:
            of_tools.add("info", "loss", benchmark.path, "left out: the tool's own summaries")
    losses = Problems(
        one for one in found.problems if one.severity == "error" or one.code in UNREAD
    )
    losses += of_tools
    paths = Counter(run.record.path for own in runs.values() for run in own)
    disk = {run.path: run for run in found.runs if paths[run.path] == 1}
    for entry in target.iterdir() if cut_off else ():
        if entry.name != MARK:
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    target.mkdir(parents=True, exist_ok=True)
    (target / MARK).touch()
    written: list[Path] = []
    for folder, below in _target_folders(catalogue, target).items():
        writer = _Writer(folder, runs[folder], catalogue, disk, below, losses)
        written += writer.write_all()
    (target / MARK).unlink()
    return Converted(written, Problems(group_problems(losses, found.base)))


def _without_tool(run: CountedRun, losses: Problems) -> CountedRun:
    """A run whose documents say all that can be said without the tool that ran it."""
    own, grading = run.record, run.record.grading
    if own.score is not None:
        losses.add("warning", "loss", own.path, "left out: the tool's own score")
    if own.incomplete is not None:
        message = f"its verdicts are left out: {own.incomplete}, so it has no result"
        losses.add("warning", "loss", own.path, message)
        grading = None
    elif own.rate is not None and grading is not None:
        if grading.expectations:
            message = "its verdicts are left out: its stated pass rate is not their share"
            losses.add("warning", "loss", own.path, message)
        grading = copy_with(grading, expectations=[], summary=Summary(pass_rate=own.rate))
    return run._replace(record=msgspec.structs.replace(own, grading=grading))


def _refuse_inside(target: Path, workspaces: Iterable[str]) -> None:
    real = f"{os.path.realpath(target)}/"
    for folder in workspaces:
        if real.startswith(f"{os.path.realpath(folder)}/"):
            raise FileExistsError(f"{target} is inside {folder}; choose a folder outside it")


def _target_folders(catalogue: Catalogue, target: Path) -> dict[str, Path]:
    """The folder for each workspace: one of its own, if there are several."""
    names = {folder: name for folder, (name, _) in catalogue.names.items()}
    if len(names) < 2:
        return dict.fromkeys(names, target)
    wanted = ((folder, "/".join(map(safe_name, name.split("/")))) for folder, name in names.items())
    return {folder: target / own for folder, own in zip(names, unique_names(wanted), strict=True)}


class _Writer:
    """Writes what was read of one workspace into a folder."""

    def __init__(
        self,
        folder: str,
        runs: list[CountedRun],
        catalogue: Catalogue,
        disk: Mapping[str, RunPlace],
        target: Path,
        losses: Problems,
    ) -> None:
        self.source, self.disk, self.folder, self.losses = folder, disk, target, losses
        self.written: dict[Path, bytes] = {}
        self.runs = sorted(runs, key=lambda run: run.keys.run_number)
        self.index, self.skill = catalogue.index, catalogue.names[folder][1]
        files = catalogue.files
        self.suites = [suite.document for suite in files.suites if suite.workspace == folder]
        self.defined = [(key, eval_) for of, key, eval_ in catalogue.definitions if of == folder]
        self.metadata = {
            (eval_.iteration, catalogue.keys[eval_]): metadata
            for eval_, metadata in files.metadata.items()
            if eval_.workspace == folder
        }
        self.benchmarks = [
            benchmark
            for benchmark in catalogue.benchmarks
            if benchmark.place.workspace == folder and not benchmark.tool
        ]
        self.others = [
            (kind, file, document, catalogue.keys.get(folder_of(file.place)))
            for kind, file, document in files.others
            if file.place.workspace == folder
        ]
        defined = [key for key, _ in self.defined]
        seen = [eval_.key for eval_ in catalogue.seen.get(folder, [])]
        ran = [run.side.key for run in runs]
        rows = (self._row_eval(file, row) for file in self.benchmarks for row in file.document.runs)
        self.evals = name_evals([*defined, *seen, *ran, *filter(None, rows)])
        used = {run.keys.iteration for run in runs if not self._is_row(run)}
        used |= {iteration for iteration, _ in self.metadata}
        used |= {file.place.iteration for _, file, *_ in self.others}
        stated = {file.place.iteration: safe_stem(file.path) for file in self.benchmarks}
        alone = {name for name, file in stated.items() if file == name} - used
        self.iterations = name_iterations((used | stated.keys()) - alone) | dict.fromkeys(alone, "")
        sides = dict.fromkeys(run.keys.configuration for run in runs)
        folders = unique_names((side, safe_name(side)) for side in sides)
        self.sides = dict(zip(sides, folders, strict=True))

    def write_all(self) -> list[Path]:
        """Write everything; gives the files."""
        for what, names in (("iteration", self.iterations), ("configuration", self.sides)):
            for old, new in names.items():
                if new not in ("", old):
                    message = f"the {what} {old} is written as {new}"
                    self.losses.add("info", "loss", self.source, message)
        folders = [run for run in self.runs if not self._is_row(run)]
        self._write_suites()
        self._write_metadata(folders)
        copied = [path for run in folders for path in self._write_run(run)]
        self._write_benchmarks()
        self._write_others()
        return [*self.written, *copied]

    def _is_row(self, run: CountedRun) -> bool:
        """Whether a run that only a benchmark tells of stays a row of it, which holds it whole."""
        grading, metrics = run.record.grading, run.record.metrics
        more = (grading and grading.rubric_scores) or (metrics and metrics.cost_usd is not None)
        return not more and any(run.record.path == file.path for file in self.benchmarks)

    def _row_eval(self, benchmark: BenchmarkFile, row: Any) -> EvalKey | None:
        """The eval that a row of a benchmark names."""
        id_ = None if row.eval_id is None else str(row.eval_id)
        name = eval_named(row)
        key = self.index.find(self.source, benchmark.place.iteration, id_, name)
        return key or (EvalKey(id_ or name or "", name or id_ or "") if id_ or name else None)

    def _write_suites(self) -> None:
        ids = (number_id(key.id) for key, _ in self.defined)
        for suite in self.suites:
            evals = [copy_with(eval_, id=next(ids)) for eval_ in suite.evals]
            own = suite.skill_name or self.skill
            self.write("evals", copy_with(suite, evals=evals, skill_name=own))

    def _write_metadata(self, runs: list[CountedRun]) -> None:
        """The metadata of each eval of an iteration, where its folder does not tell all of it."""
        suites = {key.id: definition for key, definition in reversed(self.defined)}
        ran = [(run.keys.iteration, run.side.key) for run in runs]
        for at in dict.fromkeys([*self.metadata, *ran]):
            own, key = self.metadata.get(at), at[1]
            suite = suites.get(key.id)
            if own is None and eval_parts(self.evals[key]) == key:
                continue
            document = own or EvalMetadata()
            document = copy_with(
                document,
                eval_id=number_id(key.id),
                eval_name=key.name,
                prompt=document.prompt or (suite.prompt if suite else None),
                assertions=document.assertions or (suite.expectations if suite else []),
            )
            self.write("eval_metadata", document, **self._eval(*at))

    def _eval(self, iteration: str, key: EvalKey) -> dict[str, Any]:
        """The names in the paths of what belongs to an eval."""
        return {"iteration": self.iterations[iteration], "eval": self.evals[key]}

    def _write_run(self, run: CountedRun) -> list[Path]:
        """Write a run's documents, which say what its row does; gives the outputs that were copied.

        There is always a timing, which tells that it took place.
        """
        keys, record, row = run.keys, run.record, run.figures
        names = self._eval(keys.iteration, run.side.key)
        names |= {"side": self.sides[keys.configuration], "run": keys.run_number}
        grading = record.grading
        if record.checked_alone and (checks := record.structural) is not None:
            grading = Grading(checks.expectations, checks.summary, layer=STRUCTURAL)
        elif grading is None and row.status == "ungraded":
            grading = Grading([])
        timing = copy_with(
            record.timing or Timing(),
            total_duration_seconds=row.time_seconds,
            total_tokens=row.tokens,
            model=row.executor_model,
        )
        own = msgspec.structs.replace(record, grading=grading, timing=timing)
        for kind in ("grading", "structural", "timing", "metrics"):
            if (document := getattr(own, kind)) is not None:
                self.write(kind, document, **names)
        for number, judging in enumerate(record.judgings, 1):
            self.write("judging", judging, **names, file=number)
        disk = self.disk.get(record.path)
        if disk is None:
            return []
        return copy_outputs(disk, self._join_below(RUN.format(**names)), self.losses)

    def _join_below(self, path: str) -> Path:
        """A path in the target, of which levels may be empty."""
        return self.folder.joinpath(*filter(None, path.split("/")))

    def _write_benchmarks(self) -> None:
        for benchmark in self.benchmarks:
            document, iteration = benchmark.document, self.iterations[benchmark.place.iteration]
            keys = [self._row_eval(benchmark, row) for row in document.runs]
            rows = [
                copy_with(row, eval_id=number_id(key.id)) if key else row
                for row, key in zip(document.runs, keys, strict=True)
            ]
            metadata = document.metadata
            if skill_named(metadata.skill_name) is None:
                metadata = copy_with(metadata, skill_name=self.skill)
            names = {"iteration": iteration, "file": safe_stem(benchmark.path)}
            self.write("benchmark", copy_with(document, runs=rows, metadata=metadata), **names)

    def _write_others(self) -> None:
        """Reviews, comparisons, analyses, versions, trigger sets and what else was read."""
        several = {
            document.skill_name for kind, _, document, _ in self.others if kind == "triggers"
        }
        for kind, file, read, key in self.others:
            document, name = read, safe_stem(file.path)
            names = {"iteration": self.iterations[file.place.iteration]}
            names["eval"] = self.evals[key] if key is not None else ""
            names["named"] = name if name.startswith(kind) else f"{kind}-{name}"
            if kind == "feedback":
                reviews = [
                    self._rename_review(review, file.place.iteration) for review in read.reviews
                ]
                document = copy_with(read, reviews=reviews)
            own = skill_named(document.skill_name) if kind == "triggers" else None
            if own is not None and (own != self.skill or len(several) > 1):
                names["apart"] = OF_A_SKILL.format(safe_name(own))
            self.write(kind, document, **names)

    def _rename_review(self, review: Review, iteration: str) -> Review:
        """A review with the run id as the target names runs."""
        named, side, number = named_by(review.run_id, self.sides)
        key = self.index.find(self.source, iteration, eval_parts(named)[0], named)
        if key is None or side is None:
            return review
        if named != self.evals[key]:
            named = f"eval-{number_id(key.id)}"
        suffix = "" if number is None else f"-run-{number}"
        return copy_with(review, run_id=f"{named}-{self.sides.get(side, side)}{suffix}")

    def write(self, kind: str, document: Any, **names: Any) -> None:
        """Write a document where it belongs; another one that lies there already stays."""
        path = self._join_below(names.get("apart") or PLACES[kind].format(**names))
        others = (path.with_name(f"{path.stem}_{number:02}.json") for number in count(2))
        data = to_json(canonical(document))
        while path in self.written and self.written[path] != data:
            path = next(others)
        if path not in self.written:
            self.written[write_atomic(path, data)] = data


def copy_with(document: Any, **changes: Any) -> Any:
    """A copy with other values, which keeps unknown fields."""
    copy = msgspec.structs.replace(document, **changes)
    vars(copy).update(vars(document))
    return copy


def files_of(run: RunPlace) -> Iterator[tuple[str, str]]:
    """What a run has put out, and the files beside it that are not JSON: path and name below it."""
    for name in run.files:
        if not name.lower().endswith(".json"):
            yield f"{run.path}/{name}", name
    for folder, folders, names in os.walk(f"{run.path}/outputs") if run.has_outputs else ():
        below = os.path.relpath(folder, run.path)
        linked = [name for name in folders if os.path.islink(f"{folder}/{name}")]
        for name in names + linked:
            if not (below == "outputs" and name in RESULTS_INSIDE):
                yield f"{folder}/{name}", f"{below}/{name}"


def copy_outputs(run: RunPlace, target: Path, losses: Problems) -> list[Path]:
    """Copy what a run has put out into `target`.

    Links to folders, links that lead out of the workspace, and whatever is not a regular file or
    cannot be read, are losses.
    """
    copied = []
    for source, name in files_of(run):
        try:
            with open_file(source, run.place.workspace) as file:
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "xb") as copy:
                    shutil.copyfileobj(file, copy)
                copied.append(path)
        except OSError as error:
            losses.add("warning", "loss", source, f"not copied: {error.strerror or error}")
    return copied
