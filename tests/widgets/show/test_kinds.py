"""What each kind of file is drawn as, and what a file is not."""

import contextlib
import csv
import io
import json
import struct
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import openpyxl
import pytest
from docx import Document
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import JavascriptLexer, PythonLexer

from skill_eval_nb.disk import decoded
from skill_eval_nb.grading.evidence import contents as extracting
from skill_eval_nb.widgets.show.documents import (
    NOTEBOOK_CHARS,
    highlighted,
    lexer_named,
    rendered,
)
from skill_eval_nb.widgets.show.files import output_files
from skill_eval_nb.widgets.show.outputs import KINDS, drawn
from skill_eval_nb.widgets.ui import elements, find, text
from skill_eval_nb.widgets.ui.panel import read_blob
from skill_eval_nb.widgets.ui.parts import plain
from tests.widgets.show import zoo
from tests.widgets.show.one import dense, draw, said, written

KIND_OF = {
    "report.md": "Markdown",
    "greet.py": "code",
    "change.diff": "code",
    "donors.csv": "table",
    "tree.json": "JSON",
    "log.jsonl": "code",
    "analysis.ipynb": "notebook",
    "page.html": "page",
    "drawing.svg": "drawing",
    "long-line.txt": "text",
    "empty.txt": "empty file",
    "broken.json": "code",
    "broken.ipynb": "text",
    "fake.png": "text",
    "chart.png": "picture",
    "donors.xlsx": "workbook",
    "broken.xlsx": "bytes",
    "slides.pptx": "slides",
    "letter.pdf": "PDF",
    "model.bin": "bytes",
}


@pytest.mark.parametrize(("name", "kind"), KIND_OF.items())
def test_a_file_is_shown_as_what_it_is(tmp_path, name, kind):
    assert draw(tmp_path, name, zoo.files()[name]).kind == kind


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("notes.txt", b"%PDF is how it begins", "text"),
        ("notes.txt", b"GIF89a is how it begins", "text"),
        ("chart", zoo.png(), "picture"),
        ("chart.txt", zoo.png(), "picture"),
        ("Makefile", b"all:\n\techo\n", "code"),
        ("page.HTML", b"<p>x", "page"),
        (".gitignore", b"x\n", "text"),
    ],
)
def test_first_bytes_and_name_decide_together(tmp_path, name, data, kind):
    if name.startswith("."):
        tmp_path = tmp_path / "run"
    assert draw(tmp_path, name, data).kind == kind


def test_what_a_file_is_not_is_said(tmp_path):
    assert "named .png, but does not begin" in said(tmp_path, "fake.png", "no picture")
    assert "It is no JSON" in said(tmp_path, "a.json", "{").replace("it is", "It is")


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
        made = drawn(file, {}, waits=0)
    shown = dense(text(made.view))
    assert made.kind
    if made.kind in ("text", "code", "Markdown", "page", "drawing"):
        words = data.decode("utf-8-sig", "replace")
        both = [words, decoded(data) or ""]
        assert any(dense(plain(one)) in shown for one in both)
    elif made.kind == "bytes":
        assert "Itsbytesarenotext" in shown


def test_a_reader_that_breaks_leaves_the_text(tmp_path, monkeypatch):
    from skill_eval_nb.widgets.show import outputs

    def broken(_):
        raise RuntimeError("a library's own")

    monkeypatch.setattr(outputs, "KINDS", (outputs.Kind("page", broken, frozenset(("html",))),))
    shown = said(tmp_path, "a.html", "<p>the text")
    assert "Not shown as page: its reader broke on it (RuntimeError)." in shown
    assert "<p>the text" in shown


def test_a_file_is_drawn_anew_when_it_changes_only(tmp_path):
    first = draw(tmp_path, "a.txt", "one")
    assert draw(tmp_path, "b.txt", "two") is not first
    (again,) = [one for one in output_files(tmp_path) if one.name == "a.txt"]
    assert drawn(again, {}) is first
    assert "changed" in said(tmp_path, "a.txt", "changed")


def test_a_line_of_ten_megabytes_is_cut_and_said(tmp_path):
    drawn = draw(tmp_path, "a.txt", "x" * 10_000_000)
    assert "The first 40,000 of more than 262,144 characters." in said(
        tmp_path, "a.txt", "x" * 10_000_000
    )
    assert drawn.weight < 50_000


def test_many_lines_are_counted(tmp_path):
    assert "The first 1,000 of 12,345 lines." in said(tmp_path, "a.txt", "row\n" * 12_345)
    many = b"0123456789 and more\n" * 300_000
    assert "The first 1,000 of 300,000 lines." in said(tmp_path, "b.txt", many)


def test_odd_bytes_are_said(tmp_path):
    assert "read as Windows-1252" in said(tmp_path, "a.txt", "café".encode("latin-1"))
    shown = said(tmp_path, "b.txt", "äöüß äöü ".encode() + b"\xff")
    assert "äöüß äöü �" in shown
    assert "1 of its bytes" in shown
    assert "UTF-16" in said(tmp_path, "c.txt", "words".encode("utf-16"))


@given(st.text(max_size=300), st.sampled_from([PythonLexer, JavascriptLexer, None]))
def test_no_letter_is_lost(words, lexer):
    words = plain(words)
    lines = highlighted(words, lexer)
    assert (
        "".join(part if isinstance(part, str) else part[2][0] for one in lines for part in one)
        == words
    )
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
        assert text(highlighted("if x: y", lexer)) == "if x: y"


@pytest.mark.parametrize("lexer", ["python", "javascript", "html", "css", "json", "yaml", "bash"])
@pytest.mark.parametrize("words", ["(" * 1900, "\"'" * 900, "<a " * 600, "a: " * 600, "/*" * 900])
def test_hostile_text_takes_no_time(lexer, words):
    since = time.thread_time()
    highlighted(words, lexer_named(lexer))
    assert time.thread_time() - since < 5


def table(view):
    return [[text(cell) for cell in row[2]] for row in find(view, tag="tr")]


def test_rows_are_rows(tmp_path):
    view = draw(tmp_path, "a.csv", 'name,note\nann,"a, ""b""\nc"\n\nbob\n').view
    assert table(view) == [
        ["row", "name", "note"],
        ["1", "ann", 'a, "b"\nc'],
        ["2", "bob", ""],
    ]


def test_how_many_there_are_is_said(tmp_path):
    rows = "a,b\n" + "1,2\n" * 12_345
    assert "The first 100 of 12,345 rows, 2 columns" in said(tmp_path, "a.csv", rows)
    wide = ",".join(map(str, range(45)))
    assert "1 row, the first 30 of 45 columns" in said(tmp_path, "b.csv", f"{wide}\n{wide}\n")
    big = "a,b\n" + "1,2\n" * 2_000_000
    shown = said(tmp_path, "c.csv", big)
    assert "The file has 2,000,001 lines" in shown
    assert "The first 100 rows, 2 columns" in shown


@given(
    st.lists(
        st.lists(st.text("ab,\" \n'1é", min_size=1, max_size=6), min_size=2, max_size=2),
        min_size=2,
        max_size=5,
    )
)
def test_every_cell_is_there(tmp_path_factory, rows):
    data = io.StringIO()
    csv.writer(data, quoting=csv.QUOTE_ALL).writerows(rows)
    view = draw(tmp_path_factory.mktemp("run"), "a.csv", data.getvalue()).view
    shown = [one[2] for one in find(view, tag="td")]
    assert shown == [[cell] for row in rows[1:] for cell in row]


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text("ab", max_size=4), inner)
        ),
        max_leaves=12,
    )
)
def test_json_on_one_line_is_indented_and_says_the_same(tmp_path_factory, value):
    run = tmp_path_factory.mktemp("run")
    drawn = draw(run, "a.json", json.dumps(value))
    (listing,) = find(drawn.view, cls="sen-code")
    assert drawn.kind == "JSON"
    assert json.loads("".join(_strings(listing))) == value
    assert ("Indented here" in text(drawn.view)) == ("\n" in "".join(_strings(listing)))


def _strings(node):
    return (
        [node] if isinstance(node, str) else [one for child in node[2] for one in _strings(child)]
    )


def test_numbers_and_names_of_json_stand_as_they_are_written(tmp_path):
    assert '"a": 1.50' in said(tmp_path, "a.json", '{"a": 1.50, "a": 1e400}')
    assert "1e400" in said(tmp_path, "a.json", '{"a": 1.50, "a": 1e400}')
    assert draw(tmp_path, "b.json", "[" * 200_000).kind in ("code", "text")


def test_marks_become_elements():
    node = rendered("# A\n\n*b* **c** ~~d~~ `e`\n\n- f\n\n> g\n\n---\n\n1. h\n")
    for tag, words in {"h4": "A", "em": "b", "strong": "c", "s": "d", "code": "e"}.items():
        assert [text(one) for one in find(node, tag=tag)] == [words]
    assert {"ul", "ol", "li", "blockquote", "hr"} <= {one[0] for one in elements(node)}


def test_a_table_says_what_its_head_is():
    node = rendered("| a | b |\n| --- | ---: |\n| 1 | 2 |\n")
    assert [text(one) for one in find(node, tag="th", scope="col")] == ["a", "b"]
    assert [text(one) for one in find(node, tag="td", cls="sen-n")] == ["2"]


def test_html_stays_text():
    assert zoo.CANARY in text(rendered(f"a {zoo.CANARY}"))
    assert zoo.CANARY in text(rendered(zoo.CANARY))


@pytest.mark.parametrize(
    "address",
    [
        "javascript:x",
        "data:text/html,x",
        "../a.md",
        "#top",
        "vbscript:x",
        "JaVaScript:x",
        "file:///x",
    ],
)
def test_no_link_but_those_of_the_web(address):
    node = rendered(f"[words]({address}) <{address}>")
    assert not find(node, tag="a")
    assert "words" in text(node)


def test_pictures_are_those_beside_the_file(tmp_path):
    written(tmp_path, "img/a b.png", zoo.png())
    written(tmp_path, "up.png", zoo.png())
    (tmp_path / "secret.PNG").write_bytes(zoo.png())
    source = "![one](a%20b.png) ![two](../up.png) ![out](../../../secret.png) ![far](https://outside.test/a.png)"
    view = draw(tmp_path, "img/a.md", source).view
    assert [one[1]["alt"] for one in find(view, tag="img")] == ["one", "two"]
    assert "picture: out" in text(view)
    assert "picture: far" in text(view)


@given(st.text(alphabet="a<>[]()!*_`#>-|\n \\&;:1.~\"'", max_size=200))
def test_any_marks_give_a_tree_without_addresses(words):
    for one in elements(rendered(words)):
        assert "blob" not in one[1]
        assert one[1].get("href", "https://").startswith(("http", "mailto:"))


def test_deep_nesting_is_no_matter():
    assert "x" in text(rendered(">" * 5_000 + " x"))
    assert "x" in text(rendered("[" * 5_000 + "x" + "](y)" * 5_000))


def test_cells_are_what_they_are(tmp_path):
    drawn = draw(tmp_path, "a.ipynb", zoo.notebook())
    view = drawn.offered()
    assert text(find(view, tag="h4")[0]) == "Members"
    assert find(view, cls="sen-tok-keyword")
    shown = text(view)
    for words in (
        "red",
        "a table",
        "(also as text/html)",
        f"ValueError: {zoo.CANARY}",
        "Cell 3 is damaged.",
    ):
        assert words in shown
    (picture,) = find(view, tag="img")
    assert read_blob(picture[1]["blob"]) == (zoo.png(), "image/png")


def test_cells_beyond_the_bound_are_counted(tmp_path):
    cells = [{"cell_type": "code", "source": "x = 1\n" * 500}] * 300
    shown = said(tmp_path, "a.ipynb", json.dumps({"cells": cells}))
    assert "of 300 cells" in shown
    assert len(shown) < 2 * NOTEBOOK_CHARS


JUNK = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "cells",
                    "outputs",
                    "data",
                    "source",
                    "cell_type",
                    "text/plain",
                    "image/png",
                    "text",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JUNK, max_size=4), JUNK)
def test_any_cells_are_drawn(tmp_path_factory, cells, metadata):
    run = tmp_path_factory.mktemp("run")
    drawn = draw(run, "a.ipynb", json.dumps({"cells": cells, "metadata": metadata}))
    assert drawn.kind == "notebook"
    drawn.offered()
    for name in drawn.blobs:
        with contextlib.suppress(OSError):  # "its picture is damaged"
            assert isinstance(read_blob(name)[0], bytes)


@pytest.mark.parametrize("data", ["{", "[]", '{"cells": {}}', "[" * 100_000])
def test_what_is_no_notebook_stands_as_text(tmp_path, data):
    drawn = draw(tmp_path, "a.ipynb", data)
    assert drawn.kind == "text"
    assert "Not shown as notebook" in text(drawn.view)


def test_a_page_is_a_frame_and_its_source(tmp_path):
    drawn = draw(tmp_path, "a.html", zoo.PAGE)
    (frame,) = find(drawn.offered(), tag="iframe")
    assert read_blob(frame[1]["blob"]) == (zoo.PAGE.encode(), "text/html")
    assert frame[1]["title"] == "a.html, as a page"
    assert dense(zoo.PAGE) in dense(text(drawn.view))


def test_a_very_large_one_is_source_only(tmp_path):
    drawn = draw(tmp_path, "a.html", "<p>x</p>" * 600_000)
    assert not find(drawn.view, tag="iframe")
    assert "Not shown as page: more than 4 MB" in text(drawn.view)


def test_the_bytes_say_the_form(tmp_path):
    (picture,) = find(draw(tmp_path, "a.jpg", zoo.png()).offered(), tag="img")
    assert read_blob(picture[1]["blob"]) == (zoo.png(), "image/png")
    assert picture[1]["alt"] == "a.jpg"


def test_a_damaged_one_says_so(tmp_path):
    assert "It may not show as a whole" in said(tmp_path, "a.png", zoo.png()[:200])


def test_a_few_bytes_that_stand_for_gigabytes_are_not_drawn(tmp_path):
    huge = bytearray(zoo.png())
    head = struct.pack(">II", 100_000, 100_000) + huge[24:29]
    huge[16:29] = head
    huge[29:33] = struct.pack(">I", __import__("zlib").crc32(b"IHDR" + head))
    drawn = draw(tmp_path, "a.png", bytes(huge))
    assert not find(drawn.view, tag="img")
    assert "100000 × 100000 pixels" in text(drawn.view)


def test_a_drawing_is_a_picture_and_its_source(tmp_path):
    drawn = draw(tmp_path, "a.svg", zoo.SVG)
    (picture,) = find(drawn.offered(), tag="img")
    assert read_blob(picture[1]["blob"]) == (zoo.SVG.encode(), "image/svg+xml")
    assert "window.canary=1; parent.canary=1" in text(drawn.view)


def test_each_sheet_is_a_table(tmp_path):
    view = draw(tmp_path, "a.xlsx", zoo.workbook()).view
    assert [text(one) for one in find(view, tag="h5")] == ["Sheet <b>donors", "Sheet empty"]
    assert "The first 100 of 139 rows, 3 columns" in text(view)
    assert [text(one) for one in find(view, tag="tr")[1][2]] == ["1", "donor 1", "1", "=B2*2"]


def test_what_would_fill_the_memory_is_not_unpacked(tmp_path):
    packed = io.BytesIO(zoo.workbook())
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/media/large.bin", bytes(2**27))
    assert "unpacked it would have" in said(tmp_path, "a.xlsx", packed.getvalue())


def test_a_cell_far_out_is_read_no_further_than_what_is_shown(tmp_path):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "here", "far"
    data = io.BytesIO()
    book.save(data)
    assert "here" in said(tmp_path, "a.xlsx", data.getvalue())


@pytest.mark.parametrize("cut", [10, 500, 3000])
def test_a_damaged_one_is_bytes_with_a_reason(tmp_path, cut):
    drawn = draw(tmp_path, "a.xlsx", zoo.workbook()[:cut])
    assert drawn.kind == "bytes"
    assert "Not shown as workbook" in text(drawn.view)


def test_sheets_beyond_a_number_are_named(tmp_path):
    book = openpyxl.Workbook()
    for number in range(20):
        book.create_sheet(f"s{number}").append([number])
    data = io.BytesIO()
    book.save(data)
    shown = said(tmp_path, "a.xlsx", data.getvalue())
    assert "9 more sheets not shown: s11, s12" in shown


def test_a_pdf_is_a_document_and_a_text(tmp_path):
    made = draw(tmp_path, "a.pdf", zoo.pdf("Hello <b>"))
    (frame,) = find(made.offered(), tag="iframe")
    assert read_blob(frame[1]["blob"]) == (zoo.pdf("Hello <b>"), "application/pdf")
    assert frame[1]["title"] == "a.pdf, a PDF"
    assert "Hello <b>" in text(made.view)


def test_what_only_is_named_pdf_is_no_document(tmp_path):
    made = draw(tmp_path, "a.pdf", b"<html><script>window.canary=1</script>")
    assert made.kind == "text"
    assert not find(made.view, tag="iframe")


def test_a_damaged_pdf_says_so(tmp_path):
    shown = said(tmp_path, "a.pdf", b"%PDF-1.7\n\xff\xfe nothing")
    assert "Its text is not shown: a pdf file that cannot be read" in shown


def test_a_document_is_its_text(tmp_path):
    document = Document()
    document.add_paragraph("Dear members")
    data = io.BytesIO()
    document.save(data)
    assert "Dear members" in said(tmp_path, "a.docx", data.getvalue())


def test_nobody_waits_for_a_slow_reader(tmp_path, monkeypatch):
    go = threading.Event()
    monkeypatch.setattr(extracting, "extract", lambda *_: (go.wait(30), ("the text", False))[1])
    file = written(tmp_path, "slow.pdf", zoo.pdf("x"))
    assert "is still being read" in text(drawn(file, {}, waits=0).view)
    go.set()
    assert "the text" in text(drawn(file, {}, waits=30).view)
