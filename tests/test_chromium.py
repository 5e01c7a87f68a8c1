"""Which browser the tests use, and what is said where there is none."""

import pytest

from tests import chromium


def test_without_one_it_says_what_is_left_out_or_that_it_may_not_be(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    for way in ("_of_playwright", "_by_playwright"):
        monkeypatch.setattr(chromium, way, lambda: None)
    monkeypatch.delenv("SKILL_EVAL_NB_REQUIRE_BROWSER", raising=False)
    assert chromium.find() is None
    chromium.main()
    said = capsys.readouterr().out
    assert "left out" in said
    assert "install chromium" in said
    monkeypatch.setenv("SKILL_EVAL_NB_REQUIRE_BROWSER", "1")
    with pytest.raises(SystemExit, match="may not be left out"):
        chromium.main()
