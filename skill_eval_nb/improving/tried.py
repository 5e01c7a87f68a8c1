"""What comes of trying a draft: the answer in a sentence, and the tables behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.running.asking import Terms
from skill_eval_nb.running.refused import no_such, refuse
from skill_eval_nb.stats.pairing import sides
from skill_eval_nb.stats.values import GROUP, runs_of
from skill_eval_nb.tables.frames import like
from skill_eval_nb.text import MISSING, brief, chance, count, figure, percent, signed
from skill_eval_nb.view import Block, Items, Mark, Shown, Table, Text, Title

from .values import Draft

if TYPE_CHECKING:
    import polars as pl

    from skill_eval_nb.tables import Workspace

Status = Literal["tried", "priced", "not tried"]
What = Literal["draft", "replaced"]
Where = Literal["all", "elsewhere"]
TABLES = ("sides", "deltas", "by_run", "disagreements")
RUN_ERRORED = "the run errored"
"""The reason for which such a run has no verdict."""
MOST = 8
"""More disagreements than these are counted, not listed."""


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


@dataclass(frozen=True, eq=False, repr=False)
class Tried(Shown):
    """What came of trying a draft on the stored runs.

    Tables are of the workspace's kind, polars or pandas, and empty where they do not apply.

    Attributes:
        draft: what was tried.
        status: `tried`; `priced` where a judge is needed and no budget was given; else
            `not tried`.
        answer: one sentence, with its figures.
        delta: of all evals of the draft; None where there are no two sides.
        elsewhere: of the evals that the draft was not found on, which alone prove anything;
            None where it was not found by looking at outputs.
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

    def _blocks(self) -> Iterator[Block]:
        draft = self.draft
        what = draft.part.replace("_", " ").removesuffix("s")
        target = f" {brief(draft.target)}" if draft.target else ""
        yield Title(f"{draft.key}: {draft.kind} {what}{target}", draft.why)
        yield Mark("info", self.status, self.answer)
        rows = _rows(self.sides)
        heads = tuple(rows[0]) if rows else ()
        figures = set(heads) - {"what", "where", "configuration"}
        cells = [[_cell(value) for value in row.values()] for row in rows]
        yield Table(heads, cells, "How often it holds on each side", figures)
        if self.replaced is not None and self.delta is not None:
            words = {None: "Beside", True: "Better than", False: "No better than"}
            begins = words[self.separates_better]
            yield Text(f"{begins} what it replaces: {self.why_better}.")
        yield from self._suite_table()
        if self.about is not None:
            yield from self._disagreements(self.about)
        yield Items(self.notes, "What else to know")

    def _suite_table(self) -> Iterator[Block]:
        """The suite's differences before and after."""
        rows = []
        for row in _rows(self.suite):
            change = []
            for when in ("before", "after"):
                estimate, p = row[f"estimate_{when}"], row[f"p_{when}"]
                known = MISSING not in (_cell(estimate), _cell(p))
                change.append(f"{signed(estimate)} (p {chance(p)})" if known else MISSING)
            metric = row["metric"].replace("_", " ")
            rows.append((row["iteration"], row["configuration"], metric, *change))
        heads = ("iteration", "configuration", "metric", "before", "after")
        yield Table(heads, rows, "The suite's difference, before and after")

    def _disagreements(self, about: About) -> Iterator[Block]:
        """Where its verdict is not the judge's."""
        like = "" if about.likeness is None else f", {percent(about.likeness)} alike"
        runs = count(len(self.disagreements), "run")
        yield Text(
            f"It is not of the judge's opinion in {runs} on ‘{about.text}’ ({about.how}{like})."
        )
        rows = []
        for row in _rows(self.disagreements)[:MOST]:
            side = f"{row['configuration']} {row['run_number']}"
            verdicts = []
            for begin in ("", "judged_"):
                verdicts.append("passed" if row[f"{begin}passed"] else "failed")
                verdicts.append(brief(row[f"{begin}evidence"] or "", 160))
            rows.append((f"{row['iteration']}, {row['eval_name']}, {side}", *verdicts))
        heads = ("run", "it", "its evidence", "the judge", "the judge's evidence")
        yield Table(heads, rows, "Where they differ", more=len(self.disagreements) - MOST)


def _rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a table, polars or pandas."""
    import narwhals as nw

    return nw.from_native(frame, eager_only=True).rows(named=True) if len(frame) else []


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return MISSING
    return figure(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be tried, and how; see `try_out`."""

    draft: Draft
    ws: Workspace
    baseline: str | None
    level: float
    allow_scripts: bool
    near: int
    judge_model: str | None
    terms: Terms

    def __post_init__(self) -> None:
        """Look at the figures.

        Raises:
            Refused: one makes no sense.
        """
        if not 0 < self.level < 1:
            raise refuse(f"level is {self.level}: it lies between 0 and 1, as 0.95 does")
        if self.near < 0:
            raise refuse(f"near is {self.near}: a number of lines, 0 or more")
        known = sorted(set(self.ws.polars("runs")["configuration"]))
        if self.baseline is not None and self.baseline not in known:
            raise refuse(no_such("configuration", self.baseline, known))

    def sides(self, runs: pl.DataFrame) -> pl.DataFrame:
        """Who is compared with whom in the iterations that runs are of."""
        every = runs_of(self.ws).join(runs.select(GROUP).unique(), on=GROUP, how="semi")
        return sides(every, self.baseline)

    def result(
        self,
        status: Status,
        answer: str,
        *,
        suite: Callable[[], pl.DataFrame] | None = None,
        **more: Any,
    ) -> Tried:
        """A result; tables become those of the workspace's kind, those not given are empty."""
        import polars as pl

        reckon = suite or pl.DataFrame
        frames = {name: like(self.ws, more.pop(name, pl.DataFrame())) for name in TABLES}
        return Tried(
            self.draft, status, answer, **frames, **more, _suite=lambda: like(self.ws, reckon())
        )
