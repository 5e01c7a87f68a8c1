"""From what a user gives as a path to what lies there."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from skill_eval_nb.documents.dialects import kind_of
from skill_eval_nb.documents.tools import OWN_LAYOUT, tool_of
from skill_eval_nb.documents.tools.own_layout import files_of

from .folders import Folder, crawl, place_of, place_of_file, roles_of
from .layout import READ, RESULTS, FilePlace, Layout, RunPlace, lay_out
from .problems import Problems
from .proposal import propose
from .read import PROMISING, collector_paused, load_any

PathLike = str | os.PathLike[str]
Sides = str | Mapping[str, str] | None
"""One configuration for all files, or names or patterns of files and folders to configurations."""

LOOKED_FOR = (
    "runs (folders with grading.json, structural.json, timing.json or outputs/), for documents "
    "such as benchmark.json, evals.json or feedback.json, and for results of other tools (for a "
    "table of your own there is `from_table`, for files of your own `from_files`)"
)


class NothingToLoad(ValueError):
    """No evaluation document is below the path; the message says what is there instead."""


def find(path: PathLike | Iterable[PathLike], *, configuration: Sides = None) -> Layout:
    """Find the runs and the documents below a path, a list of paths, or a glob.

    Args:
        path: what a user gives.
        configuration: what the results of tools are of that state none, see `load`.

    Raises:
        FileNotFoundError: if a path does not exist, or a glob matches nothing.
        NothingToLoad: if there is no evaluation document.
    """
    roots = roots_of(path)
    layout = Layout(base=_base(roots))
    problems = layout.problems
    for root in roots:
        if os.path.isdir(root):
            with collector_paused():
                folders = crawl(root, problems)
                lay_out(folders, layout)
                for folder in folders:
                    if OWN_LAYOUT in folder.files:
                        _use_own_layout(folder, layout)
                for folder in folders:
                    folder.folders = {}  # parent and child hold each other: let them go
        else:
            _add_file(root, layout)
    if not layout.runs and not any(map(_is_document, layout.files)):
        raise NothingToLoad(_say_nothing_to_load(roots, problems))
    if configuration:
        layout.files = list(_with_sides(layout.files, configuration, problems))
    return layout


def _use_own_layout(folder: Folder, layout: Layout) -> None:
    """Put a layout that is told in the place of the files that it is about."""
    path = f"{folder.path}/{OWN_LAYOUT}"
    about = {path, *files_of(path)}
    layout.files = [file for file in layout.files if file.path not in about]
    layout.runs = [
        run
        for run in layout.runs
        if about.isdisjoint((run.path, run.grading, *(f"{run.path}/{name}" for name in run.files)))
    ]
    layout.files.append(FilePlace(path, place_of_file(folder)))


def _with_sides(
    files: list[FilePlace], configuration: str | Mapping[str, str], problems: Problems
) -> Iterator[FilePlace]:
    """The files with the configuration that a user says that they are of."""
    named = {"*": configuration} if isinstance(configuration, str) else configuration
    unused = dict(named)
    for file in files:
        path = os.path.abspath(file.path)
        for name, side in named.items():
            if any(fnmatchcase(path, pattern) for pattern in (name, f"*/{name}", f"*/{name}/*")):
                unused.pop(name, None)
                file = replace(file, configuration=side)  # noqa: PLW2901 -- the first that fits
                break
        yield file
    for name in unused:
        message = f"`configuration` names {name!r}, but no file or folder is called so"
        problems.add("warning", "no-such-file", name, message)


def roots_of(path: PathLike | Iterable[PathLike]) -> list[str]:
    """The paths that are meant, without those below another one."""
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    roots: list[str] = []
    for location in given:
        text = os.path.expanduser(os.fspath(location))
        found = [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True))
        if not found:
            raise FileNotFoundError(_say_missing_path(text))
        roots += [root.rstrip("/") or "/" for root in found]
    if not roots:
        raise NothingToLoad("an empty list of paths was given")
    first: dict[str, str] = {}
    for root in roots:
        first.setdefault(os.path.realpath(root), root)
    return [
        root
        for real, root in first.items()
        if not any(real.startswith(f"{other}/") for other in first if other != real)
    ]


def _base(roots: list[str]) -> str:
    if len(roots) > 1:
        same_kind = len(set(map(os.path.isabs, roots))) == 1
        return os.path.commonpath(roots) if same_kind else os.sep
    root = roots[0]
    return root if os.path.isdir(root) else os.path.dirname(root) or "."


def _add_file(path: str, layout: Layout) -> None:
    """A single file: a run's result stands for its run, any other document for itself."""
    raw = load_any(path, Problems()) if path.lower().endswith(READ) else None
    if not _is_known(os.path.basename(path), raw):
        return
    home, name = os.path.dirname(path) or ".", os.path.basename(path)
    folder = Folder(home, os.path.basename(os.path.abspath(home)), None)
    folder.files = (name,)
    if name in RESULTS:
        layout.runs.append(RunPlace(place_of(folder, roles_of(folder)), 1, home, folder.files))
    else:
        layout.files.append(FilePlace(f"{home}/{name}", place_of_file(folder)))


def _is_document(file: FilePlace) -> bool:
    """Whether a file is one of the documents, or a tool's; a broken one by its name."""
    raw = load_any(file.path, Problems())
    name = os.path.basename(file.path)
    if raw is None:
        return name == OWN_LAYOUT or (bool(PROMISING.search(name)) and name.endswith(".json"))
    return _is_known(name, raw)


def _is_known(name: str, raw: object) -> bool:
    return bool(tool_of(raw) or kind_of(name, raw) or (raw and tool_of(raw, others=True)))


def _say_missing_path(path: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))
    while not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    near = difflib.get_close_matches(name, os.listdir(folder), n=1)
    hint = f" Did you mean {os.path.join(folder, near[0])}?" if near else ""
    return f"{path} does not exist.{hint}"


def _say_nothing_to_load(roots: list[str], problems: Problems) -> str:
    if problems:
        return "; ".join(f"{problem.path}: {problem.message}" for problem in problems)
    there, files = [], []
    for root in roots:
        names = sorted(os.listdir(root)) if os.path.isdir(root) else [os.path.basename(root)]
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        there.append(f"{root} holds {shown or 'nothing'}")
        folders = crawl(root, Problems()) if os.path.isdir(root) else ()
        below = [f"{folder.path}/{name}" for folder in folders for name in folder.files]
        files += below if folders else [root]
    proposal, _ = propose(_base(roots), sorted(files, key=lambda path: not PROMISING.search(path)))
    likely = f" {proposal}." if proposal else ""
    return f"There is nothing to load. Searched for {LOOKED_FOR}; {'; '.join(there)}.{likely}"
