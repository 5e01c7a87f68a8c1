"""Bytes to JSON values: strict JSON as it is, repairs that have one reading; and back."""

from __future__ import annotations

import contextlib
import json
import re
import time
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skill_eval_nb.documents import Faults, NotJSON, parse, to_json
from skill_eval_nb.documents.parsing import parse_lines

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**12), 10**12),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
        st.sampled_from(["// no comment", "a, }", "[1, ]", '"quoted"', "+1", "back\\slash"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


@given(VALUES, st.booleans(), st.sampled_from([None, 1, 2]))
def test_strict_json_is_read_without_a_word(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    faults = Faults()
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse(text.encode("utf-8", "backslashreplace"), faults) == value
    assert faults == []


@given(OBJECTS)
def test_trailing_commas(value: Any) -> None:
    broken = _with_trailing_commas(value)
    faults = Faults()
    assert parse(broken.encode(), faults) == value
    assert bool(faults) is (broken != json.dumps(value))


def _with_trailing_commas(value: Any) -> str:
    """A writer of its own, so that commas get into no string."""
    if isinstance(value, dict):
        rows = "".join(f"{json.dumps(k)}: {_with_trailing_commas(v)}, " for k, v in value.items())
        return "{" + rows + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{_with_trailing_commas(item)}, " for item in value) + "]"
    return json.dumps(value)


@given(OBJECTS, st.sampled_from(["\n", "\t", "\x01"]))
def test_raw_control_characters_in_strings(value: Any, character: str) -> None:
    whole = {"before": f"one{character}two", **value}
    text = json.dumps(whole)
    raw = text.replace(json.dumps(character)[1:-1], character, 1)
    faults = Faults()
    assert parse(raw.encode(), faults) == whole
    assert len(faults) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": +0.5}', {"a": 0.5}),
        ('{"a": 1 /* one */, // two\n "b": 2}', {"a": 1, "b": 2}),
        ('{"a": "/* no */", // 5" wide\n "b": 2 /* it\'s "so */}', {"a": "/* no */", "b": 2}),
        ('{"a": "say "hi" twice"}', {"a": 'say "hi" twice'}),
        ('{"at": 2026-02-03T08:00:00Z}', {"at": "2026-02-03T08:00:00Z"}),
        ('{"a": NaN, "b": [Infinity]}', {"a": None, "b": [None]}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": 1}\r\n', {"a": 1}),
    ],
)
def test_repairs(text: str, value: Any) -> None:
    faults = Faults()
    assert parse(text.encode(), faults) == value
    assert bool(faults) is not text.endswith("\r\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"a": ',
        b'{"a": 1} {"b": 2}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"1" * 10_000,
    ],
    ids=["empty", "cut", "two", "bad utf-16", "deep", "huge"],
)
def test_what_has_no_single_reading(data: bytes) -> None:
    with pytest.raises(NotJSON) as caught:
        parse(data, Faults())
    assert len(str(caught.value)) > 10


@given(st.binary(max_size=40) | st.text('{}[]",:\\ \n/*+-1eNa', max_size=30).map(str.encode))
def test_any_bytes_are_a_value_or_not_json(data: bytes) -> None:
    faults = Faults()
    with contextlib.suppress(NotJSON):
        value = parse(data, faults)
        assert faults or json.loads(data) == value


@pytest.mark.parametrize(
    ("begin", "again", "end"),
    [
        ('{"a": "', '\\"', ""),
        ('{"a": "x', '" ', ""),
        ('{"a": 1 ', "/*", ""),
        ("[1", ", ", "x]"),
        ('["', "\\", "]"),
        ('{"a": 1', ', "a": 1', "}"),
    ],
)
def test_reading_takes_as_long_as_the_text(begin: str, again: str, end: str) -> None:
    """Twice the text took four or eight times the time."""

    def seconds(times: int) -> float:
        data = (begin + again * times + end).encode()
        begun = time.thread_time()
        with contextlib.suppress(NotJSON):
            parse(data, Faults())
        return time.thread_time() - begun

    once = min(seconds(400) for _ in range(3))
    assert min(seconds(4_000) for _ in range(2)) < 30 * once + 0.3


def test_keys_given_twice_are_named_though_there_are_thousands() -> None:
    faults = Faults()
    members = ", ".join(f'"key {n}": {n}' for n in [*range(30_000), *range(30_000)])
    value = parse(f"{{{members}}}".encode(), faults)
    assert len(value) == 30_000
    assert "key 0, key 1, key 10" in faults[0].message
    assert faults[0].message.endswith("and 29992 more")


MARKED = {"utf-8-sig": "with a byte-order mark", "utf-16": "UTF-16", "utf-32": "UTF-32"}
BARE = dict.fromkeys(("utf-16-le", "utf-16-be"), "without a byte-order mark")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", *MARKED, *BARE])
@given(text=st.text(st.characters(codec="cp1252")) | st.text(st.characters(codec="utf-8")))
def test_text_comes_back_in_every_encoding(encoding: str, text: str) -> None:
    """Or it is refused; what is no plain UTF-8 is named, and what reads as none is Windows-1252."""
    assume("\ufeff" not in text)
    try:
        data = json.dumps({"text": text}, ensure_ascii=False).encode(encoding)
    except UnicodeEncodeError:
        return
    valid = re.search(rb"[\xc2-\xf4][\x80-\xbf]", data)  # may be both
    assume(encoding != "cp1252" or not valid)
    faults = Faults()
    assert parse(data, faults) == {"text": text}
    assert list(parse_lines(data, Faults())) == [{"text": text}]
    odd = "Windows-1252" if encoding == "cp1252" and not text.isascii() else None
    named = (MARKED | BARE).get(encoding, odd)
    assert [named in fault.message for fault in faults] == [True] * (named is not None)


def test_a_line_is_read_as_a_file_is() -> None:
    """Repaired, cut where it is too deep, or left out and named; those after it are read."""
    faults = Faults()
    deep = b'{"a": ' * 400 + b"1" + b"}" * 400
    lines = [b'{"a": 1}', b"", b'{"a": 2,}', b"{", deep, b'{"a": "\xfc"}']
    found = list(parse_lines(b"\r\n".join(lines), faults))
    assert [found[0], found[1], found[3]] == [{"a": 1}, {"a": 2}, {"a": "ü"}]
    assert json.dumps(found[2]).count("{") == 200
    assert {fault.message.split(":")[0] for fault in faults} == {
        "not strict JSON",
        "line 4 is not JSON",
        "anything nested more than 200 levels deep read as null",
        "the file is not UTF-8",
    }
    faults = Faults()  # and a file with a comma too many as well
    assert json.dumps(parse(deep.replace(b"1", b"1,"), faults)).count("{") == 200
    assert "nested more than 200 levels deep" in faults[0].message


@given(VALUES | st.dictionaries(st.text(st.characters()), st.floats()))
def test_what_is_written_is_strict_json_in_utf8(value: Any) -> None:
    data = to_json(value)
    assert data.endswith(b"\n")

    def never(name: str) -> None:
        raise AssertionError(name)

    assert json.loads(data.decode("utf-8"), parse_constant=never) == _finite(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and value - value != 0:
        return None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


def test_a_lone_surrogate_stays_an_escape() -> None:
    assert to_json("\ud800") == b'"\\ud800"\n'
