"""How a draft tells the sides apart, beside what it replaces, and what becomes of the suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import fmean
from typing import TYPE_CHECKING, Any

from skill_eval_nb.stats import deltas
from skill_eval_nb.stats.comparison import compare
from skill_eval_nb.stats.inference.intervals import exact_tests
from skill_eval_nb.stats.names import in_order, natural
from skill_eval_nb.stats.pairing import side
from skill_eval_nb.stats.values import EVAL, GROUP, MODEL, RUN, runs_of
from skill_eval_nb.text import NOTHING, brief, chance, count, figure, signed

from .tried import Difference, Request, What, Where
from .values import Draft

if TYPE_CHECKING:
    import polars as pl

PLACE = [*GROUP, *EVAL]
BEFORE, AFTER = "_before", "_after"
SHOWN = ("estimate", "low", "high", "p", "verdict", "n_evals", "n_runs", "n_runs_baseline")
KEY = [*GROUP, *MODEL, "configuration", "baseline", "metric"]
Cell = tuple[list[float], list[float]]
"""The values of an eval of an iteration on the one side and on the baseline's."""
SAYS = {
    "separates": "it separates",
    "hurts": "the baseline does better",
    "always passes": "it tells nothing, since it always passes",
    "always fails": "it tells nothing, since it always fails",
    "no more than chance": "no more than chance",
}


@dataclass(frozen=True, slots=True)
class Differences:
    """The fields of `Tried` of these names."""

    sides: pl.DataFrame
    deltas: pl.DataFrame
    delta: Difference | None
    elsewhere: Difference | None
    replaced: Difference | None
    separates_better: bool | None
    why_better: str

    @property
    def proof(self) -> Difference | None:
        """What the answer is taken from."""
        return self.elsewhere or self.delta

    def parts(self) -> dict[str, Any]:
        """The fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def compared(
    request: Request,
    runs: pl.DataFrame,
    values: Mapping[What, pl.DataFrame],
    outcomes: Sequence[str],
    mean: str,
) -> Differences:
    """Count and compare on all evals, and on those that the draft was not found on.

    Args:
        request: what is tried.
        runs: the runs that it is tried on.
        values: of the draft and of what it replaces, as far as there is either: the keys of
            runs in the same order, `outcome`, `value` (null where there is none).
        outcomes: the outcomes that are counted.
        mean: what the column of the means is called.
    """
    import polars as pl

    who, level, found_on = request.sides(runs), request.level, list(request.draft.found_on)
    parts: dict[tuple[What, Where], pl.DataFrame] = {}
    for what, one in values.items():
        parts[what, "all"] = one
        if found_on:
            parts[what, "elsewhere"] = one.filter(~pl.col("eval_id").is_in(found_on))
    found = {key: differences(one, who, *key, level) for key, one in parts.items()}
    first = {key: several[0] if several else None for key, several in found.items()}
    proof: Where = "elsewhere" if found_on else "all"
    mine, theirs = first.get(("draft", proof)), first.get(("replaced", proof))
    is_better, why = None, "it replaces nothing"
    if "replaced" in values and "draft" not in values:
        why = "nothing comes in its place"
    elif "replaced" in values and (mine is None or theirs is None):
        why = "there are no two sides to tell apart"
    elif mine is not None and theirs is not None:
        own, other = parts["draft", proof], parts["replaced", proof]
        gained = own.with_columns((pl.col("value") - other["value"]).alias("value"))
        is_better, why = _better(_cells(gained, who), mine, theirs, level)
    rows = [asdict(one) for several in found.values() for one in several]
    words = dict.fromkeys(("what", "where", "configuration", "baseline"), pl.String)
    rates = dict.fromkeys(("mean", "baseline_mean", "estimate", "p", "least_p"), pl.Float64)
    counts = dict.fromkeys(("n_evals", "n_runs", "n_runs_baseline"), pl.Int64)
    return Differences(
        sides=pl.concat([counted(one, outcomes, *key, mean) for key, one in parts.items()]),
        deltas=pl.DataFrame(rows, {**words, **rates, **counts, "says": pl.String}),
        delta=first.get(("draft", "all")),
        elsewhere=first.get(("draft", "elsewhere")),
        replaced=theirs,
        separates_better=is_better,
        why_better=why,
    )


def counted(
    values: pl.DataFrame, outcomes: Sequence[str], what: What, where: Where, mean: str
) -> pl.DataFrame:
    """Rows of `sides`: how many runs came to which outcome on each side."""
    import polars as pl

    names = {outcome.replace(" ", "_"): outcome for outcome in outcomes}
    cells = values.group_by(*PLACE, "configuration").agg(
        pl.len().alias("runs"),
        *((pl.col("outcome") == one).sum().alias(name) for name, one in names.items()),
        pl.col("value").sort().mean().alias(mean),
    )
    rows = cells.group_by("configuration").agg(
        pl.col("runs", *names).sum().cast(pl.Int64), pl.col(mean).sort().mean()
    )
    own = rows.select(pl.lit(what).alias("what"), pl.lit(where).alias("where"), pl.all())
    return in_order(own, configuration=side)


def differences(
    values: pl.DataFrame, who: pl.DataFrame, what: What, where: Where, level: float
) -> list[Difference]:
    """Each configuration against its baseline, inside evals.

    Args:
        values: the keys of runs, and `value`: 0 and 1, or scores.
        who: what `stats.pairing.sides` gives.
        what: whose values they are.
        where: of which evals.
        level: 1 - alpha.
    """
    return [
        _difference(evals, pair, what, where, level) for pair, evals in _cells(values, who).items()
    ]


def _cells(
    values: pl.DataFrame, who: pl.DataFrame
) -> dict[tuple[str, str], list[tuple[str, Cell]]]:
    """Each pair of configuration and baseline, with the evals that have values on both sides.

    Each eval of each iteration is a stratum of its own, so nothing is compared across. Evals
    are named by workspace and id, so that one of two iterations is known as the same.
    """
    import polars as pl

    value = pl.col("value").drop_nulls().sort()
    own = values.group_by(*PLACE, "configuration").agg(value.alias("one"))
    other = own.rename({"one": "other", "configuration": "baseline"})
    both = who.drop_nulls(["configuration", "baseline"])
    cells = (
        both.join(own, on=[*GROUP, "configuration"], nulls_equal=True)
        .join(other, on=[*PLACE, "baseline"], nulls_equal=True)
        .filter(pl.col("one").list.len() > 0, pl.col("other").list.len() > 0)
        .sort(PLACE)
    )
    pairs = sorted(
        both.select("configuration", "baseline").unique().rows(),
        key=lambda pair: (side(pair[0]), natural(pair[1])),
    )
    found: dict[tuple[str, str], list[tuple[str, Cell]]] = {pair: [] for pair in pairs}
    columns = ("workspace", "eval_id", "configuration", "baseline", "one", "other")
    for workspace, eval_id, one, against, mine, theirs in cells.select(columns).iter_rows():
        found[one, against].append((f"{workspace}/{eval_id}", (mine, theirs)))
    return found


def _difference(
    evals: Sequence[tuple[str, Cell]],
    pair: tuple[str, str],
    what: What,
    where: Where,
    level: float,
) -> Difference:
    cells = [cell for _, cell in evals]
    one, other = ([fmean(cell[at]) for cell in cells] for at in (0, 1))
    met = {value for cell in cells for values in cell for value in values}
    p = least = None
    if cells and met <= {0, 1}:
        p, least = _exact(cells)
    elif cells:
        p = compare(cells, "suite", level).p
    estimate = fmean(a - b for a, b in zip(one, other, strict=True)) if cells else None
    return Difference(
        what=what,
        where=where,
        configuration=pair[0],
        baseline=pair[1],
        mean=fmean(one) if cells else None,
        baseline_mean=fmean(other) if cells else None,
        estimate=estimate,
        p=p,
        least_p=least,
        n_evals=len({name for name, _ in evals}),
        n_runs=sum(len(cell[0]) for cell in cells),
        n_runs_baseline=sum(len(cell[1]) for cell in cells),
        says=_says(estimate, p, least, met, level),
    )


def _exact(cells: Sequence[Cell]) -> tuple[float, float]:
    """The p of passes on two sides, eval by eval, and the smallest that there could be."""
    import polars as pl

    rows = [(0, sum(one), len(one), sum(other), len(other)) for one, other in cells]
    names = ["row", "passed", "scored", "passed_baseline", "scored_baseline"]
    found = exact_tests(pl.DataFrame(rows, dict.fromkeys(names, pl.Int64), orient="row"))
    ((_, p, least),) = found.iter_rows()
    return p, least


def _says(
    estimate: float | None, p: float | None, least: float | None, met: set[float], level: float
) -> str:
    alpha = 1 - level + NOTHING
    if estimate is None or p is None:
        return "too little data"
    if p <= alpha and abs(estimate) > NOTHING:
        return "separates" if estimate > 0 else "hurts"
    if least is not None and least > alpha:
        return "too little data"
    if met in ({1}, {0}):
        return "always passes" if met == {1} else "always fails"
    return "no more than chance"


def _better(
    gained: Mapping[tuple[str, str], Sequence[tuple[str, Cell]]],
    mine: Difference,
    theirs: Difference,
    level: float,
) -> tuple[bool | None, str]:
    """Whether a draft tells the sides apart better than what it replaces, and why.

    Run by run the one value is taken from the other; what is left is compared between the
    sides by the exact permutation inside evals, as any figure is.
    """
    cells = [cell for _, cell in gained.get((mine.configuration, mine.baseline), [])]
    if not cells or mine.estimate is None or theirs.estimate is None:
        return None, "no eval has a figure of both on both sides"
    found = compare(cells, "suite", level)
    estimate, p = found.estimate or 0.0, 1.0 if found.p is None else found.p
    against = f"{signed(mine.estimate)} against {signed(theirs.estimate)}"
    if estimate <= NOTHING:
        return False, f"it tells the sides apart no more than what it replaces: {against}"
    if p > 1 - level + NOTHING:
        return None, f"{against}, which may be chance (exact p {chance(p)} for the gain)"
    if mine.says != "separates":
        return False, f"{against}: it is less misleading, but it does not separate itself"
    return True, f"{against}, exact p {chance(p)} for the gain"


def suite_of(request: Request, by_run: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """`stats.deltas` over all evals, with the runs as they are and as they would be.

    Args:
        request: what is tried.
        by_run: of each run that changes, `<metric>_after`.
        metrics: what is compared.

    Returns:
        KEY, and SHOWN twice: `…_before` and `…_after`.
    """
    import polars as pl

    runs = runs_of(request.ws).join(by_run.select(GROUP).unique(), on=GROUP, how="semi")
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
            deltas(frame, metric, request.baseline, level=request.level)
            .select(*KEY, *SHOWN)
            .rename({name: f"{name}{end}" for name in SHOWN})
            for frame, end in ((runs, BEFORE), (after, AFTER))
        )
        parts.append(first.join(second, on=KEY, how="full", coalesce=True, nulls_equal=True))
    return pl.concat(parts)


# ── in words ─────────────────────────────────────────────────────────────────────────────────


def in_words(draft: Draft, proof: Difference, begins: str) -> str:
    """The comparison that an answer rests on, without its full stop."""
    on = " that it was not found on" if proof.where == "elsewhere" else ""
    if proof.mean is None or proof.baseline_mean is None or proof.p is None:
        none = f"No proof: no eval{on} has a figure on both sides"
        return f"{none} (it was found on {', '.join(draft.found_on)})" if on else none
    sides = (
        f"{figure(proof.mean)} in {brief(proof.configuration)} "
        f"({count(proof.n_runs, 'run')}) and {figure(proof.baseline_mean)} in "
        f"{brief(proof.baseline)} ({count(proof.n_runs_baseline, 'run')})"
    )
    if proof.says == "too little data" and proof.least_p is not None:
        says = f"with so few runs the smallest p is {figure(proof.least_p)}"
    else:
        says = SAYS[proof.says]
    return (
        f"{begins} {sides}, {signed(proof.estimate or 0)} on {count(proof.n_evals, 'eval')}{on}, "
        f"exact p {chance(proof.p)}: {says}"
    )


def without_it(
    draft: Draft, suite: pl.DataFrame, metric: str, gates: int = 0, begins: str | None = None
) -> str:
    """What the suite's difference would be without what goes, or with what `begins` says."""
    begins = begins or f"Without {brief(draft.target or '')}"
    rows = suite.filter(metric=metric).drop_nulls("estimate_before")
    if rows.is_empty():
        return f"{begins} nothing can be compared: there are no two sides{gates_in_words(gates)}."
    row = rows.row(-1, named=True)
    where = "" if row["iteration"] == "none" else f" of {brief(row['iteration'])}"
    figures = []
    for when in (BEFORE, AFTER):
        estimate, p = row[f"estimate{when}"], row[f"p{when}"]
        exact = (
            "no p without two runs of an eval on a side" if p is None else f"exact p {chance(p)}"
        )
        figures.append(
            "nothing to compare" if estimate is None else f"{signed(estimate)} ({exact})"
        )
    return (
        f"{begins} the suite's difference in {metric.replace('_', ' ')}{where} goes from "
        f"{figures[0]} to {figures[1]}{gates_in_words(gates)}."
    )


def gates_in_words(number: int) -> str:
    """How many gates would change; empty where none would."""
    return f"; the gate of {count(number, 'run')} would change" if number else ""
