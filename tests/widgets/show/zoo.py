"""A run whose files are of every kind, and would do harm where anything read them as a page."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from pathlib import Path

from tests.grading import made
from tests.grading.made import picture

CANARY = "<img src=x onerror='window.canary=1'><script>window.canary=1</script>"
"""Sets a variable in the page, where anything reads it as HTML."""
OUTSIDE = "https://outside.test/"
"""Nothing is ever fetched from there."""
TURNED = "\u202e"
"""Turns the order of what comes after it."""


def png() -> bytes:
    """A picture."""
    return picture("PNG", (240, 90))


def pdf(words: str) -> bytes:
    """A PDF of one page, which would open another page, and send something there."""
    script = f"app.launchURL('{OUTSIDE}'); this.submitForm('{OUTSIDE}'); app.alert('x')"
    script = script.replace("(", r"\(").replace(")", r"\)")
    opens = f"/OpenAction << /S /URI /URI ({OUTSIDE}) /Next << /S /JavaScript /JS ({script}) >> >>"
    return made.pdf(words).replace(b"/Catalog", b"/Catalog " + opens.encode())


def workbook() -> bytes:
    """A workbook with two sheets, a formula without a value, and a hostile title and cell."""
    import openpyxl

    book = openpyxl.Workbook()
    first = book.active
    first.title = "<b>donors"
    first.append(["name", "amount", "double"])
    for number in range(1, 140):
        name = f"donor {number} {CANARY}" if number == 2 else f"donor {number}"
        first.append([name, number, f"=B{number + 1}*2"])
    book.create_sheet("empty")
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def notebook() -> str:
    """A notebook with every sort of cell and output."""
    html = f"<table onclick='window.canary=1'>{CANARY}</table>"
    cells = [
        {"cell_type": "markdown", "source": ["# Members\n", f"What we *know* {CANARY}"]},
        {
            "cell_type": "code",
            "source": "import polars as pl\npl.read_csv('a.csv')  # rows",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31mred\x1b[0m\n"]},
                {
                    "output_type": "display_data",
                    "data": {"image/png": base64.b64encode(png()).decode()},
                },
                {
                    "output_type": "execute_result",
                    "data": {"text/html": html, "text/plain": "a table"},
                },
                {"output_type": "execute_result", "data": {"text/html": html}},
                {"output_type": "error", "ename": "ValueError", "evalue": CANARY, "traceback": []},
            ],
        },
        "damaged",
    ]
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}})


MARKDOWN = f"""---
name: report
---
# A report {CANARY}

Some *words*, `code` and a [link](https://example.org/a), a
[harmful one](javascript:window.canary=1), [data](data:text/html,{CANARY}).

![the chart](chart.png) ![far](https://outside.test/far.png) ![up](../../secret.png)

| name | score |
| --- | ---: |
| with | 4.5 |
| <b>base</b> | 3 |

1. one
2. two
   - nested

> said

```python
def greet(name):  # {CANARY}
    return "hello " + name
```
"""

PAGE = f"""<!doctype html><title>x</title><meta http-equiv=refresh content="0;url={OUTSIDE}">
<link rel=stylesheet href="{OUTSIDE}a.css"><img src="{OUTSIDE}a.png">{CANARY}
<script src="{OUTSIDE}a.js"></script><iframe src="{OUTSIDE}"></iframe>
<h1 style="color: teal">A page</h1><script>parent.canary = top.canary = 1</script>
<form action="{OUTSIDE}"><textarea autofocus onfocus="top.canary=1"></textarea></form>"""

SVG = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 60" onload="window.canary=1">
<script>window.canary=1; parent.canary=1</script><image href="{OUTSIDE}a.png" width="9" height="9"/>
<rect width="200" height="60" rx="8" fill="#0072b2"/><circle cx="40" cy="30" r="18" fill="#e69f00"/>
<foreignObject width="9" height="9"><div xmlns="http://www.w3.org/1999/xhtml"><img
src="x" onerror="window.canary=1"/></div></foreignObject></svg>"""


def files() -> dict[str, bytes]:
    """Every kind of file, by name."""
    slides = io.BytesIO()
    with zipfile.ZipFile(slides, "w") as packed:
        packed.writestr("a.txt", "no slides")
    texts = {
        "a <img src=x onerror=window.canary=1>.txt": CANARY + "\n</textarea></pre>\x00\x1b[31m\x07",
        f"invoice{TURNED}fdp.txt": f"turned {TURNED}back, and \u05e9\u05dc\u05d5\u05dd",
        "report.md": MARKDOWN,
        "greet.py": f'def greet(name: str):\n    """Say {CANARY}"""\n    return f"hi {{name}}"\n',
        "change.diff": "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n",
        "donors.csv": f"name,amount\n{CANARY},1\n"
        + "".join(f"donor {n},{n}\n" for n in range(120)),
        "tree.json": json.dumps(
            {CANARY: [1, 2.50, None, True, {"deep": "x" * 1500}], "__proto__": {}}
        ),
        "log.jsonl": '{"a": 1}\nnot json\n{"b": [1]}\n',
        "analysis.ipynb": notebook(),
        "page.html": PAGE,
        "drawing.svg": SVG,
        "long-line.txt": "x" * 300_000,
        "empty.txt": "",
        "broken.json": '{"a": [1, 2',
        "broken.ipynb": '{"cells": 3}',
        "fake.png": "no picture",
    }
    return {name: text.encode() for name, text in texts.items()} | {
        "chart.png": png(),
        "cut.png": png()[:200],
        "donors.xlsx": workbook(),
        "broken.xlsx": b"PK\x03\x04 no workbook",
        "slides.pptx": slides.getvalue(),
        "letter.pdf": pdf("A letter"),
        "broken.pdf": b"%PDF-1.7\n\xff\xfe nothing",
        "latin.txt": "café".encode("latin-1"),
        "model.bin": bytes(range(256)) * 9,
    }


def _message(role: str, *content: dict) -> dict:
    return {"type": role, "message": {"role": role, "content": content}}


def transcript() -> str:
    """A transcript of every sort of event."""
    command = {"command": f"ls # {CANARY}\necho"}
    call = {"type": "tool_use", "id": "1", "name": "Bash", "input": command}
    result = {"type": "tool_result", "tool_use_id": "1", "is_error": True}
    begun = {"type": "system", "subtype": "init", "model": "m", "tools": ["Bash"]}
    end = {"type": "result", "subtype": "success", "duration_ms": 2100, "total_cost_usd": 0.01}
    thought = {"type": "thinking", "thinking": CANARY}
    events = [
        begun | {"skills": ["testing"]},
        _message("assistant", thought, {"type": "text", "text": f"I look. {CANARY}"}, call),
        _message("user", result | {"content": [{"type": "text", "text": CANARY}]}),
        {"type": "stream_event"},
        _message("assistant", {"type": "text", "text": "Done, **all** of it."}),
        end | {"is_error": False},
    ]
    return "".join(json.dumps(one) + "\n" for one in events) + "broken {\n"


def build(run: Path) -> Path:
    """Write it all; give the run's folder."""
    outputs = run / "outputs"
    outputs.mkdir(parents=True)
    for name, data in files().items():
        (outputs / name).write_bytes(data)
    (run / "secret.png").write_bytes(png())
    (outputs / "leads-out").symlink_to("/etc/hostname")
    (outputs / "folder-out").symlink_to("/etc", target_is_directory=True)
    (run / "transcript.jsonl").write_text(transcript())
    return run


def workspace(root: Path) -> Path:
    """A workspace with one graded run of it, whose names and evidence are hostile, too."""
    side = root / "zoo-workspace" / "iteration-1" / "eval-1-zoo" / "with_skill"
    build(side / "run-1")
    hostile = f"evidence {CANARY} {TURNED}turned"
    grading = {
        "expectations": [
            {"text": f"Text {CANARY}", "passed": True, "evidence": hostile},
            {"text": "Second", "passed": False, "evidence": "y" * 3000},
        ],
        "claims": [{"claim": CANARY, "type": "quality", "verified": False, "evidence": hostile}],
        "eval_feedback": {
            "suggestions": [{"assertion": CANARY, "reason": hostile}],
            "overall": CANARY,
        },
        "user_notes_summary": {"uncertainties": [CANARY], "needs_review": [], "workarounds": []},
    }
    (side / "run-1" / "grading.json").write_text(json.dumps(grading))
    (side / "run-1" / "timing.json").write_text(json.dumps({"total_duration_seconds": 12.5}))
    return root / "zoo-workspace"
