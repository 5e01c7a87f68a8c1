"""Pages made of what is in the package: its notebooks, tables, dialects and tools."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from skill_eval_nb.documents import dialects
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.tables.columns import TABLES

ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    for name, text in {**questions(), **formats(), "tables.md": tables()}.items():
        files.append(File.generated(config, name, content=text))
    return files


def questions() -> dict[str, str]:
    """A page a notebook, its texts and its code; and a list of them."""
    pages, links = {}, []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        parts = [_cell(one["cell_type"], "".join(one["source"])) for one in cells]
        name = f"questions/{path.stem}.md"
        pages[name] = "\n\n".join(parts)
        title = next(line for line in pages[name].splitlines() if line.startswith("# "))
        links.append(f"- [{title.removeprefix('# ')}]({name})")
    about = "Each page is a notebook, which `skill-eval-nb lab` opens on your own workspace."
    return {**pages, "questions.md": "\n".join(["# Questions", "", about, "", *links, ""])}


def _cell(kind: str, text: str) -> str:
    if kind == "code":
        return f"```python\n{text}\n```"
    return re.sub(r"!?\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", text)  # links within JupyterLab


def tables() -> str:
    """Every table with its columns, as `ws.describe` has them."""
    lines = ["# Tables", ""]
    for table in TABLES.values():
        lines += [f"## {table.name}", "", f"One row: {table.row}.", ""]
        lines += ["| column | type | unit | null | meaning |", "|---|---|---|---|---|"]
        for one in table.columns:
            cells = (f"`{one.name}`", one.type, one.unit, one.null, one.meaning)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def formats() -> dict[str, str]:
    """A page a dialect and a tool, and a list of them."""
    pages = {f"formats/{name}.md": _dialect(name) for name in DIALECTS}
    pages |= dict(_tools())
    names = [f"- [{name.split('/')[1].removesuffix('.md')}]({name})" for name in pages]
    about = "`sen.load` recognises each by what is in its files; `convert` writes any dialect."
    return {**pages, "formats.md": "\n".join(["# Dialects and tools", "", about, "", *names, ""])}


def _dialect(name: str) -> str:
    module = importlib.import_module(f"{dialects.__name__}.{name.replace('-', '_')}")
    folder = "tdd" if name == "skill-evaluator" else name
    readme = (ROOT / "data" / f"{folder}-workspace" / "README.md").read_text()
    kinds = ", ".join(f"`{kind}`" for kind in DIALECTS[name])
    about = (module.__doc__ or "").strip()
    example = readme.replace("\n#", "\n##").replace("# ", "## An example: ", 1)
    return f"# {name}\n\n{about}\n\nIts documents: {kinds}.\n\n{example}"


def _tools() -> Iterator[tuple[str, str]]:
    try:
        tools = importlib.import_module("skill_eval_nb.documents.tools")
    except ModuleNotFoundError:
        return
    for one in pkgutil.iter_modules(tools.__path__):
        about = (importlib.import_module(f"{tools.__name__}.{one.name}").__doc__ or "").strip()
        yield f"formats/{one.name}.md", f"# {one.name}\n\n{about}\n"
