"""The first screen: iterations as a trend, a baseline for those without, what is worst."""

from __future__ import annotations

import pytest

from tests.charts.worlds import run_keys, workspace
from tests.widgets.explore.made import after, clickable, explorer, words
from tests.widgets.trees import find, text

BASE, OWN = "without_skill", "with_skill"


def several(*iterations, evals=("a", "b")):
    """Iterations, each a mapping of sides to the share that each eval passed, of four checks."""
    return workspace(
        runs=[
            run_keys(eval_id=eval_, eval_name=eval_, configuration=side, iteration=f"iteration-{n}")
            | {"status": "graded", "passed": passed, "failed": 4 - passed, "total": 4}
            | {"pass_rate": passed / 4, "path": f"{n}/{eval_}/{side}"}
            for n, sides in enumerate(iterations, 1)
            for side, shares in sides.items()
            for eval_, passed in zip(evals, shares, strict=True)
        ]
    )


def rows(panel):
    """The rows of the trend, as they are read."""
    (table,) = find(panel._tree, tag="table", cls="sen-x-trend")
    return [text(row).replace("\n", " ").replace("\xa0", " ") for row in find(table, tag="tr")[1:]]


def test_an_iteration_without_a_baseline_is_compared_with_an_older_one_where_one_asks():
    ws = several({OWN: (3, 4), BASE: (1, 2)}, {OWN: (4, 4)}, {OWN: (2, 4)})
    panel = explorer(ws)
    assert panel.choice.iterations == ("iteration-1",)
    assert "2 of 3 iterations have no run of without_skill" in words(panel)
    offers = list(clickable(panel, "borrow"))
    assert offers == [("borrow", f"iteration-{n}", "iteration-1", BASE) for n in (2, 3)]
    after(panel, *offers[1])
    assert "against iteration-1’s" in rows(panel)[2]
    assert "+37.5 pp" in rows(panel)[2]  # (2 + 4) of 8 against (1 + 2) of 8
    assert panel.choice.iterations == ("iteration-3",)
    of = panel.selection.select("iteration", "configuration").unique().rows()
    assert sorted(of) == [("iteration-1", BASE), ("iteration-3", OWN)]
    after(panel, "borrow", "iteration-3", "", "")
    assert list(clickable(panel, "borrow")) == offers
    assert ws.runs.height == 8


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ({OWN: (4, 0)}, "Worst eval of with_skill: b, pass rate 0%; run 1 passed 0 of 4 checks."),
        ({"unstated": (4, 3)}, "Worst eval: b, pass rate 75%; run 1 passed 3 of 4 checks."),
        ({OWN: (4, 4)}, None),
        ({OWN: (4, 2), BASE: (0, 4)}, "Worst eval of with_skill: b, pass rate 50%; run 1"),
    ],
)
def test_the_worst_eval_and_its_worst_run_are_named(sides, said):
    panel = explorer(several(sides))
    assert (said or "") in words(panel)
    assert ("Worst eval" in words(panel)) == bool(said)
    if BASE not in sides:
        assert "Mean pass rate: " in words(panel)
        order = [act[3] for act in clickable(panel, "pick", "eval")]
        rates = panel.selection.sort("pass_rate", "eval_id", maintain_order=True)["eval_id"]
        assert order == rates.to_list()  # the worst first
