"""What a suggestion finds fault with, told by the phrases that graders use for it."""

from __future__ import annotations

import re

_PHRASES = {
    "tells nothing": r"""
        tells? nothing | says? nothing | trivial\w* | discrimin\w+ | no (?:signal|information)
        | not informative | uninformative | never fails | (?:far |much )?too easy | trop facile
        | always pass\w* | passes? (?:for|in) (?:every|all|both|each|100) | no difference
        | (?:every|all|both|each) (?:of (?:the )?)?(?:\w+ ){0,2}(?:runs?|outputs?|configurations?)
        | (?:does|do) not separate | with(?: the)?(?: skill)? (?:or|and) without
        | everybody (?:gets|finds) | nearly every
    """,
    "never passes": r"""
        no (?:run|output) can | (?:fails?|impossible) for (?:every|all)\w* | all (?:runs )?fail
        | no run (?:writes|has|passes) | can (?:never|not) pass
    """,
    "lets bad work pass": r"""
        (?:would|will|could|might|may) (?:also |still )?(?:pass|be satisfied|satisfy)
        | pass(?:es)?
        | (?:is|are|be) (?:enough|sufficient|accepted) | suffic\w+ | satisf(?:ies|y) (?:this|it)
        | (?:is|are) (?:met|satisfied) by | slips? through | mere(?:ly)? | lenient
        | (?:only|just|merely) (?:looks?|checks?|counts?|searche[sd]|tests?|tested|the) | suffit
        | passera(?:it|ient)? | passe même | false (?:positives?|confidence)
    """,
    "fails good work": r"""
        too (?:strict|demanding|narrow|rigid) | (?:over|unnecessarily |needlessly )strict\w*
        | rejects? | rejected | penali[sz]e[sd]? | punish\w* | false (?:alarms?|negatives?)
        | (?:good|correct|valid|right) (?:\w+ )?(?:runs?|solutions?|outputs?|answers?) fail
        | (?:good|correct|valid|right) (?:\w+ )?(?:runs?|solutions?|outputs?|answers?) must fail
        | fails? (?:for|when|although|even|on|pages|good|correct|valid) | (?:as|for) a failure
    """,
    "cannot be verified": r"""
        unverifiable | untestable | impossible to (?:\w+ )?(?:verify|evaluate|test|check)
        | hard to (?:verify|grade|check) | only (?:be )?(?:\w+ )?verifi(?:able|ed) | verifiable
        | only be (?:checked|judged|graded) | not (?:verifiable|decidable|observable)
        | (?:can ?not|can't|not) be (?:\w+ )?(?:verified|seen|checked|decided|graded)
        | no way to (?:verify|check|tell) | (?:a|to) guess
        | (?:can ?not|can't) (?:see|tell|try|verify)
    """,
    "is vague": r"""
        vague(?:ly)? | ambigu\w+ | subjective | matter of taste | un(?:defined|clear|specific)
        | not (?:defined|said|stated|clear) | depends on | open to interpretation | ill-defined
    """,
    "is redundant": r"""
        redundant | subsumed | dependent on | correlated | duplicates? of | overlap\w*
        | repeats? | follows from | already (?:test|check|cover)\w*
        | same (?:underlying )?(?:outcome|failure|thing)
    """,
    "rests on an error": r"""
        contradict\w* | conflict\w* | wrong convention | (?:does|do)(?: not|n't) (?:\w+ )?follow
        | misleading | misaligned | (?:does|do)(?: not|n't) exist
        | no such | incorrectly assumes
    """,
    "was not asked for": r"""
        (?:not|never|nobody|\w+n't) (?:\w+ )?(?:ask\w*|requested|mentioned|required)
        | (?:prompt|task) (?:does not|doesn't|never) | out of scope
    """,
    "is vacuous": r"vacuous\w*",
}


def _one(body: str) -> str:
    return "|".join(part.strip() for part in body.split(" | "))


_ANY = {
    name: re.compile(rf"(?<!\w)(?:{_one(' '.join(body.split()))})(?!\w)", re.IGNORECASE)
    for name, body in _PHRASES.items()
}
_KIN = (
    frozenset(("tells nothing", "lets bad work pass", "is vacuous")),
    frozenset(("fails good work", "never passes", "was not asked for", "rests on an error")),
    frozenset(("cannot be verified", "is vague")),
    frozenset(("is redundant",)),
)
"""Complaints that go together: who makes one may well mean another."""
_WITHOUT_MORE = frozenset(
    ("tells nothing", "cannot be verified", "is vague", "is redundant", "was not asked for")
)
"""Complaints that say it all; the others hang on what it is that passes or fails."""
SAME, LIKE, OTHER = 0.25, 0.12, -0.3
"""What it adds to the likeness of two suggestions about the same expectation that they make the
same complaint that says all, another same complaint, or complaints that do not go together."""


def complaints(text: str) -> frozenset[str]:
    """What a text finds fault with; empty where none of the phrases is in it.

    >>> sorted(complaints("Far too strict: good runs fail."))
    ['fails good work']
    """
    plain = text.replace("’", "'")
    return frozenset(name for name, pattern in _ANY.items() if pattern.search(plain))


def agreement(one: frozenset[str], other: frozenset[str]) -> float:
    """How much two sets of complaints speak for or against the same being meant.

    >>> agreement(complaints("Far too strict."), complaints("Trivial."))
    -0.3
    """
    shared = one & other
    if shared:
        return SAME if shared & _WITHOUT_MORE else LIKE
    if not one or not other or any(one & kin and other & kin for kin in _KIN):
        return 0.0
    return OTHER
