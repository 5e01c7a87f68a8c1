"""From what lies on disk to the tables: every document read once, every run counted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from skill_eval_nb.workspace import (
    Catalogue,
    Layout,
    Problems,
    catalogue,
    collector_paused,
    read_files,
    said_once,
)

from .columns import TABLES
from .counted import Counted, counted
from .gaps import Gaps
from .once import Copies
from .remarks import Home, add_remark
from .rows import Rows
from .stated import Sums, add_stated
from .suites import add_suites
from .texts import Texts, text_columns

if TYPE_CHECKING:
    import polars as pl

CHUNK = 256
"""The texts of so many runs become columns at once: more would leave the processor's cache."""


def assemble(layout: Layout, base: str, texts: bool, problems: Problems) -> dict[str, pl.DataFrame]:
    """The tables of what was laid out: `runs` alone, or with `texts` every table.

    `base` is the folder below which workspaces and paths are told; `problems` are those
    that the laying out met, and take up those of the reading.
    """
    with collector_paused():
        files = read_files(layout.files, problems)
        who = catalogue(layout, files, base, problems)
        rows, gaps, copies, sums = Rows(), Gaps(), Copies(), Sums()
        runs = counted(layout, files, who, problems)
        if texts and (who.benchmarks or len(who.names) > 1):
            runs = _noted(runs, copies, sums)
        _add_runs(runs, who, texts, rows, gaps)
        if not texts:
            return rows.frames(["runs"])
        add_suites(who.definitions, who.seen, who.names, rows)
        for one in who.benchmarks:
            sums.as_means(one, problems)
            add_stated(who.names[one.place.workspace], one, who.below(one.path), rows)
        sides = rows.sides()
        gaps.report(problems)
        copies.report(problems)
        for kind, file, document in files.others:
            if kind == "triggers" and copies.is_copy(document, file.path, problems):
                continue
            folder = file.place.workspace
            home = Home(folder, *who.names[folder], file.place.iteration, sides)
            path = who.below(file.path)
            add_remark(kind, path, home, document, who.index, rows, problems)
        _add_problems(problems, who, rows)
        return rows.frames(list(TABLES))


def _add_runs(runs: Iterable[Counted], who: Catalogue, texts: bool, rows: Rows, gaps: Gaps) -> None:
    """Add the rows of `runs`, and with `texts` those of all tables that hold texts of runs."""
    chunk: list[Texts] = []
    for one in runs:
        key, path = rows.key(one.side, one.number), one.documents.path
        timing = one.documents.timing
        gaps.add(one.side, one.figures[0], path, timing.reason if timing else None)
        rows.add("runs", (key, *one.figures[:-1], who.below(path)))
        if texts:
            chunk.append(Texts(key, one.documents, one.weights))
            if len(chunk) == CHUNK:
                _add_texts(chunk, rows)
    _add_texts(chunk, rows)


def _noted(runs: Iterable[Counted], copies: Copies, sums: Sums) -> Iterator[Counted]:
    """The same runs, of which note is taken."""
    for one in runs:
        copies.add(one.folder, (one.side[2:], one.number, one.figures[:-1]))
        sums.add(one.folder, one)
        yield one


def _add_texts(chunk: list[Texts], rows: Rows) -> None:
    for table, values in text_columns(chunk).items():
        rows.add_columns(table, values)
    chunk.clear()


def _add_problems(problems: Problems, who: Catalogue, rows: Rows) -> None:
    folders = sorted(who.names, key=len, reverse=True)
    homes: dict[str, str | None] = {}
    for path in dict.fromkeys(one.path for one in problems):
        home = next((f for f in folders if path == f or path.startswith(f"{f}/")), None)
        homes[path] = who.names[home][0] if home else None
    at_home = (replace(one, workspace=homes[one.path]) for one in problems)
    rows["problems"].extend(
        (
            one.severity,
            one.code,
            who.below(one.path),
            one.where,
            one.message.replace(f"{who.base}/", ""),
            one.workspace,
        )
        for one in said_once(at_home, who.base)
    )
