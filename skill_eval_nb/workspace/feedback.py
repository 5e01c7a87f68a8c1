"""Reviews in feedback.json: what the file says now, and one review of it changed.

Everything else in the file stays: others' reviews, fields that nobody knows, how it is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from skill_eval_nb.disk import read_bytes, write_atomic
from skill_eval_nb.documents import Faults, NotJSON, Review, dump, mend, parse
from skill_eval_nb.documents.base import origin_of

from .json_text import written_like
from .writing import alone

COMPLETE, IN_PROGRESS = "complete", "in_progress"
"""What the status of feedback may be."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a human says of a run: a text, and scores by dimension; nothing of either is fine."""

    text: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.text.strip() or self.scores)


class Entry(NamedTuple):
    """A review as the file has it; `raw` is what stands there."""

    run_id: str
    said: Said
    timestamp: str | None
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reviews:
    """What a feedback.json says.

    Attributes:
        entries: the reviews, in their order.
        status: `in_progress`, `complete`, or whatever stands there.
        fault: why nothing may be written to the file; None where it may.
    """

    entries: tuple[Entry, ...] = ()
    status: str | None = None
    fault: str | None = None


class NotKept(OSError):
    """The file was left as it is; the message says why."""


def read_reviews(path: str | os.PathLike[str]) -> Reviews:
    """What a file says now; nothing where there is none."""
    return _read(path)[2]


def keep_review(
    path: str | os.PathLike[str],
    run_id: str,
    remarks: Said | None,
    was: Entry | None,
    status: Callable[[Reviews], str | None] = lambda now: now.status or IN_PROGRESS,
) -> Entry | None:
    """Write one review, in one step, into the file as it is by now.

    A review that is no longer as it `was` has been changed by somebody else: theirs stays, and
    this one is put beside it.

    Args:
        path: the file; it is made where there is none.
        run_id: the run.
        remarks: what is said of it; None takes the review away.
        was: the review as the file had it; None for a new one.
        status: gives the file's status, from what it says with this review.

    Returns:
        the review as the file now has it; None where it has none.

    Raises:
        NotKept: the file is no feedback, or cannot be read as it is.
        OSError: it cannot be written.
    """
    with alone(path):
        data, raw, now = _read(path)
        if now.fault is not None:
            raise NotKept(now.fault)
        before = deepcopy(raw)
        items: list[Any] = raw.setdefault("reviews", [])
        found = (at for at, item in enumerate(items) if was is not None and item == was.raw)
        place = next(found, None)
        if remarks is None:
            if place is not None:
                del items[place]
        elif place is not None and _entry(items[place]).said != remarks:
            items[place] = _changed(items[place], remarks)
        elif place is None:
            place = len(items)
            items.append(_changed({"run_id": run_id, "feedback": ""}, remarks))
        kept = None if remarks is None or place is None else _entry(items[place])
        _put_status(raw, status(_reviews(raw)))
        if data is None or raw != before:
            write_atomic(path, written_like(raw, data))
        return kept


def keep_status(path: str | os.PathLike[str], status: str) -> None:
    """Write the status alone.

    Raises:
        NotKept: the file is no feedback, or cannot be read as it is.
        OSError: it cannot be written.
    """
    with alone(path):
        data, raw, now = _read(path)
        if now.fault is not None:
            raise NotKept(now.fault)
        raw.setdefault("reviews", [])
        if now.status != status or data is None:
            _put_status(raw, status)
            write_atomic(path, written_like(raw, data))


def _put_status(raw: dict[str, Any], status: str | None) -> None:
    if status is not None:
        raw["status"] = status


def _read(path: str | os.PathLike[str]) -> tuple[bytes | None, dict[str, Any], Reviews]:
    """The bytes of a file, its plain value, and what it says."""
    try:
        data = read_bytes(os.fspath(path))
    except FileNotFoundError:
        return None, {}, Reviews()
    except OSError as error:
        return b"", {}, Reviews(fault=f"{path} cannot be read: {error.strerror}")
    faults = Faults()
    try:
        raw = parse(data, faults)
    except NotJSON as error:
        return data, {}, Reviews(fault=f"{path} cannot be read: {error}")
    if not isinstance(raw, dict) or not isinstance(raw.get("reviews", []), list):
        return data, {}, Reviews(fault=f"{path} is no feedback: it has no list of `reviews`")
    texts = [fault.message for fault in faults if not fault.message.startswith("the file is UTF-8")]
    fault = f"{path} is {'; '.join(texts)}" if texts else None
    return data, raw, replace(_reviews(raw), fault=fault)


def _reviews(raw: dict[str, Any]) -> Reviews:
    items = [item for item in raw.get("reviews", []) if isinstance(item, dict)]
    status = raw.get("status")
    return Reviews(tuple(map(_entry, items)), status if isinstance(status, str) else None)


def _entry(raw: Mapping[str, Any]) -> Entry:
    review, _ = mend(raw, Review)
    remarks = Said(review.feedback, review.scores)
    return Entry(review.run_id, remarks, review.timestamp, raw)


def _changed(raw: Mapping[str, Any], remarks: Said) -> dict[str, Any]:
    """A review with other words or scores, under the names that its fields have there."""
    review, _ = mend(raw, Review)
    origin = origin_of(review)
    if origin is not None and "feedback" not in origin.keys.values():
        review, _ = mend({**raw, "feedback": ""}, Review)
    review.feedback, review.timestamp = remarks.text, _now()
    review.scores = {name: _whole(score) for name, score in remarks.scores.items()}
    return {name: value for name, value in dump(review).items() if name != "scores" or value}


def _whole(score: float) -> float:
    return int(score) if score == int(score) else score


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
