"""The harness itself: it draws charts, and sees what a reader of a notebook would see go wrong."""

from pathlib import Path

import pytest

from tests.notebooks.desk import faults
from tests.notebooks.pages import write

CHART = """
import altair as alt

bars = alt.Chart(alt.Data(values=[{"eval": "a", "delta": 0.4}, {"eval": "b", "delta": -0.1}]))
specification = bars.mark_bar().encode(x="delta:Q", y="eval:N").to_dict()
specification["$schema"] = "https://vega.github.io/schema/vega-lite/v5.json"
display({"application/vnd.vegalite.v5+json": specification}, raw=True)
"""

TALL = "from IPython.display import HTML; HTML('<div style=\"height: 3000px\">tall</div>')"


def script(line):
    return f"from IPython.display import Javascript; Javascript({line!r})"


def size(png: Path) -> tuple[int, int]:
    """Width and height, from the header of a PNG."""
    head = png.read_bytes()[16:24]
    return int.from_bytes(head[:4]), int.from_bytes(head[4:])


def test_a_chart_is_drawn_with_no_network(opened, desk, tmp_path):
    write(desk, "chart.ipynb", CHART, TALL, CHART)
    with opened("chart.ipynb") as notebook:
        saved = notebook.run()
        assert notebook.page.locator(".vega-embed .marks").count() == 2
        notebook.screenshot(tmp_path / "chart.png")
    assert faults(saved) == []
    assert notebook.console_errors == []
    assert notebook.outside_requests == []
    assert desk.refused() == []
    width, height = size(tmp_path / "chart.png")
    assert width == 1200
    assert 3500 < height < 4200


def test_a_cell_that_raises_is_seen(opened, desk):
    write(desk, "raises.ipynb", "1 / 0", "'after'")
    with opened("raises.ipynb") as notebook:
        error, not_run = faults(notebook.run())
    assert error == "cell 0: ZeroDivisionError: division by zero"
    assert not_run == "cell 1 was not run"


def test_an_error_on_the_console_is_seen(opened, desk):
    write(desk, "console.ipynb", script("console.error('it broke')"))
    with opened("console.ipynb") as notebook:
        notebook.run()
    assert any("it broke" in error for error in notebook.console_errors)


@pytest.mark.parametrize("what", ["fetch", "new Image().src = ", "new WebSocket"])
def test_a_request_that_leaves_the_machine_is_seen_and_stopped(what, opened, desk):
    scheme = "wss" if "Socket" in what else "https"
    write(desk, "leaves.ipynb", script(f"{what}('{scheme}://192.0.2.1/here')"))
    with opened("leaves.ipynb") as notebook:
        notebook.run()
        notebook.page.wait_for_timeout(200)
    assert notebook.outside_requests == [f"{scheme}://192.0.2.1/here"]
