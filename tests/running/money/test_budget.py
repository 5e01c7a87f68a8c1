from __future__ import annotations

import contextlib
import heapq
import math
import pickle
import random
import threading
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from skill_eval_nb.models import BudgetSpent, Prices, Usage
from skill_eval_nb.models.prices import Rates
from skill_eval_nb.running.budget import (
    BegunBefore,
    Budget,
    BudgetMeter,
    CallReservation,
    Halted,
    PersistedMeter,
    Reservation,
    noted,
)
from skill_eval_nb.running.journal import read
from skill_eval_nb.running.protocol import Limits
from tests.running.made_jobs import PRICES, Writer, job_plan, until

TENTH = Fraction(1, 10**6)
"""Amounts are counted in billionths, each rounded up: a thousand calls may lie this far off."""


def prices(**models: float) -> Prices:
    """Models at a price per million tokens, the same for every kind of token."""
    return Prices(
        "2026", {name: Rates(one, one, one, one, one, 0.5) for name, one in models.items()}
    )


ONE = prices(m=1.0)
"""A dollar a million tokens."""


def million(count: float) -> Usage:
    return Usage(input_tokens=round(count * 1e6), calls=1)


class Simulated(RuleBasedStateMachine):
    """Anything that steps may do, against a plain account of it in exact fractions."""

    reservations = Bundle("reservations")
    tickets = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.budget = Budget(10.0, ONE, spent=1.0)
        self.billed = Fraction(1)
        self.in_flight: dict[int, Fraction] = {}
        self.open: set[Reservation] = set()

    @rule(target=reservations, usd=st.floats(0.001, 6))
    def allot(self, usd: float) -> Reservation | None:
        made = self.budget.allot(usd)
        if made is not None:
            self.open.add(made)
        return made

    @rule(target=tickets, reservation=reservations, tokens=st.integers(0, 4_000_000))
    def reserve(self, reservation: Reservation | None, tokens: int):
        if reservation is None:
            return None
        try:
            ticket = reservation.reserve("m", Usage(input_tokens=tokens, calls=1))
        except BudgetSpent:
            return None
        self.in_flight[id(ticket)] = Fraction(tokens, 10**6)
        return reservation, ticket, tokens

    @rule(made=consumes(tickets), share=st.floats(0, 1), answered=st.booleans())
    def settle(self, made, share: float, answered: bool) -> None:
        if made is None or made[0] not in self.open:
            return
        reservation, ticket, tokens = made
        used = int(tokens * share) if answered else tokens
        reservation.settle(ticket, Usage(input_tokens=used, calls=1) if answered else None)
        self.billed += Fraction(used, 10**6)
        del self.in_flight[id(ticket)]

    @rule(made=consumes(tickets))
    def release(self, made) -> None:
        if made is not None and made[0] in self.open:
            made[0].release(made[1])
            del self.in_flight[id(made[1])]

    @rule(reservation=reservations)
    def close(self, reservation: Reservation | None) -> None:
        if reservation is None or reservation not in self.open:
            return
        self.open.discard(reservation)
        for ticket in list(reservation._open.values()):
            self.billed += self.in_flight.pop(id(ticket))
        reservation.close()

    @invariant()
    def holds(self) -> None:
        budget = self.budget
        assert budget._spent + sum(one.held for one in budget._open) <= 10 * 10**9
        assert self.billed + sum(self.in_flight.values()) <= 10 + TENTH
        assert abs(Fraction(budget._spent, 10**9) - self.billed) <= TENTH
        if not self.open:
            assert budget.reserved_usd == 0


TestSimulated = Simulated.TestCase
TestSimulated.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


class Job:
    """A job at concurrency 16: random prices, sizes and order of events, on a virtual clock.

    It keeps an account of its own: what was billed, and what open calls may be at worst.
    """

    def __init__(self, seed: int, kind: type[Budget] = Budget) -> None:
        self.chance = chance = random.Random(seed)
        self.prices = prices(a=chance.uniform(0.1, 30), b=chance.uniform(0.1, 30))
        tiered = Rates(1, 5, 0.1, 1.25, 2, 0.5, Rates(5, 25, 0.5, 6.25, 10, 0.5, over=20_000))
        self.prices = replace(self.prices, models={**self.prices.models, "c": tiered})
        self.ceiling = chance.choice([0.01, 0.1, 1.0, 10.0]) * chance.uniform(0.5, 2)
        self.budget = kind(self.ceiling, self.prices)
        caps = range(chance.randrange(20, 80))
        self.waiting = [chance.uniform(0.001, 0.3) * self.ceiling for _ in caps]
        self.events: list[tuple[float, int, Reservation, CallReservation | None, Usage]] = []
        self.open: dict[CallReservation, float] = {}
        self.now = self.billed = self.highest = 0.0
        self.running = self.done = self.number = 0

    def run(self) -> Job:
        self.launch()
        while self.events:
            self.now, _, reservation, ticket, worst = heapq.heappop(self.events)
            if ticket is not None:
                self.answer(reservation, ticket, worst)
            self.call(reservation)
            self.launch()
            self.highest = max(self.highest, self.billed + sum(self.open.values()))
        assert self.budget.reserved_usd == 0
        assert self.budget.spent_usd == pytest.approx(self.billed, abs=1e-5)
        return self

    def launch(self) -> None:
        """Begin steps while there is money and room; what does not fit waits."""
        while self.waiting and self.running < 16:
            reservation = self.budget.allot(self.waiting[-1])
            if reservation is None:
                return
            self.waiting.pop()
            self.running += 1
            self.later(reservation, None, Usage())

    def call(self, reservation: Reservation) -> None:
        """The next call of a step, or its end: by chance, or where its money does."""
        model = self.chance.choice("abc")
        worst = Usage(self.chance.randrange(40_000), self.chance.randrange(1, 60_000), calls=1)
        ticket = None
        if self.chance.random() > 0.2:
            with contextlib.suppress(BudgetSpent):
                ticket = reservation.reserve(model, worst)
        if ticket is None:
            reservation.close()
            self.running -= 1
            self.done += 1
            return
        self.open[ticket] = self.price(worst, model)
        self.later(reservation, ticket, worst)

    def price(self, usage: Usage, model: str) -> float:
        """What it costs, by a way of its own: the whole call at the rates of its length."""
        rates = self.prices.models[model]
        if rates.long is not None and usage.input_tokens > rates.long.over:
            rates = rates.long
        return (usage.input_tokens * rates.input + usage.output_tokens * rates.output) / 1e6

    def answer(self, reservation: Reservation, ticket: CallReservation, worst: Usage) -> None:
        """A call ends: refused, without an answer, or with less than its worst."""
        del self.open[ticket]
        outcome = self.chance.random()
        if outcome < 0.1:
            reservation.release(ticket)
            return
        less = (self.chance.randrange(n + 1) for n in (worst.input_tokens, worst.output_tokens))
        used = worst if outcome < 0.2 else Usage(*less, calls=1)
        reservation.settle(ticket, None if outcome < 0.2 else used)
        self.billed += self.price(used, ticket.model)

    def later(self, reservation: Reservation, ticket: CallReservation | None, worst: Usage) -> None:
        self.number += 1
        at = self.now + self.chance.random()
        heapq.heappush(self.events, (at, self.number, reservation, ticket, worst))


def test_the_ceiling_holds_in_a_thousand_simulated_jobs():
    jobs = [Job(seed).run() for seed in range(1_000)]
    assert all(job.highest <= job.ceiling + 1e-9 for job in jobs)
    assert sum(job.done for job in jobs) > 6_000
    assert sum(job.highest > 0.9 * job.ceiling for job in jobs) > 15  # the ceiling was near
    assert sum(bool(job.waiting) for job in jobs) > 30  # and kept some from being launched


def test_a_budget_that_forgets_what_is_in_flight_would_be_found_out():
    class Forgetful(Budget):
        def _committed(self) -> int:
            return self._spent

    jobs = [Job(seed, Forgetful).run() for seed in range(100)]
    assert any(job.highest > job.ceiling for job in jobs)


def test_threads_do_not_hand_out_the_same_dollar_twice():
    budget = Budget(1.0, ONE)
    got: list[Reservation] = []
    gate = threading.Barrier(16)

    def take() -> None:
        gate.wait()
        for _ in range(20):
            one = budget.allot(0.01)
            if one is not None:
                one.settle(one.reserve("m", million(0.01)), million(0.005))
                got.append(one)

    threads = [threading.Thread(target=take) for _ in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert len(got) == 100
    assert budget.spent_usd == pytest.approx(0.5)
    assert budget.allot(0.01) is None
    got[0].close()
    assert budget.left_usd == pytest.approx(0.005)


def test_what_does_not_fit_with_all_in_flight_is_not_handed_out():
    budget = Budget(1.0, ONE)
    first = budget.allot(0.7)
    assert first is not None
    assert budget.allot(0.4) is None
    first.settle(first.reserve("m", million(0.7)), million(0.1))
    assert budget.allot(0.4) is None  # the first may still spend its 0.7
    first.close()
    assert budget.allot(0.4) is not None
    assert (budget.spent_usd, budget.reserved_usd) == (pytest.approx(0.1), pytest.approx(0.4))


def test_a_call_whose_worst_does_not_fit_is_not_made():
    purse = BudgetMeter(1.0, ONE)
    purse.reserve("m", million(0.6))
    with pytest.raises(BudgetSpent, match=r"could cost \$0.60, and of the \$1.00 .* \$0.40"):
        purse.reserve("m", million(0.6))


def test_a_call_that_got_no_answer_counts_at_its_worst_and_a_refused_one_not():
    purse = BudgetMeter(1.0, ONE)
    purse.settle(purse.reserve("m", million(0.25)), None)
    purse.release(purse.reserve("m", million(0.5)))
    assert purse.spent_usd == pytest.approx(0.25)
    assert purse.usage == Usage()


def test_open_calls_of_a_closed_reservation_count_at_their_worst():
    budget = Budget(1.0, ONE)
    with budget.allot(0.5) as one:
        one.reserve("m", million(0.3))
    assert budget.spent_usd == pytest.approx(0.3)
    one.close()
    assert budget.spent_usd == pytest.approx(0.3)
    with pytest.raises(BudgetSpent, match="has ended"):
        one.reserve("m", million(0.1))


def test_batches_are_reserved_and_settled_at_their_price():
    purse = BudgetMeter(1.0, ONE)
    ticket = purse.reserve("m", million(1.6), batch=True)
    assert purse.worst_usd == pytest.approx(0.8)
    purse.settle(ticket, million(1.0))
    assert purse.spent_usd == pytest.approx(0.5)


def test_without_a_price_no_cap_can_be_kept_and_without_a_cap_calls_are_counted():
    with pytest.raises(BudgetSpent, match="no price is known for `x`"):
        BudgetMeter(1.0, ONE).reserve("x", million(0.1))
    purse = BudgetMeter(None, ONE)
    purse.settle(purse.reserve("x", million(1)), million(1))
    assert (purse.cost_usd, purse.spent_usd, purse.usage.total) == (None, 0.0, 1_000_000)


def test_a_purse_goes_to_another_process_and_its_spending_is_counted_once():
    budget = Budget(1.0, ONE)
    reservation = budget.allot(0.5)
    purse = pickle.loads(pickle.dumps(reservation.purse()))
    purse.settle(purse.reserve("m", million(0.4)), million(0.2))
    with pytest.raises(BudgetSpent):
        purse.reserve("m", million(0.4))
    assert budget.reserved_usd == pytest.approx(0.5)  # at its worst while nobody tells
    reservation.count(purse.spent_usd)
    reservation.close()
    assert (budget.spent_usd, budget.reserved_usd) == (pytest.approx(0.2), 0)
    with pytest.raises(TypeError, match="purse"):
        pickle.dumps(reservation)


def test_a_bill_above_the_worst_is_counted_as_it_is_and_nothing_more_is_handed_out():
    budget = Budget(1.0, ONE)
    one = budget.allot(0.5)
    one.settle(one.reserve("m", million(0.5)), million(1.2))
    one.close()
    assert budget.spent_usd == pytest.approx(1.2)
    assert budget.left_usd == 0
    assert budget.allot(0.001) is None


def test_without_a_ceiling_everything_fits_and_with_one_each_step_needs_a_cap():
    budget = Budget(None, ONE)
    one = budget.allot(None)
    one.settle(one.reserve("m", million(9)), million(9))
    assert (budget.spent_usd, budget.left_usd, budget.ceiling_usd) == (9.0, None, None)
    with pytest.raises(ValueError, match="cap in dollars"):
        Budget(1.0, ONE).allot(None)


# ── spending ───────────────────────────────────────────────────────────────────────────────────

CALLS = st.lists(st.tuples(st.integers(1, 1000), st.floats(0, 1), st.sampled_from("ysr")))


def tokens(number: int) -> Usage:
    return Usage(output_tokens=number, calls=1)


@settings(max_examples=50)
@given(CALLS)
def test_the_last_note_covers_what_was_billed_and_what_is_open(tmp_path_factory, calls):
    path = tmp_path_factory.mktemp("notes") / "1.jsonl"
    meter = PersistedMeter(BudgetMeter(None, PRICES), path)
    billed = 0
    for worst, share, end in calls:
        ticket = meter.reserve("worker", tokens(worst))
        assert noted(path) >= (billed + worst) / 1e6 - 1e-9
        if end == "y":
            used = int(share * worst)
            meter.settle(ticket, tokens(used))
            billed += used
        elif end == "s":
            meter.settle(ticket, None)
            billed += worst
        else:
            meter.release(ticket)
        assert noted(path) == pytest.approx(billed / 1e6, abs=1e-8)
    meter.close()
    meter.close()
    whole = path.read_bytes()
    path.write_bytes(whole + b"0.0")  # cut short: it does not count
    assert noted(path) == pytest.approx(billed / 1e6, abs=1e-8)


def test_a_step_is_begun_once(tmp_path):
    PersistedMeter(BudgetMeter(1.0, PRICES), tmp_path / "1").close()
    with pytest.raises(BegunBefore):
        PersistedMeter(BudgetMeter(1.0, PRICES), tmp_path / "1")
    assert noted(tmp_path / "1") == 0.0
    assert noted(tmp_path / "2") is None


def test_no_call_goes_out_once_the_job_is_halted_or_the_purse_is_empty(tmp_path):
    meter = PersistedMeter(BudgetMeter(0.001, PRICES), tmp_path / "1", halt=tmp_path / "halt")
    with pytest.raises(BudgetSpent):
        meter.reserve("worker", tokens(1001))
    meter.release(meter.reserve("worker", tokens(1000)))
    (tmp_path / "halt").touch()
    with pytest.raises(Halted):
        meter.reserve("worker", tokens(1))
    meter.close()
    assert noted(tmp_path / "1") == 0.0


# ── money ──────────────────────────────────────────────────────────────────────────────────────

NOISE = 1e-9


def spent(tmp_path) -> float:
    return read(tmp_path / "ws" / "iteration-1").spent_usd


class Watched:
    """A budget's lock that looks, whenever it is let go, at what others may see from then on."""

    def __init__(self, budget) -> None:
        self.budget, self.lock, self.depth, self.highest = budget, budget.lock, 0, 0.0

    def __enter__(self):
        self.lock.acquire()
        self.depth += 1

    def __exit__(self, *_):
        if self.depth == 1:
            committed = self.budget.spent_usd + self.budget.reserved_usd
            self.highest = max(self.highest, committed)
        self.depth -= 1
        self.lock.release()


@pytest.mark.parametrize("number", range(24))
def test_the_ceiling_holds_at_every_instant(tmp_path, number, monkeypatch):
    """Costs are drawn up to the worst; each change of the budget and of the job is looked at."""
    watched = []

    def watch(budget, *given):
        original(budget, *given)
        budget.lock = Watched(budget)
        watched.append(budget.lock)

    original = Budget.__init__
    monkeypatch.setattr(Budget, "__init__", watch)
    rng = random.Random(number)
    ceiling, limit = rng.uniform(0.03, 0.4), rng.choice([0.01, 0.02, 0.05])
    made = job_plan(
        tmp_path,
        Writer(seconds=0.002, calls=rng.randint(1, 4), seed=number),
        judgings=0,
        runs=rng.randint(3, 8),
        concurrency=16,
        budget_usd=ceiling,
        limits=Limits(usd=limit),
    )
    seen = []
    progress = made.start(on_progress=seen.append).wait(60)
    (lock,) = watched
    assert 0 < lock.highest <= ceiling + NOISE
    assert all(one.spent_usd + one.reserved_usd <= ceiling + NOISE for one in seen)
    assert progress.reserved_usd == 0
    assert math.isclose(spent(tmp_path), progress.spent_usd, abs_tol=NOISE)
    assert progress.status in ("done", "partial")
    if progress.status == "partial":
        assert progress.spent_usd + limit > ceiling - NOISE
        assert "does not reach" in progress.message
    assert progress.finished + progress.errored + progress.waiting == len(made.cells)


def test_a_larger_budget_goes_on_where_the_smaller_one_ended(tmp_path):
    options = {"judgings": 0, "runs": 4, "concurrency": 16, "limits": Limits(usd=0.02)}
    worker = Writer(calls=2)
    first = job_plan(tmp_path, worker, budget_usd=0.05, **options).start().wait(60)
    assert first.status == "partial"
    assert 0 < first.finished < 24
    assert "Missing: " in first.message
    again = job_plan(tmp_path, worker, budget_usd=0.05, **options).start().wait(60)
    assert (again.status, again.finished) == ("partial", first.finished)
    assert math.isclose(again.spent_usd, first.spent_usd, abs_tol=NOISE)
    more = job_plan(tmp_path, worker, budget_usd=2.0, **options).start().wait(60)
    assert more.status == "done"
    assert more.spent_usd > first.spent_usd


def test_judging_is_paid_from_the_same_budget(tmp_path):
    options = {"judge_model": "judge", "runs": 2, "limits": Limits(usd=0.001)}
    options["judgings"] = 4
    progress = job_plan(tmp_path, budget_usd=0.07, concurrency=4, **options).start().wait(60)
    assert progress.status == "partial"
    assert "next judging may cost up to $0." in progress.message
    judged = dict(progress.steps)["judge"]
    assert 0 < judged < 48
    assert progress.spent_usd <= 0.07
    whole = job_plan(tmp_path, budget_usd=5.0, concurrency=4, **options).start().wait(60)
    assert (whole.status, whole.finished, whole.errored) == ("done", 12, 0)
    assert dict(whole.steps)["judge"] == 48 - judged


def test_a_run_that_was_cancelled_counts_what_it_can_have_cost(tmp_path):
    made = job_plan(
        tmp_path,
        Writer(calls=1, seconds=60.0),
        judgings=0,
        concurrency=2,
        budget_usd=1.0,
        limits=Limits(usd=0.02),
    )
    job = made.start()
    notes = tmp_path / "ws" / "iteration-1" / ".staging" / "spent"
    until(lambda: len(list(notes.glob("*"))) == 2)
    until(lambda: all(path.read_text().count("\n") > 1 for path in notes.glob("*")))
    job.stop()
    progress = job.wait(60)
    assert progress.status == "stopped"
    assert 0 < progress.spent_usd < 0.02
    assert math.isclose(spent(tmp_path), progress.spent_usd, abs_tol=NOISE)
