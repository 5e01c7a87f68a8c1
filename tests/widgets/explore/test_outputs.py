"""The outputs of evals beside each other: how each begins, and what differs between two."""

from __future__ import annotations

import pytest

import skill_eval_nb as sen
from tests.corpus.build import graded, lay
from tests.widgets.explore.made import after, clickable, explorer
from tests.widgets.trees import find, text

OUTPUTS = {
    ("1", "with_skill", 1): {"a.md": "Read the clock in UTC.\n" + "long " * 40},
    ("1", "with_skill", 2): {"a.md": "second"},
    ("1", "without_skill", 1): {"a.md": "Read the clock in CET.\n" + "long " * 40, "b.md": "b"},
    ("1", "old_skill", 1): {"c.bin": b"\0\1\2"},
    ("2", "with_skill", 1): {"x.py": "<img src=x onerror=alert(1)>"},
    ("2", "without_skill", 1): {"y.py": "print(2)"},
    ("3", "with_skill", 1): {"log.txt": "at 1 it ran\n" * 90_000},
    ("3", "without_skill", 1): {"log.txt": "at 1 it ran\n" * 80 + "at 2 it ran\n" * 90_000},
}


@pytest.fixture(params=["explore", "diff"])
def panel(tmp_path, request):
    """The same runs as configurations of an iteration, and as iterations of a configuration."""
    files = {}
    turned = request.param == "diff"
    places = {"without_skill": "iteration-1", "with_skill": "iteration-2", "old_skill": ""}
    for (eval_id, side, run), outputs in OUTPUTS.items():
        where = f"{places[side]}/eval-{eval_id}/with_skill"
        if turned and not places[side]:
            continue
        at = f"{where if turned else f'iteration-1/eval-{eval_id}/{side}'}/run-{run}"
        files[f"{at}/grading.json"] = graded("pp" if side == "with_skill" else "pf")
        files |= {f"{at}/outputs/{name}": held for name, held in outputs.items()}
    folder = lay(tmp_path / "ws", files)
    made = sen.diff(folder) if turned else explorer(folder)
    assert made.settle()
    return made


def test_each_cell_has_the_pass_rate_and_how_the_first_output_begins(panel):
    shown = after(panel, "see", "tab", "outputs")
    assert "2 runs · a.md" in shown
    assert "50%" in shown
    assert f"Read the clock in UTC. {'long ' * 19}lo …" in shown
    assert "second" not in shown
    assert "<img src=x onerror=alert(1)>" in shown
    if not panel.turned:
        assert "1 run · c.bin" in shown
        assert "no run" in shown


def test_a_click_on_one_opens_both_with_what_differs_and_another_closes_them(panel):
    after(panel, "see", "tab", "outputs")
    acts = [act for act in clickable(panel, "open_outputs") if act[-2] in panel.choice.sides]
    first, other, second, _, log, _ = acts
    for act in (first, other):
        shown = after(panel, *act)
        assert [text(one) for one in find(panel._tree, tag="mark")] == ["UTC", "CET"]
        assert "1 of 1 paragraph different" in shown
        assert "has b.md" in shown
        assert {run.configuration for run in panel.seen.opened} == set(panel.choice.sides)
    assert "What differs" not in after(panel, *other)
    assert "x.py and y.py" in after(panel, *second)
    told = after(panel, *log)  # of a megabyte the beginning, by lines
    assert "1,920 of 2,000 lines different" in told
    assert "Only the beginning of each was compared" in told


def test_outputs_that_are_gone_or_were_never_stored_are_said(tmp_path):
    panel = explorer()
    after(panel, "see", "tab", "outputs")
    made = sen.from_table(panel.source.ws.polars("runs").drop("path"))
    other = explorer(made)
    assert "no outputs stored" in after(other, "see", "tab", "outputs")
    assert "No outputs of" in after(other, *next(clickable(other, "open_outputs")))
