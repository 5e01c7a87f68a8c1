"""The stand-in as merger: suggestions that share most of their longer words are the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from . import reading
from .stand_in import StandIn

FENCE = re.compile(
    r'<suggestions nonce="(?P<nonce>[^"]+)">\n(?P<lines>.*?)\n</suggestions nonce="(?P=nonce)">',
    re.DOTALL,
)
WORD = re.compile(r"\w{5,}")
SHARED = 0.5
"""The share of the longer words, of the text that has fewer, that two have in common."""


def answer(stand_in: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 -- as all answerers
    """Lists of the numbers of suggestions about the same that share `SHARED` of their words."""
    fence = FENCE.search(reading.last_user_text(request))
    lines = fence["lines"].splitlines() if fence else []
    shown = [one for one in map(json.loads, lines) if isinstance(one, dict)]
    lists: list[list[Mapping[str, Any]]] = []
    for one in shown:
        near = next((many for many in lists if _same(many[0], one)), None)
        if near is None:
            lists.append([one])
        else:
            near.append(one)
    return {"same": [[one["number"] for one in many] for many in lists if len(many) > 1]}


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if one["expectation"] != other["expectation"]:
        return False
    both = [set(WORD.findall(str(each["reason"]).casefold())) for each in (one, other)]
    fewest = min(map(len, both))
    return fewest > 0 and len(both[0] & both[1]) >= SHARED * fewest
