"""Checks that say what they want in a sentence, as in the dialect `iterations`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from skill_eval_nb.documents import (
    StructuralExpectation,
)
from skill_eval_nb.text import count

from .outputs import (
    CheckVerdict,
    Content,
    Outputs,
    list_names,
    match_pattern,
    show_line,
    verdict_failed,
    verdict_unscored,
)
from .search import TextSearch, sought
from .types import (
    ENDINGS,
    CsvTable,
    PlannedCheck,
    contains,
    csv_valid,
    exists,
    no_match,
    read_table,
    row_count,
    sought_by,
)

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
    names = [name for name in found if not _NO_FILES.fullmatch(name)]
    return list(dict.fromkeys(names))


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


_DENIES = "the sentence may mean that something must not be; use a type of check that says so"


def spoken_exists(
    expectation: StructuralExpectation, outputs: Outputs, *, any_file: bool
) -> PlannedCheck:
    """`file_exists` without a pattern: each file that the sentence names.

    If it names none, any file counts if `any_file` is true.
    """
    sentence = expectation.description or ""
    if may_deny(sentence):
        return _plan_unscored(_DENIES)
    names = files_named(sentence)
    if not names and not any_file:
        return _plan_unscored("neither `pattern` nor the sentence says which file")
    if not names:
        return PlannedCheck(partial(exists, None, outputs.names, outputs))
    verdicts = [exists(name, match_pattern(name, outputs.names), outputs) for name in names]
    return PlannedCheck(partial(_join_verdicts, verdicts, either(sentence)))


def contains_text(expectation: StructuralExpectation, outputs: Outputs, near: int) -> PlannedCheck:
    """`contains_text`: a file has the text of `match`, or else what the sentence quotes."""
    sentence = expectation.description or ""
    what = sought_by(expectation, near)
    texts = [] if what is not None else texts_named(sentence)
    if what is None and may_deny(sentence):
        return _plan_unscored(_DENIES)
    if what is None and not texts:
        return _plan_unscored("nothing is in quotes in the sentence, and there is no `match`")
    pattern, names = _files(expectation, outputs, texts)
    if what is not None:
        wanted = [what]
    elif either(sentence):
        wanted = [sought(texts, None, expectation.except_context, near)]
    else:
        wanted = [sought([text], None, expectation.except_context, near) for text in texts]
    searches = [TextSearch(text, one_is_enough=True) for text in wanted]

    def verdict() -> CheckVerdict:
        return _join_verdicts(
            [contains(each, pattern, outputs) for each in searches], any_counts=False
        )

    return PlannedCheck(verdict, tuple((each, names) for each in searches))


class Tables:
    """Collects the tables among the files of a check."""

    done = False

    def __init__(self) -> None:
        self.tables: list[CsvTable] = []
        self.unread: dict[str, str] = {}

    def look(self, name: str, content: Content) -> None:
        """Read a table."""
        self.tables.append(read_table(name, content))

    def cannot_read(self, name: str, error: OSError) -> None:
        """Note a file that cannot be read."""
        self.unread[name] = error.strerror or str(error)


def spoken_rows(expectation: StructuralExpectation, outputs: Outputs) -> PlannedCheck:
    """`row_count`: the number of rows in `count`, or else in the sentence."""
    wanted, operator = expectation.count, expectation.operator
    if wanted is None:
        named = rows_named(expectation.description or "")
        if named is None:
            return _plan_unscored("neither `count` nor the sentence clearly says how many rows")
        wanted, operator = named[0], operator or named[1]
    return _of_tables(
        expectation, outputs, lambda tables: row_count(tables, wanted, operator), alone=True
    )


def spoken_csv(expectation: StructuralExpectation, outputs: Outputs) -> PlannedCheck:
    """`csv_valid`: every table can be read, and all its rows have the same number of fields."""
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
            return _settle_check(verdict_failed(f"{reason} ({count(len(outputs.names), 'file')})"))
        if alone and len(names) > 1:
            return _plan_unscored(f"it does not say which table: {list_names(names)}")
    elif not names:
        return _settle_check(verdict_failed(no_match(pattern, outputs)))
    seen = Tables()

    def verdict_on_all() -> CheckVerdict:
        if seen.unread:
            faults = "; ".join(f"{show_line(name)}: {why}" for name, why in seen.unread.items())
            return verdict_unscored(f"not all tables can be read ({faults})")
        return verdict_on(seen.tables)

    return PlannedCheck(verdict_on_all, ((seen, names),))


def _files(
    expectation: StructuralExpectation, outputs: Outputs, texts: Sequence[str]
) -> tuple[str | None, list[str]]:
    """The files to check: those of the pattern, else those in the sentence, else all."""
    if expectation.pattern is not None:
        return expectation.pattern, match_pattern(expectation.pattern, outputs.names)
    named = [name for name in files_named(expectation.description or "") if name not in texts]
    if not named:
        return None, outputs.names
    meant = {found for name in named for found in match_pattern(name, outputs.names)}
    return " or ".join(named), [name for name in outputs.names if name in meant]


def _join_verdicts(verdicts: Sequence[CheckVerdict], any_counts: bool) -> CheckVerdict:
    """The verdict on several things, all or any of which must be true."""
    if len(verdicts) == 1:
        return verdicts[0]
    marks = [verdict.passed for verdict in verdicts]
    mark = any_counts if any_counts in marks else (None if None in marks else not any_counts)
    return CheckVerdict(
        mark, "; ".join(verdict.evidence for verdict in verdicts if verdict.passed is mark)
    )


def _settle_check(verdict: CheckVerdict) -> PlannedCheck:
    return PlannedCheck(lambda: verdict)


def _plan_unscored(reason: str) -> PlannedCheck:
    return _settle_check(verdict_unscored(reason))
