"""Ids and names in a layout: each its own, safe in a path, the same in every iteration."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skill_eval_nb.tables.naming import EvalName, name_evals, name_iterations, safe
from skill_eval_nb.workspace import NO_ITERATION, EvalKey
from skill_eval_nb.workspace.layout import is_iteration

keys = st.lists(
    st.builds(EvalKey, st.one_of(st.text(), st.integers(0, 30).map(str)), st.text()), max_size=8
)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (EvalKey("3", "login"), EvalName(3, 3, "eval-3-login", "3")),
        (EvalKey("3", "eval-3"), EvalName(3, 3, "eval-3", "3")),
        (EvalKey("login", "login"), EvalName("login", "login", "eval-login", "login")),
        (EvalKey("007", "Email Check"), EvalName("007", "007", "eval-007-email-check", "007")),
        (EvalKey("a/b", "../../x"), EvalName("a/b", "a/b", "eval-a-b-x", "a-b")),
        (EvalKey("..", ".."), EvalName("..", "..", "eval", "-")),
    ],
)
def test_an_eval_keeps_its_id_and_gets_a_folder(key, name):
    found = name_evals([key], counted=False)[key]
    assert found._replace(folder=found.folder.rstrip("-")) == name


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["0", "1", "2"], [(1, 0), (2, 1), (3, 2)]),
        (["1", "2", "3"], [(1, 0), (2, 1), (3, 2)]),
        (["0", "2", "5"], [(1, 0), (3, 2), (6, 5)]),
        (["login", "1"], [(1, 0), (2, 1)]),
        (["b", "a"], [(1, 0), (2, 1)]),
    ],
)
def test_counted_evals_are_numbers_that_differ_by_one(ids, expected):
    named = name_evals([EvalKey(id_, id_) for id_ in ids], counted=True)
    assert [(one.in_suite, one.id) for one in named.values()] == expected


@given(given_keys=keys, counted=st.booleans())
@example(given_keys=[EvalKey("x", "one"), EvalKey("y", "three"), EvalKey("x", "two")], counted=True)
@example(given_keys=[EvalKey("a/b", "n"), EvalKey("a-b", "n")], counted=False)
def test_names_of_any_evals_are_safe_and_apart(given_keys, counted):
    named = name_evals(given_keys, counted=counted)
    assert set(named) == set(given_keys)
    for part in ("folder", "file"):
        owners: dict[str, str] = {}
        for key, name in named.items():
            text = getattr(name, part)
            assert not set(text) & {*'/\\:*?"<>|', *map(chr, range(32))}
            assert text == text.strip(" .") != ""
            assert len(text.encode()) < 256
            assert owners.setdefault(text.casefold(), key.id) == key.id
    if counted:
        assert all(isinstance(one.in_suite, int) and one.in_suite >= 1 for one in named.values())
        assert all(one.in_suite == int(one.id) + 1 for one in named.values())
        # The same id is the same eval, whatever it is called.
        assert len(set(named.values())) == len({key.id for key in named})


@given(st.text())
@example("-_ é🎉")
def test_a_safe_name_is_the_name_of_one_file_and_a_harmless_one_stays(text):
    name = safe(text)
    assert name not in ("", ".", "..")
    assert not set(name) & set('/\\:*?"<>|\0')
    assert len(name.encode()) < 256
    assert safe(name) == name
    if set(text) <= set(string.ascii_letters + string.digits + "-_ é🎉") and len(text) <= 20:
        assert name == (text.strip() or "-")


@pytest.mark.parametrize(
    ("used", "named"),
    [
        ([NO_ITERATION], {NO_ITERATION: "iteration-1"}),
        (
            [NO_ITERATION, "iteration-1"],
            {"iteration-1": "iteration-1", NO_ITERATION: "iteration-2"},
        ),
        (
            ["iteration-2", NO_ITERATION],
            {"iteration-2": "iteration-2", NO_ITERATION: "iteration-1"},
        ),
        (["tier2"], {"tier2": "iteration-tier2"}),
        (["../x"], {"../x": "iteration--x"}),
        ([], {}),
    ],
)
def test_iterations(used, named):
    assert {one: name_iterations(used, counted=True)[one] for one in used} == named


@given(st.lists(st.text() | st.just(NO_ITERATION), max_size=6))
@example(["🎉" * 40, "🎉" * 41, "x" * 130])
def test_any_iterations_are_safe_apart_and_known_as_iterations(used):
    named = name_iterations(used, counted=True)
    named = {one: named[one] for one in used}
    assert len({name.casefold() for name in named.values()}) == len(set(used))
    assert all(safe(name, name) == name and is_iteration(name) for name in named.values())
