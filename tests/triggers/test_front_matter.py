"""The description in a SKILL.md: replaced in every form, and not a byte else changed."""

from __future__ import annotations

import re
import textwrap
from itertools import product
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.skill_md import MARK
from skill_eval_nb.triggers.describe import quote_yaml, with_description

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
LINES = st.text(st.sampled_from("ab '\"\\:#-|>{}[]&*!%@`?,~é😀"), min_size=1, max_size=60)
NEW = "Draws maps. Use when: a user's “map” is # wanted"


def yaml_of(text: str) -> Any:
    """What PyYAML reads out of the front matter of a SKILL.md."""
    inner = text.removeprefix(MARK).replace("\r\n", "\n").split("---\n")[1]
    return yaml.safe_load(inner)


FORMS = {
    "plain": "description: old words\n",
    "plain over lines": "description: old\n  words\n\n  and more\n",
    "on the next line": "description:\n  old words\n",
    "single quotes": "description: 'it''s old'\n",
    "double quotes": 'description: "old: \\"words\\""\n',
    "double quotes over lines": 'description: "old\n  words \\\n  more"\n',
    "folded": "description: >\n  old\n  words\n",
    "folded and stripped": "description: >-\n  old\n\n  words\n",
    "literal": "description: |\n  old\n    words\n",
    "literal and kept": "description: |+\n  old words\n\n\n",
    "indented by a figure": "description: |2\n   old\n  words\n",
    "tagged": "description: !!str old\n",
    "anchored": "description: &it old\n",
    "a key in quotes": '"description": old\n',
    "an explicit key": "? description\n: old\n",
    "a number": "description: 12\n",
}
AFTER = "# a comment\nallowed-tools: Read # more\nmetadata:\n  version: '1.0'\n  tags: [a, b]\n"


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_every_form_is_replaced_and_all_else_stays(form):
    body = "\n# Title\n\ndescription: not this one\n---\nend without a line"
    for end, mark, after in product(("\n", "\r\n"), ("", MARK), ("", AFTER)):
        text = f"{mark}---\nname: maps\n{form}{after}---\n{body}".replace("\n", end)
        new = with_description(text.encode(), NEW).decode()
        had, has = yaml_of(text), yaml_of(new)
        assert [*has.items()] == [*{**had, "description": NEW}.items()]
        assert new.startswith(f"{mark}---{end}name: maps{end}")
        assert new.endswith(f"{after}---\n{body}".replace("\n", end))
        assert len(new.splitlines()) <= len(text.splitlines())


@given(TEXTS)
@example("\ud7ff\ufeff\u2028\x85 \x00\x7f")
@example("'\"\\")
@example("yes")
@example("")
def test_any_text_is_read_back_as_it_was(text):
    line = quote_yaml(text)
    assert line.splitlines() == [line]
    assert yaml.safe_load(line) == text
    whole = with_description(f"---\ndescription: {line}\nname: n\n---\nbody".encode(), "x")
    assert whole == b'---\ndescription: "x"\nname: n\n---\nbody'


@example(old="a", other="", new="\ud7ff\ufeff\u2028\x85 \x00\x7f'\"\\", body="", style="p")
@example(old="a", other="yes", new="no", body="", style="p")
@given(old=LINES, other=TEXTS, new=TEXTS, body=TEXTS, style=st.sampled_from("p'\"|>"))
def test_other_keys_and_the_body_never_change(old, other, new, body, style):
    written = textwrap.indent(old, "  ")
    if style in "'\"":
        written = yaml.safe_dump(old, default_style=style, allow_unicode=True, width=20)
    elif style in "|>":
        written = f"{style}\n{written}\n"
    inner = f"name: n\ndescription: {written.strip(' ')}\nother: {quote_yaml(other)}\n"
    try:
        had = yaml.safe_load(inner)
    except yaml.YAMLError:
        assume(False)
    assume(isinstance(had, dict) and isinstance(had.get("description"), str | int))
    assume(had["description"] != "" and set(had) == {"name", "description", "other"})
    text = f"---\n{inner}---\n{body}"
    done = with_description(text.encode(), new).decode()
    assert done.endswith(f"other: {quote_yaml(other)}\n---\n{body}")
    inside = done[4 : len(done) - len(f"---\n{body}")]
    assert yaml.safe_load(inside) == {**had, "description": new}


@given(st.binary(max_size=120))
@example(b"---\ndescription: a\n---")
@example(b"---\r\n---\r\n")
@example(b"---\n- description\n---\n")
def test_whatever_the_bytes_it_is_done_or_refused(data):
    try:
        done = with_description(data, "new")
    except Refused:
        return
    assert yaml_of(done.decode() + "\n")["description"] == "new"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"---\nname: n\n---\n", "`description` exactly once"),
        (b"---\ndescription: a\ndescription: b\n---\n", "`description` exactly once"),
        (b"---\ndescription: a: b\n---\n", "not YAML"),  # and what test_given.py has
        (b"---\ndescription: [a, b]\n---\n", "written out"),
        (b"---\ndescription:\nname: n\n---\n", "written out"),
        (b"---\nname: &x n\ndescription: *x\n---\n", "an alias (`*x`); write it out"),
        (b"---\ndescription: &x d\nname: *x\n---\n", "an alias (`*x`); write it out"),
        (b"---\nname: \xff\n---\n", "UTF-8"),
    ],
)
def test_what_cannot_be_changed_alone_is_refused(text, says):
    with pytest.raises(Refused, match=re.escape(says)):
        with_description(text, "new")
