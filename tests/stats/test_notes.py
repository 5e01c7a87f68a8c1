"""What an analyst would say, by rule: the notes of all makers, ranked, in the data's backend."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest

from skill_eval_nb.stats import deltas, notes
from skill_eval_nb.stats.notes import (
    KINDS,
    LOST,
    Note,
    gains,
    left_out,
    noisy_dimensions,
    silent_or_hurting,
    standing_out,
    unpaired,
    unsteady_evals,
)
from tests.stats.verdicts import plain, sides
from tests.stats.worlds import pair, scored, world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skill_eval_nb.tables import Workspace
    from tests.stats.made import Row

T, F = True, False
EVERYTHING = {
    "runs": [
        *(row | {"tokens": 5} for row in pair(1.0, 1.0, times=6)),
        *pair(1.0, 1.0, eval_id="2"),
        {"configuration": "with_skill", "eval_id": "3", "pass_rate": 1.0, "status": "gated"},
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
}
"""A workspace that gives rise to every kind of note."""


def test_every_kind_in_the_order_in_which_it_matters() -> None:
    rows = plain(notes(world(**EVERYTHING), "without_skill", most=99))
    kinds = [row["kind"] for row in rows]
    assert list(dict.fromkeys(kinds)) == list(KINDS)
    assert kinds == sorted(kinds, key=KINDS.index)
    for row in rows:
        assert "\n" not in row["text"]
        assert row["text"].endswith(".")


def test_names_from_files_are_cut_and_stay_on_a_line() -> None:
    name = "two\nlines " + "long " * 200
    verdicts = sides([T] * 4, [T] * 4, text=name, eval_id=name)
    [note] = plain(notes(world(verdicts=verdicts)))
    assert len(note["text"]) < 300
    assert "two lines long" in note["text"]
    assert note["expectations"] == note["evals"] == [name]


# ── on effects ─────────────────────────────────────────────────────────────────────────────────


def numbers(note: Note) -> dict[str, float]:
    return {number["name"]: number["value"] for number in note["numbers"]}


def only(made: Iterator[Note]) -> Note:
    (note,) = made
    return note


def noisy(ws: Workspace) -> list[Note]:
    return list(noisy_dimensions(ws, None, 0.95))


RUNS = pair(1.0, 1.0) + pair(1.0, 1.0, eval_id="2")
OF_JUDGE = scored("the judge's", [[1, 5], [5, 1], [3, 3]], [[1, 4], [5, 1], [3, 4]])
OF_RUN = scored("the run's", [[1, 1], [5, 5], [3, 3]], [[5, 5], [3, 3], [1, 2]])


def test_what_is_gained_and_what_it_costs() -> None:
    runs = [
        row
        | {
            "tokens": 3000 + 1700 * own,
            "time_seconds": 40.0 + 12.5 * own,
            "cost_usd": 0.02 + own / 100,
        }
        for row in pair(1.0, 0.5)
        for own in [row["configuration"] == "with_skill"]
    ]
    note = only(gains(world(runs), None, 0.95))
    assert note["text"] == (
        "with_skill against without_skill: +50 pp pass rate on 1 paired eval "
        f"({deltas(world(runs))['verdict'].item()}, p = 0.1), "
        "for +12.5 s, +1,700 tokens and +$0.01 a run."
    )
    assert numbers(note) == pytest.approx(
        {
            "pass_rate": 0.5,
            "n_evals": 1,
            "p": 0.1,
            "time_seconds": 12.5,
            "tokens": 1700,
            "cost_usd": 0.01,
        }
    )


def test_single_runs_of_many_evals_are_told_by_what_they_say_of_tasks_like_these() -> None:
    runs = [row for n in range(10) for row in pair(1.0, n / 20, times=1, tokens=10, eval_id=str(n))]
    (beyond,) = deltas(world(runs), scope="population").to_dicts()
    note = only(gains(world(runs), None, 0.95))
    assert "(helps on tasks like these, p = 0.00195)" in note["text"]
    assert numbers(note)["p"] == beyond["p"] == pytest.approx(2 / 2**10)


def test_costs_are_means_over_evals_and_not_over_runs() -> None:
    """One eval of 5 runs costs 10 tokens more, one of a single run 40: 25 on the mean."""
    runs = pair(1.0, 0.5, times=5, eval_id="1") + pair(1.0, 0.5, times=1, eval_id="2")
    for row in runs:
        more = 10 if row["eval_id"] == "1" else 40
        row["tokens"] = 100 + more * (row["configuration"] == "with_skill")
    assert numbers(only(gains(world(runs), None, 0.95)))["tokens"] == 25


def test_noise_is_the_standard_deviation_inside_evals_of_both_sides() -> None:
    """By the analysis of variance: runs and judgings together, both sides' variances averaged.

    with_skill: runs' means 1, 5, 3 judged alike, MS_run = 8, the judge 0: 8 / 2 = 4.
    without_skill: means 5, 3, 1.5 and a judge of .5 / 3, MS_run = 2 * 37 / 12.
    """
    (note,) = noisy(world(RUNS, scores=OF_RUN))
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
    (note,) = noisy(world(RUNS, scores=scores))
    assert note["text"].endswith(f"). {advice}")


# ── on expectations ────────────────────────────────────────────────────────────────────────────


def told(verdicts: list[Row], baseline: str | None = None) -> dict[str, Note]:
    """The notes on classes, by kind."""
    made = list(silent_or_hurting(world(verdicts=verdicts), baseline, 0.95))
    found = {note["kind"]: note for note in made}
    assert len(found) == len(made)
    return found


def unsteady(verdicts: list[Row]) -> list[Note]:
    return list(unsteady_evals(world(verdicts=verdicts), None, 0.95))


def test_expectations_that_tell_nothing_or_the_wrong_thing() -> None:
    verdicts = sides([T] * 4, [T] * 4, text="easy") + sides([T] * 4, [T] * 4, text="easy, too")
    verdicts += sides([F] * 4, [F] * 4, text="hard") + sides([F] * 6, [T] * 6, text="worse")
    verdicts += sides([T] * 6, [F] * 6, text="better")
    found = told(verdicts)
    assert found["always passes"]["text"] == (
        "2 of 5 expectations always passed in with_skill and without_skill: ‘easy’ and "
        "‘easy, too’. 4 runs a side support no more than ‘in at least 47 % of all runs, at 95 % "
        "confidence’: run them 10 times a side before you change them."
    )
    assert found["always passes"]["expectations"] == ["easy", "easy, too"]
    assert numbers(found["always passes"])["n_verdicts_baseline"] == 8
    assert found["always fails"]["text"] == (
        "1 of 5 expectations always failed in with_skill and without_skill: ‘hard’. "
        "4 runs a side support no more than ‘in at least 47 % of all runs, at 95 % confidence’: "
        "run them 10 times a side before you change them."
    )
    assert found["hurts"]["text"] == (
        "1 of 5 expectations passed less often in with_skill than in without_skill: ‘worse’ "
        "(0 of 6 against 6 of 6). See what the skill makes worse."
    )
    assert (found["hurts"]["evals"], found["hurts"]["configuration"]) == (["1"], "with_skill")
    assert "better" not in " ".join(note["text"] for note in found.values())


def test_those_of_the_most_evals_are_named_and_the_rest_counted() -> None:
    verdicts = [row for at in range(5) for row in sides([T] * 4, [T] * 4, text=f"check {at}")]
    verdicts += sides([T] * 4, [T] * 4, text="check 4", eval_id="2")
    note = told(verdicts)["always passes"]
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
    (note,) = unsteady(verdicts)
    assert (note["evals"], note["expectations"]) == (["flaky"], ["a", "b", "c"])
    assert "run to run in ‘flaky’ (3 of 3)." in note["text"]
    assert numbers(note) == {"changed of flaky": 3, "expectations of flaky": 3}


# ── on runs ────────────────────────────────────────────────────────────────────────────────────


def notes_of(maker: Callable, runs: list[Row], baseline: str | None = None) -> list[Note]:
    return list(maker(world(runs), baseline, 0.95))


def times(*seconds: float, **more: object) -> list[Row]:
    return [{"time_seconds": float(value), **more} for value in seconds]


INCOMPLETE = [
    *pair(1.0, 0.5),
    *pair(1.0, None, eval_id="2")[:3],
    *(row | {"status": "errored"} for row in pair(1.0, None, eval_id="2")[3:]),
    {"configuration": "with_skill", "eval_id": "3", "pass_rate": 1.0, "status": "gated"},
]


def test_runs_without_figures() -> None:
    (note,) = notes_of(left_out, INCOMPLETE)
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
    (note,) = notes_of(left_out, runs)
    assert LOST[status] in note["text"]
    assert note["text"].index("errored") <= note["text"].index(LOST[status])
    assert sum(numbers(note).values()) == 3 + 2


def test_evals_without_a_side() -> None:
    (note,) = notes_of(unpaired, INCOMPLETE)
    assert note["evals"] == ["2", "3"]
    assert note["text"] == (
        "2 of 3 evals cannot be compared, with_skill against without_skill: ‘2’ (no run of "
        "without_skill has a pass_rate) and ‘3’ (no run of without_skill). Run what is missing."
    )
    assert numbers(note) == {"n_unpaired": 2, "n_evals": 3}


def test_a_run_that_stands_out() -> None:
    """Modified z by hand, of logarithms."""
    (note,) = notes_of(standing_out, times(*range(40, 51), 400))
    assert note["runs"] == ["1 with_skill run 12"]
    away = np.log(np.array([*range(40, 51), 400]) / 45.5)
    z = 0.6745 * away[-1] / np.median(np.abs(away))
    assert numbers(note) == pytest.approx(
        {
            "time_seconds of 1 with_skill run 12": 400,
            "modified_z of 1 with_skill run 12": z,
        }
    )
    assert note["text"] == (
        "Far from the others: 1 with_skill run 12 took 400 s, where 45.5 s is usual (modified z "
        f"{z:.3g}). Without it the mean of with_skill is 45 s, not 74.6 s."
    )
