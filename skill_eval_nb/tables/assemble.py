"""From what lies on disk to the tables: every document read once, every run counted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from skill_eval_nb.workspace import (
    NO_ITERATION,
    UNSTATED,
    Catalogue,
    Files,
    Layout,
    Problems,
    catalogued,
    collector_paused,
    read_files,
    said_once,
)

from .columns import TABLES
from .counted import Copies, Counted, counted
from .document_rows import Home, Sums, add_document, add_stated, add_suites
from .frames import Rows, Side, to_polars
from .run_rows import Texts, text_columns

if TYPE_CHECKING:
    import polars as pl


_UNGRADED = {
    "executed": "was run but not graded",
    "errored": "ended in an error and was not graded",
    "ungraded": "has nothing that could be used as a grading",
}


class Gaps:
    """Takes note of the runs as they are met, of what may be missing among them."""

    def __init__(self) -> None:
        self._ungraded: list[tuple[str, str, str | None]] = []
        self._first: dict[Side, str] = {}

    def add(self, side: Side, status: str, path: str, reason: str | None = None) -> None:
        """Note a run: what became of it and why, and of which side it is."""
        if status in _UNGRADED:
            self._ungraded.append((status, path, reason))
        self._first.setdefault(side, path)

    def report(self, problems: Problems) -> None:
        """Report runs without grading, and evals that lack a configuration of their iteration."""
        for status, path, reason in self._ungraded:
            why = f" ({reason})" if reason else ""
            message = f"{_UNGRADED[status]}{why}; it enters no rate"
            problems.add("warning", f"{status}-run", path, message)
        for (_, _, iteration), evals in self._evals().items():
            every = set[str]().union(*(sides for _, _, sides in evals.values()))
            for eval_id, (name, path, sides) in evals.items():
                for side in sorted(every - sides):
                    problems.add(
                        "warning",
                        "missing-side",
                        path,
                        f"eval {eval_id} ({name}) has no run of {side} in {iteration}: "
                        "it cannot be compared",
                    )

    def _evals(self) -> dict[tuple[str, str, str], dict[str, tuple[str, str, set[str]]]]:
        """By iteration, the evals by their ids: the name, the first run, the configurations."""
        found: dict[tuple[str, str, str], dict[str, tuple[str, str, set[str]]]] = {}
        for (workspace, skill, iteration, eval_id, name, side), path in self._first.items():
            if side != UNSTATED:
                evals = found.setdefault((workspace, skill, iteration), {})
                evals.setdefault(eval_id, (name, path, set()))[2].add(side)
        return found


CHUNK = 256
"""The texts of so many runs become columns at once: more would leave the processor's cache."""


def assemble(
    layout: Layout, base: str, texts: bool, problems: Problems, files: Files | None = None
) -> dict[str, pl.DataFrame]:
    """The tables of what was laid out: `runs` alone, or with `texts` every table.

    `base` is the folder below which workspaces and paths are told; `problems` are those
    that the laying out met, and take up those of the reading; `files` are read unless given.
    """
    with collector_paused():
        files = files or read_files(layout.files, problems)
        catalogue = catalogued(layout, files, base, problems)
        rows, gaps, copies, sums = Rows(), Gaps(), Copies(), Sums()
        runs = counted(layout, files, catalogue, problems)
        if texts and (catalogue.benchmarks or len(catalogue.names) > 1):
            runs = _noted(runs, copies, sums)
        _add_runs(runs, catalogue, texts, rows, gaps)
        if not texts:
            return rows.frames(["runs"])
        add_suites(catalogue.definitions, catalogue.seen, catalogue.names, rows)
        for benchmark in catalogue.benchmarks:
            sums.as_means(benchmark, problems)
            add_stated(
                catalogue.names[benchmark.place.workspace],
                benchmark,
                catalogue.below(benchmark.path),
                rows,
            )
        sides = rows.sides()
        gaps.report(problems)
        copies.report(problems)
        for kind, file, document in files.others:
            if kind == "triggers" and copies.is_copy(document, file.path, problems):
                continue
            folder = file.place.workspace
            home = Home(folder, *catalogue.names[folder], file.place.iteration, sides)
            path = catalogue.below(file.path)
            add_document(kind, path, home, document, catalogue.index, rows, problems)
        _add_problems(problems, catalogue, rows)
        return rows.frames(list(TABLES))


def _add_runs(
    runs: Iterable[Counted], catalogue: Catalogue, texts: bool, rows: Rows, gaps: Gaps
) -> None:
    """Add the rows of `runs`, and with `texts` those of all tables that hold texts of runs."""
    chunk: list[Texts] = []
    for run in runs:
        key, path = rows.key(run.side, run.number), run.documents.path
        timing, incomplete = run.documents.timing, run.documents.incomplete
        reason = incomplete or (timing.reason if timing and run.figures[0] == "errored" else None)
        gaps.add(run.side, run.figures[0], path, reason)
        rows.add("runs", (key, *run.figures[:-1], catalogue.below(path)))
        if texts:
            chunk.append(Texts(key, run.documents, run.weights))
            if len(chunk) == CHUNK:
                _add_texts(chunk, rows)
    _add_texts(chunk, rows)


def _noted(runs: Iterable[Counted], copies: Copies, sums: Sums) -> Iterator[Counted]:
    """The same runs, of which note is taken."""
    for run in runs:
        copies.add(run.folder, (run.side[2:], run.number, run.figures[:-1]))
        sums.add(run.folder, run)
        yield run


def _add_texts(chunk: list[Texts], rows: Rows) -> None:
    for table, values in text_columns(chunk).items():
        rows.add_columns(table, values)
    chunk.clear()


def _add_problems(problems: Problems, catalogue: Catalogue, rows: Rows) -> None:
    folders = sorted(catalogue.names, key=len, reverse=True)
    homes: dict[str, str | None] = {}
    for path in dict.fromkeys(problem.path for problem in problems):
        home = next((f for f in folders if path == f or path.startswith(f"{f}/")), None)
        homes[path] = catalogue.names[home][0] if home else None
    at_home = (replace(problem, workspace=homes[problem.path]) for problem in problems)
    rows["problems"].extend(
        (
            problem.severity,
            problem.code,
            catalogue.below(problem.path),
            problem.where,
            problem.message.replace(f"{catalogue.base}/", ""),
            problem.workspace,
        )
        for problem in said_once(at_home, catalogue.base)
    )


EFFICIENCY_OF_ONE = "efficiency-of-one"


def single_layers(runs: pl.DataFrame, evals: pl.DataFrame) -> pl.DataFrame:
    """Rows of `problems`: one an iteration in which runs have one layer of two.

    Two layers are expected where an eval of the workspace has both checks and rubric
    dimensions, or a run of it has verdicts and scores.
    """
    import polars as pl

    checks = pl.coalesce("structural_pass_rate", "pass_rate").is_not_null()
    rubric = pl.col("rubric_normalized").is_not_null()
    if not runs.select((checks != rubric).any()).item():
        return to_polars(TABLES["problems"], {})
    in_suite = evals.filter(
        pl.col("n_dimensions") > 0, pl.col("n_expectations") + pl.col("n_structural") > 0
    )
    layered = {*in_suite["workspace"], *runs.filter(checks & rubric)["workspace"].unique()}
    found = (
        runs.filter(pl.col("workspace").is_in(list(layered)))
        .group_by("workspace", "iteration", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            (checks & ~rubric).sum().alias("unjudged"),
            (checks & ~rubric & (pl.col("status") == "gated")).sum().alias("gated"),
            (rubric & ~checks).sum().alias("unchecked"),
        )
        .filter(pl.col("unjudged") + pl.col("unchecked") > 0)
    )
    messages = [_message(*row) for row in found.drop("workspace").iter_rows()]
    return to_polars(
        TABLES["problems"],
        {
            "severity": ["info"] * found.height,
            "code": [EFFICIENCY_OF_ONE] * found.height,
            "path": found["workspace"].to_list(),
            "message": messages,
            "workspace": found["workspace"].to_list(),
        },
    )


def _message(iteration: str, n: int, unjudged: int, gated: int, unchecked: int) -> str:
    of = "" if iteration == NO_ITERATION else f" of {iteration}"
    parts = [
        f"no rubric scores in {unjudged} of {n} runs{of}" if unjudged else "",
        f"no verdicts in {unchecked} of {n} runs{of}" if unchecked else "",
    ]
    missing = " and ".join(part for part in parts if part) + (f" (gated: {gated})" if gated else "")
    return f"{missing}: there overall_efficiency is that of the other layer alone"
