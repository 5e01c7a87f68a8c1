"""One ceiling for rounds, proposals and the last measurement, whose money is kept back."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from skill_eval_nb.models import Usage, load_prices
from skill_eval_nb.running import Execution, Limits, Task
from tests.triggers.made import lines
from tests.triggers.test_optimising import PRESENT, QUERIES, World, routed

HAIKU = "claude-haiku-4-5"
LIMITS = Limits(turns=1, output_tokens=2000, usd=0.02)


@dataclass(frozen=True)
class Paying:
    """An executor that pays for one call a run: by chance of the words, a part of its worst."""

    name: str = "paying"
    paid: list[float] = field(default_factory=list, compare=False)

    def why_not(self, sandbox: str) -> str | None:
        return None

    async def execute(self, task: Task, meter) -> Execution:
        ticket = meter.reserve(task.model, Usage(output_tokens=2000, calls=1))
        usage = Usage(output_tokens=200 + 37 * len(task.prompt) % 1500, calls=1)
        meter.settle(ticket, usage)
        self.paid.append(load_prices().cost(usage, task.model))
        return routed(task)


class Bank(World):
    """A search that costs something, and what everybody was paid."""

    def __init__(self, root) -> None:
        super().__init__(root)
        self.executor = Paying()

    def optimise(self, **options):
        given = {"model": HAIKU, "limits": LIMITS, "executor": self.executor}
        return super().optimise(QUERIES[::2], **given, **options)

    @property
    def paid(self) -> float:
        """US dollars that were paid, by those who were."""
        used = (one["usage"] for one in lines(self.log))
        asked = sum(1e-6 * one["input_tokens"] + 5e-6 * one["output_tokens"] for one in used)
        return sum(self.executor.paid) + asked


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[float, float]:
    """What a search comes to that nothing limits, and the worst that it might have."""
    bank = Bank(tmp_path_factory.mktemp("whole"))
    worst = bank.optimise(dry_run=True).estimate.worst
    found = bank.optimise()
    assert (found.status, len(found.steps)) == ("done", 2)
    assert found.cost_usd == pytest.approx(bank.paid)
    return bank.paid, worst


@pytest.mark.parametrize("share", [0.02, 0.5, 0.8, 2.0])
def test_the_ceiling_holds_and_the_last_measurement_has_its_money(tmp_path, whole, share):
    paid, worst = whole
    assert paid < worst
    bank = Bank(tmp_path)
    found = bank.optimise(budget_usd=share * paid)
    assert bank.paid <= share * paid
    assert found.cost_usd == pytest.approx(bank.paid)
    again = bank.optimise(budget_usd=share * paid)
    assert (again.steps, again.best, again.why) == (found.steps, found.best, found.why)
    assert found.cost_usd == pytest.approx(bank.paid)
    first = found.steps[0]
    if share >= 0.8:
        assert sum(len(one.right) for one in first.asked) == 32
        assert found.best.n_runs == 2 * found.n_test
    if share == 2.0:
        assert found.status == "done"
    if share <= 0.5:
        assert found.status == "partial"
        assert found.best_description == PRESENT
    if share == 0.02:
        assert "too small for 32 more attempts, each $0.02 at worst" in found.ended
        assert found.ended.endswith("(money is set aside for the last measurement)")


def test_with_more_money_it_goes_on_and_pays_for_nothing_twice(tmp_path, whole):
    paid, _ = whole
    bank = Bank(tmp_path)
    for share in (0.2, 0.5, 0.8):
        assert bank.optimise(budget_usd=share * paid).status == "partial"
        assert bank.paid <= share * paid
    found = bank.optimise(budget_usd=3 * paid)
    assert (found.status, len(found.steps)) == ("done", 2)
    assert found.cost_usd == pytest.approx(bank.paid)
    # The present description may have had its last measurement while the money was short.
    assert bank.paid <= paid * (1 + found.n_test / 32)
