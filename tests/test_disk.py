"""Safe writing: whole or not at all, and nothing left behind."""

import os
import stat

import pytest

from skill_eval_nb import disk
from skill_eval_nb.disk import write_atomic


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
