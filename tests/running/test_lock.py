"""Folders are held by one at a time, cleared of what was left, and seen to be writable."""

from __future__ import annotations

import os
import threading
import time

import pytest

from skill_eval_nb.running.journal import Held, held, paying, probe, sweep


def test_whoever_comes_second_is_told_who_is_at_it(tmp_path):
    folder = tmp_path / "new" / "answers"
    with paying([folder], "a comparison"):
        told = rf"a comparison is already running in {folder} by this process, since 20\d\d-"
        with pytest.raises(Held, match=told), held([tmp_path, folder], "another"):
            pytest.fail("it was not held")
        with held([tmp_path], "what has nothing to do with it"):
            pass
    assert list(folder.iterdir()) == []
    with paying([folder, folder], "a comparison"):
        pass


def test_only_one_of_many_is_ever_inside(tmp_path):
    inside, most, refused = list[int](), list[int](), list[int]()

    def work():
        for _ in range(20):
            try:
                with held([tmp_path], "work"):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
            except Held:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert set(most) == {1}
    assert len(most) + len(refused) == 120


def test_half_files_of_the_dead_go_and_no_others(tmp_path):
    stale, young, mine, near = (
        tmp_path / name
        for name in (".0123456789abcdef.tmp", ".fedcba9876543210.tmp", "notes.tmp", ".0123.tmp")
    )
    for path in (stale, young, mine, near):
        path.touch()
    long_ago = time.time() - 120
    for path in (stale, mine, near):
        os.utime(path, (long_ago, long_ago))
    sweep(tmp_path)
    assert set(tmp_path.iterdir()) == {young, mine, near}
    sweep(tmp_path, 0)
    assert set(tmp_path.iterdir()) == {mine, near}
    sweep(tmp_path / "not there")


def test_a_link_in_the_way_of_the_trial_is_not_written_through(tmp_path):
    other = tmp_path / "other"
    other.write_text("mine")
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / ".skill-eval-nb.trial").symlink_to(other)
    with pytest.raises(ValueError, match="answers cannot be written"):
        probe([folder])
    assert other.read_text() == "mine"
