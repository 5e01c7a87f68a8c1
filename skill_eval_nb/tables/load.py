"""`load`: a path, or several, to a `Workspace`."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterable

from skill_eval_nb.workspace import FilePlace, Layout, Place, Problems, crawl, lay_out

from .assemble import assemble
from .frames import Backend
from .workspace import Workspace

PathLike = str | os.PathLike[str]

LOOKED_FOR = (
    "runs (folders with grading.json, structural.json, timing.json or outputs/) and "
    "benchmark.json, evals.json, eval_metadata.json, feedback.json, history.json, "
    "comparison.json, analysis.json and trigger sets"
)


class NothingToLoad(ValueError):
    """There is no evaluation document below the path; the message says what is there instead."""


def load(path: PathLike | Iterable[PathLike], backend: Backend = "polars") -> Workspace:
    """Load evaluation workspaces, whoever's tool wrote them.

    Args:
        path: a folder (a workspace, an iteration, or any folder above them), a
            benchmark.json or evals.json, a list of these, or a glob.
        backend: `"polars"` or `"pandas"`, the kind of every table.

    Returns:
        A `Workspace`. Its folders are listed now, its files are read when a table is
        asked for. Whatever could not be used as it was is a row of `.problems`.

    Raises:
        FileNotFoundError: where the path does not exist (or a glob matches nothing).
        NothingToLoad: where there is no evaluation document.
        ValueError: for an unknown backend.
    """
    if backend not in ("polars", "pandas"):
        raise ValueError(f"unknown backend {backend!r}: there are 'polars' and 'pandas'")
    roots = _roots(path)
    base = _base(roots)
    problems = Problems()
    layout = Layout()
    for root in roots:
        _lay_out(root, layout, problems)
    if not layout.runs and not layout.files:
        raise NothingToLoad(_nothing(roots, problems))
    met = tuple(problems)
    return Workspace(lambda texts: assemble(layout, base, texts, Problems(met)), base, backend)


def _roots(path: PathLike | Iterable[PathLike]) -> list[str]:
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    roots: list[str] = []
    for one in given:
        text = os.path.expanduser(os.fspath(one))
        found = [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True))
        if not found:
            raise FileNotFoundError(_missing(text))
        roots += [root.rstrip("/") or "/" for root in found]
    if not roots:
        raise NothingToLoad("an empty list of paths was given")
    return list(dict.fromkeys(roots))


def _base(roots: list[str]) -> str:
    """The folder below which paths are told."""
    if len(roots) > 1:
        return os.path.commonpath([os.path.abspath(root) for root in roots])
    root = roots[0]
    return root if os.path.isdir(root) else os.path.dirname(root) or "."


def _lay_out(root: str, layout: Layout, problems: Problems) -> None:
    if os.path.isdir(root):
        found = lay_out(crawl(root, problems))
        layout.runs += found.runs
        layout.files += found.files
    else:
        folder = os.path.dirname(root) or "."
        layout.files.append(FilePlace(f"{folder}/{os.path.basename(root)}", Place(folder)))


def _missing(path: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))
    while not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    near = difflib.get_close_matches(name, os.listdir(folder), n=1)
    hint = f" Did you mean {os.path.join(folder, near[0])}?" if near else ""
    return f"{path} does not exist.{hint}"


def _nothing(roots: list[str], problems: Problems) -> str:
    if problems:
        return "; ".join(f"{one.path}: {one.message}" for one in problems)
    there = []
    for root in roots:
        names = sorted(os.listdir(root)) if os.path.isdir(root) else [os.path.basename(root)]
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        there.append(f"{root} holds {shown or 'nothing'}")
    return f"There is nothing to load. Looked for {LOOKED_FOR}; {'; '.join(there)}."
