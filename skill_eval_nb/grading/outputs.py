"""The files that a run has produced, and its transcript, as the checks read them; each once.

Files are listed without following links out of the folder, and selected by globs. A transcript
records why something may have happened that it does not show.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import bracex
from wcmatch import glob

from skill_eval_nb.disk import NO_LINK, LeadsOut, decode_wide, read_bytes, resolve_inside
from skill_eval_nb.documents import Faults, NotJSON, parse
from skill_eval_nb.documents.run import CHECK_FAILED
from skill_eval_nb.documents.transcript import (
    Event,
    Step,
    Told,
    bare_names,
    calls_once,
    read_events,
    read_steps,
)
from skill_eval_nb.text import count, natural_key, some

MOST_BRACES = 64
"""The most patterns that one with braces may stand for."""

MOST_FOLDERS = 4
"""How often a pattern may have `**`: each one multiplies the ways to match a name."""

LONGEST = 4096
"""The most characters of a pattern; no path can have more."""

FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.CASE | glob.MATCHBASE | glob.FORCEUNIX


class BadGlob(ValueError):
    """The pattern cannot name an output; the message says why."""


def match_pattern(pattern: str, names: Sequence[str]) -> list[str]:
    """The names that a pattern matches, in their order.

    `*`, `?` and `[…]` stop at slashes, `**` stands for any number of folders, and `{a,b}` for
    either; several patterns can be given, one per line. A pattern without a slash matches at any
    depth, one with a slash from the top. Upper and lower case differ; names that begin with a dot
    are not special. A leading `outputs/` stands for the outputs themselves, if they contain no
    such folder.

    >>> names = ["a.md", "docs/b.md", "docs/deep/c.md"]
    >>> match_pattern("*.md", names), match_pattern("docs/*.md", names)
    (['a.md', 'docs/b.md', 'docs/deep/c.md'], ['docs/b.md'])
    >>> match_pattern("docs/**", names), match_pattern("{a,c}.md", names)
    (['docs/b.md', 'docs/deep/c.md'], ['a.md', 'docs/deep/c.md'])

    Raises:
        BadGlob: if the pattern is empty or leads out of the outputs.
    """
    accepts = [
        accept
        for text in _split_patterns(pattern)
        for accept in _acceptors_of(_below_outputs(text, names))
    ]
    if len(accepts) == 1:
        return list(filter(accepts[0], names))
    return [name for name in names if any(accept(name) for accept in accepts)]


@lru_cache(maxsize=256)
def _split_patterns(pattern: str) -> tuple[str, ...]:
    """The patterns in a text, one per line."""
    given = [line for line in pattern.split("\n") if line.strip()] or [""]
    return tuple(_check_pattern(pattern) for pattern in given)


@lru_cache(maxsize=256)
def _acceptors_of(text: str) -> tuple[Callable[[str], object], ...]:
    """A test for each pattern that one with braces stands for, and for the literal name."""
    try:
        patterns = bracex.expand(text, keep_escapes=True, limit=MOST_BRACES)
    except bracex.ExpansionLimitException:
        raise BadGlob(f"{text!r} has too many braces") from None
    tests = [
        re.compile(regex).match for each in dict.fromkeys(patterns) for regex in _regexes_of(each)
    ]
    return (text.__eq__, *tests)


def _regexes_of(pattern: str) -> list[str]:
    """The regular expressions of a pattern without braces; `[id]` may also be a literal name."""
    pattern = re.sub(r"(?<![^/])(?:\*\*/){2,}", "**/", pattern)
    if pattern.count("**") > MOST_FOLDERS:
        raise BadGlob(f"{pattern!r} has `**` more than {MOST_FOLDERS} times")
    pattern = pattern.replace("\\", "\\\\")
    return glob.translate([pattern, pattern.replace("[", "[[]")], flags=FLAGS)[0]


def _below_outputs(pattern: str, names: Sequence[str]) -> str:
    """The pattern without the name of the outputs' folder."""
    if not pattern.startswith("outputs/") or any(name.startswith("outputs/") for name in names):
        return pattern
    return pattern.removeprefix("outputs/")


def _check_pattern(pattern: str) -> str:
    text = re.sub("/{2,}", "/", pattern.strip())
    if not text:
        raise BadGlob("the pattern is empty")
    if len(text) > LONGEST:
        raise BadGlob(f"the pattern has {len(text)} characters; no path has more than {LONGEST}")
    if text.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", text):
        raise BadGlob(f"{pattern!r} is an absolute path: write it from the outputs' folder on")
    if ".." in re.split(r"[/\\{},]", text):
        raise BadGlob(f"{pattern!r} leads out of the outputs")
    while text.startswith("./"):
        text = text[2:]
    return f"{text}**" if text.endswith("/") else text or "**"


LONGEST_LINE = 160
"""The most characters of a line shown as evidence."""

MOST_NAMES = 8
"""The most names listed as evidence."""


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """The verdict on one check; `passed` is None if it could not be scored."""

    passed: bool | None
    evidence: str


def verdict_passed(evidence: str) -> CheckVerdict:
    """The verdict on a check that passed."""
    return CheckVerdict(passed=True, evidence=evidence)


def verdict_failed(evidence: str) -> CheckVerdict:
    """The verdict on a check that failed."""
    return CheckVerdict(passed=False, evidence=evidence)


def verdict_unscored(reason: str) -> CheckVerdict:
    """The verdict on a check that could not be scored."""
    return CheckVerdict(passed=None, evidence=f"Not scored: {reason}")


def broken(error: Exception) -> CheckVerdict:
    """The verdict if checking raised an unexpected error, which ends only this check."""
    what = f"{type(error).__name__}: {show_line(str(error))}".removesuffix(": ")
    return CheckVerdict(passed=None, evidence=f"{CHECK_FAILED} ({what}); please report it")


def show_line(text: str, longest: int = LONGEST_LINE) -> str:
    r"""A name or text on one line, without control characters.

    >>> show_line("  two\tcolumns\x1b[31m  "), show_line("abcdef", 4)
    ('two\tcolumns\\x1b[31m', 'abc…')
    """
    line = text.strip()
    if not line.isprintable():
        line = line.encode("utf-8", "surrogatepass").decode("utf-8", "replace").strip()
        line = "".join(c if c.isprintable() or c == "\t" else _escape_unprintable(c) for c in line)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _escape_unprintable(char: str) -> str:
    return char.encode("unicode_escape").decode()


def list_names(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """The first few names in natural order, and how many more there are.

    >>> list_names(["b", "a10", "a9"]), list_names([str(n) for n in range(12)], 3)
    ('a9, a10 and b', '0, 1, 2 and 9 more')
    """
    return some(map(show_line, sorted(names, key=natural_key)), most)


def quote_text(text: str) -> str:
    """A text in quotes, for evidence.

    >>> quote_text("it("), quote_text("two words")
    ("'it('", "'two words'")
    """
    return f"'{show_line(text, 80)}'"


_OF_RUNNER = {
    "metrics.json": frozenset(("tool_calls", "total_tool_calls", "total_steps")),
    "structural.json": frozenset(("gate_passed", "expectations")),
    "grading.json": frozenset(("expectations",)),
}
"""Files of the runner that may be among the outputs, with keys by which they are recognized."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The regular files below a folder.

    Attributes:
        root: the folder.
        names: their paths below it, with slashes, in order.
        links: the real paths of those that are links.
        folders: the paths of the folders below it.
        left_out: what was not read, with the reason: links, unreadable folders.
    """

    root: str
    names: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def read(self, name: str) -> bytes:
        """The bytes of one of the files.

        Raises:
            OSError: if it cannot be read, or is `TooLarge`.
        """
        return read_bytes(self.links.get(name) or f"{self.root}/{name}", flags=NO_LINK)


def list_outputs(folder: str) -> Outputs:
    """List the files below `folder`; if it does not exist, there are none.

    Links to files inside `folder` count as files; other links are left out, and so are the runner's
    own documents.
    """
    found = Outputs(folder.rstrip("/") or "/")
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(f"{found.root}/{below}") as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        found.names.append(below + entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        found.folders.append(below + entry.name)
                        waiting.append(f"{below}{entry.name}/")
                    else:
                        _add_other(entry, below + entry.name, found)
        except OSError as error:
            if below or not isinstance(error, FileNotFoundError):
                found.left_out[below or "."] = f"cannot be listed ({error.strerror})"
    for name, keys in _OF_RUNNER.items():
        if name in found.names and _is_of_runner(found, name, keys):
            found.names.remove(name)
    found.names.sort(key=natural_key)
    found.folders.sort()
    return found


def _add_other(entry: os.DirEntry[str], name: str, found: Outputs) -> None:
    """Add a link to a file among the outputs; anything else is left out."""
    try:
        real = resolve_inside(entry.path, found.root)
        is_file = Path(real).is_file()
    except LeadsOut:
        found.left_out[name] = "is a link that leads out of the outputs"
    except (OSError, ValueError) as error:  # its target is too long, say
        why = getattr(error, "strerror", None) or error
        found.left_out[name] = f"is a link that cannot be followed ({why})"
    else:
        if not entry.is_symlink():
            found.left_out[name] = "is not a regular file"
        elif is_file:
            found.names.append(name)
            found.links[name] = real
        else:
            found.left_out[name] = "is a link to a folder, or to nothing"


def _is_of_runner(found: Outputs, name: str, keys: frozenset[str]) -> bool:
    """Whether a file with such a name is the runner's: an output may have that name, too."""
    try:
        raw = parse(found.read(name), Faults())
    except (OSError, NotJSON):
        return False
    return isinstance(raw, dict) and not keys.isdisjoint(raw)


_HEAD = 8192
_WIDE_BEGINS = (b"\xff\xfe", b"\xfe\xff")


class Content:
    """The content of a file. `text` is made on first use.

    `data` is its bytes as UTF-8, even if the file is UTF-16 or UTF-32. It is `binary` if there is
    still a null byte near its beginning.

    >>> Content("héllo".encode("utf-16-le")).data.decode()
    'héllo'
    """

    def __init__(self, data: bytes) -> None:
        if data.startswith(_WIDE_BEGINS) or data.find(b"\0", 0, _HEAD) >= 0:
            text = decode_wide(data)
            data = data if text is None else text.encode("utf-8", "replace")
        self.data = data
        self.binary = data.find(b"\0", 0, _HEAD) >= 0

    @cached_property
    def text(self) -> str:
        r"""The text: invalid UTF-8 replaced, without byte-order mark, line ends as `\n`."""
        return with_plain_ends(self.data.decode("utf-8", "replace").removeprefix("\ufeff"))


def with_plain_ends(text: str) -> str:
    r"""A text with all its line ends as `\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def line_at(text: str, position: int) -> tuple[int, str]:
    r"""The number, from 1, and the content of the line at a position of a text.

    >>> line_at("one\ntwo\n", 5)
    (2, 'two')
    """
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text.count("\n", 0, start) + 1, text[start : len(text) if end < 0 else end]


def near_by(text: str, start: int, end: int, near: int) -> str:
    r"""The lines from `near` lines before to `near` lines after a part of a text.

    >>> near_by("a\nb\nc\nd\ne", 4, 5, 1)
    'b\nc\nd'
    """
    first = text.rfind("\n", 0, start)
    for _ in range(near):
        if first < 0:
            break
        first = text.rfind("\n", 0, first)
    last = text.find("\n", max(end - 1, start))
    for _ in range(near):
        if last < 0:
            break
        last = text.find("\n", last + 1)
    return text[first + 1 : len(text) if last < 0 else last]


# ── the transcript ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Record:
    """A transcript that was read.

    Attributes:
        name: its file's.
        text: all of it.
        events: what happened; None if it is plain text.
        told: the steps of each event.
        calls: the agent's tool calls, each once, with their results.
        gap: why something may have happened that it does not show; None if it shows everything.
    """

    name: str
    text: str
    events: Sequence[Event] | None
    told: Sequence[Told]
    calls: Sequence[Step]
    gap: str | None

    @property
    def turns(self) -> int | None:
        """How many answers the agent gave; None if calls are not part of answers."""
        alone = any(told.event.get("type") in ("tool_use", "tool_call") for told in self.told)
        return None if alone else max((told.turn for told in self.told), default=0)

    @property
    def skills(self) -> set[str] | None:
        """The skills that were on offer; None if the transcript does not say."""
        begun = (told.event for told in self.told if told.event.get("type") == "system")
        lists = (event["skills"] for event in begun if isinstance(event.get("skills"), list))
        return next(map(bare_names, lists), None)

    @property
    def in_short(self) -> str:
        """Its name, and which tools were called how often."""
        used = Counter(show_line(call.text, 60) for call in self.calls).most_common(8)
        return f"{self.name} ({', '.join(f'{tool} {n}' for tool, n in used) or 'no calls'})"

    def unless_a_gap(self, verdict: CheckVerdict) -> CheckVerdict:
        """A verdict that something did not happen; not scored if that is uncertain."""
        return verdict if self.gap is None else verdict_unscored(self.gap)


def read_record(transcript: Path | None) -> Record | CheckVerdict:
    """Read a transcript; if there is none, or it is empty, a verdict that says so."""
    if transcript is None:
        return verdict_unscored("there is no transcript to look into")
    name = transcript.name
    try:
        data = read_bytes(transcript, transcript.parent)
    except FileNotFoundError:
        return verdict_unscored(f"there is no {name} to look into")
    except OSError as error:
        return verdict_unscored(f"{name} cannot be read: {error.strerror or error}")
    text = Content(data).text
    if not text.strip():
        return verdict_unscored(f"{name} is empty, so it shows nothing")
    read = read_events(text)
    if read is None:
        plain = f"{name} is plain text, which does not say for sure what was done"
        return Record(name, text, None, (), (), plain)
    told = [*read_steps(event.value for event in read.events)]
    steps = [step for one in told for step in one.steps]
    for step in steps:
        if step.call is not None and step.call.result is None:
            step.call.result, step.call.failed = step.text, step.failed
    calls = [call for call in calls_once(steps) if call.turn]
    return Record(name, text, read.events, told, calls, _find_gap(name, told, read.damaged))


def _find_gap(name: str, told: Sequence[Told], damaged: int) -> str | None:
    if damaged:
        return f"{count(damaged, 'line')} of {name} could not be read"
    if not any(step.turn and step.who != "other" for one in told for step in one.steps):
        return f"{name} tells nothing that the agent said or did, in a form that is known"
    kinds = [step.text for one in told for step in one.steps if step.who == "other"]
    kinds += [str(one.event.get("type")) for one in told if not one.steps]
    unread = [show_line(kind, 40) for kind in kinds if kind.endswith("call")]
    return f"{name} has calls in a form that is not known: {unread[0]}" if unread else None
