"""`measure`: how often does a skill's description get it picked up? And the result."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any, Literal, NamedTuple, get_args

from skill_eval_nb.documents import TriggerQuery, TriggerSet
from skill_eval_nb.models import Client, Connection, Prices, Usage, connect, load_prices
from skill_eval_nb.running.asking import NO_MONEY, AskingProgress, reached_by
from skill_eval_nb.running.budget import Budget
from skill_eval_nb.running.estimate import (
    CHARS_PER_TOKEN,
    OVERHEAD,
    OVERHEAD_ELSEWHERE,
    RESULTS_A_TURN,
    TOKENS_A_TURN,
)
from skill_eval_nb.running.files import STAGING, clear, remove
from skill_eval_nb.running.journal import (
    ENDED,
    Ended,
    Journal,
    Ledger,
    close_interrupted,
    delete_half_written,
    read_journal,
)
from skill_eval_nb.running.options import executor_of, figures, worker_of
from skill_eval_nb.running.protocol import (
    Executor,
    Limits,
    Refused,
    SandboxKind,
    calls_models,
    find_unpriced,
    gather_refusals,
)
from skill_eval_nb.running.skill import folder_beside
from skill_eval_nb.running.threads import Stopped, finish_work, in_thread, run_several
from skill_eval_nb.text import clip, count, dollars
from skill_eval_nb.view import Block, Card, Cards, Mark, Shown, Table, Text, Title
from skill_eval_nb.workspace import PathLike
from skill_eval_nb.workspace.jobs import PLANNED, STARTED
from skill_eval_nb.workspace.writing import this_process

from .attempt import (
    PREFIX,
    SKILLS,
    Attempt,
    MeasureConfig,
    Others,
    Outcome,
    Query,
    further_attempts,
    make_attempt,
    read_attempt,
    read_offer,
    stage_skills,
    write_attempt,
    write_summary,
)


class CostRange(NamedTuple):
    """What something may cost, in US dollars; each None if a price is not known.

    Attributes:
        low: if each run opens a skill at once, and a search ends after its first round.
        high: if each run uses all its turns, and a search all its rounds.
        worst: the budget that is certain to be enough.

    >>> print(CostRange(0.5, 1.25, 4.0))
    likely $0.50 to $1.25; a budget of $4.00 is sure to be enough
    >>> str(CostRange(0.0, 0.0, 0.0)), str(CostRange(None, None, None))
    ('no cost', 'cost unknown: a model has no known price')
    """

    low: float | None
    high: float | None
    worst: float | None

    def __str__(self) -> str:
        if None in self:
            return "cost unknown: a model has no known price"
        low, high, worst = map(dollars, self)
        span = low if low == high else f"{low} to {high}"
        sure = f"likely {span}; a budget of {worst} is sure to be enough"
        return sure if self.worst else "no cost"


@dataclass(frozen=True, slots=True)
class Price:
    """What the missing attempts may cost.

    Attributes:
        attempts: how many.
        calls: the most calls of the model.
        usd: in US dollars.
        cap_usd: the most that one run may cost if there is a budget; it makes no call that could
            exceed this. None if no price is known.
    """

    attempts: int
    calls: int
    usd: CostRange
    cap_usd: float | None

    def __str__(self) -> str:
        if not self.attempts:
            return "all are done already"
        calls = f"{count(self.attempts, 'run')} to make, at most {count(self.calls, 'call')}"
        return f"{calls}; {self.usd}"


def price_of(attempts: Iterable[Attempt], setting: MeasureConfig, prices: Prices) -> Price:
    """What attempts may cost.

    The cap of a run is `Limits.usd`, else its high estimate plus the worst case of one call, since
    each call counts at its worst case until it is answered.
    """
    limits, model = setting.limits, setting.model
    uses = [_estimate_use(attempt.query.query, setting) for attempt in attempts]
    calls = len(uses) * limits.turns
    if uses and not prices.known(model):
        return Price(len(uses), calls, CostRange(None, None, None), None)
    costs = [[prices.cost(use, model) or 0.0 for use in three] for three in uses]
    low, high = (sum(cost[at] for cost in costs) for at in (0, 1))
    cap = limits.usd
    if cap is None:
        cap = round(max((cost[1] + cost[2] for cost in costs), default=0.0), 4)
    return Price(len(uses), calls, CostRange(low, high, len(uses) * cap), cap)


def _estimate_use(query: str, setting: MeasureConfig) -> tuple[Usage, Usage, Usage]:
    """What one attempt uses: at the least, at the most, and one call of it at its worst."""
    limits = setting.limits
    offered = (setting.offered.skill, *setting.offered.others)
    chars = len(query) + sum(len(skill.description) for skill in offered)
    overhead = OVERHEAD.get(setting.executor.name, OVERHEAD_ELSEWHERE)
    first = [overhead + round(chars / each) for each in CHARS_PER_TOKEN]
    output = [min(each, limits.output_tokens) for each in TOKENS_A_TURN]
    grown = output[1] + RESULTS_A_TURN[1]
    read = sum(first[1] + turn * grown for turn in range(limits.turns))
    last = round((first[1] + limits.turns * grown) * CHARS_PER_TOKEN[0])
    return (
        Usage(input_tokens=first[0], output_tokens=output[0], calls=1),
        Usage(
            input_tokens=read,
            output_tokens=limits.turns * output[1],
            calls=limits.turns,
            longest=first[1] + limits.turns * grown,
        ),
        Usage(
            output_tokens=limits.output_tokens,
            cache_write_tokens=last,
            cache_write_1h_tokens=last,
            calls=1,
        ),
    )


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """The runs of a query under one description.

    Attributes:
        query: what was asked.
        right: for each scored run, whether the skill was picked up if it should be, and not if it
            should not; runs that errored or were not made are left out.
        instead: what the model did in the runs that did not open the skill.
    """

    query: Query
    right: tuple[bool, ...]
    instead: tuple[str, ...] = ()

    @property
    def share(self) -> float | None:
        """The share of runs that were right, 0-1; None if no run was scored."""
        return sum(self.right) / len(self.right) if self.right else None

    @property
    def passes(self) -> bool:
        """Whether it does what it should: it triggers if half of its runs or more do."""
        twice, runs = 2 * sum(self.right), len(self.right)
        return runs > 0 and (twice >= runs if self.query.should_trigger else twice > runs)


HIT, MISSED = "triggered", "not triggered"
"""The outcomes that are scored."""
LONGEST = 90
"""Characters of a query that are shown."""
MOST_INSTEAD = 120
"""Characters of what the model did instead that are shown."""
SCORES = {"precision": "precision", "recall": "recall", "f1": "F1", "accuracy": "accuracy"}

Status = Literal["done", "partial", "stopped", "dry run"]


@dataclass(frozen=True, repr=False)
class Measured(Shown):
    """How often a skill is picked up for each query.

    Attributes:
        skill_name: the skill's.
        description: the one that was measured.
        others: the names of the skills next to it.
        model: who decided.
        executor: the name of the executor.
        attempts: one for each query and run, in the order of the queries; those that were not made
            are included as `not run`.
        status: `done`; `partial` if the budget was too small; `stopped`; `dry run` if no model was
            asked.
        cost_usd: what these attempts have cost over all starts, interrupted ones included, in US
            dollars; None if no price is known.
        price: the estimate for the missing attempts, before they were made.
        message: anything worth knowing about how it went.
        folder: where the attempts are stored.
    """

    skill_name: str
    description: str
    others: tuple[str, ...]
    model: str
    executor: str
    attempts: tuple[Attempt, ...]
    status: Status
    cost_usd: float | None
    price: Price
    message: str
    folder: Path

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries, each once, in order."""
        return tuple(self._by_query)

    @property
    def _by_query(self) -> dict[Query, list[Attempt]]:
        found: dict[Query, list[Attempt]] = {}
        for attempt in self.attempts:
            found.setdefault(attempt.query, []).append(attempt)
        return found

    @property
    def worst_usd(self) -> float | None:
        """The most US dollars that the missing attempts may cost; None if no price is known."""
        return self.price.usd.worst

    @property
    def outcomes(self) -> tuple[QueryOutcome, ...]:
        """Each query with its runs, in order."""
        found = []
        for query, runs in self._by_query.items():
            wanted = HIT if query.should_trigger else MISSED
            right = tuple(run.outcome == wanted for run in runs if run.outcome in (HIT, MISSED))
            instead = (run.instead for run in runs if run.outcome == MISSED)
            found.append(QueryOutcome(query, right, tuple(filter(None, instead))))
        return tuple(found)

    def attempts_table(self) -> Any:
        """One row per query and run, in polars, for `stats.trigger_rates` and similar functions.

        `query`, `should_trigger`, `tags` (list), `split` (null except in an optimisation),
        `run`, `outcome` (`triggered`, `not triggered`, `errored`, `not run`), `reason` (why it
        errored or was not run), `instead` (what the model did if it did not trigger),
        `opened` (list: skills), `seconds`, `cost_usd` (US dollars); null if not known.
        """
        import polars as pl

        from skill_eval_nb.tables.columns import frame_of_rows

        texts, string, number = pl.List(pl.String), pl.String, pl.Float64
        schema = {"query": string, "should_trigger": pl.Boolean, "tags": texts, "split": string}
        schema |= {"run": pl.Int64, **dict.fromkeys(("outcome", "reason", "instead"), string)}
        schema |= {"opened": texts, "seconds": number, "cost_usd": number}
        of_query, of_attempt = attrgetter(*list(schema)[:4]), attrgetter(*list(schema)[4:])
        rows = [(*of_query(attempt.query), *of_attempt(attempt)) for attempt in self.attempts]
        return frame_of_rows(schema, rows)

    @cached_property
    def rates(self) -> Any:
        """`stats.trigger_rates` of the attempts: one row per query, in polars."""
        from skill_eval_nb.stats.triggers import trigger_rates

        return trigger_rates(self.attempts_table())

    @cached_property
    def scores(self) -> Any:
        """`stats.trigger_scores` of the attempts: one row, in polars; none without attempts."""
        from skill_eval_nb.stats.triggers import trigger_scores

        return trigger_scores(self.attempts_table())

    @cached_property
    def doubts(self) -> Any:
        """`stats.trigger_doubts` of the attempts: one row per doubt, in polars."""
        from skill_eval_nb.stats.triggers import trigger_doubts

        return trigger_doubts(self.attempts_table())

    def document(self) -> TriggerSet:
        """The summary in the form of a trigger set: scored runs, and how many of them triggered.

        Runs that errored or were not made are not counted; a query that has no others has no
        figures.
        """
        rows = []
        for outcome in self.outcomes:
            query, runs = outcome.query, len(outcome.right)
            triggered = sum(right == query.should_trigger for right in outcome.right)
            rows.append(
                TriggerQuery(
                    query=query.query,
                    should_trigger=query.should_trigger,
                    triggered=triggered if runs else None,
                    runs=runs or None,
                    trigger_rate=triggered / runs if runs else None,
                    split=query.split,
                    tags=list(query.tags),
                )
            )
        return TriggerSet(rows, self.skill_name, self.description)

    def _blocks(self) -> Iterator[Block]:
        others = len(self.others)
        beside = f"with {count(others, 'other skill')}" if others else "with no other skill"
        attempts = f"{count(len(self.queries), 'query')}, {count(len(self.attempts), 'run')}"
        title = f"{self.skill_name} {beside}, measured with {self.model}: {self.status}"
        if self.status == "dry run":
            yield Title(title, f"{attempts}; {self.price}")
            yield Text(self.description, soft=True)
            return
        counts = Counter(attempt.outcome for attempt in self.attempts)
        outcomes = ", ".join(
            f"{counts[name]:,} {name}" for name in get_args(Outcome) if counts[name]
        )
        facts = (f"{attempts}: {outcomes}", dollars(self.cost_usd), self.message)
        yield Title(title, "; ".join(filter(None, facts)))
        yield Text(self.description, soft=True)
        yield from (Mark("warning", "doubt", doubt) for doubt in self.doubts["message"])
        for row in self.scores.to_dicts():
            cards = _score_cards(row)
            by_query = "By query, with 95% intervals:" if cards else "No score is defined."
            yield from (Text(by_query, soft=True), Cards(cards))
        rows = [
            (
                clip(row["query"], LONGEST),
                "should" if row["should_trigger"] else "should not",
                _say_rate(row),
                clip(row["instead"] or "", MOST_INSTEAD),
            )
            for row in self.rates.to_dicts()
        ]
        yield Table(("query", "should", "triggered", "instead"), rows)


def _score_cards(row: Mapping[str, Any]) -> list[Card]:
    return [
        Card(f"{row[key]:.2f}", f"{name} ({row[f'{key}_low']:.2f} to {row[f'{key}_high']:.2f})")
        for key, name in SCORES.items()
        if row[key] is not None
    ]


def _say_rate(row: Mapping[str, Any]) -> str:
    if row["rate"] is None:
        return "no run counts"
    runs = row["n_triggered"] + row["n_not_triggered"]
    return f"{row['n_triggered']} of {runs} ({row['low']:.0%} to {row['high']:.0%})"


def faults_of(queries: Sequence[Query]) -> list[str]:
    """What is wrong with the queries."""
    faults = []
    if not queries:
        faults.append("there are no queries: write a trigger set, or draft one")
    for text, times in Counter(query.query for query in queries).items():
        if times > 1:
            faults.append(f"the query {text!r} occurs {times} times; keep one of them")
        if not text.strip():
            faults.append("a query is empty; remove it")
    return faults


def default_connection(runner: Executor | None, model: str | None) -> Connection:
    """How the model is reached by default: through the executor's stand-in, if it has one."""
    stand_in = getattr(runner, "stand_in", None)
    return reached_by(filter(None, [model])) if stand_in is None else Connection(stand_in=stand_in)


STEP = "trigger"
"""An attempt's name in the journal."""


def take_up(journal: Journal, home: Path) -> None:
    """Close the attempts that a killed process left open, and delete their folders."""
    opened = [launch.event.get("folder") for launch in journal.record.open.values()]
    staged = [line.get("skills") for line in journal.record.events if line.get("event") == STARTED]
    for left in map(str, filter(None, [*opened, *staged])):
        root = Path(left)
        if root.parent == Path(gettempdir()) and root.name.startswith((PREFIX, SKILLS)):
            remove(root)
    delete_half_written(home)
    for queried in home.glob("query-*"):
        delete_half_written(queried, 0)
    close_interrupted(journal)
    clear(home)


WHY = {
    "partial": NO_MONEY,
    "stopped": "it was stopped before it began",
    "dry run": "no model was asked",
}
"""Why an attempt was not made, by the status of the measurement."""


@dataclass
class Measurement:
    """What to measure, and what is already there.

    Attributes:
        setting: the conditions under which queries are asked.
        planned: every attempt by its key, as it is before it is made.
        home: the folder of the measurement.
        prices: what calls cost.
        retry_errored: whether to repeat attempts that errored.
        progress: called after each attempt.
        attempts: the attempts already made, by key.
        due: the attempts still to make, by key.
        left_out: how many attempts the budget was too small for.
    """

    setting: MeasureConfig
    planned: Mapping[str, Attempt]
    home: Path
    prices: Prices
    retry_errored: bool
    progress: Callable[[AskingProgress], None] | None
    attempts: dict[str, Attempt] = field(default_factory=dict)
    due: dict[str, Attempt] = field(default_factory=dict)
    left_out: int = 0

    def read_attempts(self) -> None:
        """Read the stored attempts, and work out which are missing.

        Raises:
            Refused: a stored attempt was changed.
        """
        found = ((key, read_attempt(self.home, each)) for key, each in self.planned.items())
        self.attempts = {key: attempt for key, attempt in found if attempt is not None}
        self.due = {
            key: each
            for key, each in self.planned.items()
            if key not in self.attempts
            or (self.retry_errored and self.attempts[key].outcome == "errored")
        }

    @property
    def price(self) -> Price:
        """What the missing attempts may cost."""
        return price_of(self.due.values(), self.setting, self.prices)

    @property
    def spent_usd(self) -> float:
        """US dollars that the attempts have cost over all starts, by the journal.

        What a kill left open counts at the most that its notes say it can have cost.
        """
        costs = read_journal(self.home).costs
        return sum(costs.get(key, 0.0) for key in self.planned)

    def build_result(self, status: Status, message: str, price: Price) -> Measured:
        """The result; `price` is what the attempts missing at the start may cost."""
        offered, model = self.setting.offered, self.setting.model
        why = WHY.get(status)
        return Measured(
            skill_name=offered.skill.name,
            description=offered.skill.description,
            others=tuple(other.name for other in offered.others),
            model=model,
            executor=self.setting.executor.name,
            attempts=tuple(
                self.attempts.get(key) or replace(each, reason=why)
                for key, each in self.planned.items()
            ),
            status=status,
            cost_usd=self.spent_usd if self.prices.known(model) else None,
            price=price,
            message=message,
            folder=self.home,
        )

    def write_result(self, status: Status, message: str, price: Price) -> Measured:
        """The result, after writing a summary that counts all stored runs of each query."""
        measured = self.build_result(status, message, price)
        if self.attempts:
            every = (*measured.attempts, *further_attempts(self.home, self.planned))
            write_summary(self.home, replace(measured, attempts=every).document())
        return measured

    def make_due(
        self, budget_usd: float | None, concurrency: int, seed: int, stop: threading.Event | None
    ) -> Measured:
        """Make the missing attempts, as the only writer of this measurement."""
        setting, home = self.setting, self.home
        journal = Journal(home, {"event": PLANNED, "measured": setting.conditions})
        try:
            self.read_attempts()
            due, price = list(self.due.values()), self.price
            skills = str(setting.offered.skill.folder.parent)
            ours, n_due = this_process(), len(due)
            journal.add(STARTED, **ours, ceiling_usd=budget_usd, skills=skills, attempts=n_due)
            take_up(journal, home)
            cap = None if budget_usd is None else price.cap_usd
            budget = Budget(budget_usd, self.prices, self.spent_usd)
            ledger = Ledger(journal, budget, lambda: None)
            # In random order, so that the runs of each query are spread over the whole time.
            random.Random(seed).shuffle(due)  # noqa: S311 -- an order, no secret

            async def make_all() -> None:
                calls = calls_models(setting.executor)
                connected = connect(setting.connection) if calls else nullcontext()
                async with connected as client:
                    work = (self._make_and_write(each, ledger, cap, client) for each in due)
                    await run_several(work, concurrency)

            try:
                in_thread(make_all(), stop, name="measure")
                status: Status = "partial" if self.left_out else "done"
            except Stopped:
                status = "stopped"
            message = self._say_end(status, cap)
            remove(home / STAGING)
            journal.add(ENDED, status=status, message=message)
            return self.write_result(status, message, price)
        finally:
            journal.close()

    async def _make_and_write(
        self, planned: Attempt, ledger: Ledger, cap_usd: float | None, client: Client | None
    ) -> None:
        """Make an attempt and write it, within the budget."""
        reservation = await ledger.budget.wait_for(cap_usd)
        if reservation is None:
            self.left_out += 1
            return
        root = Path(mkdtemp(prefix=PREFIX))
        async with ledger.step(STEP, planned.key, str(root), reservation) as step:
            made = await make_attempt(planned, self.setting, root, step.meter(), client)
            attempt, execution = made
            kept = (self.home, self.setting, attempt, execution)
            await finish_work(asyncio.to_thread(write_attempt, *kept))  # it has been paid for
            step.ended = Ended(attempt.reason)
        self.attempts[planned.key] = attempt
        del self.due[planned.key]
        if self.progress is not None:
            there = (each for key, each in self.attempts.items() if key not in self.due)
            failed = sum(each.outcome == "errored" for each in there)
            done, total = len(self.planned) - len(self.due), len(self.planned)
            what = f"{attempt.outcome}: {clip(attempt.query.query, LONGEST)}"
            self.progress(AskingProgress(done, total, failed, ledger.budget.spent_usd, what))

    def _say_end(self, status: Status, cap_usd: float | None) -> str:
        """How it ended, in a sentence."""
        if status == "stopped":
            return "it was stopped; measure again to make the missing runs"
        if status == "partial":
            missing = f"{count(self.left_out, 'more run')}, each {dollars(cap_usd)} at worst"
            return f"the budget is too small for {missing}; raise it to make them"
        return self.say_errored()

    def say_errored(self) -> str:
        """How to repeat the attempts that errored; nothing if none did."""
        errored = any(attempt.outcome == "errored" for attempt in self.attempts.values())
        return "retry_errored=True repeats runs that errored" if errored else ""


TURNS = 6
SECONDS = 180.0
"""The default limits of an attempt: an agent that opens a skill does so early."""


def measure(
    skill: PathLike,
    queries: Iterable[Query],
    *,
    runs: int = 3,
    model: str | None = None,
    executor: str | Executor = "messages-api",
    others: Others = "bundled",
    description: str | None = None,
    series: str = "",
    folder: PathLike | None = None,
    budget_usd: float | None = None,
    concurrency: int = 4,
    limits: Limits | None = None,
    sandbox: SandboxKind = "bubblewrap",
    connection: Connection | None = None,
    prices: Prices | None = None,
    seed: int = 0,
    retry_errored: bool = False,
    dry_run: bool = False,
    progress: Callable[[AskingProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> Measured:
    """Ask each query several times, and see how often the skill is picked up.

    Each attempt has its own working folder, home and configuration, with the skill among the
    others; it ends as soon as the skill is opened. `triggered`: the skill's body was opened at
    some point. `not triggered`: the run ended, or reached its limit of turns, without opening it.
    `errored`: it broke, ran out of time or was refused. `not run`: it never began.

    Each attempt is written at once and never repeated: after an interruption, the same call makes
    only the missing attempts, and so does a call with more `runs` or `queries`. Attempts are
    interchangeable if they have the same skill, description, other skills, executor, model,
    limits of turns, time and output, sandbox and series.

    Args:
        skill: the skill's folder, or its SKILL.md.
        queries: the queries, no two with the same words.
        runs: attempts of each query.
        model: the model that decides; `stand-in` if a stand-in answers and no model is named.
        executor: an executor or its name.
        others: the skills next to it: `"bundled"` for a few that come with the package (except
            one with the skill's own name), `"none"`, or paths of skills' folders, or of folders
            that contain some.
        description: measured instead of the one in SKILL.md, which is not changed.
        series: a name; measured under another name, the same thing is measured again.
        folder: where to write the attempts; if not given, `triggers` in NAME-workspace next to
            the skill.
        budget_usd: the most that these attempts may cost, earlier starts included, in US
            dollars; an attempt whose worst case does not fit is not begun.
        concurrency: attempts at a time.
        limits: what one attempt may use; 6 turns and 180 s if not given.
        sandbox: `"none"` lets an agent's commands do whatever you can do.
        connection: how the model is reached; if not given, the stand-in answers in process for
            its own models; other models are called over the network.
        prices: what calls cost; the bundled table if not given.
        seed: for the order of attempts.
        retry_errored: whether to repeat attempts that errored.
        dry_run: no model is asked, and `price` says what the rest may cost.
        progress: called after each attempt.
        stop: once set, calls in flight are cancelled; what was written stays.

    Raises:
        Refused: a skill, a query or a number cannot be used, two skills have the same name, no
            model is known, or there is a budget and no known price; all faults at once. Or the
            same thing is being measured already, here or in another process.
        OSError: an attempt cannot be written.
    """
    listed = list(queries)
    allowed = limits or Limits(turns=TURNS, seconds=SECONDS)
    faults = faults_of(listed)
    figures(faults, allowed, budget_usd, runs=runs, concurrency=concurrency)
    runner = executor_of(executor, {}, sandbox, faults)
    stand_in = getattr(runner, "stand_in", None) or getattr(connection, "stand_in", None)
    worker = worker_of(runner, model, stand_in, faults, name="model")
    known = prices or load_prices()
    faults += find_unpriced([worker], known, budget_usd)
    reached = connection or default_connection(runner, worker)
    calls = runner is not None and not dry_run and calls_models(runner)
    if calls and (why := reached.why_not()):
        faults.append(why)
    offer = None
    with gather_refusals(faults):
        offer = read_offer(skill, others, description)
    if faults or offer is None or runner is None or worker is None:
        raise Refused(dict.fromkeys(faults))
    base = folder_beside(offer.skill.folder, folder, "triggers")
    attempts = (Attempt(query, run, "not run") for query in listed for run in range(1, runs + 1))
    planned = {attempt.key: attempt for attempt in attempts}
    with stage_skills(offer) as offered:
        setting = MeasureConfig(offered, runner, worker, allowed, sandbox, reached, series)
        home = base / setting.fingerprint
        work = Measurement(setting, planned, home, known, retry_errored, progress)
        work.read_attempts()
        if dry_run:
            return work.build_result("dry run", "no model was asked", work.price)
        if not work.due:
            message = ", ".join(filter(None, ("nothing was missing", work.say_errored())))
            return work.write_result("done", message, work.price)
        return work.make_due(budget_usd, concurrency, seed, stop)
