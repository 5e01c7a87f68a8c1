"""Texts that must occur wherever a regular expression matches.

A search for bytes is thirty times as fast as one for an expression, so files that hold none
of these texts need no second look. What cannot be told for certain is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

MOST_BRANCHES = 16
"""More alternatives than this are as slow to look for as the expression itself."""


def literals_of(tree: Any) -> tuple[bytes, ...]:
    r"""Texts as UTF-8, of which at least one stands in every match; () where none is known.

    >>> parse = re._parser.parse
    >>> literals_of(parse(r"it\(|test\(")), literals_of(parse(r"\d+ (rows|lines)"))
    ((b'it(', b'test('), (b'lines', b'rows'))
    >>> literals_of(parse("(?i)error")), literals_of(parse("a|.*"))
    ((), ())
    """
    found = _needed(tree, tree.state.flags)
    return tuple(sorted(text.encode() for text in found)) if found else ()


def _needed(sequence: Any, flags: int) -> frozenset[str] | None:
    """Of all that a sequence needs, the set whose shortest text is the longest."""
    best: frozenset[str] | None = None
    run: list[str] = []
    for name, argument in [(str(op), argument) for op, argument in sequence] + [("END", None)]:
        if name == "LITERAL" and _stays(argument, flags):
            run.append(chr(argument))
            continue
        best = _better(best, frozenset(("".join(run),)) if run else None)
        run.clear()
        best = _better(best, _of_one(name, argument, flags))
    return best


def _of_one(name: str, argument: Any, flags: int) -> frozenset[str] | None:
    if name == "SUBPATTERN":
        _, added, removed, inner = argument
        return _needed(inner, (flags | added) & ~removed)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0] >= 1:
        return _needed(argument[2], flags)
    if name == "ATOMIC_GROUP":
        return _needed(argument, flags)
    if name == "BRANCH":
        return _of_branches([_needed(branch, flags) for branch in argument[1]])
    return None


def _of_branches(branches: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    together: set[str] = set()
    for one in branches:
        if one is None:
            return None
        together |= one
    return frozenset(together) if len(together) <= MOST_BRANCHES else None


def _better(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other, key=lambda texts: (min(map(len, texts)), -len(texts)))


def _stays(code: int, flags: int) -> bool:
    """Whether a character stands in the file as it stands in the expression.

    Line ends may be written otherwise there; the character for what cannot be decoded
    stands for anything.
    """
    if flags & re.IGNORECASE:
        return False
    return code not in (0x0A, 0x0D, 0xFEFF, 0xFFFD) and not 0xD800 <= code <= 0xDFFF
