"""Finding rows by their words and by what they have, in the page at once and then in Python."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skill_eval_nb.text import as_label

from .parts import button, choose
from .parts import field as labelled
from .tree import Node, h

Things = Mapping[str, Collection[str]]
"""What a row has, by kind, such as `{"Status": ["graded"]}`."""

MOST = 6_000
"""Characters of a row's words that its page holds; Python looks through all of them."""


@dataclass(frozen=True, slots=True)
class RowSearch:
    """What is looked for: rows that have every word, and the thing that is chosen of each kind.

    Attributes:
        words: parts of words, with blanks between them; capitals do not matter.
        chosen: by kind the thing.
    """

    words: str = ""
    chosen: Mapping[str, str] = field(default_factory=dict[str, str])

    def __bool__(self) -> bool:
        """Whether anything is looked for."""
        return bool(self.words.split() or self.chosen)

    def is_met(self, words: str, things: Things) -> bool:
        """Whether a row is one of them.

        >>> search = RowSearch("Read time", {"Status": "graded"})
        >>> search.is_met(words_of("Times are read"), {"Status": ["graded"]})
        True
        """
        has_all = all(one in things.get(kind, ()) for kind, one in self.chosen.items())
        return has_all and all(word in words for word in self.words.lower().split())

    def choose(self, kind: str | None, value: str) -> RowSearch:
        """The same with other words, where the kind is empty, or another thing; None ends it."""
        if not kind:
            return RowSearch() if kind is None else RowSearch(value, self.chosen)
        others = {name: one for name, one in self.chosen.items() if name != kind}
        return RowSearch(self.words, others | ({kind: value} if value else {}))


def words_of(*texts: object) -> str:
    """The words of texts, each once and in small letters.

    >>> words_of("To be or", None, "not To be")
    'to be or not'
    """
    found = (word for text in texts if text for word in str(text).lower().split())
    return " ".join(dict.fromkeys(found))


def row_has(words: str | None, things: Things) -> dict[str, Any]:
    """The attribute `has` of a row; words that are not known yet hide none."""
    known = {} if words is None else {"": words[:MOST]}
    return known | {kind: list(own) for kind, own in things.items()}


def find_bar(search: RowSearch, every: Iterable[Things], label: str, *, more: bool = False) -> Node:
    """The search, and a list for each kind of thing of which there are several.

    Each is the action `find`, which is handed a kind, empty for the words, and the value; see
    `RowSearch.choose`.

    Args:
        search: what is looked for.
        every: of all rows what they have.
        label: what the search looks through.
        more: whether rows are left out for something else, too.
    """
    known: dict[str, dict[str, None]] = {}
    for things in every:
        for kind, own in things.items():
            known.setdefault(kind, {}).update(dict.fromkeys(own))
    lists = [_choose_thing(search, kind, list(own)) for kind, own in known.items()]
    box = h(
        "input",
        type="search",
        value=search.words,
        finds="",
        placeholder="press / to search",
        on={"input": ("find", "")},
    )
    clear = button("Show all", ("find", None, "")) if search or more else None
    looks = "sen-row sen-find"
    return h("div", labelled(label, box), lists, clear, cls=looks, key="find", role="search")


def _choose_thing(search: RowSearch, kind: str, names: Sequence[str]) -> Node | None:
    chosen = search.chosen.get(kind, "")
    if len(names) < 2 and not chosen:
        return None
    options = {"": "any"} | {name: as_label(name, 60) for name in (*names, chosen) if name}
    return choose(kind, options, chosen, ("find", kind), finds=kind)
