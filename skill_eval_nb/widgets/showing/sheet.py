"""What a file is drawn on, and what came of it: a tree, and the bytes that it asks for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from skill_eval_nb.widgets.panel import Child, offer
from skill_eval_nb.widgets.panel.blobs import Bytes

from .found import OutputFile

Get = Callable[[], Bytes]
"""Gives bytes and their media type, when a page asks for them."""

PER_ELEMENT = 30
"""Characters that an element weighs beside its text, on its way to the page."""
KEPT = 4_000_000
"""Weight of all the trees that are kept."""


class NotDrawn(Exception):
    """A file is not what its name promises; the message says why."""


@dataclass
class Sheet:
    """A file on its way to be seen.

    Attributes:
        file: the file.
        pictures: the pictures among the run's outputs, by path.
        waits: seconds that may still be waited for what another process reads.
        blobs: what was offered, by name.
        loads: bytes that a page asks for by itself, as pictures.
        lasting: whether it will look the same the next time.
    """

    file: OutputFile
    pictures: dict[str, OutputFile] = field(default_factory=dict)
    waits: float = 1.0
    blobs: dict[str, Get] = field(default_factory=dict)
    loads: int = 0
    lasting: bool = True

    def offer(self, of: str, get: Get, *, loads: int = 0) -> str:
        """Let the page ask for bytes of this file; see `panel.offer`.

        Args:
            of: what of the file they are, as "cell 3".
            get: gives the bytes and their media type.
            loads: how many there are, where the page asks for them by itself.
        """
        self.loads += loads
        name = f"{self.file.blob} {of}"
        self.blobs[name] = get
        return name

    def show(self, file: OutputFile, media_type: str) -> str:
        """Let the page ask for all bytes of a file, to show them."""
        name = f"{file.blob} as {media_type}"
        self.blobs[name] = lambda: (file.read(), media_type)
        self.loads += file.size
        return name


@dataclass(frozen=True)
class Drawn:
    """What is to be seen of a file.

    Attributes:
        kind: what it is, in a word or two.
        view: the tree.
        weight: what the tree weighs, in characters.
        loads: bytes that a page asks for by itself.
        blobs: what it refers to; offered again each time that it is shown.
    """

    kind: str
    view: Child
    weight: int
    loads: int
    blobs: dict[str, Get]

    def offered(self) -> Child:
        """The tree, with its bytes to be had."""
        for name, get in self.blobs.items():
            offer(name, get)
        return self.view


def weight(node: Child) -> int:
    """What a tree weighs in characters; elements count, too."""
    if node is None:
        return 0
    if isinstance(node, str):
        return len(node)
    return PER_ELEMENT + sum(map(weight, node)) if isinstance(node, list | tuple) else 0


class Keep:
    """Trees by what they were made of; those not asked for the longest go first."""

    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._held = 0
        self._kept: OrderedDict[Hashable, tuple[Drawn, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Drawn | None:
        """The tree of that key, if it is still there."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Hashable, drawn: Drawn) -> None:
        """Keep a tree."""
        cost = drawn.weight + 1_000
        with self._lock:
            if key in self._kept:
                self._held -= self._kept.pop(key)[1]
            self._kept[key] = drawn, cost
            self._held += cost
            while self._held > self._most and len(self._kept) > 1:
                self._held -= self._kept.popitem(last=False)[1][1]
