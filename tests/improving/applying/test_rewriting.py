from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skill_eval_nb.documents import Faults, parse
from skill_eval_nb.improving.applying.habits import layout_of
from skill_eval_nb.improving.applying.positions import Node, placed
from skill_eval_nb.improving.applying.rewriting import (
    Edits,
    InList,
    InObject,
    differing,
    rewritten,
)
from tests.improving.applying.texts import drawn_edits, edited, laid_out, nodes, values

randoms = st.randoms(use_true_random=False)
news = st.lists(values, min_size=2, max_size=3)


def changed(text: str, root: Node, edits: Edits) -> str:
    return rewritten(layout_of(text, root), root, edits)


@given(values, randoms)
def test_without_changes_a_text_stays_as_it_is(value, random: Random):
    text = laid_out(value, random, odd=True)
    assert changed(text, placed(text), {}) == text


@given(values, news, randoms)
def test_a_text_says_what_the_same_edit_makes_of_the_data(value, new, random: Random):
    text = laid_out(value, random)
    root = placed(text)
    edits = drawn_edits(root, random, new)
    assert json.loads(changed(text, root, edits)) == edited(root, edits)


@given(values, news, randoms)
def test_so_it_does_with_comments_and_trailing_commas(value, new, random: Random):
    text = laid_out(value, random, odd=True)
    root = placed(text)
    edits = drawn_edits(root, random, new)
    after = changed(text, root, edits)
    assert parse(after.encode("utf-8", "surrogatepass"), Faults()) == edited(root, edits)


@given(values, news, randoms)
def test_nothing_outside_of_the_changed_value_is_another(value, new, random: Random):
    text = laid_out(value, random, odd=True)
    root = placed(text)
    node = random.choice(nodes(root))
    edits = drawn_edits(node, random, new)
    after = changed(text, root, edits)
    assert after.startswith(text[: node.start])
    assert after.endswith(text[node.end :])


@given(values, news, randoms)
def test_what_is_added_is_in_one_piece_and_all_else_is_there(value, new, random: Random):
    text = laid_out(value, random, odd=True)
    root = placed(text)
    node = random.choice([one for one in nodes(root) if one.items] or [root])
    assume(node.items)
    edit = InList(added=new) if isinstance(node.value, list) else InObject({"new one": new})
    after = changed(text, root, {node: edit})
    assert _is_one_piece_more(text, after)


@given(values, randoms)
def test_what_goes_is_in_one_piece_and_all_else_is_there(value, random: Random):
    text = laid_out(value, random, odd=True)
    root = placed(text)
    node = random.choice([one for one in nodes(root) if one.items] or [root])
    assume(node.items)
    at = random.randrange(len(node.items))
    is_list = isinstance(node.value, list)
    edit = InList({at: []}) if is_list else InObject(gone={node.keys[at].name})
    assert _is_one_piece_more(changed(text, root, {node: edit}), text)


def _is_one_piece_more(less: str, more: str) -> bool:
    same = next(
        (at for at, (a, b) in enumerate(zip(less, more, strict=False)) if a != b), len(less)
    )
    return more.endswith(less[same:]) and len(more) > len(less)


@given(values, values, randoms)
def test_one_value_becomes_another_in_the_members_that_differ(old, new, random: Random):
    text = laid_out({"keep": [1.0, 2e1], "it": old}, random)
    root = placed(text)
    edits: Edits = {}
    differing(root, {"keep": [1, 20], "it": new}, edits)
    after = changed(text, root, edits)
    assert json.loads(after)["it"] == new
    kept = root.items[0]
    assert text[kept.start : kept.end] in after


def test_true_and_1_are_not_the_same():
    root = placed('{"a": true, "b": 1.0}')
    edits: Edits = {}
    differing(root, {"a": 1, "b": 1}, edits)
    assert changed('{"a": true, "b": 1.0}', root, edits) == '{"a": 1, "b": 1.0}'


LAYOUTS = {
    "an item a line": (
        '{\n  "a": [\n    1,\n    2\n  ]\n}\n',
        '{\n  "a": [\n    1,\n    2,\n    9\n  ]\n}\n',
    ),
    "on one line": ('{\n "a": [1, 2]\n}', '{\n "a": [1, 2, 9]\n}'),
    "tight": ('{"a":[1,2]}', '{"a":[1,2,9]}'),
    "tight, one item": ('{"b":{"c":1,"d":2},"a":[1]}', '{"b":{"c":1,"d":2},"a":[1,9]}'),
    "padded": ('{ "a": [ 1, 2 ] }', '{ "a": [ 1, 2, 9 ] }'),
    "comma first": ('{"a": [ 1\n     , 2\n     ]}', '{"a": [ 1\n     , 2\n     , 9\n     ]}'),
    "other line ends": (
        '{\r\n\t"a": [\r\n\t\t1\r\n\t]\r\n}',
        '{\r\n\t"a": [\r\n\t\t1,\r\n\t\t9\r\n\t]\r\n}',
    ),
    "a trailing comma": ('{"a": [\n  1,\n]}', '{"a": [\n  1,\n  9,\n]}'),
    "a comment": (
        '{"a": [\n  1, // one\n  2 // two\n]}',
        '{"a": [\n  1, // one\n  2,\n  9 // two\n]}',
    ),
    "empty": (
        '{\n    "b": [\n        0\n    ],\n    "a": []\n}',
        '{\n    "b": [\n        0\n    ],\n    "a": [\n        9\n    ]\n}',
    ),
    "empty, others on one line": (
        '{\n  "b": [0, 1],\n  "a": [ ]\n}',
        '{\n  "b": [0, 1],\n  "a": [9]\n}',
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_list_goes_on_as_its_items_stand(layout):
    text, after = LAYOUTS[layout]
    root = placed(text)
    node = root.member("a")
    assert node is not None
    assert changed(text, root, {node: InList(added=[9])}) == after


def test_an_object_is_written_like_the_one_before_it():
    text = '{"evals": [{\n   "id": 1,\n   "at": {"x": 1, "y": [0, 1]}\n }]}'
    root = placed(text)
    new = {"id": 2, "at": {"x": 3, "y": [4, 5]}}
    more = ', {\n   "id": 2,\n   "at": {"x": 3, "y": [4, 5]}\n }]}'
    after = text.removesuffix("]}") + more
    assert changed(text, root, {root.items[0]: InList(added=[new])}) == after


def test_what_has_nothing_like_it_is_indented_as_the_file_is():
    data: dict[str, Any] = {"id": 1}
    text = json.dumps(data, indent="\t")
    root = placed(text)
    data["rubric"] = {"dimensions": [{"name": "n"}]}
    edit = InObject({"rubric": data["rubric"]})
    assert changed(text, root, {root: edit}) == json.dumps(data, indent="\t")


def test_letters_are_escaped_where_the_file_escapes_them():
    escaped, plain = '["\\u00e9"]', '["é"]'
    for text, after in ((escaped, '["\\u00e9", "\\u00fc"]'), (plain, '["é", "ü"]')):
        root = placed(text)
        assert changed(text, root, {root: InList(added=["ü"])}) == after


def test_the_gaps_around_an_item_that_another_takes_the_place_of_stay():
    text = "[1 ,\n\n 2,  3]"
    root = placed(text)
    assert changed(text, root, {root: InList({1: [8, 9]})}) == "[1 ,\n\n 8,  9,  3]"
    assert changed(text, root, {root: InList({0: [], 1: [], 2: []})}) == "[]"


def test_two_pieces_that_are_not_there_yet_go_in_together():
    text = '{"a": 1}'
    root = placed(text)
    edit = InObject({"b": [1], "c": {"d": []}}, {"a"})
    assert json.loads(changed(text, root, {root: edit})) == {"b": [1], "c": {"d": []}}
