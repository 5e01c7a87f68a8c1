"""A redraw changes what has changed, and leaves alone what a person is in the middle of.

Everything that a mouse does, the keyboard does too, and it never does two things at once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from skill_eval_nb.widgets.ui import Panel, action, h
from skill_eval_nb.widgets.ui.parts import button, details, entry, tabs, text_area, tick
from tests.widgets.stage import staged

if TYPE_CHECKING:
    from tests.widgets.stage import Stage


def row(name: str):
    return h(
        "tr",
        h("td", name),
        h("td", h("textarea", aria_label=name, on={"input": ("note", name)})),
        h("td", details("more", h("p", f"of {name}"))),
        h("td", h("div", h("p", "x" * 900), cls="scrolled", style={"height": "30px"})),
        key=name,
    )


def table(*names: str):
    return h("table", h("tbody", [row(name) for name in names]))


def sortable(*lines: tuple[str, int | None], order=None):
    """A row a line, with its place in the order; below each one that belongs to it."""
    head = button("Size", ("say", "sort"), sorts="size")
    rows = [
        [
            h("tr", row(name)[2], key=name, by={} if at is None else {"size": at}),
            h("tr", h("td", f"below {name}"), key=f"below {name}"),
        ]
        for name, at in lines
    ]
    return h("table", h("thead", h("tr", h("th", head))), h("tbody", rows), order=order)


def order_of(stage: Stage) -> list[str]:
    rows = stage.page.locator("tbody tr td:first-child").all_inner_texts()
    assert rows[1::2] == [f"below {above}" for above in rows[::2]]
    return rows[::2]


def marked(stage: Stage, name: str) -> dict:
    """What a person would notice of a row."""
    return stage.page.evaluate(
        """(name) => {
          const row = [...document.querySelectorAll("tr")]
            .find((one) => one.firstChild.textContent === name);
          const area = row.querySelector("textarea");
          return {
            place: row.rowIndex, text: area.value, open: row.querySelector("details").open,
            focus: document.activeElement === area, caret: area.selectionStart,
            scrolled: row.querySelector(".scrolled").scrollTop, same: row.mine === true,
          };
        }""",
        name,
    )


def test_a_row_stays_as_it_is_when_others_come_go_and_change_places(stage, plain) -> None:
    plain.draw(h("p", "before"), table("a", "b", "c"))
    stage.settle()
    stage.page.add_style_tag(content=".scrolled {overflow: auto; width: 90px}")
    stage.page.evaluate("() => { document.querySelectorAll('tr')[1].mine = true; }")
    stage.page.locator("tr:nth-child(2) summary").click()
    stage.page.locator("tr:nth-child(2) textarea").type("hello")
    stage.page.keyboard.press("ArrowLeft")
    stage.page.evaluate("() => { document.querySelectorAll('.scrolled')[1].scrollTop = 40; }")
    before = marked(stage, "b")
    kept = {"text": "hello", "open": True, "focus": True, "caret": 4, "scrolled": 40}
    assert before == {"place": 1, "same": True, **kept}
    for names in (("b",), ("x", "b"), ("b", "x", "y"), ("y", "x", "a", "b"), ("b", "a", "x", "y")):
        plain.draw(h("p", "after"), table(*names))
        stage.settle()
        assert marked(stage, "b") == before | {"place": names.index("b")}, names


def test_rows_are_sorted_with_no_kernel_and_stay_so_while_python_draws(stage, plain) -> None:
    plain.draw(sortable(("a", 2), ("b", None), ("c", 1)))
    stage.settle()
    head = stage.page.get_by_role("columnheader")
    area = stage.page.get_by_label("c")
    stage.alive = False  # nothing that is sent has an answer
    for wanted, sort in ((["c", "a", "b"], "ascending"), (["a", "c", "b"], "descending")):
        head.get_by_role("button").press("Enter")
        assert order_of(stage) == wanted
        assert head.get_attribute("aria-sort") == sort
    area.fill("mine")
    mark = "() => { document.activeElement.mine = true; }"
    stage.page.evaluate(mark)
    plain.draw(sortable(("b", 4), ("c", 2), ("d", 3), ("a", None)))  # others have come meanwhile
    stage.until(lambda: order_of(stage) == ["b", "d", "c", "a"])
    assert area.evaluate("(one) => one.mine && one === document.activeElement")
    assert area.input_value() == "mine"
    head.get_by_role("button").click()
    assert order_of(stage) == ["b", "c", "d", "a"]  # as Python gives them
    assert head.get_attribute("aria-sort") is None
    plain.draw(sortable(("d", 1), ("c", 2), order=("size", False)))
    stage.until(lambda: head.get_attribute("aria-sort") == "ascending")
    assert order_of(stage) == ["d", "c"]


def test_focus_goes_to_what_is_near_when_its_element_goes(stage, plain) -> None:
    def rows(*names: str):
        return h("ul", [h("li", button(name, ("say", name)), key=name) for name in names])

    plain.draw(text_area("Words", "", ("note",), keep="w", key="w"), rows("a", "b", "c"))
    stage.settle()
    stage.page.get_by_role("button", name="b").focus()
    for names, near in ((("a", "c"), "c"), (("a",), "a"), ((), "")):
        plain.draw(text_area("Words", "", ("note",), keep="w", key="w"), rows(*names))
        stage.settle()
        assert stage.page.evaluate("() => document.activeElement.textContent").endswith(near)
    inside = "() => document.activeElement.closest('.sen') !== null"
    assert stage.page.evaluate(inside)  # nor do JupyterLab's own keys get in

    # and leaves a button that can no longer be pressed
    plain.draw(button("Start", ("say", 1), key="start"), button("Stop", None, key="stop"))
    stage.settle()
    stage.page.get_by_role("button", name="Start").focus()
    plain.draw(button("Start", None, key="start"), button("Stop", ("say", 2), key="stop"))
    stage.settle()
    assert stage.page.evaluate("() => document.activeElement.textContent") == "Stop"


def test_details_open_and_close_as_a_person_and_as_python_wants(stage, plain) -> None:
    def drawn(unfolded: bool, words: str):
        summary = h("summary", "more")
        return h("details", summary, words, open=unfolded, on={"toggle": ("say",)})

    plain.draw(drawn(True, "a"))
    stage.settle()
    assert plain.said == []  # that it is open is no news
    stage.page.locator("summary").click()
    stage.settle()
    assert plain.said == [False]
    plain.draw(drawn(True, "b"))
    stage.settle()
    assert not stage.page.locator("details").evaluate("(one) => one.open")
    plain.draw(drawn(False, "b"))
    plain.draw(drawn(True, "c"))
    stage.settle()
    assert stage.page.locator("details").evaluate("(one) => one.open")
    assert plain.said == [False]


def test_a_tree_that_cannot_be_drawn_is_said_and_the_next_one_is_drawn(stage, plain) -> None:
    plain.draw(h("p", "fine"))
    stage.settle()
    plain._wire = json.dumps([["p", {}, ["half"]], ["script", {}, []]]).encode()
    stage.page.get_by_role("alert").filter(has_text="could not be drawn").wait_for()
    assert [one for one in stage.console_errors if "no tree has a <script>" in one]
    stage.console_errors.clear()
    plain.draw(h("p", "again"))
    stage.settle()
    assert stage.page.locator(".sen").inner_text() == "again"


def test_a_tree_that_was_garbled_on_its_way_is_asked_for_again_once(stage, plain) -> None:
    """Else a widget would stay empty until something changes."""
    plain.draw(h("p", "fine"))
    stage.settle()
    for sent, text in ((plain._wire, "fine"), (b"garbled, too", "not valid JSON")):
        asked = stage.garble(then=sent)
        stage.until(lambda asked=asked: asked == ["_wire"])
        stage.page.locator(".sen").filter(has_text=text).wait_for()
        assert bool(stage.console_errors) == ("JSON" in text)
    stage.console_errors.clear()
    plain.draw(h("p", "again"))
    stage.page.get_by_text("again", exact=True).wait_for()


def test_two_views_of_one_widget_live_beside_each_other_and_leave_nothing(stage, plain) -> None:
    def score(chosen: int):
        points = [
            h("input", type="radio", name="score", value=n, id=f"s-{n}", checked=n == chosen)
            for n in (1, 2)
        ]
        return h("label", "one", points[0]), h("label", "other", points[1])

    plain.draw(score(1), h("p", "seen", id="same"), h("a", "to it", href="#same"))
    stage.settle()
    stage.page.evaluate("() => { window.senOther = window.senRender('there'); }")
    stage.settle()
    assert stage.page.locator("input:checked").count() == 2
    ids = "() => [...document.querySelectorAll('.sen [id]')].map((one) => one.id)"
    assert len(set(stage.page.evaluate(ids))) == 6
    plain.draw(score(2), h("p", "changed", id="same"))
    stage.settle()
    assert stage.page.get_by_text("changed").count() == 2
    stage.page.evaluate("() => { window.senClose(); window.senOther(); }")
    stage.until(lambda: plain._Panel__views == set())
    assert stage.page.locator(".sen").count() == 0
    plain.draw(h("p", "unseen"))
    stage.page.evaluate("() => { window.senRender('here'); }")
    stage.page.get_by_text("unseen").wait_for()


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
