from __future__ import annotations

import pickle
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.models import BudgetSpent, Meter, Tally, Usage, load_prices, together

WORST = Usage(1000, 100, calls=1)
USED = Usage(200, 50, calls=1)
MODEL = "claude-haiku-4-5"


def test_calls_answered_unanswered_refused_and_in_flight():
    tally = Tally()
    tally.settle(tally.reserve(MODEL, WORST), USED)
    tally.settle(tally.reserve(MODEL, WORST), None)
    tally.release(tally.reserve(MODEL, WORST))
    tally.reserve(MODEL, WORST)
    assert (tally.usage, tally.assumed, tally.open) == (USED, WORST, WORST)
    assert tally.calls == 2
    prices = load_prices()
    costs = [prices.cost(usage, MODEL) or 0 for usage in (USED, WORST)]
    assert tally.cost(prices) == pytest.approx(sum(costs))


def test_a_ticket_is_good_once():
    tally = Tally()
    ticket = tally.reserve(MODEL, WORST)
    tally.settle(ticket, USED)
    for again in (lambda: tally.settle(ticket, USED), lambda: tally.release(ticket)):
        with pytest.raises(KeyError):
            again()
    assert tally.usage == USED


def test_a_batch_is_counted_at_its_price():
    tally, prices = Tally(), load_prices()
    tally.settle(tally.reserve(MODEL, WORST, batch=True), USED)
    assert tally.cost(prices) == prices.cost(USED, MODEL, batch=True)
    tally.settle(tally.reserve(MODEL, WORST), USED)
    assert tally.cost(prices) == pytest.approx((prices.cost(USED, MODEL) or 0) * 1.5)


def test_a_cost_is_not_known_where_a_price_is_not():
    tally = Tally()
    assert tally.cost(load_prices()) == 0
    tally.settle(tally.reserve(MODEL, WORST), USED)
    tally.settle(tally.reserve("unheard-of", WORST), USED)
    assert tally.cost(load_prices()) is None


def test_a_tally_is_pickled_with_what_it_counted_and_counts_on():
    tally = Tally()
    tally.settle(tally.reserve(MODEL, WORST), USED)
    ticket = tally.reserve(MODEL, WORST)
    copy = pickle.loads(pickle.dumps(tally))
    assert (copy.usage, copy.open) == (USED, WORST)
    other = copy.reserve(MODEL, WORST)
    assert other != ticket
    copy.settle(ticket, None)
    copy.release(other)
    assert (copy.assumed, copy.open) == (WORST, Usage())
    assert (tally.assumed, tally.open) == (Usage(), WORST)


def test_tallies_add_up():
    one, other = Tally(), Tally()
    one.settle(one.reserve(MODEL, WORST), USED)
    other.settle(other.reserve(MODEL, WORST), USED)
    other.settle(other.reserve("stand-in", WORST), None)
    one.add(other)
    one.add(pickle.loads(pickle.dumps(other)))
    assert (one.usage, one.assumed) == (USED * 3, WORST * 2)
    assert other.usage == USED


def test_threads_lose_no_count():
    tally, threads, each = Tally(), 8, 400
    begin = threading.Barrier(threads)

    def count() -> None:
        begin.wait()
        for number in range(each):
            ticket = tally.reserve(MODEL, WORST)
            (tally.release(ticket) if number % 4 == 0 else tally.settle(ticket, USED))

    workers = [threading.Thread(target=count) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert tally.usage == USED * (threads * each * 3 // 4)
    assert tally.open == Usage()


class Ceiling:
    """A meter with a number of calls as its ceiling, and no price for batches."""

    def __init__(self, left: int) -> None:
        self.left = left

    def reserve(self, model: str, worst: Usage, *, batch: bool = False) -> object:
        if not self.left:
            raise BudgetSpent(model)
        self.left -= 1
        return batch

    def settle(self, ticket: Any, usage: Usage | None) -> None: ...

    def release(self, ticket: Any) -> None:
        self.left += 1


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.booleans())
def test_together_all_of_them_or_none(ceilings: list[int], batch: bool):
    meters = [Ceiling(left) for left in ceilings]
    first = Tally()
    both: Meter = together(first, *meters)
    if min(ceilings) == 0:
        with pytest.raises(BudgetSpent):
            both.reserve(MODEL, WORST, batch=batch)
        assert [meter.left for meter in meters] == ceilings
    else:
        both.settle(both.reserve(MODEL, WORST, batch=batch), USED)
        assert [meter.left + 1 for meter in meters] == ceilings
        both.release(both.reserve(MODEL, WORST)) if min(ceilings) > 1 else None
    assert first.open == Usage()
    assert first.usage == (USED if min(ceilings) else Usage())
