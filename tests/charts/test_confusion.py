from __future__ import annotations

import numpy as np
import pytest

from skill_eval_nb.charts.judges import BESIDE, CELL, Panel, drawn
from skill_eval_nb.charts.theme import SHARES
from tests.charts.specs import drawn as picture
from tests.charts.specs import rows_of, spec_of, walk


def panel(title: str = "Clarity", heading: str = "", counts=None) -> Panel:
    counts = np.eye(5, dtype=int) if counts is None else counts
    return Panel(heading, title, ("n = 5",), "first judge", "second judge", counts)


def cells(chart) -> dict[tuple, dict]:
    return {(row["title"], row["across"], row["up"]): row for row in rows_of(chart, "fill")}


def test_equal_scores_have_a_shade_of_their_own_and_a_frame() -> None:
    counts = np.full((5, 5), 3)
    counts[2, 3] = 0
    chart = drawn([panel(counts=counts)])
    [down] = {node["y"]["sort"] for node in walk(spec_of(chart)) if node.get("y", {}).get("sort")}
    assert down == "descending"
    for (_, across, up), row in cells(chart).items():
        shade = SHARES[2] if across == up else SHARES[0]
        assert row["fill"] == (shade if row["pairs"] else SHARES[1])
        assert (row["stroke"] is not None) == (across == up)


@pytest.mark.parametrize("many", [1, BESIDE, BESIDE + 1, 12])
def test_panels_lie_beside_and_below_each_other(many) -> None:
    size = picture(drawn([panel(f"D{at}") for at in range(many)])).attrib
    assert float(size["width"]) >= min(many, BESIDE) * 5 * CELL
    assert float(size["height"]) >= -(-many // BESIDE) * 5 * CELL
    assert float(size["width"]) <= 1000
