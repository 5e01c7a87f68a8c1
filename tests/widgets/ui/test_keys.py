"""Everything that a mouse does, the keyboard does too, and it never does two things at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.widgets.ui import Panel, action, h
from skill_eval_nb.widgets.ui.parts import button, details, entry, tabs, tick
from tests.widgets.stage import staged

if TYPE_CHECKING:
    from tests.widgets.stage import Stage


class Book(Panel):
    """Tabs, the arrow keys in which turn pages."""

    label = "Book"
    tab, turned = "Runs", 0

    def view(self):
        page = h("p", self.tab, keys={"ArrowRight": ("turn",)})
        names = ("Runs", "My checks", "Rubric")
        return tabs(names, self.tab, ("go",), page, label="Tabs", page="t")

    @action
    def go(self, tab: str) -> None:
        self.tab = tab

    @action
    def turn(self) -> None:
        self.turned += 1


def press(stage: Stage, *keys: str) -> None:
    for key in keys:
        stage.page.keyboard.press(key)
        stage.settle()


def test_arrows_go_from_tab_to_tab_and_round(browser) -> None:
    book = Book()
    with staged(browser, book) as reader:
        reader.page.get_by_role("tab", name="Runs").focus()
        seen = []
        for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "End"):
            press(reader, key)
            focused = reader.page.evaluate("() => document.activeElement.textContent")
            assert focused == book.tab
            seen.append(book.tab)
        assert seen == ["My checks", "Rubric", "Runs", "Rubric", "Runs", "Rubric"]
        assert book.turned == 0
        reached = reader.page.locator("[role=tab]").evaluate_all(
            "(all) => all.map((o) => o.tabIndex)"
        )
        assert reached == [-1, -1, 0]
        named = reader.page.get_by_role("tabpanel").evaluate(
            "(one) => document.getElementById(one.getAttribute('aria-labelledby')).textContent"
        )
        assert named == "Rubric"


def test_keys_act_wherever_one_is_but_in_what_needs_them_itself(stage, plain) -> None:
    keys = {"ArrowRight": ("say", "on"), "ArrowLeft": ("say", "back"), "Enter": ("say", "in")}
    plain.draw(
        h(
            "div",
            h("p", "words"),
            button("Next", ("say", "next")),
            entry("Words", "", ("say",)),
            h("input", type="radio", name="score", value="1", aria_label="1", checked=True),
            h("input", type="radio", name="score", value="2", aria_label="2"),
            h("div", h("p", "x" * 600), cls="wide", tabindex="0"),
            keys=keys,
        )
    )
    stage.settle()
    stage.page.get_by_role("button", name="Next").focus()
    press(stage, "ArrowRight", "ArrowLeft", "Enter")  # the last is the button's own
    assert plain.said == ["on", "back", "next"]
    press(stage, "Control+ArrowRight", "Alt+ArrowLeft")
    stage.page.get_by_label("Words").focus()
    press(stage, "ArrowRight", "ArrowLeft")
    stage.page.get_by_label("1", exact=True).focus()
    press(stage, "ArrowRight")
    assert stage.page.get_by_label("2", exact=True).is_checked()
    stage.page.add_style_tag(content=".wide {overflow: auto; width: 100px; white-space: nowrap}")
    stage.page.locator(".wide").focus()
    press(stage, "ArrowRight")
    assert len(plain.said) == 3
    stage.page.get_by_text("words", exact=True).click()  # the widget itself has the focus then
    press(stage, "ArrowRight")
    assert plain.said[3:] == ["on"]


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
