"""Pictures are told from their bytes, and broken ones are not sent."""

from __future__ import annotations

import io
import struct
import zlib

import pytest

from skill_eval_nb.grading.showing import images
from skill_eval_nb.grading.showing.rule import IMAGE_BYTES, IMAGE_SIDE

pillow = pytest.importorskip("PIL.Image", reason="Pillow makes the pictures of these tests")

FORMS = {"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "webp": "WEBP"}


def picture(form: str, size: tuple[int, int] = (40, 30), **how: object) -> bytes:
    out = io.BytesIO()
    pillow.effect_mandelbrot(size, (-2, -1, 1, 1), 40).convert("RGB").save(out, form, **how)
    return out.getvalue()


@pytest.mark.parametrize(("kind", "form"), FORMS.items())
def test_whole_pictures_are_taken(kind: str, form: str) -> None:
    data = picture(form)
    assert images.kind_of(data[:64]) == kind
    assert images.why_not(data, kind) is None


def test_other_forms_of_the_same_kinds() -> None:
    assert images.why_not(picture("WEBP", lossless=True), "webp") is None
    assert images.why_not(picture("JPEG", progressive=True), "jpeg") is None
    assert images.why_not(picture("PNG", optimize=True), "png") is None


@pytest.mark.parametrize(("kind", "form"), FORMS.items())
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_pictures_that_are_cut_off_are_not(kind: str, form: str, share: float) -> None:
    data = picture(form)
    assert images.why_not(data[: max(int(len(data) * share), 13)], kind) is not None


def test_damage_inside_a_png_is_seen() -> None:
    data = bytearray(picture("PNG"))
    data[len(data) // 2] ^= 0xFF
    assert "damaged" in (images.why_not(bytes(data), "png") or "")


def test_too_large() -> None:
    assert "pixels" in (images.why_not(picture("GIF", (IMAGE_SIDE + 1, 1)), "gif") or "")
    assert "bytes" in (images.why_not(b"GIF89a" + b"x" * IMAGE_BYTES, "gif") or "")


def test_a_png_that_unpacks_to_much_more_is_looked_through_in_steps() -> None:
    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 100, 100, 8, 2, 0, 0, 0))
    bomb = chunk(b"IDAT", zlib.compress(b"\x00" * 60_000_000, 9))
    data = b"\x89PNG\r\n\x1a\n" + head + bomb + chunk(b"IEND", b"")
    assert len(data) < 300_000
    assert images.why_not(data, "png") is None
