"""`draft`: turn what graders suggest and figures show into concrete changes of a suite.

Drafts come from rules, and optionally from a model: what it sees, what it may answer, what is
accepted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, cast

from skill_eval_nb.documents import Dimension, StructuralExpectation, mend
from skill_eval_nb.grading.checks import terms_of
from skill_eval_nb.grading.outputs import BadGlob, list_outputs, match_pattern
from skill_eval_nb.grading.search import BadPattern
from skill_eval_nb.models.ask import (
    FENCED_RULE,
    TEXT,
    YES_OR_NO,
    AnswerCheck,
    a_list,
    an_object,
    check_form,
    fence_lines,
    keyed_question,
    one_of,
    or_null,
    short,
    shorten_text,
)
from skill_eval_nb.running.asking import PaidAnswer, Terms, ask_once
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.skill_md import SkillMd, find_leaks, read_skill_of
from skill_eval_nb.text import clip, count, in_quotes, some
from skill_eval_nb.view import Block, Items, Shown, Text, Title
from skill_eval_nb.workspace import PathLike

from .aggregation import Aggregate, aggregate
from .edits import suite_file
from .rules import RULES, Check, Evidence, evidence_of, runs_of, say_unsettled, shared_form
from .values import (
    ANCHORS,
    Draft,
    Kind,
    Part,
    Suggestion,
    SuiteItem,
    missing_in,
    new_draft,
    own_folder,
    read_drafts,
    write_drafts,
)

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices
    from skill_eval_nb.tables.workspace import Workspace

PARTS: Mapping[str, tuple[str, Sequence[str]]] = {
    "structural_expectations": ("structural expectation", ("add", "sharpen", "demote", "drop")),
    "expectations": ("judged expectation", ("add", "reword", "split", "drop")),
    "dimensions": ("rubric dimension", ("add", "sharpen", "drop")),
    "evals": ("eval", ("add",)),
}
"""What an item of each part is called, and the kinds of drafts that a model may make of it."""


class Drafts(Shown, tuple[Draft, ...]):  # noqa: SLOT001 -- a tuple cannot have slots of its own
    """Drafts, as a tuple that displays itself.

    Attributes:
        price_usd: the most that asking the model can cost, in US dollars; 0 if none was named, None
            if its price is not known.
        cost_usd: what was spent.
        unasked: why the model has not drafted; None if it has, or if none was named.
        skill: the folder of the skill whose first evals they are; None for drafts of changes.
        measured: the skill that the evals are to measure, if it is known.
        prompts: the prompt of each existing eval, by id.
        waiting: which checks have too few runs for a draft; "" if none has.
    """

    price_usd: float | None
    cost_usd: float | None
    unasked: str | None
    skill: Path | None = None
    measured: SkillMd | None = None
    prompts: Mapping[str, str] = MappingProxyType({})
    waiting: str = ""

    def __new__(
        cls, drafts: Iterable[Draft] = (), answer: PaidAnswer[Any] | None = None, **about: Any
    ) -> Self:
        """Drafts, with the price and cost of asking a model, and others of the attributes."""
        self, answer = super().__new__(cls, drafts), answer or PaidAnswer()
        paid = {name: getattr(answer, name) for name in ("price_usd", "cost_usd", "unasked")}
        vars(self).update(paid | about)
        return self

    def say_leaks(self, draft: Draft) -> str:
        """What a draft, as it is now, quotes from the skill; "" if nothing."""
        if self.measured is None or draft.part == "dimensions":
            return ""
        asked = "\n".join(self.prompts.get(name, "") for name in draft.evals)
        leaks = (leak for item in draft.new for leak in find_leaks(item, self.measured, asked))
        found = [quote for _, quotes in leaks for quote in quotes]
        quotes = some((f"‘{clip(quote, 60)}’" for quote in dict.fromkeys(found)), 6)
        return f"It quotes the skill ({quotes}), so it may measure obedience." if found else ""

    def _blocks(self) -> Iterator[Block]:
        yield Title(count(len(self), "draft") if self else "no drafts")
        yield from map(Text, filter(None, (self.unasked, self.waiting)))
        for draft in self:
            missing = f"still needs: {', '.join(draft.missing)}" if draft.missing else ""
            coming = (f"→ {item}" for item in map(_summarise, draft.new) if item)
            rests = f"It rests on {count(len(draft.runs), 'run')}." if draft.runs else ""
            leaks = self.say_leaks(draft)
            lines = [line for line in (*coming, missing, leaks, draft.why, rests) if line]
            yield Items(lines, f"{draft.key} {change_text(draft)}")


def draft(
    ws: Workspace,
    found: Aggregate | None = None,
    *,
    baseline: str | None = None,
    model: str | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    dry_run: bool = False,
) -> Drafts:
    """Draft concrete changes of a suite; nothing is written, and no eval is run.

    By rule, from the figures: checks to drop or to take out of the gate, expectations to reword,
    anchors and weights of rubric dimensions, expectations for what graders miss, evals to add. A
    model drafts as well, if one is named: it sees outputs of only half of the evals, so that its
    checks can be tested on the other half.

    Args:
        ws: a workspace with one suite; all its iterations count.
        found: what its graders suggest; `aggregate(ws)` if not given.
        baseline: the configuration to compare against; chosen by name if not given.
        model: a model that drafts as well; an offline model costs nothing.
        connection: how models are reached.
        prices: what calls cost; the bundled table if not given.
        budget_usd: the most that the model may cost, in US dollars; without it, a model that costs
            money is not asked, and `unasked` says so.
        dry_run: do not ask; `price_usd` is the most that the model can cost.

    Returns:
        The drafts, those based on the most runs first, and last those that quote the skill. No
        two make the same change.

    Raises:
        Refused: the workspace has several suites, the baseline does not exist, or the budget is too
            small.
        ModelFault: the model cannot be reached because there is no key.

    >>> import skill_eval_nb as sen
    >>> draft(sen.Workspace.from_tables({}))
    no drafts
    """
    evidence = evidence_of(ws, aggregate(ws) if found is None else found, baseline)
    answer: PaidAnswer[tuple[Draft, ...]] = PaidAnswer()
    if model is not None:
        answer = ask_model(evidence, model, Terms(connection, prices, budget_usd, dry_run=dry_run))
    by_rule = [draft_ for rule in RULES for draft_ in rule(evidence)]
    prompts = {name: eval_.prompt for name, eval_ in evidence.suite.items()}
    every = order_drafts([*by_rule, *(answer.value or ())])
    measured, waiting = find_measured(ws.path), say_unsettled(evidence)
    made = partial(Drafts, answer=answer, measured=measured, prompts=prompts, waiting=waiting)
    drafts = made(every)
    return made(sorted(drafts, key=lambda each: bool(drafts.say_leaks(each))))


def find_measured(evals: PathLike) -> SkillMd | None:
    """The skill that a suite measures, given as for `suite_file`; None if it is in none."""
    with suppress(Refused):
        return read_skill_of(suite_file(evals)) if evals else None


def order_drafts(drafts: Iterable[Draft]) -> list[Draft]:
    """Drafts without repeats, those based on the most runs first.

    Changes that differ only in their description are the same; the first one counts.
    """
    first: dict[str, Draft] = {}
    for draft in drafts:
        first.setdefault(_draft_essence(draft), draft)
    return sorted(first.values(), key=lambda draft: -len(draft.runs))


def _draft_essence(draft: Draft) -> str:
    """What a draft changes, apart from how it is described."""
    new: list[Any] = [
        item
        if isinstance(item, str) or draft.part == "dimensions"
        else {name: value for name, value in item.items() if name != "description"}
        for item in draft.new
    ]
    return json.dumps([draft.part, sorted(draft.evals), draft.target, new], sort_keys=True)


def change_text(draft: Draft) -> str:
    """What a draft does, in one line.

    >>> from .values import new_draft
    >>> change_text(new_draft("drop", "expectations", ["1", "2"], "It is good", [], "Why."))
    'drop the judged expectation ‘It is good’ of evals 1 and 2'
    """
    article = "a new" if draft.target is None else "the"
    new = [item.get("name") for item in draft.new if not isinstance(item, str)]
    called = (new[:1] or [None])[0] if draft.part == "evals" else draft.target
    name = f" {draft.called or in_quotes(str(called))}" if called else ""
    evals = some(draft.eval_names, 4)
    of = f" of eval{'' if len(draft.evals) == 1 else 's'} {evals}" if draft.evals else ""
    if draft.part == "evals" and draft.target is not None:
        return f"{draft.kind} eval {evals}"
    return f"{draft.kind} {article} {PARTS[draft.part][0]}{name}{of}"


def _summarise(each: SuiteItem) -> str:
    if isinstance(each, str):
        return clip(each, 120)
    fields = (f"{name}: {clip(str(v), 100)}" for name, v in each.items() if v not in ("", None))
    return clip("; ".join(fields), 400)


# ── a model: what it is asked and shown ──────────────────────────────────────────────────────

KINDS = ("add", "sharpen", "reword", "split", "demote", "drop")
TYPES = ("file_exists", "file_contains", "file_not_contains", "file_count", "no_errors")
"""A script is not among them: what runs on somebody's machine is written by people."""
OPERATORS = ("==", ">=", "<=")

_MAYBE = or_null(TEXT)

ITEM: dict[str, Any] = {
    "text": _MAYBE,
    "type": or_null(one_of(*TYPES)),
    "description": _MAYBE,
    "pattern": _MAYBE,
    "match": _MAYBE,
    "match_any": or_null(a_list(TEXT)),
    "match_regex": _MAYBE,
    "critical": YES_OR_NO,  # the API takes 16 fields that may be null, and no more
    "count": or_null({"type": "integer"}),
    "operator": or_null(one_of(*OPERATORS)),
    "name": _MAYBE,
    "weight": or_null({"type": "number"}),
    **{f"anchor_{at}": _MAYBE for at in ANCHORS},
    "prompt": _MAYBE,
}
"""The fields of items that may be added to a suite."""
SCHEMA: dict[str, Any] = an_object(
    drafts=a_list(
        an_object(
            # The reason comes before the change, so that it is written first.
            why=TEXT,
            rests_on=a_list(TEXT),
            kind=one_of(*KINDS),
            part=one_of(*PARTS),
            evals=a_list(TEXT),
            target=_MAYBE,
            items=a_list(an_object(**ITEM)),
        )
    )
)


SYSTEM = (
    """\
You help the author of an agent skill to make its evals tell more. You are shown a suite of \
evals, what became of its checks in stored runs with the skill and without it (the baseline), \
what graders suggested for it, and parts of a few outputs. Answer with drafts of changes.

Rules

1. Draft few changes, at most twelve, each of which makes the suite tell good work from bad work \
better. A check that only the skill's habits of wording can pass is worse than none.
2. Parts and kinds. `structural_expectations` are looked at by a program: add, sharpen, demote \
(take out of the gate), drop. `expectations` are verified by a judge: add, reword, split, drop. \
`dimensions` are scored 1 to 5 by a judge: add, sharpen, drop. `evals`: add.
3. `evals` has the ids of the evals that change, as they stand in brackets; for a new eval it is \
empty. `target` is the number of the check (C1) or dimension (D1) that goes; null where something \
is added. `items` come in its place: none for drop, one for sharpen, reword, demote, two or more \
for split.
4. An item of `structural_expectations` has a type, a `description`, `pattern` (a glob of the \
outputs' files), for file_contains and file_not_contains one of `match`, `match_any` (one of \
several is enough) or `match_regex` (Python), for file_count a `count` and an `operator`. An item \
of `expectations` has a `text`. One of `dimensions` has a `name` (snake_case), a `description`, a \
`weight`, and what a 1, a 3 and a 5 look like. One of `evals` has a `name` and a `prompt`; it \
gets the checks that all evals share. Every other field is null, and `critical` false.
5. `rests_on` has the numbers of the suggestions (G1), checks (C1) and dimensions (D1) that a \
draft rests on; `why` says in one or two sentences, with their figures, what is wrong now and \
what gets better.
6. """
    + FENCED_RULE
)
MOST_CHECKS, MOST_SUGGESTIONS, MOST_EVALS = 80, 60, 40
MOST_OUTPUTS, OUTPUT_CHARS, SKILL_CHARS, TEXT_CHARS = 12, 1_500, 8_000, 500
MOST_CHARS = 30_000
"""Characters of a run's files that are read."""


@dataclass(frozen=True, slots=True)
class Material:
    """What the model is shown, by the numbers used there.

    Attributes:
        checks: C1, C2, …
        dimensions: D1, D2, …
        suggestions: G1, G2, …
        looked_at: ids of the evals whose outputs it sees.
        text: all of it.
    """

    checks: dict[str, Check]
    dimensions: dict[str, tuple[Dimension, tuple[str, ...]]]
    suggestions: dict[str, Suggestion]
    looked_at: tuple[str, ...]
    text: str


def gather_material(evidence: Evidence) -> Material:
    """Choose what to show, and write it down.

    Outputs come from half of the evals, so that drafts can be tested on the other half.
    """
    checks = {f"C{n}": check for n, check in enumerate(evidence.checks[:MOST_CHECKS], 1)}
    dimensions = {f"D{n}": dimension for n, dimension in enumerate(evidence.dimensions(), 1)}
    found = evidence.found.suggestions[:MOST_SUGGESTIONS]
    suggestions = {f"G{n}": suggestion for n, suggestion in enumerate(found, 1)}
    outputs = list(_read_outputs(evidence))
    parts = [
        ("skill", [shorten_text(evidence.skill_text(), SKILL_CHARS)]),
        ("evals", list(_eval_lines(evidence))),
        ("checks", [_check_line(name, check) for name, check in checks.items()]),
        ("dimensions", [_dimension_line(name, *entry) for name, entry in dimensions.items()]),
        (
            "suggestions",
            [_suggestion_line(name, suggestion) for name, suggestion in suggestions.items()],
        ),
        ("outputs", [text for _, text in outputs]),
    ]
    left_out = [
        ("evals", len(evidence.suite) - MOST_EVALS),
        ("checks", len(evidence.checks) - MOST_CHECKS),
        ("suggestions", len(evidence.found.suggestions) - MOST_SUGGESTIONS),
    ]
    nonce, blocks = fence_lines(parts)
    text = [f"The fences' nonce is {nonce}.", *blocks]
    text += [f"{n} more {what} are not shown." for what, n in left_out if n > 0]
    looked_at = tuple(dict.fromkeys(eval_id for eval_id, _ in outputs))
    return Material(checks, dimensions, suggestions, looked_at, "\n\n".join(text))


def _eval_lines(evidence: Evidence) -> Iterator[str]:
    for eval_id, eval_ in list(evidence.suite.items())[:MOST_EVALS]:
        yield f"[{eval_id}] {clip(evidence.names[eval_id], 80)}: {_clip(eval_.prompt)}"


def _check_line(number: str, check: Check) -> str:
    layer = "structural" if check.structural else "judged"
    gate = "; critical" if check.critical else ""
    figures = " | ".join(str(row["reason"]) for row in check.figures) or "no verdicts"
    fields = _check_fields(check) if check.structural else ""
    return (
        f"[{number}] ({layer}{gate}; evals {_join_names(check.evals)}) "
        f"{check.named}{fields}: {figures}"
    )


def _check_fields(check: Check) -> str:
    names = "type pattern match match_any match_regex count operator tool tools skill".split()
    given = {name: getattr(check.definition, name) for name in names}
    return " " + ", ".join(f"{name} {_clip(str(value))}" for name, value in given.items() if value)


def _dimension_line(number: str, dimension: Dimension, evals: tuple[str, ...]) -> str:
    anchors = "; ".join(f"{at}: {_clip(text)}" for at, text in sorted(dimension.scoring.items()))
    name = f"{dimension.id} {dimension.name}" if dimension.id else dimension.name
    return (
        f"[{number}] (weight {dimension.weight:g}; evals {_join_names(evals)}) {clip(name, 80)}: "
        f"{_clip(dimension.description or 'no description')} Anchors: {anchors or 'none'}"
    )


def _suggestion_line(number: str, suggestion: Suggestion) -> str:
    about = (
        f"about {_clip(suggestion.assertion)}"
        if suggestion.assertion
        else "about nothing that is there"
    )
    action = f" To do: {_clip(suggestion.action)}" if suggestion.action else ""
    return (
        f"[{number}] ({suggestion.frequency} runs; {about}; evals {_join_names(suggestion.evals)}) "
        f"{_clip(suggestion.reason)}{action}"
    )


def _read_outputs(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """An eval's id and the beginning of an output, the last one of each side of some evals."""
    runs = [(ref, run.outputs) for ref, run in evidence.stored.items() if run.outputs is not None]
    looked_at = first_half(ref.eval_id for ref, _ in runs if ref.eval_id in evidence.suite)
    last: dict[tuple[str, str], str] = {}
    for ref, folder in reversed(runs):
        key = ref.eval_id, ref.configuration
        if ref.eval_id in looked_at and ref.configuration in (evidence.sides or ()):
            last[key] = last.get(key) or _read_beginning(folder)
    told = [(key, text) for key, text in reversed(last.items()) if text]
    for (eval_id, side), text in told[:MOST_OUTPUTS]:
        yield eval_id, f"[eval {eval_id}, {clip(side)}]\n{text}"


def first_half(evals: Iterable[str]) -> set[str]:
    """The half of the evals to look at; the others are kept for testing the drafts.

    The split depends only on the names, so it is the same each time and nobody has chosen it. For
    an odd number, this half has one more.

    >>> sorted(first_half(["1", "2", "3"]))
    ['1', '2']
    """
    names = set(evals)
    dealt = sorted(names, key=lambda name: hashlib.sha256(f"half of {name}".encode()).digest())
    return set(dealt[: -(-len(dealt) // 2)])


def _read_beginning(folder: Path) -> str:
    """The text of a run's output files, shortened; empty if they say nothing."""
    outputs = list_outputs(str(folder))
    text = ""
    for name in outputs.names:
        if len(text) >= MOST_CHARS:
            break
        try:
            data = outputs.read(name)
        except OSError:  # what cannot be read shows nothing; a check would say so
            continue
        if b"\0" not in data:
            text += data[: MOST_CHARS * 4].decode("utf-8", "replace") + "\n"
    return shorten_text(text[:MOST_CHARS], OUTPUT_CHARS) if text.strip() else ""


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(clip(name) for name in names)


def _clip(text: str) -> str:
    return clip(text, TEXT_CHARS)


# ── what it answers ──────────────────────────────────────────────────────────────────────────

_ITEMS = {"drop": (0, 0), "split": (2, 9), "add": (1, 9)}
_STRUCTURAL = (
    *("type", "description", "pattern", "match", "match_any", "match_regex"),
    *("count", "operator"),
)


def drafts_of_answer(
    raw: Any, evidence: Evidence, given: Material, model: str
) -> tuple[Draft, ...]:
    """The drafts of an answer.

    Raises:
        BadAnswer: if anything is wrong; it lists every fault with its draft.
    """
    look = AnswerCheck()
    found = [
        _make_draft(stated, look, f"drafts[{at}]", evidence, given, model)
        for at, stated in enumerate(check_form(raw, SCHEMA)["drafts"])
    ]
    look.raise_faults()
    return tuple(found)


def _make_draft(
    stated: dict[str, Any],
    look: AnswerCheck,
    where: str,
    evidence: Evidence,
    given: Material,
    model: str,
) -> Draft:
    """A draft of an answer; what is wrong with it is noted."""
    kind, part = cast("Kind", stated["kind"]), cast("Part", stated["part"])
    evals, items = stated["evals"], stated["items"]
    named, number = stated["rests_on"], stated.get("target")
    check, dimension = given.checks.get(number or ""), given.dimensions.get(number or "")
    there, holds, target, called = None, (), None, ""
    if check is not None:
        there, holds, target, called = check.part, check.evals, check.target, check.named
    elif dimension is not None:
        there, holds, target = "dimensions", dimension[1], dimension[0].id or dimension[0].name
        called = in_quotes(dimension[0].name)
    low, high = _ITEMS.get(kind, (1, 1))
    wanted = low if low == high else f"{low} to {high}"
    takes = kind != "add"
    faults = {
        f"nothing in `{part}` can be changed by `{kind}`": kind not in PARTS[part][1],
        "a new eval changes none, so `evals` is empty": part == "evals" and evals,
        "`evals` names no eval": part != "evals" and not evals,
        "`evals` names an eval twice": len(set(evals)) < len(evals),
        "`add` takes nothing away, so `target` is null": not takes and number is not None,
        f"`target` is {short(number)}, not the number of what goes": takes and there is None,
        f"{number} stands in `{there}`, not in `{part}`": takes and there not in (None, part),
        f"`{kind}` has {wanted} items, not {len(items)}": not low <= len(items) <= high,
    }
    known = {**given.checks, **given.suggestions, **given.dimensions}
    found = [fault for fault, is_there in faults.items() if is_there]
    found += [f"there is no eval {short(name)}" for name in evals if name not in evidence.suite]
    if takes and there:
        found += [f"eval {short(name)} has no {number}" for name in evals if name not in holds]
    found += [f"there is nothing numbered {short(name)}" for name in named if name not in known]
    for fault in found:
        look.note_fault(f"{where}: {fault}")
    critical = None if kind == "demote" else check is not None and check.critical
    base = shared_form(list(evidence.suite.values())) if part == "evals" else {}
    new = [
        read_item(item, look, f"{where}.items[{at}]", part, critical=critical, base=base)
        for at, item in enumerate(items)
    ]
    suggestions = [given.suggestions[name] for name in named if name in given.suggestions]
    checks = [given.checks[name] for name in named if name in given.checks]
    return new_draft(
        kind,
        part,
        evals,
        target if takes else None,
        new,
        look.read_text(stated, "why", where),
        runs=runs_of(checks, suggestions),
        suggestions=[suggestion.key for suggestion in suggestions],
        found_on=[name for name in given.looked_at if name in evals or part == "evals"],
        by=model,
        called=called if takes else "",
    )


def read_item(
    stated: dict[str, Any],
    look: AnswerCheck,
    where: str,
    part: Part,
    *,
    critical: bool | None = False,
    base: Mapping[str, Any] = MappingProxyType({}),
) -> SuiteItem:
    """An item of a draft in the form of a suite; what was `critical` stays so.

    `critical` is None if it is to be taken out of the gate; `base` is what a new eval begins
    with.
    """
    given = {name: value for name, value in stated.items() if value not in (None, "", [])}

    def texts(*names: str) -> dict[str, str]:
        return {name: str(given.get(name, "")) for name in names}

    item: SuiteItem
    match part:
        case "expectations":
            item = str(given.get("text", ""))
        case "structural_expectations":
            item = {name: given[name] for name in _STRUCTURAL if name in given}
            item["critical"] = critical is not None and (critical or bool(given.get("critical")))
            _check_structural(item, look, where)
        case "dimensions":
            scoring = {at: str(given.get(f"anchor_{at}", "")) for at in ANCHORS}
            weight = float(given.get("weight", 1.0))
            if not 0 <= weight <= 100:
                look.note_fault(f"{where}: `weight` is {weight:g}, not a number from 0 to 100")
            item = {**texts("name", "description"), "weight": weight, "scoring": scoring}
        case "evals":
            item = {**base, **texts("name", "prompt")}
    for name in missing_in(part, [item]):
        look.note_fault(f"{where} lacks {name}")
    return item


def _check_structural(item: Mapping[str, Any], look: AnswerCheck, where: str) -> None:
    if "type" not in item:
        return  # named among what is missing
    expectation, faults = mend(dict(item), StructuralExpectation)
    for fault in faults:
        look.note_fault(f"{where}: {fault.message}")
    try:
        terms_of(expectation, 0)
        if expectation.pattern is not None:
            match_pattern(expectation.pattern, [])
    except (BadPattern, BadGlob) as error:
        look.note_fault(f"{where}: {error}")


def ask_model(evidence: Evidence, model: str, terms: Terms) -> PaidAnswer[tuple[Draft, ...]]:
    """Ask a model for drafts; the same question is never paid for twice.

    A model that costs money is asked only if there is a budget. The answer is stored with the runs
    that it is based on.
    """
    given = gather_material(evidence)
    reader = partial(drafts_of_answer, evidence=evidence, given=given, model=model)
    run = next(iter(evidence.stored.values()), None)
    folder = run and own_folder(run.workspace, "drafts")
    wish = "Now draft the changes.\n"
    question = keyed_question(
        model, SYSTEM, given.text, wish=wish, schema=SCHEMA, read=reader, who="the drafter"
    )
    return ask_once(question, folder, read_drafts, write_drafts, "evals", terms)
