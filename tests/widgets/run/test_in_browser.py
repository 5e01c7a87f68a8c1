"""The panel in a real browser: from typing a number to the verdict, light and dark."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tests.widgets.looks import NARROW, WIDE, looked_at
from tests.widgets.run.panels import demo_skill, held, panel_on, settled
from tests.widgets.stage import staged

if TYPE_CHECKING:
    from pathlib import Path

CONTRAST = ("dark-high-contrast", 1000)


def test_from_the_form_to_the_verdict(browser, tmp_path: Path) -> None:
    may = threading.Event()
    panel = panel_on(demo_skill(tmp_path), executor=held(may), runs=2)
    with staged(browser, panel, *NARROW) as stage:
        page = stage.page
        page.get_by_role("button", name="No eval").click()
        page.get_by_text("Evals (0 of 6)").wait_for()
        page.get_by_label("mixed-commits").check()
        page.get_by_label("breaking-change").check()
        page.get_by_label("Runs per eval").fill("1")
        page.get_by_label("Runs per eval").press("Tab")
        page.get_by_text("2 evals × 2 configurations × 1 run = 4 runs").wait_for()
        stage.unfold()
        looked_at(stage, "run-panel-plan", (NARROW, CONTRAST, WIDE))
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_role("progressbar", name="runs that have ended").wait_for()
        page.locator(".sen-flights li").first.wait_for()
        looked_at(stage, "run-panel-running", within=".sen-running")
        may.set()
        page.get_by_text("4 of 4 runs,").wait_for(timeout=60_000)
        page.get_by_text("Pass rate:").wait_for(timeout=60_000)
        settled(panel)
        looked_at(stage, "run-panel-done", within=".sen-ended")
        page.get_by_role("tab", name="Judge stored outputs again").click()
        page.get_by_role("button", name="Judge again").wait_for()
        looked_at(stage, "run-panel-judge", within="[role=tabpanel]")
