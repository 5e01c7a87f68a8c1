"""Writing a report: benchmark.json, benchmark.md and report.html, and the tables as files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.documents import to_json
from skill_eval_nb.documents.dialects import form_of
from skill_eval_nb.tables import TABLES
from skill_eval_nb.text import did_you_mean
from skill_eval_nb.workspace import write_atomic

from .dialects import SPANNING, OneIteration, benchmark_as
from .document import document
from .measured import NO_ITERATION, Slice, folders
from .page import Reported, latest, measure_iterations, whole
from .page import render_html as html_of
from .page import render_markdown as markdown_of
from .verdicts import answers, full_name

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.stats.verdict import Answer
    from skill_eval_nb.tables import Workspace


class Written(list[Path]):
    """The files that were written.

    Attributes:
        losses: the data that the files cannot hold.
        answers: for each skill's last iteration with a comparison, its name and its answer.
    """

    def __init__(
        self,
        paths: Iterable[Path] = (),
        losses: Iterable[str] = (),
        answers: Iterable[tuple[str, Answer]] = (),
    ) -> None:
        super().__init__(paths)
        self.losses = list(dict.fromkeys(losses))
        self.answers = list(answers)


def write_benchmark(
    ws: Workspace,
    folder: str | PathLike[str],
    dialect: str = "skill-creator",
    timestamp: str | None = None,
) -> Written:
    """Write benchmark.json and benchmark.md; the same workspace gives the same bytes.

    It writes one pair of files per iteration, or per skill of each workspace if the dialect's
    benchmark spans iterations. A single pair goes into `folder` itself, several into sub-folders
    `workspace/iteration`. If there is nothing to report, nothing is written.

    Args:
        ws: what `load` returned.
        folder: where to write; created if missing.
        dialect: the form of benchmark.json.
        timestamp: as for `benchmark`.

    Returns:
        the paths, and in `losses` what the dialect cannot hold.

    Raises:
        NoSuchDocument: the dialect does not exist or has no benchmark (a ValueError).
        OSError: a file cannot be written.
    """
    form_of("benchmark", dialect)
    return _write_benchmarks(ws, measure_iterations(ws), Path(folder), dialect, timestamp)


def write_report(
    ws: Workspace,
    folder: str | PathLike[str],
    dialect: str = "skill-creator",
    timestamp: str | None = None,
    progress: Callable[[str], object] | None = None,
) -> Written:
    """Write what `write_benchmark` writes, and report.html for all of it in `folder` itself.

    Arguments, result and errors are those of `write_benchmark`; `progress` is called with a
    description of each step.
    """
    form_of("benchmark", dialect)
    every = measure_iterations(ws, progress)
    if progress is not None:
        progress("drawing report.html")
    written = _write_benchmarks(ws, every, Path(folder), dialect, timestamp)
    page = write_atomic(Path(folder, "report.html"), html_of(whole(ws, every)))
    names = "" if len(every) == 1 else "{}: "
    said = [
        (names.format(full_name(measured)), answer)
        for measured in latest(every)
        for answer in answers(measured)
    ]
    return Written([*written, page], written.losses, said)


def write_tables(
    ws: Workspace,
    folder: str | PathLike[str],
    format: str = "parquet",  # noqa: A002 - what the shell's option is called
    names: Sequence[str] | None = None,
    *,
    quote_formulas: bool = False,
) -> list[Path]:
    """Write tables as files, `runs.parquet` and so on.

    CSV has no lists: their texts are joined by `; `. There, an empty field is null and an empty
    text is `""`. Texts are written unchanged, and a spreadsheet runs a cell that begins with
    `=`, `+`, `-`, `@`, a tab or a carriage return as a formula, whoever wrote it.
    `quote_formulas` puts a `'` before each, so that the cell stays text.

    Args:
        ws: what `load` returned.
        folder: where to write; created if missing.
        format: `parquet`, `csv` or `json` (a list of objects).
        names: which tables; all if not given.
        quote_formulas: whether texts of a CSV that a spreadsheet would run get a `'` before
            them; the texts then differ from the files. The other formats have no formulas.

    Raises:
        ValueError: if the format is another; the message names the nearest.
        KeyError: if the name is not a table; the message names the nearest.
        OSError: a file cannot be written.
    """
    if format not in FORMATS:
        hint = did_you_mean(format, FORMATS)
        raise ValueError(
            f"Tables are not written as `{format}`.{hint} Formats: {', '.join(FORMATS)}."
        )
    frames = {name: ws.polars(name) for name in (TABLES if names is None else names)}
    if format == "csv" and quote_formulas:
        frames = {name: _quote_formulas(frame) for name, frame in frames.items()}
    return [
        write_atomic(Path(folder, f"{name}.{format}"), FORMATS[format](frame))
        for name, frame in frames.items()
    ]


def _write_benchmarks(
    ws: Workspace, every: Sequence[Reported], folder: Path, dialect: str, timestamp: str | None
) -> Written:
    written = Written()
    groups = _group_by_file(every, spans_iterations=dialect in SPANNING)
    for below, group in zip(folders(list(groups)), groups.values(), strict=True):
        ones = [
            OneIteration(document(one.measured, timestamp), one.measured, number)
            for one, number in group
        ]
        value, losses = benchmark_as(dialect, ones)
        files = {
            "benchmark.json": to_json(value),
            "benchmark.md": markdown_of(whole(ws, [one for one, _ in group])),
        }
        written += [
            write_atomic(folder / below / name, data, root=folder) for name, data in files.items()
        ]
        written.losses += losses
    return Written(written, written.losses)


def _group_by_file(
    every: Sequence[Reported], *, spans_iterations: bool
) -> dict[Slice, list[tuple[Reported, int]]]:
    """What goes into one file: iterations, each with its number in its workspace and skill."""
    numbers: dict[Slice, int] = {}
    groups: dict[Slice, list[tuple[Reported, int]]] = {}
    for iteration in every:
        place = iteration.measured.place
        skill = replace(place, iteration=NO_ITERATION)
        numbers[skill] = numbers.get(skill, 0) + 1
        file = skill if spans_iterations else place
        groups.setdefault(file, []).append((iteration, numbers[skill]))
    return groups


def _parquet_bytes(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def _join_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """The same with each list of texts as one text."""
    import polars as pl
    import polars.selectors as cs

    return frame.with_columns(cs.by_dtype(pl.List(pl.String)).list.join("; "))


def _quote_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The same with a `'` before each text that a spreadsheet would run."""
    import polars.selectors as cs

    return _join_lists(frame).with_columns(cs.string().str.replace(r"\A[=+\-@\t\r]", "'${0}"))


FORMATS: dict[str, Callable[[pl.DataFrame], bytes | str]] = {
    "parquet": _parquet_bytes,
    "csv": lambda frame: _join_lists(frame).write_csv(),
    "json": lambda frame: frame.write_json() + "\n",
}
"""What tables can be written as."""
