"""Notebooks in JupyterLab, in a browser, with no network: one server, one page of Chromium.

In the tour in one page a reader looks, hands on, reviews and runs; every notebook is run by
`test_notebooks`, with the same kernel. Keys are a widget's while it has the focus, a lost kernel
is told, and the harness itself sees what goes wrong.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import skill_eval_nb as sen
from skill_eval_nb.share import copy_notebooks
from tests.checkout import ROOT
from tests.notebooks import lab as labs
from tests.notebooks.desk import faults, write
from tests.notebooks.lab import SHUT_DOWN, OpenNotebook, open_notebook
from tests.widgets.stage import SETTLED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.slow

PICTURES = ROOT / "build" / "screenshots"
TOUR = "00_start_here.ipynb"
"""The tour in one page."""
CHANGED = "What changed between two iterations"
TOP = {"x": 26, "y": 40, "width": 1140, "height": 1240}
"""Pixels of the page that the README opens with."""
SAYS = "Clear, <b>but</b> the empty list is not tested."

CHART = """
import altair as alt

bars = alt.Chart(alt.Data(values=[{"eval": "a", "delta": 0.4}, {"eval": "b", "delta": -0.1}]))
specification = bars.mark_bar().encode(x="delta:Q", y="eval:N").to_dict()
specification["$schema"] = "https://vega.github.io/schema/vega-lite/v5.json"
display({"application/vnd.vegalite.v5+json": specification}, raw=True)
"""


def test_the_tour(opened, desk, tmp_path):
    copy_notebooks(desk.work / "tour")  # the other notebooks have run the demo skill where they are
    data = desk.work / "tour" / "data" / "tdd-workspace"
    with opened(f"tour/notebooks/{TOUR}") as notebook:
        page = notebook.page
        page.set_default_timeout(60_000)
        page.set_viewport_size({"width": 1200, "height": 8000})  # all of it is in sight
        assert faults(notebook.run()) == []
        explore, diff = widget(page, "Explore evaluations"), widget(page, CHANGED)
        page.screenshot(path=PICTURES / "dashboard.png", clip=TOP)
        keep_picture(explore, "explore", 1180)
        keep_picture(diff, "diff", 900)
        look_at_a_dimension_and_a_run(explore, sen.load(data))
        hand_on(explore, tmp_path)
        review_a_pair(widget(page, "Review of runs"), data)
        run_stop_and_go_on(widget(page, "Run evals"), widget(page, "Explore evaluations", 1))
        notebook.screenshot(PICTURES / "00_start_here.png")
    assert notebook.console_errors == []
    assert notebook.outside_requests == []
    assert desk.refused() == []


def widget(page: Page, name: str, place: int = 0) -> Locator:
    """A widget by what a screen reader calls it."""
    return page.get_by_role("region", name=name, exact=True).nth(place)


def keep_picture(shown: Locator, name: str, tallest: int) -> None:
    """Keep a picture of a widget, from its top; the README shows them."""
    box = shown.bounding_box()
    assert box is not None
    box["height"] = min(box["height"], tallest)
    shown.page.screenshot(path=PICTURES / f"{name}.png", clip=box)


def look_at_a_dimension_and_a_run(explore: Locator, ws: sen.Workspace) -> None:
    """Choose a dimension, click a point, and read the evidence of that very run."""
    explore.get_by_label("Metric or dimension").select_option(label="small_steps")
    explore.get_by_text("helps on these 6 evals").wait_for()
    explore.get_by_label("Metric or dimension").select_option(label="pass rate")
    explore.get_by_text("Pass rate: ").first.wait_for()  # all of it is there
    explore.get_by_role("button", name="with_skill, late-fee, run 2: 75%").click()
    keys = {"iteration": "iteration-2", "eval_name": "late-fee", "run_number": 2}
    checks = ws.expectations.filter(configuration="with_skill", **keys)
    for evidence in checks["evidence"]:
        explore.get_by_text(evidence).first.wait_for()


def hand_on(explore: Locator, folder: Path) -> None:
    """Export, and find the files; that they are those of the shell is a test of the widget."""
    explore.get_by_role("tab", name="Export").click()
    explore.get_by_label("Folder").fill(str(folder))
    explore.get_by_role("button", name="Write").first.click()
    there = [folder / "tdd-workspace" / f"iteration-{n}" / "benchmark.md" for n in (1, 2)]
    wait(explore.page, lambda: all(path.is_file() for path in there))


def review_a_pair(review: Locator, data: Path) -> None:
    """Type, and find feedback.json as typed."""
    review.get_by_role("textbox").first.fill(SAYS)
    wait(review.page, lambda: SAYS in kept(data / "iteration-2" / "feedback.json"))
    keep_picture(review, "review", 1180)


def wait(page: Page, true: Callable[[], bool]) -> None:
    """Until something is so; by the page's clock, as its requests go through this thread."""
    for _ in range(600):
        if true():
            return
        page.wait_for_timeout(100)
    assert true()


def kept(feedback: Path) -> list[str]:
    """What a file of feedback says of its runs."""
    return [one["feedback"] for one in json.loads(feedback.read_text())["reviews"]]


def run_stop_and_go_on(panel: Locator, explore: Locator) -> None:
    """Start, stop in the middle, go on, until the other widget shows all runs."""
    panel.get_by_label("Runs per eval").fill("4")
    panel.get_by_label("Runs per eval").press("Tab")
    panel.get_by_text("6 evals × 2 configurations × 4 runs = 48 runs").wait_for()
    panel.get_by_role("button", name="Start", exact=True).click()
    panel.get_by_text(re.compile(r"^([3-9]|[1-3]\d) of 48$")).wait_for()
    panel.get_by_role("button", name="Stop", exact=True).press("Enter")  # it moves as runs land
    panel.get_by_role("button", name="Continue").click()
    keep_picture(panel, "run_panel", 900)  # not before: the job does not wait for the picture
    panel.get_by_text("48 of 48 runs").wait_for()
    explore.get_by_text("6 evals, 48 runs").wait_for()


def test_what_goes_wrong_is_seen_and_requests_that_leave_the_machine_are_stopped(opened, desk):
    leaving = {"fetch": "https", "new Image().src = ": "https", "new WebSocket": "wss"}
    urls = [f"{scheme}://192.0.2.1/{at}" for at, scheme in enumerate(leaving.values())]
    requests = [script(f"{what}('{url}')") for what, url in zip(leaving, urls, strict=True)]
    write(desk, "wrong.ipynb", script("console.error('it broke')"), *requests, "1 / 0", "'after'")
    with opened("wrong.ipynb") as notebook:
        error, not_run = faults(notebook.run())
        wait(notebook.page, lambda: len(notebook.outside_requests) >= len(urls))
    assert any("it broke" in error for error in notebook.console_errors)
    assert sorted(notebook.outside_requests) == sorted(urls)
    assert error == "cell 4: ZeroDivisionError: division by zero"
    assert not_run == "cell 5 was not run"


def script(line):
    return f"from IPython.display import Javascript; Javascript({line!r})"


CELLS = (
    "import skill_eval_nb as sen\nsen.review('data/tdd-workspace')",
    "sen.drafts('data/tdd-workspace')",
    "sen.trigger_panel('data/release-notes')",
    "ws = sen.load('data/tdd-workspace')\nsen.charts.forest(ws)",
    CHART,
    "ws.show('runs')",
    "'the last'",
)

NOTEBOOK = """() => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const cells = notebook.model.sharedModel.cells.map((cell) => [cell.cell_type, cell.source]);
  return {cells, at: notebook.activeCellIndex, mode: notebook.mode};
}"""

SLOW = """
import asyncio
import httpx2
import skill_eval_nb as sen

answer = httpx2.MockTransport.handle_async_request

async def answer_late(transport, request):
    await asyncio.sleep(0.1)
    return await answer(transport, request)

httpx2.MockTransport.handle_async_request = answer_late
sen.run_panel('data/release-notes', runs=2, executor='offline')
"""
RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"

OF_LAB = "a b c d d i i m r v x y z 0 0 1 j k Shift+M Shift+L Shift+Enter ArrowDown ArrowUp".split()
"""Each of them changes a notebook, or where one is in it, while it is in command mode."""


@pytest.fixture(scope="module")
def keys(reader, desk) -> Iterator[Page]:
    """Widgets, charts and a table in one notebook."""
    write(desk, "keys.ipynb", *CELLS)
    with open_notebook(reader, "keys.ipynb") as notebook:
        assert faults(notebook.run()) == []
        notebook.page.set_default_timeout(60_000)
        notebook.page.set_viewport_size({"width": 1200, "height": 4000})
        yield notebook.page
    assert notebook.console_errors == []
    assert notebook.outside_requests == []
    assert desk.refused() == []


@pytest.fixture
def page(keys: Page) -> Iterator[Page]:
    """That notebook, which stays as it is, whatever is pressed."""
    page = keys
    before = page.evaluate(NOTEBOOK)
    yield page
    page.wait_for_function(SETTLED)  # the next one finds the widgets at rest
    after = page.evaluate(NOTEBOOK)
    assert after["cells"] == before["cells"]
    assert after["mode"] == "command"


def test_enter_makes_a_line(page):
    drafts = widget(page, "Drafts of better evals")
    drafts.get_by_role("tab", name="Drafts").click()
    drafts.get_by_role("button", name="Edit: sharpen the rubric dimension ‘readability’").click()
    for text in (
        drafts.get_by_role("textbox", name="Replacement, as JSON"),
        widget(page, "Review of runs").get_by_role("textbox").first,
        widget(page, "Triggers").get_by_role("textbox", name="query 1", exact=True),
    ):
        text.fill("one")
        text.press("Enter")
        page.keyboard.type("two")
        assert text.input_value() == "one\ntwo"


def test_arrows_move_in_a_select_and_reach_every_score(page):
    select = widget(page, "Review of runs").get_by_label("Side by side")
    for key, at in (("ArrowDown", 1), ("ArrowUp", 0)):
        select.press(key)
        wait(page, lambda at=at: select.evaluate("(one) => one.selectedIndex") == at)
        assert select.evaluate("(one) => one === document.activeElement")
    page.wait_for_function(SETTLED)
    points = widget(page, "Review of runs").get_by_role("radiogroup").first
    points.get_by_role("radio", name="1", exact=True).press("Space")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    chosen = points.get_by_role("radio", name="4", exact=True)
    wait(page, chosen.is_checked)
    assert chosen.evaluate("(one) => one === document.activeElement")


def test_charts_of_ours_and_of_vega_are_drawn_and_a_table_is_sorted_and_searched(page):
    from playwright.sync_api import expect

    assert page.locator(".vega-embed .marks").count() == 2
    table = page.locator(".dt-container")
    head = table.locator("thead th", has_text="time_seconds").first
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    table.locator("input[type=search]").fill("without_skill")
    expect(table.locator("tbody tr").first).to_contain_text("without_skill")


def test_what_is_typed_after_add_a_query_lands_in_the_new_row(page):
    triggers = widget(page, "Triggers")
    number = triggers.get_by_role("textbox", name=re.compile(r"^query \d+$")).count() + 1
    triggers.get_by_role("button", name="Add a query").click()
    page.keyboard.type("mad dd queries")  # at once, while the kernel makes room for them
    new = triggers.get_by_role("textbox", name=f"query {number}", exact=True)
    wait(page, lambda: new.input_value() == "mad dd queries")
    assert new.evaluate("(one) => one === document.activeElement")


def test_nothing_reaches_the_notebook(page):
    review = widget(page, "Review of runs")
    for place in (
        review,
        *(review.get_by_role(one).first for one in ("button", "radio", "combobox")),
    ):
        place.focus()
        before = page.evaluate(NOTEBOOK)
        for key in OF_LAB:
            page.keyboard.press(key)
        assert page.evaluate(NOTEBOOK) == before


def test_a_panel_says_that_its_kernel_is_gone_and_the_next_goes_on(opened, desk):
    write(desk, "restarted.ipynb", SLOW)
    with opened("restarted.ipynb") as notebook:
        assert faults(notebook.run()) == []
        panel = widget(notebook.page, "Run evals")
        panel.get_by_role("button", name="Start", exact=True).click()
        panel.get_by_text(re.compile(r"^([3-9]|1\d) of 24$")).wait_for()
        notebook.page.evaluate(RESTART)
        panel.get_by_text("The kernel of this widget is gone").wait_for()
        assert faults(notebook.run()) == []
        large = panel.locator(".sen-main")
        large.get_by_text("Continue iteration-1").wait_for()
        assert panel.get_by_role("button", name="Start a new iteration").is_visible()
        large.click()
        panel.get_by_text("24 of 24 runs").wait_for()
        assert panel.get_by_text("errored", exact=True).count() == 1  # what a square would mean
        assert not (desk.work / "data" / "release-notes-workspace" / "iteration-2").exists()
    assert notebook.console_errors == []


TOLD = "mine/skill-eval-nb/notebooks/00_start_here.ipynb"
LAUNCHER = """async () => {
  await window.jupyterapp.restored;
  await window.jupyterapp.commands.execute('launcher:create', {cwd: 'mine'});
}"""
OPENED = "(path) => window.jupyterapp.shell.currentWidget?.context?.path === path"
KERNELS = "() => [...window.jupyterapp.serviceManager.sessions.running()].map((one) => one.path)"


def test_a_tile_of_the_launcher_opens_the_tour_in_a_copy_that_is_made_once(reader, desk):
    (desk.work / "mine").mkdir()
    page = reader.page
    page.set_default_timeout(60_000)
    reader.open = OpenNotebook(page, desk.work / TOLD)
    for text in ("", "mine"):
        page.evaluate(LAUNCHER)
        page.locator(".jp-LauncherCard:visible", has_text="Skill evaluation tour").click()
        page.wait_for_function(OPENED, arg=TOLD)
        note = desk.work / "mine/skill-eval-nb/data/README.md"
        assert note.read_text() == (text or (ROOT / "data" / "README.md").read_text())
        note.write_text("mine")
        page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.ready")
        wait(page, lambda: [one for one in page.evaluate(KERNELS) if "mine" in one] == [TOLD])
        page.evaluate(SHUT_DOWN)
        page.evaluate("() => window.jupyterapp.shell.currentWidget.dispose()")
    # JupyterLab's word for a kernel that was shut down before it had a thread for its widgets.
    early = "Canceled future for create_subshell_request"
    assert [error for error in reader.open.console_errors if early not in error] == []
    assert reader.open.outside_requests == []


def test_a_widget_whose_kernel_is_gone_shows_what_it_showed_last(reader, opened, desk):
    write(desk, "gone.ipynb", CELLS[0], "import ipywidgets\nipywidgets.IntSlider()")
    with opened("gone.ipynb") as notebook:
        assert faults(notebook.run()) == []
    reader.page.evaluate("() => window.jupyterapp.shell.currentWidget.dispose()")
    with opened("gone.ipynb") as notebook:
        outputs = notebook.page.locator(".jp-OutputArea-output")
        outputs.nth(0).get_by_text(re.compile(r"\d+ of 36 runs reviewed")).wait_for()
        outputs.nth(1).get_by_text("model not found").wait_for()  # that has no other view
        assert notebook.page.get_by_text("model not found").count() == 1
    assert all("widget model not found" in one for one in notebook.console_errors)
    assert notebook.outside_requests == []


READY = """async () => {
  await window.jupyterapp.restored;
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
}"""


def test_widgets_charts_and_tables_live_in_jupyter_notebook_too(browser, lab, desk):
    pytest.importorskip("notebook", minversion="7")
    first = "import skill_eval_nb as sen\nws = sen.load('data/tdd-workspace')\nsen.explore(ws)"
    write(desk, "seven.ipynb", first, "sen.charts.forest(ws)", "ws.show('runs')")
    with labs.look_at(lab, browser, "notebooks/seven.ipynb") as reader:
        page = reader.page
        page.set_default_timeout(120_000)
        page.wait_for_function("() => window.jupyterapp.shell.currentWidget")
        page.evaluate(READY)
        notebook = reader.open = OpenNotebook(page, desk.work / "seven.ipynb")
        assert faults(notebook.run()) == []
        explore = widget(page, "Explore evaluations")
        explore.get_by_role("tab", name="Checks").click()
        explore.get_by_role("button", name="separates 3").click()
        wait(page, lambda: explore.locator(".sen-x-checks > tbody > tr").count() == 3)
        assert page.locator(".vega-embed .marks").count() == 1
        page.locator(".dt-container input[type=search]").fill("late-fee")
        page.locator(".dt-container tbody").get_by_text("late-fee").first.wait_for()
        notebook.screenshot(PICTURES / "notebook7.png")
    assert notebook.console_errors == []
    assert notebook.outside_requests == []
    assert desk.refused() == []
