"""Work in a thread: told, stopped, failed; how long it goes on."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from skill_eval_nb.widgets.ui import source as module
from skill_eval_nb.widgets.ui.paid import NOT_BEGUN
from skill_eval_nb.widgets.ui.source import Task

PATIENCE = 30


def begun(do, told=lambda: None, ended=lambda _: None) -> Task:
    return Task("working", do, NOT_BEGUN, told, ended)


@pytest.mark.parametrize(("error", "told"), [(OSError("full"), "full"), (OSError(), "OSError")])
def test_what_it_raises_is_said(error, told) -> None:
    def do(*_: object) -> None:
        raise error

    work = begun(do)
    assert work.ended.wait(PATIENCE)
    assert work.message == told
    assert not work.running


def test_what_is_left_is_told_from_what_was_done_since_the_first_word(monkeypatch) -> None:
    now, steps, begins = [100.0], [], threading.Event()
    clock = SimpleNamespace(monotonic=lambda: now[0])  # the others' clock goes on
    monkeypatch.setattr(module, "time", clock)

    def do(tell, _) -> None:
        assert begins.wait(PATIENCE)
        for share, at in ((0.5, 110.0), (0.75, 120.0)):
            now[0] = at
            tell(SimpleNamespace(share=share))
            steps.append((work.seconds, work.left_seconds))

    work = begun(do)
    begins.set()
    assert work.ended.wait(PATIENCE)
    assert steps == [(10.0, None), (20.0, pytest.approx(10.0))]
