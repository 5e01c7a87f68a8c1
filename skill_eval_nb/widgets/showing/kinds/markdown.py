"""Markdown as it is meant; HTML in it stays text, and nothing is fetched."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from skill_eval_nb.widgets.panel import Child, Node, h

from ..found import OutputFile
from ..saying import body, line, plain, soft
from ..sheet import Sheet
from .code import source
from .pictures import FORMS
from .reading import read
from .texts import bounded, notes

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

_FRONT = re.compile(r"---[ \t]*\n(?P<matter>.*?\n)---[ \t]*(?:\n|$)", re.DOTALL)
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


def draw(sheet: Sheet) -> Child:
    """The Markdown of a file, and how it is written."""
    reading = read(sheet.file)
    text, said = bounded(reading)
    here = os.path.dirname(sheet.file.path)  # noqa: PTH120 -- as text: nothing is looked up

    def picture(src: str, words: str) -> Node:
        file = sheet.pictures.get(os.path.normpath(f"{here}/{unquote(src)}"))
        return shown_words(src, words) if file is None else shown_picture(sheet, file, words)

    written = h(
        "details",
        h("summary", "As it is written", cls="sen-soft sen-small"),
        source(text, "markdown", label=f"source of {line(sheet.file.name)}"),
    )
    return [notes(reading, said), rendered(text, picture), written]


def shown_picture(sheet: Sheet, file: OutputFile, words: str) -> Node:
    """A picture that lies beside the file."""
    return h(
        "img", blob=sheet.show(file, f"image/{FORMS[file.suffix]}"), alt=line(words or file.name)
    )


def shown_words(src: str, words: str) -> Node:
    """What stands for a picture that is not shown: it is never fetched."""
    told = f"picture: {line(words) or 'without words'}"
    return h(
        "span", told, cls="sen-soft sen-absent", title=f"not among the outputs: {line(src)[:200]}"
    )


def rendered(text: str, picture: Picture = shown_words) -> Node:
    """A text in Markdown as a tree.

    >>> rendered("a *b* <b>c</b> [d](javascript:x)")[2]
    [['p', {'dir': 'auto'}, ['a ', ['em', {}, ['b']], ' <b>c</b> [d](javascript:x)']]]
    """
    from markdown_it.tree import SyntaxTreeNode

    text = plain(text)
    front = _FRONT.match(text)
    head = source(front["matter"], "yaml", label="front matter") if front else None
    tokens = parser().parse(text[front.end() :] if front else text)
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
