"""What an analyst would say, by rule: the notes of all makers, ranked, in the data's backend."""

from __future__ import annotations

from skill_eval_nb.stats import notes
from tests.golden import hold, lines_of
from tests.stats.made import SIDES, Row, pair, plain, sides, world

T, F = True, False


def scored(dimension: str, own: list[list[float]], other: list[list[float]]) -> list[Row]:
    """Scores of two evals alike: a list a run, of its judgings."""
    return [
        {"dimension": dimension, "configuration": name, "run_number": run, "eval_id": eval_id}
        | {"judging": judging, "score": score}
        for eval_id in ("1", "2")
        for name, runs in zip(SIDES, (own, other), strict=True)
        for run, judgings in enumerate(runs, 1)
        for judging, score in enumerate(judgings, 1)
    ]


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


def test_names_from_files_are_cut_and_stay_on_a_line() -> None:
    name = "two\nlines " + "long " * 200
    verdicts = sides([T] * 4, [T] * 4, text=name, eval_id=name)
    [note] = plain(notes(world(verdicts=verdicts)))
    assert len(note["text"]) < 300
    assert "two lines long" in note["text"]
    assert note["expectations"] == note["evals"] == [name]


# ── on effects ─────────────────────────────────────────────────────────────────────────────────


RUNS = pair(1.0, 1.0) + pair(1.0, 1.0, eval_id="2")
OF_JUDGE = scored("the judge's", [[1, 5], [5, 1], [3, 3]], [[1, 4], [5, 1], [3, 4]])
OF_RUN = scored("the run's", [[1, 1], [5, 5], [3, 3]], [[5, 5], [3, 3], [1, 2]])
PRICED = [
    row
    | {"tokens": 3000 + 1700 * own, "time_seconds": 40 + 12.5 * own, "cost_usd": 0.02 + own / 100}
    for row in pair(1.0, 0.5, times=3)
    for own in [row["configuration"] == SIDES[0]]
]
CASES: dict[str, dict[str, list[Row]]] = {
    "all kinds": EVERYTHING,
    "what is gained and what it costs": {"runs": PRICED},
    # Inside evals, of both sides: by the analysis of variance, runs and judgings together.
    # with_skill: runs' means 1, 5, 3 judged alike, MS_run = 8, the judge 0: 8 / 2 = 4.
    # without_skill: means 5, 3, 1.5 and a judge of .5 / 3, MS_run = 2 * 37 / 12: noise is
    # √((4 + (2 * 37 / 12 - .5 / 3) / 2 + .5 / 3) / 2) = 1.89, the estimate 3 - 9.5 / 3 = -0.167.
    "noise of the runs": {"runs": RUNS, "scores": OF_RUN},
    "noise of the judge": {"runs": RUNS, "scores": OF_JUDGE},
    "expectations that tell nothing or the wrong thing": {
        "verdicts": sides([T] * 4, [T] * 4, text="easy")
        + sides([T] * 4, [T] * 4, text="easy, too")
        + sides([F] * 4, [F] * 4, text="hard")
        + sides([F] * 6, [T] * 6, text="worse")
        + sides([T] * 6, [F] * 6, text="better")
    },
    "those of the most evals are named and the rest counted": {
        "verdicts": [
            row
            for at, of in (*((at, "1") for at in range(5)), (4, "2"))
            for row in sides([T] * 4, [T] * 4, text=f"check {at}", eval_id=of)
        ]
    },
}


def test_what_is_noted() -> None:
    lines: list[str] = []
    for name, tables in CASES.items():
        lines.append(f"# {name}")
        for note in plain(notes(world(**tables), most=99)):
            lines += [f"{note['kind']}: {note.pop('text')}", *lines_of(note)]
    hold("notes", lines)
