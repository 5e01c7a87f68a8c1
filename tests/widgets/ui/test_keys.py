"""Everything that a mouse does, the keyboard does too, and it never does two things at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skill_eval_nb.widgets.ui import Panel, action, h
from skill_eval_nb.widgets.ui.parts import button, details, entry, tabs, tick
from tests.widgets.stage import staged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.widgets.stage import Stage


class Book(Panel):
    """Tabs, and pages that the arrow keys turn."""

    label = "Book"

    def __init__(self) -> None:
        self.tab = "Runs"
        self.at = 0
        super().__init__()

    def view(self):
        page = h(
            "div",
            h("p", f"page {self.at}"),
            button("Next", ("turn", 1)),
            entry("Words", "", ("turn", 0)),
            h("input", type="radio", name="score", value="1", aria_label="1", checked=True),
            h("input", type="radio", name="score", value="2", aria_label="2"),
            h("div", h("p", "x" * 600), cls="wide", tabindex="0"),
            keys={"ArrowRight": ("turn", 1), "ArrowLeft": ("turn", -1), "Enter": ("turn", 10)},
        )
        return tabs(
            ("Runs", "My checks", "Rubric"), self.tab, ("go",), page, label="Tabs", page="t"
        )

    @action
    def go(self, tab: str) -> None:
        self.tab = tab

    @action
    def turn(self, by: int, *_: object) -> None:
        self.at += by


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
def reader(browser: Browser, book: Book) -> Iterator[Stage]:
    with staged(browser, book) as opened:
        yield opened


def press(stage: Stage, *keys: str) -> None:
    for key in keys:
        stage.page.keyboard.press(key)
        stage.settle()


def test_arrows_go_from_tab_to_tab_and_round(reader, book) -> None:
    reader.page.get_by_role("tab", name="Runs").focus()
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "End"):
        press(reader, key)
        focused = reader.page.evaluate("() => document.activeElement.textContent")
        assert focused == book.tab
        seen.append(book.tab)
    assert seen == ["My checks", "Rubric", "Runs", "Rubric", "Runs", "Rubric"]
    assert book.at == 0
    reached = reader.page.locator("[role=tab]").evaluate_all("(all) => all.map((o) => o.tabIndex)")
    assert reached == [-1, -1, 0]
    named = reader.page.get_by_role("tabpanel").evaluate(
        "(one) => document.getElementById(one.getAttribute('aria-labelledby')).textContent"
    )
    assert named == "Rubric"


def test_keys_act_wherever_one_is_but_in_what_needs_them_itself(reader, book) -> None:
    reader.page.get_by_role("button", name="Next").focus()
    press(reader, "ArrowRight", "ArrowRight", "ArrowLeft")
    assert book.at == 1
    press(reader, "Enter")  # the button's own
    assert book.at == 2
    press(reader, "Control+ArrowRight", "Alt+ArrowLeft")
    assert book.at == 2
    reader.page.get_by_label("Words").focus()
    press(reader, "ArrowRight", "ArrowLeft")
    assert book.at == 2
    reader.page.get_by_label("1", exact=True).focus()
    press(reader, "ArrowRight")
    assert reader.page.get_by_label("2", exact=True).is_checked()
    assert book.at == 2
    reader.page.add_style_tag(content=".wide {overflow: auto; width: 100px; white-space: nowrap}")
    reader.page.locator(".wide").focus()
    press(reader, "ArrowRight")
    assert book.at == 2
    reader.page.get_by_text("page 2").click()  # nothing there takes the focus: the widget has it
    press(reader, "ArrowRight")
    assert book.at == 3


def test_a_click_inside_a_row_means_what_was_clicked(stage, plain) -> None:
    inside = [
        h("span", "the row"),
        button("Inner", ("say", "inner")),
        button("Off", None),
        tick("Box", False, ("say", "box")),
        details("Fold", "text", key="f"),
        h("a", "Link", href="#there"),
    ]
    plain.draw(h("div", inside, on={"click": ("say", "row")}), h("p", "there", id="there"))
    for name in ("the row", "Inner", "Box", "Fold", "Link"):
        stage.page.get_by_text(name, exact=True).click()
        stage.settle()
    stage.page.get_by_text("Off").click(force=True)
    stage.settle()
    assert plain.said == ["row", "inner", ("box", True)]
    stage.page.get_by_text("the row").dblclick()  # marks a word
    assert plain.said[3:] == ["row"]
    assert stage.page.url.endswith("/")  # a link inside does not touch the page's address
