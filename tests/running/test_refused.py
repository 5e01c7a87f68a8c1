from __future__ import annotations

import pickle

import pytest

from skill_eval_nb.running.refused import Refused, gathered, no_such


def test_one_fault_stands_for_itself_and_many_are_counted():
    assert str(Refused(["the only one"])) == "the only one"
    assert str(Refused(["a", "b"])).splitlines() == ["2 things stand in the way:", "  - a", "  - b"]


def test_it_is_a_value_error_that_goes_to_other_processes():
    error = pickle.loads(pickle.dumps(Refused(["a", "b"])))
    assert isinstance(error, ValueError)
    assert error.faults == ("a", "b")


def test_faults_are_gathered_and_other_errors_are_not():
    faults = ["first"]
    with gathered(faults):
        raise Refused(["second", "third"])
    assert faults == ["first", "second", "third"]
    with pytest.raises(KeyError), gathered(faults):
        raise KeyError("x")


def test_a_name_that_is_not_there():
    assert no_such("eval", "x", []) == "there is no eval `x`; there are none"
    assert no_such("eval", "qqq", ["a"]) == "there is no eval `qqq`; there are a"
