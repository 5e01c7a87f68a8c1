"""From results to better evals and better skills, with a person in between.

    drafts = sen.draft_evals("my-skill")            # for a skill that has no evals yet
    found = sen.improving.aggregate(ws)              # what the graders suggest, each thing once
    drafts = sen.improving.draft(ws, found)          # concrete changes to evals.json
    sen.improving.try_out(drafts[0], ws)             # on what is stored, before any is paid for
    change = sen.improving.preview(drafts, "evals/evals.json")
    change.write()                                   # the old file is kept
    sen.compare(ws, "with_skill", "without_skill")   # blind
    sen.improving.history(ws)                        # versions: won, lost or tie

Heavy modules are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.faces import load_lazily

if TYPE_CHECKING:
    from .aggregation import Aggregate, aggregate
    from .analysis import Analysed, analyse
    from .change import Change, apply, preview
    from .comparison import Compared, compare
    from .drafting import draft
    from .first_evals import draft_evals
    from .tried import Tried
    from .trying import try_out
    from .values import Draft, RunRef, Source, Suggestion, read_drafts, write_drafts
    from .versions import Lineage, history


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
    "compare",
    "draft",
    "draft_evals",
    "history",
    "preview",
    "read_drafts",
    "try_out",
    "write_drafts",
]


__getattr__, __dir__ = load_lazily(
    __name__,
    {
        ".aggregation": "Aggregate aggregate",
        ".analysis": "Analysed analyse",
        ".change": "Change apply preview",
        ".comparison": "Compared compare",
        ".drafting": "draft",
        ".first_evals": "draft_evals",
        ".tried": "Tried",
        ".trying": "try_out",
        ".values": "Draft RunRef Source Suggestion read_drafts write_drafts",
        ".versions": "Lineage history",
    },
)
