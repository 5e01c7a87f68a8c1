"""What graders suggest, the expectation that each is about, and what says the same again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

from skill_eval_nb.stats.values import natural
from skill_eval_nb.tables.frames import frame_of

from .values import RunRef, Source, plain

if TYPE_CHECKING:
    from numpy.typing import NDArray


NEAR = 85.0
"""Texts are those of the same expectation from this ratio of rapidfuzz (0-100) on ..."""
AHEAD = 3.0
"""... where no other expectation of the eval is nearly as near."""

_EVAL = ("workspace", "skill", "iteration", "eval_id")
_LED = re.compile(r"\W*(?P<id>\w[\w-]*)\s*(?:[:.)\]–—]|-\s|\s\(|$)\s*(?P<rest>.*)", re.DOTALL)
_NUMBERED = re.compile(
    r"\W*(?:the |l['’])?(?:assertion|expectation|check) #?(?P<id>[A-Z]{0,2}\d{1,3})\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"([\w-]+): ")


class About(NamedTuple):
    """An expectation of an eval: its id, which means nothing outside of that, and its text."""

    id: str | None
    text: str

    @property
    def label(self) -> str:
        """Its id, else its text."""
        return self.id or self.text

    @property
    def identity(self) -> str:
        """The same for the same expectation of several evals, and for no other one."""
        return plain(self.text)


Finder = Callable[[RunRef, str | None, str], About | None]
"""Gives what a suggestion of a run is about: its expectation in the grader's words, its reason."""


def finder(data: Any) -> Finder:
    """What finds expectations in a workspace's table `expectations`.

    A name of an expectation is its id, its text, its text in nearly the same words, its
    number among those that the judge verified (`Assertion 2`), or what stands before a colon
    in its text. A suggestion without one that begins with an id or a number speaks of that.
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
        return _about_by_words(words, *own) if words is not None else _by_number(reason, *own)

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
        return _by_number(words, known, numbered)
    return next(filter(None, (_nearest_text(text, known) for text in wanted)), None)


def _by_number(words: str, known: list[About], numbered: list[About]) -> About | None:
    """The expectation whose id words begin with, or that stands at that place for the judge."""
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
"""Suggestions for a change; `overall` is none, and `aggregate` is a collection already."""
LONGEST = 4000
"""Characters of what a grader said that are looked at."""
VAGUE = "The grader calls it vague."


@dataclass(frozen=True, slots=True)
class Mention:
    """A source, and the expectation that it is about; None: a missing or an unknown one."""

    source: Source
    about: About | None

    @property
    def suite(self) -> tuple[str, str]:
        """The workspace and the skill, across which nothing is the same."""
        return self.source.run.workspace, self.source.run.skill

    @property
    def text(self) -> str:
        """What is compared: with the grader's name of an expectation that is not known."""
        named = self.source.expectation if self.about is None else None
        return f"{named}: {self.source.reason}" if named else self.source.reason


def mentions(data: Any) -> tuple[Mention, ...]:
    """Every suggestion for a change, in the order of its run's keys; each once a run."""
    import polars as pl

    frame = frame_of(data, "suggestions").filter(pl.col("kind").is_in(KINDS))
    find = finder(data)
    found: dict[Source, None] = {}
    rows = frame.select(*RunRef._fields, "kind", "expectation", "reason").iter_rows()
    for *run, kind, expectation, reason in rows:
        about, wording = (expectation or "").strip() or None, reason[:LONGEST]
        if kind == "vague":  # what `test-cases` has is the expectation's text alone
            about, wording = wording, VAGUE
        found[Source(RunRef(*run), kind, about, wording)] = None

    def mention_of(source: Source) -> Mention:
        about = find(source.run, source.expectation, source.reason)
        vague = About(None, source.expectation or "") if source.kind == "vague" else None
        return Mention(source, about or vague)

    return tuple(map(mention_of, sorted(found, key=_source_order)))


def _source_order(source: Source) -> tuple[Any, ...]:
    run = [natural(str(key)) for key in source.run]
    return (run, KINDS.index(source.kind), source.expectation or "", source.reason)


# ── the same in other words ──────────────────────────────────────────────────────────────────

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
"""Words that say the same in a suggestion, by the first of them."""


def words(text: str) -> dict[str, float]:
    """The words of a text with their weights; a word that occurs twice counts once.

    >>> words("Nothing checks that `use client` is there.")
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
"""Complaints that go together: who makes one may well mean another."""
_WITHOUT_MORE = frozenset(
    ("tells nothing", "cannot be verified", "is vague", "is redundant", "was not asked for")
)
"""Complaints that say it all; the others hang on what it is that passes or fails."""
SAME, LIKE, OTHER = 0.25, 0.12, -0.3
"""What it adds to the likeness of two suggestions about the same expectation that they make the
same complaint that says all, another same complaint, or complaints that do not go together."""


def complaints(text: str) -> frozenset[str]:
    """What a text finds fault with; empty if none of the phrases is in it.

    >>> sorted(complaints("Far too strict: good runs fail."))
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
    """Whether a text finds something good, and nothing amiss; in English alone.

    >>> is_praise("The checks are clear; no change is needed."), is_praise("Good, but too short.")
    (True, False)
    """
    rest = _NO_FAULT.sub("good", text)
    return bool(_PRAISE.search(rest) and not _AMISS.search(rest) and not complaints(rest))


def agreement(first: frozenset[str], second: frozenset[str]) -> float:
    """How much two sets of complaints speak for or against the same being meant.

    >>> agreement(complaints("Far too strict."), complaints("Trivial."))
    -0.3
    """
    shared = first & second
    if shared:
        return SAME if shared & _WITHOUT_MORE else LIKE
    if not first or not second or any(first & kin and second & kin for kin in _KIN):
        return 0.0
    return OTHER


NEARLY = 78
"""Two words with the same first letter are alike from this ratio of rapidfuzz (0-100) on."""
FRAME = 65
"""From this ratio on, two texts have the same frame."""
SHARED = 0.1
"""The cosine from which on the frame is looked at; below it, two texts share next to nothing."""
STEEP = 8.0
"""How much less alike texts of the same frame are whose other words differ."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Texts as vectors of weighted words, and which words are alike (0-1)."""

    texts: tuple[str, ...]
    vectors: csr_array
    alike: csr_array


def measure(texts: Sequence[str]) -> Vectors:
    """The words of texts as vectors; a word counts the more, the fewer texts have it."""
    bags = [words(text) for text in texts]
    vocabulary = sorted({word for bag in bags for word in bag})
    place = {word: index for index, word in enumerate(vocabulary)}
    rows = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags])
    columns = np.array([place[word] for bag in bags for word in bag], dtype=np.intp)
    weights = np.array([weight for bag in bags for weight in bag.values()])
    shape = (len(bags), len(vocabulary))
    alike = _alike(vocabulary)
    held = csr_array(csr_array((np.ones(len(rows)), (rows, columns)), shape=shape) @ alike)
    held.data = np.minimum(held.data, 1)
    rarity = 1 + np.log((len(bags) + 1) / np.maximum(held.sum(axis=0), 1))
    vectors = csr_array((weights * rarity[columns], (rows, columns)), shape=shape)
    return Vectors(tuple(texts), vectors, alike)


def likeness(measured: Vectors, rows: Sequence[int]) -> NDArray[np.float64]:
    """How alike some of the texts are, 0-1: the soft cosine of their words.

    Two sentences that differ in one word, as "nothing checks the head" and "nothing checks the
    rows", speak of two things: where the whole texts are nearly the same (`FRAME`), what
    differs counts the more.

    Args:
        measured: all texts.
        rows: which of them.

    Returns:
        A square of `len(rows)`.
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


def _alike(vocabulary: Sequence[str]) -> csr_array:
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
"""Distances are rounded to so many: neither order nor machine may decide what is joined."""

Block = tuple[str, ...]
"""What is compared with each other: a suite, and what in it is spoken of."""


def group_mentions(many: Sequence[Mention], threshold: float) -> list[tuple[Mention, ...]]:
    """Suggestions that say the same, the wording first that is nearest to all others.

    The distance of two wordings is 0 for the same words and 1 if they share none
    (`likeness`). If both are about the same known expectation, the same complaint brings
    them nearer and an opposite one parts them (`agreement`). Suggestions about different
    expectations, and those of different suites, are never compared. Groups are joined by
    average linkage as long as their mean distance is at most `threshold`.

    Args:
        many: what was said; the order does not matter.
        threshold: 0 joins the same words alone, 1 whatever is about the same.

    Returns:
        The groups, each with the nearest wording's members first.
    """
    groups: list[tuple[Mention, ...]] = []
    for suite in sorted({mention.suite for mention in many}):
        groups += _of_suite([mention for mention in many if mention.suite == suite], threshold)
    return groups


def _of_suite(many: Sequence[Mention], threshold: float) -> Iterator[tuple[Mention, ...]]:
    texts = sorted({mention.text for mention in many})
    measured, place = measure(texts), {text: row for row, text in enumerate(texts)}
    blocks: dict[Block, dict[int, list[Mention]]] = {}
    for mention in many:
        sayers = blocks.setdefault(_block(mention), {})
        sayers.setdefault(place[mention.text], []).append(mention)
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
            yield tuple(mention for at in (nearest, *others) for mention in by_text[at])


def text_distances(measured: Vectors, rows: Sequence[int], *, known: bool) -> NDArray[np.float64]:
    """How far texts are apart, 0-1; `known`: all are about one known expectation."""
    alike = likeness(measured, rows)
    if known:
        found = [complaints(measured.texts[row]) for row in rows]
        kinds = {kind: place for place, kind in enumerate(dict.fromkeys(found))}
        more = np.array([[agreement(kind, other) for other in kinds] for kind in kinds])
        places = [kinds[kind] for kind in found]
        alike += more[np.ix_(places, places)]
    apart = 1 - np.clip(alike, 0, 1)
    np.fill_diagonal(apart, 0)
    return np.round((apart + apart.T) / 2, DIGITS)


def _block(mention: Mention) -> Block:
    if mention.about is not None:
        return ("about", mention.about.identity)
    return ("missing",) if mention.source.expectation is None else ("unknown",)


def _cut_tree(apart: NDArray[np.float64], threshold: float) -> list[int]:
    """A number of its group for each row."""
    if len(apart) == 1:
        return [1]
    tree = linkage(squareform(apart, checks=False), method="average")
    return fcluster(tree, threshold + 0.1**DIGITS, criterion="distance").tolist()


def _nearest_row(apart: NDArray[np.float64], rows: Sequence[int], counts: Sequence[int]) -> int:
    """The row that is nearest to all others, each as often as it was said."""
    far = apart[np.ix_(rows, rows)] @ np.array(counts, dtype=float)
    return rows[int(np.argmin(np.round(far, DIGITS)))]
