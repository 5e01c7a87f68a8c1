"""The most that a call can use, known before it is sent.

- Input: no more tokens than the request has bytes as JSON. A token of these models stands
  for at least one byte of UTF-8 (they are byte-level encodings), and a text's JSON is never
  shorter than its UTF-8. What the API adds of its own (instructions for tools and for
  structured output, 346 tokens for tools in its documentation of prices) is bounded by
  `ADDED`, once for the request and once for each tool whose definition is the provider's.
- Images: `IMAGE` each, whatever their bytes (at most 4,784 by the documentation of vision:
  the longest edge is scaled to 2,576 pixels, and a token covers about 750 pixels).
- Documents that are no text (PDF, or by address): `CONTEXT` together, the most that any
  current model reads at once, since pages cannot be counted from outside.
- Output: `max_tokens`, thinking included.

Where the request marks a part of itself for the cache, all of its input is taken to be
written there, for an hour if any mark says so: the dearest that input can be. Extras that
no request of ours asks for (tools that run at the provider's, fast mode, a fixed region)
are not bounded here; the relay of the executor `claude-code` lets none of them pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .usage import Usage

ADDED = 1_024
"""Tokens that the API may add to a request: three times what its documentation states."""
IMAGE = 5_000
"""Tokens that an image is at most."""
CONTEXT = 1_000_000
"""Tokens that a model reads at most."""


def worst_case(
    request: Mapping[str, Any], *, size: int | None = None, worst_input: int | None = None
) -> Usage:
    """The most that one call with this body can use.

    >>> request = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}]}
    >>> worst_case(request, size=80)
    Usage(input_tokens=1104, output_tokens=100, cache_read_tokens=0, cache_write_tokens=0,
          calls=1, cache_write_1h_tokens=0)

    Args:
        request: the body of a call to `/v1/messages`.
        size: its bytes as JSON, where they are known already.
        worst_input: tokens that its input has at most, where the caller knows better.

    Raises:
        ValueError: where `max_tokens` is no whole number from 0 upwards.
    """
    output = request.get("max_tokens")
    if not isinstance(output, int) or isinstance(output, bool) or output < 0:
        raise ValueError(f"The request's `max_tokens` is no number of tokens: {output!r}.")
    found = _Found()
    for part in ("system", "messages", "tools", "cache_control"):
        found.look(request.get(part), part)
    if worst_input is None:
        if size is None:
            from .wire import encoded

            size = len(encoded(request))
        plain = size - found.bytes + ADDED * (1 + found.tools) + IMAGE * found.images
        worst_input = plain + (CONTEXT if found.documents else 0)
    if not found.marks:
        return Usage(input_tokens=worst_input, output_tokens=output, calls=1)
    return Usage(
        output_tokens=output,
        cache_write_tokens=worst_input,
        calls=1,
        cache_write_1h_tokens=worst_input if found.hour else 0,
    )


class _Found:
    """What a request holds that is not priced by its bytes."""

    def __init__(self) -> None:
        self.bytes = 0
        self.images = 0
        self.documents = 0
        self.tools = 0
        self.marks = 0
        self.hour = False

    def look(self, value: Any, name: str) -> None:
        """Look through a part of the request, down to its leaves."""
        if isinstance(value, list):
            for item in value:
                self.look(item, name)
        elif isinstance(value, dict):
            self._look_at(value, name)

    def _look_at(self, block: dict[str, Any], name: str) -> None:
        if name == "cache_control":
            self.marks += 1
            self.hour = self.hour or block.get("ttl") == "1h"
            return
        kind, source = block.get("type"), block.get("source")
        if name == "tools" and kind not in (None, "custom"):
            self.tools += 1
        form = source.get("type") if isinstance(source, dict) else None
        if kind == "image" and form is not None:
            self.images += 1
        elif kind == "document" and form not in ("text", "content", None):
            self.documents += 1
        if form == "base64" and kind in ("image", "document") and isinstance(source, dict):
            data = source.get("data")
            # Its letters are ASCII, so that they are as many bytes in the request.
            self.bytes += len(data) if isinstance(data, str) and data.isascii() else 0
            self.look(block.get("cache_control"), "cache_control")
            return
        for key, value in block.items():
            # A tool's input and its schema are data, in which names mean nothing.
            if key not in ("input", "input_schema"):
                self.look(value, key)
