"""The figures of parts: what `sen.stats` says of them. Nothing else is counted here.

Each function gives a list with the figures of each part. Parts of one choice differ by iteration
alone, which statistics never cross, so many parts are counted in one go: most of the time
that a statistic takes is the same for many runs as for few.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb import stats
from skill_eval_nb.stats.overview import overview, overview_by_eval, overview_of_these
from skill_eval_nb.stats.values import EVAL, RUBRIC, RUN, values_of
from skill_eval_nb.stats.verdict import Row

from ..ui.source import Recent
from .choice import Part, SkillRuns, runs_of, suites_of, turned_workspace, within
from .rows import RunFinder, Things

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

    from ..ui.source import Later
    from .choice import Choice, Selection


Rows = list[Row]
Parts = Sequence["Part"]
"""Parts of one choice."""
EvalKey = tuple[str, str]
"""An eval's id and its name."""


class EvalCell(NamedTuple):
    """The runs of an eval under a configuration that have a figure: at least one.

    Attributes:
        runs: number and figure of each, the lowest first.
        mean: their mean.
    """

    runs: Sequence[tuple[int | str, float]]
    mean: float


Cells = Mapping[tuple[EvalKey, str], EvalCell]
"""The cells of a part, by eval and configuration."""

Count = Callable[["Workspace", Parts, str], list[Any]]


def _against_baseline(statistic: Callable[[Workspace, str | None], Iterable[Row]]) -> Count:
    """Counts the rows of a statistic against the baseline.

    Where a part has no run of it, the statistic says why there is none to compare against.
    """

    def count_rows(ws: Workspace, parts: Parts, _: str) -> list[Rows]:
        baseline = parts[0].baseline
        sides = ws.polars("runs").select("iteration", "configuration").unique().iter_rows()
        known = {iteration for iteration, name in sides if name == baseline}
        paired = [part.iteration for part in parts if part.iteration in known]
        alone = [part.iteration for part in parts if part.iteration not in known]
        found: Rows = []
        for iterations, against in ((paired, baseline), (alone, None)):
            if iterations:
                own = ws.select(iteration=iterations) if paired and alone else ws
                found += statistic(own, against)
        return _of_each(parts, found)

    return count_rows


headline = _against_baseline(partial(overview_of_these, others=False))
"""The rows of `overview` for the metric that decides by itself, about these evals."""
others = _against_baseline(partial(overview_of_these, others=True))
"""The same for all other metrics and dimensions, adjusted together."""
headline_of_both = _against_baseline(partial(overview, others=False))
others_of_both = _against_baseline(partial(overview, others=True))
headline_by_eval = _against_baseline(partial(overview_by_eval, others=False))
others_by_eval = _against_baseline(partial(overview_by_eval, others=True))
notes = _against_baseline(lambda *own: stats.notes(*own).iter_rows(named=True))
check_rows = _against_baseline(lambda *own: stats.discrimination(*own).iter_rows(named=True))


def cells(ws: Workspace, parts: Parts, metric: str) -> list[Cells]:
    """Every run's figure, by eval and configuration."""
    import polars as pl

    dimension = metric.removeprefix(RUBRIC)
    if dimension != metric and dimension not in set(ws.polars("rubric_scores")["dimension"]):
        return [{} for _ in parts]
    known = values_of(ws, metric).drop_nulls("value").sort("value", "run_number")
    cell, mean = ["iteration", *EVAL, "configuration"], pl.col("value").mean().alias("mean")
    grouped = known.group_by(cell).agg("run_number", "value", mean)
    found: dict[str, dict[tuple[EvalKey, str], EvalCell]] = defaultdict(dict)
    for iteration, eval_id, name, side, numbers, values, own_mean in grouped.iter_rows():
        runs = list(zip(numbers, values, strict=True))
        found[iteration][(eval_id, name), side] = EvalCell(runs, own_mean)
    return [found[part.iteration] for part in parts]


def eval_keys(ws: Workspace, parts: Parts, _: str) -> list[list[EvalKey]]:
    """The evals that have a run."""
    found: dict[str, list[EvalKey]] = defaultdict(list)
    for iteration, *key in ws.polars("runs").select("iteration", *EVAL).unique().iter_rows():
        found[iteration].append((key[0], key[1]))
    return [found[part.iteration] for part in parts]


def summary(ws: Workspace, parts: Parts, _: str) -> list[Rows]:
    """The rows of `summarize`: every metric of either side."""
    return _of_each(parts, stats.summarize(ws).iter_rows(named=True))


def sources(ws: Workspace, parts: Parts, _: str) -> list[Rows]:
    """The rows of `variance` for every dimension."""
    return _of_each(parts, stats.variance(ws).iter_rows(named=True))


FLIPS = ("newly failing", "newly passing")
TURNS = (*FLIPS, "less often", "more often", "as before", "unknown")
"""What became of an expectation from one iteration to another."""


def flips(ws: Workspace, parts: Parts, _: str) -> list[Rows]:
    """The rows of `discrimination_by_eval`, what fell furthest first; the class is a turn.

    Each is of one eval, and has its name in `evals`; where it has a p, that stands first in
    `reason`.
    """
    found = stats.discrimination_by_eval(ws, parts[0].baseline).to_dicts()
    for row in found:
        row["class"] = turn(row["baseline_pass_rate"], row["pass_rate"])
        row["evals"] = [row["eval_name"]]
        if row["p_adjusted"] is not None:
            row["reason"] = f"p = {row['p_adjusted']:.2g}. {row['reason']}"

    def rate_rise(row: Row) -> float:
        before, after = row["baseline_pass_rate"], row["pass_rate"]
        return 0.0 if before is None or after is None else after - before

    return _of_each(parts, sorted(found, key=rate_rise))


def turn(before: float | None, after: float | None) -> str:
    """What became of an expectation, by the share of runs that it passed in.

    It flipped where most runs passed before and fewer than half do now, or the other way.

    >>> turn(1.0, 0.0), turn(1.0, 0.5), turn(0.25, 0.75), turn(1.0, 1.0), turn(None, 1.0)
    ('newly failing', 'less often', 'newly passing', 'as before', 'unknown')
    """
    if before is None or after is None:
        return "unknown"
    if before == after:
        return "as before"
    if after < before:
        return "newly failing" if before > 0.5 > after else "less often"
    return "newly passing" if before < 0.5 < after else "more often"


def _of_each(parts: Parts, found: Iterable[Row]) -> list[Rows]:
    """Rows, part by part."""
    rows: dict[str, Rows] = defaultdict(list)
    for row in found:
        rows[row["iteration"]].append(row)
    return [rows[part.iteration] for part in parts]


PARTS, ANSWERS = 4, 8
"""Parts of the workspace that are counted together, and lists of runs, that are kept at once."""
RUNS = 10_000
"""Runs whose figures are counted together, about: of more, the first are shown before the last."""


class Counted:
    """A workspace and what was counted of it. When it is read anew, there is another one."""

    def __init__(self, ws: Workspace, later: Later, *, turned: bool = False) -> None:
        """Nothing is counted yet, and what `later` knows is forgotten."""
        self.ws = turned_workspace(ws) if turned else ws
        self._turned = turned
        self._later = later
        self._parts: Recent[Workspace] = Recent(PARTS)
        self._runs: Recent[pl.DataFrame] = Recent(ANSWERS)
        self.finder = RunFinder(self.ws)
        self._lock = threading.Lock()
        later.forget()

    @cached_property
    def suites(self) -> list[SkillRuns]:
        """The skills that there are."""
        return suites_of(self.ws, turned=self._turned)

    def figures(self, count: Count, parts: Sequence[Part], metric: str) -> dict[Part, Any]:
        """What is counted of parts of one choice; None where it is being counted."""
        metric = metric if count is cells else ""  # all others are the same for every metric

        def count_parts(keys: Sequence[Any]) -> dict[Any, Any]:
            own = [part for _, part, _ in keys]
            return dict(zip(keys, count(self._tables_within(own), own, metric), strict=True))

        keys = {part: (count, part, metric) for part in parts}
        found = self._later.get_all(list(keys.values()), count_parts, self._at_once)
        return {part: found[key] for part, key in keys.items()}

    def get(self, key: Hashable, count: Callable[[], Any]) -> Any:
        """Something else that takes its time; None where it is being counted."""
        return self._later.get(key, count)

    def runs(self, choice: Choice, clicked: Selection | None) -> pl.DataFrame:
        """The runs that are meant; the last answers are kept."""
        key = (replace(choice, metric=""), clicked)
        return self._runs.get_or_make(key, lambda: runs_of(self.ws, choice, clicked))

    def words_and_things(self, shown: pl.DataFrame) -> list[tuple[str | None, Things]]:
        """What runs that are shown are found by; no words while they are read."""
        keys = ("words", *shown.select(RUN).rows())
        words = self.get(keys, lambda: self.finder.words(shown)) or [None] * shown.height
        return list(zip(words, self.finder.things(shown), strict=True))

    @cached_property
    def _at_once(self) -> int:
        """How many iterations are counted together."""
        runs = self.ws.polars("runs")
        return max(1, RUNS * runs["iteration"].n_unique() // max(1, runs.height))

    def _tables_within(self, parts: Sequence[Part]) -> Workspace:
        """What of the workspace is in these parts; figures of the same parts share its tables."""
        with self._lock:
            return self._parts.get_or_make(tuple(parts), lambda: within(self.ws, parts))
