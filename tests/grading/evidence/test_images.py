"""Pictures are told from their bytes, and broken ones are not sent."""

from __future__ import annotations

import io

import pytest

from skill_eval_nb.grading.evidence.contents import (
    IMAGE_BYTES,
    IMAGE_SIDE,
    picture_fault,
    picture_kind,
)

pillow = pytest.importorskip("PIL.Image", reason="Pillow makes the pictures of these tests")

FORMS = {"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "webp": "WEBP"}


def picture(form: str, size: tuple[int, int] = (40, 30), **how: object) -> bytes:
    out = io.BytesIO()
    pillow.effect_mandelbrot(size, (-2, -1, 1, 1), 40).convert("RGB").save(out, form, **how)
    return out.getvalue()


@pytest.mark.parametrize(("kind", "form"), FORMS.items())
def test_whole_pictures_are_taken(kind: str, form: str) -> None:
    data = picture(form)
    assert picture_kind(data[:64]) == kind
    assert picture_fault(data, kind) is None


def test_other_forms_of_the_same_kinds() -> None:
    assert picture_fault(picture("WEBP", lossless=True), "webp") is None
    assert picture_fault(picture("JPEG", progressive=True), "jpeg") is None
    assert picture_fault(picture("PNG", interlace=1), "png") is None


@pytest.mark.parametrize(("kind", "form"), FORMS.items())
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_pictures_that_are_cut_off_are_not(kind: str, form: str, share: float) -> None:
    data = picture(form)
    assert picture_fault(data[: max(int(len(data) * share), 13)], kind) is not None


def test_too_large() -> None:
    assert "pixels" in (picture_fault(picture("GIF", (IMAGE_SIDE + 1, 1)), "gif") or "")
    assert "bytes" in (picture_fault(b"GIF89a" + b"x" * IMAGE_BYTES, "gif") or "")
