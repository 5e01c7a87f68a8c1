"""Checks of what was done: tools that were called, commands, the skill, turns and tokens.

Tools have the names that their harness gives them, in upper or lower case (`Bash` is `bash`), and
no aliases; `*` and `{a,b}` work as in globs. A command is a call's `command` or `cmd`. A step is a
turn: an answer of the agent with its calls.

`no_errors` says whether the transcript shows an error. A transcript of messages states which tool
calls failed, and only that counts. In plain text, a line counts if it has the form of an error
message; the word alone is not enough: "0 errors", "error handling" and "Errors: none" are not
errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from skill_eval_nb.documents import StructuralExpectation
from skill_eval_nb.documents.transcript import (
    Event,
    Step,
    Told,
    bare_names,
    has_failed,
    message_of,
    role_of,
    skill_asked_for,
)
from skill_eval_nb.text import count, some

from .checks import compare_number, verdict_undecided
from .outputs import (
    CheckVerdict,
    Content,
    Record,
    match_pattern,
    quote_text,
    show_line,
    verdict_failed,
    verdict_passed,
    verdict_unscored,
)
from .search import SearchTerms, TextSearch

MOST_SHOWN = 6
"""The most calls shown as evidence."""
LONGEST_NAME = 200
"""Characters of a tool's name that are matched with a pattern."""


def check_calls(
    wanted: StructuralExpectation, record: Record, terms: SearchTerms | None
) -> CheckVerdict:
    """The verdict on `tool_called`, `tool_not_called` and `command_matches`."""
    tool, kind = wanted.tool, wanted.type
    if terms is None and (kind == "command_matches" or not tool):
        return verdict_unscored("nothing says what to look for: `tool`, `match` or `match_regex`")
    if wanted.operator is not None or wanted.count == 0:
        least = "`count` is the least number of calls, from 1 up, and there is no `operator`"
        return verdict_unscored(f"{least}; tool_not_called wants fewer")
    calls = [call for call in record.calls if not tool or _is_of(tool, call)]
    if kind == "command_matches":
        calls = [call for call in calls if _command_of(call) is not None]
    search = None if terms is None else TextSearch(terms)
    if search is not None:
        calls = [call for call in calls if _is_found_in(search, call)]
    positive = kind != "tool_not_called"
    least = wanted.count or 1
    what = f"call{f' of {show_line(tool)}' if tool else ''}{f' with {terms}' if terms else ''}"
    found = some([*map(_place, calls)], MOST_SHOWN) or f"No {what} in {record.in_short}"
    if len(calls) >= least:
        return CheckVerdict(positive, found)
    few = f"; {count(len(calls), 'call')} of {least}" if least > 1 else ""
    open_ = None if search is None else verdict_undecided(search)
    return open_ or record.unless_a_gap(CheckVerdict(not positive, f"{found}{few}"))


def check_order(wanted: StructuralExpectation, record: Record, _: object) -> CheckVerdict:
    """The verdict on `tools_in_order`: other calls may come between them."""
    if not wanted.tools:
        return verdict_unscored("no `tools` say which are to be called, in which order")
    found: list[Step] = []
    left = iter(record.calls)
    for tool in wanted.tools:
        call = next((call for call in left if _is_of(tool, call)), None)
        if call is None:
            where = f"after {_place(found[-1])}" if found else f"in {record.in_short}"
            return record.unless_a_gap(verdict_failed(f"No call of {show_line(tool)} {where}"))
        found.append(call)
    return verdict_passed(some([*map(_place, found)], MOST_SHOWN))


def check_skill(wanted: StructuralExpectation, record: Record, _: object) -> CheckVerdict:
    """The verdict on `skill_opened`: the tool for skills opened it, or SKILL.md was shown."""
    name, seen = wanted.skill, None
    which = quote_text(name) if name else "any skill"
    offered = record.skills
    if offered is not None and not (name in offered if name else offered):
        return verdict_unscored(f"{which} was not on offer")
    head = re.compile(rf"name:[ \t\"']*{re.escape(name)}(?![\w-])" if name else "name:")
    for call in record.calls:
        given, text = str(call.given), call.result or ""
        if call.failed:
            continue
        asked = skill_asked_for(call)
        if asked is not None and name in (None, *bare_names([asked])):
            return verdict_passed(_place(call))
        if "SKILL.md" in given:
            if head.search(text) and "description:" in text:
                return verdict_passed(_place(call))
            seen = call if f"{name or ''}/SKILL.md" in given else seen
    if seen is not None:
        return verdict_unscored(f"{_place(seen)} names it, and does not show that it was read")
    return record.unless_a_gap(verdict_failed(f"{which} was not opened in {record.in_short}"))


def check_bound(wanted: StructuralExpectation, record: Record, _: object) -> CheckVerdict:
    """The verdict on `max_turns` and `max_tokens`."""
    what = wanted.type.removeprefix("max_")
    there = record.turns if what == "turns" else _total_tokens(record)
    if there is None:
        return verdict_unscored(f"{record.name} does not say how many {what} there were")
    compared = compare_number(there, wanted.count, "<=", what)
    number = f"{count(there, what[:-1])} in {record.name}; wanted {compared.evidence}"
    if compared.passed:
        return record.unless_a_gap(verdict_passed(number))
    return compared if compared.passed is None else verdict_failed(number)


VERDICTS: Mapping[
    str, Callable[[StructuralExpectation, Record, SearchTerms | None], CheckVerdict]
] = {
    "no_errors": lambda _, record, __: no_errors(record),
    **dict.fromkeys(("tool_called", "tool_not_called", "command_matches"), check_calls),
    "tools_in_order": check_order,
    "skill_opened": check_skill,
    **dict.fromkeys(("max_turns", "max_tokens"), check_bound),
}
"""The verdicts by type: of an expectation, a transcript, and the terms to search for in calls."""

OF_TRANSCRIPT = tuple(VERDICTS)


def _is_of(tool: str, call: Step) -> bool:
    return bool(match_pattern(tool.lower(), [call.text[:LONGEST_NAME].lower()]))


def _given_fields(call: Step) -> Mapping[str, Any]:
    return call.given if isinstance(call.given, Mapping) else {}


def _command_of(call: Step) -> str | None:
    """The command of a call; None if it has none."""
    command = _given_fields(call).get("command") or _given_fields(call).get("cmd")
    command = " ".join(map(str, command)) if isinstance(command, list) else command
    return command if isinstance(command, str) else None


def _call_words(call: Step) -> str:
    """The input of a call as text: its command, else all of it."""
    whole = call.given if isinstance(call.given, str) else None
    return _command_of(call) or whole or json.dumps(call.given, ensure_ascii=False)


def _is_found_in(search: TextSearch, call: Step) -> bool:
    before = search.n_found
    text = _call_words(call).replace("\0", " ").encode("utf-8", "replace")
    search.search_file(f"step {call.turn}", Content(text))
    return search.n_found > before


def _place(call: Step) -> str:
    words = show_line(" ".join(_call_words(call).split()), 100)
    return f"step {call.turn}: {show_line(call.text, 60)} `{words}`"


def _total_tokens(record: Record) -> int | None:
    """The tokens stated at the run's end, else the sum over all answers; None if one lacks them."""
    from skill_eval_nb.models import Usage

    usages: dict[int, Any] = {}
    for told in record.told:
        usage = message_of(told.event).get("usage")
        if told.event.get("type") == "result" and usage is not None:
            usages = {0: usage}
        elif role_of(told.event) == "assistant":
            usages[told.turn] = usage
    try:
        return sum(Usage.of(usage).total for usage in usages.values()) or None
    except (AttributeError, ValueError):  # there is no usage, or it has another form
        return None


# ── errors in a transcript ────────────────────────────────────────────────────────────────────────

LONGEST = 400
"""Characters of a line that are checked: an error message is recognizable at its beginning."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_MARKS = re.compile(r"[\s>|*_`#$\-+•]*(?:\d{1,4}[.)]\s+)?[\s*_`]*(?=\S)")
"""Marks of lists, quotes and bold at the beginning of a line."""

_MESSAGES = re.compile(
    r"""
      Traceback\ \(most\ recent\ call\ last\)
    | <tool_use_error>
    | "?is_error"?\s*[:=]\s*true\b
    | (?:Uncaught\s+|Unhandled\s+|E\s{3,})?
        (?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:\s\[\w+\])?:\s+(?P<named>\S.*)
    | (?:Uncaught\s+)?(?:Error|ERROR|error|FATAL|fatal|fatal\ error|Fatal\ error|API\ Error)
        (?:\[\w+\]|\s[A-Z]+\d+)?(?:\*\*)?:(?:\*\*)?\s+(?P<plain>\S.*)
    | \[(?:ERROR|FATAL|error|fatal)\]\s*:?\s+(?P<tagged>\S.*)
    | (?:npm\s(?:ERR!|error)|ERR!|E:)\s+\S
    | (?:ERROR|FATAL)\s+(?P<logged>\S.*[a-z].*)
    | [❌✗✖✘]\s*(?:Error|ERROR|error)\b(?!\s+(?:handling|messages?\b))
    | \S+?[:(]\d+(?:[:,]\d+)?\)?:\s+(?:fatal\ )?error(?:\s[A-Z]+\d+)?:\s+\S
    | (?:/\S*/)?(?:ba|z|da|k)?sh:\s(?:line\s\d+:\s)?.+:\s
        (?:command\ not\ found|[Nn]ot\ found|[Nn]o\ such\ file\ or\ directory
        |[Pp]ermission\ denied|[Ss]yntax\ error.*)$
    | [\w./-]+:\s(?:.+:\s)?(?:No\ such\ file\ or\ directory|Permission\ denied|Is\ a\ directory
        |command\ not\ found)$
    | thread\s'.*'(?:\s\(\d+\))?\spanicked\sat
    | panic:\s+\S
    | Segmentation\ fault
    | (?:Process\s|Command\s(?:'.*'\s)?|Script\s)?
        (?:[Ee]xit(?:ed)?\s(?:with\s)?(?:exit\s)?(?:code|status)|returned\snon-zero\sexit\sstatus)
        \s?[:=]?\s*-?[1-9]\d*\.?$
    """,
    re.VERBOSE,
)

_NOTHING = re.compile(
    r"""(?:no(?:ne|thing|t\ applicable)?|n/a|null|nil|undefined|false|true|0|-|—
        |"{2}|'{2}|\{\}|\[\])
        [\s.,;]*$""",
    re.VERBOSE | re.IGNORECASE,
)
"""Text after the colon that means no error: `error: null`."""

_EXPLAINED = re.compile(
    r"(?:if|when|whenever|where|raised|thrown|for|on|in case|means|occurs)\b", re.IGNORECASE
)
"""Text after the colon in a description of errors: `ValueError: if the list is empty`."""

_CODE = re.compile(r"""["'\w\[\]<>|. ()$-]{0,80}[,;{]$""")
"""Text after the colon in a line of code with such a field: `error: string;`."""


def is_error(line: str) -> bool:
    """Whether a line is an error message.

    >>> [is_error(line) for line in ("3. Error: Cannot find module './clock'", "Exit code 1")]
    [True, True]
    >>> [is_error(line) for line in ("Found 0 errors", "Error handling: done", "error: null,")]
    [False, False, False]
    """
    bare = _COLOURS.sub("", line[:LONGEST]).rstrip().rstrip("`")
    mark = _MARKS.match(bare)
    bare = bare[mark.end() :] if mark else bare
    found = _MESSAGES.match(bare)
    if found is None:
        return False
    message = next((group for group in found.groups() if group), None)
    if message is None:
        return True
    if _NOTHING.match(message) or _EXPLAINED.match(message):
        return False
    return found["plain"] is None or not _CODE.match(message)


TEXT_KEYS = ("text", "content", "output", "stdout", "stderr", "message", "error", "result")
_EXIT_CODE = re.compile(r"Exit code \d+")


def find_failures(events: Sequence[Event], told: Sequence[Told]) -> Iterator[tuple[int | str, str]]:
    """Each failure: its place (a line, or the number of a message), and its words."""
    for number, (event, one) in enumerate(zip(events, told, strict=True), 1):
        where = event.line or f"message {number}"
        for step in one.steps:
            if step.who == "result" and step.failed:
                tool = step.call.text if step.call else "a tool"
                yield where, f"{tool} failed: {_first_line(step.given)}"
        if fault := _own_failure(event.value):
            yield where, fault


def _own_failure(event: Mapping[str, Any]) -> str | None:
    """The failure that an event itself states: a run's end, an API's error, a tool's answer."""
    kind = event.get("type")
    if kind == "result" and (has_failed(event)):
        why = _first_line(event.get("result") or event.get("errors") or "")
        return f"the run ended with {event.get('subtype') or 'an error'}{f': {why}' if why else ''}"
    if kind == "error":
        return f"an error was reported: {_first_line(event.get('error') or event.get('message'))}"
    if event.get("role") in ("tool", "function"):
        lines = _inner_text(event.get("content")).split("\n")
        error = next((line for line in lines if is_error(line)), None)
        return None if error is None else f"{event.get('name') or 'a tool'} failed: {error}"
    return None


def _inner_text(value: Any, depth: int = 8) -> str:
    """The text in a value, even if it is nested in others, up to a depth."""
    if isinstance(value, str) or value is None:
        return value or ""
    if depth == 0:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_inner_text(part, depth - 1) for part in value)))
    if isinstance(value, dict):
        return next((_inner_text(value[key], depth - 1) for key in TEXT_KEYS if value.get(key)), "")
    return str(value)


def _first_line(value: Any) -> str:
    lines = [bare for line in _inner_text(value).split("\n") if (bare := line.strip())]
    at = next((place for place, line in enumerate(lines) if is_error(line)), 0)
    # Claude Code puts the exit code before the output of the command.
    last = at + 2 if lines[at : at + 1] and _EXIT_CODE.fullmatch(lines[at]) else at + 1
    return ": ".join(lines[at:last]) or "without a word"


MOST_ERRORS = 3
"""The most errors shown as evidence."""


def no_errors(record: Record) -> CheckVerdict:
    """The verdict on `no_errors`."""
    name, text, events = record.name, record.text, record.events
    lines = text.rstrip("\n").split("\n")
    if events is None:
        found = [(at, line) for at, line in enumerate(lines, 1) if is_error(line)]
    else:
        found = list(find_failures(events, record.told))
    if not found:
        of = count(len(lines), "line") if events is None else count(len(events), "message")
        verdict = verdict_passed(f"No error in {name} ({of})")
        return verdict if events is None else record.unless_a_gap(verdict)
    errors = "; ".join(f"{name}:{line}: {show_line(what)}" for line, what in found[:MOST_ERRORS])
    more = len(found) - MOST_ERRORS
    return verdict_failed(errors + (f"; and {count(more, 'more error')}" if more > 0 else ""))
