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
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from skill_eval_nb import skill_md
from skill_eval_nb.grading.evidence import contents as extracting
from skill_eval_nb.grading.evidence import contents as images
from skill_eval_nb.grading.evidence import extractor
from skill_eval_nb.grading.evidence.contents import (
    EXTRACTING_SECONDS,
    IMAGE_BYTES,
    output_text,
    picture_kind,
)
from skill_eval_nb.grading.evidence.extractor import CELL, COLUMNS, ROWS
from skill_eval_nb.grading.evidence.extractor import weight as unpacked_size
from skill_eval_nb.text import count, size

from ..ui import Child, Node, h
from ..ui.panel import Bytes
from ..ui.parts import body, first, frame, line, name, plain, soft
from .files import NotDrawn, OutputFile, Reading, Sheet, lines_in, read, weight, whole_text

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
    remarks = [remark for remark in (reading.note, excerpt) if remark]
    return [soft(f"{remark[0].upper()}{remark[1:]}.") for remark in remarks]


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
    return [notes(reading, excerpt), listing(shown, label=f"code of {line(sheet.file.name)}")]


def source(text: str, language: str, *, label: str) -> Node:
    """A piece of code in a language that is named."""
    return listing(highlighted(plain(text), lexer_named(language)), label=label)


def listing(lines: Iterable[list[Node]], *, label: str) -> Node:
    """Lines of code, each an element with a number that is not copied along."""
    rows = [h("span", line, cls="sen-line") for line in lines]
    return frame(rows, label, "sen-code", tag="pre", dir="ltr")


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
        return [[line] for line in text.splitlines(keepends=True)]
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
    form = picture_kind(data)
    if form is None:
        raise NotDrawn("it does not begin as a picture")
    odd = None
    if unpacked_size(data, form) > UNPACKED:  # a few bytes can stand for gigabytes of points
        odd = "a picture too large to be looked through"
    elif file.size <= IMAGE_BYTES:
        odd = _awaited(sheet, form, lambda fault, _: fault or None)
    if odd is not None and ("pixels" in odd or "too large" in odd):
        return soft(f"Not drawn: {odd.partition(';')[0].partition(', with')[0]}.")
    return [
        None if odd is None else soft(f"It may not show as a whole: {odd}."),
        h("img", blob=sheet.show(file, f"image/{form}"), alt=line(file.name)),
    ]


def as_written(sheet: Sheet, text: str, language: str, excerpt: str | None = None) -> Node:
    """How what is drawn is written, to be unfolded."""
    return h(
        "details",
        h("summary", "As it is written", cls="sen-soft sen-small"),
        None if excerpt is None else soft(excerpt, "."),
        source(text, language, label=f"source of {line(sheet.file.name)}"),
    )


def draw_svg(sheet: Sheet) -> Child:
    """A drawing in SVG, and how it is written. As a picture it runs no script."""
    file = sheet.file
    reading = whole_text(file)
    text, excerpt = bounded(reading)
    if "<svg" not in reading.text[:10_000]:
        raise NotDrawn("there is no <svg> where it begins")
    picture = h("img", blob=sheet.show(file, "image/svg+xml"), alt=line(file.name), cls="sen-svg")
    return [picture, as_written(sheet, text, "xml", excerpt)]


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

    written = as_written(sheet, text, "markdown")
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
    return _merged([piece for child in node.children for piece in _nodes_of(child, picture)])


def _merged(nodes: list[Node]) -> list[Node]:
    """Texts that follow each other in one."""
    out: list[Node] = []
    for node in nodes:
        if isinstance(node, str) and out and isinstance(out[-1], str):
            out[-1] += node
        else:
            out.append(node)
    return out


def _nodes_of(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
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
    return [frame(h("table", _inside(node, picture), cls="sen-given"), "table")]


def _cell(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    right = "right" in str(node.attrs.get("style", ""))
    scope: dict[str, Any] = {"scope": "col"} if node.tag == "th" else {}
    content = _inside(node, picture)
    return [h(node.tag, content, cls="sen-n" if right else None, dir="auto", **scope)]


def _ordered(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    start = node.attrs.get("start")
    return [h("ol", _inside(node, picture), start=None if start is None else str(start))]


_MADE: dict[str, Callable[[SyntaxTreeNode, Picture], list[Node]]] = {
    "heading": _heading,
    "fence": _fence,
    "code_block": _fence,
    "code_inline": lambda node, _: [h("code", node.content)],
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
    return frame(table, label, "sen-scroll sen-tall")


def bounds(shown: int, rows: int | None, columns: int) -> Child:
    """What of all rows and columns a table shows."""
    excerpt = count(shown, "row") if rows == shown else f"The first {shown:,} rows"
    if rows is not None and rows > shown:
        excerpt = f"The first {shown:,} of {count(rows, 'row')}"
    wide = count(columns, "column")
    if columns > COLUMNS:
        wide = f"the first {COLUMNS} of {columns:,} columns"
    return soft(f"{excerpt}, {wide}")


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
    lines = [line for line in text[:_LOOKED_AT].splitlines()[:20] if line]
    best = ","
    most = 0
    for mark in _DELIMITERS:
        counts = [line.count(mark) for line in lines]
        same = min(counts, default=0) if len(set(counts[:5])) <= 1 else 0
        if same > most:
            best, most = mark, same
    return best


def draw_json(sheet: Sheet) -> Child:
    """A file of JSON as code, indented where it stands on one line."""
    reading = whole_text(sheet.file)
    try:
        indented = msgspec.json.format(reading.text, indent=2)
    except (ValueError, RecursionError) as error:
        raise NotDrawn(f"it is no JSON: {error}") from None
    remark = None
    if "\n" not in reading.text.strip() and "\n" in indented:
        reading = replace(reading, text=indented, lines=lines_in(indented))
        remark = soft("Indented here: in the file it stands on one line.")
    text, excerpt = bounded(reading)
    label = f"code of {line(sheet.file.name)}"
    return [notes(reading, excerpt), remark, source(text, "json", label=label)]


def draw_workbook(sheet: Sheet) -> Child:
    """The sheets of a workbook; formulas stand where no value was saved for them."""
    return _awaited(sheet, "grid", lambda text, _: list(_sheets(text, line(sheet.file.name))))


def _sheets(text: str, of: str) -> Iterator[Child]:
    titles, *lines = [json.loads(row) for row in text.splitlines(keepends=True) if row[-1] == "\n"]
    for title in titles[: extractor.SHEETS]:
        if not lines:
            return  # more than was read
        stated = lines.pop(0)
        rows = list(takewhile(lambda row: isinstance(row, list), lines))
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


NOTEBOOK_CHARS = 60_000
"""Characters of all cells that are shown at most."""
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/svg+xml")


def draw_notebook(sheet: Sheet) -> Child:
    """The cells of a notebook: their source, and what they gave as text and as pictures."""
    reading = whole_text(sheet.file)
    cells = _cells(reading.text)
    left, shown = NOTEBOOK_CHARS, []
    for number, cell in enumerate(cells):
        if left <= 0:
            break
        view = list(_cell_view(sheet, number, cell, left))
        left -= weight(view)
        shown.append(h("div", view, cls="sen-cell"))
    excerpt = first(len(shown), len(cells), "cell") if len(shown) < len(cells) else None
    return [notes(reading, excerpt), h("div", shown, cls="sen-notebook")]


def _cells(text: str) -> list[Any]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotDrawn(f"it is no notebook: {error}") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list):
        raise NotDrawn("it is no notebook: it has no list of cells")
    return raw["cells"]


def _cell_view(sheet: Sheet, number: int, cell: Any, room: int) -> Iterator[Child]:
    if not isinstance(cell, dict):
        yield soft(f"Cell {number + 1} is damaged.")
        return
    written = _joined_text(cell.get("source"))[:room]
    label = f"cell {number + 1}"
    if cell.get("cell_type") == "markdown":
        yield rendered(written)
    else:
        yield source(written, "python", label=label)
    outputs = cell.get("outputs")
    for place, output in enumerate(outputs if isinstance(outputs, list) else []):
        data = output.get("data") if isinstance(output, dict) else None
        form = next((form_ for form_ in PICTURES if isinstance(data, dict) and form_ in data), None)
        if form is not None:
            blob = sheet.offer(
                f"{label} {place}",
                partial(_picture_of, sheet.file, number, place, form),
                loads=len(_joined_text(data[form])) if data else 0,
            )
            yield h("img", blob=blob, alt=f"picture of {label}")
        elif isinstance(output, dict):
            yield body(output_text(output)[:room], label=f"output of {label}")


def _picture_of(file: OutputFile, number: int, place: int, form: str) -> Bytes:
    """A picture, read again from its notebook: it is not kept."""
    text = _joined_text(_cells(whole_text(file).text)[number]["outputs"][place]["data"][form])
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
        as_written(sheet, text, "html", excerpt),
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
    return [frame, h("details", h("summary", "Its text", cls="sen-soft sen-small"), text)]


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
            if kind in images.PICTURE_ENDINGS:
                return images.picture_fault(opened.read(), kind, file.path) or "", False
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
        if kind in images.PICTURE_ENDINGS:
            return None
        return soft("Its text is still being read: it is here when this is drawn again.")
    except extracting.NotExtracted as why:
        if kind == "grid" and "cannot be read" in str(why):
            raise NotDrawn(str(why)) from None
        return (
            str(why) if kind in images.PICTURE_ENDINGS else soft(f"Its text is not shown: {why}.")
        )
    return view(*found)


def _extracted_text(sheet: Sheet) -> Child:
    def shown(text: str, more: bool) -> Child:
        reading = Reading(text, not more, lines_in(text))
        head, part = bounded(reading)
        part = part or ("The beginning of its text" if more else None)
        return [part and soft(part, "."), body(head, label=f"text of {line(sheet.file.name)}")]

    return _awaited(sheet, READERS.get(sheet.file.suffix, "pdf"), shown)


def draw_bytes(_: Sheet) -> Child:
    """What stands for a file of which nothing can be shown."""
    return soft("Its bytes are no text: download it to look into it.")
