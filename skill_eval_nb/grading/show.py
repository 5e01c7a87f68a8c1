"""What a judge is shown of a run, by a stated rule, with everything that reveals the side covered.

1. There is room for a number of characters, for everything together.
2. All files are listed by name and size; the lists may take an eighth of the room.
3. The transcript may take a quarter of the room, and more if the outputs leave some. Its last
   message has priority, and is shown whole if it fits.
4. The inputs (the executor's input files that it left unchanged) may take a quarter of the room,
   and more if outputs and transcript leave some.
5. The outputs get the rest. Inputs and outputs come in the natural order of their names: short
   files whole, the others with an equal share each, half for the beginning and half for the end.
6. If the shares would be too short to be useful, only the first files get one, and the others are
   just named.
7. Pictures are sent as pictures, up to a number and a size, those of the outputs first; other
   files that are not text are just named.

In the transcript a judge reads what the executor said, did and saw. It does not see what the
harness told the executor (its prompt, reminders and list of skills), nor calls that opened a skill,
with their results and the words around them if nothing else was done. That is left out on all
sides, so its absence reveals nothing; how often it occurred is recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import decode_text, read_bytes, resolve_inside
from skill_eval_nb.documents import Dimension, Expectation
from skill_eval_nb.documents.run import NotShown, Shown, ShownFile
from skill_eval_nb.documents.transcript import Step, Told, message_of, read_events, read_steps
from skill_eval_nb.models.ask import Unanswered

from .contents import (
    IMAGES,
    IMAGES_BYTES,
    INPUTS_SHARE,
    LEAST,
    LIST_SHARE,
    MARK_ROOM,
    SHOWN_CHARS,
    TRANSCRIPT_SHARE,
    Content,
    Entry,
    count_admitted,
    cut_middle,
    entries,
    read_contents,
    safe,
    shares,
)

_SKILL_FILES = re.compile(r"SKILL\.md|\.claude/skills/|(?:^|[\s\"'=;|&])/skills/", re.IGNORECASE)
_WRITING = frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit"))
"""Tools that change files: a task may be to write a skill."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript in pieces; `final` is the executor's last message."""

    pieces: tuple[str, ...]
    final: str | None
    setup_calls: int = 0
    reason: str | None = None

    @property
    def chars(self) -> int:
        """How long it is, the last message included."""
        return len("\n".join(self.pieces)) + len(self.final or "")


def transcript_of(path: Path) -> Transcript:
    """Read a transcript: one JSON object per line (or a list of them), else plain text.

    The file's content never raises an error; `reason` says why there is nothing to show.
    """
    try:
        text = decode_text(read_bytes(path, path.parent))
    except OSError as error:
        return Transcript((), None, reason=f"it cannot be read ({error.strerror or error})")
    if text is None:
        return Transcript((), None, reason="it is not text")
    read = read_events(text)
    told = [] if read is None else [*read_steps(event.value for event in read.events)]
    if not any(map(_is_read, told)):
        return Transcript((text,), None) if text.strip() else Transcript((), None)
    return _build_transcript(told)


def _is_read(told: Told) -> bool:
    """Whether an event has a known form, even if it says nothing."""
    message = message_of(told.event)
    known = isinstance(message.get("content"), str | list) or "tool_calls" in message
    return known or bool(told.steps)


def _build_transcript(told: Sequence[Told]) -> Transcript:
    """The transcript of the steps, without calls that opened a skill."""
    pieces: list[str] = []
    final: int | None = None
    hidden: set[Any] = set()
    for _, _, steps, _ in told:
        calls = [step for step in steps if step.who == "call"]
        set_up = bool(calls) and all(map(_opens_skill, calls))  # "The skill fits this task."
        for step in steps:
            if step.who == "agent" and not set_up:
                final = len(pieces)
                pieces.append(f"[executor] {step.text}")
            elif step.who == "call" and _opens_skill(step):
                hidden.add(step.id)
            elif step.who == "call":
                pieces.append(f"[call of {step.text}] {_compact_input(step.given)}")
            elif step.who == "result" and not (step.call and _opens_skill(step.call)):
                pieces.append(f"[result{' (an error)' if step.failed else ''}] {step.text}")
    if final is None:
        results = [result for one in told if isinstance(result := one.event.get("result"), str)]
        return Transcript(tuple(pieces), results[-1] if results else None, len(hidden))
    last = pieces.pop(final)
    return Transcript(tuple(pieces), last.removeprefix("[executor] "), len(hidden))


def _opens_skill(call: Step) -> bool:
    if call.text == "Skill":
        return True
    if call.text in _WRITING:
        return False
    values = call.given.values() if isinstance(call.given, dict) else [call.given]
    return any(isinstance(value, str) and _SKILL_FILES.search(value) for value in values)


def _compact_input(value: Any) -> str:
    """A call's input: a single string unchanged, anything else as JSON."""
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
    return json.dumps(value, ensure_ascii=False)


SIDES = ("with_skill", "without_skill", "old_skill", "new_skill")
"""Names of configurations that are always covered."""

_COVER = re.compile(r"\[name (\d+)\]")
_TICKS = r"[\"'`*“”‘’]{0,3}"
_BLANK = r"(?:[ \t]++\s?|\s)[ \t]*+"


class Cover:
    """Covers names in texts as `[name 1]`, `[name 2]`, …, and remembers the names behind them.

    A skill's name is covered where the text means the skill: `/skills/NAME`, `NAME/SKILL.md`,
    `the NAME skill`, `skill NAME`, `/NAME`. It stays in file names and other prose, as it consists
    of words of the task. A configuration's name is covered if it is a whole word, also in file
    names; if it could be a word of the task (because it is also a skill's name, or has no hyphen or
    underscore, such as `v2`), it is covered like a skill's, and in paths of runs (`v2/run-1`).
    Paths of the run's own folder become relative.

    >>> cover = Cover(["release-notes"])
    >>> cover("By the release-notes skill I wrote release-notes.md, with_skill.")
    'By the [name 1] I wrote release-notes.md, [name 2].'
    >>> uncover_names("it says [name 1]", cover.originals)
    'it says release-notes skill'
    """

    def __init__(
        self,
        skills: Iterable[str],
        configurations: Iterable[str] = (),
        folders: Iterable[Path] = (),
    ) -> None:
        self.count = 0
        self._numbers: dict[str, int] = {}
        self._there: set[int] = set()
        self._names, self._sides = _cover_patterns(frozenset(skills), frozenset(configurations))
        forms = {form for one in folders for form in (str(one.absolute()), os.path.realpath(one))}
        long = [form for form in forms if form.count(os.sep) > 1]  # and not a common one
        self._folders = sorted(long, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text with the names covered."""
        # Each run has its own folders: their pattern is only made if the text mentions one.
        if any(form in text for form in self._folders):
            forms = "|".join(map(re.escape, self._folders))
            text, times = re.subn(rf"(?:{forms})(?![\w.-])", ".", text)
            self.count += times
        return self._cover_pattern(self._names, text)

    def file_name(self, name: str) -> str:
        """A file's name, in which only configurations are covered."""
        return self._cover_pattern(self._sides, name)

    @property
    def originals(self) -> dict[str, str]:
        """The name behind each cover, without covers that a text itself contained."""
        return {
            f"[name {number}]": name
            for name, number in self._numbers.items()
            if number not in self._there
        }

    def _cover_pattern(self, pattern: re.Pattern[str], text: str) -> str:
        self._there.update(int(number) for number in _COVER.findall(text) if len(number) < 10)
        text, times = pattern.subn(self._cover_match, text)
        self.count += times
        return text

    def _cover_match(self, found: re.Match[str]) -> str:
        return f"[name {self._numbers.setdefault(found[0], len(self._numbers) + 1)}]"


def uncover_names(text: str, originals: Mapping[str, str]) -> str:
    """A text of the judge with its covers replaced by the names."""
    return _COVER.sub(lambda found: originals.get(found[0], found[0]), text)


@lru_cache(maxsize=64)
def _cover_patterns(
    skills: frozenset[str], configurations: frozenset[str]
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns to cover in texts and in file names; the same for all runs of a job."""
    own = skills - {""}
    sides = {*SIDES, *configurations} - {""}
    whole = {*SIDES, *(side for side in sides - own if "_" in side or "-" in side)}
    in_names = rf"(?<!\w)(?:{_any_name(whole, '[-_]')})(?!\w)"
    spoken = _name_pattern(_any_name(own | sides, "[-_ ]"))
    return (
        re.compile(f"{spoken}|{in_names}", re.IGNORECASE),
        re.compile(in_names, re.IGNORECASE),
    )


def _any_name(names: Iterable[str], between: str) -> str:
    """A pattern for any of the names, the longest first, with anything between their parts."""
    spelled = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(between.join(map(re.escape, re.split(r"[-_ ]", name))) for name in spelled)


def _name_pattern(names: str) -> str:
    """A pattern for the places where a name means a skill, or is a folder of runs."""
    name = rf"(?<![\w-])(?:{names})(?![\w-])"
    before = (
        rf"(?:skill\()?skill(?:\s+(?:called|named)\s+|[\s\"'`*“‘:=(]{{1,5}})|skills:\s*{_TICKS}"
    )
    return (
        rf"(?:\.claude[/\\])?\bskills[/\\]{name}(?:[/\\]SKILL\.md)?"
        rf"|{name}[/\\]SKILL\.md"
        rf"|{_TICKS}{name}{_TICKS}{_BLANK}skill\b"
        rf"|\b(?:{before}){_TICKS}{name}{_TICKS}"
        rf"|(?<![\w./\\~-])/(?:[\w-]+:)?{name}(?![/\\]|\.\w)"
        rf"|(?<=[/\\]){name}(?=[/\\](?:run-\d|outputs\b))"
    )


Block = str | dict[str, Any]
"""A text, or a picture as the API takes it."""
NONCE = 16
_OPEN = '<{tag} file="{name}" nonce="{nonce}">\n'
_CLOSE = '\n</{tag} nonce="{nonce}">\n'
_FENCE = len((_OPEN + _CLOSE).format(tag="output", name="", nonce="0" * NONCE))
_STATUS = 100
"""Room in a line of the list for a file's size and status, apart from a reason."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A file that is shown between tags (`output`, `input`) under a name."""

    tag: str
    entry: Entry
    name: str
    content: Content

    @property
    def wants(self) -> int:
        """Characters needed to show all of it, including the fence; 0 if there is nothing."""
        content = self.content
        if not content.text and content.picture is None:
            return 0
        return _FENCE + len(self.name) + len(content.text or "")

    @property
    def line(self) -> int:
        """The most characters of its line in the list of files."""
        return len(self.name) + len(self.content.reason or "") + _STATUS


def pieces_of(tag: str, folder: Path, cover: Cover, ignored: Collection[str] = ()) -> list[Piece]:
    """The files of a folder, with names covered that would reveal the side.

    Raises:
        OSError: it cannot be listed.
    """
    pieces = []
    for entry, content in read_contents(entries(folder, ignored)):
        if content.text is not None:
            content = replace(content, text=cover(content.text))  # noqa: PLW2901
        pieces.append(Piece(tag, entry, safe(cover.file_name(entry.name)), content))
    return pieces


def with_pictures(pieces: Sequence[Piece], most: int) -> list[Piece]:
    """The pieces, in which pictures beyond the limits are only named."""
    count = size = 0
    out = []
    for piece in pieces:
        if piece.content.picture is not None:
            if not most:
                reason = "no pictures are sent for an analysis, or after the API refused them"
            elif count == most or size + piece.entry.size > IMAGES_BYTES * most // IMAGES:
                reason = f"there is room for {most} pictures, and for fewer if they are large"
            else:
                reason, count, size = None, count + 1, size + piece.entry.size
            if reason is not None:
                piece = replace(piece, content=Content("image", reason=reason))  # noqa: PLW2901
        out.append(piece)
    return out


def compose(
    pieces: Sequence[Piece], room: int, nonce: str, left_out: list[NotShown]
) -> tuple[list[Block], list[str], list[ShownFile]]:
    """Files within their room: the blocks, a line in the list for each, and the record.

    What does not fit or cannot be shown is noted in `left_out`.
    """
    blocks: list[Block] = []
    lines: list[str] = []
    files: list[ShownFile] = []
    for piece, share in zip(
        pieces, _share_room([piece.wants for piece in pieces], room), strict=True
    ):
        shown, status = _compose_file(piece, share, nonce, blocks, left_out)
        files.append(shown)
        lines.append(f"- {piece.name} ({piece.entry.size:,} bytes): {status}")
    return blocks, lines, files


def _share_room(wanted: Sequence[int], room: int) -> list[int]:
    """Room for each file; if there is too little for all, a useful share for the first ones."""
    given = shares(wanted, room)
    if all(share >= min(want, LEAST) for share, want in zip(given, wanted, strict=True)):
        return given
    first = count_admitted(wanted, room, LEAST)
    return shares(wanted[:first], room) + [0] * (len(wanted) - first)


def _compose_file(
    piece: Piece,
    room: int,
    nonce: str,
    blocks: list[Block],
    left_out: list[NotShown],
) -> tuple[ShownFile, str]:
    """The record and the status of one file; its blocks are added to `blocks`."""
    content, entry = piece.content, piece.entry
    name = safe(entry.name)
    what = name if piece.tag == "output" else f"{piece.tag}: {name}"
    shown = ShownFile(name=name, kind=content.kind, size_bytes=entry.size)
    begin = _OPEN.format(tag=piece.tag, name=piece.name, nonce=nonce)
    close = _CLOSE.format(tag=piece.tag, nonce=nonce)
    if content.picture is not None and room >= piece.wants:
        blocks += [begin, content.picture, close]
        return shown, "shown as a picture"
    if content.text is None:
        reason = content.reason or "there is no room for it"
        left_out.append(NotShown(what=what, reason=reason, size_bytes=entry.size))
        return shown, f"not shown: {reason}"
    text, left = cut_middle(content.text, room - _FENCE - len(piece.name))
    shown.chars = len(content.text)
    shown.shown_chars = shown.chars - left
    if shown.shown_chars:
        blocks.append(f"{begin}{text}{close}")
    status = "shown whole" if content.text else "empty"
    if left:
        part = bool(shown.shown_chars)
        status = f"{left:,} characters left out" if part else "not shown: no room"
        reason = "there is room for a part of it" if part else "there is no room for it"
        left_out.append(NotShown(what=what, reason=reason, chars=left))
    if content.unread:
        reason = "a very large file: its middle was not read"
        left_out.append(NotShown(what=what, reason=reason, size_bytes=content.unread))
    return shown, status


_PUT_OUT = "Files that the executor put out"
_GIVEN = "Files that the executor was given and left as they were"
_LIST = '{what}, {count} in all:\n<files nonce="{nonce}">\n{lines}\n</files nonce="{nonce}">\n'
_HEAD = 200
"""Room for the words around a list of files."""
_PART = '<transcript part="{name}" nonce="{nonce}">\n'
_PART_CLOSE = '\n</transcript nonce="{nonce}">\n'
_PART_FENCE = 2 * NONCE + 100


@dataclass(frozen=True, slots=True)
class Showing:
    """What is shown: blocks of a message, the fence's nonce, and the record of it.

    `originals` has the name behind each cover, for `uncover_names`.
    """

    blocks: tuple[dict[str, Any], ...]
    nonce: str
    shown: Shown
    originals: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """One run's outputs, and what they are judged by.

    Args:
        prompt: the task that the executor was given.
        expected_output: what success looks like, in the suite's words.
        expectations: what the judge has to verify.
        dimensions: the rubric; each dimension is scored from 1 to 5.
        outputs: the folder of the output files.
        transcript: what the executor did, as `transcript.jsonl` or as text.
        key: an opaque id of the run, from which the random orders and the nonce are derived.
        inputs: the folder of the input files that the executor left unchanged; it need not exist.
        hidden: names of skills, the same for every side; they are covered where the text means
            the skill.
        configurations: names of configurations; they are covered if they are whole words.
        ignored: files directly in `outputs` that the executor did not produce.
    """

    prompt: str
    expected_output: str | None
    expectations: Sequence[Expectation]
    dimensions: Sequence[Dimension]
    outputs: Path
    transcript: Path | None
    key: str
    inputs: Path | None = None
    hidden: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def show(case: Case, chars: int = SHOWN_CHARS, *, images: int = IMAGES) -> Showing:
    """Choose what is shown of a run by the rule above.

    Args:
        case: the run.
        chars: the room for everything together, including fences.
        images: the most pictures that are sent as pictures; 0 for none.

    Raises:
        Unanswered: its files cannot be listed, or a link of that name leads elsewhere.
    """
    outputs, inputs = case.outputs, case.inputs
    cover = Cover(case.hidden, case.configurations, [outputs, outputs.parent])
    given: list[Piece] = []
    try:
        resolve_inside(outputs, outputs.parent)
        if inputs is not None:
            resolve_inside(inputs, inputs.parent)
            given = pieces_of("input", inputs, cover) if inputs.is_dir() else []
        put_out = pieces_of("output", outputs, cover, case.ignored)
    except OSError as error:
        raise Unanswered(f"the files cannot be read ({error.strerror or error})") from error
    steps = None
    if case.transcript is not None:
        steps = _cover_transcript(transcript_of(case.transcript), cover)
    nonce = _nonce(case.key, [*given, *put_out], steps)
    pieces = with_pictures([*put_out, *given], images)
    put_out, given = pieces[: len(put_out)], pieces[len(put_out) :]
    lists = shares([sum(p.line for p in part) for part in (given, put_out)], chars // LIST_SHARE)
    wanted = sum(piece.wants for piece in put_out)
    room = chars - sum(lists) - _HEAD * (1 + bool(given))
    for_inputs, for_transcript = _split_room(chars, room - wanted, given, steps)
    left_out: list[NotShown] = []
    inputs_shown, input_lines, input_files = compose(given, for_inputs, nonce, left_out)
    rest = room - for_inputs - for_transcript
    shown, lines, files = compose(put_out, rest, nonce, left_out)
    parts, record = (
        ("", None) if steps is None else _show_transcript(steps, for_transcript, nonce, left_out)
    )
    begin = _list_files(_GIVEN, input_lines, lists[0], nonce, left_out) if given else ""
    listed = _list_files(_PUT_OUT, lines, lists[1], nonce, left_out)
    merged = _merge_texts([begin, *inputs_shown, listed, *shown, parts])
    return Showing(
        merged,
        nonce,
        Shown(
            budget_chars=chars,
            chars=sum(len(block["text"]) for block in merged if block["type"] == "text"),
            images=sum(block["type"] == "image" for block in merged),
            files=files,
            inputs=input_files,
            transcript=record,
            left_out=left_out,
            masked=cover.count,
            digest=hashlib.sha256(json.dumps(merged).encode()).hexdigest(),
        ),
        cover.originals,
    )


def _cover_transcript(transcript: Transcript, cover: Cover) -> Transcript:
    pieces = tuple(cover(piece) for piece in transcript.pieces)
    return replace(transcript, pieces=pieces, final=transcript.final and cover(transcript.final))


def _nonce(key: str, pieces: Sequence[Piece], transcript: Transcript | None) -> str:
    """A nonce that no file contains, and that no author of a file could have known.

    It depends only on the run and its files, so that all judgings of a run begin the same way, and
    the beginning can be cached.
    """
    texts = [piece.content.text or "" for piece in pieces]
    texts += [] if transcript is None else [*transcript.pieces, transcript.final or ""]
    digest = hashlib.sha256(key.encode("utf-8", "replace"))
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "replace")).digest())
    while True:
        nonce = digest.hexdigest()[:NONCE]
        if not any(nonce in text for text in texts):
            return nonce
        digest.update(b"again")


def _split_room(
    chars: int, spare: int, given: Sequence[Piece], record: Transcript | None
) -> tuple[int, int]:
    """Room for inputs and transcript: their shares, plus what the outputs leave (`spare`)."""
    inputs = sum(piece.wants for piece in given)
    least = min(inputs, chars // INPUTS_SHARE)
    transcript = 0
    if record is not None:
        most = max(chars // TRANSCRIPT_SHARE, spare - least)
        transcript = min(record.chars + 2 * _PART_FENCE, most)
    return min(inputs, max(least, spare - transcript)), transcript


def _list_files(
    what: str, lines: Sequence[str], room: int, nonce: str, left_out: list[NotShown]
) -> str:
    """All files with size and status; if the list is too long, its middle is cut."""
    text, left = cut_middle("\n".join(lines), room)
    if left:
        reason = "the list of all files is longer than its share"
        left_out.append(NotShown(what="list of files", reason=reason, chars=left))
    return _LIST.format(what=what, count=len(lines), nonce=nonce, lines=text or "(none)")


def _show_transcript(
    transcript: Transcript, room: int, nonce: str, left_out: list[NotShown]
) -> tuple[str, ShownFile]:
    """The transcript; its last message has priority for room, but is shown last."""
    record = ShownFile(name="transcript", kind="transcript", chars=transcript.chars)
    if transcript.setup_calls:
        reason = "calls that opened a skill would reveal the side, so the judge does not see them"
        left_out.append(NotShown(what=f"transcript: {transcript.setup_calls} calls", reason=reason))
    if transcript.reason is not None:
        left_out.append(NotShown(what="transcript", reason=transcript.reason))
        record.shown_chars = 0
        return f"The transcript is not shown: {transcript.reason}.\n"[:room], record
    out = ""
    final, final_left = cut_middle(transcript.final or "", room - 2 * _PART_FENCE)
    text, left = _fit_pieces(transcript.pieces, room - 2 * _PART_FENCE - len(final))
    for name, part in (("what the executor did", text), ("its last message", final)):
        if part:
            out += _PART.format(name=name, nonce=nonce) + part + _PART_CLOSE.format(nonce=nonce)
    for what, missing in (("transcript", left), ("transcript: last message", final_left)):
        if missing:
            reason = "it is longer than its share of the room"
            left_out.append(NotShown(what=what, reason=reason, chars=missing))
    record.shown_chars = transcript.chars - left - final_left
    return out, record


def _fit_pieces(pieces: Sequence[str], room: int) -> tuple[str, int]:
    """The pieces within their room: a share for each if useful, else beginning and end."""
    breaks = max(len(pieces) - 1, 0)
    given = shares([len(piece) for piece in pieces], room - breaks)
    if any(share < min(len(text), LEAST) for share, text in zip(given, pieces, strict=True)):
        return cut_middle("\n".join(pieces), room)
    cuts = [cut_middle(text, share) for text, share in zip(pieces, given, strict=True)]
    return "\n".join(text for text, _ in cuts), sum(left for _, left in cuts)


def _merge_texts(parts: Iterable[Block]) -> tuple[dict[str, Any], ...]:
    """The blocks of a message, with consecutive texts joined."""
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if not isinstance(part, str):
            blocks.append(part)
        elif part and blocks and blocks[-1]["type"] == "text":
            blocks[-1] = {"type": "text", "text": blocks[-1]["text"] + part}
        elif part:
            blocks.append({"type": "text", "text": part})
    return tuple(blocks)


assert MARK_ROOM < LEAST < SHOWN_CHARS
