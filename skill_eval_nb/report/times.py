"""Points in time as files state them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime


def newest(stamps: Iterable[str | None]) -> str | None:
    """The latest of some ISO 8601 times, as it was written; what is none is passed over.

    A time without a zone counts as UTC.

    >>> newest(["2026-01-15T10:30:00Z", "2026-01-15T11:00:00+02:00", None, "soon"])
    '2026-01-15T10:30:00Z'
    """
    times = {stamp: time for stamp in stamps if stamp and (time := _time(stamp))}
    return max(times, key=lambda stamp: (times[stamp], stamp), default=None)


def _time(stamp: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
