"""The collector is away while much is read, and does not walk through it when it comes back."""

from __future__ import annotations

import gc

import pytest

from skill_eval_nb.workspace import collector_paused


def test_what_was_made_meanwhile_counts_as_old():
    with collector_paused():
        assert not gc.isenabled()
        made = [[number] for number in range(5000)]
    assert gc.isenabled()
    assert gc.get_count()[0] < len(made)
    assert any(one is made for one in gc.get_objects(generation=2))
    assert gc.get_freeze_count() == 0


def test_it_comes_back_after_an_error_and_not_where_it_was_off():
    with pytest.raises(ValueError, match="no"), collector_paused():
        raise ValueError("no")
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
