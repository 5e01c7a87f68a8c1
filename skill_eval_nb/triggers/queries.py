"""A trigger set: read, written, checked before anything is run, and drafted by a model."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from skill_eval_nb.disk import read_bytes, write_atomic
from skill_eval_nb.documents import Faults, NotJSON, TriggerQuery, TriggerSet, dump, mend, parse
from skill_eval_nb.documents.base import origin_of
from skill_eval_nb.models.ask import (
    FENCED_RULE,
    TEXT,
    YES_OR_NO,
    AnswerCheck,
    Question,
    a_list,
    an_object,
    check_form,
    fence_lines,
    keyed_question,
    or_null,
    short,
    shorten_text,
)
from skill_eval_nb.running.asking import PaidAnswer, Terms, ask_once
from skill_eval_nb.running.protocol import Refused, refuse
from skill_eval_nb.running.skill import SkillSource, folder_beside
from skill_eval_nb.skill_md import read_text
from skill_eval_nb.text import clip, count, in_quotes, some
from skill_eval_nb.workspace import NothingToLoad, PathLike, Problems, find, read_files
from skill_eval_nb.workspace.folders import OWN
from skill_eval_nb.workspace.read import load_raw
from skill_eval_nb.workspace.writing import lock_path, written_like

from .attempt import Others, Query, read_offer

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices

NEARLY = 90
"""From this ratio of rapidfuzz (0-100) on, two queries say nearly the same."""

_LETTER = r"[^\W\u2e80-\U0010ffff]"
"""A letter, digit or `_` of a script that puts spaces between its words."""


def plain_words(query: str) -> str:
    """The words of a query in lower case, without punctuation; empty if it has none.

    >>> plain_words("Sort  the table!") == plain_words("sort the table")
    True
    """
    folded = unicodedata.normalize("NFKC", query).casefold()
    return " ".join(re.findall(r"\w+", folded))


def find_alike(queries: Sequence[str]) -> list[tuple[int, int]]:
    """The places of pairs of queries that are nearly, but not quite, the same.

    The order of the words counts: what turns PDF into text is not what turns text into PDF.

    >>> find_alike(["Sort the rows of sales.csv", "Sort the rows of sale.csv", "Draw a cat"])
    [(0, 1)]
    """
    from rapidfuzz import fuzz, process

    texts = [plain_words(query) for query in queries]
    scores = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=NEARLY)
    pairs = zip(*(places.tolist() for places in scores.nonzero()), strict=True)
    return [(a, b) for a, b in pairs if a < b and texts[a] != texts[b]]


def gives_away(query: str, skill: str) -> bool:
    """Whether a query contains the skill's name as a separate word, or as `/name`.

    A name inside a path, a file name or another word does not count.

    >>> [gives_away(one, "pdf") for one in ("Use the PDF skill.", "/pdf split it", "用pdf技能")]
    [True, True, True]
    >>> [gives_away(one, "pdf") for one in ("ls /a/pdf/b", "open pdf/x", "see a.pdf", "my-pdf")]
    [False, False, False, False]
    """
    before, after = rf"(?<!{_LETTER})(?<![.\\/~-])", rf"(?!{_LETTER}|[\\/-]|\.\w)"
    return re.search(f"{before}/?{re.escape(skill)}{after}", query, re.IGNORECASE) is not None


class NoTriggerSet(Refused):
    """A folder holds no trigger set."""


def set_in(folder: Path) -> Path:
    """The trigger set of a folder: the one nearest to its top.

    A file of evals that say `should_trigger` counts if there is no other set.

    Raises:
        NoTriggerSet: there is none.
        Refused: there are several different ones on the same level.
        NothingToLoad: there is no evaluation document at all.
    """
    files = read_files(find(folder))
    sets = {file.path: document for kind, file, document in files.others if kind == "triggers"}
    sets = {path: set_ for path, set_ in sets.items() if Path(path).name != "evals.json"} or sets
    sets = sets or {
        suite.path: as_set for suite in files.suites if (as_set := _read_labelled(suite.path))
    }
    if not sets:
        raise NoTriggerSet([f"{folder} has no trigger set: name its file, or draft one"])
    highest = min(len(Path(path).parts) for path in sets)
    near = {path: set_ for path, set_ in sets.items() if len(Path(path).parts) == highest}
    words = {
        tuple((query.query, query.should_trigger) for query in own.queries) for own in near.values()
    }
    if len(words) > 1:
        names = [os.path.relpath(path, folder) for path in near]
        raise refuse(f"{folder} holds several trigger sets: {some(names, 9)}. Name the file to use")
    return Path(min(near))


def _read_labelled(path: str) -> TriggerSet | None:
    """A suite as a trigger set, where its evals say whether the skill should be picked up."""
    document, _ = mend(load_raw(path, Problems()), TriggerSet)
    labelled = any(query.should_trigger is not None for query in document.queries)
    return document if labelled else None


SPLITS: dict[str | None, Literal["train", "test"]] = {"train": "train", "test": "test"}
"""What a set may use a query for."""
NONE = frozenset(("", "none", "null", "no skill"))
"""What is expected, in a set for several skills, if none of them should be picked up."""


def read_queries(path: PathLike, *, skill: str | None = None) -> tuple[Query, ...]:
    """Read a trigger set.

    Args:
        path: a file: a bare list of queries, an object with such a list (`queries`, `evals`,
            `query_results`, …), a result with counts, evals that say `should_trigger`; or a
            folder with one such set in it, as a skill's or a workspace.
        skill: the skill's name, for a set that names the `expected` skill of each query; a
            query that expects another one, or none, should not trigger this.

    Returns:
        The queries in the file's order, all of them; none if a folder has no set yet.

    Raises:
        Refused: it is not a trigger set; a query cannot be used, or does not say whether the skill
            should be picked up (all of them are listed); or the folder has several sets.
        FileNotFoundError: there is no such path.
        OSError: the file cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "trigger-eval-set.json")
    ...     written = file.write_text('[{"query": "Add up sales.csv", "should_trigger": true}]')
    ...     read_queries(folder)[0].query
    'Add up sales.csv'
    """
    given = Path(path).expanduser()
    try:
        file = set_in(given) if given.is_dir() else given
    except (NoTriggerSet, NothingToLoad):
        return ()
    document, faults = read_set(file)
    if faults:
        raise Refused(faults)
    labels = [_label_of(query, skill) for query in document.queries]
    if fault := _say_unlabelled(document.queries, labels, skill):
        raise refuse(f"{file} {fault}")
    return tuple(
        Query(query.query, bool(label), tuple(query.tags), SPLITS.get(query.split))
        for query, label in zip(document.queries, labels, strict=True)
    )


def read_set(file: Path) -> tuple[TriggerSet, list[str]]:
    """Read a file as a document that keeps everything, with what cannot be used of it.

    Raises:
        Refused: it is not a trigger set at all.
        OSError: it cannot be read.
    """
    try:
        raw = parse(read_bytes(file), Faults())
    except NotJSON as error:
        raise refuse(f"{file} is not a trigger set: {error}") from None
    document, faults = mend(raw, TriggerSet)
    wrong = [fault for fault in faults if fault.severity == "error"]
    if any(fault.where in ("$", "$.queries") for fault in wrong):
        held = clip(msgspec.json.encode(raw).decode())
        raise refuse(
            f"{file} is not a trigger set: it holds {held}. It must be a list of objects with "
            "`query` and `should_trigger`, or an object with such a list in `queries`"
        )
    return document, [f"{file}: {fault.where}: {fault.message}" for fault in wrong]


def is_for_several(query: TriggerQuery) -> bool:
    """Whether a row says which skill should be picked up, and not whether one should."""
    return query.should_trigger is None and query.expected is not None


def _label_of(query: TriggerQuery, skill: str | None) -> bool | None:
    expected = (query.expected or "").strip()
    if not is_for_several(query):
        return query.should_trigger
    return expected == skill if expected.casefold() not in NONE else False


def _say_unlabelled(
    queries: Sequence[TriggerQuery], labels: Sequence[bool | None], skill: str | None
) -> str | None:
    """The message if it is unknown whether a query should trigger."""
    expected = {(query.expected or "").strip() for query in queries if is_for_several(query)}
    named = sorted(name for name in expected if name.casefold() not in NONE)
    if named and skill not in expected:
        return f"is a set for several skills ({some(named, 20)}): name one of them with `skill`"
    missing = [str(number) for number, label in enumerate(labels, 1) if label is None]
    if not missing:
        return None
    return (
        f"has {count(len(labels), 'row')}, of which {len(missing)} (number {some(missing)}) do not "
        "say whether the skill should be picked up: add `should_trigger`, true or false"
    )


def write_queries(path: PathLike, queries: Iterable[Query]) -> Path:
    """Write a trigger set in one step; `read_queries` gives it back.

    A file that is there keeps its layout, and of each query that stays (by its words) whatever
    else it says of it; queries that are not given go. A new file is a bare list.

    Args:
        path: the file to write.
        queries: the whole set, in the order that the file is to have.

    Raises:
        Refused: what is there is no trigger set, or one for several skills. Nothing was written
            then.
        OSError: the file cannot be read or written.
    """
    given, file = tuple(queries), Path(path).expanduser()
    with lock_path(file):
        before = read_bytes(file) if file.exists() else None
        document = TriggerSet(queries=[]) if before is None else _read_existing(file)
        document.queries = _merge_rows(document.queries, given)
        origin = origin_of(document)
        bare = origin is None or isinstance(origin.raw, list)
        value = dump(document.queries if bare else document)
        return write_atomic(file, written_like(value, before))


def _read_existing(file: Path) -> TriggerSet:
    document, faults = read_set(file)
    if faults:
        raise Refused([f"{fault}; correct the file before saving to it" for fault in faults])
    if any(map(is_for_several, document.queries)):
        raise refuse(
            f"{file} names the `expected` skill of each query, for several skills: write the "
            "queries of one to another file"
        )
    return document


def _merge_rows(there: Iterable[TriggerQuery], queries: Iterable[Query]) -> list[TriggerQuery]:
    """The rows of the queries: existing ones, changed ones and new ones."""
    known: defaultdict[str, list[TriggerQuery]] = defaultdict(list)
    for row in there:
        known[row.query].append(row)
    return [
        _row(known[query.query].pop(0) if known[query.query] else None, query) for query in queries
    ]


def _row(row: TriggerQuery | None, query: Query) -> TriggerQuery:
    row = row or TriggerQuery(query=query.query, should_trigger=None)
    row.should_trigger = query.should_trigger
    if tuple(row.tags) != query.tags:
        row.tags = list(query.tags)
    if query.split is not None or row.split in SPLITS:
        row.split = query.split
    return row


FEW = 8
"""With fewer queries of a class than this, its figure says next to nothing."""
_Z = 1.959964
"""The normal quantile of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class QueryDoubt:
    """Something that is wrong with a trigger set.

    Attributes:
        doubt: its name, such as `gives away`.
        message: what was found, why it matters, and what to do.
        queries: the words of the queries that it is about; empty if it is about the set.
    """

    doubt: str
    message: str
    queries: tuple[str, ...] = ()


def check_queries(queries: Iterable[Query], skill: str | None = None) -> tuple[QueryDoubt, ...]:
    """Check a trigger set; nothing is run, asked or changed.

    Args:
        queries: the set.
        skill: the skill's name; without it, queries that give it away cannot be found.

    Returns:
        The doubts, the worst first; none if there is nothing to doubt:

        - `no queries`: the set is empty;
        - `no positives`, `no negatives`: all queries are of one class;
        - `contradiction`: the same words should trigger and should not;
        - `empty`: a query without words;
        - `twice`: the same words again, whatever their case and marks;
        - `nearly twice`: two of one class that differ in next to nothing;
        - `gives away`: the query contains the skill's name as a word;
        - `few`: a class has too few queries for its figure to say much.

    >>> asked = [Query("Sort the table", True), Query("sort the table.", False)]
    >>> [one.doubt for one in check_queries(asked)]
    ['contradiction', 'few', 'few']
    """
    given = tuple(queries)
    if not given:
        return (
            QueryDoubt("no queries", "No queries yet: add some, import a file, or draft some."),
        )
    found = [*_doubt_all(given, skill)]
    for should, verb in ((True, "should"), (False, "should not")):
        own = [query for query in given if query.should_trigger is should]
        found += _doubt_class(own, verb, "recall" if should else "precision")
    return tuple(sorted(found, key=lambda doubt: ORDER.index(doubt.doubt)))


ORDER = ("no positives", "no negatives", "contradiction", "empty")
ORDER += ("twice", "nearly twice", "gives away", "few")
"""The doubts about a set, the worst first."""


def _doubt_all(queries: Sequence[Query], skill: str | None) -> Iterator[QueryDoubt]:
    for same in _group_by_words(queries):
        if len({query.should_trigger for query in same}) > 1:
            what = f"{in_quotes(same[0].query)} should trigger and should not. "
            yield _doubt("contradiction", what + "One of the two is wrong: remove it.", same)
    if blank := [query for query in queries if not plain_words(query.query)]:
        what = f"{_queries(len(blank))} without words, for which no skill can be picked up. "
        yield _doubt("empty", what + "Remove these.", blank)
    named = [query for query in queries if skill and gives_away(query.query, skill)]
    if skill and named:
        what = f"The skill's own name, {in_quotes(skill)}, appears in {_queries(len(named))}, such "
        why = (
            f"as {in_quotes(named[0].query)}: the name gives it away, so the description is not "
            "tested. Ask as somebody who has never heard of the skill would."
        )
        yield _doubt("gives away", what + why, named)


def _doubt_class(own: Sequence[Query], verb: str, figure: str) -> Iterator[QueryDoubt]:
    """The doubts about the queries of one class.

    Only within a class may none be nearly the same: a near miss should be close to a query that
    should trigger. With n queries that are all right, Wilson's lower limit is n / (n + z²).
    """
    if not own:
        what = f"There is no query that {verb} trigger, so {figure} is unknown. "
        name = "no positives" if verb == "should" else "no negatives"
        yield QueryDoubt(name, what + "Add some.")
    for same in _group_by_words(own):
        if len(same) > 1:
            what = f"{in_quotes(same[0].query)} occurs {len(same)} times, and counts each time. "
            yield _doubt("twice", what + "Keep one.", same)
    for places in _link_groups(find_alike([query.query for query in own])):
        same = [own[place] for place in places]
        both = " and ".join(in_quotes(query.query) for query in same[:2])
        more = f", as do {len(same) - 2} more" if len(same) > 2 else ""
        what = f"{both} say nearly the same{more}. Reword one of them."
        yield _doubt("nearly twice", what, same)
    number = len({plain_words(query.query) for query in own})
    if 0 < number < FEW:
        sure = number / (number + _Z**2)
        what = f"Only {_queries(number)} {verb} trigger: even if all come out right, that "
        why = f"shows no more than a rate above {sure:.0%}. Add {FEW - number} or more."
        yield QueryDoubt("few", what + why)


def _link_groups(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Those that pairs link, directly or through others, in order.

    >>> _link_groups([(0, 2), (1, 4), (2, 3)])
    [[0, 2, 3], [1, 4]]
    """
    found: list[set[int]] = []
    for pair in pairs:
        touched = [group for group in found if not group.isdisjoint(pair)]
        found = [group for group in found if group not in touched] + [set(pair).union(*touched)]
    return sorted(map(sorted, found))


def _group_by_words(queries: Sequence[Query]) -> list[list[Query]]:
    """Queries with the same words, together; those without any are left out."""
    found: defaultdict[str, list[Query]] = defaultdict(list)
    for query in queries:
        found[plain_words(query.query)].append(query)
    found.pop("", None)
    return list(found.values())


def _doubt(name: str, message: str, about: Sequence[Query]) -> QueryDoubt:
    return QueryDoubt(name, message, tuple(query.query for query in about))


def _queries(number: int) -> str:
    return count(number, "query")


# ── queries that a model drafts ──────────────────────────────────────────────────────────────────

NEAR_MISS = "near miss"
"""The tag of a query that is close to what the skill does but is not for it."""
MOST_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Demand:
    """What to draft: half of the queries should trigger, the others should not.

    Attributes:
        n: how many queries.
        skill: the skill that they are for.
        others: the skills installed next to it.
        existing: the queries that already exist.
    """

    n: int
    skill: SkillSource
    others: tuple[SkillSource, ...]
    existing: tuple[Query, ...]

    @property
    def numbers(self) -> tuple[int, int, int]:
        """How many should trigger, how many should not, and the least near misses of these."""
        negatives = self.n // 2
        return self.n - negatives, negatives, (negatives + 1) // 2


def read_draft(raw: Any, wanted: Demand) -> tuple[Query, ...]:
    """The queries of an answer.

    Some things are not faults here, but doubts of `check_queries`: queries that say nearly the
    same, and a name of one word, such as `pdf`, which users may say anyway.

    Raises:
        BadAnswer: if anything is wrong; it lists every fault with its query.
    """
    look = AnswerCheck()
    rows = check_form(raw, SCHEMA)["queries"]
    found = [_read_row(row, look, f"queries[{at}]", wanted) for at, row in enumerate(rows)]
    _check_all(found, look, wanted)
    look.raise_faults()
    return tuple(found)


def _read_row(row: dict[str, Any], look: AnswerCheck, where: str, wanted: Demand) -> Query:
    text = " ".join(look.read_text(row, "query", where).split())
    should, near, right = row["should_trigger"], row["near_miss"], row.get("right_skill")
    if len(text) > MOST_CHARS:
        look.note_fault(f"{where}: `query` has {len(text):,} characters; at most {MOST_CHARS:,}")
    if re.search(r"[\W_]", wanted.skill.name) and gives_away(text, wanted.skill.name):
        look.note_fault(f"{where}: `query` names the skill, {wanted.skill.name}")
    if should and near:
        look.note_fault(f"{where}: a near miss should not trigger")
    if right is not None and (should or not near):
        look.note_fault(f"{where}: `right_skill` is for near misses alone; null elsewhere")
    elif right is not None and right not in (others := [other.name for other in wanted.others]):
        known = ", ".join(others) or "none"
        look.note_fault(f"{where}: no other skill is called {short(right)}; there are {known}")
    tags = (NEAR_MISS, *([f"for {right}"] if right is not None else [])) if near else ()
    return Query(text, should, tags)


def _check_all(found: Sequence[Query], look: AnswerCheck, wanted: Demand) -> None:
    """Check the numbers of queries, and that none is repeated."""
    positives, negatives, near_misses = wanted.numbers
    should = sum(query.should_trigger for query in found)
    near = sum(NEAR_MISS in query.tags for query in found)
    if (should, len(found) - should) != (positives, negatives):
        there = f"{should} of {len(found)} queries should trigger"
        look.note_fault(f"{there}, not {positives} of {wanted.n}")
    if near < near_misses:
        look.note_fault(f"there are {near} near misses; at least {near_misses}")
    known = {plain_words(query.query): "a query that there is already" for query in wanted.existing}
    for at, query in enumerate(found):
        words = plain_words(query.query)
        if words and words in known:
            look.note_fault(f"queries[{at}] repeats {known[words]}")
        known.setdefault(words, f"queries[{at}]")


SYSTEM = (
    """\
You write trigger evals for the author of an agent skill. A model sees the name and the \
description of each skill that is installed, and opens one where a user's request calls for it. \
You are shown one skill, the others that are installed beside it, and the queries that there are \
already. Write queries that show whether its description makes a model open it when it should, \
and only then.

Rules

1. Write what real users type: first person, a purpose, names of files and columns, figures, bits \
of background, now and then a typing error or no capital letters. Vary length (one line to a \
paragraph), tone and the way the wish is put. Every query stands on its own.
2. Queries that should trigger need what the skill does, mostly without its own words: another \
name for the thing, a symptom, a goal. They are large enough that a model would look for help.
3. Queries that should not trigger are near misses above all (`near_miss` true): the same words, \
files or field, and yet another task, one for another of the installed skills or for none. Few, \
if any, are plainly about something else.
4. `right_skill` is the name of the installed skill that a near miss is for; null where it is for \
none, and for every query that should trigger.
5. Never name the skill. Never say that there is a skill, a trigger, a test or an eval.
6. No query repeats another one, or one that there is already, in nearly the same words.
7. `why` says in a few words what the query puts to the test.
8. """
    + FENCED_RULE
)
SCHEMA: dict[str, Any] = an_object(
    queries=a_list(
        an_object(
            # The reason comes before the query, so that it is written first.
            why=TEXT,
            should_trigger=YES_OR_NO,
            near_miss=YES_OR_NO,
            right_skill=or_null(TEXT),
            query=TEXT,
        )
    )
)
SKILL_CHARS, TEXT_CHARS, MOST_EXISTING = 12_000, 1_024, 200
TOKENS_A_QUERY, TOKENS_AROUND = 250, 2_000


def question_of(model: str, wanted: Demand) -> Question[tuple[Query, ...]]:
    """The question; the same material and model always make the same one."""
    return keyed_question(
        model,
        SYSTEM,
        _demand_text(wanted),
        schema=SCHEMA,
        read=partial(read_draft, wanted=wanted),
        max_tokens=TOKENS_AROUND + TOKENS_A_QUERY * wanted.n,
        who="the drafter",
    )


def _demand_text(wanted: Demand) -> str:
    body = read_text(wanted.skill.folder)
    existing = [
        f"- ({'should' if query.should_trigger else 'should not'}) {_clip(query.query)}"
        for query in wanted.existing[:MOST_EXISTING]
    ]
    parts = [
        ("skill", [shorten_text(body, SKILL_CHARS)]),
        ("others", [f"- {other.name}: {_clip(other.description)}" for other in wanted.others]),
        ("existing", existing),
    ]
    nonce, blocks = fence_lines(parts)
    sections = [f"The skill is {wanted.skill.name}. The fences' nonce is {nonce}.", *blocks]
    if len(wanted.existing) > MOST_EXISTING:
        sections.append(f"{len(wanted.existing) - MOST_EXISTING} more existing are not shown.")
    positives, negatives, near_misses = wanted.numbers
    sections.append(
        f"Now write exactly {positives} queries that should trigger and {negatives} "
        f"that should not, at least {near_misses} of these near misses."
    )
    return "\n\n".join(sections)


def _clip(text: str) -> str:
    return clip(text, TEXT_CHARS)


class DraftedQueries(tuple[Query, ...]):  # noqa: SLOT001 -- a tuple cannot have slots of its own
    """Drafted queries, as a tuple.

    Attributes:
        doubts: what `check_queries` says of the existing queries and these together.
        price_usd: the most that asking costs, in US dollars; 0 if an answer is stored, None if the
            price is not known.
        cost_usd: what was spent now, in US dollars; None if the price is not known.
        unasked: why there are none; None if there are.
    """

    doubts: tuple[QueryDoubt, ...]
    price_usd: float | None
    cost_usd: float | None
    unasked: str | None

    def __new__(cls, answer: PaidAnswer[tuple[Query, ...]]) -> Self:
        """The queries of an answer, with its price and cost."""
        queries = sorted(answer.value or (), key=lambda query: not query.should_trigger)
        drafted = super().__new__(cls, queries)
        drafted.price_usd, drafted.cost_usd = answer.price_usd, answer.cost_usd
        drafted.doubts, drafted.unasked = (), answer.unasked
        return drafted

    def __repr__(self) -> str:
        lines = [f"drafted {len(self)} queries" if self else f"nothing drafted: {self.unasked}"]
        for query in self:
            tags = f"  [{', '.join(query.tags)}]" if query.tags else ""
            should = "should    " if query.should_trigger else "should not"
            lines.append(f"  {should}  {clip(query.query, 200)}{tags}")
        return "\n".join([*lines, *(f"  {doubt.doubt}: {doubt.message}" for doubt in self.doubts)])


MOST = 100
"""The most queries that are drafted at once."""
KEPT = Path(OWN, "queries")


def draft_queries(
    skill: PathLike,
    *,
    model: str,
    n: int = 20,
    others: Others = "none",
    existing: Iterable[Query] = (),
    folder: PathLike | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    dry_run: bool = False,
) -> DraftedQueries:
    """Ask a model for queries that should and should not make an agent open a skill.

    Half of them should, the others should not; at least half of these are near misses (tagged `near
    miss`, and `for NAME` where another skill would be right). The answer is stored, so the same
    question is never paid for twice; pass its queries as `existing` to get others.

    Args:
        skill: the skill's folder or its SKILL.md; the model sees the beginning of it.
        model: who drafts; an offline model costs nothing.
        n: queries to draft, 2 to 100.
        others: the skills next to it, as for `measure`; the model sees their names and
            descriptions.
        existing: queries that already exist; none of them is repeated.
        folder: where the answer is stored; by default NAME-workspace next to the skill.
        connection: how the model is reached; if not given, the stand-in answers in process for
            its own models; other models are called over the network.
        prices: what calls cost; the bundled table if not given.
        budget_usd: the most that may be spent, in US dollars; without it, a model that costs money
            is not asked, and `unasked` says so.
        dry_run: do not ask; `price_usd` is the most that the answer can cost.

    Returns:
        The queries, those that should trigger first; none if `unasked` says why.

    Raises:
        Refused: a skill cannot be read, two have the same name, n is out of bounds, the budget is
            too small, the folder cannot be written, or queries are already being drafted there. It
            is a ValueError.
        ModelFault: the model cannot be reached because there is no key.
        OSError: the answer cannot be written.
    """
    if not 2 <= n <= MOST:
        raise refuse(f"n is {n}: it must be from 2 to {MOST}, half of each kind")
    offer = read_offer(skill, others, None)
    source = offer.skill
    wanted = Demand(n, source, offer.others, tuple(existing))
    question = question_of(model, wanted)
    home = folder_beside(source.folder, folder)
    terms = Terms(connection, prices, budget_usd, dry_run=dry_run)
    found = DraftedQueries(
        ask_once(question, home / KEPT, read_queries, write_queries, "queries", terms)
    )
    if found:
        found.doubts = check_queries([*wanted.existing, *found], source.name)
    return found
