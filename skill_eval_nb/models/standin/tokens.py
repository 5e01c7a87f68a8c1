"""How the stand-in counts tokens, and which of them it finds in its cache.

A token is four bytes of the compact JSON of what is counted, rounded up: always less than
the bytes of the request. An image or document in base64 counts as 1,600 tokens, whatever
its size.

A prefix (tools, then system, then messages) up to a block with a `cache_control` mark is
remembered once it has `cache_minimum` tokens. The longest remembered prefix of a later
request is read from the cache, what comes up to its last mark beyond that is written to it.
Nothing expires.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

BYTES_A_TOKEN = 4
MEDIA_TOKENS = 1_600


def count(value: Any) -> int:
    """The tokens of a JSON value.

    >>> count("four"), count({"type": "image", "source": {"data": "A" * 10_000}}) < 1_700
    (2, True)
    """
    media = 0

    def plain(value: Any) -> Any:
        nonlocal media
        if isinstance(value, list):
            return [plain(item) for item in value]
        if not isinstance(value, dict):
            return value
        if value.get("type") in ("image", "document") and isinstance(value.get("source"), dict):
            held = value["source"].get("data")
            if isinstance(held, str) and value["source"].get("type") != "text":
                media += MEDIA_TOKENS
                return {**value, "source": {}}
        return {key: plain(item) for key, item in value.items() if key != "cache_control"}

    return -(-len(_compact(plain(value))) // BYTES_A_TOKEN) + media


def count_request(request: Mapping[str, Any]) -> int:
    """The input tokens of a request to `/v1/messages`."""
    return sum(count(block) for block, _ in _blocks(request))


class PrefixCache:
    """The prefixes that were marked before. Safe among threads."""

    def __init__(self, minimum: int) -> None:
        self._minimum = minimum
        self._known: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def usage(self, request: Mapping[str, Any]) -> dict[str, int]:
        """The input side of the API's `usage`; remembers what the request marks."""
        digest = hashlib.blake2b()
        model = str(request.get("model"))
        total = read = marked = 0
        with self._lock:
            new: list[tuple[str, str]] = []
            for block, mark in _blocks(request):
                digest.update(_compact(unmarked(block)) + b"\n")
                total += count(block)
                here = (model, digest.hexdigest())
                if here in self._known:
                    read = total
                if mark and total >= self._minimum:
                    marked = total
                    new.append(here)
            self._known.update(new)
        read = read if marked else 0
        written = max(0, marked - read)
        return {
            "input_tokens": total - read - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
        }


def _blocks(request: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
    """Everything that is counted, in the order of the cache, and whether it is marked."""
    parts = [*_listed(request.get("tools")), *_listed(request.get("system"))]
    for message in request.get("messages") or []:
        parts += [{"role": message["role"], **part} for part in _listed(message["content"])]
    for number, part in enumerate(parts, start=1):
        last = number == len(parts) and bool(request.get("cache_control"))
        yield part, last or bool(isinstance(part, dict) and part.get("cache_control"))
    for extra in ("tool_choice", "output_config"):
        if request.get(extra):
            yield request[extra], False


def _listed(content: Any) -> list[Any]:
    """Blocks of a content that may be a plain text, which is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def unmarked(value: Any) -> Any:
    """A JSON value without its `cache_control` marks."""
    if isinstance(value, list):
        return [unmarked(item) for item in value]
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return value


def _compact(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")
