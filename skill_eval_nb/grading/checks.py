"""The checks of outputs: existing files, their content, tables, scripts."""

from __future__ import annotations

import csv
import io
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import LARGEST
from skill_eval_nb.documents import Expectation, StructuralExpectation, mend
from skill_eval_nb.documents.base import origin_of
from skill_eval_nb.text import count, guess_delimiter

from .outputs import (
    CheckVerdict,
    Content,
    Outputs,
    Record,
    list_names,
    match_pattern,
    quote_text,
    read_record,
    show_line,
    verdict_failed,
    verdict_passed,
    verdict_unscored,
)
from .search import SearchTerms, TextSearch, make_terms

if TYPE_CHECKING:
    from .box import BoxKind, Ran

Check = StructuralExpectation | Expectation


def as_structural(check: Check) -> StructuralExpectation:
    """An expectation as a structural one, with all fields that it has in its file."""
    if isinstance(check, StructuralExpectation):
        return check
    origin = origin_of(check)
    raw: Any = origin.raw if origin is not None else None
    fields = dict(raw) if isinstance(raw, dict) else {}
    fields |= {"type": check.type or "", "description": check.text}
    return mend({**fields, "id": check.id}, StructuralExpectation)[0]


def lost_fields(expectation: StructuralExpectation) -> list[str]:
    """The keys whose values could not be read, such as a count in words.

    A list of texts instead of one text is lost, too, except that a list of patterns can be read.
    """
    origin = origin_of(expectation)
    if origin is None or not isinstance(origin.raw, dict):
        return []
    return [
        key
        for key, name in origin.keys.items()
        if _is_lost(name, origin.raw[key], getattr(expectation, name))
    ]


def _is_lost(name: str, raw: Any, value: Any) -> bool:
    if raw in (None, "", [], {}):
        return False
    joined = isinstance(raw, list) and len(raw) > 1 and isinstance(value, str)
    return value in (None, "", []) or (joined and name not in ("pattern", "description"))


KEPT_BYTES = 8 * 2**20
"""Files up to this many bytes in total are kept in memory for the next check; with the text that is
made of them they may take five times as much."""


@dataclass
class CheckContext:
    """Everything that the checks of a run share.

    Attributes:
        outputs: the files to check.
        transcript: what was done; None if there is no transcript.
        near: as for `check`.
        allow_scripts: as for `check`.
        sandbox: as for `check`.
        kept: files that were read, for the next check.
        room: how many bytes may still be kept.
    """

    outputs: Outputs
    transcript: Path | None
    near: int
    allow_scripts: bool
    sandbox: BoxKind
    kept: dict[str, Content] = field(default_factory=dict)
    room: int = KEPT_BYTES

    @cached_property
    def record(self) -> Record | CheckVerdict:
        """The transcript; a verdict if there is nothing to read."""
        return read_record(self.transcript)

    def files(self, pattern: str | None) -> list[str]:
        """The files that a pattern matches; all files without one.

        Raises:
            BadGlob: if the pattern cannot name an output.
        """
        names = self.outputs.names
        return names if pattern is None else match_pattern(pattern, names)

    def contents(self, names: Iterable[str]) -> Iterator[tuple[str, Content | OSError]]:
        """Each of these files with its content, or the error if it cannot be read."""
        for name in names:
            content = self.kept.get(name)
            if content is None:
                try:
                    content = Content(self.outputs.read(name))
                except OSError as error:
                    yield name, error
                    continue
                if len(content.data) <= self.room:
                    self.room -= len(content.data)
                    self.kept[name] = content
            yield name, content

    def search(
        self, terms: SearchTerms, names: Iterable[str], *, one_is_enough: bool
    ) -> TextSearch:
        """A search through these files, or up to the first with a match if that is enough."""
        search = TextSearch(terms)
        for name, content in self.contents(names):
            if isinstance(content, OSError):
                search.unread[name] = content.strerror or str(content)
            else:
                search.search_file(name, content)
            if one_is_enough and search.n_found:
                break
        return search


def terms_of(expectation: StructuralExpectation, near: int) -> SearchTerms | None:
    """The terms that an expectation searches for; None if it has none.

    Raises:
        BadPattern: if its regular expression is invalid.
    """
    texts = [expectation.match or "", *expectation.match_any]
    what = make_terms(texts, expectation.match_regex, expectation.except_context, near)
    return what if what.texts or what.pattern is not None else None


def check_contains(
    search: TextSearch, pattern: str | None, outputs: Outputs, *, positive: bool = True
) -> CheckVerdict:
    """The verdict on `file_contains`; with `positive` false, on `file_not_contains`."""
    if search.n_found:
        return CheckVerdict(positive, f"{search.evidence()}{_terms_text(search)}")
    if open_ := _nothing_to_look_into(search, pattern, outputs) or verdict_undecided(search):
        return open_
    exempt = f" that counts: {'; '.join(search.exempted)}" if search.exempted else ""
    return CheckVerdict(not positive, f"No {search.what} in {_files_text(search, pattern)}{exempt}")


def _terms_text(search: TextSearch) -> str:
    """The terms, in case the line alone does not show them."""
    what = search.what
    several = len(what.texts) + (what.pattern is not None) > 1
    return f" (any counts: {what})" if several else f" ({what})"


def _files_text(search: TextSearch, pattern: str | None) -> str:
    """The searched files, by name if they are few."""
    where = list_names(search.seen)
    if search.n_files > len(search.seen):
        of = "the outputs" if pattern is None else f"that match {show_line(pattern)}"
        where = f"{count(search.n_files, 'file')} {'of ' if pattern is None else ''}{of}"
    if search.binary:
        binary = list_names(search.binary, 3)
        where += f" (no regular expression was looked for in binary files: {binary})"
    return where


def _nothing_to_look_into(
    search: TextSearch, pattern: str | None, outputs: Outputs
) -> CheckVerdict | None:
    what = search.what
    if search.n_files == 0 and not search.unread:
        return verdict_failed(f"{no_match(pattern, outputs)}: there is nothing to look into")
    if not what.texts and search.n_files and len(search.binary) == search.n_files:
        binary = list_names(search.binary, 3)
        return verdict_failed(f"No text file to look for {what} in: {binary} is binary")
    return None


def verdict_undecided(search: TextSearch) -> CheckVerdict | None:
    """The verdict if the search was not completed; None if it was."""
    if search.out_of_time is not None:
        return verdict_unscored(
            f"searching for {search.what} took too long in {show_line(search.out_of_time)}; an "
            "expression without nested repeats is faster"
        )
    if search.unread:
        lost = "; ".join(
            f"{show_line(name)}: {why}" for name, why in list(search.unread.items())[:3]
        )
        return verdict_unscored(f"{count(len(search.unread), 'file')} could not be read ({lost})")
    return None


def no_match(pattern: str | None, outputs: Outputs) -> str:
    """The message that no file matches, and which files there are."""
    names: Sequence[str] = outputs.names
    said = "There is no output"
    if pattern is not None:
        there = f"there is {list_names(names)}" if names else "the outputs are empty"
        said, folder = f"No file matches {show_line(pattern)}; {there}", pattern.strip("/")
        if folder in outputs.folders:
            said += f"; {show_line(folder)} is a folder, write {show_line(folder)}/** for its files"
    left_out = [f"{show_line(name)} {why}" for name, why in list(outputs.left_out.items())[:3]]
    return f"{said}; not looked at: {'; '.join(left_out)}" if left_out else said


OPERATORS: Mapping[str, tuple[str, Callable[[int, int], bool]]] = {
    "==": ("exactly", lambda there, wanted: there == wanted),
    ">=": ("at least", lambda there, wanted: there >= wanted),
    "<=": ("at most", lambda there, wanted: there <= wanted),
    ">": ("more than", lambda there, wanted: there > wanted),
    "<": ("fewer than", lambda there, wanted: there < wanted),
    "!=": ("not", lambda there, wanted: there != wanted),
}
"""The documents define the first three; the others are added here."""

SPELLINGS = {"=": "==", "===": "==", "eq": "==", "gte": ">=", "lte": "<=", "≥": ">=", "≤": "<="}
"""Other ways to write an operator."""


def check_exists(pattern: str | None, found: Sequence[str], outputs: Outputs) -> CheckVerdict:
    """The verdict on `file_exists`: at least one file matches."""
    if found:
        any_counts = "" if pattern is not None else " (no pattern is given: any file counts)"
        return verdict_passed(f"Found: {list_names(found)}{any_counts}")
    return verdict_failed(no_match(pattern, outputs))


def file_count(wanted: StructuralExpectation, setting: CheckContext) -> CheckVerdict:
    """The verdict on `file_count`: the wanted number of files match; 0 may be wanted."""
    pattern, left_out = wanted.pattern, setting.outputs.left_out
    found = setting.files(pattern)
    of = "in the outputs" if pattern is None else f"that match {show_line(pattern)}"
    compared = compare_number(len(found), wanted.count, wanted.operator, f"files {of}")
    if compared.passed is None:
        return compared
    names = f": {list_names(found)}" if found else ""
    uncounted = f" (not counted: {list_names(list(left_out))})" if left_out else ""
    there = f"{count(len(found), 'file')} {of}{names}{uncounted}"
    return CheckVerdict(compared.passed, f"{there}; wanted {compared.evidence}")


def compare_number(there: int, wanted: int | None, operator: str | None, what: str) -> CheckVerdict:
    """Compare a number with the wanted one; the evidence says what is wanted."""
    sign = (operator or "==").strip()
    sign = SPELLINGS.get(sign, sign)
    if wanted is None:
        return verdict_unscored(f"no `count` says how many {what} there should be")
    if sign not in OPERATORS:
        known = ", ".join(OPERATORS)
        return verdict_unscored(f"`operator` is {show_line(sign)!r}; there are {known}")
    words, holds = OPERATORS[sign]
    return CheckVerdict(holds(there, wanted), f"{words} {wanted}")


ENDINGS = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson")
"""Files that count as tables if no table is named."""


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table: its header, the number of rows below it, and a fault, if it has one."""

    name: str
    header: tuple[str, ...]
    n_rows: int
    fault: str | None

    @property
    def size(self) -> str:
        """How many rows it has."""
        below = " below the header" if self.header else ""
        return f"{show_line(self.name)} has {count(self.n_rows, 'row')}{below}"


def read_table(name: str, content: Content) -> CsvTable:
    """Read a table: CSV with a header, with commas, semicolons, tabs or bars between fields.

    Blank lines do not count as rows. In a file of JSON lines each line is a row.
    """
    if content.binary:
        return CsvTable(name, (), 0, "it is a binary file")
    csv.field_size_limit(LARGEST)  # for the whole process, since a lower limit would fail tables
    text = content.text
    if name.lower().endswith((".jsonl", ".ndjson")):
        return CsvTable(name, (), sum(1 for line in text.split("\n") if line.strip()), None)
    tabs = name.lower().endswith((".tsv", ".tab"))
    delimiter = "\t" if tabs else guess_delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: tuple[str, ...] = ()
    n_rows, fault = 0, None
    try:
        for row in reader:
            if not row:
                continue
            if not header:
                header = tuple(row)
                continue
            n_rows += 1
            if len(row) != len(header) and fault is None:
                has = count(len(row), "field")
                fault = f"line {reader.line_num} has {has}, the header {len(header)}"
    except csv.Error as error:
        fault = fault or f"line {reader.line_num}: {error}"
    if not header:
        fault = "it is empty" if fault is None else fault
    elif fault is None and not all(field.strip() for field in header):
        fault = f"a field of the header has no name: {', '.join(map(quote_text, header[:8]))}"
    return CsvTable(name, header, n_rows, fault)


def row_count(tables: list[CsvTable], wanted: int | None, operator: str | None) -> CheckVerdict:
    """The verdict on `row_count`: every table has the wanted number of rows below its header."""
    compared = [compare_number(table.n_rows, wanted, operator, "rows") for table in tables]
    if not compared or compared[0].passed is None:
        return compared[0] if compared else verdict_unscored("there is no table to count")
    enough = all(verdict.passed for verdict in compared)
    sizes = "; ".join(table.size for table in tables[:5])
    faults = "".join(
        f"; {show_line(table.name)}: {table.fault}" for table in tables[:5] if table.fault
    )
    return CheckVerdict(enough, f"{sizes}; wanted {compared[0].evidence}{faults}")


def csv_valid(tables: list[CsvTable]) -> CheckVerdict:
    """The verdict on `csv_valid`: each table has a header, and every row as many fields."""
    faults = [f"{show_line(table.name)}: {table.fault}" for table in tables if table.fault]
    if faults:
        return verdict_failed("; ".join(faults[:5]))
    fields = ", ".join(show_line(field, 40) for field in tables[0].header[:8])
    sizes = "; ".join(table.size for table in tables[:5])
    return verdict_passed(f"{sizes}; every row has as many fields as the header ({fields})")


SECONDS = 60.0
"""How long a script may take."""

ENTRIES = 20_000
"""Files and folders that a script may add; they are removed before the next check begins."""

LARGEST_COPY = 2**30
"""The most bytes of outputs that are copied for a script."""

_UNKNOWN_COMMAND = re.compile(r"(?<![\w.+-])([\w.+-]++): command not found")


def custom_script(wanted: StructuralExpectation, setting: CheckContext) -> CheckVerdict:
    """The verdict on `custom_script`: the command ends with exit code 0.

    It runs in bash, in a copy of the outputs that it may change, without a network or other files,
    and with limits on time, memory, processes and size of files.
    """
    script, kind = wanted.script, setting.sandbox
    if not script or not script.strip():
        return verdict_unscored("there is no `script` to run")
    if not setting.allow_scripts:
        return verdict_unscored("scripts run only if they are allowed: allow_scripts=True")
    from . import sandbox

    if kind != "none" and (why := sandbox.available()) is not None:
        return verdict_unscored(f"there is no sandbox to run the script in: {why}")
    with tempfile.TemporaryDirectory(prefix="skill-eval-nb-") as folder:
        box_folder = Path(folder, "outputs")
        try:
            _copy(setting.outputs, box_folder)
        except OSError as error:
            return verdict_unscored(
                f"the outputs cannot be copied for the script: {error.strerror or error}"
            )
        limits = sandbox.BoxLimits(seconds=SECONDS, entries=ENTRIES)
        box = sandbox.Box(folder=box_folder, limits=limits, kind=kind)
        try:
            ran = sandbox.run_in_box(box, ["bash", "-c", script])
        except (OSError, ValueError) as error:  # ValueError: a null byte in the script
            return verdict_unscored(f"the script cannot be started: {error}")
    return _script_verdict(script, ran)


def _copy(outputs: Outputs, to: Path) -> None:
    """Copy the files; links that lead out of the folder are not copied.

    Raises:
        OSError: if one cannot be copied, or all together are too large.
    """
    sources = {name: outputs.links.get(name, f"{outputs.root}/{name}") for name in outputs.names}
    size = sum(Path(source).stat().st_size for source in sources.values())
    if size > LARGEST_COPY:
        raise OSError(0, f"they have {size >> 20} MiB; at most {LARGEST_COPY >> 20} are copied")
    to.mkdir()
    for name in outputs.folders:
        Path(to, name).mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        shutil.copyfile(source, to / name, follow_symlinks=False)
        executable = Path(source).stat().st_mode & 0o100
        (to / name).chmod(0o600 | executable)


def _script_verdict(script: str, ran: Ran) -> CheckVerdict:
    last = _last_line(ran.stdout, ran.stderr)
    if ran.ended != "exit":
        fault = ran.message.replace("The command", "The script", 1).removesuffix(".")
        return verdict_failed(f"{fault}{last}")
    missing = _UNKNOWN_COMMAND.search(ran.stderr.decode("utf-8", "replace"))
    if ran.exit_code == 127 and missing is not None:
        return verdict_unscored(f"the sandbox has no program {missing[1]}, which the script needs")
    ended = f"`{show_line(' '.join(script.split()), 80)}` ended with exit code {ran.exit_code}"
    return CheckVerdict(ran.exit_code == 0, f"{ended}{last}")


def _last_line(stdout: bytes, stderr: bytes) -> str:
    """The last line that the script wrote, to its errors or else to its output."""
    for stream in (stderr, stdout):
        lines = [line for line in stream.decode("utf-8", "replace").split("\n") if line.strip()]
        if lines:
            return f"; it said: {show_line(lines[-1])}"
    return ""
