"""Puts the pages of the documentation together, and has MkDocs build them: `make docs`.

Written by hand are only the pages beside this file. The notebooks are run, and the reference comes
from the code: tables from `describe`, the shell from its help, Python from docstrings, dialects
from their schemas. A name that is not in a page of the reference cannot be public.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import typer
import yaml

import skill_eval_nb as sen
from skill_eval_nb.cli import app
from skill_eval_nb.documents.dialects import DIALECTS, json_schema
from skill_eval_nb.documents.tools import TOOLS
from skill_eval_nb.share import copy_notebooks

HERE = Path(__file__).parent
OUT = HERE.parent / "build" / "docs"
PAGES, DESK = OUT / "pages", OUT / "desk"
ROOMS = ("stats", "charts", "report", "improving", "triggers", "grading", "running", "models")
GUIDES = ("first_evals", "checks", "small", "gate", "library", "hand_on", "widgets")
NOTEBOOKS = {
    "Everything on one page": "00_start_here",
    "What is in these folders?": "01_load_and_look",
    "Does the skill help, and how sure is that?": "03_with_and_without",
    "Which way does a small benchmark lean?": "10_what_now",
    "How many runs do I need?": "04_how_many_runs",
    "How do I run more, within a budget?": "05_run_and_grade",
    "How should the evals change?": "06_improve_the_evals",
    "Which rubric dimensions are noisy, and why?": "02_rubric_variance",
    "Is the new version better?": "07_compare_versions",
    "Is the skill picked up when it should be?": "08_triggers",
    "What do published results show?": "09_published_results",
}
COPIED = {
    "CHANGELOG.md": "changelog.md",
    "skill_eval_nb/stats/CALIBRATION.md": "calibration.md",
}


def main() -> int:
    """Build everything anew, and say what is done."""
    say("Writing the pages and the reference")
    shutil.rmtree(OUT, ignore_errors=True)
    shutil.copytree(HERE / "pages", PAGES)
    for page in PAGES.glob("*.md"):  # they can be read in the repository, too
        page.write_text(page.read_text().replace("](../../notebooks/", "](notebooks/"))
    for source, page in COPIED.items():
        shutil.copy(HERE.parent / source, PAGES / page)
    write("tables.md", tables())
    write("shell.md", shell())
    kinds = {"Python": python(), "Dialects": dialects(), "Other tools": tools()}
    reference: list[object] = ["ways.md", "tables.md", "shell.md", "read_and_written.md"]
    for kind, pages in kinds.items():
        reference.append({kind: [write(page, text) for page, text in pages]})
    notebooks()
    nav = [
        {"Home": "index.md"},
        {"Guides": [f"{one}.md" for one in GUIDES]},
        {"Notebooks": [{name: f"notebooks/{one}.ipynb"} for name, one in NOTEBOOKS.items()]},
        {"What the figures mean": ["verdicts.md", "calibration.md"]},
        {"Reference": [*reference, "own_layout.md", "hosts.md", "extending.md"]},
        "changelog.md",
    ]
    config = OUT / "mkdocs.yml"
    about = {"INHERIT": str(HERE / "mkdocs.yml"), "docs_dir": "pages", "site_dir": "site"}
    config.write_text(yaml.safe_dump(about | {"nav": nav}), encoding="utf-8")
    say("Building the site")
    command = ["mkdocs", "build", "--strict", "--quiet", "--config-file", config]
    end = subprocess.run([sys.executable, "-m", *command], cwd=OUT, check=False).returncode
    say("Not built: see the lines above" if end else f"Open {OUT / 'site' / 'index.html'}")
    return end


def say(line: str) -> None:
    """Say what is being done, or where the result is."""
    print(line, flush=True)


def write(page: str, text: str) -> str:
    """Write a page; gives its name."""
    path = PAGES / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip() + "\n", encoding="utf-8")
    return page


def notebooks() -> None:
    """Every notebook, run in a copy, with what it gave."""
    copies = copy_notebooks(DESK)
    command = ["nbconvert", "--to=notebook", "--execute", "--inplace", "--log-level=ERROR"]
    command += ["--ExecutePreprocessor.store_widget_state=False"]  # pages show what was last seen
    command += ["--ExecutePreprocessor.extra_arguments=--IPKernelApp.log_level=40"]  # errors
    for number, copy in enumerate(copies, 1):
        say(f"Running notebook {number} of {len(copies)}: {copy.stem}")
        subprocess.run([sys.executable, "-m", *command, copy], check=True)
        (PAGES / "notebooks").mkdir(exist_ok=True)
        shutil.copy(copy, PAGES / "notebooks")
    shutil.copytree(DESK / "notebooks" / "images", PAGES / "notebooks" / "images")


def tables() -> str:
    """Every table with its columns."""
    parts = [
        "# Tables",
        "The attributes of what `sen.load(…)` returns; `sen.describe(…)` shows the same.",
    ]
    for name, row_is, _ in sen.describe().iter_rows():
        rows = sen.describe(name).rows()
        parts += [f"## {name}", f"One row is {row_is}.", table(sen.describe(name).columns, rows)]
    return "\n\n".join(parts)


def shell() -> str:
    """Every command with its help."""
    parts = ["# Shell", "`skill-eval-nb COMMAND --help` shows the same."]
    root = typer.main.get_command(app)
    for path, command in commands(root, "skill-eval-nb"):
        with typer.Context(command, info_name=path, terminal_width=88) as context:
            parts += [f"## {path}", f"```text\n{command.get_help(context)}\n```"]
    return "\n\n".join(parts)


def commands(group: object, path: str) -> Iterator[tuple[str, typer.core.TyperCommand]]:
    """The commands of a group and of those inside it, in the order of its help."""
    for name, command in getattr(group, "commands", {}).items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def python() -> Iterator[tuple[str, str]]:
    """A page a room with its public names, and the package's own."""
    own = [name for name in sen.__all__ if name not in (*ROOMS, "documents", "widgets")]
    for room in ("", *ROOMS):
        title = f"sen.{room}".rstrip(".")
        module = import_module(title.replace("sen", "skill_eval_nb", 1))
        found = {name: getattr(module, name) for name in (module.__all__ if room else own)}
        places = [
            f"{one.__module__}.{name}"
            for name, one in found.items()
            if getattr(one, "__module__", "").startswith("skill_eval_nb")
        ]
        parts = [f"# {title}", first(module.__doc__), *(f"::: {place}" for place in places)]
        yield f"python/{title.replace('.', '_')}.md", "\n\n".join(parts)


def dialects() -> Iterator[tuple[str, str]]:
    """A page a dialect: its documents, and what each holds."""
    for name, forms in DIALECTS.items():
        module = import_module(f"skill_eval_nb.documents.dialects.{name.replace('-', '_')}")
        note = "All of it is read; `benchmark.json` is also written."
        parts = [f"# {name}", first(module.__doc__), note]
        for kind in forms:
            schema = json_schema(kind, name)
            rows = [(key, one.get("description", "")) for key, one in properties(schema).items()]
            parts += [f"## {kind}", first(schema.get("description", ""))]
            parts += [table(["key", "what it is"], rows)] if rows else []
        yield f"dialects/{name}.md", "\n\n".join(parts)


def tools() -> Iterator[tuple[str, str]]:
    """A page a tool of others whose results are read."""
    for name, tool in TOOLS.items():
        yield f"tools/{name}.md", f"# {name}\n\n{(tool.__doc__ or '').strip()}"


def properties(schema: dict) -> dict:
    """The keys of a document; of a list of documents, those of each."""
    for part in (schema, *schema.get("anyOf", ()), schema.get("items", {})):
        named = part.get("$ref", "").removeprefix("#/$defs/")
        whole = schema.get("$defs", {}).get(named, part)
        if "properties" in whole:
            return whole["properties"]
    return {}


def first(text: str | None) -> str:
    """The first paragraph of a docstring."""
    return " ".join((text or "").split("\n\n")[0].split())


def table(heads: list[str], rows: list[tuple]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell(one) for one in line) + " |" for line in lines)


def cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


if __name__ == "__main__":
    sys.exit(main())
