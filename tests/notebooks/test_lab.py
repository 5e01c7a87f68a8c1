"""The harness itself: it draws charts, and sees what a reader of a notebook would see go wrong."""

from pathlib import Path

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


def test_what_goes_wrong_is_seen_and_requests_that_leave_the_machine_are_stopped(opened, desk):
    leaving = {"fetch": "https", "new Image().src = ": "https", "new WebSocket": "wss"}
    urls = [f"{scheme}://192.0.2.1/{at}" for at, scheme in enumerate(leaving.values())]
    requests = [script(f"{what}('{url}')") for what, url in zip(leaving, urls, strict=True)]
    write(desk, "wrong.ipynb", script("console.error('it broke')"), *requests, "1 / 0", "'after'")
    with opened("wrong.ipynb") as notebook:
        error, not_run = faults(notebook.run())
        notebook.page.wait_for_timeout(200)
    assert any("it broke" in error for error in notebook.console_errors)
    assert sorted(notebook.outside_requests) == sorted(urls)
    assert error == "cell 4: ZeroDivisionError: division by zero"
    assert not_run == "cell 5 was not run"
