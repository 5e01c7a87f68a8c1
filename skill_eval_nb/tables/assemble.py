"""From what lies on disk to the tables: every document read once, every run counted once."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from skill_eval_nb.workspace import (
    Catalogue,
    EvalKey,
    Files,
    Layout,
    Place,
    Problems,
    RunDocuments,
    RunId,
    catalogue,
    compare,
    complete,
    folder_of,
    read_files,
    read_run,
    stated,
    stated_runs,
)

from .columns import TABLES
from .gaps import report_gaps
from .once import Met
from .remarks import Home, add_remark
from .rows import Rows, RunKey
from .runs import add_texts, figures
from .stated import add_stated
from .suites import add_suites

if TYPE_CHECKING:
    import polars as pl


def assemble(layout: Layout, base: str, texts: bool, problems: Problems) -> dict[str, pl.DataFrame]:
    """The tables of what was laid out: `runs` alone, or with `texts` every table.

    `base` is the folder below which workspaces and paths are told; `problems` are those
    that the laying out met, and take up those of the reading.
    """
    with _collector_paused():
        files = read_files(layout.files, problems)
        who = catalogue(layout, files, base, problems)
        rows = Rows()
        _add_runs(layout, files, who, texts, rows, problems)
        if not texts:
            return rows.frames(["runs"])
        add_suites(who.definitions, who.seen, who.names, rows)
        for one in who.benchmarks:
            add_stated(who.names[one.place.workspace], one, who.below(one.path), rows)
        configurations = frozenset(run.place.configuration for run in layout.runs)
        report_gaps(rows, who, problems)
        for kind, file, document in files.others:
            folder = file.place.workspace
            home = Home(folder, *who.names[folder], file.place.iteration, configurations)
            path = who.below(file.path)
            add_remark(kind, path, home, document, who.index, rows, problems)
        _add_problems(problems, who, rows)
        return rows.frames(list(TABLES))


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Millions of short-lived values are made here, and none of them in cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _add_runs(
    layout: Layout, files: Files, who: Catalogue, texts: bool, rows: Rows, problems: Problems
) -> None:
    """Add the runs on disk, completed by what benchmarks state of them, then those only stated."""
    on_disk = {_run_id(run.place, run.number, who) for run in layout.runs}
    told = stated_runs(who.benchmarks, who.index, on_disk, problems)
    met = Met()
    for position, run in enumerate(layout.runs):
        for place, number, documents in read_run(run, problems):
            run_id = _run_id(place, number, who)
            _tell_models(documents, place, files)
            if (stated_of_it := told.pop(run_id, None)) is not None:
                complete(documents, stated_of_it[1], problems)
            weights = who.weights.get((run_id.workspace, run_id.eval_id), {})
            row = figures(documents, weights, problems)
            if stated_of_it is not None:
                compare(run_id, row[1], stated_of_it[1], documents.path, problems)
            run_id = met.number(run_id, row, documents, problems)
            if run_id is not None:
                _add_run(run_id, who.eval_of(place), row, documents, weights, who, texts, rows)
        if position % 256 == 0:
            rows.pack()
    for run_id, (key, documents) in told.items():
        weights = who.weights.get((run_id.workspace, run_id.eval_id), {})
        row = figures(documents, weights, problems)
        if not met.elsewhere(run_id, row, documents, problems):
            _add_run(run_id, key, row, documents, weights, who, texts, rows)


def _run_id(place: Place, number: int, who: Catalogue) -> RunId:
    return RunId(
        place.workspace, place.iteration, who.eval_of(place).id, place.configuration, number
    )


def _tell_models(documents: RunDocuments, place: Place, files: Files) -> None:
    described = files.metadata.get(folder_of(place))
    if described is not None:
        documents.executor_model = stated(described.model)


def _add_run(
    run_id: RunId,
    key: EvalKey,
    row: tuple[Any, ...],
    documents: RunDocuments,
    weights: Mapping[str, float],
    who: Catalogue,
    texts: bool,
    rows: Rows,
) -> None:
    number = rows.key(
        RunKey(
            *who.names[run_id.workspace],
            run_id.iteration,
            *key,
            run_id.configuration,
            run_id.number,
        )
    )
    rows["runs"].append((number, *row[:-1], who.below(documents.path)))
    if texts:
        add_texts(number, documents, weights, rows)


def _add_problems(problems: Problems, who: Catalogue, rows: Rows) -> None:
    folders = sorted(who.names, key=len, reverse=True)
    for one in dict.fromkeys(problems):
        home = next((f for f in folders if one.path == f or one.path.startswith(f"{f}/")), None)
        rows["problems"].append(
            (
                one.severity,
                one.code,
                who.below(one.path),
                one.where,
                one.message.replace(f"{who.base}/", ""),
                who.names[home][0] if home else None,
            )
        )
