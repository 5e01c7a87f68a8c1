"""Tables of expectations made by hand or by hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
from hypothesis import settings
from hypothesis import strategies as st

from skill_eval_nb.tables import Workspace
from tests.stats.made import KEYS, SIDES, Row, runs_table, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

few = settings(max_examples=8, deadline=None)
"""For tests of whole statistics over expectations, which take some hundredths of a second."""


def verdicts_table(rows: Iterable[Row]) -> pl.DataFrame:
    """The table `expectations`; keys that a row lacks are filled in."""
    full = [{**KEYS, "layer": "judged", "text": "is right", "run_number": 1, **row} for row in rows]
    full = [{"eval_name": row["eval_id"], **row} for row in full]
    return table_of("expectations", full)


def graded(runs: Iterable[Row], verdicts: Iterable[Row], backend: Any = "polars") -> Workspace:
    """A workspace of runs and verdicts."""
    tables = {"runs": runs_table(runs), "expectations": verdicts_table(verdicts)}
    return Workspace.from_tables(tables, backend=backend)


def sides(passes: Iterable[bool | None], others: Iterable[bool | None], **more: Any) -> list[Row]:
    """Verdicts on an expectation of an eval: a run each with the skill, then without."""
    both = zip(SIDES, (list(passes), list(others)), strict=True)
    return [
        {"configuration": name, "run_number": number, "passed": verdict, **more}
        for name, own in both
        for number, verdict in enumerate(own, 1)
    ]


def plain(frame: Any) -> list[Row]:
    """The rows of a frame of either kind."""
    return nw.from_native(frame, eager_only=True).to_polars().to_dicts()


@st.composite
def verdict_rows(draw: st.DrawFn) -> list[Row]:
    """Verdicts of a few iterations, evals, expectations and configurations, with gaps."""
    keys = {
        "iteration": st.sampled_from(["iteration-9", "iteration-10"]),
        "eval_id": st.sampled_from(["1", "2", "10"]),
        "configuration": st.sampled_from([*SIDES, "old_skill", "ß\n"]),
        "run_number": st.integers(1, 4),
        "layer": st.sampled_from(["judged", "structural"]),
        "text": st.sampled_from(["is right", "</script>", "a b"]),
    }
    return draw(
        st.lists(
            st.fixed_dictionaries({**keys, "passed": st.sampled_from([True, False, None])}),
            max_size=60,
            unique_by=lambda row: tuple(row[name] for name in keys),
        )
    )
