"""A widget hears of what has landed, wherever it looks from, and nobody keeps it from hearing."""

from __future__ import annotations

import gc
import json
import logging
import weakref
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.widgets.ui import Panel, h
from skill_eval_nb.widgets.ui import source as sources
from skill_eval_nb.widgets.ui.source import Source, tell_landed
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


def test_tables_have_nothing_to_read_anew(home) -> None:
    told = []
    source = Source(sen.Workspace.from_tables({}), lambda: told.append(1))
    source.reload()
    tell_landed(home)
    assert told == []


def test_what_is_no_workspace_is_refused() -> None:
    for given in (None, 3, ["a"], {"runs": []}):
        with pytest.raises(TypeError, match="A Workspace or a path is wanted"):
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
