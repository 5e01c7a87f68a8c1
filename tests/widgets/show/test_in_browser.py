"""Every kind of output in a real browser, light and dark: nothing in it runs or fetches."""

from __future__ import annotations

from pathlib import Path

import skill_eval_nb as sen
from skill_eval_nb.widgets.show.documents import begin_reading
from skill_eval_nb.widgets.show.files import output_files
from skill_eval_nb.widgets.show.run import SHOWING_CSS, folder_of, show_run
from skill_eval_nb.widgets.ui import Panel, style
from skill_eval_nb.widgets.ui.source import key_of
from tests.widgets.looks import NARROW, OVERFLOW, WIDE, looked_at
from tests.widgets.show import zoo
from tests.widgets.stage import TALLEST, staged

FOLD = """(names) => document.querySelectorAll('.sen-file > details').forEach(
  (one) => (one.open = names.includes(one.querySelector('.sen-name').textContent)))"""
LOOKED_AT = ["report.md", "greet.py", "tree.json", "analysis.ipynb", "change.diff", "letter.pdf"]
"""What axe looks through: a table of a hundred rows, or a long text, takes it many seconds."""
LOADED = "() => [...document.querySelectorAll('.sen img')].every((one) => one.src && one.complete)"
PICTURES = (
    "() => [...document.querySelectorAll('.sen img')].map((one) => [one.alt, one.naturalWidth])"
)


class Zoo(Panel):
    """A run with every kind of file."""

    _css = style(SHOWING_CSS)
    label = "A run"

    def __init__(self, workspace: Path) -> None:
        self.ws = sen.load(workspace)
        self.row = self.ws.polars("runs").row(0, named=True)
        for one in output_files(folder_of(self.ws, self.row)):
            if begun := begin_reading(one):
                begun.exception()  # wait for it
        super().__init__()

    def view(self):
        return show_run(self.ws, key_of(self.row))


def test_nothing_hostile_runs_or_fetches(whole_browser, tmp_path):
    with staged(whole_browser, Zoo(zoo.workspace(tmp_path)), *NARROW) as stage:
        stage.unfold()
        stage.page.set_viewport_size({"width": NARROW[1], "height": TALLEST})  # all is in sight
        stage.settle()
        stage.page.wait_for_function(LOADED)
        pictures = dict(stage.page.evaluate(PICTURES))
        wanted = {"chart.png", "the chart", "drawing.svg", "picture of cell 2"}
        assert {name for name, wide in pictures.items() if wide} >= wanted
        frames = {
            one.frame_element().get_attribute("title"): one
            for one in stage.page.frames[1:]
            if one.parent_frame == stage.page.main_frame
        }
        assert frames["page.html, as a page"].locator("h1").inner_text() == "A page"
        assert frames["letter.pdf, a PDF"].url.startswith("blob:")
        with stage.page.expect_download() as downloaded:
            stage.page.get_by_role("button", name="Download model.bin").click()
        assert Path(downloaded.value.path()).read_bytes() == zoo.files()["model.bin"]
        for theme, width in (NARROW, WIDE):
            stage.dress(theme, width)
            assert stage.page.evaluate(OVERFLOW) <= 0
        stage.page.evaluate(FOLD, LOOKED_AT)
        looked_at(stage)
