from __future__ import annotations

import math
import pickle
import random
from fractions import Fraction
from typing import Any
from unittest.mock import Mock

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
from skill_eval_nb.running.budget import (
    BegunBefore,
    Budget,
    Halted,
    read_noted,
)
from skill_eval_nb.running.protocol import Limits
from tests.running.made_jobs import PRICES, Writer, job_plan, journal, until

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
        self.in_flight: dict[Any, tuple[Budget, Fraction]] = {}
        self.open: dict[Budget, Fraction] = {}
        """The parts in use, and what is left of each."""

    @rule(target=reservations, usd=st.floats(0.001, 6))
    def allot(self, usd: float) -> Any:
        left = 10 - self.billed - sum(self.open.values())
        made = self.budget.allot(usd)
        assert (made is not None) is (Fraction(usd) <= left) or abs(left - Fraction(usd)) < TENTH
        if made is None:
            return multiple()
        self.open[made] = Fraction(usd)
        return made

    @rule(
        target=tickets,
        part=reservations,
        model=st.sampled_from(["m", "tiered"]),
        tokens=st.integers(90_000, 250_000) | st.integers(0, 4_000_000),
    )
    def reserve(self, part: Budget, model: str, tokens: int) -> Any:
        worst = price(model, tokens)
        held = sum(usd for of, usd in self.in_flight.values() if of is part)
        left = self.open.get(part, Fraction(-1)) - held - worst
        try:
            ticket = part.reserve(model, Usage(input_tokens=tokens, calls=1))
        except BudgetSpent:
            assert left < TENTH
            return multiple()
        assert left > -TENTH
        self.in_flight[ticket] = part, worst
        return part, ticket, tokens

    @rule(made=consumes(tickets), share=st.floats(0, 1), answered=st.booleans())
    def settle(self, made, share: float, answered: bool) -> None:
        part, ticket, tokens = made
        if ticket in self.in_flight:
            used = int(tokens * share) if answered else tokens
            part.settle(ticket, Usage(input_tokens=used, calls=1) if answered else None)
            self.spend(ticket, price(ticket.model, used))

    def spend(self, ticket: Any, usd: Fraction) -> None:
        part, _ = self.in_flight.pop(ticket)
        self.billed += usd
        self.open[part] -= usd

    @rule(made=consumes(tickets))
    def release(self, made) -> None:
        if made[1] in self.in_flight:
            made[0].release(made[1])
            del self.in_flight[made[1]]

    @rule(part=consumes(reservations))
    def close(self, part: Budget) -> None:
        for ticket, (of, usd) in list(self.in_flight.items()):
            if of is part:
                self.spend(ticket, usd)
        del self.open[part]
        part.close()

    @invariant()
    def holds(self) -> None:
        held = Fraction(self.budget.reserved_usd)
        assert self.billed + sum(usd for _, usd in self.in_flight.values()) <= 10 + TENTH
        assert Fraction(self.budget.spent_usd) + held <= 10 + TENTH
        assert abs(Fraction(self.budget.spent_usd) - self.billed) <= TENTH
        assert abs(held - sum(self.open.values())) <= TENTH


TestSimulated = Simulated.TestCase
TestSimulated.settings = settings(max_examples=25, stateful_step_count=40, deadline=None)


def test_after_a_bill_above_the_worst_nothing_is_handed_out():
    budget = Budget(1.0, ONE)
    part = budget.allot(0.4)
    part.settle(part.reserve("m", million(0.4)), million(1.2))
    part.close()
    part.close()
    assert (budget.spent_usd, budget.left_usd) == (pytest.approx(1.2), 0)
    assert budget.allot(0.001) is None
    assert Budget(0.3, ONE).allot(0.1 * 3) is not None  # the last cent is there to be spent
    with pytest.raises(BudgetSpent, match="has ended"):
        part.reserve("m", million(0.1))


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


# ── spending ─────────────────────────────────────────────────────────────────────────────────────

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
    tmp_path, monkeypatch
):
    path, halt = tmp_path / "1", tmp_path / "halt"
    meter = Budget(0.001, PRICES)
    meter.note_in(path, halt)
    with pytest.raises(BegunBefore):
        Budget(1.0, PRICES).note_in(path)
    with pytest.raises(BudgetSpent):
        meter.reserve("worker", tokens(1001))
    meter.release(meter.reserve("worker", tokens(1000)))
    with monkeypatch.context() as full:
        full.setattr("os.write", Mock(side_effect=OSError("no room")))
        with pytest.raises(OSError, match="no room"):
            meter.reserve("worker", tokens(1000))
    assert meter.reserved_usd == 0  # what could not be noted is not sent
    halt.touch()
    with pytest.raises(Halted):
        meter.reserve("worker", tokens(1))
    meter.close()
    assert (read_noted(path), read_noted(tmp_path / "2")) == (0.0, None)


# ── money ────────────────────────────────────────────────────────────────────────────────────────

NOISE = 1e-9


@pytest.mark.parametrize("number", range(3))
def test_the_ceiling_holds_at_every_look(tmp_path, number):
    """Costs are drawn up to the worst; each change of the job is looked at."""
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
    committed = [one.spent_usd + one.reserved_usd for one in seen]
    assert 0 < max(committed) <= ceiling + NOISE
    assert progress.reserved_usd == 0
    assert math.isclose(journal(tmp_path).spent_usd, progress.spent_usd, abs_tol=NOISE)
    assert progress.status in ("done", "partial")
    if progress.status == "partial":
        assert progress.spent_usd + limit > ceiling - NOISE
        assert "is too small" in progress.message
    assert progress.finished + progress.errored + progress.waiting == len(made.cells)


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
    assert math.isclose(journal(tmp_path).spent_usd, progress.spent_usd, abs_tol=NOISE)
