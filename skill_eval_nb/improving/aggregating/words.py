"""The words of a suggestion that say what it is about, each with its weight."""

from __future__ import annotations

import re

LITERAL = 1.6
"""How much more a quoted word, an identifier or a number says than another word."""
FAINT = 0.25
"""How much a word says that graders use whatever they speak of."""

_QUOTED = re.compile(r"`[^`\n]+`|“[^”\n]+”|\"[^\"\n]+\"|(?<!\w)['‘][^'‘’\n]+['’](?!\w)")
_WORD = re.compile(r"\w+(?:[./@_-]\w+)*")
_IDENTIFIER = re.compile(r"\w[./@_]\w|[a-z][A-Z]|\d|^[A-Z]{2,}")
_STOP = frozenset(
    """a about after all also although an and any are aren as at be because been before being both
    but by can could did do does doesn don each either else ever every for from had has have how i
    if in instead into is isn it its itself just less like may might more most much must no none
    nor not of on once one only onto or other our out over own rather re s same shall she should
    since so some such t than that the their them then there these they this those though through
    to together too two under until up us very was we were what when where whether which while who
    whose why will with within without won would yet you your
    au aux avec ce cette comme dans de des du elle en est et il ils je la le les leur l d qu ne
    ou où par pas plus pour que qui sans se ses son sont sur un une
    als am an auch auf aus bei das dass dem den der des die ein eine einem einen einer es für im
    in ist mit nicht ob oder sich sie sind und von vom wenn wie wird würden zu zum zur""".split()
)
_GRADERS = frozenset(
    """accept accepted add adding already answer assert asserted assertion assertions cannot check
    checked checking checks compare consider count covered covers current currently demand ensure
    enough evaluate eval evals example exist existence exists expectation expectations expected
    explicitly fail fails file files find found given grader graders however ideally instance judge
    look looked looking looks make makes meets mere merely missing name named names need needs
    never nobody nothing output outputs pass passed passes passing present produce produced prompt
    require required requires requiring result results right run runs satisfied satisfies satisfy
    say says simply skill stand stands state stated still stronger suffices sufficient task test
    tested tests text trivial trivially use used uses using verified verifies verify want word
    words write writes wrong
    aucune assertions couvre suffit vérifie vérifiées trivial""".split()
)

_ALIKE = """
    absent lack lacks lacking missing omit omits omitted
    blank empty
    broken incorrect invalid wrong
    build builds built compile compiles
    copies copy duplicate duplicated duplicates identical
    correct right valid
    delete deleted deletes remove removed removes
    detect detected detects find finds
    directory folder
    error errors failure failures
    figure figures number numbers
    header heading headline title
    image images picture pictures
    keep keeps kept preserve preserved preserves
    length lines size
    order sequence sorted sorting
    sum sums total totals
    unit units
"""
_SAME = {word: line.split()[0] for line in _ALIKE.strip().splitlines() for word in line.split()}
"""Words that say the same in a suggestion, by the first of them."""


def words(text: str) -> dict[str, float]:
    """The words of a text with their weights; a word that occurs twice counts once.

    >>> words("Nothing checks that `use client` is there.")
    {'nothing': 0.25, 'checks': 0.25, 'use': 0.25, 'client': 1.6}
    """
    quoted = " ".join(_QUOTED.findall(text))
    literal = {one.casefold() for one in _WORD.findall(quoted)}
    found: dict[str, float] = {}
    for one in _WORD.findall(text.replace("’", "'")):
        word = one.casefold()
        if word in _STOP or (len(word) == 1 and word.isascii() and not word.isdigit()):
            continue
        strong = word in literal or _IDENTIFIER.search(one) is not None
        weight = FAINT if word in _GRADERS else LITERAL if strong else 1.0
        word = _SAME.get(word, word)
        found[word] = max(weight, found.get(word, 0.0))
    return found
