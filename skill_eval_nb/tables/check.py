"""Check files, or whole workspaces: what loading meets, what a dialect prescribes, what differs."""

from __future__ import annotations

import glob
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import to_builtins

from skill_eval_nb.disk import leads_out
from skill_eval_nb.documents.base import Severity
from skill_eval_nb.documents.dialects import (
    DIALECTS,
    HOME_MADE,
    Distance,
    NoSuchDocument,
    distances,
    read_as_shared,
    recognise,
)
from skill_eval_nb.documents.dialects import check as check_document
from skill_eval_nb.documents.sides import SIDES
from skill_eval_nb.skill_md import SKILL_FILE, find_leaks, read_skill_md, read_skill_of
from skill_eval_nb.text import count, some
from skill_eval_nb.workspace import (
    NO_ITERATION,
    UNSTATED,
    Catalogue,
    NothingToLoad,
    PathLike,
    Place,
    Problem,
    Problems,
    catalogue_files,
    find,
    natural_key,
)
from skill_eval_nb.workspace.find import roots_of
from skill_eval_nb.workspace.folders import eval_parts
from skill_eval_nb.workspace.problems import settle_problems
from skill_eval_nb.workspace.read import load_any

from .workspace import assemble


class Gathered(NamedTuple):
    """A document with its file, its place, its plain value and how far it is from dialects."""

    kind: str
    path: str
    place: Place
    raw: Any
    distances: dict[str, Distance]

    @property
    def dialect(self) -> str:
        """The dialect that it looks like, or that it is home-made."""
        return recognise(self.kind, self.raw, self.distances)

    def read(self) -> Any:
        """Its shared form."""
        return read_as_shared(self.kind, self.raw)[0]


class Whole(NamedTuple):
    """A workspace: its folder, the places of its runs, and its documents."""

    folder: str
    places: list[Place]
    documents: list[Gathered]

    def of(self, kind: str) -> Iterator[Gathered]:
        """The documents of a kind."""
        return (document for document in self.documents if document.kind == kind)


STRICT = "codingbuddy"
"""The dialect that prescribes what others only usually do."""


def check_layout(whole: Whole, severity: Severity) -> Iterator[Problem]:
    """Find what is missing, or is not where the strict dialect has it.

    Eval N of the suite has the folder eval-(N-1) in every iteration, with metadata for both
    sides; verdicts are on the assertions of this metadata; the benchmark is of the
    iteration that it lies in.
    """
    suites = {suite.path: suite.read() for suite in whole.of("evals")}
    metadata = {(doc.place, os.path.dirname(doc.path)): doc for doc in whole.of("eval_metadata")}
    described = {doc.place for doc in metadata.values()}
    known = {UNSTATED}
    iterations = sorted({place.iteration for place in whole.places}, key=natural_key)
    for path, suite in suites.items():
        numbered = [(at, one.id) for at, one in enumerate(suite.evals) if isinstance(one.id, int)]
        folders = [(at, id_, f"eval-{id_ - 1}") for at, id_ in numbered if id_ > 0]
        known.update(folder for *_, folder in folders)
        for iteration, (at, id_, folder), side in product(iterations, folders, SIDES):
            if Place(whole.folder, iteration, folder, side) not in described:
                wanted = f"{iteration}/{folder}/{side}/eval_metadata.json"
                message = f"eval {id_} needs {wanted}, which does not exist"
                yield Problem(severity, "missing-folder", path, message, f"$.evals[{at}]")
    for place in dict.fromkeys(whole.places) if suites else ():
        if place.eval not in known:
            known.add(place.eval)
            message = f"evals.json has no eval for {place.eval} (eval-N is the folder of id N+1)"
            path = f"{whole.folder}/{place.iteration}/{place.eval}"
            yield Problem(severity, "unknown-eval", path, message)
    for grading in whole.of("grading"):
        about = metadata.get((grading.place, os.path.dirname(grading.path)))
        if about is not None:
            yield from _check_verdicts(grading, about)
    names = {suite.skill_name for suite in suites.values()}
    for benchmark in whole.of("benchmark"):
        yield from _check_benchmark(benchmark, names, whole.places, severity)
    yield from _check_places(whole)


def _check_places(whole: Whole) -> Iterator[Problem]:
    for document in whole.documents:
        kind, folder = document.kind, os.path.dirname(document.path)
        if kind in ("evals", "triggers") and folder != whole.folder:
            message = f"it belongs in {whole.folder}: move it there"
        elif kind in ("benchmark", "feedback") and document.place.iteration == NO_ITERATION:
            message = "it belongs in the folder of its iteration, such as iteration-1"
        else:
            continue
        yield Problem("warning", "misplaced", document.path, message)


def _check_verdicts(grading: Gathered, about: Gathered) -> Iterator[Problem]:
    asserted = [assertion.text for assertion in about.read().assertions]
    graded = [expectation.text for expectation in grading.read().expectations]
    for at, text in enumerate(graded):
        if text not in asserted:
            message, where = "eval_metadata.json has no such assertion", f"$.expectations[{at}]"
            yield Problem("warning", "unknown-expectation", grading.path, message, where)
    for at, text in enumerate(asserted):
        if text not in graded:
            message, where = f"grading.json has no verdict on {text!r}", f"$.assertions[{at}]"
            yield Problem("warning", "ungraded-assertion", about.path, message, where)


def _check_benchmark(
    benchmark: Gathered, names: set[str | None], places: list[Place], severity: Severity
) -> Iterator[Problem]:
    here, path = benchmark.place.iteration, benchmark.path
    for document in benchmark.read():
        metadata = document.metadata
        if here not in (NO_ITERATION, f"iteration-{metadata.iteration}"):
            message = f"iteration is {metadata.iteration}, but the file is in {here}"
            yield Problem(severity, "other-iteration", path, message, "$.iteration")
        if names and metadata.skill_name not in names:
            known_names = ", ".join(map(str, names))
            message = f"skill_name is {metadata.skill_name}, but evals.json says {known_names}"
            yield Problem(severity, "other-skill", path, message, "$.skill_name")
        folders = {place.eval for place in places if place.iteration == here}
        for at, id_ in enumerate(dict.fromkeys(str(run.eval_id) for run in document.runs)):
            if folders and f"eval-{id_}" not in folders:
                message = f"eval_id is {id_}, but {here} has no eval-{id_}"
                where = f"$.eval_results[{at}].eval_id"
                yield Problem(severity, "unknown-eval", path, message, where)


def check_references(whole: Whole, catalogue: Catalogue, severity: Severity) -> Iterator[Problem]:
    """Find where a prompt or an id of an eval's metadata is not that of its suite or folder."""
    prompts: dict[str, set[str]] = defaultdict(set)
    for workspace, key, eval_ in catalogue.definitions:
        if workspace == whole.folder:
            prompts[key.id].add(eval_.prompt.strip())
    for metadata in whole.of("eval_metadata"):
        document, path = metadata.read(), metadata.path
        known = prompts.get(catalogue.eval_of(metadata.place).id)
        if known and document.prompt and document.prompt.strip() not in known:
            message = "the suite has a different prompt for this eval; make them the same"
            yield Problem("warning", "other-prompt", path, message, "$.prompt")
        number, _ = eval_parts(metadata.place.eval)
        if number is not None and document.eval_id is not None and str(document.eval_id) != number:
            message = f"eval_id is {document.eval_id}, but its folder is {metadata.place.eval}"
            yield Problem(severity, "other-id", path, message, "$.eval_id")


def check_leaks(whole: Whole) -> Iterator[Problem]:
    """Find prompts and checks of a suite that quote the skill in whose folder it lies."""
    for suite in whole.of("evals"):
        if (skill := read_skill_of(Path(suite.path))) is None:
            continue
        for at, eval_ in enumerate(suite.read().evals):
            for where, quotes in find_leaks(to_builtins(eval_), skill):
                message = f"it quotes the skill ({some(quotes, 6)}), so it may measure obedience"
                yield Problem("info", "leak", suite.path, message, f"$.evals[{at}].{where}")


def check_runs(catalogue: Catalogue, runs: Any, problems: Problems) -> None:
    """Report the evals of a suite of which an iteration has no run; `runs` is the table."""
    of_iteration = runs.group_by("workspace", "iteration").agg("eval_id").rows()
    there = sorted(of_iteration, key=lambda row: natural_key(row[1]))
    for suite in catalogue.files.suites:
        for workspace, iteration, ran in there:
            if workspace != catalogue.names[suite.workspace][0]:
                continue
            absent = [key.id for key in suite.keys if key.id not in ran]
            if absent and len(absent) < len(suite.keys):
                evals = f"{count(len(absent), 'eval')} ({some(absent, 6)})"
                message = f"not run in {iteration}: {evals}"
                problems.add("info", "missing-runs", suite.path, message, where="$.evals")


_FOREIGN = 1000
"""So many errors weighs a document of which a dialect knows none of the lists and objects."""


def find_nearest(documents: Iterable[Gathered], names: Iterable[str]) -> dict[str, str | None]:
    """For each kind of document the dialect of these names in which they have the fewest errors.

    If several have equally few, the one that suits all the documents best counts, then
    the one that most of them look like. A kind that the main dialect lacks is of no dialect
    if it suits none.
    """
    by_kind: dict[str, list[Gathered]] = defaultdict(list)
    for document in documents:
        by_kind[document.kind].append(document)
    errors = {
        kind: {
            name: sum(of[name].errors + _FOREIGN * of[name].foreign for *_, of in ones)
            for name in names
            if name in ones[0].distances
        }
        for kind, ones in by_kind.items()
    }
    overall = {name: sum(counts.get(name, 1) for counts in errors.values()) for name in names}
    looks = Counter(file.dialect for ones in by_kind.values() for file in ones)
    best: dict[str, str | None] = {}
    for kind, counts in errors.items():
        name = min(counts, key=lambda one: (counts[one], overall[one], -looks[one]), default="")
        is_foreign = not name or counts[name] >= _FOREIGN * len(by_kind[kind])
        best[kind] = None if is_foreign else name
    # feedback is much the same in all, and counts last
    decisive = [name for kind, name in best.items() if name and kind != "feedback"]
    main = next((name for name, _ in Counter(decisive).most_common(1)), best.get("feedback"))
    for kind, name in best.items():
        if name and main is not None and kind not in DIALECTS[main] and errors[kind][name]:
            best[kind] = None
    return best


def _is_strict(whole: Whole) -> bool:
    """Whether a workspace is written as the strict dialect has it.

    A benchmark of this dialect is like no other, and so is metadata for each side.
    """
    sides = (doc for doc in whole.of("eval_metadata") if doc.place.configuration in SIDES)
    return any(document.dialect == STRICT for document in (*whole.of("benchmark"), *sides))


SKILLS = ("", "skills/*", ".claude/skills/*")
"""Where skills lie below a folder that is checked; in one called `skills` they lie at once."""


def check(path: PathLike | Iterable[PathLike], dialect: str | None = None) -> list[Problem]:
    """The problems of files, workspaces and skills: all that `load(path).problems` has, and more.

    What is more: what each document breaks of the rules of its dialect, what metadata says
    otherwise than suite and folder, evals that an iteration left out, and what hosts would not
    take of a SKILL.md. Each workspace is checked on its own, against the dialect that its
    documents are nearest to, kind by kind. To break a rule loses nothing, so it is a warning; of
    a dialect that was asked for, an error.

    Args:
        path: a file or a folder, a list of them, or a glob.
        dialect: what to check against; found out from the documents if it is not given.

    Raises:
        FileNotFoundError: `path` does not exist.
        NothingToLoad: there is no evaluation document.
        NoSuchDocument: there is no such dialect.
    """
    if dialect is not None and dialect not in DIALECTS:
        raise NoSuchDocument(f"there is no dialect `{dialect}`; there are {', '.join(DIALECTS)}")
    skills = [file for root in roots_of(path) for file in _find_skills(root)]
    of_skills = [problem for file in skills for problem in _check_skill(file)]
    try:
        found = find(path)
    except NothingToLoad:
        if skills:
            return of_skills
        raise
    met, found.read = found.problems, {}
    catalogue = catalogue_files(found)
    frames = assemble(catalogue, texts=True)
    told = {  # a warning of the loader says less than the error of a dialect that was asked for
        (problem.path, problem.code, problem.where)
        for problem in met
        if dialect is None or problem.severity == "error"
    }
    more = Problems()
    check_runs(catalogue, frames["runs"], more)
    for whole in _gather_workspaces(catalogue):
        _check_workspace(whole, catalogue, dialect, told, more)
    of_tools = [file for file, _ in catalogue.files.results]
    for tool, number in Counter(file.tool or "" for file in of_tools).items():
        path_of = next(file.path for file in of_tools if file.tool == tool)
        message = f"{count(number, 'file')} of {tool}: read, but not checked against a dialect"
        more.add("info", "tool", path_of, message)
    loaded = settle_problems(met, catalogue.names, found.base)  # of the table, names as they are
    both = [*loaded, *settle_problems(more, catalogue.names, found.base)]
    return [*of_skills, *(problem.within(found.base) for problem in both)]


def _gather_workspaces(catalogue: Catalogue) -> Iterator[Whole]:
    """Each workspace with its documents; a suite is of the one that it defines the evals of."""
    layout, files = catalogue.layout, catalogue.files
    homes = {file.path: file.place.workspace for _, file, _ in files.others}
    homes |= {suite.path: suite.workspace for suite in files.suites}
    wholes: dict[str, Whole] = {}
    for path, (kind, place) in (layout.read or {}).items():
        if (raw := load_any(path, Problems())) is not None:
            folder = homes.get(path, place.workspace)
            whole = wholes.setdefault(folder, Whole(folder, [], []))
            whole.documents.append(Gathered(kind, path, place, raw, distances(kind, raw)))
    for run in layout.runs:
        if run.place.workspace in wholes:
            wholes[run.place.workspace].places.append(run.place)
    yield from wholes.values()


def _check_workspace(
    whole: Whole,
    catalogue: Catalogue,
    dialect: str | None,
    told: set[tuple[str, str, str | None]],
    problems: Problems,
) -> None:
    severity: Severity = "warning" if dialect is None else "error"
    strict = dialect == STRICT or (dialect is None and _is_strict(whole))
    against = find_nearest(whole.documents, [name for name in DIALECTS if strict or name != STRICT])
    if strict or dialect is not None:
        against |= dict.fromkeys(against.keys() & DIALECTS[dialect or STRICT], dialect or STRICT)
    for document in whole.documents:
        name = against[document.kind]
        if name is not None:
            _check_form(document, name, severity, told, problems)
    problems += check_references(whole, catalogue, severity if strict else "warning")
    problems += check_leaks(whole)
    if strict:
        problems += check_layout(whole, severity)
    of_it: dict[str, list[str]] = defaultdict(list)
    for kind, name in against.items():
        of_it[f"checked against `{name}`" if name else "in no dialect's form"].append(kind)
    message = "; ".join(f"{what}: {', '.join(sorted(kinds))}" for what, kinds in of_it.items())
    problems.add("info", "dialect", whole.folder, message)


def _check_form(
    document: Gathered,
    name: str,
    severity: Severity,
    told: set[tuple[str, str, str | None]],
    problems: Problems,
) -> None:
    """What a document breaks of a dialect's rules, but for what the loader has told of it."""
    kind, path = document.kind, document.path
    if severity == "warning" and document.dialect == HOME_MADE:
        message = f"this `{kind}` document was read, but follows no dialect"
        problems.add("info", "no-dialect", path, message)
        return
    for fault in check_document(kind, document.raw, name).collapsed():
        if fault.severity == "info" or (path, fault.code, fault.where) in told:
            continue
        weight = severity if fault.severity == "error" else "warning"
        problems.add(weight, fault.code, path, f"`{name}`: {fault.message}", where=fault.where)


def _find_skills(root: str) -> list[str]:
    if os.path.basename(root) == SKILL_FILE:
        return [root]
    below = ("*",) if os.path.basename(os.path.abspath(root)) == "skills" else ()
    patterns = [os.path.join(glob.escape(root), folder, SKILL_FILE) for folder in (*SKILLS, *below)]
    found = (file for pattern in patterns for file in sorted(glob.glob(pattern)))
    return [file for file in found if leads_out(file, root) is None]


def _check_skill(file: str) -> Iterator[Problem]:
    skill_md = read_skill_md(Path(file))
    yield from (Problem("error", "skill", file, message) for message in skill_md.faults)
    yield from (Problem("warning", "skill", file, message) for message in skill_md.warnings)
