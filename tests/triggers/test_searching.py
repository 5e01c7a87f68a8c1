"""The search for a description: what a model is asked, what is chosen, and when it ends."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.models import Connection, load_prices
from skill_eval_nb.models.ask import BadAnswer
from skill_eval_nb.running.asking import Terms, worst_usd
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.triggers.attempt import Query
from skill_eval_nb.triggers.describe import MOST
from skill_eval_nb.triggers.measurement import QueryOutcome
from skill_eval_nb.triggers.optimisation import split
from skill_eval_nb.triggers.search import (
    Proposal,
    Search,
    SearchOver,
    Step,
    choose_step,
    propose,
    question,
    read_proposal,
)
from tests.corpus.build import lay
from tests.stand_in import Fault, RiggedStandIn, logged

HALF = [
    Query(f"{half} {n}", n % 2 == 0, split=half) for half in ("train", "test") for n in range(8)
]


class Scripted(Search):
    """Descriptions with the numbers of right queries, train and held-out, that they get."""

    def __init__(self, *scores: tuple[int, int], rounds: int = 5, lacks: str = "") -> None:
        super().__init__(present="0", rounds=rounds)
        self.scores, self.lacks = scores, lacks
        self.measured: list[tuple[str, bool]] = []
        self.bases: list[int] = []

    def measure(self, description, *, fresh=False):
        self.measured.append((description, fresh))
        train, test = self.scores[int(description)]
        right = dict.fromkeys(HALF[:train] + HALF[8 : 8 + test], True)
        own = [one for one in HALF if not fresh or one.split == "test"]
        asked = tuple(QueryOutcome(one, (right.get(one, False),) * 3) for one in own)
        return Step(
            0, description, asked, lacking="no money" if description == self.lacks else None
        )

    def propose(self, base):
        self.bases.append(base.round)
        if len(self.steps) == len(self.scores):
            raise SearchOver("no further description")
        return str(len(self.steps))


@pytest.mark.parametrize(
    ("scores", "more", "bases", "ended", "best"),
    [
        # It ends as soon as every train query passes.
        ([(4, 4), (8, 8), (8, 8)], {}, [1], "every train query passes in round 2", 2),
        (
            [(4, 4), (5, 4), (5, 8), (4, 8), (7, 8)],
            {"rounds": 9},
            [1, 2, 3],
            "the train score did not improve in the last 2 rounds",
            3,
        ),
        # A round that was not finished is shown and not chosen.
        ([(4, 0), (6, 8), (7, 8)], {"lacks": "1"}, [1], "round 2 was not finished: no money", 1),
        # It builds on the best train score, and of several on the last.
        ([(4, 0), (6, 8), (2, 8), (6, 8), (7, 8)], {}, [1, 2, 2], None, None),
        ([(4, 0), (6, 8), (6, 8), (7, 8)], {"rounds": 4}, [1, 2, 3], None, None),
        ([(4, 8), (6, 0), (7, 0)], {"rounds": 3}, [1, 2], None, None),
    ],
)
def test_when_it_ends_and_what_it_builds_on(scores, more, bases, ended, best):
    script = Scripted(*scores, **more)
    found = script.run_search()
    assert script.bases == bases
    assert [one.description for one in found.steps] == [f"{n}" for n in range(len(bases) + 1)]
    assert ended in (None, found.ended)
    assert found.status == ("partial" if more.get("lacks") else "done")
    assert [one.lacking for one in found.steps].count("no money") == len(more.get("lacks", ""))
    assert best in (None, found.best.round)
    last = (found.best.description, True)
    assert script.measured == [*((one.description, False) for one in found.steps), last]
    assert {one.query.split for one in found.fresh.asked} == {"test"}


# ── choosing ─────────────────────────────────────────────────────────────────────────────────────


def round_(number: int, right: list[int]) -> Step:
    """A round with so many right runs of each held-out query."""
    asked = tuple(
        QueryOutcome(Query(f"q{at}", True, split="test"), (True,) * n + (False,) * (3 - n))
        for at, n in enumerate(right)
    )
    train = QueryOutcome(Query("train", True, split="train"), (False,) * 3)
    return Step(number, "same length", (*asked, train))


FIGURES = "100% right on 10 held-out queries against 40% (exact one-sided p = 0.016)."


@pytest.mark.parametrize(
    ("before", "after", "number", "words"),
    [
        ([0] * 6 + [3] * 4, [3] * 10, 2, f"description: {FIGURES}"),
        ([3, 3, 3, 2], [3] * 4, 1, "the current description cannot be told apart: 100% right"),
        ([3] * 4, [0] * 4, 1, "kept. Round 2 scores lower than the current description: 0% "),
        ([0, 0, 0, 3, 3, 3], [3] * 6, 2, "Round 2 is chosen"),
        ([0, 0, 0, 3, 3, 3], [3, 3, 0, 3, 3, 3], 1, "the earlier one is kept"),
    ],
    ids=["clearly better", "nobody can tell", "worse", "three are enough", "two are not"],
)
def test_a_later_description_is_chosen_where_it_is_better_and_the_reason_is_told(
    before, after, number, words
):
    best, why = choose_step([round_(1, before), round_(2, after)])
    assert best.round == number
    assert words in why


# ── splitting ────────────────────────────────────────────────────────────────────────────────────


def made(positives: int, negatives: int) -> list[Query]:
    return [Query(f"q{n}", n < positives) for n in range(positives + negatives)]


@given(
    positives=st.integers(2, 40),
    negatives=st.integers(2, 40),
    held_out=st.floats(0.01, 0.99),
    seed=st.integers(),
)
def test_each_class_is_held_out_in_its_share_and_all_queries_are_there(
    positives, negatives, held_out, seed
):
    asked = made(positives, negatives)
    dealt = split(asked, held_out, seed)
    assert [replace(one, split=None) for one in dealt] == asked
    counts = Counter((one.should_trigger, one.split) for one in dealt)
    for should, n in ((True, positives), (False, negatives)):
        assert 1 <= counts[should, "test"] <= n - 1
        assert abs(counts[should, "test"] - held_out * n) <= 1
        assert counts[should, "train"] == n - counts[should, "test"]


@pytest.mark.parametrize(
    ("asked", "held_out", "says"),
    [
        (made(1, 5), 0.4, "no held-out query that should trigger"),
        (made(5, 0), 0.4, "no train query that should not trigger"),
        (made(5, 5), 1, "held_out is 1"),
        (made(5, 5), 0.0, "held_out is 0.0"),
        (made(5, 5), float("nan"), "held_out is nan"),
        ([*made(5, 5), Query("Q1 ", True)], 0.4, "“q1” occurs 2 times"),
        ([], 0.4, "no train query"),
    ],
)
def test_what_cannot_be_split_is_refused(asked, held_out, says):
    with pytest.raises(Refused, match=re.escape(says)):
        split(asked, held_out, seed=0)


# ── what the proposer is told and may answer: train failures only, never a held-out query ────────

MISSED = QueryOutcome(
    Query("Fill in this form", True, split="train"), (True, False, False), ("read it",)
)
MISLED = QueryOutcome(Query("Draw a form of clay", False, split="train"), (False,) * 3)
RIGHT = QueryOutcome(Query("Complete my form", True, split="train"), (True,) * 3)
ERRORED = QueryOutcome(Query("Stamp a form", True, split="train"), ())
HELD = QueryOutcome(
    Query("Sign the secret contract", True, split="test"), (False,) * 3, ("SECRETLY",)
)
FORMS = Step(1, "Fills in forms.", (MISSED, MISLED, RIGHT, ERRORED, HELD))


def part(text: str, tag: str) -> list[str]:
    fence = rf'<{tag} nonce="(\w+)">\n(.*?)\n</{tag} nonce="\1">'
    return re.search(fence, text, re.DOTALL)[2].split("\n")


def test_it_sees_the_train_queries_that_went_wrong_with_what_was_done_instead():
    """And earlier descriptions with their train results only."""
    later = Step(2, "Fills in forms of paper.", (MISSED, MISLED, RIGHT, HELD))
    asked = question("m", "forms", "# Forms\n", (FORMS, later), FORMS, ())
    [block] = asked.content
    text = block["text"]
    failures = [json.loads(line) for line in part(text, "failures")]
    names = ("query", "should_trigger", "triggered", "instead")
    assert [tuple(one[name] for name in names) for one in failures] == [
        ("Draw a form of clay", False, "3 of 3 runs", []),
        ("Fill in this form", True, "1 of 3 runs", ["read it"]),
    ]
    assert {len(one) for one in failures} == {len(names)}
    tried = [json.loads(line) for line in part(text, "tried")]
    assert tried == [
        {"round": 1, "description": "Fills in forms.", "right": "4 of 9 runs"},
        {"round": 2, "description": "Fills in forms of paper.", "right": "4 of 9 runs"},
    ]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"why": "", "description": "x" * (MOST + 1)}, "1,025 characters"),
        ({"why": "", "description": "a <form>"}, "`<` or `>`"),
        ({"why": "", "description": "two\nlines"}, "more than one line"),
        ({"why": "", "description": "fills  in FORMS."}, "it was tried in round 1"),
        ({"why": "", "description": " "}, "has no description"),
        ({"why": ""}, "lacks description"),
        (["a description"], "not an object"),
    ],
)
def test_what_breaks_the_limits_is_refused_and_asked_anew(answer, says):
    asked = question("m", "forms", "b", (FORMS,), FORMS, ())
    with pytest.raises(BadAnswer, match=re.escape(says)):
        asked.read(answer)


# ── the proposer asked: kept at once, never paid for twice, within what is left ──────────────────

HAIKU = "claude-haiku-4-5"
UNSTAMPED = QueryOutcome(Query("stamp the letters", True, split="train"), (False,) * 3)
ROUND = Step(1, "Sorts mail.", (UNSTAMPED,))
QUESTION = question(HAIKU, "mail", "# Mail\n", (ROUND,), ROUND, ())
WORST = worst_usd([QUESTION], load_prices())


def asked(folder, *faults: Fault, left_usd: float | None = 1.0) -> Proposal:
    stand_in = RiggedStandIn(faults=faults, log=str(folder / "log"))
    given = propose(QUESTION, folder, Terms(Connection(stand_in=stand_in), budget_usd=left_usd))
    there = read_proposal(folder, QUESTION.key)
    assert there.description == given
    return there


def test_an_answer_that_an_earlier_version_kept_is_given_back(tmp_path):
    kept = {"description": "Stamps letters.", "spent_usd": 0.25}
    lay(tmp_path, {f".skill-eval-nb/proposals/{QUESTION.key}.json": kept})
    assert asked(tmp_path, left_usd=0.0) == Proposal("Stamps letters.", 0.25)
    assert logged(tmp_path / "log") == []


def test_an_answer_that_cannot_be_used_is_asked_for_anew_and_all_of_it_is_counted(tmp_path):
    proposal = asked(tmp_path, Fault("invalid_json", first=1))
    assert len(logged(tmp_path / "log")) == 2
    assert proposal.description is not None
    failed = lay(tmp_path / "failed", {})
    with pytest.raises(SearchOver, match="no usable answer in 3 attempts"):
        asked(failed, Fault("invalid_json"))
    before = read_proposal(failed, QUESTION.key)
    assert before.description is None
    assert 0 < before.spent_usd < WORST
    assert asked(failed).spent_usd > before.spent_usd


def test_one_that_was_killed_half_way_counts_at_its_worst_and_is_asked_again(tmp_path, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("skill_eval_nb.triggers.search.ask_all", killed)
        with pytest.raises(KeyboardInterrupt):
            asked(tmp_path)
    assert read_proposal(tmp_path, QUESTION.key) == Proposal(None, pytest.approx(WORST))
    again = asked(tmp_path)
    assert again.description is not None
    assert WORST < again.spent_usd < 2 * WORST
