"""What came of drafting queries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from skill_eval_nb.stats.phrases import brief

from ..values import Query
from .doubting import QueryDoubt


class DraftedQueries(tuple[Query, ...]):  # noqa: SLOT001 -- a tuple cannot have slots of its own
    """Drafted queries, as a tuple.

    Attributes:
        doubts: what `check_queries` says of the existing queries and these together.
        price_usd: what asking costs at worst, in US dollars; 0 where an answer was kept, None
            where the price is not known.
        cost_usd: what was spent now, in US dollars; None where the price is not known.
        unasked: why there are none; None where there are.
    """

    doubts: tuple[QueryDoubt, ...]
    price_usd: float | None
    cost_usd: float | None
    unasked: str | None

    def __new__(
        cls,
        queries: Iterable[Query] = (),
        *,
        doubts: tuple[QueryDoubt, ...] = (),
        price_usd: float | None = 0.0,
        cost_usd: float | None = 0.0,
        unasked: str | None = None,
    ) -> Self:
        """Queries, and what came of asking for them."""
        made = super().__new__(cls, queries)
        made.doubts, made.unasked = doubts, unasked
        made.price_usd, made.cost_usd = price_usd, cost_usd
        return made

    def __repr__(self) -> str:
        lines = [f"drafted {len(self)} queries" if self else f"nothing drafted: {self.unasked}"]
        for one in self:
            tags = f"  [{', '.join(one.tags)}]" if one.tags else ""
            should = "should    " if one.should_trigger else "should not"
            lines.append(f"  {should}  {brief(one.query, 200)}{tags}")
        return "\n".join([*lines, *(f"  {one.doubt}: {one.message}" for one in self.doubts)])
