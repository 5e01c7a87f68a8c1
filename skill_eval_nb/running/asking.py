"""Ask models many questions within a budget; each answer is stored as soon as it arrives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skill_eval_nb.models import (
    BudgetSpent,
    Connection,
    ModelFault,
    Prices,
    Usage,
    connect,
    load_prices,
)
from skill_eval_nb.models.ask import Answered, Question, Unanswered, ask
from skill_eval_nb.text import dollars

from .budget import Budget
from .journal import hold_folders, make_ready
from .protocol import Refused, find_number_faults, find_unpriced
from .threads import finish_work, in_thread, run_several

if TYPE_CHECKING:
    from skill_eval_nb.models import Client, Meter

V = TypeVar("V")

NO_MONEY = "the budget is too small for its worst case"


@dataclass(frozen=True, slots=True)
class AskingProgress:
    """The progress of many questions, or of anything else that is paid for one by one.

    Attributes:
        done: questions that ended, including those that failed.
        total: all questions.
        failed: questions without an answer.
        spent_usd: US dollars spent, as far as prices are known.
        what: the question that ended last, in words.
    """

    done: int
    total: int
    failed: int
    spent_usd: float
    what: str

    @property
    def share(self) -> float:
        """The share of questions that have ended, 0 to 1."""
        return self.done / (self.total or 1)


def worst_usd(questions: Iterable[Question[Any]], prices: Prices | None = None) -> float | None:
    """The most that questions can cost in US dollars, including every repeat.

    None if the price of a model is not known.
    """
    known = prices or load_prices()
    costs = [known.cost(question.worst, question.model) for question in questions]
    return None if None in costs else float(sum(cost for cost in costs if cost is not None))


@dataclass(frozen=True, slots=True)
class Terms:
    """How models are asked.

    Attributes:
        connection: how they are reached; None: the stand-in in process, others over the network.
        prices: what calls cost; None: the bundled table.
        budget_usd: the most that may be spent, in US dollars; None: no limit.
        concurrency: questions at a time.
        dry_run: no model is asked.
        progress: called after each question.
        stop: once set, calls in flight are cancelled.
    """

    connection: Connection | None = None
    prices: Prices | None = None
    budget_usd: float | None = None
    concurrency: int = 8
    dry_run: bool = False
    progress: Callable[[AskingProgress], None] | None = None
    stop: threading.Event | None = None

    @property
    def known_prices(self) -> Prices:
        """The prices to use."""
        return self.prices or load_prices()

    def model(self, given: str | None, earlier: Iterable[str | None]) -> str | list[str]:
        """The model to ask: the given one, else the stand-in, else the one that was asked before.

        If none of these is clear, the list of the models that were asked before.
        """
        if given is not None:
            return given
        if self.connection is not None and self.connection.stand_in is not None:
            from skill_eval_nb.models.stand_in import JUDGE

            return JUDGE
        names = sorted({str(name) for name in earlier if name is not None})
        return names[0] if len(names) == 1 else names

    def reach(self, models: Iterable[str]) -> AbstractAsyncContextManager[Client]:
        """A client for calls to these models."""
        return connect(self.connection or reached_by(models))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something without a result, such as a run, by its name or folder; and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Item(Generic[V]):
    """A question that is paid for only once.

    Attributes:
        key: a fingerprint: the same for the same question.
        what: the question in words.
        question: what to ask.
        folder: the folder that is locked meanwhile; None if no answer is stored.
        save: stores an answer, and returns its value. It is called in a thread as soon as the
            answer arrives: what it writes stays, even if the rest fails.
    """

    key: str
    what: str
    question: Question[Any]
    folder: Path | None
    save: Callable[[Answered[Any]], V]


@dataclass(frozen=True, slots=True)
class Answers(Generic[V]):
    """The values of questions, stored and new.

    Attributes:
        values: the values by key, including those of earlier calls.
        before: the keys of the values that were stored before.
        failed: questions without an answer, with the reason, by key.
        usage: tokens of this call's answers.
        cost_usd: what they cost; None if a price is not known.
        worst_usd: the most that the missing ones can cost, in US dollars; None if a price is not
            known.
    """

    values: dict[str, V] = field(default_factory=dict)
    before: frozenset[str] = frozenset()
    failed: dict[str, LeftOut] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    worst_usd: float | None = 0.0


def ask_all(items: Sequence[Item[V]], terms: Terms) -> Answers[V]:
    """Ask questions, several at a time, and wait for the answers.

    This also works when an event loop is running, as in a notebook.

    Args:
        items: the questions, each with its own key.
        terms: how they are asked; a question whose worst case does not fit the budget is not.

    Raises:
        Stopped: `stop` was set before the end.
        Refused: a number is out of range, or there is a budget and no known price.
        ModelFault: no API key was found; nothing was sent.
        Exception: whatever `save` raises; it ends everything.
    """
    look_at_figures(terms.budget_usd, concurrency=terms.concurrency)
    if not items:
        return Answers()
    models = {item.question.model for item in items}
    money = Account(len(items), models, terms)
    values: dict[str, V] = {}
    failed: dict[str, LeftOut] = {}

    async def settle(client: Client, item: Item[V]) -> None:
        question, reason = item.question, None
        try:
            async with money.meter(question.model, question.worst) as meter:
                answered = await ask(client, question, meter)
        except Unanswered as error:
            reason = error.reason
        except (ModelFault, BudgetSpent) as error:
            reason = f"{question.who} gave no answer: {error}"
        else:
            saved = asyncio.to_thread(item.save, answered)
            values[item.key] = await finish_work(saved, then_go=True)
        if reason is not None:
            failed[item.key] = LeftOut(item.what, reason)
        money.count_ended(item.what, failed=reason is not None)

    async def settle_all() -> None:
        async with terms.reach(models) as client:
            await run_several((settle(client, item) for item in items), terms.concurrency)

    in_thread(settle_all(), terms.stop, name="ask_all")
    used = money.budget
    return Answers(values, frozenset(), failed, used.usage, used.cost(money.prices))


class Account:
    """The money for many questions, and their progress.

    Attributes:
        prices: what calls cost.
        budget: the ceiling, and what was used.
        total: all questions.
    """

    def __init__(self, total: int, models: Iterable[str], terms: Terms) -> None:
        """Open an account; a ceiling can only be kept if prices are known.

        Raises:
            Refused: there is a ceiling, and a model's price is not known.
        """
        self.total, self.prices = total, terms.known_prices
        if faults := find_unpriced(sorted(models), self.prices, terms.budget_usd):
            raise Refused(faults)
        self.budget = Budget(terms.budget_usd, self.prices)
        self._progress = terms.progress
        self._done = self._failed = 0

    @asynccontextmanager
    async def meter(self, model: str, worst: Usage) -> AsyncIterator[Meter]:
        """The meter for one question's calls.

        Raises:
            Unanswered: its worst case does not fit the budget.
        """
        capped = self.budget.cap_usd is not None
        part = await self.budget.wait_for(self.prices.cost(worst, model) if capped else None)
        if part is None:
            raise Unanswered(NO_MONEY)
        try:
            yield part
        finally:
            part.close()

    def count_ended(self, what: str, *, failed: bool) -> None:
        """Count a question that has ended, and report the progress."""
        self._done += 1
        self._failed += failed
        if self._progress is not None:
            spent = self.budget.spent_usd
            self._progress(AskingProgress(self._done, self.total, self._failed, spent, what))


def look_at_figures(budget_usd: float | None, **counts: int) -> None:
    """Check a budget and counts.

    Raises:
        Refused: one of them is out of range.
    """
    if faults := find_number_faults({name: (counts[name], 1) for name in counts}, budget_usd):
        raise Refused(faults)


def reached_by(models: Iterable[str]) -> Connection:
    """How models are reached by default: the stand-in in process, others over the network."""
    from skill_eval_nb.models.stand_in import MODELS, StandIn

    offline = all(model in MODELS for model in models)
    return Connection(stand_in=StandIn()) if offline else Connection()


def answers_of(
    items: Sequence[Item[V]], stored: Callable[[], Mapping[str, V]], doing: str, terms: Terms
) -> Answers[V]:
    """The stored answers, and new ones for what is missing.

    Args:
        items: the questions; if several have the same key, only one of them is asked.
        stored: looks up stored values by key. It is called again once the folders are locked,
            since another process may have finished in the meantime.
        doing: what is being done, such as "a comparison", for whoever finds the folders locked.
        terms: how models are asked.

    Raises:
        Stopped: `stop` was set before the end; what was written is kept.
        Refused: a number is out of range, there is a budget and no known price, another process
            is using a folder, or a folder cannot be written.
        ModelFault: no API key was found; nothing was sent.
        OSError: an answer cannot be written.
    """

    def look() -> tuple[dict[str, V], dict[str, Item[V]]]:
        there = dict(stored())
        return there, {item.key: item for item in items if item.key not in there}

    before, missing = look()
    worst = worst_usd([item.question for item in missing.values()], terms.known_prices)
    if terms.dry_run or not missing:
        return Answers(before, frozenset(before), worst_usd=worst)
    folders = {item.folder for item in missing.values() if item.folder is not None}
    with hold_folders(folders, doing):
        make_ready(folders)
        before, missing = look()
        answers = ask_all([*missing.values()], terms)
    values = before | answers.values
    return replace(answers, values=values, before=frozenset(before), worst_usd=worst)


@dataclass(frozen=True, slots=True)
class PaidAnswer(Generic[V]):
    """The answer to one question that is asked only within a budget.

    Attributes:
        value: the answer; None if there is none.
        price_usd: the most that asking can cost, in US dollars; 0 if an answer was stored, None
            if the price is not known.
        cost_usd: what was spent now.
        unasked: why there is no answer; None if there is one.
    """

    value: V | None = None
    price_usd: float | None = 0.0
    cost_usd: float | None = 0.0
    unasked: str | None = None


def ask_once(
    question: Question[V],
    folder: Path | None,
    read: Callable[[Path], V],
    write: Callable[[Path, V], object],
    what: str,
    terms: Terms,
) -> PaidAnswer[V]:
    """The stored answer to a question, else a new one, which is stored then.

    If it costs something, the model is asked only within a budget.

    Args:
        question: the question.
        folder: where answers are stored, each in a file of its own; None if none is stored.
        read: reads a stored answer.
        write: writes one.
        what: the answer in a word, such as "queries".
        terms: how the model is asked.

    Raises:
        Refused, ModelFault, OSError: as for `answers_of`.
    """
    file = folder and folder / f"{question.key}.json"

    def read_stored() -> dict[str, V]:
        return {question.key: read(file)} if file and file.is_file() else {}

    def save_answer(answered: Answered[V]) -> V:
        if file:
            write(file, answered.value)
        return answered.value

    item = Item(question.key, what, question, folder, save_answer)
    price = worst_usd([question], terms.known_prices)
    dry_run = terms.dry_run or (price != 0 and terms.budget_usd is None)
    bounded = replace(terms, dry_run=dry_run)
    answers = answers_of([item], read_stored, f"a draft of {what}", bounded)
    worst, cost = answers.worst_usd, answers.cost_usd
    if item.key in answers.values:
        return PaidAnswer(answers.values[item.key], worst, cost)
    model = question.model
    if item.key in answers.failed:
        why = answers.failed[item.key].reason
    elif price is None:
        why = f"{model} was not asked: its price is unknown; add it to the price table"
    else:
        hint = "this was a dry run" if terms.dry_run else "give budget_usd to ask it"
        usd = f"it costs {dollars(price)} at worst" if price else "it costs nothing"
        why = f"{model} was not asked: {usd}; {hint}"
    return PaidAnswer(None, worst, cost, why)
