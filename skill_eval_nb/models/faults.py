"""Why no answer came."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "key", "refused", "overloaded", "timeout", "connection", "errored", "expired", "canceled"
]


class ModelFault(Exception):
    """A call that brought no answer, or a request of a batch that brought none.

    `kind` is one of

    - `key`: no API key was found; nothing was sent.
    - `refused`: the API will not take this request, and would not if it came again.
    - `overloaded`: it was busy, or failed within, as long as the deadline allowed to ask.
    - `timeout`: it did not answer in time.
    - `connection`: it could not be reached, or what came was no whole answer.
    - `errored`, `expired`, `canceled`: what became of a request of a batch.

    The message says what was found last, after how many attempts, and what to do where
    something can be done. The words of the API stand in it as they came. `sent` is False
    where the server surely did nothing about the last attempt.
    """

    def __init__(self, kind: Kind, message: str, sent: bool = False) -> None:  # noqa: FBT002
        super().__init__(kind, message, sent)  # all of them, so that it can be pickled
        self.kind: Kind = kind
        self.message = message
        self.sent = sent

    def __str__(self) -> str:
        return self.message
