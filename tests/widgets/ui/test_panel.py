"""What a panel does without a page: actions, faults, threads, and what it sends."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from skill_eval_nb.widgets import ui as panels
from skill_eval_nb.widgets.ui import Panel, action, h, offer, quiet_action
from skill_eval_nb.widgets.ui.source import Recent
from tests.widgets.trees import find, text


class Counter(Panel):
    label = "Counter"

    def __init__(self) -> None:
        self.at = 0
        self.drawn = 0
        self.broken: Exception | None = None
        super().__init__()

    def view(self):
        self.drawn += 1
        if self.broken:
            raise self.broken
        return h("p", f"at {self.at}")

    @action
    def add(self, by: int) -> None:
        self.at += by

    @quiet_action
    def hide(self, by: int) -> None:
        self.at += by

    @action
    def fail(self, error: BaseException) -> None:
        raise error

    def helper(self) -> None:
        raise AssertionError("no page may call this")


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
def sent(counter: Counter, monkeypatch) -> list:
    """What the page hears, in order: answers, and "tree" for a new tree."""
    heard: list = []
    monkeypatch.setattr(counter, "send", lambda content, buffers=None: heard.append(content))
    counter.observe(lambda _: heard.append("tree"), names="_wire")
    return heard


def hear(panel: Panel, **message) -> None:
    panel._answer_message(panel, message, [])


def test_an_action_draws_and_a_quiet_one_does_not(counter) -> None:
    counter.do("add", 2)
    assert text(counter._tree) == "at 2"
    counter.do("hide", 3)
    assert text(counter._tree) == "at 2"
    assert text(counter.get_state()["_wire"].decode()).count("at 5") == 1  # for the next page


@pytest.mark.parametrize("name", ["view", "helper", "__init__", "do", "nope"])
def test_only_actions_can_be_called(counter, name) -> None:
    counter.do(name)
    assert counter.fault == f"This widget has no action `{name}`."


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("No such eval."), "No such eval."),
        (KeyError("eval_id"), "KeyError: 'eval_id'"),
        (ValueError(), "ValueError"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_what_an_action_raises_is_shown_and_logged(counter, sent, caplog, error, words) -> None:
    with caplog.at_level(logging.ERROR):
        hear(counter, action="fail", values=[error], number="v-1", view="v")
    assert counter.fault is not None
    assert words in counter.fault
    assert words in find(counter._tree, role="alert")[0][2][0][2][0]
    assert "at 0" in text(counter._tree)
    assert type(error).__name__ in caplog.text
    assert sent == ["tree", {"answer": "v-1", "fault": counter.fault, "redrew": True}]
    counter.do("add", 1)
    assert counter.fault is None
    assert text(counter._tree) == "at 1"


def test_a_view_that_fails_leaves_what_was_to_be_seen_and_a_way_out(counter) -> None:
    counter.broken = RuntimeError("no table")
    counter.do("add", 1)
    assert text(counter._tree).split("\n") == ["RuntimeError: no table", "Dismiss", "at 0"]
    counter.broken = None
    counter.show()
    assert (counter.fault, text(counter._tree)) == (None, "at 1")
    counter.do("fail", ValueError("not that"))  # stays, although the view succeeds again
    assert counter.fault == "not that"
    counter.do("dismiss")
    assert text(counter._tree) == "at 1"


def test_every_message_has_one_answer(counter, sent) -> None:
    offer("word", lambda: (b"abc", "text/plain"))
    offer("wrong", lambda: ("no bytes", "text/plain"))
    offer("broken", lambda: 1 / 0)
    hear(counter, action="hide", values=[1], number=1)
    hear(counter, action="nope", number=2)
    for number, blob in enumerate(("word", "wrong", "broken", "never offered"), 3):
        hear(counter, blob=blob, number=number)
    hear(counter, kind="anywidget-command", name="x")  # not for us
    answers = [one for one in sent if one != "tree"]
    assert [one["answer"] for one in answers] == [1, 2, 3, 4, 5, 6]
    assert [bool(one.get("fault")) for one in answers] == [False, True, False, True, True, True]
    assert answers[0]["redrew"] is False
    assert sent.index("tree") < sent.index(answers[1])  # the page is up to date when it hears


def test_a_thread_may_show_and_never_waits_for_an_action() -> None:
    class Waiting(Counter):
        @action
        def wait(self) -> None:
            thread = threading.Thread(target=self.show, daemon=True)
            thread.start()
            thread.join(10)  # although this action has not returned
            self.at = 7 if not thread.is_alive() else 0

    panel = Waiting()
    panel.do("wait")
    assert text(panel._tree) == "at 7"


def test_no_wish_to_be_drawn_is_overlooked(counter) -> None:
    def work(_) -> None:
        for _ in range(200):
            with lock:
                counter.at += 1
            counter.show()

    lock = threading.Lock()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert text(counter._tree) == "at 800"


def test_nothing_is_drawn_for_pages_that_have_closed_it(counter, sent) -> None:
    hear(counter, view="a", open=True)
    hear(counter, view="b", open=True)
    hear(counter, view="a", open=False)
    counter.at = 1
    counter.show()
    assert sent == ["tree"]
    hear(counter, view="b", open=False)
    before = counter.drawn
    counter.at = 2
    counter.show()
    assert (sent, counter.drawn) == (["tree"], before)
    assert "at 2" in counter._repr_mimebundle_()[0]["text/html"]


def test_what_is_offered_again_is_remembered_and_what_is_not_is_forgotten(monkeypatch) -> None:
    monkeypatch.setattr(panels, "_OFFERED", Recent(3))
    for name in ("a", "b", "a", "c", "d"):
        offer(name, lambda name=name: (name.encode(), "text/plain"))
    assert panels.read_blob("a")[0] == b"a"
    with pytest.raises(LookupError, match="no longer shown"):
        panels.read_blob("b")
