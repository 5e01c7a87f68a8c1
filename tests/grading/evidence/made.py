"""Pictures, documents and transcripts, as outputs of runs."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image


def picture(form: str, size: tuple[int, int] = (40, 30), **how: Any) -> bytes:
    out = io.BytesIO()
    Image.effect_mandelbrot(size, (-2, -1, 1, 1), 40).convert("RGB").save(out, form, **how)
    return out.getvalue()


def pdf(words: str) -> bytes:
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
    numbered = b"".join(b"%d 0 obj\n%s\nendobj\n" % one for one in enumerate(objects, 1))
    return b"%PDF-1.4\n" + numbered + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"


def written(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder with these files."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def said(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def called(name: str, result: str, *, failed: bool = False, **given: Any) -> list[dict[str, Any]]:
    """A call of a tool, and what it gave."""
    id_ = f"t-{name}-{given}"
    block = {"type": "tool_use", "id": id_, "name": name, "input": given}
    done = {"type": "tool_result", "tool_use_id": id_, "content": result, "is_error": failed}
    return [
        {"type": "assistant", "message": {"content": [block]}},
        {"type": "user", "message": {"content": [done]}},
    ]
