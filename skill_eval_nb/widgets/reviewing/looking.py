"""What is looked at in a review: the items, the one that is open, and how far all of it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from skill_eval_nb.widgets.runs import RunKey
from skill_eval_nb.workspace.feedback import COMPLETE

from .blind import is_scored
from .book import Book
from .choice import Choice, chosen
from .head import Progress
from .items import Item
from .jumping import DONE, LEFT, PARTLY
from .pages import Page
from .scope import Scope

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


@dataclass(frozen=True)
class Looking:
    """A review as it is now.

    Attributes:
        ws: what is loaded.
        scope: what of it is reviewed.
        choice: what the reviewer has chosen to see.
        book: what was said.
        seed: what the order of the sides depends on in a blind review.
    """

    ws: Workspace
    scope: Scope
    choice: Choice
    book: Book
    seed: int

    @cached_property
    def items(self) -> list[Item]:
        """All that is reviewed: of a blind review, what has two sides."""
        return [item for item in self.scope.items if item.is_pair or not self.choice.blind]

    @cached_property
    def shown(self) -> list[Item]:
        """What of it is shown."""
        return chosen(self.items, self.choice, lambda item: self.done(item) == DONE)

    @property
    def at(self) -> int:
        """The place of the one that is open among those that are shown; -1 for none."""
        tokens = [item.token for item in self.shown]
        return tokens.index(self.choice.at) if self.choice.at in tokens else -1

    @cached_property
    def reviewed(self) -> frozenset[RunKey]:
        """The runs that are reviewed."""
        return frozenset(filter(self.book.is_reviewed, self.runs))

    @cached_property
    def runs(self) -> frozenset[RunKey]:
        """All runs that are to be."""
        return frozenset(key for item in self.items for key in item.runs)

    def done(self, item: Item) -> str:
        """How much of an item is reviewed."""
        reviewed = sum(key in self.reviewed for key in item.runs)
        return LEFT if not reviewed else DONE if reviewed == len(item.runs) else PARTLY

    def is_scored(self, item: Item) -> bool:
        """Whether both sides of a pair are scored on some dimension."""
        return is_scored(item, self.book.said)

    @cached_property
    def pages(self) -> list[Page]:
        """Where the feedback on all this is kept."""
        places = {key[:3]: key for key in self.runs}
        return [self.book.pages.of(places[place]) for place in sorted(places, reverse=True)]

    @property
    def begun(self) -> list[Page]:
        """Those of them that say something."""
        return [page for page in self.pages if page.found]

    def progress(self) -> Progress:
        """How far it is."""
        pairs = [item for item in self.items if item.is_pair] if self.choice.hidden else []
        return Progress(
            reviewed=len(self.reviewed),
            runs=len(self.runs),
            scored=sum(map(self.is_scored, pairs)),
            pairs=len(pairs),
            complete=bool(self.begun) and all(one.now.status == COMPLETE for one in self.begun),
            can_end=bool(self.begun),
            files=tuple(page.name for page in self.pages if page.fault is None),
            faults=tuple(page.fault for page in self.pages if page.fault is not None),
            waiting=self.book.waiting(),
        )

    def keep(self, key: RunKey, token: str) -> str:
        """A name for the text on a run: no other run's and no other file's; it tells neither."""
        page = self.book.pages.of(key)
        file = os.path.realpath(page.files[0]) if page.files else self.ws.path
        return f"review {sha256(f'{file} {token}'.encode()).hexdigest()[:32]}"
