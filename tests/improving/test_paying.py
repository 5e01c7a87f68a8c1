"""Whoever asks a model: never unasked, never above a budget, and never twice for an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import try_out
from skill_eval_nb.models import Connection
from skill_eval_nb.triggers.queries import draft_queries
from tests.improving.made import draft, drafted, offline, planted, said, tried_on
from tests.stand_in import Fault, RiggedStandIn, logged, serve
from tests.triggers.made import tidy_tables

PAID = "claude-haiku-4-5"
RIGOUR = {"name": "rigour", "description": "d", "weight": 2.0}
RIGOUR |= {"scoring": {"1": "none can", "3": "some can", "5": "all can"}}
Asker = Callable[..., Any]


def first_evals(home: Path) -> Asker:
    skill = tidy_tables(home)
    return lambda **options: sen.draft_evals(skill, model=PAID, **options)


def queries(home: Path) -> Asker:
    skill = tidy_tables(home)
    return lambda **options: draft_queries(skill, model=PAID, **options)


def drafts(home: Path) -> Asker:
    path = tried_on(home, planted(2, 1), evals=2, runs=2)
    asked = said("Nothing checks that `afterEach` is called.", "1", "2")
    return lambda **options: drafted(path, asked, model=PAID, **options)


def dimension(home: Path) -> Asker:
    ws = sen.load(tried_on(home, planted(2, 1), evals=2, runs=2))
    one = draft("dimensions", RIGOUR, evals=("1", "2"))
    return lambda **options: try_out(one, ws, judge_model=PAID, **options)


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Connection]:
    """A model that is paid for, and keeps a log."""
    with serve(RiggedStandIn(log=str(tmp_path / "log"))) as address:
        yield Connection(address)


@pytest.mark.parametrize("asker", [first_evals, queries, drafts, dimension])
def test_nothing_is_spent_unasked_and_nothing_twice(tmp_path, model, asker: Any) -> None:
    ask, log = partial(asker(tmp_path), connection=model), tmp_path / "log"
    unasked, short = ask(), ask(budget_usd=1e-6)
    price = unasked.price_usd
    assert price > 0
    assert (unasked.cost_usd, short.cost_usd) == (0, 0)
    assert "budget_usd" in repr(unasked)
    assert "budget is too small" in repr(short)
    if asker is not dimension:
        dry = ask(dry_run=True, budget_usd=100)
        assert (list(dry), dry.price_usd) == (list(unasked), price)
        assert "dry run" in repr(dry)
    assert logged(log) == []
    refusing = offline(faults=(Fault("refusal"),))
    assert "refused to answer" in repr(ask(connection=refusing, budget_usd=price))
    paid = ask(budget_usd=price)
    assert 0 < paid.cost_usd <= price
    asked = len(logged(log))
    assert asked == (8 if asker is dimension else 1)
    again = ask()
    assert (again.cost_usd, len(logged(log))) == (0, asked)
    if asker is dimension:
        assert again.by_run.equals(paid.by_run)
    else:
        assert list(again) == list(paid)
        assert len(paid) > len(unasked)
