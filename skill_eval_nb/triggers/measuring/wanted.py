"""What is to be measured, and what of it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skill_eval_nb.models import Prices
from skill_eval_nb.running.asking import NO_MONEY
from skill_eval_nb.running.driving.journal import read

from ..values import Attempt
from .filing import Cell, read_attempt
from .going import spent_on
from .measured import Measured, Status
from .pricing import Price, price_of
from .setting import Setting

WHY = {
    "partial": NO_MONEY,
    "stopped": "it was stopped before it began",
    "dry run": "nobody was asked",
}
"""Why an attempt was not made, by the status of the measurement."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured.

    Attributes:
        setting: under what queries are asked.
        cells: the attempts.
        home: the folder of the measurement.
        prices: what calls cost.
        retry_errored: whether those that errored are made again.
    """

    setting: Setting
    cells: tuple[Cell, ...]
    home: Path
    prices: Prices
    retry_errored: bool

    def there(self) -> dict[Cell, Attempt]:
        """The attempts that were made before.

        Raises:
            Refused: a file is not what was written there.
        """
        found = ((one, read_attempt(self.home, one)) for one in self.cells)
        return {cell: attempt for cell, attempt in found if attempt is not None}

    def missing(self, there: Mapping[Cell, Attempt]) -> list[Cell]:
        """The attempts that are to be made."""
        return [
            one
            for one in self.cells
            if one not in there or (self.retry_errored and there[one].outcome == "errored")
        ]

    def price(self, there: Mapping[Cell, Attempt]) -> Price:
        """What those that are missing may cost."""
        return price_of(self.missing(there), self.setting, self.prices)

    def measured(
        self,
        made: Mapping[Cell, Attempt],
        status: Status,
        message: str,
        price: Price | None = None,
    ) -> Measured:
        """What came of it; `price` is what was missing before it began."""
        offered, model = self.setting.offered, self.setting.model
        reason = WHY.get(status)
        return Measured(
            skill_name=offered.skill.name,
            description=offered.skill.description,
            others=tuple(one.name for one in offered.others),
            model=model,
            executor=self.setting.executor.name,
            attempts=tuple(
                made.get(one) or Attempt(one.query, one.run, "not run", reason=reason)
                for one in self.cells
            ),
            status=status,
            cost_usd=self._spent() if self.prices.known(model) else None,
            price=price or self.price(made),
            message=message,
            folder=self.home,
        )

    def _spent(self) -> float:
        return spent_on(read(self.home), self.home, self.cells)
