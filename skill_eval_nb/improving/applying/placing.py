"""Drafts to changes of a suite's text: each finds its place, or is refused with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from skill_eval_nb.documents import Document, Eval
from skill_eval_nb.running.refused import Refused, refuse

from ..values import Draft
from .changing import OneList
from .items import added, instead, is_there
from .lists import Listed, of_eval, target_in, the_evals
from .opening import Opened
from .rewriting import Edits
from .wording import ITEMS, ids_of, words_of

OTHER = {
    "expectations": "structural_expectations",
    "structural_expectations": "expectations",
}
"""Checks stand in one list or in two: an item that is not in its own is looked for there."""


@dataclass(frozen=True, slots=True)
class Placed:
    """What becomes of a suite.

    Attributes:
        edits: the changes of its text.
        ids: the ids that the new items of each draft have, by the draft's key.
        refused: why a draft has no part in it, by its key.
    """

    edits: Edits
    ids: dict[str, tuple[str, ...]]
    refused: dict[str, str]


def place(drafts: Iterable[Draft], suite: Opened) -> Placed:
    """Find the place of each draft; a later one gives way to an earlier one.

    A draft goes in whole or not at all: where one of its evals cannot be changed, none is.
    """
    changes, ids, refused = _Changes(suite), {}, {}
    for draft in drafts:
        try:
            if draft.key in ids:
                raise refuse("the same draft was given twice")
            ids[draft.key] = tuple(changes.take(draft))
        except Refused as error:
            refused.setdefault(draft.key, "; ".join(error.faults))
    return Placed(changes.edits(), ids, refused)


class _Step(NamedTuple):
    """A draft's work on one list: which item goes, if one does."""

    change: OneList
    at: int | None = None
    old: Document | None = None


class _Changes:
    """The lists that change, by the place of their eval (none for the suite's own) and part."""

    def __init__(self, suite: Opened) -> None:
        self._suite = suite
        self._words = words_of(suite.text)
        self._evals = the_evals(suite.text.root, suite.text.document, self._words)
        self._lists: dict[tuple[int | None, str], OneList] = {}

    def take(self, draft: Draft) -> list[str]:
        """Take in a draft; gives the ids that its items have.

        Raises:
            Refused: it cannot be applied; nothing of it was taken in.
        """
        if draft.missing:
            raise refuse(f"still to be written: {', '.join(draft.missing)}; edit the draft first")
        if draft.target is None and not draft.new:
            raise refuse("it changes nothing: it has neither a target nor anything new")
        if draft.part == "evals":
            steps = [self._on_suite(draft)]
        elif draft.evals:
            wanted = dict.fromkeys(self._suite.eval_of(one) for one in draft.evals)
            steps = [self._on_eval(draft, place) for place in wanted]
        else:
            raise refuse("it names no eval that it changes")
        for step in steps:
            self._may(draft, step)
        return [id_ for step in steps for id_ in self._do(draft, step)]

    def edits(self) -> Edits:
        """The changes of the text."""
        edits: Edits = {}
        for change in self._lists.values():
            change.into(edits)
        return edits

    def _on_suite(self, draft: Draft) -> _Step:
        change = self._change(None, self._evals)
        if draft.target is None:
            return _Step(change)
        place = self._suite.eval_of(draft.target)
        for (inside, _), other in self._lists.items():
            if inside == place and other.drafts:
                raise refuse(f"{other.drafts[0]} changes a part of this eval already")
        return _Step(change, *self._evals.items[place])

    def _on_eval(self, draft: Draft, place: int) -> _Step:
        at, one = self._evals.items[place]
        name, whole = self._suite.keys[place].id, self._lists.get((None, "evals"))
        if whole is not None and at in whole.whose:
            raise refuse(f"{whole.whose[at]} changes the whole of eval {name} already")
        assert isinstance(one, Eval)
        assert self._evals.node is not None
        node = self._evals.node.items[at]
        listed = of_eval(draft.part, node, one, self._words)
        if draft.part == "expectations" and not listed.items:
            self._stand_here(name)
        if draft.target is None:
            return _Step(self._change(place, listed))
        lists = [listed]
        if draft.part in OTHER:
            lists.append(of_eval(OTHER[draft.part], node, one, self._words))
        try:
            found, index, old = target_in(lists, draft.target)
        except Refused as error:
            raise refuse(f"eval {name}: {error}") from None
        return _Step(self._change(place, found), index, old)

    def _stand_here(self, name: str) -> None:
        """Refuse to change expectations that stand in another file: these would hide them."""
        where = self._suite.described.get(name)
        if where is not None:
            raise refuse(
                f"the expectations of eval {name} stand in its eval_metadata.json ({where}), and "
                f"one in {self._suite.path.name} would hide them: change them there"
            )

    def _may(self, draft: Draft, step: _Step) -> None:
        """Refuse what another draft changes, and new items that are there already."""
        change, part = step.change, step.change.listed.part
        if step.at in change.whose:
            raise refuse(f"{change.whose[step.at]} changes `{draft.target}` already")
        if step.at is not None and len(draft.new) == 1:
            return
        for new in draft.new:
            item = added(new, part, change.listed.documents, [], self._words)
            for name, other in change.items():
                if is_there(item, other, part, self._words):
                    raise refuse(f"such an item is there already: {name}")

    def _do(self, draft: Draft, step: _Step) -> Iterator[str]:
        change, listed = step.change, step.change.listed
        if step.old is not None and len(draft.new) == 1:
            items = [instead(draft.new[0], step.old, listed.part, self._words)]
        else:
            given = (listed.part, listed.documents, change.taken, self._words)
            items = [added(one, *given) for one in draft.new]
        if step.at is None:
            change.added += [(draft.key, item) for item in items]
        else:
            change.instead[step.at] = items
            change.whose[step.at] = draft.key
        key = self._words.name(ITEMS[listed.part], "id")
        yield from (str(one[key]) for one in items if isinstance(one, dict) and key in one)

    def _change(self, place: int | None, listed: Listed) -> OneList:
        made = OneList(listed, ids_of(listed.documents))
        return self._lists.setdefault((place, listed.part), made)
