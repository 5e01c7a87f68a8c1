"""Everything that is wrong with what somebody asked for, told at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Refused(ValueError):
    """Something cannot be done as it was asked for; `faults` has every reason.

    >>> print(Refused(["runs is 0; it is at least 1", "there is no eval `x`"]))
    2 things stand in the way:
      - runs is 0; it is at least 1
      - there is no eval `x`
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return self.faults[0]
        lines = "".join(f"\n  - {fault}" for fault in self.faults)
        return f"{len(self.faults)} things stand in the way:{lines}"


def refuse(fault: str) -> Refused:
    """What to raise where there is one reason.

    >>> raise refuse("again is 0; it is at least 1")
    Traceback (most recent call last):
    skill_eval_nb.running.refused.Refused: again is 0; it is at least 1
    """
    return Refused([fault])


@contextmanager
def gathered(faults: list[str]) -> Iterator[None]:
    """Note what is refused inside, so that what comes afterwards is looked at as well."""
    try:
        yield
    except Refused as error:
        faults.extend(error.faults)


def no_such(kind: str, name: str, known: Iterable[str]) -> str:
    """What to say of a name that is not there: the nearest one, and all that are.

    >>> no_such("eval", "mixd", ["mixed", "long"])
    'there is no eval `mixd`; did you mean `mixed`? There are mixed, long'
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean `{near[0]}`? There are" if near else "; there are"
    return f"there is no {kind} `{name}`{hint} {', '.join(names) or 'none'}"
