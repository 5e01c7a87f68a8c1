"""PDF and office files give their text, or the reason why not; never a crash."""

from __future__ import annotations

import socket
import zipfile
from pathlib import Path

import pytest

from skill_eval_nb.grading.evidence import contents
from skill_eval_nb.grading.evidence.contents import NotExtracted, entries, extract
from tests.bubblewrap import needed


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


def pdf(path: Path) -> None:
    pytest.importorskip("pypdf", reason="the extra `office`")
    path.write_bytes(made_pdf("Total 1204.50"))


def made_pdf(words: str) -> bytes:
    """The least PDF that shows words."""
    stream = f"BT /F1 12 Tf 20 100 Td ({words}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R %s >>"
        % b"/Resources << /Font << /F1 5 0 R >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n"
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start


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
        (pdf, "[page 1]\nTotal 1204.50\n"),
    ],
)
def test_the_text_of_office_files(tmp_path: Path, make, text: str) -> None:
    path = tmp_path / f"a.{make.__name__}"
    make(path)
    assert text_of(path) == text


def test_all_such_files_of_a_run_have_one_limit_of_time(tmp_path, monkeypatch) -> None:
    for name in ("a.pdf", "b.pdf"):
        (tmp_path / name).write_bytes(made_pdf("Minutes"))
    monkeypatch.setattr(contents, "EXTRACTING_SECONDS", 1e-9)
    (_, first), (_, second) = contents.read_contents(entries(tmp_path))
    assert "to read" in (first.reason or "")
    assert "such files before it took" in (second.reason or "")


@pytest.mark.parametrize("kind", sorted(contents.OFFICE_KINDS))
def test_a_damaged_file_says_so(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b"%PDF-1.4 and then nothing" if kind == "pdf" else b"PK\x03\x04 broken")
    with pytest.raises(NotExtracted, match=f"a {kind} file that cannot be read"):
        text_of(path)


def test_a_file_that_unpacks_to_much_more_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", b"\x00" * 1000)
        packed.filelist[0].file_size = 360_000_000  # what its table of contents says
    with pytest.raises(NotExtracted, match="unpacked it would have 360,000,000 bytes"):
        text_of(path)


SPYING = """
import json, os, socket
from pathlib import Path
seen = []
for one in [*Path("/proc").glob("[0-9]*/environ"), Path("{diary}"), Path("/etc/shadow")]:
    try:
        seen.append(one.read_text())
    except OSError:
        pass
try:
    socket.create_connection(("127.0.0.1", {port}), 5)
    seen.append("REACHED")
except OSError:
    pass
try:
    Path("/file.pdf").write_text("CHANGED")
except OSError:
    pass
print(json.dumps({{"text": "".join([*seen, *os.environ, *os.environ.values()]), "more": False}}))
"""


@needed
def test_a_reader_that_was_broken_into_finds_nothing_and_changes_nothing(tmp_path, monkeypatch):
    diary, file, program = (tmp_path / name for name in ("diary", "a.pdf", "spy.py"))
    diary.write_text("DIARY")
    file.write_bytes(made_pdf("x"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        program.write_text(SPYING.format(diary=diary, port=server.getsockname()[1]))
        monkeypatch.setattr(contents, "_PROGRAM", program)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "SECRET")
        text = text_of(file)
    assert "PATH" in text  # it did look
    assert not [one for one in ("SECRET", "DIARY", "REACHED", "root:", "ANTHROPIC") if one in text]
    assert file.read_bytes() == made_pdf("x")


def test_without_a_sandbox_a_reader_has_no_key(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(contents.sandbox, "available", lambda: "none here")
    test_the_text_of_office_files(tmp_path, pdf, "[page 1]\nTotal 1204.50\n")
    program = tmp_path / "spy.py"
    program.write_text("import json, os; print(json.dumps({'text': str(os.environ), 'more': 0}))")
    monkeypatch.setattr(contents, "_PROGRAM", program)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "SECRET")
    text = text_of(tmp_path / "a.pdf")
    assert "PATH" in text
    assert "SECRET" not in text
