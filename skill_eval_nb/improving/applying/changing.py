"""What becomes of one list of a suite, draft by draft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .lists import Listed, told
from .rewriting import Edits, InList, InObject, Instead, differing
from .wording import raw_of


@dataclass(slots=True)
class OneList:
    """What becomes of one list.

    Attributes:
        listed: the list.
        taken: the ids that were ever given in it.
        instead: what comes in the place of an item, by its place.
        whose: the key of the draft that wants it, by the same place.
        added: what comes behind the last item, each with the key of its draft.
    """

    listed: Listed
    taken: list[Any]
    instead: dict[int, list[Any]] = field(default_factory=dict)
    whose: dict[int, str] = field(default_factory=dict)
    added: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def drafts(self) -> list[str]:
        """The keys of the drafts that change it."""
        return [*self.whose.values(), *(key for key, _ in self.added)]

    def items(self) -> Iterator[tuple[str, Any]]:
        """What is in the list, old and new, each with what to call it."""
        for one in self.listed.documents:
            yield told(one), raw_of(one)
        for at, items in self.instead.items():
            yield from ((self.whose[at], item) for item in items)
        yield from self.added

    def into(self, edits: Edits) -> None:
        """Add the changes of the text; a list that is not there yet is made."""
        node, added = self.listed.node, [item for _, item in self.added]
        if node is None:
            self._make(added, edits)
            return
        edit = InList(added=added)
        for at, items in self.instead.items():
            if len(items) == 1:
                differing(node.items[at], items[0], edits)
            else:
                edit.instead[at] = items
        if edit.instead or edit.added:
            edits[node] = edit

    def _make(self, items: list[Any], edits: Edits) -> None:
        if not items:
            return
        above, (first, *rest) = self.listed.above, self.listed.path
        value: Any = items
        for name in reversed(rest):
            value = {name: value}
        was = above.member(first)
        if was is not None:  # null
            edits[was] = Instead(value)
            return
        edit = edits.setdefault(above, InObject())
        assert isinstance(edit, InObject)
        edit.put[first] = value
