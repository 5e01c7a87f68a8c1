"""Layer 1: deterministic checks of what a run has produced, and of what was done in it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skill_eval_nb.documents import (
    Eval,
    Expectation,
    GradedExpectation,
    Structural,
    StructuralExpectation,
)
from skill_eval_nb.text import count

from .actions import OF_TRANSCRIPT, VERDICTS
from .box import BoxKind
from .checks import (
    ENDINGS,
    Check,
    CheckContext,
    CsvTable,
    as_structural,
    check_contains,
    check_exists,
    csv_valid,
    custom_script,
    file_count,
    lost_fields,
    no_match,
    read_table,
    row_count,
    terms_of,
)
from .grades import count_verdicts
from .outputs import (
    BadGlob,
    CheckVerdict,
    Record,
    broken,
    list_names,
    list_outputs,
    match_pattern,
    show_line,
    verdict_failed,
    verdict_unscored,
)
from .search import BadPattern, make_terms

__all__ = ["KINDS", "OF_TRANSCRIPT", "check", "expectations_of", "verdict_on"]


def verdict_on(
    wanted: StructuralExpectation, setting: CheckContext, *, spoken: bool = False
) -> CheckVerdict:
    """The verdict on one check; `spoken`: it says in a sentence what others say in fields."""
    try:
        if lost := lost_fields(wanted):
            return verdict_unscored(f"{', '.join(map(show_line, lost))} cannot be read")
        if wanted.type == "file_exists" and wanted.pattern is None:
            return _check_named_files(wanted, setting, any_file=spoken)
        if (look := CHECKS.get(wanted.type)) is None:
            return verdict_unscored(unknown_type(wanted.type))
        return look(wanted, setting)
    except (BadGlob, BadPattern) as error:
        tool = "tool" if wanted.type in OF_TRANSCRIPT else "pattern"
        field = "match_regex" if isinstance(error, BadPattern) else tool
        return verdict_unscored(f"`{field}`: {error}")
    except Exception as error:  # noqa: BLE001 -- it must not affect the other checks
        return broken(error)


def unknown_type(kind: str) -> str:
    """The message about a type that layer 1 does not know."""
    if not kind:
        return "the expectation has no `type`"
    near = difflib.get_close_matches(kind, sorted(KINDS), n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(KINDS))}"
    return f"{kind!r} is not a type of check; {hint}"


def _check_files(wanted: StructuralExpectation, setting: CheckContext) -> CheckVerdict:
    return check_exists(wanted.pattern, setting.files(wanted.pattern), setting.outputs)


_DENIES = "the sentence may mean that something must not be; use a type of check that says so"


def _check_named_files(
    wanted: StructuralExpectation, setting: CheckContext, *, any_file: bool
) -> CheckVerdict:
    """`file_exists` without a pattern: each file that the sentence names.

    If it names none, any file counts if `any_file` is true.
    """
    sentence, outputs = wanted.description or "", setting.outputs
    if may_deny(sentence):
        return verdict_unscored(_DENIES)
    names = files_named(sentence)
    if not names and not any_file:
        return verdict_unscored("neither `pattern` nor the sentence says which file")
    if not names:
        return check_exists(None, outputs.names, outputs)
    verdicts = [check_exists(name, match_pattern(name, outputs.names), outputs) for name in names]
    return _join_verdicts(verdicts, any_counts=either(sentence))


def _check_content(wanted: StructuralExpectation, setting: CheckContext) -> CheckVerdict:
    what = terms_of(wanted, setting.near)
    if what is None:
        return verdict_unscored(
            "neither `match` nor `match_any` nor `match_regex` says what to look for"
        )
    positive = wanted.type == "file_contains"
    search = setting.search(what, setting.files(wanted.pattern), one_is_enough=positive)
    return check_contains(search, wanted.pattern, setting.outputs, positive=positive)


def _check_text(wanted: StructuralExpectation, setting: CheckContext) -> CheckVerdict:
    """`contains_text`: a file has the text of `match`, or else what the sentence quotes."""
    sentence, near = wanted.description or "", setting.near
    what = terms_of(wanted, near)
    texts = [] if what is not None else texts_named(sentence)
    if what is None and may_deny(sentence):
        return verdict_unscored(_DENIES)
    if what is None and not texts:
        return verdict_unscored("nothing is in quotes in the sentence, and there is no `match`")
    pattern, names = _find_files(wanted, setting, texts)
    if what is not None:
        terms = [what]
    else:
        each = [texts] if either(sentence) else [[text] for text in texts]
        terms = [make_terms(one, None, wanted.except_context, near) for one in each]
    searches = (setting.search(one, names, one_is_enough=True) for one in terms)
    verdicts = [check_contains(search, pattern, setting.outputs) for search in searches]
    return _join_verdicts(verdicts, any_counts=False)


def _check_rows(wanted: StructuralExpectation, setting: CheckContext) -> CheckVerdict:
    """`row_count`: the number of rows in `count`, or else in the sentence."""
    number, operator = wanted.count, wanted.operator
    if number is None:
        named = rows_named(wanted.description or "")
        if named is None:
            return verdict_unscored("neither `count` nor the sentence clearly says how many rows")
        number, operator = named[0], operator or named[1]
    tables = _read_tables(wanted, setting, alone=True)
    return tables if isinstance(tables, CheckVerdict) else row_count(tables, number, operator)


def _check_csv(wanted: StructuralExpectation, setting: CheckContext) -> CheckVerdict:
    """`csv_valid`: every table can be read, and all its rows have the same number of fields."""
    tables = _read_tables(wanted, setting, alone=False)
    return tables if isinstance(tables, CheckVerdict) else csv_valid(tables)


def _read_tables(
    wanted: StructuralExpectation, setting: CheckContext, *, alone: bool
) -> list[CsvTable] | CheckVerdict:
    """The tables of a check; a verdict if there is none to read, or more than one if `alone`."""
    pattern, names = _find_files(wanted, setting, ())
    if pattern is None:
        names = [name for name in names if name.lower().endswith(ENDINGS)]
        if not names:
            files = count(len(setting.outputs.names), "file")
            return verdict_failed(f"There is no table among the outputs ({files})")
        if alone and len(names) > 1:
            return verdict_unscored(f"it does not say which table: {list_names(names)}")
    elif not names:
        return verdict_failed(no_match(pattern, setting.outputs))
    tables: list[CsvTable] = []
    faults: list[str] = []
    for name, content in setting.contents(names):
        if isinstance(content, OSError):
            faults.append(f"{show_line(name)}: {content.strerror or content}")
        else:
            tables.append(read_table(name, content))
    return (
        verdict_unscored(f"not all tables can be read ({'; '.join(faults)})") if faults else tables
    )


def _find_files(
    wanted: StructuralExpectation, setting: CheckContext, texts: Sequence[str]
) -> tuple[str | None, list[str]]:
    """The files to check: by the pattern, else by the sentence, else all."""
    outputs = setting.outputs
    if wanted.pattern is not None:
        return wanted.pattern, setting.files(wanted.pattern)
    named = [name for name in files_named(wanted.description or "") if name not in texts]
    if not named:
        return None, outputs.names
    meant = {found for name in named for found in match_pattern(name, outputs.names)}
    return " or ".join(named), [name for name in outputs.names if name in meant]


def _join_verdicts(verdicts: Sequence[CheckVerdict], *, any_counts: bool) -> CheckVerdict:
    """The verdict on several things, all or any of which must be true."""
    if len(verdicts) == 1:
        return verdicts[0]
    marks = [verdict.passed for verdict in verdicts]
    mark = any_counts if any_counts in marks else (None if None in marks else not any_counts)
    return CheckVerdict(
        mark, "; ".join(verdict.evidence for verdict in verdicts if verdict.passed is mark)
    )


def _check_record(wanted: StructuralExpectation, setting: CheckContext) -> CheckVerdict:
    for tool in (wanted.tool or "*", *wanted.tools):
        match_pattern(tool, ())
    terms, record = terms_of(wanted, setting.near), setting.record
    if not isinstance(record, Record):
        return record
    return VERDICTS[wanted.type](wanted, record, terms)


CHECKS: Mapping[str, Callable[[StructuralExpectation, CheckContext], CheckVerdict]] = {
    "file_exists": _check_files,
    "file_contains": _check_content,
    "file_not_contains": _check_content,
    "file_count": file_count,
    "custom_script": custom_script,
    "row_count": _check_rows,
    "contains_text": _check_text,
    "csv_valid": _check_csv,
    "custom": custom_script,
    **dict.fromkeys(OF_TRANSCRIPT, _check_record),
}
"""The checks by type: those of files in two dialects, and those of a transcript."""

KINDS = frozenset(CHECKS)


def expectations_of(eval_: Eval) -> list[Check]:
    """The expectations of an eval that layer 1 checks, and that no judge is asked about.

    These are its structural expectations of any type, and other expectations with a type that layer
    1 knows; but a `custom` one without a script is for the judge.

    >>> typed = Expectation("a.csv is written", type="file_exists")
    >>> one = Eval("Write a.csv", expectations=[typed, Expectation("It reads well")])
    >>> expectations_of(one) == [typed]
    True
    """
    typed = [check for check in eval_.expectations if is_checked(check)]
    return [*eval_.structural_expectations, *typed]


def is_checked(expectation: Expectation) -> bool:
    """Whether layer 1 checks an expectation, by its type, although it is not structural."""
    if expectation.type not in KINDS:
        return False
    return (
        expectation.type not in ("custom", "custom_script")
        or as_structural(expectation).script is not None
    )


def check(
    expectations: Sequence[Check],
    outputs: Path,
    transcript: Path | None,
    *,
    near: int = 2,
    allow_scripts: bool = False,
    sandbox: BoxKind = "bubblewrap",
) -> Structural:
    """Check what a run has produced: layer 1, without a model.

    Files are read once for all checks, as far as `KEPT_BYTES` hold them. The content of suite and
    outputs never raises an error: what cannot be checked is not scored (`passed` is null), and its
    evidence says why.

    Args:
        expectations: structural expectations, or expectations of the `iterations` dialect with a
            type.
        outputs: the folder of the outputs; if it does not exist, there are none.
        transcript: the transcript, for checks of what was done; None if there is none.
        near: within how many lines of a match a text of `except_context` exempts it; 0 is the
            same line.
        allow_scripts: whether `custom_script` may run the suite author's scripts.
        sandbox: what scripts run in; `"none"` runs them with your own rights.

    Returns:
        The verdicts in the order of the expectations. `gate_passed` is false if a critical one
        failed, null if none failed but one was not scored, else true.

    >>> import tempfile
    >>> from skill_eval_nb.documents import StructuralExpectation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.md").write_text("# Title")
    ...     wanted = StructuralExpectation("file_contains", pattern="*.md", match="# ")
    ...     check([wanted], Path(folder), None).expectations[0].evidence
    "a.md:1: # Title ('#')"
    """
    wanted = [as_structural(expectation) for expectation in expectations]
    setting = CheckContext(list_outputs(str(outputs)), transcript, near, allow_scripts, sandbox)
    graded = [
        _grade_check(one, verdict_on(one, setting, spoken=isinstance(stated, Expectation)))
        for one, stated in zip(wanted, expectations, strict=True)
    ]
    return Structural(
        expectations=graded, summary=count_verdicts(graded), gate_passed=_is_gate_passed(graded)
    )


def _grade_check(expectation: StructuralExpectation, verdict: CheckVerdict) -> GradedExpectation:
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


def _is_gate_passed(graded: Sequence[GradedExpectation]) -> bool | None:
    critical = [expectation.passed for expectation in graded if expectation.critical]
    if False in critical:
        return False
    return None if None in critical else True


# ── what a sentence says, as in the dialect `iterations` ─────────────────────────────────────────

_FILE = re.compile(
    r"(?<![\w./\\@-])(?:[\w.-]+/)*(?:\.?[\w-][\w.-]*)?\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/@(-])"
)
_NO_FILES = re.compile(r"(?:e\.g|i\.e|etc\.?|vs\.?|[A-Z]\w*\.(?:js|net|io|ai))", re.IGNORECASE)
"""Words that look like files but are not: abbreviations, Node.js."""

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
"""The most characters of a sentence; longer texts are not searched for a number of rows."""

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
    """The parts of a sentence in quotes.

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
    return list(dict.fromkeys(name for name in found if not _NO_FILES.fullmatch(name)))


def texts_named(sentence: str) -> list[str]:
    """The quoted parts that are not file names; all of them if there are no others.

    >>> texts_named('"notes.md" holds "Summary"'), texts_named('mentions "setup.py"')
    (['Summary'], ['setup.py'])
    """
    texts = quoted_texts(sentence)
    return [text for text in texts if files_named(text) != [text]] or texts


def may_deny(sentence: str) -> bool:
    """Whether a sentence may say that something is not so.

    >>> may_deny("Does not contain 'TODO'"), may_deny("Says 'no refunds'")
    (True, False)
    """
    return _DENIED.search(_QUOTED.sub(" ", sentence)) is not None


def either(sentence: str) -> bool:
    """Whether one of the things named in a sentence is enough."""
    return re.search(r"\bor\b", _QUOTED.sub(" ", sentence), re.IGNORECASE) is not None


def rows_named(sentence: str) -> tuple[int, str] | None:
    """How many rows a sentence wants, and the operator; None if that is uncertain.

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
