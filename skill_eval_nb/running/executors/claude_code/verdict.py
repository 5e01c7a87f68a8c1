"""Whether a run is done, and if not, why: in words for the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skill_eval_nb.running.executors.protocol import Limits, Skill

_LONGEST = 600


def reason_of(
    lines: Sequence[Mapping[str, Any]],
    limits: Limits,
    skills: Sequence[Skill],
    *,
    calls: int,
    exit_code: int | None,
    complaint: str,
) -> str | None:
    """Why a run whose harness has ended is not to be graded; None where it is.

    Args:
        lines: what the harness said.
        limits: what the run might use.
        skills: those on offer.
        calls: how many answers of the model came.
        exit_code: the harness's.
        complaint: the end of its standard error.
    """
    result = next((line for line in reversed(lines) if line.get("type") == "result"), None)
    if result is None:
        said = f" It said: {_short(complaint)}" if complaint else ""
        return f"The harness ended with code {exit_code} and without a result.{said}"
    kind = result.get("subtype")
    if kind == "error_max_turns":
        return f"The agent had not finished after {limits.turns} turns, its limit."
    if kind == "error_max_budget_usd":
        return f"The run had not finished when it had cost ${limits.usd}, its limit."
    if result.get("stop_reason") == "refusal":
        return f"The model refused. {_short(_said(result))}"
    if result.get("api_error") == "max_output_tokens":
        return f"An answer was longer than {limits.output_tokens} tokens, its limit (max_tokens)."
    # A request that the API refuses gives the subtype `success`.
    if result.get("is_error") or kind != "success":
        return f"The harness gave up: {_short(_said(result)) or kind}"
    if calls == 0:
        return f"The harness answered by itself and asked no model: {_short(_said(result))}"
    there = _offered(lines)
    missing = [f"`{one.name}`" for one in skills if one.name not in there]
    if missing:
        return f"The harness did not offer the skill {', '.join(missing)}; it could not read it."
    return None


def out_of_turns(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the harness ended because the limit of turns was reached."""
    return any(line.get("subtype") == "error_max_turns" for line in lines[-3:])


def final_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """What the agent said at last; empty where it said nothing."""
    for line in reversed(lines):
        if line.get("type") == "result" and isinstance(line.get("result"), str):
            return line["result"]
    return ""


def trouble(lines: Sequence[Mapping[str, Any]]) -> str:
    """What kept the harness waiting at last: faults of the API; empty where it was nothing.

    >>> trouble([{"subtype": "api_retry", "error_status": 529, "error": "overloaded"}])
    'The model could not be had: 529 overloaded.'
    """
    last = lines[-1] if lines else {}
    if last.get("subtype") != "api_retry":
        return ""
    told = " ".join(str(last[name]) for name in ("error_status", "error") if last.get(name))
    return f"The model could not be had: {told}."


def _said(result: Mapping[str, Any]) -> str:
    errors = result.get("errors")
    told = "; ".join(map(str, errors)) if isinstance(errors, list) else ""
    return str(result.get("result") or told)


def _offered(lines: Sequence[Mapping[str, Any]]) -> list[Any]:
    for line in lines:
        if line.get("subtype") == "init" and isinstance(line.get("skills"), list):
            return line["skills"]
    return []


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
