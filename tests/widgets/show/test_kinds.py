"""What each kind of file is drawn as, and what a file is not."""

import contextlib
import io
import json
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path

import openpyxl
import pytest
from docx import Document
from hypothesis import example, given
from hypothesis import strategies as st
from pygments.lexers import JavascriptLexer, PythonLexer

from skill_eval_nb.disk import decode_text
from skill_eval_nb.widgets.show import outputs
from skill_eval_nb.widgets.show.documents import (
    highlight_lines,
    lexer_named,
    render_markdown,
)
from skill_eval_nb.widgets.show.outputs import KINDS, draw_file
from skill_eval_nb.widgets.ui import read_blob
from skill_eval_nb.widgets.ui.parts import reveal
from tests.widgets.show import zoo
from tests.widgets.show.one import dense, draw, junk, said, written
from tests.widgets.trees import elements, find, text

SUFFIXES = sorted({*(suffix for kind in KINDS for suffix in kind.suffixes), "txt", "py", "", "xyz"})
STARTS = [b"", b"%PDF-1.4", b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"<svg>", b"GIF89a", b"---\n"]


@given(
    suffix=st.sampled_from(SUFFIXES),
    start=st.sampled_from(STARTS),
    data=st.binary(max_size=300)
    | st.text(max_size=200).map(lambda one: one.encode(errors="replace")),
)
def test_any_bytes_under_any_name_give_a_tree_that_holds_them(suffix, start, data):
    data = start + data
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder), f"file.{suffix}", data)
        made = draw_file(file, {}, waits=0)
    shown = dense(text(made.view))
    assert made.kind
    if made.kind in ("text", "code", "Markdown", "page", "drawing"):
        words = data.decode("utf-8-sig", "replace")
        both = [words, decode_text(data) or ""]
        assert any(dense(reveal(one)) in shown for one in both)
    elif made.kind == "bytes":
        assert "Itisnottext" in shown


def test_a_reader_that_breaks_leaves_the_text(tmp_path, monkeypatch):
    def broken(_):
        raise RuntimeError("a library's own")

    monkeypatch.setattr(outputs, "KINDS", (outputs.Kind("page", broken, frozenset(("html",))),))
    shown = said(tmp_path, "a.html", "<p>the text")
    assert "Not shown as page: its reader failed on it (RuntimeError)." in shown
    assert "<p>the text" in shown


def test_of_what_is_long_the_first_part_is_shown_and_the_rest_is_counted(tmp_path):
    long = draw(tmp_path, "a.txt", "x" * 10_000_000)
    assert "The first 40,000 characters of a large file." in text(long.view)
    assert long.weight < 50_000
    for name, data, told in (
        ("b.txt", "row\n" * 12_345, "The first 1,000 of 12,345 lines."),
        ("c.txt", b"0123456789 and more\n" * 300_000, "The first 1,000 lines of a large file."),
        ("a.csv", "a,b\n" + "1,2\n" * 12_345, "The first 100 of 12,345 rows, 2 columns"),
        ("c.csv", "a,b\n" + "1,2\n" * 2_000_000, "The first 100 rows, 2 columns"),
        ("a.html", "<p>x</p>" * 600_000, "Not shown as page: more than 4 MB"),
    ):
        assert told in said(tmp_path, name, data), name


def letters(node):
    """The texts below a node, or in a list of parts, as they are."""
    if isinstance(node, str):
        return [node]
    inside = node[2] if len(node) == 3 and isinstance(node[1], dict) else node
    return [words for one in inside for words in letters(one)]


@given(st.text(max_size=300), st.sampled_from([PythonLexer, JavascriptLexer, None]))
def test_no_letter_is_lost(words, lexer):
    words = reveal(words)
    lines = highlight_lines(words, lexer)
    assert "".join(words for line in lines for words in letters(line)) == words
    assert len(lines) == len(words.splitlines())


def test_a_lexer_that_breaks_or_loses_text_leaves_it_plain():
    class Broken(PythonLexer):
        def get_tokens(self, text, unfiltered=False):
            yield from list(super().get_tokens(text))[:1]
            raise RuntimeError("a library's own")

    class Forgetful(PythonLexer):
        def get_tokens(self, text, unfiltered=False):
            yield from list(super().get_tokens(text))[2:]

    for lexer in (Broken, Forgetful):
        assert text(highlight_lines("if x: y", lexer)) == "if x: y"
    assert lexer_named("no-such-language") is None


def test_pictures_are_those_beside_the_file(tmp_path):
    written(tmp_path, "img/a b.png", zoo.png())
    written(tmp_path, "up.png", zoo.png())
    (tmp_path / "secret.PNG").write_bytes(zoo.png())
    source = "![one](a%20b.png) ![two](../up.png) ![out](../../../secret.png)"
    view = draw(tmp_path, "img/a.md", f"{source} ![far](https://outside.test/a.png)").view
    assert [one[1]["alt"] for one in find(view, tag="img")] == ["one", "two"]
    assert "picture: out" in text(view)
    assert "picture: far" in text(view)


@given(st.text(alphabet="a<>[]()!*_`#>-|\n \\&;:1.~\"'", max_size=200))
@example(">" * 5_000 + " x")
@example("[" * 5_000 + "x" + "](y)" * 5_000)
def test_any_marks_give_a_tree_without_addresses(words):
    for one in elements(render_markdown(words)):
        assert "blob" not in one[1]
        assert one[1].get("href", "https://").startswith(("http", "mailto:"))


NAMES = ["cells", "outputs", "data", "source", "cell_type", "text/plain", "image/png", "text"]
JUNK = junk(NAMES)


@given(st.lists(JUNK, max_size=4), JUNK)
def test_any_cells_are_drawn(tmp_path_factory, cells, metadata):
    run = tmp_path_factory.mktemp("run")
    made = draw(run, "a.ipynb", json.dumps({"cells": cells, "metadata": metadata}))
    assert made.kind == "notebook"
    made.offer_all()
    for name in made.blobs:
        with contextlib.suppress(OSError):  # "its picture is damaged"
            assert isinstance(read_blob(name)[0], bytes)


@pytest.mark.parametrize(
    ("name", "data", "kind", "told"),
    [
        ("a.ipynb", "[" * 100_000, "text", "Not shown as notebook"),
        ("deep.json", "[" * 200_000, "code", "[[["),
        *(("a.xlsx", zoo.workbook()[:cut], "bytes", "Not shown as workbook") for cut in (10, 3000)),
        ("b.pdf", b"%PDF-1.7\n\xff\xfe nothing", "PDF", "a pdf file that cannot be read"),
        ("a.png", zoo.png()[:200], "picture", "It may not display completely"),
        ("chart.txt", zoo.png(), "picture", ""),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_what_is_damaged_is_shown_as_what_can_be_read_with_a_reason(
    tmp_path, name, data, kind, told
):
    made = draw(tmp_path, name, data)
    assert made.kind == kind
    assert told in text(made.view)


@pytest.mark.parametrize(
    ("name", "data", "tag", "media_type", "source"),
    [
        ("a.html", zoo.PAGE.encode(), "iframe", "text/html", zoo.PAGE),
        ("a.jpg", zoo.png(), "img", "image/png", ""),  # the bytes say the form
        ("a.pdf", zoo.pdf("Hello <b>"), "iframe", "application/pdf", "Hello <b>"),
    ],
    ids=["page", "picture", "PDF"],
)
def test_what_can_be_looked_at_is_there_with_its_bytes_its_name_and_its_source(
    tmp_path, name, data, tag, media_type, source
):
    made = draw(tmp_path, name, data)
    (node,) = find(made.offer_all(), tag=tag)
    assert read_blob(node[1]["blob"]) == (data, media_type)
    assert node[1]["alt" if tag == "img" else "title"].startswith(name)
    assert dense(source) in dense(text(made.view))


def test_a_few_bytes_that_stand_for_gigabytes_are_not_drawn(tmp_path):
    huge = bytearray(zoo.png())
    head = struct.pack(">II", 100_000, 100_000) + huge[24:29]
    huge[16:29] = head
    huge[29:33] = struct.pack(">I", zlib.crc32(b"IHDR" + head))
    made = draw(tmp_path, "a.png", bytes(huge))
    assert not find(made.view, tag="img")
    assert "100000 × 100000 pixels" in text(made.view)
    packed = io.BytesIO(zoo.workbook())
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/media/large.bin", bytes(2**27))
    assert "unpacked it would have" in said(tmp_path, "a.xlsx", packed.getvalue())


def test_each_sheet_is_a_table_the_rest_is_named_and_a_document_is_its_text(tmp_path):
    view = draw(tmp_path, "a.xlsx", zoo.workbook()).view
    assert [text(one) for one in find(view, tag="h5")] == ["Sheet <b>donors", "Sheet empty"]
    assert "The first 100 of 139 rows, 3 columns" in text(view)
    assert [text(one) for one in find(view, tag="tr")[1][2]] == ["1", "donor 1", "1", "=B2*2"]
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "here", "far"  # read no further than is shown
    for number in range(20):
        book.create_sheet(f"s{number}").append([number])
    book.save(tmp_path / "b.xlsx")
    shown = said(tmp_path, "b.xlsx", (tmp_path / "b.xlsx").read_bytes())
    assert "here" in shown
    assert "9 more sheets not shown: s11, s12" in shown
    document = Document()
    document.add_paragraph("Dear members")
    document.save(tmp_path / "a.docx")
    assert "Dear members" in said(tmp_path, "a.docx", (tmp_path / "a.docx").read_bytes())
