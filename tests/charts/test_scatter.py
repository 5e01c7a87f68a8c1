from __future__ import annotations

from skill_eval_nb.charts.cost import panel
from skill_eval_nb.charts.metrics import metric
from tests.charts.specs import axes_of, drawn, rows_of, texts_of

SHADES = {"a": "#000000", "b": "#111111", "c": "#222222"}
RUNS = [
    {"configuration": name, "eval": "e", "run": at, "x": 10.0 * at, "y": 0.25 * at}
    for name in "ab"
    for at in (1, 2, 3)
]


def drawing(**given):
    known = {"first": True, "crowded": False} | given
    return panel(RUNS, metric("pass_rate"), metric("tokens"), SHADES, 300, **known)


def test_figures_below_are_of_configurations_that_are_there() -> None:
    written = texts_of(drawing())
    assert written.count("50%") == 2
    assert written.count("n\xa03") == 2


def test_only_the_first_panel_names_its_rows_and_axis() -> None:
    assert set(axes_of(drawing())) == {"tokens", "pass rate (%)"}
    assert set(axes_of(drawing(first=False))) == {"tokens"}
    assert texts_of(drawing()).count("a") > texts_of(drawing(first=False)).count("a")


def test_crowded_dots_keep_their_means() -> None:
    plain, crowded = (rows_of(drawing(crowded=way), "n", "x") for way in (False, True))
    assert plain == crowded
    assert drawn(drawing(crowded=True)) is not None
