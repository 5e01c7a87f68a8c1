"""What the methods' answers are worth: coverage, claims and width, by cell."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skill_eval_nb.stats.comparison import Scope

from . import (
    claims,
    factors,
    gates,
    harder,
    labelled,
    looks,
    ours,
    pages,
    peers,
    small,
    smallest,
    triggers,
)
from .answers import Answers
from .metrics import Array
from .scenarios import EFFECTS, Cell, even
from .worlds import PLAIN, Evals, draw_evals

THESE, TASKS = "these evals", "tasks like these"
BY_FAMILY = "tasks like these, by family"
OURS: dict[str, Callable[[Array, str], Answers]] = {
    THESE: ours.these_evals,
    TASKS: ours.tasks_like_these,
}
PEERS: dict[str, Callable[[Array, str, np.random.Generator], Answers | None]] = {
    "pooled Welch": peers.pooled_welch,
    "bootstrap": peers.bootstrap,
    "t gate": peers.t_gate,
    "evalstats": peers.evalstats,
}


HOPELESS = 200
"""Data sets of which a question is asked that so few runs or evals never answer."""


class Measured(NamedTuple):
    """Shares of the data sets, but for the last three, which are means over them.

    Coverage is that of the intervals that exist; it and `width` are NaN where none does.
    `better` and `worse` are the claims. `truth` is the mean effect on these evals.
    """

    size: int
    exists: float
    covers_these: float
    covers_tasks: float
    better: float
    worse: float
    width: float
    detectable: float
    truth: float
    unwarned: float = 0.0
    """False or true, the claims with which nothing was said that may turn them."""

    @property
    def claims(self) -> float:
        """How often a difference is claimed, in either direction."""
        return self.better + self.worse

    def covers(self, about: str) -> float:
        """Coverage of the one difference or of the other."""
        return self.covers_tasks if about == TASKS else self.covers_these


def measure(cell: Cell, size: int, seed: int) -> dict[str, Measured]:
    """Every method that answers in this cell, by name; the same seed gives the same figures."""
    name = f"{cell.scenario.name} {cell.scenario.metric} {cell.n} {cell.runs}"
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    evals, truth = _draw(cell, size, random)
    values = evals.run(random, cell.runs)
    metric = cell.scenario.metric
    able = {THESE: cell.runs > 1, TASKS: cell.n >= 6}
    answers: dict[str, Answers | None] = {
        who: ask(values if able[who] else values[:HOPELESS], metric) for who, ask in OURS.items()
    }
    if cell.scenario.peers:
        answers |= {who: ask(values, metric, random) for who, ask in PEERS.items()}
    these = evals.truth()
    return {who: _measured(one, these, truth) for who, one in answers.items() if one}


def measure_harder(cell: harder.Harder, size: int, seed: int) -> dict[str, Measured]:
    """The same where more goes wrong; where there are families, ours by family, too."""
    random = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    drawn = harder.draw(cell, size, random)
    how = drawn._asdict()
    values, families = how.pop("values"), how.pop("families")
    answers: dict[str, Answers | None] = {
        who: ours.ours(values, cell.metric, scope, **how)
        for who, scope in ((THESE, "suite"), (TASKS, "population"))
        if who == TASKS or families is None  # on these evals there is a difference
    }
    if families is not None:
        answers[BY_FAMILY] = ours.ours(values, cell.metric, "population", families=families)
    slow = "evalstats" if cell.metric.startswith("rubric:") else ""
    answers |= {who: ask(values, cell.metric, random) for who, ask in PEERS.items() if who != slow}
    these = np.zeros(size)
    return {who: _measured(one, these, 0.0) for who, one in answers.items() if one}


def measure_labelled(cell: labelled.Labelled, size: int, seed: int) -> dict[str, Measured]:
    """A judge who is kinder to one side: its own word, and that corrected by labels."""
    random = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    world = PLAIN[0] if cell.helps else even(PLAIN[0])
    effect = world.effect_for(EFFECTS["pass_rate"][1]) if cell.helps else 0.0
    evals = draw_evals(world, effect, cell.n, size, random)
    scopes: dict[str, Scope] = {THESE: "suite"} if cell.runs > 1 else {}
    scopes |= {TASKS: "population"} if cell.n >= 6 else {}
    answers = labelled.answer(evals, cell, scopes, random)
    return {who: _measured(one, evals.truth(), world.truth(effect)) for who, one in answers.items()}


def measure_models(cell: factors.Models, size: int, seed: int) -> dict[str, float]:
    """How often an effect is said to differ between models, and some model to be helped."""
    random = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    return factors.measure(cell, size, random)


def measure_triggers(cell: triggers.Triggers, size: int, seed: int) -> dict[str, float]:
    """How often the intervals of trigger scores hold the truth."""
    random = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    return triggers.measure(cell, size, random)


def measure_looks(cell: looks.Looked, size: int, seed: int) -> dict[str, float]:
    """How often planned looks claim something, and after how many runs."""
    random = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    return looks.measure(cell, size, random)


def measure_small(cell: small.Small, size: int, seed: int) -> dict[str, float]:
    """What benchmarks run once lean to, and what their next steps decide."""
    random = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    return small.measure(cell, size, random)


def measure_gates(cell: gates.Gated, size: int, seed: int) -> dict[str, float]:
    """How often a gate ends how."""
    random = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    return gates.measure(cell, size, random)


def measure_claims(cell: claims.Claimed, size: int, seed: int) -> dict[str, float]:
    """What becomes of claims."""
    random = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    return claims.measure(cell, size, random)


def measure_pages(cell: pages.Page, size: int, seed: int) -> dict[str, float]:
    """How often a page of many metrics claims something."""
    random = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])
    return pages.measure(cell, size, random)


def _draw(cell: Cell, size: int, random: np.random.Generator) -> tuple[Evals, float]:
    """The evals of the data sets, and the effect over all evals of their world."""
    scenario, world = cell.scenario, cell.scenario.world
    if scenario.kind == "smallest on these evals":
        evals = draw_evals(world, 0.0, cell.n, size, random)
        return evals.moved(smallest.effect_on_these(evals, cell.runs)), np.nan
    if scenario.kind == "smallest on tasks like these":
        effect = smallest.effect_on_tasks(world, cell.n, cell.runs)
    else:
        effect = world.effect_for(scenario.truth)
    return draw_evals(world, effect, cell.n, size, random), world.truth(effect)


def _measured(answers: Answers, these: Array, tasks: float) -> Measured:
    low, high, claims = (column[: len(these)] for column in answers[:3])
    these = these[: len(low)]
    exists = ~np.isnan(low)
    # An interval of no width covers what it hits but for rounding.
    covers = [
        (low[exists] - 1e-9 <= truth) & (truth <= high[exists] + 1e-9)
        for truth in (these[exists], tasks)
    ]
    detectable = np.full(1, np.nan) if answers.detectable is None else answers.detectable
    return Measured(
        size=len(low),
        exists=_mean(exists),
        covers_these=_mean(covers[0]),
        covers_tasks=_mean(covers[1]),
        better=_mean(claims > 0),
        worse=_mean(claims < 0),
        width=_mean((high - low)[exists]),
        detectable=_mean(detectable[~np.isnan(detectable)]),
        truth=_mean(these),
        unwarned=_mean((claims != 0) & ~(np.False_ if answers.warned is None else answers.warned)),
    )


def _mean(values: Array) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
