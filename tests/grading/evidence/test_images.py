"""Pictures are told from their bytes, and broken ones are not sent."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest

from skill_eval_nb.grading.evidence import contents
from skill_eval_nb.grading.evidence.contents import IMAGE_BYTES, entries
from skill_eval_nb.grading.evidence.extractor import IMAGE_SIDE

pillow = pytest.importorskip("PIL.Image", reason="Pillow makes the pictures of these tests")

FORMS = {"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "webp": "WEBP"}


def fault(data: bytes, kind: str) -> str | None:
    return contents.picture_fault(data, kind, "/nowhere")


def picture(form: str, size: tuple[int, int] = (40, 30), **how: object) -> bytes:
    out = io.BytesIO()
    pillow.effect_mandelbrot(size, (-2, -1, 1, 1), 40).convert("RGB").save(out, form, **how)
    return out.getvalue()


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
    assert fault(data, kind) is None
    for share in (0.1, 0.5, 0.9):
        assert fault(data[: max(int(len(data) * share), 13)], kind) is not None


def test_damage_inside_a_png_is_seen() -> None:
    data = bytearray(picture("PNG"))
    data[len(data) // 2] ^= 0xFF
    assert "damaged" in (fault(bytes(data), "png") or "")


def test_too_large() -> None:
    assert "pixels" in (fault(picture("GIF", (IMAGE_SIDE + 1, 1)), "gif") or "")
    assert "bytes" in (fault(b"GIF89a" + b"x" * IMAGE_BYTES, "gif") or "")


def png(side: int, unpacked: int) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\x00" * unpacked, 9))
    return b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b"")


def test_a_png_that_unpacks_to_more_than_its_size_is_not_unpacked_to_its_end() -> None:
    data = png(100, 60_000_000)
    assert len(data) < 300_000
    assert "unpacks to more than its size" in (fault(data, "png") or "")
    assert fault(png(100, 100 * 301), "png") is None


def test_pictures_are_measured_together_before_they_are_unpacked(tmp_path, monkeypatch) -> None:
    for name in ("a.png", "b.png", "c.png"):
        (tmp_path / name).write_bytes(png(1_000, 3_001_000))
    monkeypatch.setattr(contents, "UNPACKED", 7_000_000)
    seen = list(contents.read_contents(entries(tmp_path)))
    assert [content.picture is not None for _, content in seen] == [True, True, False]
    assert "too large to be checked" in (seen[2][1].reason or "")


def test_a_large_one_is_looked_through_in_a_process_of_its_own(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(contents._LOOKS, "png", None)  # it is not looked at in this one
    whole, bomb = png(3_000, 3_000 * 9_001), png(3_000, 60_000_000)
    for name, data in (("whole.png", whole), ("bomb.png", bomb), ("cut.png", whole[:-20])):
        (tmp_path / name).write_bytes(data)
    seen = {one.name: one for one in entries(tmp_path)}
    faults = {name: contents.content_of(one).reason for name, one in seen.items()}
    assert faults["whole.png"] is None
    assert "unpacks to more than its size" in (faults["bomb.png"] or "")
    assert "it is cut off" in (faults["cut.png"] or "") or "damaged" in (faults["cut.png"] or "")
