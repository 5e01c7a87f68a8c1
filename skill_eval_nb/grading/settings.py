"""What judge, comparator and analyst have in common: the limits of their settings."""

from __future__ import annotations

from typing import Any

EFFORTS = ("low", "medium", "high", "xhigh", "max")


def look_at(settings: Any, who: str, **least: int) -> None:
    """Look at the figures of settings before money is spent on them.

    Args:
        settings: has `model`, `max_tokens`, `deadline`, `effort`, and the names of `least`.
        who: what the model is called, with its article.
        least: the smallest value of further whole numbers.

    Raises:
        ValueError: a figure that makes no sense.
    """
    if not settings.model:
        raise ValueError(f"{who} needs the name of a model")
    for name, lowest in {**least, "max_tokens": 256}.items():
        value = getattr(settings, name)
        if value < lowest:
            raise ValueError(f"{name} is {value}: it must be {lowest} at least")
    if not settings.deadline > 0:
        raise ValueError(f"deadline is {settings.deadline}: it must be some seconds")
    if settings.effort is not None and settings.effort not in EFFORTS:
        raise ValueError(f"effort is {settings.effort!r}: it is one of {', '.join(EFFORTS)}")
