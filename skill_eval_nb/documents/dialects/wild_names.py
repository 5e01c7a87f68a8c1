"""Configurations and metrics in the names of keys, like `with_skill_pass_rate`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONFIGURATION = re.compile(
    r"(?:^|_)((?:with|without|old|new|no)_skill|baseline|delta)(?=_|$)", re.IGNORECASE
)
MODEL = (
    r"(?:claude|gpt|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|kimi|glm|codex|opus|sonnet"
    r"|haiku|o[134])"
    r"(?:[-_. ]?(?:v?\d[\d._-]*[a-z]?|opus|sonnet|haiku|mini|nano|turbo|pro|flash|lite"
    r"|ultra|max|plus|large|medium|small|instruct|preview|latest|thinking|codex|coder|code|cli))*"
)
"""A regular expression for the names of models that people give to folders and keys."""

_MODEL_ALONE = re.compile(MODEL, re.IGNORECASE)
_STATISTICS = {
    "mean": "mean",
    "avg": "mean",
    "average": "mean",
    "overall": "mean",
    "stddev": "stddev",
    "std": "stddev",
    "min": "min",
    "max": "max",
    "total": "total",
    "median": "median",
}
_METRICS = {
    "passrate": ("pass_rate", 1.0),
    "time": ("time_seconds", 1.0),
    "timeseconds": ("time_seconds", 1.0),
    "duration": ("time_seconds", 1.0),
    "durationseconds": ("time_seconds", 1.0),
    "durationms": ("time_seconds", 0.001),
    "ms": ("time_seconds", 0.001),
    "tokens": ("tokens", 1.0),
    "totaltokens": ("tokens", 1.0),
    "toolcalls": ("tool_calls", 1.0),
    "costusd": ("cost_usd", 1.0),
}
"""What is measured, by the words that are left of a key, and its factor to the shared unit."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a key names: whose figure, of what, which statistic, and the factor to our unit."""

    configuration: str | None
    metric: str | None
    statistic: str
    factor: float
    rest: str


def configuration_in(key: str) -> str | None:
    """The configuration that a key names, in lower case.

    >>> configuration_in("eval-0-with_skill"), configuration_in("cost_efficiency")
    ('with_skill', None)
    """
    found = _CONFIGURATION.search(key.replace("-", "_"))
    return found[1].lower() if found else None


def is_model(name: str) -> bool:
    """Whether a key or a folder is called after a model, with more than its family's name.

    >>> [is_model(name) for name in ("claude-haiku", "gpt-52", "o3-mini", "claude", "codex-review")]
    [True, True, True, False, False]
    """
    return _MODEL_ALONE.fullmatch(name) is not None and bool(re.search(r"[-_. \d]", name))


def is_configuration(key: str) -> bool:
    """Whether a key is nothing but the name of a configuration.

    >>> is_configuration("old_skill"), is_configuration("with_skill_prompt")
    (True, False)
    """
    return configuration_in(key) is not None and configuration_in(key) == key.lower()


def figure_of(key: str) -> Figure:
    """What a key like `avg_duration_ms` or `tokens_with_skill_mean` names.

    >>> figure_of("time_without_skill_mean")
    Figure(configuration='without_skill', metric='time_seconds', statistic='mean', factor=1.0,
           rest='time')
    >>> figure_of("avg_humor").metric is None, figure_of("avg_humor").rest
    (True, 'humor')
    """
    configuration = configuration_in(key)
    rest = key.lower()
    if configuration:
        rest = rest.replace(configuration, "", 1)
    words = [word for word in re.split(r"[_\s-]+", rest) if word]
    statistic = "mean"
    if len(words) > 1:
        for place in (0, -1):
            if words[place] in _STATISTICS and not (
                words[place] == "total" and words[1:] == ["tokens"]
            ):
                statistic = _STATISTICS[words.pop(place)]
                break
    left = "".join(words)
    metric, factor = _METRICS.get(left, (None, 1.0))
    return Figure(configuration, metric, statistic, factor, "_".join(words))
