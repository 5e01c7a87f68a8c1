"""The tour in one page, as somebody goes through it in JupyterLab: look, hand on, review, run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import skill_eval_nb as sen
from tests.checkout import ROOT
from tests.notebooks.desk import faults

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PICTURES = ROOT / "build" / "screenshots"
TOUR = "notebooks/00_start_here.ipynb"
CHANGED = "What changed between two iterations"
TOP = {"x": 26, "y": 40, "width": 1140, "height": 1240}
"""Pixels of the page that the README opens with."""
SAYS = "Clear, <b>but</b> the empty list is not tested."


def widget(page: Page, name: str, place: int = 0) -> Locator:
    """A widget by what a screen reader calls it."""
    return page.get_by_role("region", name=name, exact=True).nth(place)


def test_the_tour(opened, desk, tmp_path):
    data = desk.work / "data" / "tdd-workspace"
    with opened(TOUR) as notebook:
        page = notebook.page
        page.set_default_timeout(60_000)
        page.set_viewport_size({"width": 1200, "height": 8000})  # all of it is in sight
        assert faults(notebook.run()) == []
        explore, diff = widget(page, "Explore evaluations"), widget(page, CHANGED)
        page.screenshot(path=PICTURES / "dashboard.png", clip=TOP)
        keep_picture(explore, "explore", 1180)
        keep_picture(diff, "diff", 900)
        look_at_a_dimension_and_a_run(explore, sen.load(data))
        hand_on(explore, data, tmp_path)
        review_a_pair(widget(page, "Review of runs"), data)
        run_stop_and_go_on(widget(page, "Run evals"), widget(page, "Explore evaluations", 1))
        notebook.screenshot(PICTURES / "00_start_here.png")
    assert notebook.console_errors == []
    assert notebook.outside_requests == []
    assert desk.refused() == []


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
    explore.get_by_role("button", name="with_skill, late-fee, run 2: 75%").click()
    keys = {"iteration": "iteration-2", "eval_name": "late-fee", "run_number": 2}
    checks = ws.expectations.filter(configuration="with_skill", **keys)
    for evidence in checks["evidence"]:
        explore.get_by_text(evidence).first.wait_for()


def hand_on(explore: Locator, data: Path, folder: Path) -> None:
    """Export, and find what the shell writes of the same files."""
    explore.get_by_role("tab", name="Export").click()
    explore.get_by_label("Folder").fill(str(folder / "widget"))
    explore.get_by_role("button", name="Write").first.click()
    explore.get_by_text("benchmark.md").last.wait_for()
    shell = Path(sys.executable).with_name("skill-eval-nb")
    command = [shell, "report", data, "--out", folder / "shell"]
    subprocess.run(command, check=True, capture_output=True)
    assert read(folder / "widget", "benchmark.md") == read(folder / "shell", "benchmark.md")


def review_a_pair(review: Locator, data: Path) -> None:
    """Type, and find feedback.json as typed."""
    review.get_by_role("textbox").first.fill(SAYS)
    review.page.wait_for_timeout(1_500)
    keep_picture(review, "review", 1180)
    reviews = json.loads((data / "iteration-2" / "feedback.json").read_text())["reviews"]
    assert SAYS in [one["feedback"] for one in reviews]


def run_stop_and_go_on(panel: Locator, explore: Locator) -> None:
    """Start, stop in the middle, go on, until the other widget shows all runs."""
    panel.get_by_label("Runs of an eval").fill("6")
    panel.get_by_label("Runs of an eval").press("Tab")
    panel.get_by_text("6 evals × 2 configurations × 6 runs = 72 runs").wait_for()
    panel.get_by_role("button", name="Start", exact=True).click()
    panel.get_by_text(re.compile(r"^([3-9]|[1-4]\d) of 72$")).wait_for()
    panel.get_by_role("button", name="Stop", exact=True).press("Enter")  # it moves as runs land
    panel.get_by_role("button", name="Continue").click()
    keep_picture(panel, "run_panel", 900)  # not before: the job does not wait for the picture
    panel.get_by_text("72 of 72 runs").wait_for()
    explore.get_by_text("6 evals, 72 runs").wait_for()


def read(folder: Path, name: str) -> dict[str, str]:
    """The files of that name below a folder, by where they are."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob(name)}
