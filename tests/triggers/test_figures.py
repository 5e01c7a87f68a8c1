"""Figures against what is known: money below a ceiling, and the rates of a known router."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from skill_eval_nb.models import Connection, StandIn
from skill_eval_nb.models.stand_in.agent import best_skill
from skill_eval_nb.running import Limits
from skill_eval_nb.running.journal import read_journal
from skill_eval_nb.triggers import Query
from tests import bubblewrap
from tests.stand_in import RiggedStandIn
from tests.triggers.made import FLY, QUERIES, lines, make_skill, measured, went

HAIKU = "claude-haiku-4-5"
IN, OUT = 1e-6, 5e-6
"""US dollars a token, as the bundled table has them; the stand-in caches none of these calls."""


def billed(log) -> float:
    """What the server says that its answers cost."""
    usage = [line["usage"] for line in lines(log)]
    assert not any(one["cache_creation_input_tokens"] for one in usage)
    return sum(IN * one["input_tokens"] + OUT * one["output_tokens"] for one in usage)


@pytest.fixture
def bought(tmp_path):
    """A measurement of all queries, as it is paid for."""
    stand_in = RiggedStandIn(log=str(tmp_path / "log"), latency=0.02)
    given = {"connection": Connection(stand_in=stand_in), "runs": 2, "concurrency": 8}
    given |= {"model": HAIKU, "limits": Limits(turns=2, output_tokens=1000)}
    return lambda **more: measured(tmp_path, *QUERIES, **given, **more)


@bubblewrap.needed
def test_the_ceiling_holds_and_the_rest_is_made_with_more_money(tmp_path, bought):
    ceiling = 1.1 * bought(dry_run=True).price.cap_usd
    short = bought(budget_usd=ceiling)
    counts = [one.outcome for one in short.attempts]
    assert short.status == "partial"
    assert 0 < counts.count("triggered") < 16
    assert counts.count("triggered") + counts.count("not run") == 16
    assert all("budget" in (one.reason or "") for one in short.attempts if one.reason)
    assert short.cost_usd == pytest.approx(billed(tmp_path / "log"))
    assert short.cost_usd <= ceiling
    assert f"{counts.count('not run')} more attempts" in short.message
    assert bought(budget_usd=ceiling).attempts == short.attempts, "what was spent before counts"
    whole = bought(budget_usd=5.0)
    assert [one.outcome for one in whole.attempts] == ["triggered"] * 16
    assert len(lines(tmp_path / "log")) == 16, "nothing was made twice"
    assert whole.cost_usd == pytest.approx(billed(tmp_path / "log"))
    assert sum(one.cost_usd or 0 for one in whole.attempts) == pytest.approx(whole.cost_usd)


@bubblewrap.needed
def test_what_was_in_flight_never_passed_the_ceiling(bought):
    cap = bought(dry_run=True).price.cap_usd
    found = bought(budget_usd=3.5 * cap)
    spent, flying, most = 0.0, {}, 0.0
    for event in read_journal(found.folder).events:
        if event["event"] == "launched":
            flying[event["launch"]] = event["worst_usd"]
        elif flying.pop(event.get("launch"), None) is not None:
            spent += event["usd"]
        most = max(most, spent + sum(flying.values()))
    assert 2 * cap < most <= 3.5 * cap, "several were in flight"


def test_an_errored_attempt_stays_where_there_is_no_money_to_make_it_again(tmp_path):
    broken = went(status="errored", reason="it fell over", cost_usd=0.5)
    options = {"model": HAIKU, "limits": Limits(usd=0.6), "runs": 1, "budget_usd": 0.7}
    measured(tmp_path, FLY, run=lambda task: broken, **options)
    found = measured(tmp_path, FLY, run=pytest.fail, retry_errored=True, **options)
    assert [(one.outcome, one.cost_usd) for one in found.attempts] == [("errored", 0.5)]
    assert (found.status, found.cost_usd) == ("partial", 0.5)


# ── a known rule with known noise ──────────────────────────────────────────────────────────────

OPENS, STRAYS, RUNS = 0.7, 0.3, 12
DESCRIPTION = "Builds kites from paper and string."
YES = [Query(f"Build kites of paper number {n}", should_trigger=True) for n in "abcde"]
NO = [Query(f"Sing a song, verse {n}", should_trigger=False) for n in "abcde"]


@bubblewrap.needed
def test_the_rates_and_the_scores_of_a_known_router_come_back(tmp_path):
    listed = f"- kites: {DESCRIPTION}"
    assert all(best_skill(one.query, listed) == "kites" for one in YES)
    assert not any(best_skill(one.query, listed) for one in NO)
    make_skill(tmp_path / "kites", description=DESCRIPTION)
    noisy = Connection(stand_in=StandIn(opens=OPENS, strays=STRAYS))
    found = measured(tmp_path, *YES, *NO, runs=RUNS, limits=Limits(turns=1), connection=noisy)
    rows = found.rates.to_dicts()
    for wanted, chance in ((True, OPENS), (False, STRAYS)):
        own = [row for row in rows if row["should_trigger"] is wanted]
        hits, runs = sum(row["n_triggered"] for row in own), len(own) * RUNS
        assert sum(row["n_not_triggered"] for row in own) == runs - hits
        assert binomtest(hits, runs, chance).pvalue > 0.01
        held = sum(row["low"] <= chance <= row["high"] for row in own)
        assert held >= len(own) - 1
    [row] = found.scores.to_dicts()
    precision = OPENS / (OPENS + STRAYS)
    assert row["run_recall_low"] <= OPENS <= row["run_recall_high"]
    assert row["run_precision_low"] <= precision <= row["run_precision_high"]
    assert row["run_f1_low"] <= 2 * precision * OPENS / (precision + OPENS) <= row["run_f1_high"]
