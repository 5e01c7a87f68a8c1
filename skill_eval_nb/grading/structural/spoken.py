"""The checks of the `iterations` dialect: what their fields leave open, their sentence says.

Evidence tells what was read from the sentence. Where that leaves a doubt (the sentence
denies something, names no number or quotes nothing), the check is not scored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from skill_eval_nb.documents import StructuralExpectation

from .contains import contains, no_match, sought_by
from .content import Content
from .globs import matching
from .outputs import Outputs
from .planned import Planned
from .presence import exists
from .rows import ENDINGS, Table, csv_valid, read_table, row_count
from .searching import Looking, sought
from .sentences import denied, either, files_named, rows_named, texts_named
from .verdict import Verdict, counted, failed, listed, shown, unscored

_DENIES = "the sentence may say that something is not to be; write a check that says so by its type"


def spoken_exists(one: StructuralExpectation, outputs: Outputs, *, any_file: bool) -> Planned:
    """`file_exists` without a pattern: each file that the sentence names.

    Where it names none, any file counts if `any_file` says so.
    """
    sentence = one.description or ""
    if denied(sentence):
        return _unscored(_DENIES)
    names = files_named(sentence)
    if not names and not any_file:
        return _unscored("neither `pattern` nor the sentence says which file")
    if not names:
        return Planned(partial(exists, None, outputs.names, outputs))
    verdicts = [exists(name, matching(name, outputs.names), outputs) for name in names]
    return Planned(partial(_together, verdicts, either(sentence)))


def contains_text(one: StructuralExpectation, outputs: Outputs, near: int) -> Planned:
    """`contains_text`: what `match` says, else what the sentence quotes, stands in a file."""
    sentence = one.description or ""
    what = sought_by(one, near)
    texts = [] if what is not None else texts_named(sentence)
    if what is None and denied(sentence):
        return _unscored(_DENIES)
    if what is None and not texts:
        return _unscored("nothing stands in quotes in the sentence, and there is no `match`")
    pattern, names = _files(one, outputs, texts)
    if what is not None:
        wanted = [what]
    elif either(sentence):
        wanted = [sought(texts, None, one.except_context, near)]
    else:
        wanted = [sought([text], None, one.except_context, near) for text in texts]
    looking = [Looking(one, one_is_enough=True) for one in wanted]

    def verdict() -> Verdict:
        return _together([contains(each, pattern, outputs) for each in looking], any_counts=False)

    return Planned(verdict, tuple((each, names) for each in looking))


class Tables:
    """The tables among the files that a check wants to see."""

    done = False

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.unread: dict[str, str] = {}

    def look(self, name: str, content: Content) -> None:
        """Read one."""
        self.tables.append(read_table(name, content))

    def cannot_read(self, name: str, error: OSError) -> None:
        """Note one that cannot be read."""
        self.unread[name] = error.strerror or str(error)


def spoken_rows(one: StructuralExpectation, outputs: Outputs) -> Planned:
    """`row_count`: as many rows as `count` says, else the sentence."""
    wanted, operator = one.count, one.operator
    if wanted is None:
        told = rows_named(one.description or "")
        if told is None:
            return _unscored("neither `count` nor the sentence says for certain how many rows")
        wanted, operator = told[0], operator or told[1]
    return _of_tables(one, outputs, lambda tables: row_count(tables, wanted, operator), alone=True)


def spoken_csv(one: StructuralExpectation, outputs: Outputs) -> Planned:
    """`csv_valid`: every table that is meant can be read, and its rows are of one length."""
    return _of_tables(one, outputs, csv_valid, alone=False)


def _of_tables(
    one: StructuralExpectation,
    outputs: Outputs,
    verdict_on: Callable[[list[Table]], Verdict],
    *,
    alone: bool,
) -> Planned:
    pattern, names = _files(one, outputs, ())
    if pattern is None:
        names = [name for name in names if name.lower().endswith(ENDINGS)]
        if not names:
            reason = "There is no table among the outputs"
            return _settled(failed(f"{reason} ({counted(len(outputs.names), 'file')})"))
        if alone and len(names) > 1:
            return _unscored(f"it does not say which table is meant: {listed(names)}")
    elif not names:
        return _settled(failed(no_match(pattern, outputs)))
    seen = Tables()

    def verdict() -> Verdict:
        if seen.unread:
            told = "; ".join(f"{shown(name)}: {why}" for name, why in seen.unread.items())
            return unscored(f"not all tables can be read ({told})")
        return verdict_on(seen.tables)

    return Planned(verdict, ((seen, names),))


def _files(
    one: StructuralExpectation, outputs: Outputs, texts: Sequence[str]
) -> tuple[str | None, list[str]]:
    """The files that are meant: those of the pattern, those named in the sentence, else all."""
    if one.pattern is not None:
        return one.pattern, matching(one.pattern, outputs.names)
    named = [name for name in files_named(one.description or "") if name not in texts]
    if not named:
        return None, outputs.names
    meant = {found for name in named for found in matching(name, outputs.names)}
    return " or ".join(named), [name for name in outputs.names if name in meant]


def _together(verdicts: Sequence[Verdict], any_counts: bool) -> Verdict:
    """The verdict on several things of which all, or any, are to hold."""
    if len(verdicts) == 1:
        return verdicts[0]
    marks = [one.passed for one in verdicts]
    mark = any_counts if any_counts in marks else (None if None in marks else not any_counts)
    return Verdict(mark, "; ".join(one.evidence for one in verdicts if one.passed is mark))


def _settled(verdict: Verdict) -> Planned:
    return Planned(lambda: verdict)


def _unscored(reason: str) -> Planned:
    return _settled(unscored(reason))
