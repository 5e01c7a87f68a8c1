"""`file_contains`, `file_not_contains` and `contains_text`: what stands in the files."""

from __future__ import annotations

from collections.abc import Sequence

from skill_eval_nb.documents import StructuralExpectation

from .outputs import Outputs
from .searching import Looking, Sought, sought
from .verdict import Verdict, counted, failed, listed, passed, shown, unscored


def sought_by(expectation: StructuralExpectation, near: int) -> Sought | None:
    """What an expectation looks for; None where it says nothing to look for.

    Raises:
        BadPattern: where its regular expression is none.
    """
    texts = [expectation.match or "", *expectation.match_any]
    what = sought(texts, expectation.match_regex, expectation.except_context, near)
    return what if what.texts or what.pattern is not None else None


def contains(looking: Looking, pattern: str | None, outputs: Outputs) -> Verdict:
    """The verdict on `file_contains`: at least one file holds it."""
    if looking.n_found:
        return passed(f"{looking.told()}{_which(looking)}")
    if nothing := _nothing_to_look_into(looking, pattern, outputs):
        return nothing
    if undecided := _undecided(looking):
        return undecided
    exempt = f"; {looking.told_exempt()}" if looking.exempted else ""
    return failed(f"No {looking.what} in {_files(looking, pattern)}{exempt}")


def contains_not(looking: Looking, pattern: str | None, outputs: Outputs) -> Verdict:
    """The verdict on `file_not_contains`: no file holds it, but for what is exempt."""
    if looking.n_found:
        return failed(f"{looking.told()}{_which(looking)}")
    if nothing := _nothing_to_look_into(looking, pattern, outputs):
        return nothing
    if undecided := _undecided(looking):
        return undecided
    if looking.exempted:
        return passed(f"Nothing that counts: {looking.told_exempt()}")
    return passed(f"No {looking.what} in {_files(looking, pattern)}")


def _which(looking: Looking) -> str:
    """What was looked for, where the line alone may not tell."""
    what = looking.what
    several = len(what.texts) + (what.pattern is not None) > 1
    return f" (any counts: {what})" if several else f" ({what})"


def _files(looking: Looking, pattern: str | None) -> str:
    """The files that were looked into, by name where they are few."""
    where = listed(looking.seen)
    if looking.n_files > len(looking.seen):
        of = "the outputs" if pattern is None else f"that match {shown(pattern)}"
        where = f"{counted(looking.n_files, 'file')} {'of ' if pattern is None else ''}{of}"
    if looking.binary:
        binary = listed(looking.binary, 3)
        where += f" (no regular expression was looked for in binary files: {binary})"
    return where


def _nothing_to_look_into(
    looking: Looking, pattern: str | None, outputs: Outputs
) -> Verdict | None:
    what = looking.what
    if looking.n_files == 0 and not looking.unread:
        return failed(f"{no_match(pattern, outputs)}: there is nothing to look into")
    if not what.texts and looking.n_files and len(looking.binary) == looking.n_files:
        binary = listed(looking.binary, 3)
        return failed(f"No text file to look for {what} in: {binary} is binary")
    return None


def _undecided(looking: Looking) -> Verdict | None:
    if looking.out_of_time is not None:
        return unscored(
            f"looking for {looking.what} ran out of time in {shown(looking.out_of_time)}; an "
            "expression without repeats inside of repeats takes less"
        )
    if looking.unread:
        told = "; ".join(f"{shown(name)}: {why}" for name, why in list(looking.unread.items())[:3])
        return unscored(f"{counted(len(looking.unread), 'file')} could not be read ({told})")
    return None


def no_match(pattern: str | None, outputs: Outputs) -> str:
    """That no file matches, and what is there instead."""
    names: Sequence[str] = outputs.names
    head = "There is no output" if pattern is None else f"No file matches {shown(pattern)}"
    there = f"; there is {listed(names)}" if names and pattern is not None else ""
    if pattern is not None and pattern.strip("/") in outputs.folders:
        there += (
            f"; {shown(pattern)} is a folder, write {shown(pattern.strip('/'))}/** for its files"
        )
    left_out = [f"{shown(name)} {why}" for name, why in list(outputs.left_out.items())[:3]]
    told = f"; not looked at: {'; '.join(left_out)}" if left_out else ""
    empty = "; the outputs are empty" if not names and pattern is not None else ""
    return f"{head}{there}{empty}{told}"
