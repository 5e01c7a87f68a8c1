"""The figures of one iteration, asked of `stats` once, and what a report makes of them.

A report is frozen values, which say nothing of how they look: Markdown and HTML draw them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from skill_eval_nb import stats
from skill_eval_nb.charts.metrics import Metric
from skill_eval_nb.stats.comparison import SCOPES
from skill_eval_nb.stats.overview import compare_page
from skill_eval_nb.stats.pairing import choose_baseline
from skill_eval_nb.stats.values import (
    ITERATION,
    RUBRIC,
    UNITS,
    Model,
    better,
    list_models,
    model_name,
    natural_key,
    order_iterations,
)
from skill_eval_nb.stats.verdict import Row
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.tables.document_rows import DELTA
from skill_eval_nb.text import MISSING, TIE, clip
from skill_eval_nb.workspace.folders import NO_ITERATION

if TYPE_CHECKING:
    import polars as pl
    from altair.typing import ChartType


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences; a verdict that they give reasons for, or a command that they speak of."""

    text: str
    verdict: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """Short remarks, one a line."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; its caption says what is in it.

    The first `labels` columns are texts, the others figures.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, drawn only if it can be shown; `alt` tells what it shows without it."""

    alt: str
    draw: Callable[[], ChartType]


Part = Paragraph | Bullets | Table | Picture


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, the parts below it, and the sections inside it."""

    heading: str
    parts: tuple[Part, ...] = ()
    sections: tuple[Section, ...] = ()


def section(heading: str, parts: Iterable[Part], sections: Iterable[Section] = ()) -> Section:
    """A section of whatever the parts and the sections come from."""
    return Section(heading, tuple(parts), tuple(sections))


def cut_table(
    caption: str,
    header: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    labels: int,
    most: int,
    where: str = "",
) -> Iterator[Part]:
    """The first `most` rows of a table, and how many more there are, and `where`; none without."""
    every = tuple(rows)
    if every:
        yield Table(caption, header, every[:most], labels)
    if len(every) > most:
        yield Paragraph(f"And {len(every) - most:,} more{where}.")


CLIP = 160
"""The longest text a report shows, in characters: enough to know which one is meant."""


def line(text: str, most: int = CLIP) -> str:
    r"""`text` on one line, without control characters, cut after `most` characters.

    >>> line("two\nlines\x07  here"), line("abcdef", most=4)
    ('two lines here', 'abc…')
    """
    return clip(text, most)


# ── iterations ───────────────────────────────────────────────────────────────────────────────

_LONGEST = 60
_UNSAFE = re.compile(r"[^\w.+=@() -]+")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


@dataclass(frozen=True, slots=True)
class Slice:
    """An iteration of a skill in a workspace; of one model, if it was run by several."""

    workspace: str
    skill: str
    iteration: str
    model: Model = ()

    @property
    def of_all_models(self) -> Slice:
        """The same slice, over all models."""
        return replace(self, model=())

    def select(self, ws: Workspace) -> Workspace:
        """The tables of this part alone, in polars.

        A problem belongs to it if it is of the workspace and not in another iteration's folder.
        What a benchmark states is of all models.
        """
        if self.model:
            own = self.of_all_models.select(ws).select(**dict(self.model))
            tables = {name: own.polars(name) for name in TABLES if name != "stated"}
            return Workspace.from_tables(tables, ws.path)
        tables = {name: self._rows(ws, name) for name in TABLES}
        own = Workspace.from_tables(tables | {"problems": self._problems(ws)}, ws.path)
        own.part_of = ws, {name: getattr(self, name) for name in ITERATION}
        return own

    def _rows(self, ws: Workspace, name: str) -> pl.DataFrame:
        """The rows of a table with our keys; `optimizations` has another kind of iteration."""
        keys = {column.name for column in TABLES[name].columns if column.type == "text"}
        return ws.polars(name).filter(
            **{key: getattr(self, key) for key in ITERATION if key in keys}
        )

    def _problems(self, ws: Workspace) -> pl.DataFrame:
        import polars as pl

        others = ws.polars("runs").filter(workspace=self.workspace)["iteration"].unique()
        steps = pl.col("path").str.split("/")
        elsewhere = steps.list.set_intersection(others.to_list()).list.len() > 0
        here = steps.list.contains(self.iteration)
        return ws.polars("problems").filter(
            pl.col("workspace") == self.workspace, here | ~elsewhere
        )


def list_slices(ws: Workspace) -> list[Slice]:
    """Every iteration that has runs or stated figures, the newest of a skill last.

    One that was run by several models is a slice for each. If there are none at all, the eval
    suites that wait for their first run.
    """
    import polars as pl

    runs, stated = ws.polars("runs"), ws.polars("stated").select(ITERATION)
    rows = pl.concat([runs.select(*ITERATION, "started_at"), stated], how="diagonal")
    if rows.is_empty():
        rows = ws.polars("evals").with_columns(iteration=pl.lit(NO_ITERATION))
    suites = rows.partition_by(ITERATION[:2], as_dict=True)
    return [
        Slice(workspace, skill, name, model)
        for workspace, skill in sorted(suites, key=lambda names: [*map(natural_key, names)])
        for name in order_iterations(suites[workspace, skill])
        for model in list_models(runs.filter(workspace=workspace, skill=skill, iteration=name))
    ]


def name_folders(parts: Sequence[Slice]) -> list[PurePosixPath]:
    """A folder for each part, none the same as another's; `.` if there is only one part.

    `workspace/iteration`; the skill stands between where a workspace has several, and the model
    behind where an iteration has. Names come
    from files, so they are made safe: no step upwards, nothing a file system refuses.

    >>> for folder in name_folders([Slice("a", "tdd", "first"), Slice("../b", "tdd", "none")]):
    ...     print(folder)
    a/first
    b
    """
    if len(parts) == 1:
        return [PurePosixPath(".")]
    skills: dict[str, set[str]] = {}
    for part in parts:
        skills.setdefault(part.workspace, set()).add(part.skill)
    taken: set[str] = set()
    return [dedupe(_slice_folder(part, len(skills[part.workspace]) > 1), taken) for part in parts]


def _slice_folder(slice_: Slice, by_skill: bool) -> PurePosixPath:
    names = re.split(r"[/\\]+", slice_.workspace)
    names += [slice_.skill] if by_skill else []
    names += [slice_.iteration] if slice_.iteration != NO_ITERATION else []
    names += [model_name(dict(slice_.model))] if slice_.model else []
    return PurePosixPath(*(safe for name in names if (safe := safe_name(name))))


def safe_name(name: str) -> str:
    """One step of a path from any text; empty if nothing of it can be kept.

    >>> safe_name("tdd: <b>"), safe_name(".."), safe_name("NUL.txt")
    ('tdd- -b-', '', '_NUL.txt')
    """
    kept = _UNSAFE.sub("-", name)[:_LONGEST].strip(". ")
    return f"_{kept}" if _RESERVED.fullmatch(kept) else kept


def dedupe(folder: PurePosixPath, taken: set[str]) -> PurePosixPath:
    """The folder, or its name with a number where another has it, in whatever case."""
    free, number = folder, 2
    while str(free).casefold() in taken:
        free, number = folder.parent / f"{folder.name or 'workspace'}-{number}", number + 1
    taken.add(str(free).casefold())
    return free


@dataclass(frozen=True, slots=True)
class IterationFigures:
    """What is known of one iteration.

    `configurations` are in the order in which they are shown, `with_skill` first and the
    baseline last; `baseline` is None if none can be told. `figures` maps (configuration,
    metric) to a row of `stats.summarize`, `deltas` to a row of `stats.deltas` about these
    evals and `beyond` to one about tasks like these; metrics keep their order, and rubric
    dimensions are among them; `notes` are the rows of `stats.notes`. If there are no runs,
    the figures are those that a benchmark.json states, and `stated` is true.
    """

    place: Slice
    ws: Workspace
    configurations: tuple[str, ...]
    baseline: str | None
    figures: Mapping[tuple[str, str], Row]
    deltas: Mapping[tuple[str, str], Row]
    beyond: Mapping[tuple[str, str], Row]
    notes: Sequence[Row] = ()
    stated: bool = False

    @property
    def compared(self) -> tuple[str, ...]:
        """The configurations that are compared with the baseline."""
        return tuple(name for name in self.configurations if self.baseline not in (None, name))

    @property
    def metrics(self) -> list[str]:
        """The metrics to show: those that some configuration has a figure of.

        Without `constant_costs`, consistency, which mixes how hard the evals are with how flaky
        the runs are, and, if there is no rubric, the efficiency, then the pass rate again.
        """
        known = self.known_metrics
        rubric = "rubric_normalized" in known
        hidden = {"consistency"} if rubric else {"consistency", "overall_efficiency"}
        hidden |= self.constant_costs.keys()
        return [name for name in known if not name.startswith(RUBRIC) and name not in hidden]

    @property
    def constant_costs(self) -> dict[str, float]:
        """What every run takes the same of (time, tokens, cost, …), if there are several runs."""
        ends: dict[str, list[float]] = {}
        for (_, metric), row in self.figures.items():
            if better(metric) != "more" and (row.get("n") or 0) > 0 and not self.stated:
                ends.setdefault(metric, []).extend([row["min"], row["max"]] * row["n"])
        return {name: all_[0] for name, all_ in ends.items() if len(all_) > 2 and len({*all_}) == 1}

    @property
    def dimensions(self) -> list[str]:
        """The rubric dimensions that were scored."""
        known = self.known_metrics
        return [name.removeprefix(RUBRIC) for name in known if name.startswith(RUBRIC)]

    def figure(self, configuration: str, metric: str, statistic: str = "mean") -> Any:
        """A statistic of a metric, or None."""
        return self.figures.get((configuration, metric), {}).get(statistic)

    def delta(self, configuration: str, metric: str, column: str = "estimate") -> Any:
        """The difference to the baseline, paired by eval, or None."""
        return self.deltas.get((configuration, metric), {}).get(column)

    def gap(self, configuration: str, metric: str) -> float | None:
        """The difference of the two means over all runs, or None.

        It is the delta where every eval has as many runs on both sides, and mixes up evals
        and runs where not.
        """
        sides = self.figure(configuration, metric), self.figure(self.baseline or "", metric)
        return None if None in sides else sides[0] - sides[1]

    @property
    def known_metrics(self) -> list[str]:
        """The metrics that some configuration has a figure of."""
        known = (key[1] for key, row in self.figures.items() if row.get("mean") is not None)
        return list(dict.fromkeys(known))


def measure(ws: Workspace, place: Slice) -> IterationFigures:
    """The figures of one iteration of a workspace."""
    part = place.select(ws)
    figures = _figures_from_runs if part.polars("runs").height else _figures_as_stated
    return figures(place, part)


def _figures_from_runs(place: Slice, part: Workspace) -> IterationFigures:
    summary = stats.summarize(part).to_dicts()
    every = compare_page(part)
    baseline = next((row["baseline"] for row, _ in every), None)
    names = _order_sides((row["configuration"] for row in summary), baseline)
    scopes = ([both[at] for both in every] for at in range(len(SCOPES)))
    figures, own, like = map(_looked_up, (summary, *scopes))
    notes = stats.notes(part).to_dicts()
    return IterationFigures(place, part, names, baseline, figures, own, like, notes)


def _figures_as_stated(place: Slice, part: Workspace) -> IterationFigures:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in part.polars("stated").iter_rows(named=True):
        key = row["configuration"], row["metric"]
        figures = rows.setdefault(key, {})
        if row["value"] is not None:
            figures["mean" if row["statistic"] == "value" else row["statistic"]] = row["value"]
    names = dict.fromkeys(name for name, _ in rows if name != DELTA)
    baseline, _ = choose_baseline(names)
    compared = [name for name in names if name != baseline]
    figures = {key: row for key, row in rows.items() if key[0] != DELTA}
    deltas = {
        (compared[0], metric): {"estimate": row.get("mean")}
        for (name, metric), row in rows.items()
        if name == DELTA and baseline and len(compared) == 1
    }
    order = _order_sides(names, baseline)
    return IterationFigures(place, part, order, baseline, figures, deltas, {}, stated=True)


def _order_sides(names: Iterable[str], baseline: str | None) -> tuple[str, ...]:
    """`with_skill` first, the baseline last, the others between them in the given order."""
    return tuple(
        sorted(dict.fromkeys(names), key=lambda name: (name == baseline, name != "with_skill"))
    )


def _looked_up(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    return {(row["configuration"], row["metric"]): row for row in rows}


_NAMES = {
    "time_seconds": "Time",
    "cost_usd": "Cost",
    "rubric_normalized": "Rubric, normalized",
    "structural_pass_rate": "Structural pass rate",
}


def unit(metric: str) -> str:
    """The unit of a metric, as the tables declare it; empty for a plain number.

    >>> unit("pass_rate"), unit("cost_usd"), unit("rubric:clarity")
    ('rate', 'usd', '')
    """
    return "rate" if metric == "consistency" else UNITS.get(metric, "")


def metric_name(metric: str) -> str:
    """A metric, or a rubric dimension, for the first column of a table.

    >>> metric_name("pass_rate"), metric_name("time_seconds"), metric_name("rubric:clarity")
    ('Pass rate', 'Time', 'clarity')
    """
    if metric.startswith(RUBRIC):
        return line(metric.removeprefix(RUBRIC))
    return _NAMES.get(metric, metric.replace("_", " ").capitalize())


def in_unit(value: float | None, metric: str) -> str:
    """A figure with its unit.

    >>> in_unit(0.85, "pass_rate"), in_unit(42.5, "time_seconds"), in_unit(None, "tokens")
    ('85%', '42.5 s', '–')
    >>> in_unit(3800.4, "tokens"), in_unit(0.0123, "cost_usd"), in_unit(4.0, "rubric:clarity")
    ('3,800', '$0.0123', '4.00')
    """
    return MISSING if value is None else _meant(metric).figure(value).replace(TIE, " ")


def difference(value: float | None, metric: str) -> str:
    """A difference in its unit, with its sign; between two rates, in percentage points.

    >>> difference(0.5, "pass_rate"), difference(-1700, "tokens"), difference(0, "time_seconds")
    ('+50 pp', '−1,700', '0.0 s')
    """
    return MISSING if value is None else _meant(metric).difference(value).replace(TIE, " ")


def _meant(metric: str) -> Metric:
    """A metric as charts write its figures."""
    of_rubric = metric.startswith(RUBRIC)
    return Metric(metric, metric_name(metric), "1-5" if of_rubric else unit(metric))


def interval(row: Row) -> str:
    """The interval of a difference, its ends in the unit of the row's metric.

    >>> interval({"metric": "pass_rate", "low": -0.1, "high": 0.3})
    '−10 pp to +30 pp'
    """
    low, high = (difference(row[end], row["metric"]) for end in ("low", "high"))
    return MISSING if row["low"] is None else f"{low} to {high}"


def with_n(shown: str, n: float | None) -> str:
    """A figure with the number it rests on; what is not known rests on nothing.

    >>> with_n("85%", 9), with_n("–", 0)
    ('85% (n = 9)', '–')
    """
    return shown if shown == MISSING or n is None else f"{shown} (n = {int(n):,})"


def header(measured: IterationFigures, *labels: str) -> tuple[str, ...]:
    """The head of a table: its labels, the configurations, the deltas."""
    several = len(measured.compared) > 1
    deltas = (f"Delta {line(name)}" if several else "Delta" for name in measured.compared)
    return (*labels, *map(line, measured.configurations), *deltas)


def cells(measured: IterationFigures, metric: str) -> tuple[str, ...]:
    """A metric under each configuration, and each difference, with what they rest on."""
    figures = (
        with_n(in_unit(measured.figure(name, metric), metric), measured.figure(name, metric, "n"))
        for name in measured.configurations
    )
    return (*figures, *(delta_cell(measured, name, metric) for name in measured.compared))


def delta_cell(measured: IterationFigures, name: str, metric: str) -> str:
    """The difference of a configuration to the baseline, with its n."""
    delta, n = (measured.delta(name, metric, column) for column in ("estimate", "n_evals"))
    return with_n(difference(delta, metric), n)


def explain_cells(measured: IterationFigures) -> str:
    """What a table of `cells` shows, and what its n counts."""
    if measured.stated:
        return "As stated in benchmark.json"
    if not measured.compared:
        return "Means over runs (n = runs)"
    more, less = line(" or ".join(measured.compared)), line(measured.baseline or "")
    return f"Means over runs (n = runs); delta is {more} minus {less}, paired by eval (n = evals)"


_PRINTED = {"rate": "+.2f", "seconds": "+.1f", "tokens": "+.0f", "usd": "+.4f"}


def print_difference(value: float | None, metric: str) -> str | None:
    """A difference as the documents print it.

    >>> (print_difference(0.5, "pass_rate"), print_difference(-13.04, "time_seconds"),
    ...  print_difference(1700, "tokens"))
    ('+0.50', '-13.0', '+1700')
    >>> print_difference(-0.001, "pass_rate"), print_difference(None, "tokens")
    ('+0.00', None)
    """
    if value is None:
        return None
    shape = _PRINTED.get(unit(metric), "+.2f")
    return format(round(value, int(shape[2])) + 0.0, shape)
