"""What a suggestion says is to be done, where it says it."""

from __future__ import annotations

import re

_BEGINS = (
    r"(?:consider|add|proposed|suggest(?:ion|ed)?|instead|replace|require|drop|remove|rephrase|"
    r"reword|tighten|strengthen|specify|clarify|update|split|either|extend|restrict|limit|change|"
    r"make|define|name|look|check|compare|parse|use|ask|allow|demand|state|say|set|include|run|"
    r"count|sum|execute|verify|test|merge|move|lower|raise|envisager|ajouter|préciser|"
    r"(?:a|an) (?:better|stronger|sharper|stricter|more \w+) (?:assertion|check|expectation|test)|"
    r"(?:the |this |l')?(?:assertion|check|expectation|it|they) (?:should|ought to|devrait))\b"
)
_ACTION = re.compile(
    rf"(?:^|(?<=[.;:!?] )|(?<=, so )|(?<=[—–] ))(?P<action>{_BEGINS}[^\n]*?)"
    r"(?=[.!?](?:\s+[`\"“(]*(?-i:[A-ZÀ-Þ])|[\"”’)]*\s*$)|[.;]\s*$|;\s|\n|$)",
    re.IGNORECASE,
)


def action_of(kind: str, reason: str) -> str | None:
    """What to do, in the grader's words; None where nothing is proposed.

    Args:
        kind: the suggestion's; of a `suggested` expectation the reason is its text.
        reason: what was said.

    >>> action_of("critique", "Too easy: all pass. Consider a limit of 50 lines.")
    'Consider a limit of 50 lines'
    >>> action_of("suggested", "The sum is right")
    'Add: The sum is right'
    >>> action_of("critique", "The check says nothing.")
    """
    if kind == "suggested":
        return f"Add: {reason.strip()}"
    match = _ACTION.search(" ".join(reason.split()))
    if match is None:
        return None
    action = re.sub(r"^(?:proposed|suggest(?:ion|ed)): *", "", match["action"], flags=re.IGNORECASE)
    return action[:1].upper() + action[1:]
