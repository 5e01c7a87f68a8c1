"""PDF, office files and pictures are shown, or the reason why not is told; never a crash."""

from __future__ import annotations

import socket
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.grading import contents
from skill_eval_nb.grading.contents import (
    IMAGE_BYTES,
    IMAGE_SIDE,
    NotExtracted,
    entries,
    extract,
    picture_fault,
)
from tests.bubblewrap import needed
from tests.corpus.build import lay
from tests.grading.made import pdf, picture


def text_of(path: Path) -> str:
    return extract(str(path), path.suffix[1:], path.stat().st_size)[0]


def xlsx(path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="the extra `office`")
    book = openpyxl.Workbook()
    book.active.title = "Costs"
    for row in (["month", "sum"], [], ["May", 12.5]):
        book.active.append(row)
    book.active["XFD1048576"] = "far"  # which costs no more than itself
    book.create_sheet("Second").append(["x"])
    book.save(path)


def docx(path: Path) -> None:
    document = pytest.importorskip("docx", reason="the extra `office`").Document()
    document.add_paragraph("First words")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    document.add_paragraph("Last words")
    document.save(str(path))


def pptx(path: Path) -> None:
    show = pytest.importorskip("pptx", reason="the extra `office`").Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "The title"
    slide.shapes.add_table(1, 1, 0, 0, 9_000, 9_000).table.cell(0, 0).text = "in a table"
    slide.notes_slide.notes_text_frame.text = "said aloud"
    show.save(str(path))


COSTS = """[sheet Costs]
month\tsum

May\t12.5
[1048572 empty rows]
\t[16382 empty cells]\tfar
[sheet Second]
x
"""


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (xlsx, COSTS),
        (docx, "First words\nleft\tright\nLast words\n"),
        (pptx, "[slide 1]\nThe title\nin a table\n[notes] said aloud\n"),
    ],
)
def test_the_text_of_office_files(tmp_path: Path, make: Any, text: str) -> None:
    path = tmp_path / f"a.{make.__name__}"
    make(path)
    assert text_of(path) == text


def test_all_such_files_of_a_run_have_one_limit_of_time(tmp_path, monkeypatch) -> None:
    lay(tmp_path, dict.fromkeys(("a.pdf", "b.pdf"), pdf("Minutes")))
    monkeypatch.setattr(contents, "EXTRACTING_SECONDS", 1e-9)
    (_, first), (_, second) = contents.read_contents(entries(tmp_path))
    assert "to read" in (first.reason or "")
    assert "such files before it took" in (second.reason or "")


@pytest.mark.parametrize("kind", sorted(contents.OFFICE_KINDS))
def test_a_damaged_file_and_one_that_unpacks_to_much_more_say_so(tmp_path: Path, kind) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b"%PDF-1.4 and then nothing" if kind == "pdf" else b"PK\x03\x04 broken")
    with pytest.raises(NotExtracted, match=f"a {kind} file that cannot be read"):
        text_of(path)
    if kind == "docx":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("word/document.xml", b"\x00" * 1000)
            packed.filelist[0].file_size = 360_000_000  # what its table of contents says
        with pytest.raises(NotExtracted, match="unpacked it would have 360,000,000 bytes"):
            text_of(path)


SPYING = """
import json, os, socket
from pathlib import Path
def attempt(does):
    try:
        return does() or ""
    except OSError:
        return ""
files = [*Path("/proc").glob("[0-9]*/environ"), Path("{diary}"), Path("/etc/shadow")]
seen = [attempt(one.read_text) for one in files]
seen += [attempt(lambda: socket.create_connection(("127.0.0.1", {port}), 5) and "REACHED")]
attempt(lambda: Path("/file.pdf").write_text("CHANGED"))
print(json.dumps({{"text": "".join([*seen, *os.environ, *os.environ.values()]), "more": False}}))
"""


LOOKING = "import json, os; print(json.dumps({{'text': str(os.environ), 'more': 0}}))"


@pytest.mark.parametrize("program", [pytest.param(SPYING, marks=needed), LOOKING])
def test_a_reader_that_was_broken_into_finds_nothing_and_changes_nothing(
    tmp_path, monkeypatch, program
):
    """Without a sandbox it at least is not given the key."""
    if program == LOOKING:
        monkeypatch.setattr(contents.sandbox, "available", lambda: "none here")
    lay(tmp_path, {"diary": "DIARY", "a.pdf": pdf("Total 1204.50")})
    spy, file = tmp_path / "spy.py", tmp_path / "a.pdf"
    assert text_of(file) == "[page 1]\nTotal 1204.50\n"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        spy.write_text(program.format(diary=tmp_path / "diary", port=port))
        monkeypatch.setattr(contents, "_PROGRAM", spy)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "SECRET")
        text = text_of(file)
    assert "PATH" in text  # it did look
    assert not [one for one in ("SECRET", "DIARY", "REACHED", "root:", "ANTHROPIC") if one in text]
    assert file.read_bytes() == pdf("Total 1204.50")


# ── pictures ───────────────────────────────────────────────────────────────────────────────────

FORMS = {"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "webp": "WEBP"}


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *((kind, {}) for kind in FORMS),
        *(("webp", {"lossless": True}), ("jpeg", {"progressive": True})),
        *(("png", {"optimize": True}), ("png", {"interlace": 1})),
    ],
)
def test_whole_pictures_are_taken_and_those_that_are_cut_off_are_not(kind: str, how: Any) -> None:
    data = picture(FORMS[kind], **how)
    assert contents.picture_kind(data[:64]) == kind
    assert picture_fault(data, kind) is None
    for share in (0.1, 0.5, 0.9):
        assert picture_fault(data[: max(int(len(data) * share), 13)], kind) is not None


def test_what_is_too_large_is_not_sent(tmp_path) -> None:
    assert "pixels" in (picture_fault(picture("PNG", (IMAGE_SIDE + 1, 1)), "png") or "")
    lay(tmp_path, {"large.gif": b"GIF89a" + b"x" * IMAGE_BYTES})
    (large,) = map(partial(contents.content_of, seconds=0.0), entries(tmp_path))
    assert "bytes" in (large.reason or "")
