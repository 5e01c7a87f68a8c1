"""What is looked at: a choice that can be met, what was clicked in it, its runs and its figures."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from skill_eval_nb import stats
from skill_eval_nb.stats.overview import overview, overview_by_eval
from skill_eval_nb.stats.pairing import UNSTATED, choose_baseline, side_key, swap_iterations
from skill_eval_nb.stats.values import (
    EVAL,
    HEADLINE,
    METRICS,
    RUBRIC,
    RUN,
    Model,
    headline_of,
    list_models,
    natural_key,
    no_such,
    order_iterations,
    select_model,
    sort_rows,
    values_of,
)
from skill_eval_nb.stats.verdict import Row
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.text import as_label, in_quotes, some
from skill_eval_nb.workspace import NO_ITERATION

from ..ui.source import Recent
from .rows import RunFinder, Things

if TYPE_CHECKING:
    import polars as pl

    from ..ui.source import Later


@dataclass(frozen=True, slots=True)
class SkillRuns:
    """A skill's runs in a workspace, and what can be chosen of them.

    Attributes:
        workspace: its folder, below what was loaded.
        skill: the skill.
        iterations: in natural order, each with its configurations, the baseline last.
        evals: by id the name, in natural order.
        metrics: the number columns of `runs` in which a run has a figure.
        dimensions: the rubric dimensions on which a run has a score.
        n_runs: how many runs there are.
        compared: the iterations in which an eval has figures on two sides.
        models: the models that are kept apart; one of them is looked at.
        model: the one to begin with, the first that compares anything in the last iteration.
        turned: whether iterations and configurations stand in each other's place, so that two
            iterations of a configuration are compared.
    """

    workspace: str
    skill: str
    iterations: dict[str, tuple[str, ...]]
    evals: dict[str, str]
    metrics: tuple[str, ...]
    dimensions: tuple[str, ...]
    n_runs: int
    compared: tuple[str, ...] = ()
    models: tuple[Model, ...] = ((),)
    model: Model = ()
    turned: bool = False

    @property
    def last(self) -> tuple[str, ...]:
        """The iteration to begin with: the last that compares anything, else the last."""
        if self.turned:
            return tuple(sorted(self.iterations, key=side_key))[:1]
        return (self.compared or tuple(self.iterations))[-1:]

    @property
    def configurations(self) -> tuple[str, ...]:
        """The configurations of all iterations, the likeliest baseline last."""
        every = {name for names in self.iterations.values() for name in names}
        if self.turned:
            return tuple(sorted(every - {NO_ITERATION}, key=natural_key))
        return tuple(sorted(every, key=side_key))

    @property
    def has_twins(self) -> bool:
        """Whether two evals have the same name."""
        return len(set(self.evals.values())) < len(self.evals)


TURNED = ("runs", "expectations", "rubric_scores")
"""What two iterations are compared by."""


def swap_workspace(ws: Workspace) -> Workspace:
    """A copy of a workspace with iterations and configurations swapped.

    What compares two configurations of an iteration then compares two iterations of a
    configuration. When runs began is left out: between iterations there may be days.
    """
    import polars as pl

    frames = {name: swap_iterations(ws.polars(name)) for name in TURNED}
    frames["runs"] = frames["runs"].with_columns(pl.lit(None).alias("started_at"))
    return Workspace.from_tables(frames, ws.path)


Borrowed = Mapping[tuple[str, str, str], tuple[str, str]]
"""By workspace, skill and iteration whose baseline it has: that iteration and the baseline."""


def borrow_baselines(ws: Workspace, borrowed: Borrowed) -> Workspace:
    """A copy in which iterations have the baseline's runs of another one as their own."""
    import polars as pl

    frames = {name: ws.polars(name) for name in TABLES} if borrowed else {}
    for (workspace, skill, name), (lender, baseline) in borrowed.items():
        keys = {"workspace": workspace, "skill": skill, "iteration": lender}
        for table in TURNED:
            lent = ws.polars(table).filter(**keys, configuration=baseline)
            frames[table] = pl.concat([frames[table], move_runs(lent, lender, name, baseline)])
    return Workspace.from_tables(frames, ws.path) if borrowed else ws


def move_runs(runs: pl.DataFrame, here: str, there: str, configuration: str) -> pl.DataFrame:
    """A copy in which the runs of a configuration are moved from one iteration to another."""
    import polars as pl

    meant = (pl.col("iteration") == here) & (pl.col("configuration") == configuration)
    moved = pl.when(meant).then(pl.lit(there)).otherwise("iteration")
    return runs.with_columns(iteration=moved)


def suites_of(ws: Workspace, *, turned: bool = False) -> list[SkillRuns]:
    """Every skill of every workspace: those with runs first, then those that only have evals."""
    runs, scores = ws.polars("runs"), ws.polars("rubric_scores")
    keys = ["workspace", "skill"]
    with_runs = sorted(runs.select(keys).unique().rows(), key=_natural_keys)
    defined = set(ws.polars("evals").select(keys).unique().rows())
    waiting = sorted(defined - set(with_runs), key=_natural_keys)
    return [_suite_of(runs, scores, *names, turned=turned) for names in (*with_runs, *waiting)]


def _natural_keys(names: tuple[str, ...]) -> list[object]:
    return [natural_key(name) for name in names]


def _suite_of(
    runs: pl.DataFrame, scores: pl.DataFrame, workspace: str, skill: str, *, turned: bool
) -> SkillRuns:
    import polars as pl

    own = runs.filter(workspace=workspace, skill=skill)
    sides = own.select("iteration", "configuration").unique().rows()
    every = {iteration for iteration, _ in sides}
    names = sorted(every, key=natural_key) if turned else order_iterations(own)
    evals = own.select("eval_id", "eval_name").unique(maintain_order=True).rows()
    known = own.select(pl.col(METRICS).cast(pl.Float64).is_finite().any()).row(0, named=True)
    scored = scores.filter(workspace=workspace, skill=skill).filter(pl.col("score").is_finite())
    compared = tuple(sorted(_compared_iterations(own), key=names.index))
    distinct = list_models(own)
    last = set(compared[-1:])
    best = [model for model in distinct if _compared_iterations(select_model(own, model)) & last]
    return SkillRuns(
        workspace=workspace,
        skill=skill,
        iterations={
            name: tuple(sorted((own for at, own in sides if at == name), key=side_key))
            for name in names
        },
        evals=dict(sorted(evals, key=_natural_keys)),
        metrics=tuple(name for name in METRICS if known[name]),
        dimensions=tuple(sorted(scored["dimension"].unique(), key=natural_key)),
        n_runs=own.height,
        compared=compared,
        models=tuple(distinct),
        model=(best or distinct)[0],
        turned=turned,
    )


def _compared_iterations(runs: pl.DataFrame) -> set[str]:
    """The iterations in which an eval has a pass rate, or a score, on two sides."""
    import polars as pl

    figures = pl.any_horizontal(pl.col("pass_rate", "rubric_normalized").is_not_null())
    sides = (
        runs.filter(figures)
        .group_by("iteration", "eval_id")
        .agg(pl.col("configuration").n_unique().alias("sides"))
    )
    return set(sides.filter(pl.col("sides") > 1)["iteration"])


def metrics_of(suite: SkillRuns) -> tuple[str, ...]:
    """All that can be looked at: figures of runs, and dimensions as `rubric:<name>`."""
    return (*suite.metrics, *(RUBRIC + name for name in suite.dimensions))


WITH_SKILL = "with_skill"


@dataclass(frozen=True, slots=True)
class Choice:
    """What is looked at. What is not given is chosen by what there is: see `settle_choice`.

    Attributes:
        workspace: its folder, below what was loaded.
        skill: the skill.
        iterations: those that are shown; where empty the last one that compares anything.
        configuration: the one that is compared.
        baseline: the one that it is compared against.
        evals: ids of those that count; all where empty.
        metric: a number column of `runs`, or `rubric:<dimension>`.
        model: what tells the model that is looked at from others; empty where nothing does.
    """

    workspace: str | None = None
    skill: str | None = None
    iterations: tuple[str, ...] = ()
    configuration: str | None = None
    baseline: str | None = None
    evals: tuple[str, ...] = ()
    metric: str = HEADLINE
    model: Model = ()

    @property
    def sides(self) -> tuple[str, ...]:
        """The configurations that are looked at, the baseline last."""
        return tuple(name for name in (self.configuration, self.baseline) if name is not None)

    @property
    def iteration(self) -> str:
        """The first of the iterations; of a part the only one."""
        return self.iterations[0]

    def select(self, ws: Workspace, **iterations: Sequence[str]) -> Workspace:
        """The part of a workspace that is looked at: all its iterations, unless some are given."""
        evals = {"eval_id": self.evals} if self.evals else {}
        return ws.select(
            workspace=self.workspace or "",
            skill=self.skill or "",
            configuration=self.sides,
            **evals,
            **dict(self.model),
            **iterations,
        )


def suite_of(suites: Sequence[SkillRuns], choice: Choice) -> SkillRuns | None:
    """The skill that is meant, or the nearest to it; None where there is none.

    Of several, the first that compares anything.
    """

    def rank_suite(suite: SkillRuns) -> tuple[int, bool]:
        named = (suite.skill == choice.skill) * 2 + (suite.workspace == choice.workspace)
        return named, bool(suite.compared)

    return max(suites, key=rank_suite, default=None)


def settle_choice(suite: SkillRuns | None, choice: Choice) -> Choice:
    """The choice as it can be met: nothing that is not there, and nothing left open that is.

    >>> own = SkillRuns("w", "s", {"i-1": ("a",), "i-2": ("a", "without_a")}, {"1": "x"}, (), (), 3)
    >>> found = settle_choice(own, Choice(configuration="gone"))
    >>> found.iterations, found.configuration, found.baseline
    (('i-2',), 'a', 'without_a')
    """
    if suite is None:
        return choice
    iterations = tuple(name for name in suite.iterations if name in choice.iterations)
    iterations = iterations or suite.last
    there = {name for iteration in iterations for name in suite.iterations[iteration]}
    pair = _choose_iterations if suite.turned else _choose_sides
    configuration, baseline = pair(
        [name for name in suite.configurations if name in there],
        choice.configuration,
        choice.baseline,
    )
    evals = tuple(eval_ for eval_ in suite.evals if eval_ in choice.evals)
    return replace(
        choice,
        workspace=suite.workspace,
        skill=suite.skill,
        iterations=iterations,
        configuration=configuration,
        baseline=baseline,
        evals=evals if len(evals) < len(suite.evals) else (),
        metric=_find_metric(suite, choice.metric) or headline_of(metrics_of(suite)),
        model=choice.model if choice.model in suite.models else suite.model,
    )


def check_choice(suites: Sequence[SkillRuns], request: Choice) -> Choice:
    """A first choice as somebody wrote it, evals by their ids.

    Where there are no runs yet nothing is known, so that nothing can be wrong.

    Raises:
        ValueError: for a name that is not there; the message has the nearest one.
    """
    suite = suite_of(suites, request)
    if suite is None or not any(suite.n_runs for suite in suites):
        return request
    baseline, metric = request.baseline, request.metric
    ids = {name: eval_id for eval_id, name in suite.evals.items()}
    ids |= {eval_id: eval_id for eval_id in suite.evals}  # an id counts before a name
    _check_known("workspace", [request.workspace], [suite.workspace for suite in suites])
    _check_known("skill", [request.skill], [suite.skill for suite in suites])
    _check_known("iteration", request.iterations, suite.iterations)
    _check_known("configuration", [request.configuration, baseline], suite.configurations)
    if baseline == UNSTATED:
        raise ValueError(f"`{UNSTATED}` cannot be the baseline: nothing says what these runs are.")
    _check_known("eval", request.evals, ids)
    if _find_metric(suite, metric) is None:
        raise no_such("metric", metric, [*suite.metrics, *suite.dimensions])
    return replace(request, evals=tuple(ids[name] for name in request.evals))


def _check_known(kind: str, names: Iterable[str | None], known: Iterable[str]) -> None:
    there = set(known)
    for name in names:
        if name is not None and name not in there:
            raise no_such(kind, name, there)


def _choose_sides(
    names: Sequence[str], configuration: str | None, baseline: str | None
) -> tuple[str | None, str | None]:
    """Choose the two configurations to compare, as far as possible the requested ones."""
    own = configuration if configuration in names else None
    other = baseline if baseline in names and baseline not in (own, UNSTATED) else None
    if other is None:
        left = [name for name in names if name != own]
        other = choose_baseline(left)[0] if left else None
    if own is None:
        left = [name for name in names if name != other]
        own = WITH_SKILL if WITH_SKILL in left else next(iter(left), None)
    return own, other


def _choose_iterations(
    names: Sequence[str], last: str | None, before: str | None
) -> tuple[str | None, str | None]:
    """Choose the two iterations to compare: the last and the one before it, unless requested."""
    own = last if last in names else next((n for n in reversed(names) if n != before), None)
    if before in names and before != own:
        return own, before
    at = names.index(own) if own is not None else 0
    return own, next(iter([*reversed(names[:at]), *names[at + 1 :]]), None)


def _find_metric(suite: SkillRuns, name: str) -> str | None:
    """The metric of that name; a dimension may be called by its name alone."""
    if name in METRICS:
        return name
    whole = RUBRIC + name.removeprefix(RUBRIC)
    return whole if whole in metrics_of(suite) else None


Part: TypeAlias = Choice
"""A choice of one iteration, without a metric. Statistics never cross iterations."""


def parts_of(choice: Choice) -> list[Part]:
    """The parts of a settled choice, an iteration each, in order."""
    if choice.workspace is None or choice.skill is None:
        return []
    return [replace(choice, iterations=(name,), metric="") for name in choice.iterations]


def select_parts(ws: Workspace, parts: Sequence[Part]) -> Workspace:
    """The part of a workspace that is in some parts of one choice, with polars as its backend."""
    found = parts[0].select(ws, iteration=[part.iteration for part in parts])
    found.backend = "polars"
    return found


def iteration_name(name: str) -> str:
    """An iteration's name; a workspace without iterations has one that is called all runs."""
    return "all runs" if name == NO_ITERATION else as_label(name)


Place = tuple[str, ...]
"""A row of a view: the view's name, and what tells the row from its others."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What was clicked. Everything that is given narrows the runs of the choice down.

    Attributes:
        at: the row that was clicked; the runs are shown below it.
        about: what that is about, in words.
        iteration: theirs.
        configuration: theirs.
        eval_id: theirs.
        numbers: their numbers.
        check: layer and text of an expectation that they were checked for.
        dimension: a rubric dimension that they were scored on.
        names: each `eval configuration run number`, as notes name runs.
        evals: names of their evals.
        path: what a problem is about; then the runs may be outside the choice.
    """

    at: Place
    about: str
    iteration: str | None = None
    configuration: str | None = None
    eval_id: str | None = None
    numbers: tuple[int, ...] = ()
    check: tuple[str, str] | None = None
    dimension: str | None = None
    names: tuple[str, ...] = ()
    evals: tuple[str, ...] = ()
    path: str | None = None

    @property
    def words(self) -> str:
        """What the runs are, to stand behind their number.

        >>> Selection((), "eval ‘a’", "iteration-1", "with_skill", numbers=(2, 5)).words
        'eval ‘a’, with_skill, runs 2 and 5, iteration-1'
        """
        side = self.configuration and as_label(self.configuration, 40)
        numbers = some(sorted(self.numbers), len(self.numbers))
        runs = f"run{'s' * (len(self.numbers) > 1)} {numbers}" if numbers else ""
        where = "" if self.iteration in (None, NO_ITERATION) else as_label(self.iteration)
        return ", ".join(filter(None, (self.about, side, runs, where))) or "all"


def runs_of(ws: Workspace, choice: Choice, clicked: Selection | None) -> pl.DataFrame:
    """The runs that are meant, with every column of `runs`: eval by eval, the baseline last."""
    if choice.workspace is None or choice.skill is None:
        return ws.polars("runs").clear()  # nothing was run yet
    runs = ws.polars("runs").filter(workspace=choice.workspace, skill=choice.skill)
    if clicked is not None and clicked.path is not None:
        return order_runs(select_path(runs, clicked.path))
    evals = choice.evals or None
    runs = _select(runs, iteration=choice.iterations, configuration=choice.sides, eval_id=evals)
    runs = select_model(runs, choice.model)
    return order_runs(runs if clicked is None else _narrow_runs(ws, runs, clicked))


def _select(runs: pl.DataFrame, **wanted: Collection[Any] | None) -> pl.DataFrame:
    """The runs with one of the values that are wanted of each column; None wants all."""
    import polars as pl

    return runs.filter(
        pl.col(name).is_in(list(values)) for name, values in wanted.items() if values is not None
    )


def select_path(runs: pl.DataFrame, path: str) -> pl.DataFrame:
    """The runs that a file or folder is part of, or that are part of it."""
    import polars as pl

    own, place = pl.col("path"), path.rstrip("/")
    above = own.str.starts_with(place + "/") | (own == place)
    below = pl.lit(place + "/").str.starts_with(own + "/")
    return runs.filter(above | below)


def verdicts_of(ws: Workspace, check: tuple[str, str]) -> pl.DataFrame:
    """The rows of `expectations` that are of one: with its text, or with its id in that eval."""
    import polars as pl

    layer, text = check
    table = ws.polars("expectations").filter(layer=layer)
    own = table.filter(text=text)
    keys = ["workspace", "skill", "iteration", "eval_id", "eval_name", "expectation_id"]
    called = own.drop_nulls("expectation_id").select(keys).unique()
    if called.is_empty():
        return own
    by_id = table.filter(pl.col("text") != text).join(called, on=keys, how="semi")
    return pl.concat([own, by_id])


def order_runs(runs: pl.DataFrame) -> pl.DataFrame:
    """Runs in the order in which people read them."""
    keys = dict.fromkeys(("iteration", "eval_id", "eval_name"), natural_key)
    return sort_rows(runs.sort("run_number"), **keys, configuration=side_key)


def _narrow_runs(ws: Workspace, runs: pl.DataFrame, clicked: Selection) -> pl.DataFrame:
    import polars as pl

    names = ("iteration", "configuration", "eval_id")
    alone = {name: [own] for name in names if (own := getattr(clicked, name)) is not None}
    more = {"run_number": clicked.numbers or None, "eval_name": clicked.evals or None}
    runs = _select(runs, **alone, **more)
    if clicked.names:
        name = pl.format("{} {} run {}", "eval_name", "configuration", "run_number")
        runs = runs.filter(name.is_in(clicked.names))
    if clicked.check is not None:
        runs = runs.join(verdicts_of(ws, clicked.check), on=RUN, how="semi")
    if clicked.dimension is not None:
        scores = ws.polars("rubric_scores").filter(dimension=clicked.dimension)
        runs = runs.join(scores.drop_nulls("score"), on=RUN, how="semi")
    return runs


def select_runs(kind: str, *values: Any) -> Selection:
    """The selection that a click of this kind makes, and the place it is shown at.

    `iteration`, its name; `eval`, `outputs` and `runs`, iteration, id and name, and where not all
    are meant a configuration and numbers of runs; `dimension`, iteration, its name, and in the
    same way a configuration and names of runs; `check`, iteration, layer, text, and so a
    configuration and an eval's id; `note`, iteration, number and the note; `problem`, number and
    the problem.
    """
    match kind, values:
        case "iteration", (iteration,):
            return Selection(("verdict", iteration), "", iteration)
        case "problem", (number, problem):
            about = f"the problem {in_quotes(problem['code'], 40)}"
            return Selection(("problems", str(number)), about, path=problem["path"])
        case "note", (iteration, number, note):  # its runs, else the runs of its evals
            at, about = ("notes", iteration, str(number)), f"the note {in_quotes(note['kind'], 40)}"
            names, evals = tuple(note["runs"]), () if note["runs"] else tuple(note["evals"])
            return Selection(at, about, iteration, names=names, evals=evals)
        case "eval" | "outputs" | "runs", (iteration, eval_id, name, *more):
            at = ("outputs" if kind == "outputs" else "evals", iteration, eval_id, name)
            about, side = f"eval {in_quotes(name, 40)}", next(iter(more), None)
            return Selection(at, about, iteration, side, eval_id, numbers=tuple(more[1:]))
        case "dimension", (iteration, name, *more):
            at, side = ("dimensions", iteration, name), next(iter(more), None)
            about, names = in_quotes(name, 40), tuple(more[1:])
            return Selection(at, about, iteration, side, dimension=name, names=names)
        case "check", (iteration, layer, text, *more):
            side, eval_id = [*more, None, None][:2]
            at, about = ("checks", iteration, layer, text, eval_id or ""), in_quotes(text, 40)
            return Selection(at, about, iteration, side, eval_id, check=(layer, text))
    raise ValueError(f"There is nothing of kind `{kind}` here to click.")


Rows = list[Row]
Parts = Sequence[Part]
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

Count = Callable[[Workspace, Parts, str], list[Any]]
"""The figures of each of some parts of one choice, of a metric.

They differ by iteration alone, which statistics never cross, so many parts are counted in one go:
most of the time that a statistic takes is the same for many runs as for few.
"""


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
        return _split_by_part(parts, found)

    return count_rows


count_headline = _against_baseline(partial(overview, others=False))
"""The rows of `overview` for the metric that decides by itself: these evals, tasks like these."""
count_others = _against_baseline(partial(overview, others=True))
"""The same for all other metrics and dimensions, adjusted together."""
count_headline_by_eval = _against_baseline(partial(overview_by_eval, others=False))
count_others_by_eval = _against_baseline(partial(overview_by_eval, others=True))
count_notes = _against_baseline(lambda *own: stats.notes(*own).iter_rows(named=True))
count_checks = _against_baseline(lambda *own: stats.discrimination(*own).iter_rows(named=True))


def count_cells(ws: Workspace, parts: Parts, metric: str) -> list[Cells]:
    """Every run's figure, by eval and configuration."""
    import polars as pl

    dimension = metric.removeprefix(RUBRIC)
    if dimension != metric and dimension not in set(ws.polars("rubric_scores")["dimension"]):
        return [{} for _ in parts]
    known = values_of(ws, metric).drop_nulls("value").sort("value", "run_number")
    cell, mean = ["iteration", *EVAL, "configuration"], pl.col("value").mean().alias("mean")
    grouped = known.group_by(cell).agg("run_number", "value", mean)
    found: dict[str, dict[tuple[EvalKey, str], EvalCell]] = defaultdict(dict)
    for iteration, eval_id, name, configuration, *runs, own_mean in grouped.iter_rows():
        cell_of = EvalCell(list(zip(*runs, strict=True)), own_mean)
        found[iteration][(eval_id, name), configuration] = cell_of
    return [found[part.iteration] for part in parts]


def list_evals(ws: Workspace, parts: Parts, _: str) -> list[list[EvalKey]]:
    """The evals that have a run."""
    found: dict[str, list[EvalKey]] = defaultdict(list)
    for iteration, id_, name in ws.polars("runs").select("iteration", *EVAL).unique().iter_rows():
        found[iteration].append((id_, name))
    return [found[part.iteration] for part in parts]


def count_means(ws: Workspace, parts: Parts, _: str) -> list[Rows]:
    """The rows of `summarize`: every metric of either side."""
    return _split_by_part(parts, stats.summarize(ws).iter_rows(named=True))


def count_sources(ws: Workspace, parts: Parts, _: str) -> list[Rows]:
    """The rows of `variance` for every dimension."""
    return _split_by_part(parts, stats.variance(ws).iter_rows(named=True))


FLIPS = ("newly failing", "newly passing")
TURNS = (*FLIPS, "less often", "more often", "as before", "unknown")
"""What became of an expectation from one iteration to another."""


def count_flips(ws: Workspace, parts: Parts, _: str) -> list[Rows]:
    """The rows of `discrimination_by_eval`, what fell furthest first; the class is a turn.

    Each is of one eval, and has its name in `evals`; where it has a p, that stands first in
    `reason`.
    """
    found = stats.discrimination_by_eval(ws, parts[0].baseline).to_dicts()
    for row in found:
        row["class"] = classify_change(row["baseline_pass_rate"], row["pass_rate"])
        row["evals"] = [row["eval_name"]]
        if row["p_adjusted"] is not None:
            row["reason"] = f"p = {row['p_adjusted']:.2g}. {row['reason']}"

    return _split_by_part(parts, sorted(found, key=lambda row: row["estimate"] or 0.0))


def classify_change(before: float | None, after: float | None) -> str:
    """What became of an expectation, by the share of runs that it passed in.

    It flipped where most runs passed before and fewer than half do now, or the other way.

    >>> classify_change(1.0, 0.0), classify_change(1.0, 0.5), classify_change(0.25, 0.75)
    ('newly failing', 'less often', 'newly passing')
    >>> classify_change(1.0, 1.0), classify_change(None, 1.0)
    ('as before', 'unknown')
    """
    if before is None or after is None:
        return "unknown"
    if before == after:
        return "as before"
    if after < before:
        return "newly failing" if before > 0.5 > after else "less often"
    return "newly passing" if before < 0.5 < after else "more often"


def _split_by_part(parts: Parts, found: Iterable[Row]) -> list[Rows]:
    """Rows, part by part."""
    rows: dict[str, Rows] = defaultdict(list)
    for row in found:
        rows[row["iteration"]].append(row)
    return [rows[part.iteration] for part in parts]


PARTS, ANSWERS = 4, 8
"""Parts of the workspace that are counted together, and lists of runs, that are kept at once."""


class Counted:
    """A workspace and what was counted of it. When it is read anew, there is another one."""

    def __init__(self, ws: Workspace, later: Later, *, turned: bool = False) -> None:
        """Nothing is counted yet, and what `later` knows is forgotten."""
        self.ws = swap_workspace(ws) if turned else ws
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

    def figures(self, count: Count, parts: Parts, metric: str) -> dict[Part, Any]:
        """What is counted of parts of one choice; None where it is being counted."""
        metric = metric if count is count_cells else ""  # all others are the same for every metric

        def count_parts(keys: Sequence[Any]) -> dict[Any, Any]:
            own = [part for _, part, _ in keys]
            return dict(zip(keys, count(self._tables_within(own), own, metric), strict=True))

        keys = {part: (count, part, metric) for part in parts}
        found = self._later.get_all(list(keys.values()), count_parts, len(keys))
        return {part: found[key] for part, key in keys.items()}

    def get(self, key: Hashable, count: Callable[[], Any]) -> Any:
        """Anything else that is slow to compute; None while it is being computed."""
        return self._later.get(key, count)

    def runs(self, choice: Choice, clicked: Selection | None) -> pl.DataFrame:
        """The runs that are meant; the last answers are kept."""
        key = (replace(choice, metric=""), clicked)
        return self._runs.get_or_make(key, lambda: runs_of(self.ws, choice, clicked))

    def words_and_things(self, shown: pl.DataFrame) -> list[tuple[str | None, Things]]:
        """What the shown runs can be searched by; without words while these are being read."""
        keys = ("words", *shown.select(RUN).rows())
        words = self.get(keys, lambda: self.finder.words(shown)) or [None] * shown.height
        return list(zip(words, self.finder.things(shown), strict=True))

    def _tables_within(self, parts: Parts) -> Workspace:
        """What of the workspace is in these parts; figures of the same parts share its tables."""
        with self._lock:
            return self._parts.get_or_make(tuple(parts), lambda: select_parts(self.ws, parts))
