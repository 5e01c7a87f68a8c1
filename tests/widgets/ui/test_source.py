"""What a widget looks at, its figures, and its work: each in the background, and heard of."""

from __future__ import annotations

import gc
import json
import logging
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest

import skill_eval_nb as sen
from skill_eval_nb.widgets.ui import Panel, h
from skill_eval_nb.widgets.ui import source as sources
from skill_eval_nb.widgets.ui.paid import NOT_BEGUN
from skill_eval_nb.widgets.ui.source import Later, Source, Task, tell_landed
from tests.widgets.trees import text


def add_run(home: Path, iteration: int = 1, number: int = 1) -> Path:
    run = home / f"iteration-{iteration}" / "eval-1-sum" / "with_skill" / f"run-{number}"
    run.mkdir(parents=True)
    expectations = [{"text": "It sums.", "passed": True, "evidence": "line 1"}]
    (run / "grading.json").write_text(json.dumps({"expectations": expectations}))
    return run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    add_run(tmp_path / "ws")
    return tmp_path / "ws"


def height(source: Source) -> int:
    return source.ws.polars("runs").height


def test_it_follows_a_path_and_a_workspace_and_stays_where_it_was(
    home, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    looking = [Source(home), Source(str(home)), Source(sen.load(home)), Source("ws")]
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")  # where the notebook goes meanwhile
    add_run(home, number=2)
    assert [height(one) for one in looking] == [1, 1, 1, 1]
    tell_landed(home)
    assert [height(one) for one in looking] == [2, 2, 2, 2]


def test_it_hears_of_what_is_above_and_below_it(tmp_path, home) -> None:
    (tmp_path / "link").symlink_to(home, target_is_directory=True)
    below = "iteration-1/eval-1-sum/with_skill/run-2"
    near = ("ws", ".", "ws/iteration-1", f"ws/{below}", "link", "link/iteration-1")
    hears = dict.fromkeys(near, 1) | {"ws-2": 0, "elsewhere/ws": 0}
    for through in ("ws", "link"):
        told = []
        source = Source(tmp_path / through, lambda told=told: told.append(1))
        for place, times in hears.items():
            told.clear()
            tell_landed(tmp_path / place)
            assert told == [1] * times, place
        assert source.path == str(tmp_path / through)


def test_what_is_gone_or_not_there_yet_is_said_until_it_is_there(home, tmp_path) -> None:
    was = Source(sen.load(home, backend="pandas"))
    home.rename(tmp_path / "away")
    was.reload()
    for source, backend in ((was, "pandas"), (Source(home), "polars")):
        assert "ws" in (source.lacking or "")
        assert (height(source), source.ws.backend) == (0, backend)
    (tmp_path / "away").rename(home)
    tell_landed(home / "iteration-1")
    for source in (was, Source(home)):
        assert (source.lacking, height(source)) == (None, 1)


def test_what_is_no_workspace_is_refused() -> None:
    for given in (None, 3, ["a"], {"runs": []}):
        with pytest.raises(TypeError, match="Give a Workspace or a path"):
            Source(given)


def test_one_that_fails_keeps_nobody_else_from_hearing(home, caplog) -> None:
    told = []

    def fail() -> None:
        told.append("failed")
        raise RuntimeError("a widget is broken")

    looking = [Source(home, fail if at % 2 else lambda: told.append("heard")) for at in range(6)]
    with caplog.at_level(logging.ERROR):
        tell_landed(home)
    assert sorted(told) == ["failed"] * 3 + ["heard"] * 3
    assert caplog.text.count("RuntimeError: a widget is broken") == 3
    with pytest.raises(RuntimeError, match="broken"):
        looking[1].reload()  # whoever asks for it hears why


def test_those_who_look_at_the_same_read_it_once(home, monkeypatch) -> None:
    ws = sen.load(home)
    looking = [Source(home), Source(home), Source(ws), Source(ws)]
    read = []
    monkeypatch.setattr(sources, "load", lambda path: read.append(path) or sen.load(path))
    tell_landed(home)
    assert len(read) == 1
    assert looking[0].ws is looking[1].ws
    assert looking[2].ws is looking[3].ws is not ws


def test_a_widget_that_is_gone_is_not_told(home) -> None:
    class Heights(Panel):
        def __init__(self) -> None:
            self.source = Source(home, self.show)
            super().__init__()

        def view(self):
            return h("p", f"{height(self.source)} runs")

    panel = Heights()
    add_run(home, number=2)
    tell_landed(home)
    assert text(panel._tree) == "2 runs"
    gone = weakref.ref(panel.source)
    panel.close()
    del panel
    gc.collect()
    assert gone() is None


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
    later.begin_view()
    return later


def test_what_the_next_view_does_not_show_is_not_counted():
    gate, counted = Gate(), []
    later = begun(0.01)
    later.get("slow", gate)
    assert gate.begun.wait(LONG)
    later.get("old", lambda: counted.append("old"))
    later.begin_view()
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
    later.begin_view()
    later.get("a", lambda: "new")
    old.may.set()
    assert later.wait(LONG)
    later.begin_view()
    assert later.get("a", lambda: "newest") == "new"


def test_a_view_never_waits_longer_than_its_patience_for_all_together():
    gates = [Gate() for _ in range(20)]
    later, done = Later(lambda: None, 0.05), threading.Event()

    def view():
        later.begin_view()
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
    later.begin_view()
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


PATIENCE = 30


def begin(do) -> Task:
    return Task("working", do, NOT_BEGUN, lambda: None)


def test_what_is_left_is_told_from_what_was_done_since_the_first_word(monkeypatch) -> None:
    now, steps, begins = [100.0], [], threading.Event()
    clock = SimpleNamespace(monotonic=lambda: now[0])  # the others' clock goes on
    monkeypatch.setattr(sources, "time", clock)

    def do(progress, **_: object) -> None:
        assert begins.wait(PATIENCE)
        for share, at in ((0.5, 110.0), (0.75, 120.0)):
            now[0] = at
            progress(SimpleNamespace(share=share))
            steps.append((work.seconds, work.left_seconds))

    work = begin(do)
    begins.set()
    assert work.ended.wait(PATIENCE)
    assert steps == [(10.0, None), (20.0, pytest.approx(10.0))]
