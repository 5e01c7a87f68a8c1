"""Figures that are counted beside the page."""

from __future__ import annotations

import threading

import pytest

from skill_eval_nb.widgets.ui.source import Later

LONG = 30


class Gate:
    """A count that waits until it may."""

    def __init__(self, value=1):
        self.may, self.begun = threading.Event(), threading.Event()
        self.value = value

    def __call__(self):
        self.begun.set()
        assert self.may.wait(LONG)
        return self.value


def begun(patience=LONG, told=lambda: None):
    """With its first view begun."""
    later = Later(told, patience)
    later.begin()
    return later


def test_what_the_next_view_does_not_show_is_not_counted():
    gate, counted = Gate(), []
    later = begun(0.01)
    later.get("slow", gate)
    assert gate.begun.wait(LONG)
    later.get("old", lambda: counted.append("old"))
    later.begin()
    later.get("new", lambda: counted.append("new"))
    gate.may.set()
    assert later.wait(LONG)
    assert counted == ["new"]


def test_figures_of_data_that_are_no_more_are_not_given():
    old = Gate("old")
    later = begun(0.01)
    later.get("a", old)
    assert old.begun.wait(LONG)
    later.forget()
    later.begin()
    later.get("a", lambda: "new")
    old.may.set()
    assert later.wait(LONG)
    later.begin()
    assert later.get("a", lambda: "newest") == "new"


def test_a_view_never_waits_longer_than_its_patience_for_all_together():
    gates = [Gate() for _ in range(20)]
    later, done = Later(lambda: None, 0.05), threading.Event()

    def view():
        later.begin()
        assert all(later.get(at, gate) is None for at, gate in enumerate(gates))
        done.set()

    threading.Thread(target=view, daemon=True).start()
    assert done.wait(5)  # one after the other it would be there after a second, but no sooner
    for gate in gates:
        gate.may.set()
    assert later.wait(LONG)


def test_figures_of_a_kind_are_counted_together_so_many_at_once_and_once():
    batches = []

    def count(keys):
        batches.append(list(keys))
        return {key: key * 10 for key in keys}

    later = begun()
    assert later.get("alone", lambda: 7) == 7
    assert later.get_all([1, 2, 3, 4, 5], count, at_once=2) == {n: 10 * n for n in range(1, 6)}
    later.begin()
    assert later.get_all([5, 6, 7], count, at_once=2) == {5: 50, 6: 60, 7: 70}
    assert batches == [[1, 2], [3, 4], [5], [6, 7]]


def test_what_cannot_be_counted_is_raised_and_takes_none_of_the_others_with_it():
    def count(keys):
        if 2 in keys:
            raise ValueError("two is odd")
        return {key: key for key in keys}

    later = begun()
    for _ in range(2):
        with pytest.raises(ValueError, match="two is odd"):
            later.get_all([1, 2, 3], count, at_once=3)
    assert later.get_all([1, 3], count, at_once=3) == {1: 1, 3: 3}
