"""The eval, the configuration and the number that the id of a run names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_USUAL = re.compile(r"(.+?)[-/]((?:with|without|old|new|no)[-_]skill|baseline)")


def side_of(run_id: str, known: Iterable[str]) -> tuple[str, str | None]:
    """The eval and the configuration that a run id names; `known` are those of the runs.

    >>> side_of("eval-0-with_skill", []), side_of("api-v2", ["v2"]), side_of("api", [])
    (('eval-0', 'with_skill'), ('api', 'v2'), ('api', None))
    """
    for side in sorted(known, key=len, reverse=True):
        if re.search(rf"[-_/]{re.escape(side)}$", run_id):
            return run_id[: -len(side) - 1], side
    found = _USUAL.fullmatch(run_id)
    return (found[1], found[2]) if found else (run_id, None)


class Named(NamedTuple):
    """What a run id names; `number` is None where it leaves it open."""

    eval: str
    configuration: str | None
    number: int | None


def named_by(run_id: str, known: Iterable[str]) -> Named:
    """What a run id of feedback names; `known` are the configurations of the runs.

    >>> tuple(named_by("eval-0-with_skill", [])), tuple(named_by("eval-0-v2-run-3", ["v2"]))
    (('eval-0', 'with_skill', None), ('eval-0', 'v2', 3))
    """
    found = re.fullmatch(r"(.+)[-_/]run[-_]?(\d{1,9})", run_id)
    return Named(*side_of(found[1] if found else run_id, known), int(found[2]) if found else None)
