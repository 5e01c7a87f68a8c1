"""All that a run put out: each file as what it is, and what differs from another run's."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from skill_eval_nb.disk import decode_text
from skill_eval_nb.grading.contents import Content, Entry, content_of, picture_kind
from skill_eval_nb.text import CHARACTERS, compare_texts, count, fold_rows, size, some

from ..ui import Child, Node, h, offer
from ..ui.parts import details, draw_rows, join_parts, line, name, note, take_button
from .documents import (
    FORMS,
    POINTS,
    begin_reading,
    draw_bytes,
    draw_code,
    draw_csv,
    draw_json,
    draw_markdown,
    draw_notebook,
    draw_office,
    draw_page,
    draw_pdf,
    draw_picture,
    draw_svg,
    draw_text,
    draw_workbook,
    lexer_for,
)
from .files import DRAWN, WHOLE, NotDrawn, OutputFile, Sheet, output_files, read_output

START = 65_536
"""Bytes that tell what a file is."""


def _is_text(start: bytes) -> bool:
    return decode_text(start) is not None


def _is_zip(start: bytes) -> bool:
    return start.startswith(b"PK")


class Kind(NamedTuple):
    """What a file can be shown as.

    Attributes:
        name: in a word or two, for people.
        draw: draws it; raises `NotDrawn` where it is something else than it seems.
        suffixes: of names.
        begins: whether it begins with these bytes.
        by_bytes: whether bytes that are no text need no name to be of this kind.
    """

    name: str
    draw: Callable[[Sheet], Child]
    suffixes: Sequence[str] = ()
    begins: Callable[[bytes], object] = _is_text
    by_bytes: bool = False

    def accepts(self, suffix: str, start: bytes) -> bool:
        """Whether a file can be of this kind."""
        named = suffix in self.suffixes or (self.by_bytes and not _is_text(start))
        return named and bool(self.begins(start))


KINDS = (
    Kind("picture", draw_picture, POINTS, picture_kind, by_bytes=True),
    Kind("PDF", draw_pdf, ("pdf",), lambda start: start.startswith(b"%PDF"), by_bytes=True),
    Kind("workbook", draw_workbook, ("xlsx", "xlsm"), _is_zip),
    Kind("document", draw_office, ("docx",), _is_zip),
    Kind("slides", draw_office, ("pptx",), _is_zip),
    Kind("drawing", draw_svg, ("svg",)),
    Kind("table", draw_csv, ("csv", "tsv")),
    Kind("JSON", draw_json, ("json", "geojson")),
    Kind("notebook", draw_notebook, ("ipynb",)),
    Kind("Markdown", draw_markdown, ("md", "markdown")),
    Kind("page", draw_page, ("html", "htm")),
)
"""What is tried, in this order; then code, text, and bytes."""


def draw_file(file: OutputFile, pictures: Mapping[str, OutputFile], waits: float = 1.0) -> Sheet:
    """What is to be seen of a file; kept until it changes. Never raises for what is in it.

    Args:
        file: the file.
        pictures: the pictures among the run's outputs, by path, which a text may show.
        waits: seconds that may be waited for what another process reads.
    """
    key = file, tuple(pictures.values()) if file.suffix in ("md", "markdown") else ()
    kept = DRAWN.get(key)
    if kept is not None:
        return kept
    odd: list[str] = []
    for kind in _candidate_kinds(file, odd):
        sheet = Sheet(file, pictures, waits, kind.name)
        try:
            view = kind.draw(sheet)
        except NotDrawn as why:
            odd.append(f"Not shown as {kind.name}: {why}.")
        except OSError as error:
            odd.append(f"It cannot be read: {error.strerror or error}.")
            break
        except Exception as error:  # noqa: BLE001 -- files of others, and libraries that read them
            broke = f"its reader failed on it ({type(error).__name__})"
            odd.append(f"Not shown as {kind.name}: {broke}.")
        else:
            sheet.view = [*map(note, odd), view]
            return DRAWN.put(key, sheet) if sheet.lasting else sheet
    return Sheet(file, view=[*map(note, odd)])


def _candidate_kinds(file: OutputFile, odd: list[str]) -> Iterator[Kind]:
    """What a file may be, the likeliest first; what is odd about it is added to `odd`."""
    if file.reason is not None:
        odd.append(f"Not shown: {file.reason}.")
        return
    try:
        start = file.read(START)
    except OSError as error:
        odd.append(f"It cannot be read: {error.strerror or error}.")
        return
    if not start:
        yield Kind("empty file", lambda _: note("It is empty."))
        return
    found = [kind for kind in KINDS if kind.accepts(file.suffix, start)]
    yield from found
    if not found and any(file.suffix in kind.suffixes for kind in KINDS):
        odd.append(f"It is named .{file.suffix}, but does not look like such a file.")
    if _is_text(start):
        if lexer_for(file.name) is not None:
            yield Kind("code", draw_code)
        yield Kind("text", draw_text)
    yield Kind("bytes", draw_bytes)


TEXTS = ("drawing", "table", "JSON", "notebook", "Markdown", "page", "code", "text")
"""Kinds of files whose text can be copied."""
SHOWN = 60
"""Files whose content is shown at most."""
LISTED = 1_000
"""Files that are listed by name at most."""
UNFOLDED = 4
"""Files that stand open from the beginning."""
WEIGHT = 1_000_000
"""Characters, about, of all that is shown of a run's files: a page takes them at once."""
DOWNLOAD = 256_000_000
"""Bytes of a file, or of all together, that a page can be handed."""
FULL = "Not shown: the page is full. Download it to view it."
WAITS = 1.0
"""Seconds that all of them together may wait for what other processes read."""


def show_outputs(files: Sequence[OutputFile], *, key: str) -> Node:
    """All that a run put out.

    Args:
        files: its files.
        key: a name for the run that no other in the same view has.
    """
    parts = [_outputs_head(files), _shown_files(files, key), _listed_files(files[SHOWN:], key)]
    shown = parts if files else note("No output files.")
    return h("div", shown, cls="sen-outputs", key=f"{key} outputs")


def pictures_of(files: Sequence[OutputFile]) -> dict[str, OutputFile]:
    """The pictures among files, by path."""
    return {
        os.path.normpath(file.path): file
        for file in files
        if file.suffix in FORMS and file.reason is None
    }


def summary_of(files: Sequence[OutputFile]) -> str:
    """How many files, and how large.

    >>> summary_of([OutputFile("a", "a", 2000, 0, "")])
    '1 file, 2.0 kB'
    """
    return f"{count(len(files), 'file')}, {size(sum(file.size for file in files))}"


def _outputs_head(files: Sequence[OutputFile]) -> Node | None:
    if len(files) < 2:
        return None
    whole = [file for file in files if file.reason is None]
    packed = None
    if sum(file.size for file in whole) <= DOWNLOAD:
        blob = f"zip {hash(tuple(file.blob for file in whole))}"
        offer(blob, lambda: (_zip_files(whole), "application/zip"))
        how = {"blob": blob, "download": "outputs.zip"}
        packed = take_button("Download all", "Download all files", **how)
    return h(
        "div", h("span", summary_of(files)), packed, cls="sen-row sen-middle sen-spread sen-small"
    )


def _zip_files(files: Sequence[OutputFile]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for file in files:
            target.writestr(line(file.name), file.read())
    return packed.getvalue()


def _shown_files(files: Sequence[OutputFile], key: str) -> Iterator[Node]:
    """Each file, as long as the page has room."""
    pictures = pictures_of(files)
    room, until = WEIGHT, monotonic() + WAITS
    for file in files[:SHOWN]:
        begin_reading(file)
    for place, file in enumerate(files[:SHOWN]):
        sheet = Sheet(file, view=note(FULL))
        if room > 0:
            sheet = draw_file(file, pictures, waits=until - monotonic())
            room -= sheet.weight
        yield _file_view(sheet, key, unfolded=place < UNFOLDED)


def _file_view(sheet: Sheet, key: str, *, unfolded: bool) -> Node:
    file, view = sheet.file, sheet.offer_all()
    facts = join_parts([sheet.kind, None if file.reason else size(file.size)])
    caption = h("span", facts, cls="sen-soft sen-small")
    title = h("summary", name(file.name, cls="sen-name sen-strong"), " ", caption)
    content = h("details", title, h("div", view, cls="sen-content"), open=unfolded)
    takes = h("div", _copy_of(sheet), download_of(file), cls="sen-row sen-takes")
    return h("div", content, takes, cls="sen-file", key=f"{key} {file.name}")


def _copy_of(sheet: Sheet) -> Node | None:
    """The way to have the text of a file on the clipboard, where it is one."""
    file = sheet.file
    if sheet.kind not in TEXTS or file.size > WHOLE:
        return None
    text = f"{file.blob} as text", lambda: (read_output(file).text.encode(), "text/plain")
    return take_button("Copy", f"Copy {line(file.name)}", copies=True, blob=offer(*text))


def _listed_files(files: Sequence[OutputFile], key: str) -> Child:
    """The files beyond those that are shown: by name, with a download each, up to a number."""
    if not files:
        return None
    listed = files[: LISTED - SHOWN]
    rows = [h("li", file_line(file), key=f"{key} {file.name}") for file in listed]
    left = len(files) - len(rows)
    more = note(f"{count(left, 'more file')}: use Download all.") if left else None
    summary = h("summary", f"{count(len(files), 'more file')}, by name")
    return h("details", summary, h("ul", rows, cls="sen-names"), more, key=f"{key} more")


def file_line(file: OutputFile) -> list[Child]:
    """The name of a file, its size, or why it cannot be looked into, and its download."""
    facts = h("span", file.reason or size(file.size), cls="sen-soft sen-small")
    return [name(file.name), " ", facts, " ", download_of(file)]


def download_of(file: OutputFile) -> Node | None:
    """The way to have the bytes of a file, where they can be had."""
    if file.reason is not None:
        return None
    if file.size > DOWNLOAD:
        return h("span", "too large to download here: ", line(file.path), cls="sen-soft sen-small")
    last = line(file.name.rstrip("/").rpartition("/")[2])
    blob = offer(f"{file.blob} download", lambda: (file.read(), "application/octet-stream"))
    return take_button("Download", f"Download {line(file.name)}", blob=blob, download=last)


MOST_FILES = 12
"""Files that are compared at most."""
COMPARED_OPEN = 3
"""Of these so many stand open from the beginning."""
SECONDS = 3.0
"""For which texts are taken out of PDF and office files, and for which one of them may take."""
BEGINNING = 120
"""Characters that a beginning has."""

_LISTED = re.compile(r"^(?:[^\n]+\n){40}", re.MULTILINE)

Names = tuple[str, str]


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
        return h("div", note(f"No outputs of {line(some(lacking))} are stored."))
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
        parts.append(_compare_files(names, pair, contents, unfolded=at < COMPARED_OPEN))
    if len(pairs) > MOST_FILES:
        parts.append(note(f"{count(len(pairs) - MOST_FILES, 'more file')} not compared."))
    parts += [
        note(f"Only {line(name)} has {some([line(file.name) for file in files])}.")
        for name, files in zip(names, alone, strict=True)
        if files
    ]
    return h("div", parts or note("Neither has output files."), cls="sen-compared")


def _compare_files(
    names: Names, pair: Sequence[OutputFile], contents: Sequence[Content], *, unfolded: bool
) -> Node:
    title = " and ".join(dict.fromkeys(line(file.name) for file in pair))
    facts: str = "no text to compare: see the outputs"
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
        view = [shown, note(left_out) if left_out else None]
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
