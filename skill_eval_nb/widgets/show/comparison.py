"""Two texts, or what two runs put out, beside each other: with what differs in their words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from time import monotonic

from skill_eval_nb.disk import decode_text
from skill_eval_nb.grading.evidence.contents import Content, Entry, content_of
from skill_eval_nb.text import count, some, tied
from skill_eval_nb.text_diff import (
    CHARACTERS,
    Gap,
    Row,
    Span,
    compare_texts,
    fold_rows,
    mark_changes,
)

from ..ui import Child, Node, h
from ..ui.parts import details, line, plain, soft, table
from .documents import lexer_for
from .files import OutputFile, output_files

LONGEST_SHOWN = 4_000
"""Characters of a piece of a line that are shown."""
MOST_ROWS = 1_200
"""Rows that are shown."""
MARKED = 60_000_000
"""Products of the lengths of changed lines up to which their words are compared."""
SIGNS = {"old": ("−", "removed: "), "new": ("+", "added: "), "same": ("", "")}
TAGS = {"old": "del", "new": "ins", "apart": "mark"}


def draw_rows(
    rows: Sequence[Row | Gap],
    label: str,
    *,
    names: tuple[str, str] | None = None,
    beside: bool = True,
    prose: bool = False,
    unfold: Callable[[Gap], Child] = lambda gap: tied(gap.n, "unchanged line"),
) -> Node:
    """Rows as a table.

    Args:
        rows: what is compared.
        label: what a screen reader calls the table.
        names: what the two texts are called, if neither is a newer version of the other.
        beside: whether the old lines stand beside the new ones, else all in one column.
        prose: whether the rows are paragraphs, which have no numbers.
        unfold: what stands in the place of lines that are not shown.
    """
    heads, room = _draw_heads(names, beside, prose), MARKED
    body: list[Node] = []
    arrived: list[Node] = []  # in one column, of lines that changed all that went come first
    for row in rows[:MOST_ROWS]:
        if isinstance(row, Gap) or row.same:
            body += arrived
            arrived = []
        if isinstance(row, Gap):
            gap = h("td", unfold(row), colspan=len(heads), cls="sen-diff-gap")
            body.append(h("tr", gap, key=f"gap-{row.at}"))
            continue
        if row.old and row.new and not row.same:
            room -= len(row.old[1]) * len(row.new[1])
        old, new = _cells(row, apart=names is not None, marked=room >= 0)
        if beside:
            body.append(h("tr", [cells[prose:] for cells in (old, new)]))
        elif row.same:
            body.append(h("tr", old[0], *new))
        else:
            none = h("td", cls="sen-diff-number")
            body += [h("tr", old[0], none, old[1])] if row.old else []
            arrived += [h("tr", none, *new)] if row.new else []
    left: list[str] = []
    if len(rows) > MOST_ROWS:
        left.append(f"{tied(len(rows) - MOST_ROWS, 'more row')} not shown.")
    if room < 0:
        left.append("Of the last lines the words are not compared: that would take seconds.")
    notes = [h("tr", h("td", words, colspan=len(heads), cls="sen-diff-gap")) for words in left]
    look = f"sen-diff sen-diff-{'beside' if beside else 'column'}{' sen-diff-prose' * prose}"
    return table(heads, [*body, *arrived, *notes], label=label, cls=look)


def _draw_heads(names: tuple[str, str] | None, beside: bool, prose: bool) -> list[Child]:
    unseen = [h("span", head, cls="sen-unseen") for head in ("old line", "new line", "text")]
    look = None if names else "sen-unseen"
    old, new = (h("span", line(name), cls=look) for name in names or ("before", "after"))
    if prose:
        return [old, new]
    return [unseen[0], old, unseen[1], new] if beside else [*unseen]


def _cells(row: Row, *, apart: bool, marked: bool) -> list[tuple[Node, Node]]:
    """The number and the text of either side, with the words that differ where these are marked."""
    texts = [((line[1], False),) if line else () for line in (row.old, row.new)]
    if row.old and row.new and not row.same and marked:
        texts = mark_changes(row.old[1], row.new[1])
    kinds = ("same", "same") if row.same else ("apart", "apart") if apart else ("old", "new")
    return [
        (h("td", str(line[0]) if line else "", cls="sen-diff-number"), _text(kind, pieces))
        for line, kind, pieces in zip((row.old, row.new), kinds, texts, strict=True)
    ]


def _text(kind: str, pieces: Sequence[Span]) -> Node:
    if not pieces:
        return h("td", cls="sen-diff-none")
    sign, meaning = SIGNS.get(kind, ("", "differs: "))
    mark = h("span", sign, cls="sen-diff-sign", aria_hidden="true") if sign else None
    words = h("span", meaning, cls="sen-unseen") if meaning else None
    look = f"sen-diff-line sen-diff-{kind}"
    return h("td", mark, words, spans(pieces, kind), cls=look, dir="auto")


def spans(pieces: Sequence[Span], kind: str) -> Child:
    """A line in its pieces, those that are not in the other one marked."""
    tag = TAGS.get(kind, "span")
    return [h(tag, _cut(text)) if changed else _cut(text) for text, changed in pieces]


def _cut(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return plain(text)
    return f"{plain(text[:LONGEST_SHOWN])} … {len(text) - LONGEST_SHOWN:,} more characters"


MOST_FILES = 12
"""Files that are compared at most."""
UNFOLDED = 3
"""Files that stand open from the beginning."""
SECONDS = 3.0
"""For which texts are taken out of PDF and office files, and for which one of them may take."""
BEGINNING = 120
"""Characters that a beginning has."""

_LISTED = re.compile(r"^(?:[^\n]+\n){40}", re.MULTILINE)

Names = tuple[str, str]
FilePair = tuple[OutputFile, OutputFile]


def difference_details(
    names: Sequence[str], folders: Sequence[Path | None], *, unfolded: bool
) -> Node:
    """What differs between two outputs, made while it is open; it opens by the action `unfold`."""
    return h(
        "details",
        h("summary", "What differs between the two outputs", pressed="d"),
        compare_outputs((names[0], names[1]), folders) if unfolded else None,
        open=unfolded,
        on={"toggle": ("unfold", "difference")},
        cls="sen-part",
        key="difference",
    )


def compare_outputs(names: Names, folders: Sequence[Path | None]) -> Node:
    """The outputs of two runs: files of the same name side by side, then what only one run has.

    Where each run has one file that the other has not, these two are compared.

    Args:
        names: what the runs are called.
        folders: theirs; None for one that has none.
    """
    lacking = [name for name, folder in zip(names, folders, strict=True) if folder is None]
    if lacking:
        return h("div", soft(f"No outputs of {line(some(lacking))} are stored."))
    found = [{file.name: file for file in output_files(folder)} for folder in folders if folder]
    pairs = [(file, found[1][name]) for name, file in found[0].items() if name in found[1]]
    alone = [
        [file for name, file in own.items() if name not in found[1 - at]]
        for at, own in enumerate(found)
    ]
    if len(alone[0]) == len(alone[1]) == 1:
        pairs, alone = [*pairs, (alone[0][0], alone[1][0])], [[], []]
    parts, until = [], monotonic() + SECONDS
    for at, pair in enumerate(pairs[:MOST_FILES]):
        contents = [_read_content(file, extracts=monotonic() < until) for file in pair]
        parts.append(_compare_files(names, pair, contents, unfolded=at < UNFOLDED))
    if len(pairs) > MOST_FILES:
        parts.append(soft(f"{count(len(pairs) - MOST_FILES, 'more file')} not compared."))
    parts += [
        soft(f"Only {line(name)} has {some([line(file.name) for file in files])}.")
        for name, files in zip(names, alone, strict=True)
        if files
    ]
    return h("div", parts or soft("Neither put out a file."), cls="sen-compared")


def _compare_files(
    names: Names, pair: FilePair, contents: Sequence[Content], *, unfolded: bool
) -> Node:
    title = " and ".join(dict.fromkeys(line(file.name) for file in pair))
    facts: str = "no texts that could be compared: see the outputs"
    view: Child = None
    old, new = (content.text for content in contents)
    if old is not None and new is not None:
        prose = all(map(_is_prose, pair, (old, new)))
        rows, left_out = compare_texts(old, new, prose=prose)
        differing = sum(not row.same for row in rows)
        of = count(len(rows), "paragraph" if prose else "line")
        facts = f"{differing:,} of {of} different" if differing else "the same"
        label, look = f"What differs in {title}", {"names": names, "prose": prose}
        shown = draw_rows([*fold_rows(rows)], label, **look) if differing else None
        view = [shown, soft(left_out) if left_out else None]
    head = [h("span", title, cls="sen-strong"), " ", h("span", facts, cls="sen-soft sen-small")]
    return details(head, view, unfolded=unfolded, key=f"compared {title}")


@lru_cache(maxsize=32)
def _read_content(file: OutputFile, *, extracts: bool) -> Content:
    entry = Entry(file.name, file.path, file.size, file.reason)
    return content_of(entry, seconds=SECONDS if extracts else 0.0)


def _is_prose(file: OutputFile, text: str) -> bool:
    """Whether a text is read by the paragraph; a log is not, whatever it is called."""
    lexer = lexer_for(file.name)
    return (lexer is None or lexer.name == "Markdown") and not _LISTED.search(text[:CHARACTERS])


def read_beginning(folder: Path | None) -> tuple[str, str]:
    """The first output that is a text: its name, and how it begins, in a line.

    Where none is, the name of the first file, or why there is none, and an empty text.
    """
    files = [] if folder is None else output_files(folder)
    for file in files[:MOST_FILES]:
        try:
            text = decode_text(file.read(8 * BEGINNING), part=True)
        except OSError:
            continue
        if text and text.strip():
            words = " ".join(text.split())
            return line(file.name), words if len(words) <= BEGINNING else f"{words[:BEGINNING]} …"
    return line(files[0].name) if files else "no outputs stored", ""
