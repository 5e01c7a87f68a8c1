"""The names of sides, and of models beside them: their words, and how a name is known as one.

What has the word skill in it, and `baseline`, tells a side also inside of a longer name:
`eval-3-with_skill`, `haiku (no skills)`. Other words may mean anything there: `control`,
`plain`, `v2` tell one only as the whole name.
"""

from __future__ import annotations

import re
from functools import lru_cache

WITH, WITHOUT, UNSTATED = "with_skill", "without_skill", "unstated"
SIDES = (WITH, WITHOUT)
"""What a side is called where a tool has other words for it, and where nothing names one."""

_NO_SKILL = ("without", "no_skill", "non_skill", "baseline", "baselines", "base", "control")
_NO_SKILL += ("vanilla", "plain", "bare")
_EARLIER = ("old", "previous", "prev", "pre", "prior", "original", "before")
_OF_SKILL = rf"(?:without|with|non|no|new|current|candidate|after|{'|'.join(_EARLIER)})"
_TERM = rf"{_OF_SKILL}[-_. ]?skills?|baselines?"
_SURE = (
    r"control|treatment|vanilla|skilled"
    r"|(?P<lettered>(?:configuration|config|version|variant|arm)[-_ ]?[ab])"
)
"""Whole names that hardly mean anything else."""
_WORD = r"skills?|with|without|before|after|plain|bare|base"
_MODEL = (
    r"(?:claude|gpt|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|kimi|glm|codex|opus|sonnet"
    r"|haiku|o[134])"
    r"(?:[-_. ]*(?:v?\d++[a-z]?|opus|sonnet|haiku|mini|nano|turbo|pro|flash|lite"
    r"|ultra|max|plus|large|medium|small|instruct|preview|latest|thinking|codex|coder|code|cli))*+"
)
"""The names of models that people give to folders and keys."""

_MODEL_ALONE = re.compile(_MODEL, re.IGNORECASE)
_OF_MODEL = re.compile(rf"(?P<model>{_MODEL})[-_ ]+\(?(?P<side>{_TERM}|{_SURE})\)?", re.IGNORECASE)
_INSIDE = re.compile(rf"(?<![a-z])(?:{_TERM})(?![a-z])", re.IGNORECASE)
_ALONE = re.compile(rf"{_TERM}|{_SURE}|(?P<word>{_WORD}|v\d+(?:[._-]\d+)*)", re.IGNORECASE)
_DELTA = re.compile(r"(?<![a-z])delta(?![a-z])", re.IGNORECASE)
_WITH_SKILL = re.compile(r"(?:with[-_. ]?)?skills?|skilled|treatment|with", re.IGNORECASE)


@lru_cache(4096)
def is_model(name: str) -> bool:
    """Whether a key or a folder is called after a model, with more than its family's name.

    >>> [is_model(name) for name in ("claude-haiku", "gpt-52", "o3-mini", "claude", "codex-review")]
    [True, True, True, False, False]
    """
    return _MODEL_ALONE.fullmatch(name) is not None and bool(re.search(r"[-_. \d]", name))


def model_and_side(name: str) -> tuple[str | None, str]:
    """The model that the name of a side begins with, and the rest.

    >>> model_and_side("gemini_without_skill"), model_and_side("old_skill")
    (('gemini', 'without_skill'), (None, 'old_skill'))
    """
    found = _OF_MODEL.fullmatch(name)
    return (found["model"], found["side"]) if found else (None, name)


def find_side(name: str, *, last: bool = False) -> re.Match[str] | None:
    """Where words of a longer name tell a side, the first or the last that do.

    >>> find_side("eval-0-with_skill")[0], find_side("testing-skill"), find_side("access-control")
    ('with_skill', None, None)
    """
    found = [*_INSIDE.finditer(name)]
    return found[-1 if last else 0] if found else None


def is_side(name: str, *, sure: bool = False) -> bool:
    """Whether a name is a side's and nothing more, or a model's before it.

    Args:
        name: of a folder, a key, or the value of a field.
        sure: whether words that often mean something else (`plain`, `skill`, `v2`) do not count.

    >>> [is_side(name) for name in ("no-skills", "vanilla", "gemini_with_skill", "v2", "eval-1")]
    [True, True, True, True, False]
    >>> is_side("v2", sure=True)
    False
    """
    found = _ALONE.fullmatch(name)
    is_alone = found is not None and not (sure and found["word"])
    return is_alone or _OF_MODEL.fullmatch(name) is not None


def is_word(name: str) -> bool:
    """Whether it is a side's whole name, but a word that often means something else: `skills`."""
    found = _ALONE.fullmatch(name)
    return found is not None and found["word"] is not None


def is_lettered(name: str) -> bool:
    """Whether it is the name of a side that says no more than which: `variant_a`."""
    found = _ALONE.fullmatch(name)
    return found is not None and found["lettered"] is not None


@lru_cache(1024)
def side_in(name: str | None) -> str | None:
    """The side that a name speaks of: one of the two usual names where its words mean that.

    A name that speaks of several sides, or of a version alone, tells none.

    >>> side_in("gpt-noskills"), side_in("job-with-skills-2"), side_in("seo-skill-bench")
    ('without_skill', 'with_skill', None)
    >>> side_in("vanilla"), side_in("haiku old-skill"), side_in("with_skill vs no_skill")
    ('without_skill', 'old-skill', None)
    """
    name = name or ""
    alone = is_side(name) and not re.fullmatch(r"v\d.*", name, re.IGNORECASE)
    words = _INSIDE.findall(name) or ([model_and_side(name)[1]] if alone else [])
    sides = {
        WITHOUT if is_without_skill(word) else WITH if _WITH_SKILL.fullmatch(word) else word
        for word in words
    }
    return sides.pop() if len(sides) == 1 else None


def without_side(name: str | None) -> str:
    """A name without the words in it that speak of a side.

    >>> without_side("haiku (with skill)"), without_side("no-skill"), without_side("mini")
    ('haiku', '', 'mini')
    """
    words = name or ""
    if side_in(words):
        words = _INSIDE.sub("", words) if find_side(words) else model_and_side(words)[0] or ""
    return words.strip(" -_.,:;+/()[]")


@lru_cache(1024)
def likeness(configuration: str) -> tuple[int, int] | None:
    """How likely a configuration is the baseline by its name, the likeliest lowest; or None.

    >>> likeness("without_skill") < likeness("claude_without_skill") < likeness("old_skill")
    True
    >>> likeness("with_skill") is None
    True
    """
    words = re.sub(r"[^a-z0-9]+", "_", configuration.casefold()).strip("_")
    words = re.sub(rf"(?<![a-z])({_OF_SKILL})_?skills?(?![a-z])", r"\1_skill", words)
    is_with = "_with_skill_" in f"_{words}_"
    for place, word in enumerate((*_NO_SKILL, *_EARLIER)):
        if f"_{word}_" in f"_{words}_" and not (is_with and place < len(_NO_SKILL)):
            return place, int(words not in (word, f"{word}_skill"))
    return None


def is_without_skill(configuration: str) -> bool:
    """Whether a configuration is by its name one without the skill.

    >>> is_without_skill("vanilla"), is_without_skill("old_skill")
    (True, False)
    """
    like = likeness(configuration)
    return like is not None and like[0] < len(_NO_SKILL)


def is_earlier(configuration: str) -> bool:
    """Whether a configuration is by its name an earlier version of the skill.

    >>> is_earlier("old_skill"), is_earlier("without_skill"), is_earlier("with_skill")
    (True, False, False)
    """
    like = likeness(configuration)
    return like is not None and like[0] >= len(_NO_SKILL)


def configuration_in(key: str) -> str | None:
    """The configuration that a key names, in lower case.

    >>> configuration_in("eval-0-with_skill"), configuration_in("cost_efficiency")
    ('with_skill', None)
    """
    found = find_side(key) or _DELTA.search(key)
    return found[0].lower().replace("-", "_") if found else None


def is_plain_side(key: str) -> bool:
    """Whether a key is nothing but the name of a configuration.

    >>> is_plain_side("old_skill"), is_plain_side("with_skill_prompt")
    (True, False)
    """
    return configuration_in(key) == key.lower().replace("-", "_")


def is_base(name: str) -> bool:
    """Whether a name is a baseline's, and hardly anything else's."""
    return is_side(name, sure=True) and likeness(name) is not None
