"""Files become documents: those of an iteration, whatever they are called, and those of a run."""

from __future__ import annotations

import gc
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import msgspec

from skill_eval_nb.disk import NO_LINK, TooLarge, read_bytes
from skill_eval_nb.documents import (
    Benchmark,
    BenchmarkRun,
    Document,
    EvalMetadata,
    Evals,
    Faults,
    Grading,
    Judging,
    Metrics,
    NotJSON,
    RunRecord,
    RunResult,
    Structural,
    Timing,
    mend,
    parse,
)
from skill_eval_nb.documents.base import names_of
from skill_eval_nb.documents.dialects import (
    NEUTRAL,
    kind_of,
    read_as_shared,
)
from skill_eval_nb.documents.dialects.home_made_rows import (
    SURE_OF_EVAL,
    find_rows_of_several,
    share_of,
    with_own_verdict,
)
from skill_eval_nb.documents.parsing import ERRORED, parse_strict
from skill_eval_nb.documents.repair import TOO_LARGE, figures_in, find_unused, is_too_large
from skill_eval_nb.documents.run import STRUCTURAL, read_timing
from skill_eval_nb.documents.sides import UNSTATED
from skill_eval_nb.documents.tools import ENDINGS, Results, open_other, tool_of
from skill_eval_nb.documents.tools import read_tool_file as read_results
from skill_eval_nb.text import in_quotes, natural_key

from .benchmarks import BenchmarkFile, find_contradictions
from .evals import SuiteFile
from .folders import Place, eval_parts, is_followed
from .layout import ELSEWHERE, TRACES, EvalFolder, FilePlace, Layout, RunPlace, folder_of
from .problems import Problems


@dataclass(slots=True)
class Files:
    """The documents besides the runs, with where each lies."""

    metadata: dict[EvalFolder, EvalMetadata] = field(default_factory=dict)
    metadata_places: list[Place] = field(default_factory=list)
    suites: list[SuiteFile] = field(default_factory=list)
    benchmarks: list[tuple[FilePlace, list[Benchmark]]] = field(default_factory=list)
    of_tools: list[BenchmarkFile] = field(default_factory=list)
    others: list[tuple[str, FilePlace, Any]] = field(default_factory=list)
    results: list[tuple[FilePlace, Results]] = field(default_factory=list)
    gradings: set[str] = field(default_factory=set)


D = TypeVar("D", bound=Document)

_MAKING = Lock()
"""Two threads that ask msgspec for the first decoder of a type at the same time crash the process,
also where the types are two that have a third in them."""


def load_raw(path: str, problems: Problems) -> Any:
    """The plain JSON value of a file, or None if it cannot be read (a problem says why)."""
    data = _file_bytes(path, problems)
    return None if data is None else _parse(data, path, problems)


RESULTS = "results"
"""The kind of files that another tool wrote."""


def load_any(path: str, problems: Problems) -> Any:
    """As `load_raw`, of a file of any ending that is read; None if nothing is known in it."""
    if not path.lower().endswith(ENDINGS):
        if (data := _file_bytes(path, problems)) is None:
            return None
        raw = parse_strict(data)  # a tool's files are long and strict
        return raw if raw is not None and tool_of(raw) else _parse(data, path, problems)
    faults = Faults()
    try:
        raw = open_other(path, faults)
    except OSError as error:
        _report(error, path, problems)
        return None
    except ValueError as error:
        problems.add("error", "unreadable", path, f"this file cannot be read: {error}")
        return None
    problems.add_faults(path, faults)
    return raw


def load_document(path: str, document: type[D], problems: Problems) -> D | None:
    """A file as `document`, or None if it cannot be read (a problem says why)."""
    if (found := load_strictly(path, document)) is not None:
        return found
    if (raw := load_raw(path, problems)) is None:
        return None
    value, faults = mend(raw, document)
    faults.extend(find_unused(value))
    problems.add_faults(path, faults.collapsed())
    return value


def load_strictly(path: str, document: type[D]) -> D | None:
    """A file as `document` if it is just that, else None: `load_raw` says why."""
    try:
        return decoder(document).decode(read_bytes(path))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def load_if_there(
    path: str, document: type[D], problems: Problems, root: str | None = None
) -> D | None:
    """As `load_document`, but a file that is not there is no problem.

    A link that leads out of `root`, if that is given, is a problem and not followed.
    """
    if not NO_LINK and root is not None and not is_followed(path, root, problems):
        return None  # a system that cannot refuse a link when it opens a file
    try:
        return decoder(document).decode(read_bytes(path, flags=NO_LINK))
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        is_there = root is None or is_followed(path, root, problems)
        return load_document(path, document, problems) if is_there else None


@cache
def decoder(document: type[D]) -> msgspec.json.Decoder[D]:
    """The strict decoder of a document; the lock is taken only while there is none yet."""
    with _MAKING:
        return msgspec.json.Decoder(document)


def _file_bytes(path: str, problems: Problems) -> bytes | None:
    try:
        return read_bytes(path)
    except OSError as error:
        _report(error, path, problems)
        return None


def _report(error: OSError, path: str, problems: Problems) -> None:
    if isinstance(error, TooLarge):
        problems.add("error", "too-large", path, f"not read: {error.strerror}")
    elif isinstance(error, PermissionError):
        problems.add("error", "no-permission", path, "not read: check the file's permissions")
    else:
        problems.add("error", "unreadable", path, f"this file cannot be read: {error.strerror}")


def _parse(data: bytes, path: str, problems: Problems) -> Any:
    faults = Faults()
    try:
        raw = parse(data, faults)
    except NotJSON as error:
        problems.add("error", "not-json", path, f"{error}; nothing of this file was used")
        return None
    problems.add_faults(path, faults)
    if raw is None:
        problems.add("error", "empty", path, "the file contains only null, so it was not used")
    return raw


_PLAIN = frozenset("eval_metadata evals benchmark comparison analysis history feedback".split())
"""Kinds of documents whose files are called after them, perhaps with a number behind."""

Known = dict[tuple[str, bytes], Any]
"""Documents by kind and bytes: iterations repeat the metadata of their evals."""


def read_plain(name: str, path: str, known: Known) -> tuple[str | None, Any]:
    """The kind that a file is called after and its document, or None if it is not just that.

    What is `known` from a file of the same bytes is not read again.
    """
    kind, document = re.sub(r"(-\d+)?\.json$", "", name), None
    if kind in _PLAIN:
        # what is not of this form is read tolerantly
        with suppress(OSError, ValueError, AttributeError, TypeError, RecursionError):
            data = read_bytes(path)
            document = known.get((kind, data)) or _as_documented(kind, data)
            if isinstance(document, EvalMetadata | Evals):
                known[kind, data] = document
    return (None, None) if document is None else (kind, document)


def _as_documented(kind: str, data: bytes) -> Any:
    """A file as the document of its kind; None, or an error, if it is not just that."""
    if NEUTRAL[kind] in (EvalMetadata, Evals):
        raw = msgspec.json.decode(data)
        for holder in raw.get("evals", [raw]):
            for key in ("assertions", "expectations"):
                texts = holder.get(key, [])
                texts[:] = [{"text": one} if isinstance(one, str) else one for one in texts]
    elif (raw := parse(data, odd := Faults())) is None or odd:  # such as runs that are given twice
        return None
    document = msgspec.convert(raw, NEUTRAL[kind])
    if isinstance(document, Benchmark):
        return [document] if _is_consistent(document) else None
    lacks_id = isinstance(document, EvalMetadata) and document.eval_id is None
    return None if lacks_id else document


def _is_consistent(benchmark: Benchmark) -> bool:
    """Whether its figures agree, and none of its rates is in percent, of which `problems` tells."""
    sides = benchmark.run_summary.values()
    rates = ((one.pass_rate, one.rubric_normalized, one.overall_efficiency) for one in sides)
    bare = (rate for own in rates for rate in own if isinstance(rate, int | float))
    return not any(find_contradictions(benchmark)) and all(abs(rate) <= 1 for rate in bare)


PROMISING = re.compile(
    r"eval|benchmark|grading|feedback|history|comparison|analysis|trigger|optimi[sz]|result|test.?case",
    re.IGNORECASE,
)
"""Names of JSON files that promise to tell about evals."""


def read_documents(layout: Layout) -> Files:
    """Read all files of a layout, whatever they are called; tools' results are left as they are.

    A JSON file that is none of the documents is a problem of severity info where its name
    promises one; others have nothing to do with evals.
    """
    found, problems = Files(), layout.problems
    known: Known = {}
    for file in layout.files:
        name = os.path.basename(file.path)
        kind, document = read_plain(name, file.path, known)
        if kind is None:
            kind, document = _read_tolerantly(name, file, problems)
        if kind is None:
            continue
        if kind == "eval_metadata" and file.place.eval == UNSTATED:  # it is of the folder it is in
            folder = os.path.basename(os.path.dirname(file.path))
            file = replace(file, place=file.place._replace(eval=folder))  # noqa: PLW2901
        _add(kind, file, document, found, problems)
        if kind != RESULTS:
            layout.note(kind, file.path, file.place)
    return found


def _read_tolerantly(name: str, file: FilePlace, problems: Problems) -> tuple[str | None, Any]:
    """The kind and the document of any file; how it is written matters only if it is used."""
    own = Problems()
    raw = load_any(file.path, own)
    kind, document = (None, None) if raw is None else _document_of(name, file, raw, own)
    problems += (one for one in own if kind is not None or one.code != "repaired-json")
    return kind, document


def _document_of(
    name: str, file: FilePlace, raw: Any, problems: Problems
) -> tuple[str | None, Any]:
    path = file.path
    if (tool := tool_of(raw)) is not None:
        return RESULTS, (tool, read_results(tool, raw, path))
    if is_too_large(raw):
        if PROMISING.search(name) or next(figures_in(raw), None) is not None:
            problems.add("error", "too-large", path, TOO_LARGE)
        return None, None
    kind = kind_of(name, raw)
    if kind is None:
        figure, _ = next(figures_in(raw), (None, None))
        if _says_end(raw) and os.path.isfile(f"{os.path.dirname(path)}/grading.json"):
            return None, None  # the run that it is of reads it
        if (PROMISING.search(name) and not file.of_run) or figure is not None:
            if (tool := tool_of(raw, others=True)) is not None:
                return RESULTS, (tool, read_results(tool, raw, path))
            problems.add("info", "not-a-document", path, _say_unknown(raw), where=figure)
        return None, None
    return kind, _read_of_any_dialect(kind, raw, path, problems)


def _add(kind: str, file: FilePlace, document: Any, found: Files, problems: Problems) -> None:
    if kind == "eval_metadata":
        _add_metadata(file, document, found, problems)
    elif kind == "evals":
        found.suites.append(SuiteFile(file.path, file.place.workspace, document))
    elif kind == "benchmark":
        found.benchmarks.append((file, document))
    elif kind == RESULTS:
        tool, several = document
        found.results += [(replace(file, tool=tool), results) for results in several]
    elif kind in OF_MANY_RUNS:
        if kind == "triggers" and document.skill_name is None:
            document.skill_name = _skill_in(file.path)
        found.others.append((kind, file, document))
    elif kind == "grading" and os.path.basename(file.path) in ELSEWHERE:
        found.gradings.add(file.path)
    elif not file.of_run:
        _report_unused(kind, file.path, problems)


def _report_unused(kind: str, path: str, problems: Problems) -> None:
    """Say why a document of one run was not used."""
    severity, code, why = "warning", "above-runs", "it is in no run's folder"
    usual = f"{os.path.dirname(path)}/{kind}.json"
    if _is_below(path):
        severity, why = "info", "a run below says the same"
    elif usual != path and os.path.isfile(usual):
        code, why = "not-used", f"{kind}.json next to it counts"
    problems.add(severity, code, path, f"a {kind} document that was not used: {why}")


OF_MANY_RUNS = frozenset(
    "comparison analysis history feedback triggers optimization suggestions".split()
)
"""Kinds of documents that have rows of their own; what is of one run is read with the run."""


def _is_below(path: str) -> bool:
    """Whether a file of the same name, in a folder beside it, says the same, or more."""
    folder, name = os.path.split(path)
    mine = load_raw(path, Problems())
    below = (f"{folder}/{entry}/{name}" for entry in sorted(os.listdir(folder)))
    others = (load_raw(one, Problems()) for one in below if os.path.isfile(one))
    return isinstance(mine, dict) and any(
        isinstance(other, dict) and {**other, **mine} == other for other in others
    )


def _skill_in(path: str) -> str | None:
    """The skill that a set is called after, in a folder that has one for each skill.

    >>> _skill_in("evals/per-skill/tdd.json"), _skill_in("evals/trigger_evals.json")
    ('tdd', None)
    """
    folder, name = os.path.split(path)
    for_skills = re.search(r"(?:per|by|each)[-_ ]?skill", os.path.basename(folder), re.IGNORECASE)
    return name.removesuffix(".json") if for_skills else None


def _add_metadata(
    file: FilePlace, document: EvalMetadata, found: Files, problems: Problems
) -> None:
    """The metadata in the eval's own folder counts before that of a single run.

    What it leaves open is as another file says; what another says otherwise is told.
    """
    folder = folder_of(file.place)
    found.metadata_places.append(file.place)
    known = found.metadata.setdefault(folder, document)
    left_open: dict[str, Any] = {}
    for name in _OF_EVAL if known is not document else ():
        own, used = getattr(document, name), getattr(known, name)
        if used in _OPEN:
            left_open[name] = own
        elif own not in _OPEN and str(own) != str(used):
            both = "" if name == "assertions" else f": {in_quotes(own)}, there {in_quotes(used)}"
            message = f"not the {name} of the same eval's metadata elsewhere, which counts{both}"
            problems.add("warning", "disagree", file.path, message, where=f"$.{name}")
    if left_open:
        found.metadata[folder] = msgspec.structs.replace(known, **left_open)


_OF_EVAL = ("eval_id", "eval_name", "prompt", "assertions")
"""What metadata says of an eval, and not of one run of it."""
_OPEN = (None, "", [])


def _say_unknown(raw: Any) -> str:
    keys = ", ".join(list(raw)[:5]) if isinstance(raw, dict) else ""
    what = f"an object with {keys}" if keys else type(raw).__name__
    return f"not read: {what} is none of the known documents"


def read_run(run: RunPlace, layout: Layout) -> list[tuple[Place, RunRecord]]:
    """The run of a folder, numbered, with its place; several if one file grades several."""
    found = _read_folder(run, layout)
    if "result.json" in run.files and len(found) == 1:
        raw = load_raw(end := f"{run.path}/result.json", Problems())
        if _says_end(raw):
            _add_end(found[0][1], raw, end, layout.problems)
    return found


def _says_end(raw: Any) -> bool:
    """Whether a file beside a run's grading says how the run ended, as agentv's result.json."""
    return isinstance(raw, dict) and isinstance(raw.get("execution_status"), str)


def _add_end(run: RunRecord, raw: dict[str, Any], file: str, problems: Problems) -> None:
    """Add what it took and on which target; what did not run to its end was not graded either."""
    run.timing = timing = run.timing or _timing_in_object(raw, file, problems)
    timing.model = timing.model or str(raw.get("target") or raw.get("model") or "") or None
    status = raw["execution_status"].lower()
    if not ERRORED.isdisjoint((status, *re.split("[^a-z]+", status))):
        timing.status, run.grading = "error", None
        timing.reason = str(raw.get("error") or raw["execution_status"])


def _read_folder(run: RunPlace, layout: Layout) -> list[tuple[Place, RunRecord]]:
    record = RunRecord(run_number=run.number, path=run.path)
    path, files = run.path, run.files
    if "structural.json" in files:
        record.structural = _load_of_run(run, "structural", Structural, layout)
    if "timing.json" in files:
        record.timing = _load_of_run(run, "timing", Timing, layout)
    if "metrics.json" in files:
        record.metrics = _load_of_run(run, "metrics", Metrics, layout)
    elif run.has_outputs and not _agents_alone(record):
        inside = f"{path}/outputs/metrics.json"
        record.metrics = load_if_there(inside, Metrics, layout.problems, run.place.workspace)
        if record.metrics is not None:
            layout.note("metrics", inside, run.place)
    if run.has_judgings:
        record.judgings = list(_read_judgings(run, layout))
    if "grading.json" in files and run.place.configuration != UNSTATED:
        grading = load_strictly(f"{path}/grading.json", Grading)
        if grading is not None:
            layout.note("grading", f"{path}/grading.json", run.place)
            _keep_grading(record, grading)
            return [(run.place, record)]
    return _read_unusual(run, record, layout)


def _load_of_run(run: RunPlace, kind: str, form: type[D], layout: Layout) -> D | None:
    """A document in a run's folder, called after its kind."""
    path = f"{run.path}/{kind}.json"
    document = load_document(path, form, layout.problems)
    if document is not None:
        layout.note(kind, path, run.place)
    return document


def _keep_grading(record: RunRecord, grading: Grading | None) -> None:
    """Keep a grading; one that only repeats structural.json is structural, not a judge's."""
    record.checked_alone = grading is not None and grading.layer == STRUCTURAL
    if grading is None or not record.checked_alone:
        record.grading = grading
    elif record.structural is None:
        record.structural = Structural(grading.expectations, grading.summary)


def _read_unusual(
    run: RunPlace, record: RunRecord, layout: Layout
) -> list[tuple[Place, RunRecord]]:
    """A run without a grading, or whose grading lies elsewhere or is of several runs."""
    problems = layout.problems
    record.took_place = run.has_outputs or not TRACES.isdisjoint(run.files)
    grading = _grading_path(run, _agents_alone(record), problems)
    if grading is None:
        return [(run.place, record)]
    raw = load_raw(grading, problems)
    if is_too_large(raw):
        problems.add("error", "too-large", grading, TOO_LARGE)
        raw = None
    elif raw is not None:
        layout.note("grading", grading, run.place)
    faults = Faults()
    sides = [
        (place, _record_of_graded(part, number, run.path, grading, problems))
        for place, number, part in sides_in(raw, run.place, faults)
    ]
    if sides:
        problems.add_faults(grading, faults)
        _report_unowned(run, record, problems)
        if any(place.eval.startswith("row ") for place, _ in sides):
            message = "rows that name no eval: each is a separate eval, named by its position"
            problems.add("warning", "unnamed-eval", grading, message)
        return sides
    if raw is not None:
        _keep_grading(record, _read_of_any_dialect("grading", raw, grading, problems))
    record.unreadable, record.score = raw is None, share_of(raw, "total_score", "score")
    if run.about:
        record.timing = _timing_by_name(run.about, problems)
    place, stated = run.place, record.grading and record.grading.configuration
    if stated and place.configuration == UNSTATED:
        place = place._replace(configuration=stated)
    return [(place, record)]


def _report_unowned(run: RunPlace, record: RunRecord, problems: Problems) -> None:
    """Name what lies beside a grading of several runs, and says of none that it is its."""
    for name in ("structural", "timing", "metrics"):
        if getattr(record, name) is not None:
            message = "not used: its folder has several runs, and it does not say which is its own"
            problems.add("warning", "whose", f"{run.path}/{name}.json", message)


def _record_of_graded(raw: Any, number: int, path: str, file: str, problems: Problems) -> RunRecord:
    """One of several runs that a file grades, with what was measured of it."""
    results = (*names_of(RunResult, "passed"), *names_of(RunResult, "pass_rate"))
    verdicts = raw.keys() & {*names_of(Grading, "expectations")}
    counted = not verdicts and not raw.keys().isdisjoint(results)
    raw = {"expectations": [], **raw} if counted else raw
    grading = _read_of_any_dialect("grading", raw, file, problems)
    timing = _timing_in_object(raw, file, problems)
    return RunRecord(run_number=number, path=path, grading=grading, timing=timing)


def _timing_by_name(files: tuple[str, ...], problems: Problems) -> Timing:
    """Time, tokens and model of a run from files that are called after its eval."""
    known: dict[str, Any] = {}
    for file in files:
        raw = load_raw(file, problems)
        known |= raw if isinstance(raw, dict) else {}
    return _timing_in_object(known, files[0] if files else "", problems)


def _timing_in_object(raw: dict[str, Any], file: str, problems: Problems) -> Timing:
    """What a run took, wherever in an object it stands, but where its judge's figures are."""
    inner = {f"$.{key}": raw[key] for key in raw if not _OF_JUDGE.search(key)}
    faults = Faults()
    timing = read_timing({"$": raw, **inner}, faults)
    problems.add_faults(file, faults.remarkable())
    return timing


_OF_JUDGE = re.compile("judg|grad", re.IGNORECASE)


def _agents_alone(run: RunRecord) -> bool:
    """Whether all that lies in a run's outputs is the agent's, as it is in runs made here.

    Other tools put their own results there; of our runs, a grading there would be the agent's
    word on its own work.
    """
    return run.timing is not None and run.timing.executor is not None


def _grading_path(run: RunPlace, agents_alone: bool, problems: Problems) -> str | None:
    if run.grading is not None:
        return run.grading
    if "grading.json" in run.files:
        return f"{run.path}/grading.json"
    inside = f"{run.path}/outputs/grading.json"
    there = run.has_outputs and not agents_alone and os.path.isfile(inside)
    return inside if there and is_followed(inside, run.place.workspace, problems) else None


def _read_judgings(run: RunPlace, layout: Layout) -> Iterator[Judging]:
    problems = layout.problems
    for name in sorted(os.listdir(f"{run.path}/judgings"), key=natural_key):
        path = f"{run.path}/judgings/{name}"
        if name.endswith(".json") and is_followed(path, run.place.workspace, problems):
            judging = load_document(path, Judging, problems)
            if judging is not None:
                layout.note("judging", path, run.place)
                yield judging


_VERSION = re.compile(r"v?\d", re.IGNORECASE)


def sides_in(raw: Any, place: Place, faults: Faults) -> Iterator[tuple[Place, int, dict[str, Any]]]:
    """The parts of a grading of several runs, with place and number: by configuration, or in lists.

    What a part does not name is that of the file. Rows of no eval, in a file of no eval, are
    an eval each.
    """
    is_side = place.configuration != UNSTATED and not _VERSION.match(place.configuration)
    known = {"configuration": place.configuration} if is_side else {}
    parts = find_rows_of_several(raw, known, faults)
    told = {_first(part, (*SURE_OF_EVAL, "id")) for part in parts}
    listed = isinstance(raw, dict) and "runs" in raw
    many = eval_parts(place.eval)[0] is None and not listed and len(told - {None}) > 1
    is_open = place.eval == UNSTATED or many
    names = (*SURE_OF_EVAL, *(("name", "id") if is_open else ()))
    unnamed = Counter(_first(part, _SIDE) for part in parts if _first(part, names) is None)
    several = place.eval == UNSTATED and max(unnamed.values(), default=0) > 1
    met: Counter[tuple[str | None, str]] = Counter()
    for position, part in enumerate(parts, 1):
        eval_ = _first(part, names) or (f"row {position}" if several else None)
        side = _first(part, _SIDE) or place.configuration
        met[eval_, side] += 1
        number = part.get("run_number", part.get("run"))
        number = number if type(number) is int else met[eval_, side]
        named = eval_ if eval_ and is_open else place.eval
        yield place._replace(eval=named, configuration=side), number, with_own_verdict(part)


_SIDE = names_of(BenchmarkRun, "configuration")


def _first(part: dict[str, Any], names: Iterable[str]) -> str | None:
    values = (part.get(name) for name in names)
    return next((str(value) for value in values if isinstance(value, str | int)), None)


def _read_of_any_dialect(kind: str, raw: Any, path: str, problems: Problems) -> Any:
    document, faults = read_as_shared(kind, raw)
    for place, benchmark in enumerate(document if kind == "benchmark" else ()):
        at = f"$[{place}]" if len(document) > 1 else "$"
        for where, message in find_contradictions(benchmark):
            faults.add("warning", "contradiction", f"{at}.{where}", message)
    problems.add_faults(path, faults.collapsed())
    return document


FROZEN = 1000
"""More than any Python has frozen when it begins: 3.12 has some hundred objects, others none."""


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the garbage collector from looking at them, now and afterwards.

    What is left of them counts as old, as if it had been looked at.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() < FROZEN:  # else somebody has frozen theirs
            gc.freeze()
            gc.unfreeze()
        if was_on:
            gc.enable()


def nearest_metadata(run: Path, iteration: Path) -> EvalMetadata | None:
    """The nearest metadata from a run's folder up to that of its iteration; None without any.

    What had to be repaired in it is a row of `problems` already, and is not told again.
    """
    for folder in (run, *run.parents):
        path = str(folder / "eval_metadata.json")
        found = load_if_there(path, EvalMetadata, Problems(), str(iteration.parent))
        if found is not None or folder == iteration:
            return found
    return None
