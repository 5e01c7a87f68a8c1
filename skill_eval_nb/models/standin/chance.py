"""Draws that depend on a seed and on names, never on the order of calls.

A draw is a hash of its names, so the same run draws the same in any process, on any thread
and after any restart.
"""

from __future__ import annotations

import hashlib
import json


def uniform(*names: object) -> float:
    """A number above 0 and below 1, the same for the same names.

    >>> uniform(0, "eval", "a") == uniform(0, "eval", "a") != uniform(1, "eval", "a")
    True
    """
    text = json.dumps(names, ensure_ascii=True, default=str)
    drawn = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    return ((drawn >> 12) + 0.5) / 2**52


def normal(*names: object) -> float:
    """A standard normal number, the same for the same names."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(uniform(*names))


def digest(*names: object, length: int = 24) -> str:
    """A short opaque text, the same for the same names: for ids.

    >>> len(digest("a")), digest("a") == digest("b")
    (24, False)
    """
    text = json.dumps(names, ensure_ascii=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()[:length]
