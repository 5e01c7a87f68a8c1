"""Bytes that a page may ask for by name: pictures, documents, downloads."""

from __future__ import annotations

from collections.abc import Callable

from .recent import Recent

Bytes = tuple[bytes, str]
"""The bytes, and their media type."""

MOST = 5_000
"""Names that are remembered; those not offered for the longest time go first."""

_OFFERED: Recent[Callable[[], Bytes]] = Recent(MOST)


def offer(name: str, get: Callable[[], Bytes]) -> str:
    """Let pages ask for bytes by this name; they are read when one does.

    Args:
        name: another one for other bytes: a page that has those of a name keeps them.
        get: gives the bytes and their media type.

    Returns:
        the name, for the attribute `blob` of an element.

    >>> read(offer("greeting", lambda: (b"hello", "text/plain")))
    (b'hello', 'text/plain')
    """
    _OFFERED.put(name, get)
    return name


def read(name: str) -> Bytes:
    """The bytes of that name, and their media type.

    Raises:
        LookupError: where nothing of that name is offered.
        OSError: where they cannot be read.
    """
    get = _OFFERED.get(name)
    if get is None:
        raise LookupError("it is no longer shown; draw it again")
    return get()
