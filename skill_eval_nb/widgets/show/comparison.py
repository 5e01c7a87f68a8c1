"""What two runs put out, beside each other: file by file, with what differs in their texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from time import monotonic

from skill_eval_nb.disk import decode_text
from skill_eval_nb.grading.evidence.contents import Content, Entry, content_of
from skill_eval_nb.text import count, some
from skill_eval_nb.text_diff import CHARACTERS, compare_texts, fold_rows

from ..ui import Child, Node, h
from ..ui.parts import details, line, soft
from ..ui.text_diff import draw_rows
from .documents import lexer_for
from .files import OutputFile, output_files

MOST_FILES = 12
"""Files that are compared at most."""
UNFOLDED = 3
"""Of them so many stand open."""
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
    """The outputs of two runs: those of a name beside each other, then those of one run alone.

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
    return content_of(entry, seconds=SECONDS if extracts else None)


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
