"""The texts of a skill's files."""

from __future__ import annotations

from skill_eval_nb.improving.skills import LARGEST, texts


def test_the_skill_comes_first_and_what_is_no_text_has_none(tmp_path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "SKILL.md").write_text("# Made up")
    (tmp_path / "assets" / "a.txt").write_text("a line")
    (tmp_path / "assets" / "b.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "assets" / "c.txt").write_text("x" * (LARGEST + 1))
    assert list(texts(tmp_path)) == [
        ("SKILL.md", "# Made up"),
        ("assets/a.txt", "a line"),
        ("assets/b.bin", None),
        ("assets/c.txt", None),
    ]
