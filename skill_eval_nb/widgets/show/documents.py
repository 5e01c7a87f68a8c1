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
from functools import lru_cache, partial
from itertools import groupby, islice, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from skill_eval_nb import skill_md
from skill_eval_nb.grading import contents, extractor
from skill_eval_nb.grading.extractor import CELL, COLUMNS, ROWS
from skill_eval_nb.text import count, guess_delimiter, size

from ..ui import Bytes, Child, Node, h
from ..ui.parts import frame, line, name, note, reveal, say_first, table, text_box
from .files import NotDrawn, OutputFile, Reading, Sheet, lines_in, read_output, weight, whole_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode
    from pygments.lexer import Lexer


LINES = 1_000
"""Lines that are shown at most."""
CHARS = 40_000
"""Characters that are shown at most."""


def excerpt(reading: Reading) -> tuple[str, list[Node]]:
    """So much of a text as is shown; and what part that is, and what is odd about it."""
    text = reveal(reading.text)
    shown = "\n".join(text.split("\n", LINES)[:LINES])
    many, whole, noun = LINES, lines_in(text), "line"
    if len(shown) > CHARS:
        shown, many, whole, noun = text[:CHARS], CHARS, len(text), "character"
    part = None
    if not reading.whole:
        part = f"The first {many:,} {noun}s of a large file"
    elif whole > many:
        part = say_first(many, whole, noun)
    remarks = filter(None, [reading.note, part])
    return shown if part else text, [note(f"{mark[0].upper()}{mark[1:]}.") for mark in remarks]


def draw_text(sheet: Sheet) -> Child:
    """The text of a file."""
    text, remarks = excerpt(read_output(sheet.file))
    return [remarks, text_box(text, label=f"text of {line(sheet.file.name)}")]


SECONDS = 0.4
"""Of processor time, after which the rest stays without colours: on a busy machine a file looks
as it does on an idle one."""
COLOURED = 24_000
"""Characters: a longer text stays without colours, which would make its tree ten times as heavy."""

_LOOKS = {
    "comment": ("Comment",),
    "type": ("Keyword.Type", "Name.Attribute", "Name.Builtin", "Name.Decorator", "Name.Exception"),
    "keyword": ("Keyword", "Operator.Word", "Name.Tag"),
    "string": ("String",),
    "number": ("Number",),
    "name": ("Name.Function", "Name.Class", "Generic.Heading", "Generic.Subheading"),
    "added": ("Generic.Inserted",),
    "removed": ("Generic.Deleted",),
}
"""By how they look how the names of tokens begin."""


def draw_code(sheet: Sheet) -> Child:
    """The code of a file."""
    text, remarks = excerpt(read_output(sheet.file))
    label = f"code of {line(sheet.file.name)}"
    return [remarks, _code_listing(text, lexer_for(sheet.file.name), label)]


def code_block(text: str, language: str, *, label: str) -> Node:
    """A piece of code in a language that is named."""
    return _code_listing(reveal(text), lexer_named(language), label)


def _code_listing(text: str, lexer: type[Lexer] | None, label: str) -> Node:
    """Lines of code, each an element with a number that is not copied along."""
    rows = [h("span", row, cls="sen-line") for row in highlight_lines(text, lexer)]
    return frame(rows, label, "sen-code", tag="pre", dir="ltr")


@lru_cache(maxsize=512)
def lexer_for(name: str) -> type[Lexer] | None:
    """What reads a language, by the name of a file; None where none is known.

    >>> lexer_for("a/b.py").name, lexer_for("notes.txt")
    ('Python', None)
    """
    from pygments.lexers import find_lexer_class_for_filename

    last = name.rpartition("/")[2]
    _, dot, ending = last.rpartition(".")
    found = find_lexer_class_for_filename(f"x.{ending}" if dot else last)
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


def highlight_lines(text: str, lexer: type[Lexer] | None) -> list[list[Node]]:
    r"""The lines of a text, each with the end that it has, in pieces.

    >>> from pygments.lexers import PythonLexer
    >>> highlight_lines("if x:\n  1", PythonLexer)[0]
    [['span', {'class': 'sen-tok-keyword'}, ['if']], ' x:\n']
    """
    if lexer is None or len(text) > COLOURED:
        return [[row] for row in text.splitlines(keepends=True)]
    lines: list[list[Node]] = [[]]
    for look, tokens in groupby(_tokens(text, lexer), itemgetter(0)):
        for part in "".join(piece for _, piece in tokens).splitlines(keepends=True):
            lines[-1].append(h("span", part, cls=f"sen-tok-{look}") if look else part)
            if part.endswith("\n"):
                lines.append([])
    return lines if lines[-1] else lines[:-1]


def _tokens(text: str, lexer: type[Lexer]) -> Iterator[tuple[str, str]]:
    """Pieces of the text with the look of each; no text is lost, even if the lexer breaks."""
    at = 0
    try:
        reader = lexer(stripnl=False, ensurenl=False)  # the first of its kind makes its patterns
        until = time.thread_time() + SECONDS
        for kind, piece in reader.get_tokens(text):
            if text[at : at + len(piece)] != piece or time.thread_time() > until:
                break
            at += len(piece)
            yield _token_class(kind), piece
    except Exception:  # noqa: BLE001, S110 -- hundreds of lexers by others: what is left stays plain
        pass
    yield "", text[at:]


@lru_cache(maxsize=512)
def _token_class(kind: Any) -> str:
    dotted = str(kind).removeprefix("Token.").removeprefix("Literal.")
    return next((look for look, starts in _LOOKS.items() if dotted.startswith(starts)), "")


POINTS = ("png", "jpg", "jpeg", "gif", "webp")
FORMS = {**{form: form for form in POINTS}, "jpg": "jpeg", "svg": "svg+xml"}
"""By the end of a name the media type."""
PICTURE_MOST = 20_000_000
"""Bytes of a picture that is drawn."""


def draw_picture(sheet: Sheet) -> Child:
    """A picture of points."""
    file = sheet.file
    if file.size > PICTURE_MOST:
        return note(f"A picture of {size(file.size)}: up to {size(PICTURE_MOST)} are drawn.")
    data = file.read(PICTURE_MOST)
    form = contents.picture_kind(data)
    if form is None:
        raise NotDrawn("it does not begin as a picture")
    odd = contents.picture_fault(data, form)
    if odd and "pixels" in odd:
        return note(f"Not drawn: {odd.partition(';')[0]}.")
    return [
        note(f"It may not display completely: {odd}.") if odd else None,
        h("img", blob=sheet.show(file, f"image/{form}"), alt=line(file.name)),
    ]


def _as_written(sheet: Sheet, reading: Reading, language: str) -> Node:
    """How what is drawn is written, to be unfolded."""
    text, remarks = excerpt(reading)
    written = code_block(text, language, label=f"source of {line(sheet.file.name)}")
    return fold_content("Source", remarks, written)


def fold_content(words: str, *content: Child) -> Node:
    """What there is besides, to be unfolded."""
    return h("details", h("summary", words, cls="sen-soft sen-small"), content)


def draw_svg(sheet: Sheet) -> Child:
    """A drawing in SVG, and how it is written. As a picture it runs no script."""
    reading = whole_text(sheet.file)
    if "<svg" not in reading.text[:10_000]:
        raise NotDrawn("there is no <svg> where it begins")
    blob = sheet.show(sheet.file, "image/svg+xml")
    picture = h("img", blob=blob, alt=line(sheet.file.name), cls="sen-svg")
    return [picture, _as_written(sheet, reading, "xml")]


def draw_page(sheet: Sheet) -> Child:
    """A page, as the browser draws it without scripts and without a network."""
    reading = whole_text(sheet.file)
    data = reading.text.encode("utf-8", "replace")
    blob = sheet.offer(f"{sheet.file.blob} as a page", lambda: (data, "text/html"))
    return [
        h("iframe", blob=blob, title=f"{line(sheet.file.name)}, as a page"),
        note("Shown without its scripts and without anything it would download."),
        _as_written(sheet, reading, "html"),
    ]


NESTED = 40
"""Levels that the parser goes down: what is deeper it leaves out, so such a text is not drawn."""

Picture = Callable[[str, str], Node]
"""From the source and the words of a picture, what stands in its place."""


def draw_markdown(sheet: Sheet) -> Child:
    """The Markdown of a file, and how it is written."""
    reading = read_output(sheet.file)
    text, remarks = excerpt(reading)
    here = os.path.dirname(sheet.file.path)  # noqa: PTH120 -- as text: nothing is looked up

    def draw_embedded(src: str, words: str) -> Node:
        file = sheet.pictures.get(os.path.normpath(f"{here}/{unquote(src)}"))
        if file is None:
            return _missing_picture(src, words)
        blob = sheet.show(file, f"image/{FORMS[file.suffix]}")
        return h("img", blob=blob, alt=line(words or file.name))

    drawn = render_markdown(text, draw_embedded)
    return [remarks, drawn, _as_written(sheet, reading, "markdown")]


def _missing_picture(src: str, words: str) -> Node:
    """What stands for a picture that is not shown: it is never fetched."""
    caption, why = line(words) or "no alt text", f"not among the outputs: {line(src)[:200]}"
    return h("span", f"picture: {caption}", cls="sen-soft sen-absent", title=why)


def render_markdown(text: str, picture: Picture = _missing_picture) -> Node:
    """A text in Markdown as a tree.

    >>> render_markdown("a *b* <b>c</b> [d](javascript:x)")[2]
    [['p', {'dir': 'auto'}, ['a ', ['em', {}, ['b']], ' <b>c</b> [d](javascript:x)']]]
    """
    from markdown_it.tree import SyntaxTreeNode

    text = reveal(text)
    try:
        head = code_block(skill_md.split_skill_md(text)[1], "yaml", label="front matter")
    except skill_md.BadSkill:
        head = None
    tokens = _parser().parse(skill_md.body(text))
    if any(token.level >= NESTED - 1 for token in tokens):
        return h("div", note("Nested too deeply to render: shown as source."), text_box(text))
    return h("div", head, _child_nodes(SyntaxTreeNode(tokens), picture), cls="sen-md", dir="auto")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    """What reads Markdown: CommonMark with tables and strikethrough, and no HTML."""
    from markdown_it import MarkdownIt

    options = {"html": False, "maxNesting": NESTED}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def _child_nodes(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    """What is in a node; texts that follow each other are one."""
    out: list[Node] = []
    for piece in (piece for child in node.children for piece in _nodes_of(child, picture)):
        if isinstance(piece, str) and out and isinstance(out[-1], str):
            out[-1] += piece
        else:
            out.append(piece)
    return out


_LINKS = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def _nodes_of(node: SyntaxTreeNode, picture: Picture) -> list[Node]:
    leaf = _leaf_node(node, picture)
    if leaf is not None:
        return [leaf]
    tag, inside, given = node.tag, _child_nodes(node, picture), node.attrs
    match node.type:
        case "link":
            href = str(given.get("href", ""))
            known = _LINKS.match(href) is not None
            return [h("a", inside, href=href, title=line(href)[:300])] if known else inside
        case "heading":
            level = min(int(tag[1:]) + 3, 6)
            return [h(f"h{level}", inside, cls=f"sen-md-{tag}", dir="auto")]
        case "table":
            return [frame(h("table", inside, cls="sen-given"), "table")]
        case "th" | "td":
            right = "right" in str(given.get("style", ""))
            scope = "col" if tag == "th" else None
            return [h(tag, inside, cls="sen-n" if right else None, dir="auto", scope=scope)]
        case "ordered_list":
            start = given.get("start")
            return [h("ol", inside, start=None if start is None else str(start))]
    if node.hidden or not tag:  # a paragraph of a tight list; what only holds others
        return inside or [str(node.content)]
    return [h(tag, inside, dir="auto" if tag == "p" else None)]


def _leaf_node(node: SyntaxTreeNode, picture: Picture) -> Node | None:
    """What has nothing inside; None for anything else."""
    match node.type:
        case "text":
            return node.content
        case "softbreak":
            return "\n"
        case "code_inline":
            return h("code", node.content)
        case "fence" | "code_block":
            language = (node.info.split(maxsplit=1) or [""])[0]
            label = f"code in {line(language)[:40] or 'a fence'}"
            return code_block(node.content, language, label=label)
        case "image":
            words = "".join(child.content for child in node.walk() if child.type == "text")
            return picture(str(node.attrs.get("src", "")), words)
    return None


_NUMBER = re.compile(r"\s*[-+−]?[$€£]?\d[\d.,' ]*(?:e[-+]?\d+)?\s*%?\s*", re.IGNORECASE)


def _grid(rows: Sequence[Sequence[str]], *, label: str) -> Node:
    """A table with its first row as the head, and a number before each other row."""
    wide = min(max(map(len, rows), default=0), COLUMNS)
    head, *others = [[*row[:wide], *[""] * (wide - len(row))] for row in rows]
    right = [at + 1 for at in range(wide) if others and all(_is_number(row[at]) for row in others)]
    names = [_shorten_cell(words) or f"column {at}" for at, words in enumerate(head, 1)]
    return table(
        [h("span", "row", cls="sen-unseen"), *names],
        [[f"{number:,}", *map(_shorten_cell, row)] for number, row in enumerate(others, 1)],
        numbers=[0, *right],
        label=label,
        look="sen-scroll sen-tall",
        cls="sen-given",
    )


def _bounds_note(shown: int, rows: int | None, columns: int) -> Child:
    """What of all rows and columns a table shows."""
    part = f"The first {shown:,} rows" if rows is None else say_first(shown, rows, "row")
    part = count(shown, "row") if rows == shown else part
    wide = f"the first {COLUMNS} of {columns:,} columns"
    return note(f"{part}, {wide if columns > COLUMNS else count(columns, 'column')}")


def _shorten_cell(words: str) -> str:
    text = reveal(words)
    return text if len(text) <= CELL else f"{text[:CELL]}… ({len(text):,} characters)"


def _is_number(words: str) -> bool:
    return not words or (len(words) < 40 and _NUMBER.fullmatch(words) is not None)


def draw_csv(sheet: Sheet) -> Child:
    """The first rows of a file."""
    reading = read_output(sheet.file)
    delimiter = "\t" if sheet.file.suffix == "tsv" else guess_delimiter(reading.text)
    csv.field_size_limit(2**24)
    rows = csv.reader(io.StringIO(reading.text, newline=""), delimiter=delimiter)
    try:
        shown = list(islice(filter(None, rows), ROWS + 1))
        rest = sum(1 for _ in filter(None, rows)) if reading.whole else None
    except csv.Error as error:
        raise NotDrawn(f"it is not a table: {error}") from None
    if not shown:
        raise NotDrawn("it has no rows")
    total = None if rest is None else len(shown) - 1 + rest
    return [
        note(f"{reading.note}.") if reading.note else None,
        _bounds_note(len(shown) - 1, total, max(map(len, shown))),
        _grid(shown, label=f"rows of {line(sheet.file.name)}"),
    ]


def draw_json(sheet: Sheet) -> Child:
    """A file of JSON as code, indented where it stands on one line."""
    reading = whole_text(sheet.file)
    try:
        indented = msgspec.json.format(reading.text, indent=2)
    except (ValueError, RecursionError) as error:
        raise NotDrawn(f"it is not JSON: {error}") from None
    remark = None
    if "\n" not in reading.text.strip() and "\n" in indented:
        reading = reading._replace(text=indented)
        remark = note("Indented here; a single line in the file.")
    text, remarks = excerpt(reading)
    return [remarks, remark, code_block(text, "json", label=f"code of {line(sheet.file.name)}")]


NOTEBOOK_CHARS = 60_000
"""Characters of all cells that are shown at most."""
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/svg+xml")


def draw_notebook(sheet: Sheet) -> Child:
    """The cells of a notebook: their source, and what they gave as text and as pictures."""
    cells = _notebook_cells(whole_text(sheet.file).text)
    left, shown = NOTEBOOK_CHARS, []
    for number, cell in enumerate(cells):
        if left <= 0:
            break
        view = list(_cell_view(sheet, number, cell, left))
        left -= weight(view)
        shown.append(h("div", view, cls="sen-cell"))
    seen, every = len(shown), len(cells)
    part = note(f"{say_first(seen, every, 'cell')}.") if seen < every else None
    return [part, h("div", shown, cls="sen-notebook")]


def _notebook_cells(text: str) -> list[Any]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotDrawn(f"it is not a notebook: {error}") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list):
        raise NotDrawn("it is not a notebook: it has no list of cells")
    return raw["cells"]


def _cell_view(sheet: Sheet, number: int, cell: Any, room: int) -> Iterator[Child]:
    label = f"cell {number + 1}"
    if not isinstance(cell, dict):
        yield note(f"Cell {number + 1} is damaged.")
        return
    written = contents.join_source(cell.get("source"))[:room]
    is_words = cell.get("cell_type") == "markdown"
    yield render_markdown(written) if is_words else code_block(written, "python", label=label)
    outputs = cell.get("outputs")
    for place, output in enumerate(outputs if isinstance(outputs, list) else []):
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        data = data if isinstance(data, dict) else {}
        form = next((form for form in PICTURES if form in data), None)
        if form is None:
            yield text_box(contents.output_text(output)[:room], label=f"output of {label}")
            continue
        get = partial(_picture_of, sheet.file, number, place, form)
        blob = sheet.offer(f"{sheet.file.blob} {label} {place}", get)
        yield h("img", blob=blob, alt=f"picture of {label}")


def _picture_of(file: OutputFile, number: int, place: int, form: str) -> Bytes:
    """A picture, read again from its notebook: it is not kept."""
    text = contents.join_source(
        _notebook_cells(whole_text(file).text)[number]["outputs"][place]["data"][form]
    )
    if form == "image/svg+xml":
        return text.encode("utf-8", "replace"), form
    try:
        return base64.b64decode(text), form
    except binascii.Error as error:
        raise OSError(0, f"its picture is damaged: {error}") from None


READERS = {"pdf": "pdf", "docx": "docx", "pptx": "pptx", "xlsx": "grid", "xlsm": "grid"}
"""By the end of a name the reader that is a process of its own."""

APART = 30.0
"""Seconds that the reading of one file may take there."""

_POOL = ThreadPoolExecutor(2, thread_name_prefix="sen-extracting")


def begin_reading(file: OutputFile) -> Future[tuple[str, bool]] | None:
    """Let the reading of a file begin, where that takes a process; `draw_…` waits for it."""
    apart = file.reason is None and file.suffix in READERS
    return _submit_reading(file, READERS[file.suffix]) if apart else None


@lru_cache(maxsize=32)  # a text may have millions of characters
def _submit_reading(file: OutputFile, kind: str) -> Future[tuple[str, bool]]:
    return _POOL.submit(_read_apart, file, kind)


def _read_apart(file: OutputFile, kind: str) -> tuple[str, bool]:
    with file.open():  # it is a regular file, and in the run
        return contents.extract(file.path, kind, file.size, APART)


def _await_reading(sheet: Sheet, kind: str, view: Callable[[str, bool], Child]) -> Child:
    """What is made of what a reader gives, and whether there is more; or why there is nothing.

    Raises:
        NotDrawn: a workbook is damaged.
    """
    try:
        return view(*_submit_reading(sheet.file, kind).result(timeout=max(sheet.waits, 0)))
    except NotYet:
        sheet.lasting = False
        return note("Its text is still being read. Redraw to see it.")
    except contents.NotExtracted as why:
        if kind == "grid" and "cannot be read" in str(why):
            raise NotDrawn(str(why)) from None
        return note(f"Its text is not shown: {why}.")


def draw_office(sheet: Sheet) -> Child:
    """The text of a Word or PowerPoint file, or of a PDF."""

    def office_text(text: str, more: bool) -> Child:
        head, remarks = excerpt(Reading(text, not more))
        return [remarks, text_box(head, label=f"text of {line(sheet.file.name)}")]

    return _await_reading(sheet, READERS.get(sheet.file.suffix, "pdf"), office_text)


PDF_MOST = 40_000_000
"""Bytes of a PDF that is handed to the page as a document."""


def draw_pdf(sheet: Sheet) -> Child:
    """A PDF in the browser's own viewer, and its text."""
    file, text = sheet.file, draw_office(sheet)
    if file.size > PDF_MOST:
        return [note(f"A PDF of {size(file.size)}: up to {size(PDF_MOST)} are drawn."), text]
    blob, title = sheet.show(file, "application/pdf"), f"{line(file.name)}, a PDF"
    return [h("iframe", blob=blob, title=title), fold_content("Its text", text)]


def draw_workbook(sheet: Sheet) -> Child:
    """The sheets of a workbook; formulas stand where no value was saved for them."""
    return _await_reading(
        sheet, "grid", lambda text, _: list(_sheet_tables(text, line(sheet.file.name)))
    )


def _sheet_tables(text: str, of: str) -> Iterator[Child]:
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
            yield note("It is empty.")
            continue
        seen = max(at for row in rows for at, cell in enumerate(row, 1) if cell)
        wide = max(seen, stated["columns"] or 0) if seen == COLUMNS else seen
        whole = len(rows) <= ROWS + 1
        total = len(rows) - 1 if whole else max((stated["rows"] or 0) - 1, len(rows) - 1)
        yield _bounds_note(min(len(rows) - 1, ROWS), total, wide)
        yield _grid([row[:seen] for row in rows[: ROWS + 1]], label=f"sheet {line(title)} of {of}")
    if others := titles[extractor.SHEETS :]:
        named = ", ".join(map(line, others[:50]))
        yield note(f"{count(len(others), 'more sheet')} not shown: {named}.")


def draw_bytes(_: Sheet) -> Child:
    """What stands for a file that cannot be shown."""
    return note("It is not text: download it to view it.")
