"""metrics.json: what the executor used and made."""

from __future__ import annotations

from typing import Annotated

from .document import Amount, Count, Document, says


class Metrics(Document):
    """Tool calls, steps, errors and output sizes of one run.

    `output_chars` and `transcript_chars` are characters, never tokens.
    """

    tool_calls: Annotated[
        dict[str, Count | None] | Count | None,
        says("calls by tool, or their sum", also=("tool_uses",)),
    ] = None
    total_tool_calls: Annotated[Count | None, says("calls in all", also=("tool_use_count",))] = None
    total_steps: Annotated[
        Count | None, says("major steps", also=("steps", "num_turns", "turns"))
    ] = None
    files_created: Annotated[list[str], says("output files")] = []
    errors_encountered: Annotated[Count | None, says("errors on the way", also=("errors",))] = None
    output_chars: Annotated[Count | None, says("characters of the output files")] = None
    transcript_chars: Annotated[Count | None, says("characters of the transcript")] = None
    cost_usd: Annotated[
        Amount | None, says("what it cost", unit="usd", also=("total_cost_usd",))
    ] = None
    skill_used: Annotated[
        bool | None, says("whether the skill was opened", also=("skill_loaded",))
    ] = None
    left_out: Annotated[
        list[str], says("what lay among the outputs and was not kept, with the reason")
    ] = []
