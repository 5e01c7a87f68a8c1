"""Whether a line of plain text is an error message: by its form, not by a word in it."""

from __future__ import annotations

import re

LONGEST = 400
"""An error message says that it is one at its beginning."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_MARKS = re.compile(r"[\s>|*_`#$\-+•]*(?:\d{1,4}[.)]\s+)?[\s*_`]*(?=\S)")
"""What lists, quotes and bold put before a line."""

_MESSAGES = re.compile(
    r"""
      Traceback\ \(most\ recent\ call\ last\)
    | <tool_use_error>
    | "?is_error"?\s*[:=]\s*true\b
    | (?:Uncaught\s+|Unhandled\s+|E\s{3,})?
        (?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\s\[\w+\])?:\s+(?P<named>\S.*)
    | (?:Uncaught\s+)?(?:Error|ERROR|error|FATAL|fatal|fatal\ error|Fatal\ error|API\ Error)
        (?:\[\w+\]|\s[A-Z]+\d+)?(?:\*\*)?:(?:\*\*)?\s+(?P<plain>\S.*)
    | \[(?:ERROR|FATAL|error|fatal)\]\s*:?\s+(?P<tagged>\S.*)
    | (?:npm\s(?:ERR!|error)|ERR!|E:)\s+\S
    | (?:ERROR|FATAL)\s+(?P<logged>\S.*[a-z].*)
    | [❌✗✖✘]\s*(?:Error|ERROR|error)\b(?!\s+(?:handling|messages?\b))
    | \S+?[:(]\d+(?:[:,]\d+)?\)?:\s+(?:fatal\ )?error(?:\s[A-Z]+\d+)?:\s+\S
    | (?:/\S*/)?(?:ba|z|da|k)?sh:\s(?:line\s\d+:\s)?.+:\s
        (?:command\ not\ found|[Nn]ot\ found|[Nn]o\ such\ file\ or\ directory
        |[Pp]ermission\ denied|[Ss]yntax\ error.*)$
    | [\w./-]+:\s(?:.+:\s)?(?:No\ such\ file\ or\ directory|Permission\ denied|Is\ a\ directory
        |command\ not\ found)$
    | thread\s'.*'(?:\s\(\d+\))?\spanicked\sat
    | panic:\s+\S
    | Segmentation\ fault
    | (?:Process\s|Command\s(?:'.*'\s)?|Script\s)?
        (?:[Ee]xit(?:ed)?\s(?:with\s)?(?:exit\s)?(?:code|status)|returned\snon-zero\sexit\sstatus)
        \s?[:=]?\s*-?[1-9]\d*\.?$
    """,
    re.VERBOSE,
)

_NOTHING = re.compile(
    r"""(?:no(?:ne|thing|t\ applicable)?|n/a|null|nil|undefined|false|true|0|-|—
        |"{2}|'{2}|\{\}|\[\])
        [\s.,;]*$""",
    re.VERBOSE | re.IGNORECASE,
)
"""What follows where there was no error: `error: null`."""

_EXPLAINED = re.compile(
    r"(?:if|when|whenever|where|raised|thrown|for|on|in case|means|occurs)\b", re.IGNORECASE
)
"""What follows where an error is described: `ValueError: if the list is empty`."""

_CODE = re.compile(r"""["'\w\[\]<>|. ()$-]{0,80}[,;{]$""")
"""What follows where a line of code has a field of that name: `error: string;`."""


def is_error(line: str) -> bool:
    """Whether a line is an error message.

    >>> [is_error(line) for line in ("3. Error: Cannot find module './clock'", "Exit code 1")]
    [True, True]
    >>> [is_error(line) for line in ("Found 0 errors", "Error handling: done", "error: null,")]
    [False, False, False]
    """
    bare = _COLOURS.sub("", line[:LONGEST]).rstrip().rstrip("`")
    mark = _MARKS.match(bare)
    bare = bare[mark.end() :] if mark else bare
    found = _MESSAGES.match(bare)
    if found is None:
        return False
    said = next((group for group in found.groups() if group), None)
    if said is None:
        return True
    if _NOTHING.match(said) or _EXPLAINED.match(said):
        return False
    return found["plain"] is None or not _CODE.match(said)
