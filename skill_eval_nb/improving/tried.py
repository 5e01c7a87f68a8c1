"""The result of trying a draft: the answer in a sentence, and the tables behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from skill_eval_nb.running.asking import Terms
from skill_eval_nb.running.protocol import no_such, refuse
from skill_eval_nb.stats import deltas
from skill_eval_nb.stats.comparison import compare
from skill_eval_nb.stats.inference import exact_tests
from skill_eval_nb.stats.pairing import choose_sides, pair_evals, side_key
from skill_eval_nb.stats.values import (
    EVAL,
    ITERATION,
    MODEL,
    RUN,
    natural_key,
    runs_of,
    sort_rows,
    stand_in_keys,
)
from skill_eval_nb.stats.verdict import say_luck
from skill_eval_nb.tables.columns import iterate_rows, to_backend_of
from skill_eval_nb.text import MISSING, NOTHING, clip, count, format_figure, format_p, with_sign
from skill_eval_nb.view import Block, Items, Mark, Shown, Table, Text, Title

from .values import Draft

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

Status = Literal["tried", "priced", "not tried"]
What = Literal["draft", "replaced"]
Where = Literal["all", "elsewhere"]
Values = Sequence[float | None]
"""The verdict (0 or 1) or the score of each run; None if there is none."""

TABLES = ("sides", "by_run", "suite")
RUN_ERRORED = "the run errored"
"""The reason why such a run has no verdict."""
PLACE = [*ITERATION, *EVAL]
BEFORE, AFTER = "_before", "_after"
ALPHA = 0.05 + NOTHING
GAIN = "gain"
"""The values of a draft minus the values of what it replaces, run by run."""
SHOWN = ("estimate", "low", "high", "p", "verdict", "n_evals", "n_runs", "n_runs_baseline")
KEY = [*ITERATION, *MODEL, "configuration", "baseline", "metric"]
SAYS = {
    "separates": "it separates",
    "hurts": "the baseline does better",
    "always passes": "it tells nothing, since it always passes",
    "always fails": "it tells nothing, since it always fails",
    "no more than chance": "no more than chance",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """The first configuration compared with the baseline.

    Attributes:
        where: all evals of the draft, or only those that it was not found on.
        configuration: the compared side.
        baseline: the configuration that it is compared with.
        mean: pass rate (0-1) or score (1-5), averaged over the runs of each eval of an iteration,
            then over these; None if no eval has a figure on both sides.
        baseline_mean: the mean of the baseline.
        estimate: the mean difference of the evals.
        p: exact and two-sided, by permuting the sides inside each eval of an iteration; None if
            no eval has a figure on both sides.
        least_p: the smallest p that is possible with this many runs; None for scores.
        n_evals: evals with a figure on both sides.
        n_runs: runs with a figure in these evals.
        n_runs_baseline: the baseline's runs with a figure.
        says: `separates`, `hurts` (the baseline does better), `always passes`,
            `always fails`, `no more than chance` or `too little data`.
    """

    where: Where
    configuration: str
    baseline: str
    mean: float | None
    baseline_mean: float | None
    estimate: float | None
    p: float | None
    least_p: float | None
    n_evals: int
    n_runs: int
    n_runs_baseline: int
    says: str


@dataclass(frozen=True, eq=False, repr=False)
class Tried(Shown):
    """The result of trying a draft on the stored runs.

    Tables are polars or pandas, like the workspace's, and empty if they do not apply.

    Attributes:
        draft: what was tried.
        status: `tried`; `priced` if a judge is needed and no budget was given; else `not tried`.
        answer: one sentence with the figures.
        delta: over all evals of the draft; None if there are not two sides.
        elsewhere: over the evals that the draft was not found on, the only ones that prove
            anything; None if no outputs were seen when it was drafted.
        replaced: the same for what it would replace; None if it replaces nothing.
        separates_better: whether the draft separates the sides better than what it replaces;
            None if unknown.
        why_better: the reason in words.
        gates_changed: runs whose gate would open or close.
        price_usd: the most US dollars that judging can cost; None if nothing has to be judged or no
            price is known.
        cost_usd: US dollars that this call spent; None if a price is not known.
        to_judge: runs without a judging of the draft.
        sides: `what` × `where` × `configuration`: `runs`, `passed`, `failed` (for a dimension
            `scored`), `errored`, `not_scored`, and `pass_rate` (or `score`), the mean over
            evals; null if nothing was scored.
        by_run: the run keys, the verdict (`passed`, or `score`) with its `evidence`, what it
            replaces had, and each figure of the run `…_before` and `…_after`.
        suite: the difference between the sides for the whole suite, before and after the change: a
            row per iteration, configuration and metric, with columns of `stats.deltas` as
            `…_before` and `…_after`.
        notes: what was left out, and why.
    """

    draft: Draft
    status: Status
    answer: str
    sides: Any
    by_run: Any
    suite: Any
    delta: Difference | None = None
    elsewhere: Difference | None = None
    replaced: Difference | None = None
    separates_better: bool | None = None
    why_better: str = ""
    gates_changed: int = 0
    price_usd: float | None = None
    cost_usd: float | None = 0.0
    to_judge: int = 0
    notes: tuple[str, ...] = ()

    def _blocks(self) -> Iterator[Block]:
        draft = self.draft
        what = draft.part.replace("_", " ").removesuffix("s")
        target = f" {draft.called or clip(draft.target)}" if draft.target else ""
        yield Title(f"{draft.key}: {draft.kind} {what}{target}", draft.why)
        yield Mark("info", self.status, self.answer)
        rows = list(iterate_rows(self.sides))
        heads = tuple(rows[0]) if rows else ()
        figures = set(heads) - {"what", "where", "configuration"}
        cells = [[_cell(value) for value in row.values()] for row in rows]
        yield Table(heads, cells, "How often it passes on each side", figures)
        if self.replaced is not None and self.delta is not None:
            words = {None: "Compared with", True: "Better than", False: "No better than"}
            begins = words[self.separates_better]
            yield Text(f"{begins} what it replaces: {self.why_better}.")
        cells = [
            [
                row["iteration"],
                row["configuration"],
                row["metric"].replace("_", " "),
                *(_say_difference(row, when) for when in (BEFORE, AFTER)),
            ]
            for row in iterate_rows(self.suite)
        ]
        heads = ("iteration", "configuration", "metric", "before", "after")
        yield Table(heads, cells, "The suite's difference, before and after")
        yield Items(self.notes, "Also note")


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return MISSING
    return format_figure(value) if isinstance(value, float) else str(value)


# ── what is tried ────────────────────────────────────────────────────────────────────────────


class OnRuns(NamedTuple):
    """The values of a check or a dimension, one per run, with the evidence if there is any."""

    values: Values
    evidence: Sequence[str | None] | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """What to try, on which runs, and how; see `try_out`.

    `runs` has RUN, the figures of the runs, `folder`, and `reason`: why the outputs of a run
    cannot be checked; null if they can.
    """

    draft: Draft
    ws: Workspace
    runs: pl.DataFrame
    baseline: str | None
    allow_scripts: bool
    near: int
    judge_model: str | None
    terms: Terms

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            Refused: one is out of range, or there is no such baseline.
        """
        if self.near < 0:
            raise refuse(f"near is {self.near}: it must be a number of lines, 0 or more")
        known = sorted(set(self.ws.polars("runs")["configuration"]))
        if self.baseline is not None and self.baseline not in known:
            raise refuse(no_such("configuration", self.baseline, known))

    def select_rows(self, table: str) -> pl.DataFrame:
        """The rows of a table that are of these runs, each with the index `run` and a `place`."""
        import polars as pl

        # Filter by eval first: joining all rows of a workspace would take longer than all the rest.
        evals = pl.col("eval_id").is_in(self.runs["eval_id"].unique().to_list())
        rows = self.ws.polars(table).filter(evals).with_columns(*stand_in_keys())
        numbered = self.runs.select(RUN).with_row_index("run")
        rows = rows.with_row_index("place")
        return rows.join(numbered, RUN, nulls_equal=True, maintain_order="left")

    def conclude(self, status: Status, answer: str, **more: Any) -> Tried:
        """A result; tables become polars or pandas like the workspace's, missing ones empty."""
        import polars as pl

        frames = {name: to_backend_of(self.ws, more.pop(name, pl.DataFrame())) for name in TABLES}
        return Tried(self.draft, status, answer, **frames, **more)

    def make_compared_result(
        self,
        found: Mapping[What, OnRuns],
        figures: pl.DataFrame,
        metrics: Sequence[str],
        *,
        scored: bool = False,
        begins: str = "",
        gates: int = 0,
        **more: Any,
    ) -> Tried:
        """The result for a draft that was tried.

        Args:
            found: the values of the draft and of what it replaces, if there are any.
            figures: `<metric>_before` and `<metric>_after` of each run.
            metrics: the suite's metrics that change; the first one is named in the answer.
            scored: whether the values are scores; else 1 passed and 0 failed.
            begins: the words for a draft without values of its own; by default without its target.
            gates: runs whose gate would open or close.
            more: other fields of `Tried`.
        """
        by_run = self.by_run(found, scored=scored).hstack(figures)
        suite = self.compare_suite(by_run, metrics)
        compared = self.compare({what: own.values for what, own in found.items()}, scored=scored)
        if "draft" in found:
            answer = _say_values(self.draft, found["draft"], compared, scored=scored)
        else:
            words = begins or f"Without {self.draft.called or clip(self.draft.target or '')}"
            answer = _say_suite(words, suite, metrics[0])
        change = f"; the gate of {count(gates, 'run')} would change" if gates else ""
        more |= {"by_run": by_run, "suite": suite, "gates_changed": gates, **compared}
        return self.conclude("tried", f"{answer}{change}.", **more)

    def by_run(self, found: Mapping[What, OnRuns], *, scored: bool = False) -> pl.DataFrame:
        """The runs with the values and the evidence of the draft and of what it replaces."""
        import polars as pl

        columns = []
        name, kind = ("score", pl.Float64) if scored else ("passed", pl.Boolean)
        for what, (values, evidence) in found.items():
            begin = "" if what == "draft" else "replaced_"
            columns.append(pl.Series(f"{begin}{name}", values, kind))
            if evidence is not None:
                columns.append(pl.Series(f"{begin}evidence", evidence, pl.String))
        return self.runs.select(RUN).with_columns(columns)

    def compare(self, values: Mapping[What, Values], *, scored: bool) -> dict[str, Any]:
        """The sides, counted and compared: on all evals, and where the draft was not found.

        Each eval of each iteration is its own pair, so nothing is compared across iterations.

        Returns:
            The corresponding fields of `Tried`.
        """
        import polars as pl

        every = runs_of(self.ws).join(
            self.runs.select(ITERATION).unique(), on=ITERATION, how="semi"
        )
        who, found_on = choose_sides(every, self.baseline), list(self.draft.found_on)
        evals: dict[Where, pl.Expr] = {"all": pl.col("eval_id").is_not_null()}
        evals |= {"elsewhere": ~pl.col("eval_id").is_in(found_on)} if found_on else {}
        *_, proof = evals
        columns = {what: pl.Series("value", own, pl.Float64) for what, own in values.items()}
        if len(values) == 2:
            columns |= {GAIN: columns["draft"] - columns["replaced"]}
        rows = pl.concat(
            self.runs.select(*RUN, "status", value, what=pl.lit(what), where=pl.lit(where)).filter(
                chosen
            )
            for what, value in columns.items()
            for where, chosen in evals.items()
        )
        alike = {name: pl.lit(None, pl.String) for name in MODEL}
        metric = pl.concat_str("what", "where", separator=" ")
        paired = pair_evals(rows.with_columns(metric=metric, **alike), who).drop_nulls("estimate")
        against = who.select("configuration", "baseline").drop_nulls().unique()
        against = sort_rows(against, configuration=side_key, baseline=natural_key).rows()[:1]
        found = {
            (what, where): _find_difference(paired, what, where, *both)
            for both in against
            for what in values
            for where in evals
        }
        is_better, why = None, "there are no two sides to compare"
        if len(values) < 2:
            why = "it replaces nothing" if "draft" in values else "nothing replaces it"
        elif found:
            both = found["draft", proof], found["replaced", proof]
            is_better, why = _is_better(paired.filter(metric=f"{GAIN} {proof}"), *both)
        return {
            "sides": _count_outcomes(rows.filter(pl.col("what") != GAIN), scored=scored),
            "delta": found.get(("draft", "all")),
            "elsewhere": found.get(("draft", "elsewhere")),
            "replaced": found.get(("replaced", proof)),
            "separates_better": is_better,
            "why_better": why,
        }

    def compare_suite(self, by_run: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
        """`stats.deltas` over all evals, before and after the change.

        Args:
            by_run: `<metric>_after` for each run that changes.
            metrics: the metrics to compare.

        Returns:
            KEY, and SHOWN twice: `…_before` and `…_after`.
        """
        import polars as pl

        runs = runs_of(self.ws).join(by_run.select(ITERATION).unique(), on=ITERATION, how="semi")
        changed = by_run.select(*RUN, *(f"{metric}{AFTER}" for metric in metrics), mine=True)
        after = (
            runs.join(changed, on=RUN, how="left", nulls_equal=True)
            .with_columns(
                pl.when("mine").then(f"{metric}{AFTER}").otherwise(metric).alias(metric)
                for metric in metrics
            )
            .select(runs.columns)
        )
        parts = []
        for metric in metrics:
            first, second = (
                deltas(frame, metric, self.baseline)
                .select(*KEY, *SHOWN)
                .rename({name: f"{name}{end}" for name in SHOWN})
                for frame, end in ((runs, BEFORE), (after, AFTER))
            )
            parts.append(first.join(second, on=KEY, how="full", coalesce=True, nulls_equal=True))
        return pl.concat(parts)


# ── the sides compared ───────────────────────────────────────────────────────────────────────


def _count_outcomes(rows: pl.DataFrame, *, scored: bool) -> pl.DataFrame:
    """`sides`: how many runs have which outcome on each side."""
    import polars as pl

    value, errored = pl.col("value"), pl.col("status") == "errored"
    passed = {"passed": value == 1, "failed": value < 1}
    outcomes = {"scored": value.is_not_null()} if scored else passed
    outcomes = {name: ~errored & column for name, column in outcomes.items()}
    outcomes |= {"errored": errored, "not_scored": ~errored & value.is_null()}
    mean, keys = "score" if scored else "pass_rate", ("what", "where", "configuration")
    cells = rows.group_by(*keys, *PLACE).agg(
        pl.len().alias("runs"),
        *(column.sum().alias(name) for name, column in outcomes.items()),
        value.sort().mean().alias(mean),
    )
    own = cells.group_by(keys).agg(
        pl.col("runs", *outcomes).sum().cast(pl.Int64), pl.col(mean).sort().mean()
    )
    return sort_rows(own, what=natural_key, where=natural_key, configuration=side_key)


def _find_difference(
    paired: pl.DataFrame, what: What, where: Where, mine: str, baseline: str
) -> Difference:
    """A configuration compared with its baseline, inside evals."""
    import polars as pl

    evals = paired.filter(metric=f"{what} {where}", configuration=mine, baseline=baseline)
    figures = evals.select(
        pl.col("mean", "baseline_mean", "estimate").mean(),
        pl.col("n_runs", "n_runs_baseline").sum(),
        pl.struct("workspace", "eval_id").n_unique().alias("n_evals"),
    ).row(0, named=True)
    cells, p, least = evals.select("values", "baseline_values").rows(), None, None
    met = {value for cell in cells for own in cell for value in own}
    if met and met <= {0, 1}:
        p, least = _exact_p(evals)
    elif met:
        p = compare(cells).p
    says = _classify(figures["estimate"], p, least, met)
    return Difference(where, mine, baseline, **figures, p=p, least_p=least, says=says)


def _exact_p(paired: pl.DataFrame) -> tuple[float, float]:
    """The p of the passes on two sides, eval by eval, and the smallest possible p."""
    import polars as pl

    tables = paired.select(
        row=pl.lit(0, pl.Int64),
        passed=pl.col("values").list.sum().cast(pl.Int64),
        scored="n_runs",
        passed_baseline=pl.col("baseline_values").list.sum().cast(pl.Int64),
        scored_baseline="n_runs_baseline",
    )
    ((_, p, least),) = exact_tests(tables).iter_rows()
    return p, least


def _classify(estimate: float | None, p: float | None, least: float | None, met: set[float]) -> str:
    if estimate is None or p is None:
        return "too little data"
    if p <= ALPHA and abs(estimate) > NOTHING:
        return "separates" if estimate > 0 else "hurts"
    if least is not None and least > ALPHA:
        return "too little data"
    if met in ({1}, {0}):
        return "always passes" if met == {1} else "always fails"
    return "no more than chance"


def _is_better(
    gained: pl.DataFrame, mine: Difference, theirs: Difference
) -> tuple[bool | None, str]:
    """Whether a draft separates the sides better than what it replaces, and why.

    The two values are subtracted run by run; the differences are compared between the sides by
    the exact permutation inside evals, like any other figure.
    """
    gained = gained.filter(configuration=mine.configuration, baseline=mine.baseline)
    cells = gained.select("values", "baseline_values").rows()
    if not cells or mine.estimate is None or theirs.estimate is None:
        return None, "no eval has a figure of both on both sides"
    found = compare(cells)
    estimate, p = found.estimate or 0.0, 1.0 if found.p is None else found.p
    against = f"{with_sign(mine.estimate)} against {with_sign(theirs.estimate)}"
    if estimate <= NOTHING:
        return False, f"it separates the sides no better than what it replaces: {against}"
    if p > ALPHA:
        return None, f"{against}, which may be chance (exact p {format_p(p)} for the gain)"
    if mine.says != "separates":
        return False, f"{against}: it is less misleading, but it does not separate itself"
    return True, f"{against}, exact p {format_p(p)} for the gain"


# ── in words, without the full stop ──────────────────────────────────────────────────────────


def _say_values(draft: Draft, own: OnRuns, found: Mapping[str, Any], *, scored: bool) -> str:
    """How the sides differ in what a draft adds."""
    known = [float(value) for value in own.values if value is not None]
    runs = count(len(known), "run")
    if not known:
        ((reason, times),) = Counter(own.evidence or ()).most_common(1)
        return f"It was scored in none of {count(len(own.values), 'run')}: {times} × {reason}"
    proof: Difference | None = found["elsewhere"] or found["delta"]
    if proof is None:
        passes = f"It passes in {sum(known):,.0f} of {runs}"
        scores = f"It scores {format_figure(fmean(known))} on average in {runs}"
        return f"{scores if scored else passes}; there are no two sides"
    on = " that it was not found on" if proof.where == "elsewhere" else ""
    if proof.mean is None or proof.baseline_mean is None or proof.p is None:
        none = f"No proof: no eval{on} has a figure on both sides"
        return f"{none} (it was found on {', '.join(draft.found_on)})" if on else none
    sides = (
        f"{format_figure(proof.mean)} in {clip(proof.configuration)} "
        f"({count(proof.n_runs, 'run')}) and {format_figure(proof.baseline_mean)} in "
        f"{clip(proof.baseline)} ({count(proof.n_runs_baseline, 'run')})"
    )
    if proof.says == "too little data" and proof.least_p is not None:
        says = f"even the clearest result of so few runs {say_luck(proof.least_p)}"
    else:
        says = SAYS[proof.says]
    return (
        f"Its {'mean score' if scored else 'pass rate'} is {sides}, "
        f"{with_sign(proof.estimate or 0)} on {count(proof.n_evals, 'eval')}{on}, "
        f"exact p {format_p(proof.p)}: {says}"
    )


def _say_suite(begins: str, suite: pl.DataFrame, metric: str) -> str:
    """How the suite's difference would change."""
    rows = suite.filter(metric=metric).drop_nulls("estimate_before")
    if rows.is_empty():
        return f"{begins} nothing can be compared: there are no two sides"
    row = rows.row(-1, named=True)
    where = "" if row["iteration"] == "none" else f" of {clip(row['iteration'])}"
    before, after = (_say_difference(row, when) for when in (BEFORE, AFTER))
    return (
        f"{begins} the suite's difference in {metric.replace('_', ' ')}{where} goes from "
        f"{before} to {after}"
    )


def _say_difference(row: Mapping[str, Any], when: str) -> str:
    estimate, p = row[f"estimate{when}"], row[f"p{when}"]
    if _cell(estimate) == MISSING:
        return "nothing to compare"
    none = "no p without two runs of an eval per side"
    return f"{with_sign(estimate)} ({none if _cell(p) == MISSING else f'exact p {format_p(p)}'})"
