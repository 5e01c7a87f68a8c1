"""A made-up world: a skill among others, a router with a known rule and known noise."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from skill_eval_nb.models.stand_in import StandIn
from skill_eval_nb.models.stand_in import writers as proposer
from skill_eval_nb.models.stand_in.agent import fitting
from skill_eval_nb.triggers.attempt import Query
from skill_eval_nb.triggers.optimised import QueryOutcome, Round
from skill_eval_nb.triggers.propose import question

NAME = "books"
PRESENT = "Helps with invoice posting, and with travel booking."
"""It claims one of five topics that it should, and one that it should not."""
OTHERS = "- poems: Writes a poem or a verse\n- plots: Draws plots and diagrams of data"
WANTED = (
    *("invoice posting", "bank reconciliation", "month accruals", "asset depreciation"),
    "payroll journal",
)
ENDS = ("da", "ka", "mi", "no", "ru", "ta", "va", "wen", "xo", "zet")
UNWANTED = (
    *("travel booking", "garden flowers", "football scores", "holiday recipes"),
    "poem verse",
)
EACH = 6
"""Queries of a topic."""


def queries(each: int = EACH) -> list[Query]:
    """Queries about ten topics, half of them the skill's; each names somebody of its own.

    Their tag is the topic, so that no topic is in one half alone.
    """
    names = map("".join, product(("Bel", "Dor", "Fin", "Gar", "Lum", "Nov"), ENDS))
    return [
        Query(f"For {next(names)}: please do the {topic}", should, (topic,))
        for should, topics in ((True, WANTED), (False, UNWANTED))
        for topic in topics
        for _ in range(each)
    ]


@dataclass
class World:
    """Routes by the stand-in's rule; each run then goes wrong by chance.

    Attributes:
        queries: all of them, each with its split.
        runs: of each query.
        noise: the chance that a run does the contrary of what the rule says.
        seed: of the draws.
        seen: the bodies of all requests to the proposer.
    """

    queries: Sequence[Query]
    runs: int = 3
    noise: float = 0.1
    seed: int = 0
    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def right(self, query: Query, description: str) -> float:
        """The true chance that a run is right."""
        opened = fitting(query.query, f"- {NAME}: {description}\n{OTHERS}") == NAME
        return 1 - self.noise if opened == query.should_trigger else self.noise

    def truth(self, description: str, split: str | None = None) -> float:
        """The true score over the queries, or a part of them."""
        own = [one for one in self.queries if split in (None, one.split)]
        return sum(self.right(one, description) for one in own) / len(own)

    def measure(
        self, description: str, *, fresh: bool = False
    ) -> tuple[tuple[QueryOutcome, ...], None]:
        """As `searching.Measure`."""
        own = [one for one in self.queries if not fresh or one.split == "test"]
        return tuple(self._asked(one, self.right(one, description)) for one in own), None

    def _asked(self, query: Query, right: float) -> QueryOutcome:
        drawn = tuple(self.chance.random() < right for _ in range(self.runs))
        return QueryOutcome(query, drawn, ("answered at once",))

    def propose(self, rounds: Sequence[Round], base: Round) -> str:
        """The stand-in's proposal, by the real question and the real reading of its answer."""
        asked = question("stand-in", NAME, "# Books\n", rounds, base, ())
        body = asked.body()
        self.seen.append(str(body))
        return asked.read(proposer.propose(StandIn(), body))
