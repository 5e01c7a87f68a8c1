from __future__ import annotations

import codecs
import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.documents import Faults, parse
from skill_eval_nb.improving.applying.positions import Unplaced, decoded, placed
from tests.improving.applying.texts import laid_out, nodes, values


@given(values, st.randoms(use_true_random=False))
def test_each_value_stands_where_it_says(value, random: Random):
    text = laid_out(value, random)
    root = placed(text)
    assert root.value == value
    for node in nodes(root):
        assert json.loads(text[node.start : node.end]) == node.value
        assert [json.loads(text[key.start : key.end]) for key in node.keys] == [
            key.name for key in node.keys
        ]


@given(values, st.randoms(use_true_random=False))
def test_it_reads_what_documents_read(value, random: Random):
    text = laid_out(value, random, odd=True)
    assert placed(text).value == parse(text.encode("utf-8", "surrogatepass"), Faults()) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "two\nlines\t"}', {"a": "two\nlines\t"}),
        ('{"a": +0.5, "b": NaN, "c": -Infinity}', {"a": 0.5, "b": None, "c": None}),
        ('{"a": 1, "b": 2, "a": 3}', {"a": 3, "b": 2}),
        ('["a//b", "c/*d*/"] // e', ["a//b", "c/*d*/"]),
    ],
)
def test_what_one_can_only_mean_one_thing_by_is_read(text, value):
    assert placed(text).value == parse(text.encode(), Faults()) == value


def test_of_a_name_given_twice_the_last_counts():
    text = '{"a": [1], "a": [2]}'
    member = placed(text).member("a")
    assert member is not None
    assert text[member.start : member.end] == "[2]"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1, column 1: expected a value, found the end"),
        ('{"a": 1,\n "b" 2}', "line 2, column 6: expected `:`, found '2}'"),
        ("[1 2]", "expected `,`"),
        ("[1]]", "expected the end of the file"),
        ("[one]", "expected a value"),
        ('["a', "expected a string"),
        ('["\\x"]', "expected a string without faults"),
        ('{"at": 2026-01-01T00:00:00Z}', "expected"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_has_no_one_place_is_refused(text, told):
    with pytest.raises(Unplaced) as raised:
        placed(text)
    assert told in str(raised.value)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_marks_and_encodings_come_back(encoding):
    data = '{"é": "𝄞"}'.encode(encoding)
    text, mark, name = decoded(data)
    assert text == '{"é": "𝄞"}'
    assert mark + text.encode(name) == data
    assert decoded(b"[]")[1:] == (b"", "utf-8")
    assert mark in (codecs.BOM_UTF8, codecs.BOM_UTF16, codecs.BOM_UTF32)
