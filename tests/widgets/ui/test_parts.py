"""Parts say what they are; of a value's blocks all is there, and text stays text."""

from __future__ import annotations

from skill_eval_nb.view import Card, Cards, Diff, Items, Mark, Pairs, Table, Text, Title
from skill_eval_nb.widgets.ui.parts import blocks_view
from tests.widgets.trees import find, text

HOSTILE = "<img src=x onerror=alert(1)>"


def test_every_block_shows_what_is_in_it():
    blocks = [
        Title("a title", "a place"),
        Text("a text", "strong"),
        Mark("warning", "look", HOSTILE),
        Cards([Card("3", "runs")]),
        Table(("eval", "runs"), [("a", 1200), (("above", "below"), None)], "rows", ["runs"], 2),
        Table(("", ""), [(Mark("warning", "look"), "a remark")], "before"),
        Pairs([("skill", "tdd")], "settings"),
        Items(["first"], "order", numbered=True, more=4),
        Diff("-old\n+new"),
    ]
    shown = blocks_view(blocks)
    words = text(shown)
    for part in (
        *("a title", "a place", "strong a text", HOSTILE, "3", "runs", "1,200", "above", "below"),
        *("–", "… and 2 more", "a remark", "tdd", "first", "… and 4 more"),
    ):
        assert part in words
    assert [text(one) for one in find(shown, tag="ins")] == ["+new"]
    assert [text(one) for one in find(shown, tag="caption")] == ["rows"]
    assert [text(one) for one in find(shown, tag="summary")] == ["settings", "order"]


def test_what_is_empty_is_left_out():
    assert blocks_view([Table(("a",), []), Pairs([]), Items([]), Diff("")]) == []
