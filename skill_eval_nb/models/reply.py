"""An answer of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .usage import Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer, as the API gave it.

    Attributes:
        content: the blocks, plain JSON.
        stop_reason: why the model stopped, in the API's words, whatever they are: look at it
            before reading the content, which may be empty (`refusal`) or cut (`max_tokens`).
        usage: what the answer used.
        model: the model that answered, by its full name.
        id: the API's name for the answer.
    """

    content: list[dict[str, Any]]
    stop_reason: str
    usage: Usage
    model: str
    id: str

    @classmethod
    def of(cls, message: object) -> Reply:
        """The answer that a message object of the API is.

        Raises:
            ValueError: where it is none: what is missing is said.
        """
        if not isinstance(message, Mapping) or message.get("type") != "message":
            raise ValueError("it is no message object")
        wrong = [
            f"its `{name}` is no {kind}"
            for name, (kind, form) in _PARTS.items()
            if not isinstance(message.get(name), form)
        ]
        if wrong:
            raise ValueError(", ".join(wrong))
        content = message["content"]
        if not all(isinstance(block, dict) for block in content):
            raise ValueError("its `content` is no list of blocks")
        usage = Usage.of(message["usage"])
        return cls(content, message["stop_reason"], usage, message["model"], message["id"])

    @property
    def text(self) -> str:
        """The text of all text blocks, one after the other; "" where there is none.

        >>> Reply([{"type": "text", "text": "Yes."}], "end_turn", Usage(), "m", "msg_1").text
        'Yes.'
        """
        return "".join(
            str(block.get("text", "")) for block in self.content if block.get("type") == "text"
        )


_PARTS = {
    "content": ("list", list),
    "stop_reason": ("text", str),
    "usage": ("object", Mapping),
    "model": ("text", str),
    "id": ("text", str),
}
"""What an answer must have, and of which kind."""
