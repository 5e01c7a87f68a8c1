"""Check files, or whole workspaces, against what a dialect prescribes."""

from __future__ import annotations

import glob
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents.base import Severity
from skill_eval_nb.documents.dialects import (
    DIALECTS,
    NoSuchDocument,
    is_foreign,
    kind_of,
    read,
    sample,
    source_of,
)
from skill_eval_nb.documents.dialects import check as check_document
from skill_eval_nb.documents.tools import tool_of
from skill_eval_nb.skill_md import SKILL_FILE, read_skill_md
from skill_eval_nb.text import count

from .catalogue import Catalogue, EvalKey, catalogued, named_by
from .files import Files
from .find import NothingToLoad, PathLike, find, roots_of
from .layout import NO_ITERATION, UNSTATED, FilePlace, Place, RunPlace, eval_parts, natural
from .problems import Problems, report_broken_rates
from .read import SideRun, load_any, load_raw, place_of_metadata, read_files, sides_in

OF_A_RUN = ("grading", "structural", "timing", "metrics")
INSIDE_OUTPUTS = ("grading", "metrics")
"""The kinds of document that lie in a run's folder, and those that may lie in its outputs."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """A document with its file, its place, its raw value and its shared form."""

    kind: str
    path: str
    place: Place
    raw: Any
    document: Any


class CheckedRun(NamedTuple):
    """A run with its documents; `disk` is what lies in its folder, where that is its own."""

    place: Place
    number: int
    path: str
    documents: list[Gathered]
    disk: RunPlace | None


def gather_files(files: Iterable[FilePlace], problems: Problems) -> Iterator[Gathered]:
    """The documents that belong to no single run."""
    for file in files:
        raw = load_any(file.path, problems)
        if raw is None or tool_of(raw) is not None:
            continue
        kind = kind_of(os.path.basename(file.path), raw)
        if kind is None and tool_of(raw, others=True) is None:
            problems.add("info", "not-a-document", file.path, "left out: it is no known document")
        if kind is None:
            continue
        place = place_of_metadata(file) if kind == "eval_metadata" else file.place
        yield Gathered(kind, file.path, place, raw, read(kind, raw)[0])


def gather_run(run: RunPlace, problems: Problems) -> list[CheckedRun]:
    """The run of a folder with its documents; several where one file grades several."""
    documents = []
    gradings: list[CheckedRun] = []
    for kind, path in _of_run(run):
        raw = load_raw(path, problems)
        if raw is not None and kind == "grading":
            gradings = _gradings(run, path, raw)
        elif raw is not None:
            documents.append(Gathered(kind, path, run.place, raw, read(kind, raw)[0]))
    if not gradings:
        return [CheckedRun(run.place, run.number, run.path, documents, run)]
    if len(gradings) == 1:
        grading = gradings[0]
        mine = [replace(document, place=grading.place) for document in documents]
        return [grading._replace(path=run.path, documents=[*grading.documents, *mine], disk=run)]
    for document in documents:
        message = "left out: its folder holds several runs, and it does not say of which it is"
        problems.add("warning", "whose", document.path, message)
    return gradings


def _of_run(run: RunPlace) -> Iterator[tuple[str, str]]:
    for kind in OF_A_RUN:
        inside = f"{run.path}/outputs/{kind}.json"
        if kind == "grading" and run.grading is not None:
            yield kind, run.grading
        elif f"{kind}.json" in run.files:
            yield kind, f"{run.path}/{kind}.json"
        elif run.has_outputs and kind in INSIDE_OUTPUTS and os.path.isfile(inside):
            yield kind, inside
    if run.has_judgings:
        folder = f"{run.path}/judgings"
        for name in sorted(os.listdir(folder), key=natural):
            if name.endswith(".json"):
                yield "judging", f"{folder}/{name}"


def _gradings(run: RunPlace, path: str, raw: Any) -> list[CheckedRun]:
    """The runs that a file grades, each with its grading."""
    graded = [(side, read("grading", side.raw)[0]) for side in sides_in(raw, run.place)]
    if not graded:
        document = read("grading", raw)[0]
        named = document.configuration if run.place.configuration == UNSTATED else None
        graded = [(SideRun(None, named, run.number, raw), document)]
    return [
        CheckedRun(
            place := side.place(run.place),
            side.number,
            path,
            [Gathered("grading", path, place, side.raw, document)],
            None,
        )
        for side, document in graded
    ]


STRICT = "codingbuddy"
"""The dialect that prescribes what others only usually do: here it is an error."""


class Whole(NamedTuple):
    """A workspace with all its documents; `keys` are the evals of each suite, by its file."""

    runs: list[CheckedRun]
    documents: list[Gathered]
    keys: dict[str, list[EvalKey]]
    catalogue: Catalogue

    def of(self, kind: str) -> Iterator[Gathered]:
        """The documents of a kind."""
        return (document for document in self.documents if document.kind == kind)


def check_references(whole: Whole, strict: bool, problems: Problems) -> None:
    """Report what the documents say of each other that does not hold; `strict`: as errors."""
    severity = "error" if strict else "warning"
    for suite in whole.of("evals"):
        _check_ids(suite, problems)
        if not strict:
            _check_runs(suite, whole, problems)
    _check_prompts(whole, problems)
    for metadata in whole.of("eval_metadata"):
        _check_folder_number(metadata, severity, problems)
    for feedback in whole.of("feedback"):
        _check_run_ids(feedback, whole, severity, problems)
    for triggers in whole.of("triggers"):
        report_broken_rates(triggers.document, triggers.path, problems)


def _check_ids(suite: Gathered, problems: Problems) -> None:
    counts = Counter(str(eval_.id) for eval_ in suite.document.evals if eval_.id is not None)
    for id_, times in counts.items():
        if times > 1:
            message = f"{times} evals have the id {id_}; give each its own"
            problems.add("error", "duplicate-id", suite.path, message, where="$.evals[*].id")


def _check_runs(suite: Gathered, whole: Whole, problems: Problems) -> None:
    """Each eval of the suite was run with every configuration of an iteration."""
    there: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for run in whole.runs:
        key = whole.catalogue.eval_of(run.place)
        there[run.place.iteration].add((key.id, run.place.configuration))
    for iteration in sorted(there, key=natural):
        sides = sorted({side for _, side in there[iteration]} - {UNSTATED})
        for position, key in enumerate(whole.keys[suite.path]):
            missing = [side for side in sides if (key.id, side) not in there[iteration]]
            if missing:
                message = f"eval {key.id} has no run of {' or '.join(missing)} in {iteration}"
                where = f"$.evals[{position}]"
                problems.add("info", "missing-runs", suite.path, message, where=where)


def _check_prompts(whole: Whole, problems: Problems) -> None:
    """The prompt that an eval was run with is that of a suite."""
    prompts: dict[str, dict[str, str]] = defaultdict(dict)
    for suite in whole.of("evals"):
        for key, eval_ in zip(whole.keys[suite.path], suite.document.evals, strict=True):
            prompts[key.id].setdefault(eval_.prompt.strip(), suite.path)
    for other in whole.of("eval_metadata"):
        known = prompts.get(whole.catalogue.eval_of(other.place).id)
        prompt = other.document.prompt
        if known and prompt and prompt.strip() not in known:
            path = next(iter(known.values()))
            message = f"another prompt than {path} has for this eval; make them the same"
            problems.add("warning", "other-prompt", other.path, message, where="$.prompt")


def _check_folder_number(metadata: Gathered, severity: Severity, problems: Problems) -> None:
    number, _ = eval_parts(metadata.place.eval)
    stated_id = metadata.document.eval_id
    if number is not None and stated_id is not None and str(stated_id) != number:
        message = f"eval_id is {stated_id}, but its folder is {metadata.place.eval}"
        problems.add(severity, "other-id", metadata.path, message, where="$.eval_id")


def _check_run_ids(file: Gathered, whole: Whole, severity: Severity, problems: Problems) -> None:
    """Each run id of feedback names a run of its iteration."""
    known = set(_known_runs(file, whole))
    sides = {side for _, side, _ in known if side}
    for position, review in enumerate(file.document.reviews):
        named, side, number = named_by(review.run_id, sides)
        key = whole.catalogue.index.find(
            file.place.workspace, file.place.iteration, eval_parts(named)[0], named
        )
        id_ = key.id if key else eval_parts(named)[0] or named
        if (id_, side, number) not in known:
            message = (
                f"run id {review.run_id!r} names no run of {file.place.iteration}; "
                "write eval-<id>-<configuration>"
            )
            where = f"$.reviews[{position}].run_id"
            problems.add(severity, "unknown-run", file.path, message, where=where)


def _known_runs(
    feedback: Gathered, whole: Whole
) -> Iterable[tuple[str | None, str | None, int | None]]:
    """The runs of the iteration that feedback is on: on disk, or stated by a benchmark."""
    iteration = feedback.place.iteration
    for run in whole.runs:
        if run.place.iteration == iteration:
            id_ = whole.catalogue.eval_of(run.place).id
            yield id_, run.place.configuration, run.number
            yield id_, run.place.configuration, None
    for stating in whole.catalogue.benchmarks:
        if (stating.place.workspace, stating.iteration) == (feedback.place.workspace, iteration):
            for row in stating.document.runs:
                yield str(row.eval_id), row.configuration, row.run_number
                yield str(row.eval_id), row.configuration, None


SIDES = ("with_skill", "without_skill")
AT_THE_ROOT = ("evals", "triggers")
IN_AN_ITERATION = ("benchmark", "feedback")


def check_layout(whole: Whole, folder: str, problems: Problems) -> None:
    """Report what is not where it belongs, or not there at all.

    Eval N of the suite has the folder eval-(N-1) in every iteration, with metadata for both
    sides; verdicts are on the assertions of this metadata; the benchmark is of the
    iteration that it lies in.
    """
    suites = list(whole.of("evals"))
    metadata = {(doc.place, os.path.dirname(doc.path)): doc for doc in whole.of("eval_metadata")}
    described = {file.place for file in metadata.values()}
    for suite in suites:
        _check_folders(suite, whole, described, problems)
    if suites:
        _check_strangers(suites, whole, problems)
    for grading in whole.of("grading"):
        about = metadata.get((grading.place, os.path.dirname(grading.path)))
        if about is not None:
            _check_verdicts(grading, about, problems)
    for benchmark in whole.of("benchmark"):
        _check_benchmark(benchmark, suites, whole, problems)
    _check_places(whole, folder, problems)


def is_kept(whole: Whole, main: str | None) -> bool:
    """Whether a workspace is written like this; `main` is the dialect that suits it best.

    A benchmark of this dialect is like no other; metadata for each side is less telling.
    """
    benchmarks = (source_of(benchmark.document) for benchmark in whole.of("benchmark"))
    return any(source is not None and source.dialect == STRICT for source in benchmarks) or (
        main == STRICT
        and any(metadata.place.configuration in SIDES for metadata in whole.of("eval_metadata"))
    )


def _check_folders(
    suite: Gathered, whole: Whole, described: set[Place], problems: Problems
) -> None:
    for iteration in sorted({run.place.iteration for run in whole.runs}, key=natural):
        for position, eval_ in enumerate(suite.document.evals):
            if not isinstance(eval_.id, int) or eval_.id < 1:
                continue
            name = f"eval-{eval_.id - 1}"
            for side in SIDES:
                if Place(suite.place.workspace, iteration, name, side) not in described:
                    message = (
                        f"eval {eval_.id} wants {iteration}/{name}/{side}/eval_metadata.json, "
                        "which is not there"
                    )
                    where = f"$.evals[{position}]"
                    problems.add("error", "missing-folder", suite.path, message, where=where)


def _check_strangers(suites: Iterable[Gathered], whole: Whole, problems: Problems) -> None:
    """Every eval folder belongs to an eval of the suite."""
    known = {
        f"eval-{eval_.id - 1}"
        for suite in suites
        for eval_ in suite.document.evals
        if isinstance(eval_.id, int)
    }
    reported: set[tuple[str, str]] = set()
    for run in whole.runs:
        at = (run.place.iteration, run.place.eval)
        if run.place.eval != UNSTATED and run.place.eval not in known and at not in reported:
            reported.add(at)
            message = (
                f"{run.place.eval} belongs to no eval of evals.json (eval-N is that of id N+1)"
            )
            problems.add("error", "unknown-eval", os.path.dirname(run.path), message)


def _check_verdicts(grading: Gathered, about: Gathered, problems: Problems) -> None:
    asserted = [assertion.text for assertion in about.document.assertions]
    graded = [expectation.text for expectation in grading.document.expectations]
    for position, text in enumerate(graded):
        if text not in asserted:
            message = "eval_metadata.json has no assertion with this description"
            where = f"$.expectations[{position}].text"
            problems.add("warning", "unknown-expectation", grading.path, message, where=where)
    for position, text in enumerate(asserted):
        if text not in graded:
            message = f"grading.json has no verdict on {text!r}"
            where = f"$.assertions[{position}].description"
            problems.add("warning", "ungraded-assertion", about.path, message, where=where)


def _check_benchmark(
    benchmark: Gathered, suites: list[Gathered], whole: Whole, problems: Problems
) -> None:
    for document in benchmark.document:
        metadata = document.metadata
        iteration = f"iteration-{metadata.iteration}"
        if benchmark.place.iteration not in (NO_ITERATION, iteration):
            folder = benchmark.place.iteration
            message = f"iteration is {metadata.iteration}, but the file lies in {folder}"
            problems.add("error", "other-iteration", benchmark.path, message, where="$.iteration")
        names = {suite.document.skill_name for suite in suites}
        if names and metadata.skill_name not in names:
            known_names = ", ".join(map(str, names))
            message = f"skill_name is {metadata.skill_name}, but evals.json says {known_names}"
            problems.add("error", "other-skill", benchmark.path, message, where="$.skill_name")
        folders = {
            run.place.eval for run in whole.runs if run.place.iteration == benchmark.place.iteration
        }
        stated = dict.fromkeys(str(run.eval_id) for run in document.runs)
        for position, id_ in enumerate(stated):
            if folders and f"eval-{id_}" not in folders:
                message = f"eval_id is {id_}, but {benchmark.place.iteration} has no eval-{id_}"
                where = f"$.eval_results[{position}].eval_id"
                problems.add("error", "unknown-eval", benchmark.path, message, where=where)


def _check_places(whole: Whole, folder: str, problems: Problems) -> None:
    for document in whole.documents:
        if document.kind in AT_THE_ROOT and os.path.dirname(document.path) != folder:
            message = f"it belongs into {folder}"
            problems.add("warning", "misplaced", document.path, message)
        elif document.kind in IN_AN_ITERATION and document.place.iteration == NO_ITERATION:
            message = "it belongs into the folder of its iteration: iteration-1, …"
            problems.add("warning", "misplaced", document.path, message)


ENOUGH = 40
"""So many documents of a kind tell its dialect."""

_FOREIGN = 1000
"""So many errors weighs a document of which a dialect knows none of the lists and objects."""


def nearest(documents: Iterable[Gathered]) -> dict[str, str | None]:
    """For each kind of document the dialect in which these have the fewest errors.

    Where several have equally few, the one that suits all the documents best counts, then
    the one that most of them look like. A kind that the main dialect lacks is of no dialect
    where it suits none.
    """
    by_kind: dict[str, list[Gathered]] = defaultdict(list)
    for document in documents:
        by_kind[document.kind].append(document)
    errors = {kind: _errors(kind, ones) for kind, ones in by_kind.items()}
    overall = {name: sum(counts.get(name, 1) for counts in errors.values()) for name in DIALECTS}
    sources = (source_of(file.document) for ones in by_kind.values() for file in ones[:ENOUGH])
    looks = Counter(source.dialect for source in sources if source is not None)
    best: dict[str, str | None] = {
        kind: min(
            counts, key=lambda name: (counts[name], overall[name], -looks[name]), default=None
        )
        for kind, counts in errors.items()
    }
    for kind, name in best.items():
        if name is not None and errors[kind][name] >= _FOREIGN * len(_sample(by_kind[kind])):
            best[kind] = None
    main = main_of(best)
    for kind, name in best.items():
        foreign = main is not None and kind not in DIALECTS[main]
        if name is not None and foreign and errors[kind][name]:
            best[kind] = None
    return best


def _errors(kind: str, documents: list[Gathered]) -> dict[str, int]:
    """The errors of documents of a kind by the dialects that have it."""
    raws = [sample(document.raw) for document in _sample(documents)]
    return {
        name: sum(
            sum(fault.severity == "error" for fault in check_document(kind, raw, name))
            + _FOREIGN * is_foreign(kind, raw, name)
            for raw in raws
        )
        for name, forms in DIALECTS.items()
        if kind in forms
    }


def _sample(documents: list[Gathered]) -> list[Gathered]:
    return documents[:: -(-len(documents) // ENOUGH)]


def main_of(against: Mapping[str, str | None]) -> str | None:
    """The dialect of most kinds of document; feedback is much the same in all, and counts last."""
    decisive = {kind: name for kind, name in against.items() if kind != "feedback"}
    counts = Counter(name for name in (decisive or against).values() if name)
    return counts.most_common(1)[0][0] if counts else None


def suite_keys(files: Files, catalogue: Catalogue) -> dict[str, tuple[str, list[EvalKey]]]:
    """By the file of each suite its workspace, and the key of each of its evals, in their order."""
    definitions = iter(catalogue.definitions)
    return {
        suite.path: (suite.workspace, [next(definitions)[1] for _ in suite.document.evals])
        for suite in files.suites
    }


SKILLS = ("", "skills/*", ".claude/skills/*")
"""Where skills lie below a folder that is checked; in one called `skills` they lie at once."""


def check(path: PathLike | Iterable[PathLike], dialect: str | None = None) -> Problems:
    """Every fault of files or of all documents of workspaces and skills, with file and JSON path.

    Each workspace is checked on its own, against the dialect that its documents are nearest
    to, kind by kind; a SKILL.md against what hosts take.

    Args:
        path: a file or a folder, a list of them, or a glob.
        dialect: what to check against; found out from the documents where it is not given.

    Returns:
        the problems: what each document breaks of the dialect's rules, and what the
        documents say of each other that does not hold (ids, folders, run ids of feedback).

    Raises:
        FileNotFoundError: `path` does not exist.
        NothingToLoad: there is no evaluation document.
        NoSuchDocument: there is no such dialect.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise NoSuchDocument(f"there is no dialect `{dialect}`; there are {', '.join(DIALECTS)}")
    skills = Problems()
    there = [file for root in roots_of(path) for file in _skills(root)]
    for file in there:
        skill_md = read_skill_md(Path(file))
        for message in skill_md.faults:
            skills.add("error", "skill", file, message)
        for message in skill_md.warnings:
            skills.add("warning", "skill", file, message)
    try:
        found = find(path)
    except NothingToLoad:
        if there:
            return skills
        raise
    problems = found.problems
    problems += skills
    noted = Problems()
    files = read_files(found.layout.files, noted)
    _report_tools(files, noted, problems)
    catalogue = catalogued(found.layout, files, found.base, Problems())
    suites = suite_keys(files, catalogue)
    loaded = {suite.path: suite.document for suite in files.suites}
    refused = [problem for problem in noted if problem.code == "too-large"]
    problems += refused
    left_out = {problem.path for problem in refused}
    files_left = (file for file in found.layout.files if file.path not in left_out)
    beside = list(gather_files(files_left, problems))
    runs = [run for place in found.layout.runs for run in gather_run(place, problems)]
    keys = {suite: of_it for suite, (_, of_it) in suites.items()}
    for folder in catalogue.names:
        mine = [run for run in runs if run.place.workspace == folder]
        documents = [document for run in mine for document in run.documents]
        documents += [
            replace(
                document,
                place=replace(document.place, workspace=folder),
                document=loaded.get(document.path, document.document),
            )
            for document in beside
            if (suites.get(document.path) or (document.place.workspace,))[0] == folder
        ]
        if documents:
            _check_workspace(folder, Whole(mine, documents, keys, catalogue), dialect, problems)
    return problems


def _report_tools(files: Files, noted: Problems, problems: Problems) -> None:
    """What was found in the files of other tools, which follow no dialect."""
    tools: dict[str, str] = {file.path: file.tool or "" for file, _ in files.results}
    homes = {run.path for _, results in files.results for run in results.runs}
    problems += [problem for problem in noted if problem.path in tools or problem.path in homes]
    for tool, number in Counter(tools.values()).items():
        path = next(path for path, of in tools.items() if of == tool)
        message = f"{count(number, 'file')} of {tool}: read as it is, and of no dialect"
        problems.add("info", "tool", path, message)


def _skills(root: str) -> list[str]:
    if os.path.basename(root) == SKILL_FILE:
        return [root]
    below = ("*",) if os.path.basename(os.path.abspath(root)) == "skills" else ()
    patterns = [os.path.join(glob.escape(root), folder, SKILL_FILE) for folder in (*SKILLS, *below)]
    found = (file for pattern in patterns for file in sorted(glob.glob(pattern)))
    return [file for file in found if leads_out(file, root) is None]


def _check_workspace(folder: str, whole: Whole, dialect: str | None, problems: Problems) -> None:
    against = nearest(whole.documents)
    strict = dialect == STRICT or (dialect is None and is_kept(whole, main_of(against)))
    if strict or dialect is not None:
        against |= dict.fromkeys(against.keys() & DIALECTS[dialect or STRICT], dialect or STRICT)
    for document in whole.documents:
        kind, raw, name = document.kind, document.raw, against[document.kind]
        faults = check_document(kind, raw, name) if name else read(kind, raw)[1]
        problems.add_faults(document.path, faults.collapsed())
    check_references(whole, strict, problems)
    if strict:
        check_layout(whole, folder, problems)
    for name in dict.fromkeys(against.values()):
        of_it = ", ".join(kind for kind, of in against.items() if of == name)
        what = f"checked against `{name}`" if name else "of no dialect"
        problems.add("info", "dialect", folder, f"{what}: {of_it}")
