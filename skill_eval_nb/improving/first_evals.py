"""`draft_evals`: the first evals of a skill, from its text and files, with a person in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from skill_eval_nb.disk import decode_text, read_bytes
from skill_eval_nb.models.ask import (
    FENCED_RULE,
    TEXT,
    YES_OR_NO,
    AnswerCheck,
    a_list,
    an_object,
    check_form,
    drop_empty,
    fence_lines,
    keyed_question,
    short,
    shorten_text,
)
from skill_eval_nb.models.stand_in import JUDGE, MODELS
from skill_eval_nb.running.asking import Terms, ask_once
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.skill import SkillSource, folder_beside, read_skill
from skill_eval_nb.skill_md import SKILL_FILE, read_skill_md, read_text

from .drafting import ITEM, Drafts, read_item
from .values import (
    ANCHORS,
    INPUTS,
    Draft,
    Part,
    find_fault,
    new_draft,
    own_folder,
    plain,
    read_drafts,
    write_drafts,
)

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection, Prices
    from skill_eval_nb.workspace import PathLike

UNCHANGED = 2
"""Drafted tasks that the skill should not change."""
FEWEST, MOST = 3, 20
TOKENS_AN_EVAL, TOKENS_AROUND = 1_500, 2_000
SKILL_CHARS, FILE_CHARS, MOST_FILES = 16_000, 2_000, 12

SYSTEM = (
    """\
You write the first evals of an agent skill for its author. An eval is a task that an agent works \
on with the skill and without it; then a program and a judge look at the files that it wrote. You \
are shown the skill, and files of it. Write evals that show whether the skill makes work better.

Rules

1. A `prompt` is what somebody would write who has never read the skill: a purpose, files, \
figures, background. It neither names the skill nor quotes its rules, stands on its own, and says \
in which file the result is to be.
2. The tasks differ: the usual case, hard ones, one in which something is missing or unclear. Some \
the skill should not change (`skill_helps` false): near its field, and another thing.
3. Where a prompt needs an input, write it whole in `files`: a small text, as in real life. Its \
`path` begins with evals/files/, and the prompt names it so. JSON is valid, rows of CSV are whole.
4. `checks` are made by a program on the files that the agent wrote. Each eval has one or more: \
whatever a program can tell is a check. It has a `type`, a `description`, a `pattern` (a glob of \
those files); file_contains and file_not_contains one of `match`, `match_any` (one of several is \
enough) or `match_regex` (Python); file_count a `count` and an `operator`; every other field is \
null. `critical`: where it fails, no judge need look.
5. `judged` are sentences that a judge verifies, one thing each, where a program cannot.
6. What the prompt does not ask for, and only a reader of the skill could pass, measures \
obedience, not help: check no such thing.
7. `rubric`: two to four dimensions of quality for the tasks that the skill helps with, each a \
`name` (snake_case), a `description`, a `weight`, and what a 1, a 3 and a 5 look like.
8. `why`: what the eval puts to the test, in a sentence. `expected_output`: what good work is.
9. """
    + FENCED_RULE
)
CHECK = (
    *("description", "type", "pattern", "match", "match_any", "match_regex"),
    *("count", "operator", "critical"),
)
DIMENSION = ("name", "description", "weight", *(f"anchor_{at}" for at in ANCHORS))
SCHEMA: dict[str, Any] = an_object(
    rubric=a_list(an_object(**{name: ITEM[name] for name in DIMENSION})),
    evals=a_list(
        an_object(
            why=TEXT,
            skill_helps=YES_OR_NO,
            **dict.fromkeys(("name", "prompt", "expected_output"), TEXT),
            files=a_list(an_object(path=TEXT, text=TEXT)),
            checks=a_list(an_object(**{name: ITEM[name] for name in CHECK})),
            judged=a_list(TEXT),
        )
    ),
)
FORM = "No model wrote this: fill in this form, made from the skill's name and headings. "


def draft_evals(
    skill: PathLike,
    *,
    model: str | None = None,
    n: int = 8,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    dry_run: bool = False,
) -> Drafts:
    """Draft the first evals of a skill; the skill does not change, and no eval is run.

    A model reads its text and files, and proposes prompts with the input files they need, checks
    for a program, others for a judge, a small rubric, and two tasks that the skill should not
    change. The answer is stored, and the same question is never paid for twice. Show and edit
    the drafts with `sen.drafts(found)`; `sen.improving.preview(found, skill)` shows the
    resulting suite, and can write it.

    Args:
        skill: the skill's folder, or its SKILL.md.
        model: the model that drafts. Without one, or with an offline model, you get a form to
            fill in: it has the skill's name and headings, costs nothing, and says that no model
            wrote it.
        n: evals to draft, 3 to 20, two of which the skill should not change.
        connection: how the model is reached; if not given, the stand-in answers in process for
            its own models; other models are called over the network.
        prices: what calls cost; the bundled table if not given.
        budget_usd: the most that may be spent, in US dollars; without it, a model that costs
            something is not asked, and `unasked` says so.
        dry_run: do not ask the model; `price_usd` is the most the answer can cost.

    Returns:
        The drafts, each a new eval; none if `unasked` says why.

    Raises:
        Refused: the skill cannot be read, n is out of bounds, the budget cannot be kept, evals
            are already being drafted there, or the folder cannot be written. It is a ValueError.
        ModelFault: the model cannot be reached without a key.
        OSError: the answer cannot be written.

    >>> import skill_eval_nb as sen
    >>> found = sen.draft_evals("data/release-notes", model="claude-sonnet-4-6", dry_run=True)
    >>> found.unasked.partition(":")[0], found.cost_usd
    ('claude-sonnet-4-6 was not asked', 0.0)
    """
    if not FEWEST <= n <= MOST:
        raise refuse(f"n is {n}: it must be from {FEWEST} to {MOST}")
    source, model = read_skill(skill), model or JUDGE
    wish = (
        f"Now write exactly {n} evals of which {n - UNCHANGED} are tasks that the skill should "
        f"help with, and {UNCHANGED} that it should not change."
    )
    home = folder_beside(source.folder, None)
    question = keyed_question(
        model,
        SYSTEM,
        _prompt_text(source, wish),
        schema=SCHEMA,
        read=partial(read_first_evals, n=n, skill=source.name, model=model),
        max_tokens=TOKENS_AROUND + TOKENS_AN_EVAL * n,
        who="the drafter",
    )
    terms = Terms(connection, prices, budget_usd, dry_run=dry_run)
    answer = ask_once(
        question, own_folder(home, "evals"), read_drafts, write_drafts, "evals", terms
    )
    measured = read_skill_md(source.folder / SKILL_FILE)
    return Drafts(answer.value or (), answer, skill=source.folder, measured=measured)


def _prompt_text(source: SkillSource, wish: str) -> str:
    others = [name for name in source.files if name != SKILL_FILE]
    parts = [
        ("skill", [shorten_text(read_text(source.folder), SKILL_CHARS)]),
        ("files", list(islice(_file_beginnings(source, others), MOST_FILES))),
    ]
    nonce, blocks = fence_lines(parts)
    left = len(others) - MOST_FILES
    more = [f"{left} more files are not shown."] if left > 0 else []
    first = f"The skill is {source.name}. The fences' nonce is {nonce}."
    return "\n\n".join([first, *blocks, *more, wish])


def _file_beginnings(source: SkillSource, names: list[str]) -> Iterator[str]:
    for name in names:
        try:
            text = decode_text(read_bytes(source.folder / name, source.folder))
        except OSError as error:
            text = f"[it cannot be read: {error.strerror}]"
        yield f"[{name}]\n{'[no text]' if text is None else shorten_text(text, FILE_CHARS)}"


def read_first_evals(raw: Any, n: int, skill: str, model: str) -> tuple[Draft, ...]:
    """The drafts of an answer, those that the skill should help with first.

    Raises:
        BadAnswer: something is wrong; it lists every fault with its eval.
    """
    look = AnswerCheck()
    stated = check_form(raw, SCHEMA)
    rubric = _read_items(stated["rubric"], look, "rubric", "dimensions")
    rows = stated["evals"]
    helped = sum(row["skill_helps"] for row in rows)
    if (helped, len(rows)) != (n - UNCHANGED, n):
        there = f"{len(rows)} evals, and the skill should help with {helped} of them"
        look.note_fault(f"there are {there}: write {n}, and {n - UNCHANGED}")
    for what, named in (("eval", rows), ("dimension", stated["rubric"])):
        for name, times in Counter(plain(each.get("name") or "") for each in named).items():
            if times > 1:
                look.note_fault(f"{times} {what}s are called {short(name)}")
    inputs: dict[str, str] = {}
    drafts = []
    for at, row in enumerate(rows):
        where = f"evals[{at}]"
        _vet_files(row, look, where, inputs)
        if "-" in skill and skill.casefold() in row["prompt"].casefold():
            look.note_fault(f"{where}: `prompt` names the skill, {skill}")
        drafts.append(_eval_draft(row, look, where, rubric if row["skill_helps"] else [], model))
    look.raise_faults()
    return tuple(sorted(drafts, key=lambda draft: SAME in draft.why))


def _read_items(rows: Sequence[Any], look: AnswerCheck, where: str, part: Part) -> list[Any]:
    return [read_item(row, look, f"{where}[{at}]", part) for at, row in enumerate(rows)]


SAME = "The skill should change nothing here. "


def _eval_draft(
    row: dict[str, Any], look: AnswerCheck, where: str, rubric: Any, model: str
) -> Draft:
    checks = _read_items(row["checks"], look, f"{where}.checks", "structural_expectations")
    if not checks:
        look.note_fault(f"{where} has no check that a program makes")
    judged = drop_empty(row["judged"])
    names = ("name", "prompt", "expected_output", "why")
    name, prompt, expected, why = (look.read_text(row, name, where) for name in names)
    files = {file["path"]: file["text"] for file in row["files"]}
    new = {"name": name.strip(), "prompt": prompt, "expected_output": expected}
    new |= {INPUTS: files} if files else {}
    new |= {"structural_expectations": checks, "expectations": judged}
    new |= {"quality_rubric": {"dimensions": rubric}} if rubric else {}
    by_program = "; ".join(check.get("description") or "" for check in row["checks"])
    by_judge = f"A judge: {'; '.join(judged)}." if judged else "Nothing is left for a judge."
    form, same = FORM if model in MODELS else "", "" if row["skill_helps"] else SAME
    told = f"{form}{same}{why} A program checks: {by_program}. {by_judge}"
    return new_draft("add", "evals", [], None, [new], told, by=model)


def _vet_files(row: dict[str, Any], look: AnswerCheck, where: str, inputs: dict[str, str]) -> None:
    """Check that input files are usable, named in the prompt, and not two of the same name."""
    for file in row["files"]:
        path, text = file["path"], file["text"]
        fault = find_fault(path, text)
        if fault is None and path not in row["prompt"]:
            fault = "the prompt does not name it"
        if fault is None and inputs.setdefault(path, text) != text:
            fault = "another eval has another file of this name"
        if fault is not None:
            look.note_fault(f"{where}: file {short(path)}: {fault}")
