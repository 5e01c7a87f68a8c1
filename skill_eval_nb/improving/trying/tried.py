"""What came of trying a draft: the answer in a sentence, and the tables behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ..values import Draft

Status = Literal["tried", "priced", "not tried"]

What = Literal["draft", "replaced"]

Where = Literal["all", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A configuration against the baseline: means over evals of what their runs have.

    Attributes:
        what: the draft, or what it would replace.
        where: all evals of the draft, or those alone that it was not found on.
        configuration: the side that is compared.
        baseline: what it is compared with.
        mean: pass rate (0-1) or score (1-5); runs are averaged inside an eval of an iteration
            first, then these; None where no eval has a figure on both sides.
        baseline_mean: the same of the baseline.
        estimate: the mean of the evals' differences.
        p: exact and two-sided, from dealing out the sides anew inside each eval of an
            iteration; None where no eval has a figure on both sides.
        least_p: no outcome of so many runs brings p below it; None for scores.
        n_evals: evals with a figure on both sides.
        n_runs: their runs with a figure.
        n_runs_baseline: the same of the baseline.
        says: `separates`, `hurts` (the baseline does better), `always passes`,
            `always fails`, `no more than chance` or `too little data`.
    """

    what: What
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


@dataclass(frozen=True, slots=True)
class About:
    """The judged expectation that a drafted check is held against.

    Attributes:
        text: of the expectation.
        how: how it was found, in words.
        likeness: of the wordings, 0-1; None where the draft names it.
    """

    text: str
    how: str
    likeness: float | None = None


@dataclass(frozen=True, eq=False)
class Tried:
    """What came of trying a draft on the stored runs.

    Tables are of the workspace's kind, polars or pandas, and empty where they do not apply.

    Attributes:
        draft: what was tried.
        status: `tried`; `priced` where a judge is needed and no budget was given; else
            `not tried`.
        answer: one sentence, with its figures.
        delta: of all evals of the draft; None where there are no two sides.
        elsewhere: of the evals that the draft was not found on, which alone prove anything;
            None where it was not mined from outputs.
        replaced: what it would replace, on the same evals as the answer; None without it.
        separates_better: whether the draft tells the sides apart better than what it
            replaces; None where nobody can say.
        why_better: the reason in words.
        about: the judged expectation that it is held against; None where there is none.
        gates_changed: runs whose gate would open or close.
        price_usd: US dollars that judging costs at most; None where nothing has to be judged
            or no price is known.
        cost_usd: US dollars that this call spent; None where a price is not known.
        to_judge: runs that have no judging of the draft yet.
        sides: `what` × `where` × `configuration`: `runs`, `passed`, `failed` (for a dimension
            `scored`), `errored`, `not_scored`, and `pass_rate` (or `score`), the mean over
            evals; null where nothing was scored.
        deltas: each `Difference` as a row.
        by_run: the run keys, the verdict (`passed`, or `score`) with its `evidence`, what it
            replaces had, and each figure of the run `…_before` and `…_after`.
        disagreements: the runs where the draft's verdict is not the judge's, with both
            evidences.
        notes: what else to know: what was left out, and why.
    """

    draft: Draft
    status: Status
    answer: str
    sides: Any
    deltas: Any
    by_run: Any
    disagreements: Any
    _suite: Callable[[], Any]
    delta: Difference | None = None
    elsewhere: Difference | None = None
    replaced: Difference | None = None
    separates_better: bool | None = None
    why_better: str = ""
    about: About | None = None
    gates_changed: int = 0
    price_usd: float | None = None
    cost_usd: float | None = 0.0
    to_judge: int = 0
    notes: tuple[str, ...] = ()

    @cached_property
    def suite(self) -> Any:
        """The difference of the whole suite as it is and as it would be.

        A row an iteration, configuration and metric: what `stats.deltas` gives, `…_before` and
        `…_after`. It is reckoned when it is first asked for, from the tables that were tried on.
        """
        return self._suite()

    def __repr__(self) -> str:
        from .view import text

        return text(self)

    def _repr_html_(self) -> str:
        from .view import html

        return html(self)
