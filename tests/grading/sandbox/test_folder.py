"""Folders come back from a box as their owner's, whatever was done in them."""

import os
import shutil
import stat

import pytest

from skill_eval_nb.grading.sandbox import Box, lent, used
from skill_eval_nb.grading.sandbox.box import DEEPEST, Used, take_back
from tests.bubblewrap import needed
from tests.grading.sandbox.made import boxed


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@needed
def test_files_that_were_closed_can_be_read_and_removed(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    made = "mkdir -p a/b; echo x > a/b/f; chmod 000 a/b/f a/b a; chmod 000 ."
    assert boxed(folder, made).exit_code == 0
    assert mode(folder) & 0o700 == mode(folder / "a" / "b") & 0o700 == 0o700
    assert mode(folder / "a" / "b" / "f") & 0o400
    owners = {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}
    assert owners == {os.geteuid()}
    shutil.rmtree(folder)


@needed
def test_no_file_makes_who_runs_it_another_user(tmp_path):
    boxed(tmp_path, "cp /usr/bin/id own; chmod 6755 own; mkdir d; chmod 2777 d")
    assert not (tmp_path / "own").stat().st_mode & (stat.S_ISUID | stat.S_ISGID)
    assert mode(tmp_path / "own") == 0o755
    assert not (tmp_path / "d").stat().st_mode & stat.S_ISGID


@needed
def test_folders_too_deep_to_be_read_are_removed(tmp_path):
    code = "import os\nfor _ in range(1000): os.mkdir('deep'); os.chdir('deep')"
    ran = boxed(tmp_path, f'python3 -c "{code}"; sleep 60')
    assert ran.ended == "disk"  # nobody knows how much is in there
    assert "more than 100 deep" in ran.message
    depth = sum(1 for _ in os.walk(tmp_path))
    assert 1 < depth <= DEEPEST + 1
    shutil.rmtree(tmp_path / "deep")


@pytest.mark.skipif(os.geteuid() != 0, reason="left out: only root can give a folder away")
def test_a_box_that_was_killed_leaves_nothing_to_nobody(tmp_path):
    (tmp_path / "f").touch()
    for path in (tmp_path, tmp_path / "f"):
        os.chown(path, 65534, 65534)
    with lent(Box(tmp_path)):
        assert (tmp_path / "f").stat().st_uid == 65534
    assert (tmp_path / "f").stat().st_uid == tmp_path.stat().st_uid == 0


def test_links_are_left_as_they_are(tmp_path):
    folder, outside = tmp_path / "work", tmp_path / "outside"
    folder.mkdir()
    outside.write_text("x")
    outside.chmod(0o4000)
    (folder / "link").symlink_to(outside)
    (folder / "nowhere").symlink_to("nothing")
    os.mkfifo(folder / "pipe")
    take_back(folder)
    assert mode(outside) == 0o4000
    assert (folder / "link").is_symlink()


def test_what_is_used_counts_each_entry_and_follows_no_link(tmp_path):
    folder, temporary = tmp_path / "work", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    box = Box(folder, temporary=temporary)
    (tmp_path / "big").write_bytes(bytes(1 << 20))
    (folder / "link").symlink_to(tmp_path / "big")
    (folder / "d").mkdir()
    (folder / "d" / "empty").touch()
    assert used(box) == Used(3 * 4096, 3)
    (temporary / "full").write_bytes(os.urandom(1 << 20))
    assert used(box).bytes >= 3 * 4096 + (1 << 20)
    assert used(box, Used(bytes=1 << 30, entries=2)).entries == 3  # no more than is needed
    assert used(Box(tmp_path / "not there")) == Used()
