"""From results to better evals and better skills, with a person in between.

    found = sen.improving.aggregate(ws)              # what the graders suggest, each thing once
    drafts = sen.improving.draft(ws, found)          # concrete changes to evals.json
    sen.improving.try_out(drafts[0], ws)             # on what is stored, before any is paid for
    change = sen.improving.preview(drafts, "evals/evals.json")
    change.write()                                   # the old file is kept
    sen.compare(ws, "with_skill", "without_skill")   # blind
    sen.improving.history(ws)                        # versions: won, lost or tie

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .aggregation import Aggregate, aggregate
    from .analysis import Analysed, analyse
    from .change import Change, apply, preview
    from .comparison import Compared, compare
    from .drafting import draft
    from .lineage import Lineage, by_version, history
    from .tried import Tried
    from .trying import try_out
    from .values import Draft, RunRef, Source, Suggestion, read_drafts, write_drafts

_HOMES = {
    **dict.fromkeys(("Aggregate", "aggregate"), ".aggregation"),
    **dict.fromkeys(("Analysed", "analyse"), ".analysis"),
    **dict.fromkeys(("Change", "apply", "preview"), ".change"),
    **dict.fromkeys(("Compared", "compare"), ".comparison"),
    "draft": ".drafting",
    **dict.fromkeys(("Lineage", "by_version", "history"), ".lineage"),
    "Tried": ".tried",
    "try_out": ".trying",
    **dict.fromkeys(
        ("Draft", "RunRef", "Source", "Suggestion", "read_drafts", "write_drafts"), ".values"
    ),
}
"""Where each name of the face lives; looked up when it is asked for."""

__all__ = [
    "Aggregate",
    "Analysed",
    "Change",
    "Compared",
    "Draft",
    "Lineage",
    "RunRef",
    "Source",
    "Suggestion",
    "Tried",
    "aggregate",
    "analyse",
    "apply",
    "by_version",
    "compare",
    "draft",
    "history",
    "preview",
    "read_drafts",
    "try_out",
    "write_drafts",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
