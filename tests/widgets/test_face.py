"""What all widgets share: their face, and style sheets that meet on one page."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module

from anywidget import AnyWidget

from skill_eval_nb import widgets
from skill_eval_nb.widgets.ui import REDRAWS, Panel
from tests.checkout import ROOT


def test_loading_the_package_behind_a_function_leaves_the_function() -> None:
    look = (
        "import skill_eval_nb.widgets.explore, skill_eval_nb.widgets.diff, skill_eval_nb as sen; "
        "from skill_eval_nb.widgets import diff, explore; "
        "print(*(getattr(sen, one.__name__) is one is getattr(sen.widgets, one.__name__) "
        "for one in (explore, diff)), explore.__name__, diff.__name__)"
    )
    found = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.split() == ["True", "True", "explore", "diff"]


def test_no_action_is_called_like_a_method_of_every_widget() -> None:
    """Else it takes the place of what Jupyter calls, as `open` or `close`."""
    for name in (
        *(name for name in widgets.__all__ if "_" not in name),
        "library",
        "run",
        "trigger",
    ):
        import_module(f"skill_eval_nb.widgets.{name}")
    kinds, actions = [Panel], set()
    for kind in kinds:
        kinds += kind.__subclasses__()
        actions |= {name for name, method in vars(kind).items() if hasattr(method, REDRAWS)}
    assert len(actions) > 50
    assert not [name for name in actions if hasattr(AnyWidget, name)]


WIDGETS = ROOT / "skill_eval_nb" / "widgets"
SHEETS = {
    path.name: re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    for path in sorted(WIDGETS.rglob("*.css"))
}
AT = ("@container", "@media")


def selectors(sheet: str) -> Iterator[str]:
    """The selectors of a sheet's rules, but for rules within rules."""
    above: list[str] = []
    for text, brace in re.findall(r"([^{}]*)([{}])", sheet):
        if brace == "}":
            above.pop()
            continue
        prelude = text.rpartition(";")[2].strip()
        if not prelude.startswith("@") and all(one.startswith(AT) for one in above):
            yield from re.split(r",(?![^(]*\))", prelude)
        above.append(prelude)


def first(selector: str) -> str | None:
    """The outermost of our classes that a selector is about; None where it is about all."""
    classes = [name for name in re.findall(r"\.(sen-[\w-]+)", selector) if name != "sen-body"]
    return classes[0] if classes else None


def test_no_two_rooms_style_the_same_class():
    styled = {name: {first(one) for one in selectors(sheet)} for name, sheet in SHEETS.items()}
    often = Counter(one for names in styled.values() for one in names if one is not None)
    assert len(SHEETS) > 4
    assert min(len(names) for names in styled.values()) > 1
    assert [name for name, times in often.items() if times > 1] == []


def test_a_room_styles_nothing_that_is_not_its_own():
    """A rule begins with a class of the room, or is about `.sen` itself: colours by name."""
    for name, sheet in SHEETS.items():
        if name != "ui.css":
            every = [one.strip() for one in selectors(sheet) if first(one) is None]
            assert [one for one in every if not one.endswith(".sen")] == [], name


def test_animations_have_names_of_their_own():
    names = [name for sheet in SHEETS.values() for name in re.findall(r"@keyframes (\S+)", sheet)]
    assert len(names) == len(set(names))
