"""What a search comes to: its price before, its result afterwards."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

from skill_eval_nb.models.asking import ASKED
from skill_eval_nb.running.asking import worst_usd

from ..measuring import Measured
from ..measuring.pricing import Price
from .choosing import Round
from .limits import MOST, faults_of
from .optimised import Optimised
from .prompting import question
from .rounds import Rounds
from .scoring import Asked, score_of
from .searching import Found


class Estimate(NamedTuple):
    """What a search comes to in US dollars; each None where a price is not known.

    Attributes:
        low: where it ends after the first round, and each run opens a skill at once.
        high: with all rounds, where each run takes all of its turns.
        worst: what can be spent at most.
    """

    low: float | None
    high: float | None
    worst: float | None


def before(going: Rounds, priced: Measured, present: str, runs: int) -> Optimised:
    """What is known of a search before anything is made.

    Args:
        going: the search.
        priced: one round of which nothing is there yet.
        present: the present description.
        runs: of each query.
    """
    halves = Counter(one.split for one in going.queries)
    return Optimised(
        skill_name=going.name,
        status="dry run",
        steps=(),
        best_description=present,
        best=None,
        selected=None,
        why="Nothing was measured.",
        ended="nobody was asked",
        doubts=(),
        model=priced.model,
        proposer_model=going.proposer,
        runs=runs,
        n_train=halves["train"],
        n_test=halves["test"],
        n_runs=going.rounds * going.money.attempts + going.money.last_attempts,
        cost_usd=0.0,
        estimate=_estimate(going, priced.price),
        folder=going.folder,
        notes=tuple(f"The present description has a fault: {one}." for one in faults_of(present)),
    )


def told_of(going: Rounds, priced: Measured) -> list[Any]:
    """What sets a search apart from another of the same description, as plain JSON."""
    asked = [(one.query, one.should_trigger, one.split) for one in going.queries]
    told = [asked, priced.model, going.proposer, priced.executor, priced.others]
    return [*told, going.body, list(going.competing)]


def after(empty: Optimised, found: Found, going: Rounds) -> Optimised:
    """What a search found, with its figures."""
    money = going.money
    done = replace(empty, cost_usd=money.cost_usd, ended=found.ended, doubts=going.doubts)
    if found.choice is None:
        return replace(done, status="partial")
    best = found.choice.round
    steps = tuple(replace(one, is_best=one.round == best.number) for one in going.steps)
    return replace(
        done,
        status="broken" if found.broken else "partial" if found.early else "done",
        steps=steps,
        best_description=best.description,
        best=score_of(found.fresh, "test"),
        selected=steps[best.number - 1].test,
        why=found.choice.why,
    )


def _estimate(going: Rounds, price: Price) -> Estimate:
    """What a search comes to.

    Args:
        going: the search.
        price: of one round of which nothing is there yet.
    """
    asked = tuple(Asked(one, (not one.should_trigger,)) for one in going.queries)
    tried = [Round(n, f"{n}{'?' * MOST}", asked) for n in range(1, going.rounds)]
    texts = [
        question(going.proposer, going.name, going.body, tried, tried[-1], going.competing)
        for _ in tried
    ]
    proposals = worst_usd(texts, going.prices)
    money, known = going.money, (price.low_usd, price.high_usd, price.worst_usd, proposals)
    if None in known:
        return Estimate(None, None, None)
    low, high, worst, talk = (one or 0.0 for one in known)
    last = money.last_attempts / money.attempts
    rounds = going.rounds + last
    return Estimate(low * (1 + last), high * rounds + talk / ASKED, worst * rounds + talk)
