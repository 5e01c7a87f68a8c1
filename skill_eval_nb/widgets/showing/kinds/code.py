"""Code with the words of its language set apart, and its lines numbered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from skill_eval_nb.widgets.panel import Child, Node, h

from ..saying import line as one_line
from ..saying import plain
from ..sheet import Sheet
from .reading import read
from .texts import bounded, notes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pygments.lexer import Lexer

SECONDS = 0.4
"""Of processor time, after which the rest stays without colours: on a busy machine a file looks
as it does on an idle one."""
COLOURED = 24_000
"""Characters: a longer text stays without colours, which would make its tree ten times as heavy."""
LONGEST_LINE = 2_000
"""Characters: a text with a longer line stays without colours; nobody wrote it by hand."""

_CLASSES = (
    ("Comment", "comment"),
    ("Keyword.Type", "type"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("String", "string"),
    ("Number", "number"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "type"),
    ("Name.Builtin", "type"),
    ("Name.Decorator", "type"),
    ("Name.Exception", "type"),
    ("Generic.Heading", "name"),
    ("Generic.Subheading", "name"),
    ("Generic.Inserted", "added"),
    ("Generic.Deleted", "removed"),
)


def draw(sheet: Sheet) -> Child:
    """The code of a file."""
    reading = read(sheet.file)
    text, said = bounded(reading)
    shown = highlighted(text, lexer_for(sheet.file.name))
    return [notes(reading, said), listing(shown, label=f"code of {one_line(sheet.file.name)}")]


def source(text: str, language: str, *, label: str) -> Node:
    """A piece of code in a language that is named."""
    return listing(highlighted(plain(text), lexer_named(language)), label=label)


def listing(lines: Iterable[list[Node]], *, label: str) -> Node:
    """Lines of code, each an element with a number that is not copied along."""
    rows = [h("span", one, cls="sen-line") for one in lines]
    return h("pre", rows, cls="sen-code", tabindex="0", role="group", aria_label=label, dir="ltr")


@lru_cache(maxsize=512)
def lexer_for(name: str) -> type[Lexer] | None:
    """What reads a language, by the name of a file; None where none is known.

    >>> lexer_for("a/b.py").name, lexer_for("notes.txt")
    ('Python', None)
    """
    from pygments.lexers import find_lexer_class_for_filename

    last = name.rpartition("/")[2]
    if "." in last:
        last = f"x.{last.rpartition('.')[2]}"
    found = find_lexer_class_for_filename(last)
    return None if found is None or found.name == "Text only" else found


@lru_cache(maxsize=128)
def lexer_named(language: str) -> type[Lexer] | None:
    """What reads a language, by its name; None where none is known."""
    from pygments.lexers import find_lexer_class_by_name
    from pygments.util import ClassNotFound

    try:
        return find_lexer_class_by_name(language)
    except ClassNotFound:
        return None


def highlighted(text: str, lexer: type[Lexer] | None) -> list[list[Node]]:
    r"""The lines of a text, each with the end that it has, in pieces.

    >>> from pygments.lexers import PythonLexer
    >>> highlighted("if x:\n  1", PythonLexer)[0]
    [['span', {'class': 'sen-tok-keyword'}, ['if ']], 'x:\n']
    """
    too_long = len(text) > COLOURED or max(map(len, text.split("\n"))) > LONGEST_LINE
    if lexer is None or too_long:
        return [[one] for one in text.splitlines(keepends=True)]
    lines: list[list[Node]] = [[]]
    for look, piece in _joined(_tokens(text, lexer)):
        for part in piece.splitlines(keepends=True):
            lines[-1].append(h("span", part, cls=f"sen-tok-{look}") if look else part)
            if part.endswith("\n"):
                lines.append([])
    return lines if lines[-1] else lines[:-1]


def _tokens(text: str, lexer: type[Lexer]) -> Iterator[tuple[str, str]]:
    """Pieces of the text with the class of each; all text is in them, whatever a lexer does."""
    at = 0
    try:
        reader = lexer(stripnl=False, ensurenl=False)  # the first of its kind makes its patterns
        until = time.thread_time() + SECONDS
        for kind, piece in reader.get_tokens(text):
            if text[at : at + len(piece)] != piece or time.thread_time() > until:
                break
            at += len(piece)
            yield look_of(kind), piece
    except Exception:  # noqa: BLE001, S110 -- hundreds of lexers by others: what is left stays plain
        pass
    yield "", text[at:]


@lru_cache(maxsize=512)
def look_of(kind: Any) -> str:
    """The class of a token; empty for what is not set apart."""
    dotted = str(kind).removeprefix("Token.").removeprefix("Literal.")
    return next((look for start, look in _CLASSES if dotted.startswith(start)), "")


def _joined(pieces: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The same with neighbours of one class in one."""
    held: tuple[str, list[str]] | None = None
    for look, piece in pieces:
        mine = "" if piece.isspace() and held is None else look
        if held is not None and (held[0] == mine or piece.isspace()):
            held[1].append(piece)
            continue
        if held is not None:
            yield held[0], "".join(held[1])
        held = mine, [piece]
    if held is not None:
        yield held[0], "".join(held[1])
