"""From what lies on disk to the tables: every document read once, every run counted once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

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
    collector_paused,
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
from .runs import figures
from .stated import add_stated
from .suites import add_suites
from .texts import Texts, text_columns

if TYPE_CHECKING:
    import polars as pl

CHUNK = 256
"""The texts of so many runs become rows at once: more would leave the processor's cache."""


def assemble(layout: Layout, base: str, texts: bool, problems: Problems) -> dict[str, pl.DataFrame]:
    """The tables of what was laid out: `runs` alone, or with `texts` every table.

    `base` is the folder below which workspaces and paths are told; `problems` are those
    that the laying out met, and take up those of the reading.
    """
    with collector_paused():
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


def _add_runs(
    layout: Layout, files: Files, who: Catalogue, texts: bool, rows: Rows, problems: Problems
) -> None:
    """Add the runs on disk, completed by what benchmarks state of them, then those only stated."""
    benchmarked = bool(who.benchmarks)
    sides: dict[Place, Side] = {}
    on_disk = {
        _side(run.place, sides, files, who).run_id(run.number) for run in layout.runs if benchmarked
    }
    told = stated_runs(who.benchmarks, who.index, on_disk, problems)
    met = Met(benchmarked)
    chunk: list[Texts] = []
    for run in layout.runs:
        for place, number, documents in read_run(run, problems):
            side = _side(place, sides, files, who)
            run_id = side.run_id(number)
            documents.executor_model = side.model
            stated_of_it = told.pop(run_id, None)
            if stated_of_it is not None:
                complete(documents, stated_of_it[1], problems)
            row = figures(documents, side.weights, problems)
            if stated_of_it is not None:
                compare(run_id, row[1], stated_of_it[1], documents.path, problems)
            run_id = met.number(run_id, row, documents, problems)
            if run_id is not None:
                key = _add_run(run_id, side, row, documents, who, rows)
                if texts:
                    chunk.append(Texts(key, documents, side.weights))
        if len(chunk) >= CHUNK:
            _add_texts(chunk, rows)
    for run_id, (key, documents) in told.items():
        side = _side_of(run_id, key, None, who)
        row = figures(documents, side.weights, problems)
        if not met.elsewhere(run_id, row, documents, problems):
            key = _add_run(run_id, side, row, documents, who, rows)
            if texts:
                chunk.append(Texts(key, documents, side.weights))
    _add_texts(chunk, rows)


def _add_texts(chunk: list[Texts], rows: Rows) -> None:
    for table, values in text_columns(chunk).items():
        rows.add_columns(table, values)
    chunk.clear()


class Side(NamedTuple):
    """What the runs of an eval and a configuration share."""

    names: tuple[str, str, str, str, str, str]
    ids: tuple[str, str, str, str]
    weights: Mapping[str, float]
    model: str | None

    def run_id(self, number: int) -> RunId:
        """The id of the run of this number."""
        return RunId(*self.ids, number)


def _side(place: Place, sides: dict[Place, Side], files: Files, who: Catalogue) -> Side:
    side = sides.get(place)
    if side is None:
        described = files.metadata.get(folder_of(place))
        run_id = RunId(
            place.workspace, place.iteration, who.eval_of(place).id, place.configuration, 0
        )
        side = _side_of(run_id, who.eval_of(place), described and described.model, who)
        sides[place] = side
    return side


def _side_of(run_id: RunId, key: EvalKey, model: str | None, who: Catalogue) -> Side:
    workspace, skill = who.names[run_id.workspace]
    return Side(
        (workspace, skill, run_id.iteration, key.id, key.name, run_id.configuration),
        run_id[:4],
        who.weights.get((run_id.workspace, run_id.eval_id), {}),
        stated(model),
    )


def _add_run(
    run_id: RunId,
    side: Side,
    row: tuple[Any, ...],
    documents: RunDocuments,
    who: Catalogue,
    rows: Rows,
) -> int:
    key = rows.key(RunKey(*side.names, run_id.number))
    rows["runs"].append((key, *row[:-1], who.below(documents.path)))
    return key


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
