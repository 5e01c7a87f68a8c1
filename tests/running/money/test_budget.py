from __future__ import annotations

import math
import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
)

from skill_eval_nb.models import BudgetSpent, Prices, Usage
from skill_eval_nb.models.usage import Rates
from skill_eval_nb.running import plan_runs
from skill_eval_nb.running.budget import (
    BegunBefore,
    Budget,
    Halted,
    read_noted,
)
from skill_eval_nb.running.journal import read_journal
from skill_eval_nb.running.protocol import Limits
from tests.checkout import ROOT
from tests.running.made_jobs import PRICES, Writer, job_plan, until

TENTH = Fraction(1, 10**6)
"""Amounts are counted in billionths, each rounded up: a thousand calls may lie this far off."""

LONG = 100_000
ONE = Prices(
    "2026",
    {
        "m": Rates(1, 1, 1, 1, 1, 0.5),
        "tiered": Rates(1, 1, 1, 1, 1, 0.5, Rates(3, 3, 3, 3, 3, 0.5, over=LONG)),
    },
)
"""A dollar a million tokens of every kind, and three where a call of `tiered` is long."""


def million(count: float) -> Usage:
    return Usage(input_tokens=round(count * 1e6), calls=1)


def price(model: str, tokens: int) -> Fraction:
    return Fraction(tokens, 10**6) * (3 if model == "tiered" and tokens > LONG else 1)


class Simulated(RuleBasedStateMachine):
    """Anything that steps may do, against a plain account of it in exact fractions."""

    reservations = Bundle("reservations")
    tickets = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.budget = Budget(10.0, ONE, spent=1.0)
        self.billed = Fraction(1)
        self.in_flight: dict[int, Fraction] = {}
        self.open: set[Budget] = set()

    @rule(target=reservations, usd=st.floats(0.001, 6))
    def allot(self, usd: float) -> Any:
        made = self.budget.allot(usd)
        if made is None:
            return multiple()
        self.open.add(made)
        return made

    @rule(
        target=tickets,
        reservation=reservations,
        model=st.sampled_from(["m", "tiered"]),
        tokens=st.integers(90_000, 250_000) | st.integers(0, 4_000_000),
    )
    def reserve(self, reservation: Budget, model: str, tokens: int) -> Any:
        try:
            ticket = reservation.reserve(model, Usage(input_tokens=tokens, calls=1))
        except BudgetSpent:
            return multiple()
        self.in_flight[id(ticket)] = price(model, tokens)
        return reservation, ticket, tokens

    @rule(made=consumes(tickets), share=st.floats(0, 1), answered=st.booleans())
    def settle(self, made, share: float, answered: bool) -> None:
        reservation, ticket, tokens = made
        if reservation not in self.open:
            return
        used = int(tokens * share) if answered else tokens
        reservation.settle(ticket, Usage(input_tokens=used, calls=1) if answered else None)
        self.billed += price(ticket.model, used)
        del self.in_flight[id(ticket)]

    @rule(made=consumes(tickets))
    def release(self, made) -> None:
        if made[0] in self.open:
            made[0].release(made[1])
            del self.in_flight[id(made[1])]

    @rule(reservation=consumes(reservations))
    def close(self, reservation: Budget) -> None:
        self.open.discard(reservation)
        for ticket in list(reservation._open):
            self.billed += self.in_flight.pop(id(ticket))
        reservation.close()

    @invariant()
    def holds(self) -> None:
        budget = self.budget
        assert budget._spent + sum(one.held for one in budget.parts) <= 10 * 10**9
        assert self.billed + sum(self.in_flight.values()) <= 10 + TENTH
        assert abs(Fraction(budget._spent, 10**9) - self.billed) <= TENTH
        if not self.open:
            assert budget.reserved_usd == 0


TestSimulated = Simulated.TestCase
TestSimulated.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


def test_threads_do_not_hand_out_the_same_dollar_twice():
    budget = Budget(1.0, ONE)
    got: list[Budget] = []
    gate = threading.Barrier(16)

    def take() -> None:
        gate.wait()
        for _ in range(20):
            one = budget.allot(0.01)
            if one is not None:
                one.settle(one.reserve("m", million(0.01)), million(0.005))
                got.append(one)

    with ThreadPoolExecutor(16) as pool:
        for one in [pool.submit(take) for _ in range(16)]:
            one.result(60)
    assert len(got) == 100
    assert budget.spent_usd == pytest.approx(0.5)
    assert budget.allot(0.01) is None
    got[0].close()
    assert budget.left_usd == pytest.approx(0.005)


def test_what_does_not_fit_with_all_in_flight_or_after_a_bill_above_the_worst_is_not_handed_out():
    budget = Budget(1.0, ONE)
    first = budget.allot(0.7)
    assert first is not None
    assert budget.allot(0.4) is None
    first.settle(first.reserve("m", million(0.7)), million(0.1))
    assert budget.allot(0.4) is None  # the first may still spend its 0.7
    first.close()
    second = budget.allot(0.4)
    assert second is not None
    assert (budget.spent_usd, budget.reserved_usd) == (pytest.approx(0.1), pytest.approx(0.4))
    first.close()
    with pytest.raises(BudgetSpent, match="has ended"):
        first.reserve("m", million(0.1))
    second.settle(second.reserve("m", million(0.4)), million(1.2))
    second.close()
    assert (budget.spent_usd, budget.left_usd) == (pytest.approx(1.3), 0)
    assert budget.allot(0.001) is None


def test_without_a_price_no_cap_can_be_kept_and_without_a_cap_everything_fits_and_is_counted():
    with pytest.raises(BudgetSpent, match="no price is known for `x`"):
        Budget(1.0, ONE).reserve("x", million(0.1))
    meter = Budget(None, ONE)
    meter.settle(meter.reserve("x", million(1)), million(1))
    assert (meter.cost_usd, meter.spent_usd, meter.usage.total) == (None, 0.0, 1_000_000)
    budget = Budget(None, ONE)
    one = budget.allot(None)
    one.settle(one.reserve("m", million(9)), million(9))
    assert (budget.spent_usd, budget.left_usd, budget.cap_usd) == (9.0, None, None)
    with pytest.raises(ValueError, match="cap in dollars"):
        Budget(1.0, ONE).allot(None)


def test_a_meter_goes_to_another_process_and_its_spending_is_counted_once():
    budget = Budget(1.0, ONE)
    reservation = budget.allot(0.5)
    meter = pickle.loads(pickle.dumps(reservation.copy_rest()))
    meter.settle(meter.reserve("m", million(0.4)), million(0.2))
    with pytest.raises(BudgetSpent):
        meter.reserve("m", million(0.4))
    assert budget.reserved_usd == pytest.approx(0.5)  # at its worst while nobody tells
    reservation.count(meter.spent_usd)
    reservation.close()
    assert (budget.spent_usd, budget.reserved_usd) == (pytest.approx(0.2), 0)
    with pytest.raises(TypeError, match="copy_rest"):
        pickle.dumps(reservation)


# ── spending ───────────────────────────────────────────────────────────────────────────────────

CALLS = st.lists(st.tuples(st.integers(1, 1000), st.floats(0, 1), st.sampled_from("ysr")))


def tokens(number: int) -> Usage:
    return Usage(output_tokens=number, calls=1)


@settings(max_examples=50)
@given(CALLS)
def test_the_last_note_covers_what_was_billed_and_what_is_open(tmp_path_factory, calls):
    path = tmp_path_factory.mktemp("notes") / "1.jsonl"
    meter = Budget(None, PRICES)
    meter.note_in(path)
    billed = 0
    for worst, share, end in calls:
        ticket = meter.reserve("worker", tokens(worst))
        assert read_noted(path) >= (billed + worst) / 1e6 - 1e-9
        if end == "y":
            used = int(share * worst)
            meter.settle(ticket, tokens(used))
            billed += used
        elif end == "s":
            meter.settle(ticket, None)
            billed += worst
        else:
            meter.release(ticket)
        assert read_noted(path) == pytest.approx(billed / 1e6, abs=1e-8)
    meter.close()
    meter.close()
    whole = path.read_bytes()
    path.write_bytes(whole + b"0.0")  # cut short: it does not count
    assert read_noted(path) == pytest.approx(billed / 1e6, abs=1e-8)


def test_a_step_is_begun_once_and_no_call_goes_out_once_the_job_is_halted_or_the_meter_is_empty(
    tmp_path,
):
    path, halt = tmp_path / "1", tmp_path / "halt"
    meter = Budget(0.001, PRICES)
    meter.note_in(path, halt)
    with pytest.raises(BegunBefore):
        Budget(1.0, PRICES).note_in(path)
    with pytest.raises(BudgetSpent):
        meter.reserve("worker", tokens(1001))
    meter.release(meter.reserve("worker", tokens(1000)))
    halt.touch()
    with pytest.raises(Halted):
        meter.reserve("worker", tokens(1))
    meter.close()
    assert (read_noted(path), read_noted(tmp_path / "2")) == (0.0, None)


# ── money ──────────────────────────────────────────────────────────────────────────────────────

NOISE = 1e-9


def spent(tmp_path) -> float:
    return read_journal(tmp_path / "ws" / "iteration-1").spent_usd


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


@pytest.mark.parametrize("number", range(5))
def test_the_ceiling_holds_at_every_instant(tmp_path, number, monkeypatch):
    """Costs are drawn up to the worst; each change of the budget and of the job is looked at."""
    watched = []

    def watch(budget, *given, whole=None):
        original(budget, *given, whole=whole)
        if whole is None:  # its parts have the same lock
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
        assert "is too small" in progress.message
    assert progress.finished + progress.errored + progress.waiting == len(made.cells)


def test_what_is_free_runs_on_a_budget_of_nothing(tmp_path):
    options = {"executor": "offline", "runs": 1, "sandbox": "none", "budget_usd": 0}
    progress = (
        plan_runs(ROOT / "data/release-notes", workspace=tmp_path, **options).start().wait(60)
    )
    assert (progress.status, progress.spent_usd) == ("done", 0)


def test_a_larger_budget_goes_on_where_the_smaller_one_ended(tmp_path):
    options = {"judgings": 0, "runs": 4, "concurrency": 16, "limits": Limits(usd=0.02)}
    worker = Writer(calls=2)
    first = job_plan(tmp_path, worker, budget_usd=0.05, **options).start().wait(60)
    assert first.status == "partial"
    assert 0 < first.finished < 24
    assert "Missing: " in first.message
    assert " spent of $0.05" in str(first)
    again = job_plan(tmp_path, worker, budget_usd=0.05, **options).start().wait(60)
    assert (again.status, again.finished) == ("partial", first.finished)
    assert math.isclose(again.spent_usd, first.spent_usd, abs_tol=NOISE)
    more = job_plan(tmp_path, worker, budget_usd=2.0, **options).start().wait(60)
    assert more.status == "done"
    assert more.spent_usd > first.spent_usd


def test_a_run_that_was_cancelled_counts_what_it_can_have_cost(tmp_path):
    options = {"judgings": 0, "concurrency": 2, "budget_usd": 1.0, "limits": Limits(usd=0.02)}
    job = job_plan(tmp_path, Writer(calls=1, seconds=60.0), **options).start()
    notes = tmp_path / "ws" / "iteration-1" / ".staging" / "spent"
    until(lambda: len(list(notes.glob("*"))) == 2)
    until(lambda: all(path.read_text().count("\n") > 1 for path in notes.glob("*")))
    job.stop()
    progress = job.wait(60)
    assert progress.status == "stopped"
    assert 0 < progress.spent_usd < 0.02
    assert math.isclose(spent(tmp_path), progress.spent_usd, abs_tol=NOISE)
