"""What an expectation of the `iterations` dialect says in its sentence.

There a check is a type and a sentence: "clean.csv has 6 data rows". Names of files, quoted
texts and numbers of rows are read from it, where they stand there without doubt.
"""

from __future__ import annotations

import re

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
