r"""Write what Python understood of a regular expression in words that `regex` reads alike.

Every construct is written so that it depends on no flag but `(?i)`: `.` and `$` by what they
mean where they stand, `\w`, `\s` and `\b` by the characters that Python takes for them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

_WORD, _SPACE, _DIGIT = r"\p{L}\p{N}_", r"\s\x1c-\x1f", r"\d"
_ASCII_WORD, _ASCII_SPACE, _ASCII_DIGIT = "a-zA-Z0-9_", r"\t-\r\x20", "0-9"
_ANY = r"(?s:.)"
_REPEATS = {"MAX_REPEAT": "", "MIN_REPEAT": "?", "POSSESSIVE_REPEAT": "+"}


class CannotRewrite(ValueError):
    """Python knows something here that this module does not."""


def rewrite(tree: Any) -> str:
    r"""The pattern of a tree that Python's parser gave.

    >>> rewrite(re._parser.parse(r"\${e}\b", re.MULTILINE)).startswith(r"\x24\x7be\x7d")
    True
    """
    flags = tree.state.flags
    body = _sequence(tree, flags)
    return f"(?i:{body})" if flags & re.IGNORECASE else body


def parts_of(tree: Any) -> int:
    r"""The parts of a tree, what is repeated as often as it is to be there at least.

    >>> parts_of(re._parser.parse("(?:ab{3}){100}x*"))
    401
    """
    if isinstance(tree, tuple) and str(tree[0]) in _REPEATS:
        least, _, inner = tree[1]
        return max(least, 1) * parts_of(inner)
    if isinstance(tree, (tuple, list, re._parser.SubPattern)):  # type: ignore[attr-defined]  # noqa: SLF001
        return max(sum(map(parts_of, tree)), 1)
    return 0


def _sequence(items: Any, flags: int) -> str:
    return "".join(_one(str(op), argument, flags) for op, argument in items)


def _one(name: str, argument: Any, flags: int) -> str:
    writer = _WRITERS.get(name)
    if writer is None:
        raise CannotRewrite(f"{name} is not known here")
    return writer(argument, flags)


def _character(code: int) -> str:
    char = chr(code)
    if char.isascii() and char.isalnum():
        return char
    return f"\\x{code:02x}" if code < 0x100 else f"\\U{code:08x}"


def _category(name: str, flags: int) -> tuple[bool, str]:
    """Whether a category is a negated one, and the inside of the set it is or negates."""
    ascii_only = bool(flags & re.ASCII)
    inside = {
        "WORD": _ASCII_WORD if ascii_only else _WORD,
        "SPACE": _ASCII_SPACE if ascii_only else _SPACE,
        "DIGIT": _ASCII_DIGIT if ascii_only else _DIGIT,
    }
    kind = name.removeprefix("CATEGORY_")
    negated, kind = kind.startswith("NOT_"), kind.removeprefix("NOT_")
    if kind not in inside:
        raise CannotRewrite(f"{name} is not known here")
    return negated, inside[kind]


def _set(items: Any, flags: int) -> str:
    """A set; sets in sets are written as alternatives."""
    inside, others, negated = "", [], False
    for op, argument in items:
        name = str(op)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            inside += _character(argument)
        elif name == "RANGE":
            inside += f"{_character(argument[0])}-{_character(argument[1])}"
        elif name == "CATEGORY":
            without, characters = _category(str(argument), flags)
            if without:
                others.append(f"[^{characters}]")
            else:
                inside += characters
        else:
            raise CannotRewrite(f"{name} in a set is not known here")
    if not others:
        return f"[{'^' if negated else ''}{inside}]"
    either = "|".join([f"[{inside}]", *others] if inside else others)
    return f"(?:(?!{either}){_ANY})" if negated else f"(?:{either})"


def _at(where: Any, flags: int) -> str:
    word = f"[{_ASCII_WORD if flags & re.ASCII else _WORD}]"
    name = str(where)
    if name in ("AT_BEGINNING", "AT_END") and flags & re.MULTILINE:
        return "^" if name == "AT_BEGINNING" else "$"
    places = {
        "AT_BEGINNING": r"\A",
        "AT_BEGINNING_STRING": r"\A",
        "AT_END": r"(?:(?=\n\Z)|\Z)",
        "AT_END_STRING": r"\Z",
        "AT_BOUNDARY": f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))",
        "AT_NON_BOUNDARY": f"{_NOT_EMPTY}(?:(?<={word})(?={word})|(?<!{word})(?!{word}))",
    }
    if name not in places:
        raise CannotRewrite(f"{name} is not known here")
    return places[name]


_NOT_EMPTY = r"(?!\A\Z)" if sys.version_info < (3, 14) else ""
r"""Until Python 3.14, `\B` does not match in an empty text."""


def _branch(argument: Any, flags: int) -> str:
    return f"(?:{'|'.join(_sequence(one, flags) for one in argument[1])})"


def _group(argument: Any, flags: int) -> str:
    number, added, removed, inner = argument
    now = (flags | added) & ~removed
    body = _sequence(inner, now)
    if (now ^ flags) & re.IGNORECASE:
        body = f"(?{'i' if now & re.IGNORECASE else '-i'}:{body})"
    return f"({body})" if number is not None else f"(?:{body})"


def _repeat(kind: str) -> Callable[[Any, int], str]:
    def write(argument: Any, flags: int) -> str:
        least, most, inner = argument
        unlimited = most == re._constants.MAXREPEAT  # type: ignore[attr-defined]  # noqa: SLF001
        times = f"{{{least},{'' if unlimited else most}}}"
        return f"(?:{_sequence(inner, flags)}){times}{_REPEATS[kind]}"

    return write


def _look(positive: bool) -> Callable[[Any, int], str]:
    sign = "=" if positive else "!"

    def write(argument: Any, flags: int) -> str:
        direction, inner = argument
        return f"(?{'<' if direction < 0 else ''}{sign}{_sequence(inner, flags)})"

    return write


def _conditional(argument: Any, flags: int) -> str:
    group, yes, no = argument
    otherwise = f"|(?:{_sequence(no, flags)})" if no is not None else ""
    return f"(?({group})(?:{_sequence(yes, flags)}){otherwise})"


_WRITERS: Mapping[str, Callable[[Any, int], str]] = {
    "LITERAL": lambda code, _: _character(code),
    "NOT_LITERAL": lambda code, _: f"[^{_character(code)}]",
    "ANY": lambda _, flags: _ANY if flags & re.DOTALL else r"[^\n]",
    "IN": _set,
    "AT": _at,
    "BRANCH": _branch,
    "SUBPATTERN": _group,
    "MAX_REPEAT": _repeat("MAX_REPEAT"),
    "MIN_REPEAT": _repeat("MIN_REPEAT"),
    "POSSESSIVE_REPEAT": _repeat("POSSESSIVE_REPEAT"),
    "ATOMIC_GROUP": lambda inner, flags: f"(?>{_sequence(inner, flags)})",
    "ASSERT": _look(positive=True),
    "ASSERT_NOT": _look(positive=False),
    "FAILURE": lambda _, __: "(?!)",
    "GROUPREF": lambda group, _: f"\\g<{group}>",
    "GROUPREF_EXISTS": _conditional,
}
