"""Where variance comes from, in words."""

from __future__ import annotations

from typing import Any

import pytest

from skill_eval_nb.charts.judges import HEADS, SOURCES, answer, rough
from skill_eval_nb.charts.metrics import metric

Row = dict[str, Any]


def lane(sizes: tuple[int, ...] = (30, 90, 180), /, **shares: float) -> Row:
    """A lane by its shares; `__` stands for ` + `."""
    named = {name.replace("__", " + "): share for name, share in shares.items()}
    return {
        "heading": "",
        "configuration": "with_skill",
        "label": "Clarity",
        "meant": metric("rubric:Clarity"),
        "parts": {
            name: {"component": name, "share": share, "share_low": None, "share_high": None}
            for name, share in named.items()
        },
        "sizes": list(sizes),
    }


def told(*lanes: Row) -> str:
    return answer(lanes).replace("\xa0", " ")


EVALS = lane(eval=0.7, run=0.2, judge=0.1)
JUDGE = lane(eval=0.2, run=0.2, judge=0.6)
NONE = lane(eval=0.4, run=0.3, judge=0.3)
BEHIND = "(with_skill, n = 30 evals, 90 runs, 180 judgings)"


def test_every_source_has_words_and_a_panel() -> None:
    assert list(SOURCES) == list(HEADS)


@pytest.mark.parametrize("component", SOURCES)
def test_one_dimension_is_named_with_its_largest_source(component: str) -> None:
    found = lane(**{component.replace(" + ", "__"): 0.75}, other=0.25)
    assert told(found) == (
        f"75% of the variance of ‘Clarity’ comes from {SOURCES[component]} {BEHIND}"
    )


def test_half_is_not_most() -> None:
    half = lane(eval=0.5, run=0.5)
    assert told(half).startswith("No one source makes most of the variance of ‘Clarity’ (")


def test_no_one_source_comes_last_among_as_many() -> None:
    assert told(NONE, JUDGE, EVALS).startswith(
        "Most of the variance comes from the judge on 1 of 3 dimensions, from the evals on 1 and "
        "from no one source on 1 ("
    )


def test_the_with_skill_side_of_each_heading_is_told_of() -> None:
    base = JUDGE | {"configuration": "without_skill"}
    assert told(base, EVALS).startswith("70% of the variance of ‘Clarity’ comes from the evals")
    alone = base | {"heading": "iteration-2"}
    found = told(base, EVALS, alone)
    assert "from the evals on 1 of 2 dimensions and from the judge on 1 (n =" in found


def test_n_is_that_of_the_largest_lane_and_of_what_all_count() -> None:
    small, large = lane((2, 9, 9), eval=0.6, run=0.4), lane((3, 4, 12), eval=0.6, run=0.4)
    assert "n = 3 evals, 9 runs, 12 judgings" in told(small, large)
    assert "n = 30 evals, 90 runs)" in told(EVALS, lane((3, 4), eval=0.6, run=0.4))


@pytest.mark.parametrize(
    ("lanes", "said"),
    [
        ([lane((19, 38), eval=0.5, run=0.5)], "With 19 evals, what lies between evals"),
        ([EVALS, lane((1, 4), eval=0.5, run=0.5)], "With 1 eval, what"),
        ([lane((20, 40), eval=0.5, run=0.5)], ""),
        ([lane((3, 3), eval__run=1.0)], ""),
    ],
)
def test_few_evals_are_a_rough_guess_where_they_are_told_apart(lanes: list[Row], said: str) -> None:
    found = rough(lanes).replace("\xa0", " ")
    assert found.startswith(said)
    assert bool(found) == bool(said)
