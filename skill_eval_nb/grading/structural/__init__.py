"""Layer 1: deterministic checks of what a run has put out, and of what was done in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from skill_eval_nb.documents import (
    Expectation,
    GradedExpectation,
    Structural,
    StructuralExpectation,
    Summary,
)
from skill_eval_nb.text import count

from .actions import VERDICTS, ActionCheck
from .outputs import (
    BadGlob,
    CheckVerdict,
    Content,
    Outputs,
    broken,
    failed,
    list_outputs,
    listed,
    matching,
    shown,
    unscored,
)
from .record import Record
from .search import BadPattern, TextSearch, sought
from .types import (
    ENDINGS,
    KINDS,
    OF_TRANSCRIPT,
    Check,
    CheckContext,
    CsvTable,
    FileVisitor,
    PlannedCheck,
    Sandbox,
    as_structural,
    contains,
    contains_not,
    csv_valid,
    custom_script,
    exists,
    expectations_of,
    file_count,
    is_checked,
    lost_fields,
    no_match,
    read_table,
    row_count,
    sought_by,
    unknown,
)

__all__ = ["KINDS", "OF_TRANSCRIPT", "check", "expectations_of", "is_checked"]


_FILE = re.compile(
    r"(?<![\w./\\@-])(?:[\w.-]+/)*(?:\.?[\w-][\w.-]*)?\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/@(-])"
)
_NO_FILES = re.compile(r"(?:e\.g|i\.e|etc\.?|vs\.?|[A-Z]\w*\.(?:js|net|io|ai))", re.IGNORECASE)
"""What is written like a file and is none: abbreviations, Node.js."""

_QUOTED = re.compile(
    r'"([^"]+)"|“([^“”]+)[”“]|„([^„“”]+)[“”]|«([^«»]+)»|`([^`]+)`'
    r"|(?<!\w)'([^']+)'(?!\w)|(?<!\w)‘([^‘’]+)’(?!\w)"
)
_DENIED = re.compile(
    r"\b(?:no|not|never|without|none|neither|nor|absent|lacks?|free of|removed?|removes|"
    r"deleted?|deletes|avoids?|excludes?|omits?|\w+n['’]t)\b",
    re.IGNORECASE,
)
_ROWS = re.compile(
    r"(?P<words>at least|at most|no more than|no fewer than|no less than|more than|fewer than|"
    r"less than|exactly|up to|minimum of|maximum of)?\s*"
    r"\b(?P<number>\d[\d,]*)\+?\s+(?:[a-z]+\s+){0,2}?(?:rows?|records?|entries|lines?)\b",
    re.IGNORECASE,
)
LONGEST = 2000
"""Characters of a sentence in which a number of rows is looked for: more are no sentence."""

_WORDS = {
    "at least": ">=",
    "no fewer than": ">=",
    "no less than": ">=",
    "minimum of": ">=",
    "at most": "<=",
    "no more than": "<=",
    "up to": "<=",
    "maximum of": "<=",
    "more than": ">",
    "fewer than": "<",
    "less than": "<",
}


def quoted_texts(sentence: str) -> list[str]:
    """The parts of a sentence that stand in quotes.

    >>> quoted_texts("Says 'thank you' and “bye”, doesn't it")
    ['thank you', 'bye']
    """
    found = [next(filter(None, groups)) for groups in _QUOTED.findall(sentence)]
    return list(dict.fromkeys(text for text in found if text.strip()))


def files_named(sentence: str) -> list[str]:
    """The names of files in a sentence.

    >>> files_named("out/clean.csv and a .env file are written, e.g. by Node.js.")
    ['out/clean.csv', '.env']
    """
    found = [match.rstrip(".") for match in _FILE.findall(sentence)]
    names = [name for name in found if not _NO_FILES.fullmatch(name)]
    return list(dict.fromkeys(names))


def texts_named(sentence: str) -> list[str]:
    """The quoted parts that are no names of files, or all of them where there are no others.

    >>> texts_named('"notes.md" holds "Summary"'), texts_named('mentions "setup.py"')
    (['Summary'], ['setup.py'])
    """
    texts = quoted_texts(sentence)
    return [text for text in texts if files_named(text) != [text]] or texts


def denied(sentence: str) -> bool:
    """Whether a sentence may say that something is not so.

    >>> denied("Does not contain 'TODO'"), denied("Says 'no refunds'")
    (True, False)
    """
    return _DENIED.search(_QUOTED.sub(" ", sentence)) is not None


def either(sentence: str) -> bool:
    """Whether one of the things that a sentence names is enough."""
    return re.search(r"\bor\b", _QUOTED.sub(" ", sentence), re.IGNORECASE) is not None


def rows_named(sentence: str) -> tuple[int, str] | None:
    """How many rows a sentence wants, and the operator; None where it does not say for certain.

    >>> rows_named("clean.csv has 6 data rows: each row once"), rows_named("at least 10 rows")
    ((6, '=='), (10, '>='))
    >>> rows_named("All rows are kept"), rows_named("150 rows, of which 3 rows are new")
    (None, None)
    """
    found = list(_ROWS.finditer(sentence)) if len(sentence) <= LONGEST else []
    if len(found) != 1:
        return None
    words = (found[0]["words"] or "").lower()
    more = "+" in found[0][0]
    return int(found[0]["number"].replace(",", "")), _WORDS.get(words, ">=" if more else "==")


_DENIES = "the sentence may say that something is not to be; write a check that says so by its type"


def spoken_exists(
    expectation: StructuralExpectation, outputs: Outputs, *, any_file: bool
) -> PlannedCheck:
    """`file_exists` without a pattern: each file that the sentence names.

    Where it names none, any file counts if `any_file` says so.
    """
    sentence = expectation.description or ""
    if denied(sentence):
        return _unscored(_DENIES)
    names = files_named(sentence)
    if not names and not any_file:
        return _unscored("neither `pattern` nor the sentence says which file")
    if not names:
        return PlannedCheck(partial(exists, None, outputs.names, outputs))
    verdicts = [exists(name, matching(name, outputs.names), outputs) for name in names]
    return PlannedCheck(partial(_together, verdicts, either(sentence)))


def contains_text(expectation: StructuralExpectation, outputs: Outputs, near: int) -> PlannedCheck:
    """`contains_text`: what `match` says, else what the sentence quotes, stands in a file."""
    sentence = expectation.description or ""
    what = sought_by(expectation, near)
    texts = [] if what is not None else texts_named(sentence)
    if what is None and denied(sentence):
        return _unscored(_DENIES)
    if what is None and not texts:
        return _unscored("nothing stands in quotes in the sentence, and there is no `match`")
    pattern, names = _files(expectation, outputs, texts)
    if what is not None:
        wanted = [what]
    elif either(sentence):
        wanted = [sought(texts, None, expectation.except_context, near)]
    else:
        wanted = [sought([text], None, expectation.except_context, near) for text in texts]
    searches = [TextSearch(text, one_is_enough=True) for text in wanted]

    def verdict() -> CheckVerdict:
        return _together([contains(each, pattern, outputs) for each in searches], any_counts=False)

    return PlannedCheck(verdict, tuple((each, names) for each in searches))


class Tables:
    """The tables among the files that a check wants to see."""

    done = False

    def __init__(self) -> None:
        self.tables: list[CsvTable] = []
        self.unread: dict[str, str] = {}

    def look(self, name: str, content: Content) -> None:
        """Read one."""
        self.tables.append(read_table(name, content))

    def cannot_read(self, name: str, error: OSError) -> None:
        """Note one that cannot be read."""
        self.unread[name] = error.strerror or str(error)


def spoken_rows(expectation: StructuralExpectation, outputs: Outputs) -> PlannedCheck:
    """`row_count`: as many rows as `count` says, else the sentence."""
    wanted, operator = expectation.count, expectation.operator
    if wanted is None:
        named = rows_named(expectation.description or "")
        if named is None:
            return _unscored("neither `count` nor the sentence says for certain how many rows")
        wanted, operator = named[0], operator or named[1]
    return _of_tables(
        expectation, outputs, lambda tables: row_count(tables, wanted, operator), alone=True
    )


def spoken_csv(expectation: StructuralExpectation, outputs: Outputs) -> PlannedCheck:
    """`csv_valid`: every table that is meant can be read, and its rows are of one length."""
    return _of_tables(expectation, outputs, csv_valid, alone=False)


def _of_tables(
    expectation: StructuralExpectation,
    outputs: Outputs,
    verdict_on: Callable[[list[CsvTable]], CheckVerdict],
    *,
    alone: bool,
) -> PlannedCheck:
    pattern, names = _files(expectation, outputs, ())
    if pattern is None:
        names = [name for name in names if name.lower().endswith(ENDINGS)]
        if not names:
            reason = "There is no table among the outputs"
            return _settled(failed(f"{reason} ({count(len(outputs.names), 'file')})"))
        if alone and len(names) > 1:
            return _unscored(f"it does not say which table is meant: {listed(names)}")
    elif not names:
        return _settled(failed(no_match(pattern, outputs)))
    seen = Tables()

    def verdict() -> CheckVerdict:
        if seen.unread:
            faults = "; ".join(f"{shown(name)}: {why}" for name, why in seen.unread.items())
            return unscored(f"not all tables can be read ({faults})")
        return verdict_on(seen.tables)

    return PlannedCheck(verdict, ((seen, names),))


def _files(
    expectation: StructuralExpectation, outputs: Outputs, texts: Sequence[str]
) -> tuple[str | None, list[str]]:
    """The files that are meant: those of the pattern, those named in the sentence, else all."""
    if expectation.pattern is not None:
        return expectation.pattern, matching(expectation.pattern, outputs.names)
    named = [name for name in files_named(expectation.description or "") if name not in texts]
    if not named:
        return None, outputs.names
    meant = {found for name in named for found in matching(name, outputs.names)}
    return " or ".join(named), [name for name in outputs.names if name in meant]


def _together(verdicts: Sequence[CheckVerdict], any_counts: bool) -> CheckVerdict:
    """The verdict on several things of which all, or any, are to hold."""
    if len(verdicts) == 1:
        return verdicts[0]
    marks = [verdict.passed for verdict in verdicts]
    mark = any_counts if any_counts in marks else (None if None in marks else not any_counts)
    return CheckVerdict(
        mark, "; ".join(verdict.evidence for verdict in verdicts if verdict.passed is mark)
    )


def _settled(verdict: CheckVerdict) -> PlannedCheck:
    return PlannedCheck(lambda: verdict)


def _unscored(reason: str) -> PlannedCheck:
    return _settled(unscored(reason))


def plan(
    expectation: StructuralExpectation, setting: CheckContext, *, spoken: bool
) -> PlannedCheck:
    """What a check wants to see, and how its verdict will come about.

    `spoken`: its dialect says in a sentence what others say in fields.
    """
    try:
        if lost := lost_fields(expectation):
            return PlannedCheck(partial(unscored, f"{', '.join(map(shown, lost))} cannot be read"))
        if expectation.type == "file_exists" and expectation.pattern is None:
            return spoken_exists(expectation, setting.outputs, any_file=spoken)
        planner = _PLANNERS.get(expectation.type)
        if planner is None:
            return PlannedCheck(partial(unscored, unknown(expectation.type)))
        return planner(expectation, setting)
    except (BadGlob, BadPattern) as error:
        tool = "tool" if expectation.type in OF_TRANSCRIPT else "pattern"
        field = "match_regex" if isinstance(error, BadPattern) else tool
        return PlannedCheck(partial(unscored, f"`{field}`: {error}"))
    except Exception as error:  # noqa: BLE001 -- the other checks are none the worse for it
        return PlannedCheck(partial(broken, error))


def _plan_exists(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    found = setting.files(expectation.pattern)
    return PlannedCheck(partial(exists, expectation.pattern, found, setting.outputs))


def _plan_count(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    found = setting.files(expectation.pattern)
    return PlannedCheck(
        partial(
            file_count,
            expectation.pattern,
            found,
            expectation.count,
            expectation.operator,
            setting.outputs.left_out,
        )
    )


def _plan_contains(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    what = sought_by(expectation, setting.near)
    if what is None:
        reason = "neither `match` nor `match_any` nor `match_regex` says what to look for"
        return PlannedCheck(partial(unscored, reason))
    positive = expectation.type == "file_contains"
    search = TextSearch(what, one_is_enough=positive)
    verdict = contains if positive else contains_not
    looks = ((search, setting.files(expectation.pattern)),)
    return PlannedCheck(partial(verdict, search, expectation.pattern, setting.outputs), looks)


def _plan_script(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    return PlannedCheck(
        partial(
            custom_script,
            expectation.script,
            setting.outputs,
            allowed=setting.allow_scripts,
            kind=setting.sandbox,
        )
    )


def _plan_record(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    for tool in (expectation.tool or "*", *expectation.tools):
        matching(tool, ())
    terms = sought_by(expectation, setting.near)

    def verdict() -> CheckVerdict:
        record = setting.record()
        if not isinstance(record, Record):
            return record
        return VERDICTS[expectation.type](ActionCheck(expectation, terms, record))

    return PlannedCheck(verdict)


_PLANNERS: dict[str, Callable[[StructuralExpectation, CheckContext], PlannedCheck]] = {
    "file_exists": _plan_exists,
    "file_contains": _plan_contains,
    "file_not_contains": _plan_contains,
    "file_count": _plan_count,
    "custom_script": _plan_script,
    "row_count": lambda wanted, setting: spoken_rows(wanted, setting.outputs),
    "contains_text": lambda wanted, setting: contains_text(wanted, setting.outputs, setting.near),
    "csv_valid": lambda wanted, setting: spoken_csv(wanted, setting.outputs),
    "custom": _plan_script,
    **dict.fromkeys(OF_TRANSCRIPT, _plan_record),
}


def check(
    expectations: Sequence[Check],
    outputs: Path,
    transcript: Path | None,
    *,
    near: int = 2,
    allow_scripts: bool = False,
    sandbox: Sandbox = "bubblewrap",
) -> Structural:
    """Check what a run has put out: layer 1, with no model.

    Each file is read once at most, whatever the number of checks. Nothing is raised for what
    the suite or the outputs hold: what cannot be checked is not scored (`passed` is null) and
    its evidence says why.

    Args:
        expectations: structural expectations, or those of the `iterations` dialect that have
            a type.
        outputs: the folder of the outputs; one that is not there holds none.
        transcript: what checks of what was done read; None where none was kept.
        near: within how many lines of a match a text of `except_context` exempts it; 0 is the
            same line.
        allow_scripts: whether `custom_script` may run what the suite's author wrote.
        sandbox: what it runs in; `"none"` runs it with your own rights.

    Returns:
        the verdicts in the order of the expectations; `gate_passed` is false where a critical
        one failed, null where none failed but one was not scored, else true.

    >>> import tempfile
    >>> from skill_eval_nb.documents import StructuralExpectation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.md").write_text("# Title")
    ...     wanted = StructuralExpectation("file_contains", pattern="*.md", match="# ")
    ...     check([wanted], Path(folder), None).expectations[0].evidence
    "a.md:1: # Title ('#')"
    """
    if near < 0:
        raise ValueError(f"near is {near}: a number of lines, 0 or more")
    wanted = [as_structural(expectation) for expectation in expectations]
    setting = CheckContext(list_outputs(str(outputs)), transcript, near, allow_scripts, sandbox)
    spoken = [isinstance(expectation, Expectation) for expectation in expectations]
    verdicts = verdicts_on(wanted, spoken, setting)
    graded = [_graded(check, verdict) for check, verdict in zip(wanted, verdicts, strict=True)]
    return Structural(expectations=graded, summary=_summary(graded), gate_passed=_gate(graded))


def verdicts_on(
    wanted: Sequence[StructuralExpectation], spoken: Sequence[bool], setting: CheckContext
) -> list[CheckVerdict]:
    """The verdicts alone, in the order of the checks: all that is needed of many runs.

    Args:
        wanted: the checks.
        spoken: which of them say in a sentence what others say in fields.
        setting: the outputs, and what all checks share.
    """
    planned = [
        plan(check, setting, spoken=worded) for check, worded in zip(wanted, spoken, strict=True)
    ]
    failed: dict[FileVisitor, Exception] = {}
    _look(setting.outputs, planned, failed)
    return [_verdict(check, failed) for check in planned]


def _verdict(planned: PlannedCheck, failed: Mapping[FileVisitor, Exception]) -> CheckVerdict:
    error = next((failed[looks] for looks, _ in planned.looks if looks in failed), None)
    if error is not None:
        return broken(error)
    try:
        return planned.verdict()
    except Exception as error:  # noqa: BLE001 -- the other checks are none the worse for it
        return broken(error)


def _look(
    outputs: Outputs, planned: Sequence[PlannedCheck], failed: dict[FileVisitor, Exception]
) -> None:
    """Show each file to whatever wants to see it, one file after the other."""
    groups: dict[int, tuple[Sequence[str], list[FileVisitor]]] = {}
    for check in planned:
        for looks, names in check.looks:
            groups.setdefault(id(names), (names, []))[1].append(looks)
    if len(groups) == 1:
        ((names, wanting),) = groups.values()
        _show(outputs, ((name, wanting) for name in names), failed)
        return
    by_name: dict[str, list[FileVisitor]] = {}
    for names, wanting in groups.values():
        for name in names:
            by_name.setdefault(name, []).extend(wanting)
    wanted = ((name, by_name[name]) for name in outputs.names if name in by_name)
    _show(outputs, wanted, failed)


def _show(
    outputs: Outputs,
    wanted: Iterable[tuple[str, Sequence[FileVisitor]]],
    failed: dict[FileVisitor, Exception],
) -> None:
    """Show files to what wants to see them; what fails at one sees no more: it is in `failed`."""
    for name, wanting in wanted:
        content = None
        for looks in wanting:
            if looks.done or looks in failed:
                continue
            try:
                content = content or Content(outputs.read(name))
                looks.look(name, content)
            except OSError as error:
                looks.cannot_read(name, error)
            except Exception as error:  # noqa: BLE001 -- the other checks are none the worse for it
                failed[looks] = error


def _graded(expectation: StructuralExpectation, verdict: CheckVerdict) -> GradedExpectation:
    about = expectation.pattern or expectation.tool or expectation.skill
    about = about or ", ".join(expectation.tools)
    return GradedExpectation(
        text=expectation.description or f"{expectation.type} {about}".strip(),
        passed=verdict.passed,
        evidence=verdict.evidence,
        id=expectation.id,
        type=expectation.type,
        critical=expectation.critical,
    )


def _summary(graded: Sequence[GradedExpectation]) -> Summary:
    """Counts; the rate is of those that were scored, null where none was."""
    passed = sum(expectation.passed is True for expectation in graded)
    failed = sum(expectation.passed is False for expectation in graded)
    rate = round(passed / (passed + failed), 4) if passed + failed else None
    return Summary(passed=passed, failed=failed, total=len(graded), pass_rate=rate)


def _gate(graded: Sequence[GradedExpectation]) -> bool | None:
    critical = [expectation.passed for expectation in graded if expectation.critical]
    if False in critical:
        return False
    return None if None in critical else True
