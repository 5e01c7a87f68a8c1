"""`file_exists` and `file_count`: which files there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .contains import no_match
from .outputs import Outputs
from .verdict import Verdict, counted, failed, listed, passed, shown, unscored

OPERATORS: Mapping[str, tuple[str, Callable[[int, int], bool]]] = {
    "==": ("exactly", lambda there, wanted: there == wanted),
    ">=": ("at least", lambda there, wanted: there >= wanted),
    "<=": ("at most", lambda there, wanted: there <= wanted),
    ">": ("more than", lambda there, wanted: there > wanted),
    "<": ("fewer than", lambda there, wanted: there < wanted),
    "!=": ("not", lambda there, wanted: there != wanted),
}
"""The documents know the first three; the others mean what they say."""

SPELLINGS = {"=": "==", "===": "==", "eq": "==", "gte": ">=", "lte": "<=", "≥": ">=", "≤": "<="}
"""Other ways to write an operator."""


def exists(pattern: str | None, found: Sequence[str], outputs: Outputs) -> Verdict:
    """The verdict on `file_exists`: at least one file matches."""
    if found:
        any_counts = "" if pattern is not None else " (no pattern is given: any file counts)"
        return passed(f"Found: {listed(found)}{any_counts}")
    return failed(no_match(pattern, outputs))


def count(
    pattern: str | None,
    found: Sequence[str],
    wanted: int | None,
    operator: str | None,
    left_out: Mapping[str, str],
) -> Verdict:
    """The verdict on `file_count`: as many files match as are wanted, and 0 may be wanted."""
    of = "in the outputs" if pattern is None else f"that match {shown(pattern)}"
    compared = compare(len(found), wanted, operator, f"files {of}")
    if compared.passed is None:
        return compared
    names = f": {listed(found)}" if found else ""
    told = f" (not counted: {listed(list(left_out))})" if left_out else ""
    there = f"{counted(len(found), 'file')} {of}{names}{told}"
    return Verdict(compared.passed, f"{there}; wanted {compared.evidence}")


def compare(there: int, wanted: int | None, operator: str | None, what: str) -> Verdict:
    """Compare a number with the wanted one; the evidence says what is wanted."""
    sign = (operator or "==").strip()
    sign = SPELLINGS.get(sign, sign)
    if wanted is None:
        return unscored(f"no `count` says how many {what} there are to be")
    if sign not in OPERATORS:
        known = ", ".join(OPERATORS)
        return unscored(f"`operator` is {shown(sign)!r}; there are {known}")
    words, holds = OPERATORS[sign]
    return Verdict(holds(there, wanted), f"{words} {wanted}")
