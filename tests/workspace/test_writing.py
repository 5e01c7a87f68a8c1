"""A file is written as it was written, by one at a time, whole or not at all."""

import json
import os
import stat
import subprocess
import sys
import time

import pytest

from skill_eval_nb import disk
from skill_eval_nb.disk import write_atomic
from skill_eval_nb.workspace import writing
from skill_eval_nb.workspace.writing import lock_path, written_like

VALUE = {"a": ["é", {"b": 1.5}], "c": {}}


@pytest.mark.parametrize("indent", [None, 1, 4, "\t"])
@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("tight", [True, False])
def test_nothing_changed_gives_the_same_bytes(indent, escaped, end, tight):
    separators = (",", ":") if tight and indent is None else None
    text = json.dumps(VALUE, ensure_ascii=escaped, indent=indent, separators=separators) + end
    assert written_like(VALUE, text.encode()) == text.encode()
    windows = text.replace("\n", "\r\n").encode()
    assert written_like(VALUE, windows) == windows


def test_half_a_character_stays_an_escape():
    assert written_like({"a": "\ud83d"}, b'{"a": ""}') == b'{"a": "\\ud83d"}'


HOLDING = """
import sys, time
from skill_eval_nb.workspace.writing import lock_path
with lock_path(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_process_that_never_ends_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "PATIENCE", 0.2)
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "x.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        before = time.monotonic()
        with lock_path(tmp_path / "x.json"):
            assert 0.2 <= time.monotonic() - before < 5
        other.kill()
    before = time.monotonic()
    with lock_path(tmp_path / "x.json"):  # free again, though its file lies there
        assert time.monotonic() - before < 0.2
    assert list(tmp_path.iterdir()) == []


# ── whole or not at all ──────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(os.name == "nt", reason="modes are not kept there, and links need rights")
def test_a_file_keeps_its_mode_a_new_one_has_the_usual_and_a_link_keeps_pointing(tmp_path):
    kept, new, usual, link = (tmp_path / name for name in ("kept", "new", "usual", "link"))
    kept.write_text("")
    kept.chmod(0o640)
    usual.write_text("")
    write_atomic(kept, "x")
    write_atomic(new, "x")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    assert new.stat().st_mode == usual.stat().st_mode
    link.symlink_to(new)
    write_atomic(link, "y")
    assert (link.is_symlink(), new.read_text()) == (True, "y")


def test_where_it_fails_the_old_file_stays_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "b"
    path.write_text("old")

    real = disk.Path.replace

    def full(source, target):
        if not source.is_relative_to(tmp_path):  # another thread's
            return real(source, target)
        raise OSError("no space left")

    monkeypatch.setattr(disk.Path, "replace", full)
    with pytest.raises(OSError, match="no space"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]
