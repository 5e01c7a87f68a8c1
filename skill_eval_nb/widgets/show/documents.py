"""What a file is drawn as: text, code, Markdown, tables, JSON, notebooks, pictures, PDF."""

from __future__ import annotations

import base64
import binascii
import csv
import io
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from functools import lru_cache
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from skill_eval_nb import skill_md
from skill_eval_nb.grading.evidence import extracting, extractor, images
from skill_eval_nb.grading.evidence.extractor import CELL, COLUMNS, ROWS, weight
from skill_eval_nb.grading.evidence.images import kind_of
from skill_eval_nb.grading.evidence.room import EXTRACTING_SECONDS, IMAGE_BYTES
from skill_eval_nb.text import count, size

from ..ui import Child, Node, h
from ..ui.blobs import Bytes
from .files import NotDrawn, OutputFile, Reading, Sheet, lines_in, read, whole_text
from .format import LONGEST, body, first, line, name, plain, soft
from .format import line as one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode
    from pygments.lexer import Lexer


LINES = 1_000
"""Lines that are shown at most."""
CHARS = 40_000
"""Characters that are shown at most."""


def draw_text(sheet: Sheet) -> Child:
    """The text of a file."""
    reading = read(sheet.file)
    text, excerpt = bounded(reading)
    return [notes(reading, excerpt), body(text, label=f"text of {line(sheet.file.name)}")]


def notes(reading: Reading, excerpt: str | None) -> Child:
    """What is to be known of a text that is shown."""
    remarks = [one for one in (reading.note, excerpt) if one]
    return [soft(f"{one[0].upper()}{one[1:]}.") for one in remarks]


def bounded(reading: Reading) -> tuple[str, str | None]:
    """So much of a text as is shown, and what that is; None where it is all."""
    text = plain(reading.text)
    lines = text.split("\n", LINES)
    if len(lines) > LINES and lines[LINES]:
        shown = "\n".join(lines[:LINES])
        if len(shown) <= CHARS:
            return shown, _of_lines(LINES, reading.lines)
    if len(text) > CHARS:
        many = f"{len(text):,}" if reading.whole else f"more than {len(text):,}"
        head = text[:CHARS]
        at = f", in {reading.lines:,} lines" if reading.lines and reading.lines > 1 else ""
        return head, f"The first {CHARS:,} of {many} characters{at}"
    return text, None if reading.whole else _of_lines(text.count("\n"), reading.lines)


def _of_lines(shown: int, all_: int | None) -> str:
    return f"The first {shown:,} lines of very many" if all_ is None else first(shown, all_, "line")


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


def draw_code(sheet: Sheet) -> Child:
    """The code of a file."""
    reading = read(sheet.file)
    text, excerpt = bounded(reading)
    shown = highlighted(text, lexer_for(sheet.file.name))
    return [notes(reading, excerpt), listing(shown, label=f"code of {one_line(sheet.file.name)}")]


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


FORMS = {
    "png": "png",
    "jpg": "jpeg",
    "jpeg": "jpeg",
    "gif": "gif",
    "webp": "webp",
    "svg": "svg+xml",
}
"""By the end of a name the media type."""
PICTURE_MOST = 20_000_000
"""Bytes of a picture that is drawn."""
UNPACKED = 2**28
"""Bytes that it may unpack to."""


def draw_picture(sheet: Sheet) -> Child:
    """A picture of points."""
    file = sheet.file
    if file.size > PICTURE_MOST:
        return soft(f"A picture of {size(file.size)}: up to {size(PICTURE_MOST)} are drawn.")
    data = file.read(IMAGE_BYTES)
    form = kind_of(data)
    if form is None:
        raise NotDrawn("it does not begin as a picture")
    odd = None
    if weight(data, form) > UNPACKED:  # a few bytes can stand for gigabytes of points
        odd = "a picture too large to be looked through"
    elif file.size <= IMAGE_BYTES:
        odd = _awaited(sheet, form, lambda fault, _: fault or None)
    if odd is not None and ("pixels" in odd or "too large" in odd):
        return soft(f"Not drawn: {odd.partition(';')[0].partition(', with')[0]}.")
    return [
        None if odd is None else soft(f"It may not show as a whole: {odd}."),
        h("img", blob=sheet.show(file, f"image/{form}"), alt=line(file.name)),
    ]


def draw_svg(sheet: Sheet) -> Child:
    """A drawing in SVG, and how it is written. As a picture it runs no script."""
    file = sheet.file
    reading = whole_text(file)
    text, excerpt = bounded(reading)
    if "<svg" not in reading.text[:10_000]:
        raise NotDrawn("there is no <svg> where it begins")
    return [
        h("img", blob=sheet.show(file, "image/svg+xml"), alt=line(file.name), cls="sen-svg"),
        h(
            "details",
            h("summary", "As it is written", cls="sen-soft sen-small"),
            None if excerpt is None else soft(excerpt, "."),
            source(text, "xml", label=f"source of {line(file.name)}"),
        ),
    ]


_LINKS = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_PLAIN = {
    "paragraph": "p",
    "strong": "strong",
    "em": "em",
    "s": "s",
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "list_item": "li",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
}
NESTED = 40
"""Levels that the parser goes down: what is deeper it leaves out, so such a text is not drawn."""

Picture = Callable[[str, str], Node]
"""From the source and the words of a picture, what stands in its place."""


def draw_markdown(sheet: Sheet) -> Child:
    """The Markdown of a file, and how it is written."""
    reading = read(sheet.file)
    text, excerpt = bounded(reading)
    here = os.path.dirname(sheet.file.path)  # noqa: PTH120 -- as text: nothing is looked up

    def picture(src: str, words: str) -> Node:
        file = sheet.pictures.get(os.path.normpath(f"{here}/{unquote(src)}"))
        return shown_words(src, words) if file is None else shown_picture(sheet, file, words)

    written = h(
        "details",
        h("summary", "As it is written", cls="sen-soft sen-small"),
        source(text, "markdown", label=f"source of {line(sheet.file.name)}"),
    )
    return [notes(reading, excerpt), rendered(text, picture), written]


def shown_picture(sheet: Sheet, file: OutputFile, words: str) -> Node:
    """A picture that lies beside the file."""
    return h(
        "img", blob=sheet.show(file, f"image/{FORMS[file.suffix]}"), alt=line(words or file.name)
    )


def shown_words(src: str, words: str) -> Node:
    """What stands for a picture that is not shown: it is never fetched."""
    caption = f"picture: {line(words) or 'without words'}"
    return h(
        "span",
        caption,
        cls="sen-soft sen-absent",
        title=f"not among the outputs: {line(src)[:200]}",
    )


def rendered(text: str, picture: Picture = shown_words) -> Node:
    """A text in Markdown as a tree.

    >>> rendered("a *b* <b>c</b> [d](javascript:x)")[2]
    [['p', {'dir': 'auto'}, ['a ', ['em', {}, ['b']], ' <b>c</b> [d](javascript:x)']]]
    """
    from markdown_it.tree import SyntaxTreeNode

    text = plain(text)
    try:
        head = source(skill_md.parts(text)[1], "yaml", label="front matter")
    except skill_md.BadSkill:
        head = None
    tokens = parser().parse(skill_md.body(text))
    if any(token.level >= NESTED - 1 for token in tokens):
        return h("div", soft("Nested too deep to be drawn: as it is written."), body(text))
    return h("div", head, _inside(SyntaxTreeNode(tokens), picture), cls="sen-md", dir="auto")


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """What reads Markdown: CommonMark with tables and strikethrough, and no HTML."""
    from markdown_it import MarkdownIt

    options = {"html": False, "maxNesting": NESTED}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def _inside(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    return _merged([one for child in node.children for one in _made(child, picture)])


def _merged(nodes: list[Node]) -> list[Node]:
    """Texts that follow each other in one."""
    out: list[Node] = []
    for node in nodes:
        if isinstance(node, str) and out and isinstance(out[-1], str):
            out[-1] += node
        else:
            out.append(node)
    return out


def _made(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    kind = node.type
    if kind in _PLAIN:
        if kind == "paragraph" and node.hidden:  # a tight list's
            return _inside(node, picture)
        auto = "auto" if kind == "paragraph" else None
        return [h(_PLAIN[kind], _inside(node, picture), dir=auto)]
    if kind == "inline":
        return _inside(node, picture)
    make = _MADE.get(kind)
    if make is not None:
        return make(node, picture)
    return _inside(node, picture) if node.children else [str(node.content)]


def _heading(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    level = min(int(node.tag[1:]) + 3, 6)
    cls = f"sen-md-{node.tag}"
    return [h(f"h{level}", _inside(node, picture), cls=cls, dir="auto")]


def _fence(node: SyntaxTreeNode, _: Picture) -> list[Node]:
    language = node.info.split(maxsplit=1)[0] if node.info.strip() else ""
    return [source(node.content, language, label=f"code in {line(language)[:40] or 'a fence'}")]


def _link(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    href, words = str(node.attrs.get("href", "")), _inside(node, picture)
    if not _LINKS.match(href):
        return words
    return [h("a", words, href=href, title=line(href)[:300])]


def _image(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    words = "".join(child.content for child in node.walk() if child.type == "text")
    return [picture(str(node.attrs.get("src", "")), words)]


def _table(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    table = h("table", _inside(node, picture), cls="sen-given")
    return [h("div", table, cls="sen-scroll", tabindex="0", role="group", aria_label="table")]


def _cell(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    right = "right" in str(node.attrs.get("style", ""))
    scope: dict[str, Any] = {"scope": "col"} if node.tag == "th" else {}
    content = _inside(node, picture)
    return [h(node.tag, content, cls="sen-n" if right else None, dir="auto", **scope)]


def _ordered(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    start = node.attrs.get("start")
    return [h("ol", _inside(node, picture), start=None if start is None else str(start))]


def _code(node: SyntaxTreeNode, _: Picture) -> list[Node]:
    return [h("code", node.content)]


_MADE: dict[str, Callable[[SyntaxTreeNode, Picture], list[Node]]] = {
    "heading": _heading,
    "fence": _fence,
    "code_block": _fence,
    "code_inline": _code,
    "link": _link,
    "image": _image,
    "table": _table,
    "th": _cell,
    "td": _cell,
    "ordered_list": _ordered,
    "hr": lambda *_: [h("hr")],
    "hardbreak": lambda *_: [h("br")],
    "softbreak": lambda *_: ["\n"],
    "text": lambda node, *_: [node.content],
}


_NUMBER = re.compile(r"\s*[-+−]?[$€£]?\d[\d.,' ]*(?:e[-+]?\d+)?\s*%?\s*", re.IGNORECASE)


def grid(rows: Sequence[Sequence[str]], *, label: str) -> Node:
    """A table with its first row as the head, and a number before each other row."""
    wide = min(max(map(len, rows), default=0), COLUMNS)
    head, *others = [[*row[:wide], *[""] * (wide - len(row))] for row in rows]
    right = [
        "sen-n" if others and all(_is_number(row[at]) for row in others) else None
        for at in range(wide)
    ]
    names = [
        h("th", _grid_cell(words) or f"column {at}", scope="col", cls=cls, dir="auto")
        for at, (words, cls) in enumerate(zip(head, right, strict=True), 1)
    ]
    body = [
        h(
            "tr",
            h("th", f"{number:,}", scope="row", cls="sen-n sen-soft"),
            [
                h("td", _grid_cell(words), cls=cls, dir="auto")
                for words, cls in zip(row, right, strict=True)
            ],
        )
        for number, row in enumerate(others, 1)
    ]
    corner = h("th", h("span", "row", cls="sen-unseen"), scope="col")
    table = h("table", h("thead", h("tr", corner, names)), h("tbody", body), cls="sen-given")
    return h("div", table, cls="sen-scroll sen-tall", tabindex="0", role="group", aria_label=label)


def bounds(shown: int, rows: int | None, columns: int) -> Child:
    """What of all rows and columns a table shows."""
    excerpt = count(shown, "row") if rows == shown else f"The first {shown:,} rows"
    if rows is not None and rows > shown:
        excerpt = f"The first {shown:,} of {count(rows, 'row')}"
    wide = count(columns, "column")
    if columns > COLUMNS:
        wide = f"the first {COLUMNS} of {columns:,} columns"
    return h("p", f"{excerpt}, {wide}", cls="sen-soft sen-small")


def _grid_cell(words: str) -> str:
    text = plain(words)
    return text if len(text) <= CELL else f"{text[:CELL]}… ({len(text):,} characters)"


def _is_number(words: str) -> bool:
    return not words or (len(words) < 40 and _NUMBER.fullmatch(words) is not None)


_DELIMITERS = ",;\t|"
_LOOKED_AT = 20_000
_MOST_FIELD = 2**24


def draw_csv(sheet: Sheet) -> Child:
    """The first rows of a file."""
    reading = read(sheet.file)
    delimiter = "\t" if sheet.file.suffix == "tsv" else delimiter_of(reading.text)
    csv.field_size_limit(_MOST_FIELD)
    rows = csv.reader(io.StringIO(reading.text, newline=""), delimiter=delimiter)
    try:
        shown = list(islice((row for row in rows if row), ROWS + 1))
        rest = sum(1 for row in rows if row) if reading.whole else None
    except csv.Error as error:
        raise NotDrawn(f"it is no table: {error}") from None
    if not shown:
        raise NotDrawn("there are no rows in it")
    wide = max(map(len, shown))
    total = None if rest is None else len(shown) - 1 + rest
    return [
        notes(reading, _lines(reading)),
        bounds(len(shown) - 1, total, wide),
        grid([row[:COLUMNS] for row in shown], label=f"rows of {line(sheet.file.name)}"),
    ]


def _lines(reading: Reading) -> str | None:
    many = "very many" if reading.lines is None else f"{reading.lines:,}"
    return None if reading.whole else f"The file has {many} lines"


def delimiter_of(text: str) -> str:
    r"""What stands between the columns: the mark that the lines agree on.

    >>> delimiter_of("a;b\n1,5;2\n"), delimiter_of("a,b\n"), delimiter_of("a\n")
    (';', ',', ',')
    """
    lines = [one for one in text[:_LOOKED_AT].splitlines()[:20] if one]
    best = ","
    most = 0
    for mark in _DELIMITERS:
        counts = [one.count(mark) for one in lines]
        same = min(counts, default=0) if len(set(counts[:5])) <= 1 else 0
        if same > most:
            best, most = mark, same
    return best


DEEP = 16
"""Levels that are shown at most."""
MEMBERS = 100
"""Members of one list or object that are shown at most."""
NODES = 3_000
"""Values of one file that are shown at most."""
JSON_CHARS = 1_000
"""Characters of one text in it that are shown at most."""
UNFOLDED = 60
"""Values that a tree may have to stand open in all its levels."""
_WORDS = {None: "null", True: "true", False: "false"}


class Pairs(list[tuple[str, Any]]):
    """An object as it is written, in which a name may stand twice."""


class Written(str):
    """A number as it is written."""

    __slots__ = ()


def draw_json(sheet: Sheet) -> Child:
    """The tree of a file."""
    reading = whole_text(sheet.file)
    try:
        value = parsed(reading.text)
    except (ValueError, RecursionError) as error:
        raise NotDrawn(f"it is no JSON: {error}") from None
    tree = Tree()
    shown = tree.shown(value, 0, unfold=_small(value))
    return [notes(reading, tree.excerpt()), h("div", shown, cls="sen-json", dir="ltr")]


def draw_json_lines(sheet: Sheet) -> Child:
    """A file with a JSON value on each line."""
    reading = read(sheet.file)
    lines = [one for one in reading.text.splitlines() if one.strip()]
    tree, shown = Tree(), []
    for text in lines[:MEMBERS]:
        try:
            shown.append(h("li", tree.shown(parsed(text), 0)))
        except (ValueError, RecursionError):
            shown.append(h("li", "(no JSON) ", h("code", plain(text[:JSON_CHARS]))))
    excerpt = tree.excerpt()
    if len(lines) > MEMBERS or not reading.whole:
        excerpt = first(MEMBERS, max(reading.lines or 0, len(lines)), "line")
    return [notes(reading, excerpt), h("ol", shown, cls="sen-json", dir="ltr")]


def parsed(text: str) -> Any:
    """The value that a text of JSON says.

    >>> parsed('{"a": 1.50, "a": [true]}')
    [('a', '1.50'), ('a', [True])]

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deep.
    """
    return json.loads(
        text,
        parse_int=Written,
        parse_float=Written,
        parse_constant=Written,
        object_pairs_hook=Pairs,
    )


class Tree:
    """A tree in the making: how many values it has, and what was left out."""

    def __init__(self) -> None:
        self.nodes = 0
        self.left_out = 0

    def excerpt(self) -> str | None:
        """What is not shown; None where all is."""
        return f"{count(self.left_out, 'value')} not shown here" if self.left_out else None

    def shown(self, value: Any, deep: int, *, unfold: bool = False, name: Child = None) -> Node:
        """A value, with its name before it where it has one."""
        self.nodes += 1
        if not isinstance(value, list):
            return h("span", name, _leaf(value))
        what = "object" if isinstance(value, Pairs) else "list"
        noun = "member" if isinstance(value, Pairs) else "item"
        caption = h("span", f"{what}, {count(len(value), noun)}", cls="sen-soft")
        if not value or deep >= DEEP or self.nodes >= NODES:
            self.left_out += len(value)
            cut = ", not shown here" if value else ""
            return h("span", name, caption, h("span", cut, cls="sen-soft") if cut else None)
        return h(
            "details",
            h("summary", name, caption),
            self._members(value, deep, unfold=unfold),
            open=unfold or deep == 0,
        )

    def _members(self, value: Sequence[Any], deep: int, *, unfold: bool) -> Child:
        of_object = isinstance(value, Pairs)
        rows = []
        for at, one in enumerate(value[:MEMBERS]):
            if self.nodes >= NODES:
                break
            key = h("span", line(one[0]) if of_object else str(at), cls="sen-key", dir="auto")
            member = one[1] if of_object else one
            rows.append(h("li", self.shown(member, deep + 1, unfold=unfold, name=[key, ": "])))
        left = len(value) - len(rows)
        self.left_out += left
        more = soft(f"{first(len(rows), len(value), 'value')}.") if left else None
        return [h("ul", rows), more]


def _leaf(value: Any) -> Child:
    if isinstance(value, Written):
        return h("span", value[:JSON_CHARS], cls="sen-tok-number")
    if isinstance(value, str):
        return _json_text(value)
    return h("span", _WORDS[value], cls="sen-tok-keyword")


def _json_text(value: str) -> Child:
    excerpt = h("span", plain(value[:JSON_CHARS]), cls="sen-tok-string sen-said", dir="auto")
    if len(value) <= JSON_CHARS:
        return excerpt
    opens = "all" if len(value) <= LONGEST else f"the first {LONGEST:,}"
    words = f"{first(JSON_CHARS, len(value), 'character')}; opens {opens}"
    whole = body(value[:LONGEST], label="text")
    return [excerpt, h("details", h("summary", words, cls="sen-soft sen-small"), whole)]


def _small(value: Any, left: int = UNFOLDED) -> bool:
    waiting, seen = [value], 0
    while waiting and seen <= left:
        one = waiting.pop()
        seen += 1
        if isinstance(one, list):
            waiting += [pair[1] for pair in one] if isinstance(one, Pairs) else one
    return seen <= left


def draw_workbook(sheet: Sheet) -> Child:
    """The sheets of a workbook; formulas stand where no value was saved for them."""
    return _awaited(sheet, "grid", lambda text, _: list(_sheets(text, line(sheet.file.name))))


def _sheets(text: str, of: str) -> Iterator[Child]:
    titles, *lines = [json.loads(one) for one in text.splitlines(keepends=True) if one[-1] == "\n"]
    for title in titles[: extractor.SHEETS]:
        if not lines:
            return  # more than was read
        stated = lines.pop(0)
        rows = list(takewhile(lambda one: isinstance(one, list), lines))
        del lines[: len(rows)]
        while rows and not any(rows[-1]):
            rows.pop()
        yield h("h5", "Sheet ", name(title))
        if not rows:
            yield soft("It is empty.")
            continue
        seen = max(at for row in rows for at, cell in enumerate(row, 1) if cell)
        wide = max(seen, stated["columns"] or 0) if seen == COLUMNS else seen
        whole = len(rows) <= ROWS + 1
        total = len(rows) - 1 if whole else max((stated["rows"] or 0) - 1, len(rows) - 1)
        yield bounds(min(len(rows) - 1, ROWS), total, wide)
        yield grid([row[:seen] for row in rows[: ROWS + 1]], label=f"sheet {line(title)} of {of}")
    if others := titles[extractor.SHEETS :]:
        named = ", ".join(map(line, others[:50]))
        yield soft(f"{count(len(others), 'more sheet')} not shown: {named}.")


CELLS = 100
"""Cells that are shown at most."""
NOTEBOOK_CHARS = 60_000
"""Characters of all cells that are shown at most."""
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/svg+xml")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def draw_notebook(sheet: Sheet) -> Child:
    """The cells of a notebook."""
    reading = whole_text(sheet.file)
    notebook = _parsed(reading.text)
    language = _language(notebook.get("metadata"))
    drawn = Cells(sheet, language)
    shown = []
    for number, cell in enumerate(notebook["cells"][:CELLS]):
        if drawn.left <= 0:
            break
        shown.append(h("div", list(drawn.cell(number, cell)), cls="sen-cell"))
    all_cells = len(notebook["cells"])
    excerpt = first(len(shown), all_cells, "cell") if len(shown) < all_cells else None
    return [notes(reading, excerpt), h("div", shown, cls="sen-notebook")]


def _parsed(text: str) -> dict[str, Any]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotDrawn(f"it is no notebook: {error}") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list):
        raise NotDrawn("it is no notebook: it has no list of cells")
    return raw


def _language(metadata: Any) -> str:
    stated = metadata if isinstance(metadata, dict) else {}
    info = stated.get("language_info")
    found = info.get("name") if isinstance(info, dict) else None
    return found if isinstance(found, str) else "python"


class Cells:
    """Cells on their way to be seen, and the room that is left for them."""

    def __init__(self, sheet: Sheet, language: str) -> None:
        self.left = NOTEBOOK_CHARS
        self._sheet = sheet
        self._language = language

    def cell(self, number: int, cell: Any) -> Iterator[Child]:
        """One cell."""
        if not isinstance(cell, dict):
            yield soft(f"Cell {number + 1} is damaged.")
            return
        written = self._bounded(_joined_text(cell.get("source")))
        kind = cell.get("cell_type")
        if kind == "markdown":
            yield rendered(written)
        elif kind == "code":
            yield source(written, self._language, label=f"cell {number + 1}")
        else:
            yield body(written, label=f"cell {number + 1}")
        outputs = cell.get("outputs")
        for place, output in enumerate(outputs if isinstance(outputs, list) else []):
            if isinstance(output, dict):
                yield self._output(number, place, output)

    def _bounded(self, text: str) -> str:
        room, self.left = self.left, self.left - len(text)
        shown, excerpt = bounded(Reading(text[: max(room, 0)], len(text) <= room, lines_in(text)))
        return shown if excerpt is None else f"{shown}\n[… {excerpt}]"

    def _output(self, number: int, place: int, output: dict[str, Any]) -> Child:
        label = f"output of cell {number + 1}"
        if output.get("output_type") == "error":
            trace = output.get("traceback")
            lines = "\n".join(map(str, trace)) if isinstance(trace, list) else ""
            text = lines or f"{output.get('ename')}: {output.get('evalue')}"
            return body(self._bounded(_COLOURS.sub("", text)), label=label)
        if "text" in output:
            return body(self._bounded(_COLOURS.sub("", _joined_text(output["text"]))), label=label)
        data = output.get("data")
        if not isinstance(data, dict):
            return None
        return self._picture(number, place, data) or self._words(data, label)

    def _picture(self, number: int, place: int, data: dict[str, Any]) -> Child:
        form = next((one for one in PICTURES if one in data), None)
        if form is None:
            return None
        coded = _joined_text(data[form])
        file = self._sheet.file
        blob = self._sheet.offer(
            f"cell {number} {place}",
            lambda: _bytes(file, number, place, form),
            loads=len(coded),
        )
        words = line(_joined_text(data.get("text/plain"))[:100]) or f"picture of cell {number + 1}"
        return h("img", blob=blob, alt=words)

    def _words(self, data: dict[str, Any], label: str) -> Child:
        if "text/markdown" in data:
            return rendered(self._bounded(_joined_text(data["text/markdown"])))
        if "text/plain" in data:
            others = [str(kind) for kind in data if kind != "text/plain"]
            also = soft(f"Also as {line(', '.join(others))[:200]}, which is not drawn.")
            text = body(self._bounded(_joined_text(data["text/plain"])), label=label)
            return [text, also if others else None]
        kind, value = next(iter(data.items()), ("nothing", ""))
        shown = value if isinstance(value, str | list) else json.dumps(value)[:NOTEBOOK_CHARS]
        text = body(self._bounded(_joined_text(shown)), label=label)
        return [soft(f"As it is written ({line(kind)[:80]}):"), text]


def _bytes(file: OutputFile, number: int, place: int, form: str) -> Bytes:
    """A picture, read again from its notebook: it is not kept."""
    text = _joined_text(
        _parsed(whole_text(file).text)["cells"][number]["outputs"][place]["data"][form]
    )
    if form == "image/svg+xml":
        return text.encode("utf-8", "replace"), form
    try:
        return base64.b64decode(text), form
    except binascii.Error as error:
        raise OSError(0, f"its picture is damaged: {error}") from None


def _joined_text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def draw_page(sheet: Sheet) -> Child:
    """A page, as the browser draws it without scripts and without a network."""
    file = sheet.file
    reading = whole_text(file)
    text, excerpt = bounded(reading)
    title = f"{line(file.name)}, as a page"
    data = reading.text.encode("utf-8", "replace")
    frame = sheet.offer("as a page", lambda: (data, "text/html"), loads=len(data))
    return [
        notes(reading, None),
        h("iframe", blob=frame, title=title),
        soft("Without its scripts, and without anything that it would fetch."),
        h(
            "details",
            h("summary", "As it is written", cls="sen-soft sen-small"),
            None if excerpt is None else soft(excerpt, "."),
            source(text, "html", label=f"source of {line(file.name)}"),
        ),
    ]


PDF_MOST = 40_000_000
"""Bytes of a PDF that is handed to the page as a document."""

READERS = {"pdf": "pdf", "docx": "docx", "pptx": "pptx", "xlsx": "grid", "xlsm": "grid"}
"""By the end of a name the reader that is a process of its own."""
QUICK = 2.0
"""Seconds: what a reader takes beyond these counts for its run."""

_SLOW: dict[str, float] = {}
"""By the folder of a run the seconds that its slow readers took."""

_POOL = ThreadPoolExecutor(2, thread_name_prefix="sen-extracting")


def draw_pdf(sheet: Sheet) -> Child:
    """A PDF in the browser's own viewer, and its text."""
    file = sheet.file
    text = _extracted_text(sheet)
    if file.size > PDF_MOST:
        return [soft(f"A PDF of {size(file.size)}: up to {size(PDF_MOST)} are drawn."), text]
    frame = h("iframe", blob=sheet.show(file, "application/pdf"), title=f"{line(file.name)}, a PDF")
    if _is_damaged(file):
        caption = "As far as the browser can draw it"
        return [text, h("details", h("summary", caption, cls="sen-soft sen-small"), frame)]
    return [frame, h("details", h("summary", "Its text", cls="sen-soft sen-small"), text)]


def _is_damaged(file: OutputFile) -> bool:
    begun = _begun(file, "pdf")
    return begun.done() and "cannot be read" in str(begun.exception())


def draw_office(sheet: Sheet) -> Child:
    """The text of a Word or PowerPoint file."""
    return _extracted_text(sheet)


def begin(file: OutputFile) -> Future[tuple[str, bool]] | None:
    """Let the reading of a file begin, where that takes a process; `draw_…` waits for it."""
    apart = file.reason is None and file.suffix in READERS
    return _begun(file, READERS[file.suffix]) if apart else None


@lru_cache(maxsize=32)  # a text may have millions of characters
def _begun(file: OutputFile, kind: str) -> Future[tuple[str, bool]]:
    return _POOL.submit(_read_apart, file, kind)


def _read_apart(file: OutputFile, kind: str) -> tuple[str, bool]:
    """What a reader in a process of its own gives, within the seconds that a run has for them."""
    left = EXTRACTING_SECONDS - _SLOW.get(file.root, 0.0)
    if left <= 0:
        raise extracting.NotExtracted("the files before it took too long to read")
    began = time.monotonic()
    try:
        with file.open() as opened:  # it is a regular file, and in the run
            if kind in images.ENDINGS:
                return images.why_not(opened.read(), kind, file.path) or "", False
        return extracting.extract(file.path, kind, file.size, left)
    finally:
        slow = max(time.monotonic() - began - QUICK, 0.0)
        _SLOW[file.root] = _SLOW.get(file.root, 0.0) + slow


def _awaited(sheet: Sheet, kind: str, view: Callable[[str, bool], Any]) -> Any:
    """What is made of what a reader gives, and whether there is more; or why there is nothing.

    Raises:
        NotDrawn: a workbook is damaged.
    """
    try:
        found = _begun(sheet.file, kind).result(timeout=max(sheet.waits, 0))
    except NotYet:
        sheet.lasting = False
        if kind in images.ENDINGS:
            return None
        return soft("Its text is still being read: it is here when this is drawn again.")
    except extracting.NotExtracted as why:
        if kind == "grid" and "cannot be read" in str(why):
            raise NotDrawn(str(why)) from None
        return str(why) if kind in images.ENDINGS else soft(f"Its text is not shown: {why}.")
    return view(*found)


def _extracted_text(sheet: Sheet) -> Child:
    def shown(text: str, more: bool) -> Child:
        reading = Reading(text, not more, lines_in(text))
        head, part = bounded(reading)
        part = part or ("The beginning of its text" if more else None)
        return [part and soft(part, "."), body(head, label=f"text of {line(sheet.file.name)}")]

    return _awaited(sheet, READERS.get(sheet.file.suffix, "pdf"), shown)


SHOWN = 256
"""Bytes that are shown."""
_ROW = 16


def draw_bytes(sheet: Sheet) -> Child:
    """The first bytes of a file, in a details."""
    data = sheet.file.read(SHOWN)
    words = f"The first {len(data):,} of {count(sheet.file.size, 'byte')}"
    if sheet.file.size <= SHOWN:
        words = f"Its {count(len(data), 'byte')}"
    dump = h(
        "pre",
        "\n".join(rows(data)),
        cls="sen-bytes",
        tabindex="0",
        role="group",
        aria_label=f"bytes of {line(sheet.file.name)}",
        dir="ltr",
    )
    return [soft("Its bytes are no text."), h("details", h("summary", words), dump)]


def rows(data: bytes) -> Iterator[str]:
    r"""Bytes in rows of sixteen, as figures and as letters.

    >>> list(rows(b"PK\x03\x04"))
    ['0000  50 4b 03 04                                      PK··']
    """
    for at in range(0, len(data), _ROW):
        part = data[at : at + _ROW]
        letters = "".join(chr(one) if 32 <= one < 127 else "·" for one in part)
        yield f"{at:04x}  {part.hex(' '):<{_ROW * 3 - 1}}    {letters}"
