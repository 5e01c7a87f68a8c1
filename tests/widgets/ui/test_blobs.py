"""Bytes by name: remembered as long as they are offered now and then."""

from __future__ import annotations

import pytest

from skill_eval_nb.widgets.ui import offer
from skill_eval_nb.widgets.ui import panel as blobs
from skill_eval_nb.widgets.ui.source import Recent


def test_what_is_offered_again_is_remembered_and_what_is_not_is_forgotten(monkeypatch) -> None:
    monkeypatch.setattr(blobs, "_OFFERED", Recent(3))
    for name in ("a", "b", "a", "c", "d"):
        offer(name, lambda name=name: (name.encode(), "text/plain"))
    assert blobs.read_blob("a")[0] == b"a"
    with pytest.raises(LookupError, match="no longer shown"):
        blobs.read_blob("b")


def test_the_last_offer_of_a_name_counts() -> None:
    offer("name", lambda: (b"old", "text/plain"))
    offer("name", lambda: (b"new", "text/plain"))
    assert blobs.read_blob("name") == (b"new", "text/plain")
