"""JSON texts in any layout, and changes of them, for properties."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import strategies as st

from skill_eval_nb.improving.applying.positions import Node
from skill_eval_nb.improving.applying.rewriting import Edits, InList, InObject, Instead

BLANKS = ("", "", " ", "  ", "\n", "\n    ", "\r\n\t", " \n\n ")
ODD = (*BLANKS, " // so\n", "/* x, [ */")

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def laid_out(value: Any, random: Random, *, odd: bool = False) -> str:
    """A value as text, its blanks drawn; `odd` draws comments and trailing commas as well."""
    draw = random.choice

    def blank() -> str:
        return draw(ODD if odd else BLANKS)

    def end(parts: list[str]) -> str:
        return "," + blank() if odd and parts and random.random() < 0.3 else ""

    def written(one: Any) -> str:
        if isinstance(one, dict):
            parts = [
                f"{blank()}{written(key)}{blank()}:{blank()}{written(item)}{blank()}"
                for key, item in one.items()
            ]
            return "{" + (",".join(parts) + end(parts) or blank()) + "}"
        if isinstance(one, list):
            parts = [f"{blank()}{written(item)}{blank()}" for item in one]
            return "[" + (",".join(parts) + end(parts) or blank()) + "]"
        return json.dumps(one, ensure_ascii=random.random() < 0.5)

    return blank() + written(value) + blank()


def nodes(root: Node) -> list[Node]:
    """A value and all in it."""
    return [root, *(one for item in root.items for one in nodes(item))]


def drawn_edits(root: Node, random: Random, new: list[Any]) -> Edits:
    """Changes of some of the values in a text."""
    edits: Edits = {}
    for node in nodes(root):
        if random.random() < 0.5:
            continue
        places = [at for at in range(len(node.items)) if random.random() < 0.4]
        if isinstance(node.value, list):
            instead = {at: random.sample(new, random.randint(0, 2)) for at in places}
            edits[node] = InList(instead, random.sample(new, random.randint(0, 2)))
        elif isinstance(node.value, dict):
            gone = {node.keys[at].name for at in places}
            edits[node] = InObject({f"new {len(edits)}": random.choice(new)}, gone)
        else:
            edits[node] = Instead(random.choice(new))
    return edits


def edited(node: Node, edits: Edits) -> Any:
    """The plain value after the changes: the same edit, made on data."""
    edit = edits.get(node)
    if isinstance(edit, Instead):
        return edit.value
    if isinstance(node.value, list):
        assert edit is None or isinstance(edit, InList)
        out: list[Any] = []
        for at, item in enumerate(node.items):
            instead = edit.instead.get(at) if edit else None
            out += [edited(item, edits)] if instead is None else instead
        return out + (edit.added if edit else [])
    if isinstance(node.value, dict):
        assert edit is None or isinstance(edit, InObject)
        kept = {
            key.name: edited(item, edits) for key, item in zip(node.keys, node.items, strict=True)
        }
        gone, put = (edit.gone, edit.put) if edit else (set(), {})
        return {key: item for key, item in kept.items() if key not in gone} | put
    return node.value
