"""What a person types is theirs: no redraw takes it away, and it reaches Python or stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skill_eval_nb.widgets.ui import Panel, action, h, quiet_action
from skill_eval_nb.widgets.ui.parts import button, choose, entry, text_area
from tests.widgets.stage import staged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.widgets.stage import Stage


class Desk(Panel):
    """A field of each kind, and what Python has been told of them."""

    label = "Desk"

    def __init__(self) -> None:
        self.words = ""
        self.runs = 3
        self.name = "tdd"
        self.metric = "pass_rate"
        self.score = 1
        self.ticking = 0
        self.other = False
        self.told: list[tuple] = []
        super().__init__()

    def view(self):
        return [
            h("p", f"{self.ticking}"),
            self.other
            or text_area("Words", self.words, ("write",), keep="desk/words", key="words"),
            entry("Runs", self.runs, ("count",), kind="number"),
            entry("Name", self.name, ("call",)),
            choose("Metric", ("pass_rate", "tokens"), self.metric, ("choose",)),
            [self._point(n) for n in (1, 2, 3)],
            button("Next", ("go",)),
        ]

    def _point(self, n: int):
        named = {"type": "radio", "name": "score", "value": n, "aria_label": f"score {n}"}
        return h("input", **named, checked=n == self.score, on={"change": ("rate",)})

    def tick_on(self) -> None:
        self.ticking += 1
        self.show()

    @quiet_action
    def write(self, words: str) -> None:
        self.told.append(("write", words))
        self.words = words

    @action
    def count(self, runs: float | None) -> None:
        self.told.append(("count", runs))
        if runs is None or runs < 1:
            raise ValueError("At least one run is needed.")
        self.runs = int(runs)

    @action
    def call(self, name: str) -> None:
        self.told.append(("call", name))
        self.name = name.strip()

    @action
    def choose(self, metric: str) -> None:
        self.told.append(("choose", metric))
        if metric == "tokens":
            raise LookupError("There are no tokens.")

    @action
    def rate(self, score: str) -> None:
        self.told.append(("rate", score))
        self.score = int(score)

    @action
    def go(self) -> None:
        self.told.append(("go",))


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def stage(browser: Browser, desk: Desk) -> Iterator[Stage]:
    with staged(browser, desk) as opened:
        yield opened


def words(stage: Stage):
    return stage.page.locator("textarea")


def sent_to_nobody(stage: Stage) -> None:
    """Wait until what was done is on its way; then the kernel answers again."""
    stage.page.locator(".sen[aria-busy=true]").wait_for()
    stage.alive = True


def kept(stage: Stage) -> str | None:
    return stage.page.evaluate("() => localStorage.getItem('sen:desk/words')")


def test_what_is_typed_is_sent_after_a_pause_and_survives_every_redraw(stage, desk) -> None:
    for letter in "hello":
        words(stage).type(letter)
        desk.tick_on()
    stage.page.get_by_text("5", exact=True).wait_for()
    assert words(stage).input_value() == "hello"
    stage.until(lambda: ("write", "hello") in desk.told)
    stage.settle()
    assert desk.told[-1] == ("write", "hello")  # a slow machine may pause between the keys
    assert kept(stage) is None
    stage.page.keyboard.press("ArrowLeft")
    words(stage).type("X")
    desk.tick_on()
    stage.settle()
    assert words(stage).input_value() == "hellXo"
    assert words(stage).evaluate("(one) => one.selectionStart") == 5
    desk.words = "of Python"
    desk.show()
    stage.settle()
    assert words(stage).input_value() == "of Python"  # now that nobody is typing


@pytest.mark.parametrize("lost", [False, True])
def test_what_is_typed_is_sent_before_the_click_that_follows_or_again(stage, desk, lost) -> None:
    told = {("write", "quick"), ("go",)} if lost else [("write", "quick"), ("go",)]
    stage.alive = not lost
    words(stage).type("quick")
    if lost:
        sent_to_nobody(stage)
    stage.page.get_by_role("button", name="Next").click()
    stage.settle()
    assert (set(desk.told) if lost else desk.told) == told
    assert kept(stage) is None


def test_what_is_typed_is_sent_when_its_element_goes(stage, desk) -> None:
    words(stage).type("gone")
    desk.other = True
    desk.show()
    stage.settle()
    assert desk.words == "gone"
    stage.page.get_by_label("Name").fill("half")
    stage.page.evaluate("() => window.senClose()")
    stage.until(lambda: desk.told[-1] == ("call", "half"))


def test_nothing_typed_is_lost_when_the_kernel_dies(stage, desk) -> None:
    stage.page.clock.install()
    stage.open()
    words(stage).type("first")
    stage.page.clock.run_for(1000)
    assert desk.words == "first"
    stage.alive = False
    words(stage).type(" and last")
    stage.page.clock.run_for(9_000)
    silent = stage.page.get_by_text("The kernel has not answered for 10 seconds")
    assert silent.count() == 0
    stage.page.clock.run_for(2_000)
    silent.wait_for()
    desk.tick_on()  # of another thread: it is no answer
    stage.page.clock.run_for(1000)
    assert words(stage).input_value() == "first and last"
    stage.alive = True
    stage.page.clock.resume()
    stage.open()
    stage.until(lambda: desk.words == "first and last")
    stage.until(lambda: kept(stage) is None)
    assert words(stage).input_value() == "first and last"
    assert kept(stage) is None
    assert silent.count() == 0


# Of "mi" it took some, and died before it could say so.
@pytest.mark.parametrize(
    ("python", "expected"), [("", "mine"), ("mi", "mine"), ("another's", "another's\n\nmine")]
)
def test_text_comes_back_beside_what_python_has_by_now(stage, desk, python, expected) -> None:
    stage.alive = False
    words(stage).type("mine")
    sent_to_nobody(stage)
    desk.words = python
    desk.show()
    for _ in range(2):  # the second time nothing is left to come back
        stage.open()
        stage.settle()
        assert words(stage).input_value() == expected
        assert desk.words == expected


def test_what_python_makes_of_it_is_shown_and_what_it_refuses_stays(stage, desk) -> None:
    name = stage.page.get_by_label("Name")
    name.fill("  tdd  ")
    name.press("Enter")
    stage.settle()
    assert desk.told == [("call", "  tdd  ")]
    assert name.input_value() == "tdd"
    runs = stage.page.get_by_label("Runs")
    runs.fill("0")
    runs.press("Enter")
    stage.settle()
    assert stage.page.get_by_role("alert").inner_text().startswith("At least one run")
    assert runs.input_value() == "0"
    runs.fill("4")
    runs.press("Enter")
    stage.settle()
    assert stage.page.get_by_role("alert").count() == 0
    assert desk.runs == 4
    runs.fill("-1")
    name.focus()
    stage.settle()
    assert runs.input_value() == "-1"
    stage.page.get_by_role("button", name="Dismiss").click()
    stage.settle()
    assert runs.input_value() == "4"


def test_choices_show_what_python_has_after_it_answered(stage, desk) -> None:
    metric = stage.page.get_by_label("Metric")
    metric.select_option("tokens")
    stage.settle()
    assert metric.input_value() == "pass_rate"
    stage.page.get_by_label("score 2").check()
    stage.settle()
    assert stage.page.get_by_label("score 2").is_checked()
    assert desk.told == [("choose", "tokens"), ("rate", "2")]
    desk.score = 1
    desk.show()
    stage.settle()
    assert stage.page.get_by_label("score 1").is_checked()


def test_the_last_of_several_choices_is_kept_and_has_the_focus(stage, desk, monkeypatch) -> None:
    held: list[tuple] = []
    with monkeypatch.context() as slow:  # a kernel that answers once all of them were made
        slow.setattr(desk, "_answer_message", lambda *given: held.append(given))
        stage.page.get_by_label("score 1").focus()
        for _ in range(2):
            stage.page.keyboard.press("ArrowRight")
        stage.until(lambda: len(held) == 2)
    for given in held:
        desk._answer_message(*given)
        stage.fetched()
        chosen = stage.page.get_by_label("score 3")
        assert chosen.is_checked()
        assert chosen.evaluate("(one) => one === document.activeElement")
    stage.settle()
    assert chosen.is_checked()
    assert (desk.score, desk.told) == (3, [("rate", "2"), ("rate", "3")])


def test_a_choice_that_got_lost_does_not_undo_the_next(stage, desk) -> None:
    stage.alive = False
    stage.page.get_by_label("score 2").check()
    sent_to_nobody(stage)
    stage.page.get_by_label("score 3").check()
    stage.settle()
    assert stage.page.get_by_label("score 3").is_checked()
    assert desk.told == [("rate", "3")]
