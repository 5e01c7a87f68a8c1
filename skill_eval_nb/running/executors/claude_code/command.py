"""How the harness is started: its arguments and its environment, the same on both sides."""

from __future__ import annotations

import json
import uuid
from typing import Any

from skill_eval_nb.models import load_prices
from skill_eval_nb.models.usage import Usage
from skill_eval_nb.running.executors.protocol import Task

TOOLS = ("Skill", "Bash", "Read", "Write", "Edit", "Glob", "Grep")
"""What the agent may use, with the skill and without."""

_BUILT_IN = ("cc-plugin-agents-md", "cc-plugin-privacy", "cc-plugin-plugin-authoring")
"""Plugins that come with the harness and would stand beside the skill, or in its place."""

_SWITCHES = (
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    # Nothing of one run is to reach another, nor the model be told to write elsewhere.
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    # The model of this run and no other, whatever becomes of its answers.
    "CLAUDE_CODE_DISABLE_LEGACY_MODEL_REMAP",
    "CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "IS_SANDBOX",  # without it, root may not do without questions
)


def session_id(key: str) -> str:
    """The harness's id of the session: derived from the run's key, so that it can be repeated.

    >>> session_id("a") == session_id("a") != session_id("b")
    True
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"skill-eval-nb:run:{key}"))


def arguments(task: Task) -> list[str]:
    """The harness's arguments; what it is to do comes through its standard input."""
    settings: dict[str, Any] = {
        # A program that says it, so that no key stands in the environment.
        "apiKeyHelper": "echo none",
        "enabledPlugins": {f"{name}@builtin": False for name in _BUILT_IN},
        # As it must be in a transcript that is to be compared.
        "includeCoAuthoredBy": False,
    }
    options = {
        "--input-format": "stream-json",
        "--output-format": "stream-json",
        # The home of this run only: what lies in or above the working folder, such as a
        # CLAUDE.md or skills of a project of the user's, is not looked for.
        "--setting-sources": "user",
        "--settings": json.dumps(settings),
        "--model": task.model,
        "--tools": ",".join(TOOLS),
        "--max-turns": str(task.limits.turns),
        "--session-id": session_id(task.key),
    }
    if task.limits.usd is not None and _costs(task.model):
        options["--max-budget-usd"] = str(task.limits.usd)
    flags = ["--print", "--verbose", "--dangerously-skip-permissions", "--strict-mcp-config"]
    return [*flags, "--no-session-persistence", *(x for pair in options.items() for x in pair)]


def environment(task: Task, base_url: str) -> tuple[tuple[str, str], ...]:
    """The variables that the harness finds, besides PATH, HOME, LANG and TMPDIR."""
    return (
        ("ANTHROPIC_BASE_URL", base_url),
        # What it asks beside the work, it asks the same model.
        ("ANTHROPIC_SMALL_FAST_MODEL", task.model),
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", task.model),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", str(task.limits.output_tokens)),
        *((name, "1") for name in _SWITCHES),
    )


def _costs(model: str) -> bool:
    """Whether the model costs anything: the harness has a price of its own for any name."""
    return load_prices().cost(Usage(input_tokens=1_000_000, output_tokens=1_000_000), model) != 0
