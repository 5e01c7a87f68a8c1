"""Which browser the tests use, and what is said where there is none."""

import sys

import pytest

from tests import chromium


@pytest.fixture
def bin_(tmp_path, monkeypatch):
    """A folder that is the whole PATH, on a machine where Playwright has no browser."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chromium, "_of_playwright", lambda: None)
    monkeypatch.delenv("SKILL_EVAL_NB_REQUIRE_BROWSER", raising=False)
    return tmp_path


def put(path, code):
    path.write_text(f"#!/bin/sh\nexit {code}\n")
    path.chmod(0o755)


def test_the_first_that_starts_is_taken(bin_):
    put(bin_ / "chromium-browser", 1)  # as the one that only tells to install another
    put(bin_ / "google-chrome", 0)
    assert chromium.find() == bin_ / "google-chrome"


def test_the_light_one_is_taken_for_pages_where_there_is_one(bin_):
    put(bin_ / "chromium", 0)
    assert chromium.light() == bin_ / "chromium"
    put(bin_ / chromium.LIGHT, 0)
    assert chromium.light() == bin_ / chromium.LIGHT
    assert chromium.find() == bin_ / "chromium"


@pytest.fixture
def no_way_to_install(bin_, monkeypatch):
    """Neither apt nor a download gives a browser."""
    monkeypatch.setattr(chromium, "_by_playwright", lambda: None)


@pytest.mark.usefixtures("no_way_to_install")
def test_without_one_it_says_what_is_left_out(capsys):
    assert chromium.find() is None
    chromium.main()
    said = capsys.readouterr().out
    assert "left out" in said
    assert "install chromium" in said


@pytest.mark.usefixtures("no_way_to_install")
def test_where_it_may_not_be_left_out_that_is_an_error(monkeypatch):
    monkeypatch.setenv("SKILL_EVAL_NB_REQUIRE_BROWSER", "1")
    with pytest.raises(SystemExit, match="may not be left out"):
        chromium.main()


@pytest.mark.skipif(sys.platform != "linux", reason="left out: apt is Debian's")
def test_apt_is_asked_only_where_root_may(bin_, monkeypatch):
    put(bin_ / "apt-get", 0)
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 1000)
    assert chromium._by_apt() is None
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 0)
    asked = []
    monkeypatch.setattr(chromium.subprocess, "run", lambda command, **_: asked.append(command[3:]))
    assert chromium._by_apt() is None
    assert [command[0] for command in asked] == ["update", "install", "install"]
