"""What came of a try, in one sentence with its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from skill_eval_nb.stats.phrases import brief, chance, count, figure, signed

from ..values import Draft
from .checking import Verdict
from .tried import Difference

if TYPE_CHECKING:
    import polars as pl

SAYS = {
    "separates": "it separates",
    "hurts": "the baseline does better",
    "always passes": "it tells nothing, since it always passes",
    "always fails": "it tells nothing, since it always fails",
    "no more than chance": "no more than chance",
}


def of_checks(
    draft: Draft, proof: Difference | None, verdicts: Sequence[Verdict], gates: int
) -> str:
    """How the sides differ in a drafted check."""
    scored = [one for one in verdicts if one.passed is not None]
    if not scored:
        ((reason, times),) = Counter(one.evidence for one in verdicts).most_common(1)
        return f"It was scored in none of {count(len(verdicts), 'run')}: {times} × {reason}."
    passed = sum(one.passed is True for one in scored)
    if proof is None:
        said = f"It passes in {passed:,} of {count(len(scored), 'run')}; there are no two sides"
    else:
        said = compared_in_words(draft, proof, "Its pass rate is")
    return f"{said}{_gates(gates)}."


def compared_in_words(draft: Draft, proof: Difference, begins: str) -> str:
    """The comparison that an answer rests on, without its full stop."""
    on = " that it was not found on" if proof.where == "elsewhere" else ""
    if proof.mean is None or proof.baseline_mean is None or proof.p is None:
        lacking = "no eval" if not on else f"no eval{on}"
        told = f"No proof: {lacking} has a figure on both sides"
        return f"{told} (it was found on {', '.join(draft.found_on)})" if on else told
    sides = (
        f"{figure(proof.mean)} in {brief(proof.configuration)} "
        f"({count(proof.n_runs, 'run')}) and {figure(proof.baseline_mean)} in "
        f"{brief(proof.baseline)} ({count(proof.n_runs_baseline, 'run')})"
    )
    evals = f"{count(proof.n_evals, 'eval')}{on}"
    p = f"exact p {chance(proof.p)}"
    if proof.says == "too little data" and proof.least_p is not None:
        says = f"with so few runs the smallest p is {figure(proof.least_p)}"
    else:
        says = SAYS[proof.says]
    return f"{begins} {sides}, {signed(proof.estimate or 0)} on {evals}, {p}: {says}"


def of_scores(
    draft: Draft,
    proof: Difference | None,
    scores: Sequence[float | None],
    evidence: Sequence[str],
) -> str:
    """How the sides differ in a drafted dimension."""
    given = [one for one in scores if one is not None]
    if not given:
        ((reason, times),) = Counter(evidence).most_common(1)
        return f"None of {count(len(scores), 'run')} has a score: {times} × {reason}."
    if proof is None:
        mean = figure(fmean(given))
        return f"It scores {mean} on average in {count(len(given), 'run')}; there are no two sides."
    return f"{compared_in_words(draft, proof, 'Its mean score is')}."


def price_in_words(runs: int, model: str, usd: float | None) -> str:
    """What judging would cost, for somebody who has not said what may be spent."""
    if usd is None:
        told = "no price is known for it: add it to the table of prices"
    else:
        told = f"${figure(usd)} at most: say budget_usd to have it done"
    return f"{count(runs, 'run')} would be judged by {brief(model)}, {told}."


def without_it(
    draft: Draft, suite: pl.DataFrame, metric: str, gates: int, begins: str | None = None
) -> str:
    """What the suite's difference would be without what goes, or with what `begins` says."""
    begins = begins or f"Without {brief(draft.target or '')}"
    rows = suite.filter(metric=metric).drop_nulls("estimate_before")
    if rows.is_empty():
        return f"{begins} nothing can be compared: there are no two sides{_gates(gates)}."
    row = rows.row(-1, named=True)
    where = "" if row["iteration"] == "none" else f" of {brief(row['iteration'])}"
    before, after = (
        _with_p(row[f"estimate_{when}"], row[f"p_{when}"]) for when in ("before", "after")
    )
    return (
        f"{begins} the suite's difference in {metric.replace('_', ' ')}{where} goes from "
        f"{before} to {after}{_gates(gates)}."
    )


def _with_p(estimate: float | None, p: float | None) -> str:
    if estimate is None:
        return "nothing to compare"
    told = "no p without two runs of an eval on a side" if p is None else f"exact p {chance(p)}"
    return f"{signed(estimate)} ({told})"


def _gates(number: int) -> str:
    return f"; the gate of {count(number, 'run')} would change" if number else ""
