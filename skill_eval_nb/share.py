"""The notebooks and the bundled data that come with the package."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent

START = "00_start_here.ipynb"
"""The notebook to open first."""

COPY = "skill-eval-nb"
"""The folder that they are copied to where none is named."""

_FILLED_IN = re.compile(r"^(PATH|SKILL) = .*$", re.MULTILINE)
"""The lines of a notebook that name what it looks at."""


def share() -> Path:
    """The folder with `notebooks/`, `data/`, `skills/`: in the installed package, or a checkout."""
    installed = PACKAGE / "_share"
    return installed if installed.is_dir() else PACKAGE.parent


def bundled_workspaces() -> list[Path]:
    """The workspaces of the bundled data, one a dialect. They are made up, and say so."""
    return sorted((share() / "data").glob("*-workspace"))


def tour_notebook(folder: Path | None = None) -> Path:
    """The notebook to open first, in a copy that stands in `folder` or right below it.

    If there is no copy yet, one is made, in `folder / "skill-eval-nb"`. JupyterLab's launcher
    asks for this; without a folder it is the current one.

    Raises:
        OSError: a copy cannot be written there.
    """
    here = Path() if folder is None else folder
    for place in (here, here / "notebooks", here / COPY / "notebooks"):
        if (place / START).is_file():
            return place / START
    copy_notebooks(here / COPY)
    return here / COPY / "notebooks" / START


def copy_notebooks(folder: Path) -> list[Path]:
    """Copy the notebooks and their data into `folder`; what is there already stays as it is.

    Returns the notebooks in the copy.
    """
    for name in ("notebooks", "data"):
        for source in sorted((share() / name).rglob("*")):
            target = folder / name / source.relative_to(share() / name)
            hidden = any(part.startswith((".", "__")) for part in target.relative_to(folder).parts)
            if source.is_file() and not hidden and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    shutil.copy2(source, target)
                except OSError:  # half of it would be taken for somebody's own the next time
                    target.unlink(missing_ok=True)
                    raise
    return sorted((folder / "notebooks").glob("*.ipynb"))


def fill_in(
    folder: Path, paths: Mapping[str, str], names: str = "*.ipynb"
) -> tuple[list[Path], list[Path]]:
    """Let the notebooks of a copy look at other paths.

    A notebook names what it looks at in a line of its first cells, `PATH = …` or `SKILL = …`.
    That line is set if nothing else of the notebook was edited; having been run is no edit.

    Args:
        folder: where `copy_notebooks` has put them.
        paths: by the name that such a line assigns to, `PATH` or `SKILL`, the path.
        names: which notebooks, as a pattern.

    Returns:
        the notebooks that look at the paths now, and those that were edited and are kept.
    """
    filled, kept = [], []
    for source in sorted((share() / "notebooks").glob(names)):
        original = _read_notebook(source)
        asks = {name for cell in _code(original) for name in _FILLED_IN.findall(_source(cell))}
        if asks.isdisjoint(paths):
            continue
        copy = folder / "notebooks" / source.name
        notebook = _read_unedited(copy, original)
        if notebook is None:
            kept.append(copy)
            continue
        for cell in _code(notebook):
            _fill_paths(cell, paths)
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        copy.write_text(f"{text}\n", encoding="utf-8", newline="\n")
        filled.append(copy)
    return filled, kept


def _read_unedited(copy: Path, original: dict[str, Any]) -> dict[str, Any] | None:
    """What a copy holds; None if it is somebody's own by now."""
    try:
        notebook = _read_notebook(copy)
        return notebook if _edited_parts(notebook) == _edited_parts(original) else None
    except (OSError, ValueError, KeyError, TypeError):  # no notebook any more
        return None


def _read_notebook(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


def _code(notebook: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return (cell for cell in notebook["cells"] if cell["cell_type"] == "code")


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _edited_parts(notebook: dict[str, Any]) -> list[tuple[str, str]]:
    """What somebody would have edited: the cells, but for outputs and what they look at."""
    return [(cell["cell_type"], _FILLED_IN.sub(r"\1", _source(cell))) for cell in notebook["cells"]]


def _fill_paths(cell: dict[str, Any], paths: Mapping[str, str]) -> None:
    def fill_line(found: re.Match[str]) -> str:
        name = found[1]
        return f"{name} = {paths[name]!r}" if name in paths else found[0]

    source = _FILLED_IN.sub(fill_line, _source(cell))
    cell["source"] = source.splitlines(keepends=True)
