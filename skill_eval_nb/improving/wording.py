"""Find what graders suggest, the expectation each suggestion is about, and repeats of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

from skill_eval_nb.stats.values import natural_key
from skill_eval_nb.tables.columns import frame_of

from .values import About, RunRef, Source, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray


NEAR = 85.0
"""Two texts are the same expectation at this ratio of rapidfuzz (0-100) or more ..."""
AHEAD = 3.0
"""... if no other expectation of the eval comes within this distance."""

_EVAL = ("workspace", "skill", "iteration", "eval_id")
_LED = re.compile(r"\W*(?P<id>\w[\w-]*)\s*(?:[:.)\]–—]|-\s|\s\(|$)\s*(?P<rest>.*)", re.DOTALL)
_NUMBERED = re.compile(
    r"\W*(?:the |l['’])?(?:assertion|expectation|check) #?(?P<id>[A-Z]{0,2}\d{1,3})\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"([\w-]+): ")


Finder = Callable[[RunRef, str | None, str], About | None]
"""Finds what a suggestion is about, given its run, the expectation in the grader's words, and the
reason."""


def make_finder(data: Any) -> Finder:
    """A function that finds expectations in a workspace's table `expectations`.

    An expectation can be named by its id, its text, nearly the same text, its number among those
    that the judge verified (`Assertion 2`), or the words before a colon in its text. A suggestion
    that names none, but begins with an id or a number, is about that expectation.
    """
    import polars as pl

    frame = frame_of(data, "expectations").filter(pl.col("text").is_not_null())
    known: dict[tuple[str, ...], list[About]] = {}
    numbered: dict[tuple[str, ...], list[About]] = {}
    columns = [*_EVAL, "layer", "expectation_id", "text"]
    for *key, layer, own, text in frame.select(columns).unique(maintain_order=True).iter_rows():
        for checks in (known, numbered) if layer == "judged" else (known,):
            checks.setdefault(tuple(key), []).append(About(own, text))

    @cache
    def find_cached(key: tuple[str, ...], words: str | None, reason: str) -> About | None:
        own = known.get(key, []), numbered.get(key, [])
        return _about_by_words(words, *own) if words is not None else _find_by_number(reason, *own)

    def find_about(run: RunRef, words: str | None, reason: str) -> About | None:
        key = (run.workspace, run.skill, run.iteration, run.eval_id)
        return find_cached(key, words, reason if words is None else "")

    return find_about


def _about_by_words(words: str, known: list[About], numbered: list[About]) -> About | None:
    """The expectation that a grader's words name."""
    led = _LED.fullmatch(words.strip())
    wanted = [plain(words), *([plain(led["rest"])] if led and led["rest"] else [])]
    own = plain(led["id"]) if led else ""
    names = (
        [(check, plain(check.id or ""), _NAME.match(check.text)) for check in known] if own else []
    )
    found = [check for text in wanted for check in known if plain(check.text) == text]
    found += [check for check, id_, name in names if own in (id_, plain(name[1]) if name else "")]
    if found:
        return found[0]
    if _NUMBERED.match(words):
        return _find_by_number(words, known, numbered)
    return next(filter(None, (_nearest_text(text, known) for text in wanted)), None)


def _find_by_number(words: str, known: list[About], numbered: list[About]) -> About | None:
    """The expectation whose id the words begin with, or that has this number for the judge."""
    match = _NUMBERED.match(words)
    if match is None:
        return None
    of_id = [check for check in known if plain(match["id"]) == plain(check.id or "")]
    place = int(match["id"]) if match["id"].isdigit() else 0
    return next(iter([*of_id, *numbered[max(place - 1, 0) : place]]), None)


def _nearest_text(text: str, known: list[About]) -> About | None:
    from rapidfuzz import fuzz

    scores = {check: fuzz.ratio(text, plain(check.text)) for check in known}
    nearest = max(known, key=lambda check: (scores[check], check.text), default=None)
    if nearest is None or scores[nearest] < NEAR:
        return None
    others = [scores[check] for check in known if check.identity != nearest.identity]
    return nearest if max(others, default=0.0) <= scores[nearest] - AHEAD else None


# ── what graders suggest, one by one ─────────────────────────────────────────────────────────

KINDS = ("critique", "vague", "missing_coverage", "suggested")
"""The kinds of suggestions; `overall` is not one, and `aggregate` is already a collection."""
LONGEST = 4000
"""The most characters of a grader's words that are used."""
VAGUE = "The grader calls it vague."


def sources_of(data: Any) -> tuple[Source, ...]:
    """Every suggestion, in the order of its run's keys; each only once per run."""
    import polars as pl

    frame = frame_of(data, "suggestions").filter(pl.col("kind").is_in(KINDS))
    find = make_finder(data)
    found: dict[Source, None] = {}
    rows = frame.select(*RunRef._fields, "kind", "expectation", "reason").iter_rows()
    for *run, kind, expectation, reason in rows:
        about, wording = (expectation or "").strip() or None, reason[:LONGEST]
        if kind == "vague":  # `test-cases` only has the text of the expectation
            about, wording = wording, VAGUE
        found[Source(RunRef(*run), kind, about, wording)] = None

    def add_about(source: Source) -> Source:
        about = find(source.run, source.expectation, source.reason)
        vague = About(None, source.expectation or "") if source.kind == "vague" else None
        return replace(source, about=about or vague)

    return tuple(map(add_about, sorted(found, key=_source_order)))


def _source_order(source: Source) -> tuple[Any, ...]:
    run = [natural_key(str(key)) for key in source.run]
    return (run, KINDS.index(source.kind), source.expectation or "", source.reason)


# ── the same in other words ──────────────────────────────────────────────────────────────────

LITERAL = 1.6
"""The weight of a quoted word, an identifier or a number; other words have 1."""
FAINT = 0.25
"""The weight of a word that graders use about anything."""

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
    whose why will with within without won would yet you your""".split()
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
    words write writes wrong""".split()
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
"""Words with the same meaning in a suggestion, mapped to the first of them."""


def weigh_words(text: str) -> dict[str, float]:
    """The words of a text with their weights; a word that occurs twice counts once.

    >>> weigh_words("Nothing checks that `use client` is there.")
    {'nothing': 0.25, 'checks': 0.25, 'use': 0.25, 'client': 1.6}
    """
    quoted = " ".join(_QUOTED.findall(text))
    literal = {written.casefold() for written in _WORD.findall(quoted)}
    found: dict[str, float] = {}
    for written in _WORD.findall(text.replace("’", "'")):
        word = written.casefold()
        if word in _STOP or (len(word) == 1 and word.isascii() and not word.isdigit()):
            continue
        strong = word in literal or _IDENTIFIER.search(written) is not None
        weight = FAINT if word in _GRADERS else LITERAL if strong else 1.0
        word = _SAME.get(word, word)
        found[word] = max(weight, found.get(word, 0.0))
    return found


_PHRASES = {
    "tells nothing": r"""
        tells? nothing | says? nothing | trivial\w* | discrimin\w+ | no (?:signal|information)
        | not informative | uninformative | never fails | (?:far |much )?too easy
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
        | (?:only|just|merely) (?:looks?|checks?|counts?|searche[sd]|tests?|tested|the)
        | false (?:positives?|confidence)
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


def _alternatives(body: str) -> str:
    return "|".join(part.strip() for part in body.split(" | "))


_ANY = {
    name: re.compile(rf"(?<!\w)(?:{_alternatives(' '.join(body.split()))})(?!\w)", re.IGNORECASE)
    for name, body in _PHRASES.items()
}
_KIN = (
    frozenset(("tells nothing", "lets bad work pass", "is vacuous")),
    frozenset(("fails good work", "never passes", "was not asked for", "rests on an error")),
    frozenset(("cannot be verified", "is vague")),
    frozenset(("is redundant",)),
)
"""Complaints that go together: a grader who makes one may mean another of the group."""
_WITHOUT_MORE = frozenset(
    ("tells nothing", "cannot be verified", "is vague", "is redundant", "was not asked for")
)
"""Complaints that are complete; the others depend on what it is that passes or fails."""
SAME, LIKE, OTHER = 0.25, 0.12, -0.3
"""Added to the likeness of two suggestions about the same expectation: for a shared complete
complaint, for another shared complaint, and for complaints that do not go together."""


def find_complaints(text: str) -> frozenset[str]:
    """The complaints in a text; empty if it has none of the phrases.

    >>> sorted(find_complaints("Far too strict: good runs fail."))
    ['fails good work']
    """
    plain = text.replace("’", "'")
    return frozenset(name for name, pattern in _ANY.items() if pattern.search(plain))


_PRAISE = re.compile(
    r"\b(?:good|well|strong\w*|excellent|high[- ]quality|solid|sound|useful|clear(?:ly)?"
    r"|accurate\w*|thorough\w*|correct(?:ly)?|appropriate\w*)\b",
    re.IGNORECASE,
)
_AMISS = re.compile(
    r"\b(?:no|not|never|nothing|none|nobody|without|lack\w*|miss\w*|absent|should|could|but"
    r"|must|needs?|however|only|too|unless|consider)\b|n['’]t\b",
    re.IGNORECASE,
)
_NO_FAULT = re.compile(
    r"\bno (?:\w+ )?(?:changes?|issues?|gaps?)\b(?: (?:is|are) (?:needed|found))?", re.IGNORECASE
)


def is_praise(text: str) -> bool:
    """Whether a text praises something and complains about nothing; only for English.

    >>> is_praise("The checks are clear; no change is needed."), is_praise("Good, but too short.")
    (True, False)
    """
    rest = _NO_FAULT.sub("good", text)
    return bool(_PRAISE.search(rest) and not _AMISS.search(rest) and not find_complaints(rest))


def agreement(first: frozenset[str], second: frozenset[str]) -> float:
    """How far two sets of complaints suggest that the same, or something else, is meant.

    >>> agreement(find_complaints("Far too strict."), find_complaints("Trivial."))
    -0.3
    """
    shared = first & second
    if shared:
        return SAME if shared & _WITHOUT_MORE else LIKE
    if not first or not second or any(first & kin and second & kin for kin in _KIN):
        return 0.0
    return OTHER


NEARLY = 78
"""Two words with the same first letter are alike at this ratio of rapidfuzz (0-100) or more."""
FRAME = 65
"""At this ratio or more, two texts have the same frame."""
SHARED = 0.1
"""The frame is only compared above this cosine; below it, two texts share almost nothing."""
STEEP = 8.0
"""How strongly differing words count in texts with the same frame."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Texts as vectors of weighted words, and which words are alike (0-1)."""

    texts: tuple[str, ...]
    vectors: csr_array
    alike: csr_array


def weigh_texts(texts: Sequence[str]) -> Vectors:
    """The words of texts as vectors; the fewer texts have a word, the more it counts."""
    bags = [weigh_words(text) for text in texts]
    vocabulary = sorted({word for bag in bags for word in bag})
    place = {word: index for index, word in enumerate(vocabulary)}
    rows = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    columns = np.array([place[word] for bag in bags for word in bag], dtype=np.intp)
    weights = np.array([weight for bag in bags for weight in bag.values()])
    shape = (len(bags), len(vocabulary))
    alike = _word_likeness(vocabulary)
    held = csr_array(csr_array((np.ones(len(rows)), (rows, columns)), shape=shape) @ alike)
    held.data = np.minimum(held.data, 1)
    rarity = 1 + np.log((len(bags) + 1) / np.maximum(held.sum(axis=0), 1))
    vectors = csr_array((weights * rarity[columns], (rows, columns)), shape=shape)
    return Vectors(tuple(texts), vectors, alike)


def likeness(measured: Vectors, rows: Sequence[int]) -> NDArray[np.float64]:
    """How alike some of the texts are, 0-1: the soft cosine of their words.

    Two sentences that differ in one word, such as "nothing checks the head" and "nothing checks
    the rows", are about two things. So if the whole texts are nearly the same (`FRAME`), the
    differing words count more.

    Args:
        measured: all texts.
        rows: the texts to compare.

    Returns:
        A square matrix of size `len(rows)`.
    """
    from rapidfuzz import fuzz, process

    part = measured.vectors[list(rows)]
    both = (part @ measured.alike @ part.T).toarray()
    own = np.sqrt(np.maximum(both.diagonal(), 1e-12))
    cosine = np.clip(both / own[:, None] / own[None, :], 0, 1)
    texts = [measured.texts[row].casefold() for row in rows]
    upper, lower = np.nonzero(np.triu(cosine > SHARED, 1))
    frame = process.cpdist(
        [texts[row] for row in upper], [texts[row] for row in lower], scorer=fuzz.ratio
    )
    cosine[upper, lower] **= 1 + STEEP * np.maximum(0, frame - FRAME) / 100
    cosine[lower, upper] = cosine[upper, lower]
    return cosine


def _word_likeness(vocabulary: Sequence[str]) -> csr_array:
    """How alike words are: 1 for a word and itself, 0 below `NEARLY`.

    The first letters must be the same: `valid` and `invalid` are opposites.
    """
    from rapidfuzz import fuzz, process

    initials = np.array([ord(word[0]) for word in vocabulary])
    bounds = [0, *(np.flatnonzero(np.diff(initials)) + 1), len(vocabulary)]
    found = [(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))]
    for begin, end in pairwise(bounds):
        part = vocabulary[begin:end]
        scores = process.cdist(part, part, scorer=fuzz.ratio, score_cutoff=NEARLY, dtype=np.float32)
        row, column = scores.nonzero()
        found.append((row + begin, column + begin, scores[row, column] / 100))
    rows, columns, values = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return csr_array((values, (rows, columns)), shape=(len(vocabulary), len(vocabulary)))


DIGITS = 9
"""Distances are rounded to this many digits, so that neither order nor machine matters."""

Block = tuple[str, ...]
"""Only suggestions of the same block are compared: those about the same thing."""


def group_sources(many: Sequence[Source], threshold: float) -> list[tuple[Source, ...]]:
    """Group suggestions that say the same, with the most central wording first.

    The distance of two wordings is 0 for the same words and 1 if they share none (`likeness`). If
    both are about the same known expectation, a shared complaint brings them closer, and an
    opposite one moves them apart (`agreement`). Suggestions about different expectations, or of
    different suites, are never compared. Groups are joined by average linkage while their mean
    distance is at most `threshold`.

    Args:
        many: the suggestions, in any order.
        threshold: 0 joins only the same words, 1 everything about the same expectation.

    Returns:
        The groups; each begins with the members that have the most central wording.
    """
    groups: list[tuple[Source, ...]] = []
    for suite in sorted({source.suite for source in many}):
        groups += _group_suite([source for source in many if source.suite == suite], threshold)
    return groups


def _group_suite(many: Sequence[Source], threshold: float) -> Iterator[tuple[Source, ...]]:
    texts = sorted({source.text for source in many})
    measured, place = weigh_texts(texts), {text: row for row, text in enumerate(texts)}
    blocks: dict[Block, dict[int, list[Source]]] = {}
    for source in many:
        sayers = blocks.setdefault(_block_of(source), {})
        sayers.setdefault(place[source.text], []).append(source)
    for name, sayers in sorted(blocks.items()):
        rows = sorted(sayers)
        by_text = [sayers[row] for row in rows]
        apart = text_distances(measured, rows, known=name[0] == "about")
        together: dict[int, list[int]] = {}
        for at, label in enumerate(_cut_tree(apart, threshold)):
            together.setdefault(label, []).append(at)
        for own in together.values():
            nearest = _nearest_row(apart, own, [len(by_text[at]) for at in own])
            others = [at for at in own if at != nearest]
            yield tuple(source for at in (nearest, *others) for source in by_text[at])


def text_distances(measured: Vectors, rows: Sequence[int], *, known: bool) -> NDArray[np.float64]:
    """The distances of texts, 0-1; `known`: all are about the same known expectation."""
    alike = likeness(measured, rows)
    if known:
        found = [find_complaints(measured.texts[row]) for row in rows]
        kinds = {kind: place for place, kind in enumerate(dict.fromkeys(found))}
        more = np.array([[agreement(kind, other) for other in kinds] for kind in kinds])
        places = [kinds[kind] for kind in found]
        alike += more[np.ix_(places, places)]
    apart = 1 - np.clip(alike, 0, 1)
    np.fill_diagonal(apart, 0)
    return np.round((apart + apart.T) / 2, DIGITS)


def _block_of(source: Source) -> Block:
    if source.about is not None:
        return ("about", source.about.identity)
    return ("missing",) if source.expectation is None else ("unknown",)


def _cut_tree(apart: NDArray[np.float64], threshold: float) -> list[int]:
    """The number of the group of each row."""
    if len(apart) == 1:
        return [1]
    tree = linkage(squareform(apart, checks=False), method="average")
    return fcluster(tree, threshold + 0.1**DIGITS, criterion="distance").tolist()


def _nearest_row(apart: NDArray[np.float64], rows: Sequence[int], counts: Sequence[int]) -> int:
    """The row closest to all others, which are weighted by how often each was said."""
    far = apart[np.ix_(rows, rows)] @ np.array(counts, dtype=float)
    return rows[int(np.argmin(np.round(far, DIGITS)))]
