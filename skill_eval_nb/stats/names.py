"""Names: their natural order, and what a wrong one may have meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

Key = tuple[Any, ...]
"""What names are sorted by."""


def natural(name: str) -> Key:
    """A sorting key that reads digits as numbers.

    >>> sorted(["iteration-10", "iteration-9", "iteration-9b"], key=natural)
    ['iteration-9', 'iteration-9b', 'iteration-10']
    """
    pieces = re.split(r"([0-9]+)", name)
    pieces[1::2] = [digits.lstrip("0") for digits in pieces[1::2]]
    return tuple((len(piece), piece) if at % 2 else piece for at, piece in enumerate(pieces)), name


def in_order(frame: pl.DataFrame, **keys: Callable[[str], Key]) -> pl.DataFrame:
    """`frame` sorted by the named text columns, each by its own key, nulls last."""
    import polars as pl

    places: list[pl.Expr] = []
    for column, key in keys.items():
        names = frame[column].unique()
        if len(names) > 1:  # where all are the same there is nothing to sort by
            order = pl.Enum(sorted(names.drop_nulls(), key=key))
            places.append(pl.col(column).cast(order))
    return frame.sort(places, nulls_last=True, maintain_order=True) if places else frame


def no_such(kind: str, name: str, known: Iterable[str]) -> ValueError:
    """The error for a name that is not there: the nearest one, and all that are.

    >>> print(no_such("metric", "pas_rate", ["pass_rate", "tokens"]))
    There is no metric `pas_rate`. Did you mean `pass_rate`? There are: pass_rate, tokens.
    """
    names = sorted(known, key=natural)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean `{near[0]}`?" if near else ""
    there = f"There are: {', '.join(names)}." if names else "There are none."
    return ValueError(f"There is no {kind} `{name}`.{hint} {there}")
