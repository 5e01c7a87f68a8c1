"""Outputs beside each other that are long, or are not there."""

from __future__ import annotations

from pathlib import Path

import skill_eval_nb as sen
from tests.corpus.build import graded, lay
from tests.widgets.explore.made import after, clickable, explorer


def test_of_long_outputs_the_beginnings_are_compared_line_by_line(tmp_path: Path) -> None:
    logs = {"with": "at 1 it ran\n" * 90_000, "without": "at 1 it ran\n" * 80 + "at 2\n" * 90_000}
    files: dict[str, object] = {}
    for side, log in logs.items():
        run = f"iteration-1/eval-3/{side}_skill/run-1"
        files |= {f"{run}/outputs/log.txt": log, f"{run}/grading.json": graded("pp")}
    panel = explorer(lay(tmp_path / "ws", files))
    after(panel, "see", "tab", "outputs")
    told = after(panel, *next(clickable(panel, "open_outputs")))
    assert "1,920 of 2,000 lines different" in told
    assert "Only the beginning of each was compared" in told


def test_outputs_that_are_gone_or_were_never_stored_are_said() -> None:
    other = explorer(sen.from_table(explorer().source.ws.polars("runs").drop("path")))
    assert "no outputs stored" in after(other, "see", "tab", "outputs")
    assert "No outputs of" in after(other, *next(clickable(other, "open_outputs")))
