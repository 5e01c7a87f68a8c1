"""What an analyst would say, by rule: the notes of all makers, ranked, in the data's backend."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from skill_eval_nb.stats import deltas, notes
from skill_eval_nb.stats.notes import KINDS, LOST
from tests.stats.made import SIDES, Row
from tests.stats.verdicts import plain, sides
from tests.stats.worlds import pair, scored, world

T, F = True, False
EVERYTHING = {
    "runs": [
        *(row | {"tokens": 5} for row in pair(1.0, 1.0, times=6)),
        *pair(1.0, 1.0, eval_id="2"),
        {"configuration": "with_skill", "eval_id": "3", "pass_rate": 1.0, "status": "gated"},
        {"configuration": "with_skill", "eval_id": "4", "pass_rate": 1.0, "status": "gated"},
        *(
            {"configuration": "old_skill", "time_seconds": float(at)}
            for at in (*range(40, 51), 400)
        ),
    ],
    "verdicts": [
        *sides([T] * 4, [T] * 4, text="easy"),
        *sides([F] * 4, [F] * 4, text="hard"),
        *sides([F] * 8, [T] * 8, text="worse"),
        *(row for text in "ab" for row in sides([T, F], [T, T], text=text, eval_id="2")),
    ],
    "scores": scored("depth", [[1], [5], [3]], [[5], [3], [2]]),
    "triggers": [{"query": "q", "should_trigger": True, "triggered": 0, "runs": 3}],
    "evals": [
        {"eval_id": name, "tags": ["large" if name < "3" else "small"]}
        for name in ("1", "2", "3", "4")
    ],
}
"""A workspace that gives rise to every kind of note."""


def test_every_kind_in_the_order_in_which_it_matters() -> None:
    rows = plain(notes(world(**EVERYTHING), "without_skill", most=99))
    kinds = [row["kind"] for row in rows]
    assert list(dict.fromkeys(kinds)) == list(KINDS)
    assert kinds == sorted(kinds, key=KINDS.index)
    for row in rows:
        assert "\n" not in row["text"]
        assert row["text"].endswith((".", "on the list?"))


def test_names_from_files_are_cut_and_stay_on_a_line() -> None:
    name = "two\nlines " + "long " * 200
    verdicts = sides([T] * 4, [T] * 4, text=name, eval_id=name)
    [note] = plain(notes(world(verdicts=verdicts)))
    assert len(note["text"]) < 300
    assert "two lines long" in note["text"]
    assert note["expectations"] == note["evals"] == [name]


# ── on effects ─────────────────────────────────────────────────────────────────────────────────


def numbers(note: Row) -> dict[str, float]:
    return {number["name"]: number["value"] for number in note["numbers"]}


def told(kind: str, baseline: str | None = None, **tables: list[Row]) -> Row:
    """The only note of a kind."""
    (note,) = (
        one for one in plain(notes(world(**tables), baseline, most=99)) if one["kind"] == kind
    )
    return note


RUNS = pair(1.0, 1.0) + pair(1.0, 1.0, eval_id="2")
OF_JUDGE = scored("the judge's", [[1, 5], [5, 1], [3, 3]], [[1, 4], [5, 1], [3, 4]])
OF_RUN = scored("the run's", [[1, 1], [5, 5], [3, 3]], [[5, 5], [3, 3], [1, 2]])


def test_what_is_gained_and_what_it_costs() -> None:
    runs = pair(1.0, 0.5, times=3)
    for row in runs:
        own = row["configuration"] == SIDES[0]
        row |= {"tokens": 3000 + 1700 * own, "time_seconds": 40 + 12.5 * own}
        row["cost_usd"] = 0.02 + own / 100
    note = told("gain and cost", runs=runs)
    assert note["text"] == (
        "with_skill against without_skill: +50 pp pass rate on 1 paired eval "
        f"({deltas(world(runs))['verdict'].item()}, p = 0.1), "
        "for +12.5 s, +1,700 tokens and +$0.01 a run."
    )
    costs = {"time_seconds": 12.5, "tokens": 1700, "cost_usd": 0.01}
    assert numbers(note) == pytest.approx({"pass_rate": 0.5, "n_evals": 1, "p": 0.1, **costs})


def test_single_runs_of_many_evals_are_told_by_what_they_say_of_tasks_like_these() -> None:
    runs = [row for n in range(10) for row in pair(1.0, n / 20, times=1, tokens=10, eval_id=str(n))]
    (beyond,) = deltas(world(runs), scope="population").to_dicts()
    note = told("gain and cost", runs=runs)
    assert "(helps on tasks like these, p = 0.00195)" in note["text"]
    assert numbers(note)["p"] == beyond["p"] == pytest.approx(2 / 2**10)


def test_costs_are_means_over_evals_and_not_over_runs() -> None:
    """One eval of 5 runs costs 10 tokens more, one of a single run 40: 25 on the mean."""
    runs = pair(1.0, 0.5, times=5, eval_id="1") + pair(1.0, 0.5, times=1, eval_id="2")
    for row in runs:
        more = 10 if row["eval_id"] == "1" else 40
        row["tokens"] = 100 + more * (row["configuration"] == "with_skill")
    assert numbers(told("gain and cost", runs=runs))["tokens"] == 25


def test_noise_is_the_standard_deviation_inside_evals_of_both_sides() -> None:
    """By the analysis of variance: runs and judgings together, both sides' variances averaged.

    with_skill: runs' means 1, 5, 3 judged alike, MS_run = 8, the judge 0: 8 / 2 = 4.
    without_skill: means 5, 3, 1.5 and a judge of .5 / 3, MS_run = 2 * 37 / 12.
    """
    note = told("noisy dimension", runs=RUNS, scores=OF_RUN)
    judge = 0.5 / 3
    other = (2 * 37 / 12 - judge) / 2 + judge
    assert numbers(note)["noise of the run's"] == pytest.approx(sqrt((4 + other) / 2))
    assert numbers(note)["estimate of the run's"] == pytest.approx(3 - 9.5 / 3)


@pytest.mark.parametrize(
    ("scores", "advice"),
    [
        (OF_RUN, "More runs would narrow it down."),
        (OF_JUDGE, "‘the judge's’: it is mostly the judge, so judge each output more often."),
    ],
)
def test_the_advice_is_for_what_makes_the_noise(scores: list, advice: str) -> None:
    note = told("noisy dimension", runs=RUNS, scores=scores)
    assert note["text"].endswith(f"). {advice}")


# ── on expectations ────────────────────────────────────────────────────────────────────────────


def test_expectations_that_tell_nothing_or_the_wrong_thing() -> None:
    verdicts = sides([T] * 4, [T] * 4, text="easy") + sides([T] * 4, [T] * 4, text="easy, too")
    verdicts += sides([F] * 4, [F] * 4, text="hard") + sides([F] * 6, [T] * 6, text="worse")
    verdicts += sides([T] * 6, [F] * 6, text="better")
    found = {note["kind"]: note for note in plain(notes(world(verdicts=verdicts)))}
    more = (
        " 4 runs a side support no more than ‘in at least 47 % of all runs, at 95 % confidence’: "
        "run them 10 times a side before you change them."
    )
    assert {kind: note["text"] for kind, note in found.items()} == {
        "always passes": "2 of 5 expectations always passed in with_skill and without_skill: "
        f"‘easy’ and ‘easy, too’.{more}",
        "always fails": "1 of 5 expectations always failed in with_skill and without_skill: "
        f"‘hard’.{more}",
        "hurts": "1 of 5 expectations passed less often in with_skill than in without_skill: "
        "‘worse’ (0 of 6 against 6 of 6). See what the skill makes worse.",
    }
    assert found["always passes"]["expectations"] == ["easy", "easy, too"]
    assert numbers(found["always passes"])["n_verdicts_baseline"] == 8
    assert (found["hurts"]["evals"], found["hurts"]["configuration"]) == (["1"], "with_skill")


def test_those_of_the_most_evals_are_named_and_the_rest_counted() -> None:
    verdicts = [row for at in range(5) for row in sides([T] * 4, [T] * 4, text=f"check {at}")]
    verdicts += sides([T] * 4, [T] * 4, text="check 4", eval_id="2")
    note = told("always passes", verdicts=verdicts)
    assert "‘check 4’, ‘check 0’, ‘check 1’ and 2 more" in note["text"]
    assert len(note["expectations"]) == 5
    assert note["evals"] == ["1", "2"]


def test_evals_that_waver() -> None:
    verdicts = [
        row
        for text in ("a", "b", "c")
        for row in sides([T, F, T], [T, T, T], text=text, eval_id="flaky")
        + sides([T, text != "a"], [T, T], text=text, eval_id="steady")
    ]
    note = told("flaky eval", verdicts=verdicts)
    assert (note["evals"], note["expectations"]) == (["flaky"], ["a", "b", "c"])
    assert "run to run in ‘flaky’ (3 of 3)." in note["text"]
    assert numbers(note) == {"changed of flaky": 3, "expectations of flaky": 3}


# ── on runs ────────────────────────────────────────────────────────────────────────────────────


INCOMPLETE = [
    *pair(1.0, 0.5),
    *pair(1.0, None, eval_id="2")[:3],
    *(row | {"status": "errored"} for row in pair(1.0, None, eval_id="2")[3:]),
    {"configuration": "with_skill", "eval_id": "3", "pass_rate": 1.0, "status": "gated"},
]


def test_runs_without_figures() -> None:
    note = told("left out", runs=INCOMPLETE)
    assert note["text"] == (
        "Not in every figure: of 13 runs 3 errored (2 without_skill run 1, 2 without_skill run 2 "
        "and 2 without_skill run 3); 1 without rubric scores, as a critical check failed "
        "(3 with_skill run 1)."
    )
    assert numbers(note) == {"n_runs": 13, "n_errored": 3, "n_gated": 1}
    assert (len(note["runs"]), note["evals"]) == (4, ["2", "3"])


@pytest.mark.parametrize("status", LOST)
def test_each_way_to_lack_figures_is_told_and_the_worst_first(status: str) -> None:
    runs = [{"status": status}, {"status": "errored", "eval_id": "2"}, {"status": "graded"}]
    note = told("left out", runs=runs)
    assert LOST[status] in note["text"]
    assert note["text"].index("errored") <= note["text"].index(LOST[status])
    assert sum(numbers(note).values()) == 3 + 2


def test_evals_without_a_side() -> None:
    note = told("unpaired", runs=INCOMPLETE)
    assert note["evals"] == ["2", "3"]
    assert note["text"] == (
        "2 of 3 evals cannot be compared, with_skill against without_skill: ‘2’ (no run of "
        "without_skill has a pass_rate) and ‘3’ (no run of without_skill). Run what is missing."
    )
    assert numbers(note) == {"n_unpaired": 2, "n_evals": 3}


def test_a_run_that_stands_out() -> None:
    """Modified z by hand, of logarithms."""
    seconds = [*map(float, range(40, 51)), 400.0]
    note = told("outlier", runs=[{"time_seconds": one} for one in seconds])
    assert note["runs"] == ["1 with_skill run 12"]
    away = np.log(np.array(seconds) / 45.5)
    z = 0.6745 * away[-1] / np.median(np.abs(away))
    expected = {"time_seconds of 1 with_skill run 12": 400, "modified_z of 1 with_skill run 12": z}
    assert numbers(note) == pytest.approx(expected)
    assert note["text"] == (
        "Far from the others: 1 with_skill run 12 took 400 s, where 45.5 s is usual (modified z "
        f"{z:.3g}). Without it the mean of with_skill is 45 s, not 74.6 s."
    )
