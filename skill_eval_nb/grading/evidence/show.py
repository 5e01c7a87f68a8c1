"""What a judge is shown of a run, put together within its room by the rule in `room`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import inside
from skill_eval_nb.documents.run import NotShown, Shown, ShownFile

from .contents import Content, Entry, contents, entries, safe
from .hiding import Cover
from .room import (
    IMAGES,
    IMAGES_BYTES,
    INPUTS_SHARE,
    LEAST,
    LIST_SHARE,
    MARK_ROOM,
    SHOWN_CHARS,
    TRANSCRIPT_SHARE,
    admitted,
    cut,
    shares,
)
from .transcripts import Transcript, transcript_of

NONCE = 16
_OPEN = '<{tag} file="{name}" nonce="{nonce}">\n'
_CLOSE = '\n</{tag} nonce="{nonce}">\n'
_FENCE = len((_OPEN + _CLOSE).format(tag="output", name="", nonce="0" * NONCE))
_STATUS = 100
"""Room in a line of the list for sizes and what became of a file, beyond a reason of its own."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, which is shown between tags (`output`, `input`) and under a name."""

    tag: str
    entry: Entry
    name: str
    content: Content

    @property
    def wants(self) -> int:
        """Characters that it would take whole, fence included; 0 where there is nothing to show."""
        content = self.content
        if not content.text and content.picture is None:
            return 0
        return _FENCE + len(self.name) + len(content.text or "")

    @property
    def line(self) -> int:
        """Characters that its line in the list of files takes at most."""
        return len(self.name) + len(self.content.reason or "") + _STATUS


@dataclass(frozen=True, slots=True)
class Composed:
    """Files as they are shown: the blocks, a line of the list for each, and the record."""

    blocks: list[str | dict[str, Any]]
    lines: list[str]
    files: list[ShownFile]


def pieces_of(tag: str, folder: Path, cover: Cover, ignored: Collection[str] = ()) -> list[Piece]:
    """The files of a folder, with names that tell the side covered.

    Raises:
        OSError: it cannot be listed.
    """
    pieces = []
    for entry, content in contents(entries(folder, ignored)):
        if content.text is not None:
            content = replace(content, text=cover(content.text))  # noqa: PLW2901
        pieces.append(Piece(tag, entry, safe(cover.file_name(entry.name)), content))
    return pieces


def with_pictures(pieces: Sequence[Piece], wanted: bool) -> list[Piece]:
    """The pieces, with the pictures that there is no place for named only."""
    count = size = 0
    out = []
    for piece in pieces:
        if piece.content.picture is not None:
            reason = None
            if not wanted:
                reason = "the model's API refused the pictures"
            elif count == IMAGES:
                reason = f"{IMAGES} pictures come before it, which is the most"
            elif size + piece.content.picture_bytes > IMAGES_BYTES:
                reason = f"the pictures before it fill {IMAGES_BYTES:,} bytes with it"
            if reason is None:
                count, size = count + 1, size + piece.content.picture_bytes
            else:
                piece = replace(piece, content=Content("image", reason=reason))  # noqa: PLW2901
        out.append(piece)
    return out


def compose(pieces: Sequence[Piece], room: int, nonce: str, left_out: list[NotShown]) -> Composed:
    """The files within their room; what does not fit, or cannot be shown, is noted."""
    composed = Composed([], [], [])
    for piece, share in zip(pieces, _given([piece.wants for piece in pieces], room), strict=True):
        shown, status = _compose(piece, share, nonce, composed.blocks, left_out)
        composed.files.append(shown)
        composed.lines.append(f"- {piece.name} ({piece.entry.size:,} bytes): {status}")
    return composed


def _given(wanted: Sequence[int], room: int) -> list[int]:
    """Room for each file: a share of use to the first ones, where there is not enough for all."""
    given = shares(wanted, room)
    if all(share >= min(want, LEAST) for share, want in zip(given, wanted, strict=True)):
        return given
    first = admitted(wanted, room, LEAST)
    return shares(wanted[:first], room) + [0] * (len(wanted) - first)


def _compose(
    piece: Piece,
    room: int,
    nonce: str,
    blocks: list[str | dict[str, Any]],
    left_out: list[NotShown],
) -> tuple[ShownFile, str]:
    """The record of one file and a word on what became of it; its blocks are added."""
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
    text, left = cut(content.text, room - _FENCE - len(piece.name))
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
    """What is shown: blocks of a message, the fence's nonce, and the record of it all.

    `originals` has what stands behind each cover, for `uncovered`.
    """

    blocks: tuple[dict[str, Any], ...]
    nonce: str
    shown: Shown
    originals: Mapping[str, str] = field(default_factory=dict)


def show(
    outputs: Path,
    transcript: Path | None = None,
    *,
    inputs: Path | None = None,
    chars: int = SHOWN_CHARS,
    key: str = "",
    skills: Iterable[str] = (),
    configurations: Iterable[str] = (),
    ignored: Collection[str] = (),
    images: bool = True,
) -> Showing:
    """Choose what is shown of a run by the rule in `rule`.

    Args:
        outputs: the folder of the output files.
        transcript: what the executor did.
        inputs: the folder of the files that it was given and left unchanged; it need not exist.
        chars: the room, for everything together, fences included.
        key: anything that belongs to the run; the nonce is drawn from it and from the files.
        skills: names of skills, covered where they are spoken of as skills.
        configurations: names of configurations, covered where they are whole words.
        ignored: files directly in `outputs` that the executor did not put out.
        images: whether pictures may go as pictures.

    Raises:
        OSError: `outputs` or `inputs` cannot be listed, or a link of that name leads elsewhere.
    """
    for folder in (outputs, inputs):
        if folder is not None:
            inside(folder, folder.parent)
    cover = Cover(skills, configurations, [outputs, outputs.parent])
    has_inputs = inputs is not None and inputs.is_dir()
    given = pieces_of("input", inputs, cover) if inputs is not None and has_inputs else []
    put_out = pieces_of("output", outputs, cover, ignored)
    steps = None if transcript is None else _covered(transcript_of(transcript), cover)
    nonce = _nonce(key, [*given, *put_out], steps)
    pieces = with_pictures([*put_out, *given], images)
    put_out, given = pieces[: len(put_out)], pieces[len(put_out) :]
    lists = shares([_list_wants(given), _list_wants(put_out)], chars // LIST_SHARE)
    wanted = sum(piece.wants for piece in put_out)
    room = chars - sum(lists) - _HEAD * (1 + bool(given))
    for_inputs, for_transcript = _rooms(chars, room - wanted, given, steps)
    left_out: list[NotShown] = []
    inputs_shown = compose(given, for_inputs, nonce, left_out)
    shown = compose(put_out, room - for_inputs - for_transcript, nonce, left_out)
    parts, record = ("", None) if steps is None else _parts(steps, for_transcript, nonce, left_out)
    begin = _list(_GIVEN, inputs_shown.lines, lists[0], nonce, left_out) if given else ""
    listed = _list(_PUT_OUT, shown.lines, lists[1], nonce, left_out)
    merged = _merged([begin, *inputs_shown.blocks, listed, *shown.blocks, parts])
    return Showing(
        merged,
        nonce,
        Shown(
            budget_chars=chars,
            chars=sum(len(block["text"]) for block in merged if block["type"] == "text"),
            images=sum(block["type"] == "image" for block in merged),
            files=shown.files,
            inputs=inputs_shown.files,
            transcript=record,
            left_out=left_out,
            masked=cover.count,
            digest=hashlib.sha256(json.dumps(merged).encode()).hexdigest(),
        ),
        cover.originals,
    )


def _covered(transcript: Transcript, cover: Cover) -> Transcript:
    pieces = tuple(cover(piece) for piece in transcript.pieces)
    return replace(transcript, pieces=pieces, final=transcript.final and cover(transcript.final))


def _nonce(key: str, pieces: Sequence[Piece], transcript: Transcript | None) -> str:
    """Letters that no file holds: whoever wrote the files could not know them.

    They depend on the run and on its files alone, so that all judgings of a run have the same
    beginning, which a cache can keep.
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


def _rooms(
    chars: int, spare: int, given: Sequence[Piece], record: Transcript | None
) -> tuple[int, int]:
    """Room for inputs and transcript: their shares, and what the outputs leave (`spare`)."""
    inputs = sum(piece.wants for piece in given)
    least = min(inputs, chars // INPUTS_SHARE)
    transcript = 0
    if record is not None:
        transcript = len(record.text) + len(record.final or "") + 2 * _PART_FENCE
        transcript = min(transcript, max(chars // TRANSCRIPT_SHARE, spare - least))
    return min(inputs, max(least, spare - transcript)), transcript


def _list_wants(pieces: Sequence[Piece]) -> int:
    return sum(piece.line for piece in pieces)


def _list(what: str, lines: Sequence[str], room: int, nonce: str, left_out: list[NotShown]) -> str:
    """All files by name and size, and what became of them; the middle of a list too long is cut."""
    text, left = cut("\n".join(lines), room)
    if left:
        reason = "the list of all files is longer than its share"
        left_out.append(NotShown(what="list of files", reason=reason, chars=left))
    return _LIST.format(what=what, count=len(lines), nonce=nonce, lines=text or "(none)")


def _parts(
    transcript: Transcript, room: int, nonce: str, left_out: list[NotShown]
) -> tuple[str, ShownFile]:
    """The transcript, its last message first in line for room and last in place."""
    whole = len(transcript.text) + len(transcript.final or "")
    record = ShownFile(name="transcript", kind="transcript", chars=whole)
    if transcript.setup_calls:
        reason = "calls that opened a skill would tell the side; the judge is not told of them"
        left_out.append(NotShown(what=f"transcript: {transcript.setup_calls} calls", reason=reason))
    if transcript.reason is not None:
        left_out.append(NotShown(what="transcript", reason=transcript.reason))
        record.shown_chars = 0
        return f"The transcript is not shown: {transcript.reason}.\n"[:room], record
    out = ""
    final, final_left = cut(transcript.final or "", room - 2 * _PART_FENCE)
    text, left = _fitted(transcript.pieces, room - 2 * _PART_FENCE - len(final))
    for name, part in (("what the executor did", text), ("its last message", final)):
        if part:
            out += _PART.format(name=name, nonce=nonce) + part + _PART_CLOSE.format(nonce=nonce)
    for what, missing in (("transcript", left), ("transcript: last message", final_left)):
        if missing:
            reason = "it is longer than its share of the room"
            left_out.append(NotShown(what=what, reason=reason, chars=missing))
    record.shown_chars = whole - left - final_left
    return out, record


def _fitted(pieces: Sequence[str], room: int) -> tuple[str, int]:
    """The pieces within their room: a share each where that is of use, else head and tail."""
    breaks = max(len(pieces) - 1, 0)
    given = shares([len(piece) for piece in pieces], room - breaks)
    if any(share < min(len(text), LEAST) for share, text in zip(given, pieces, strict=True)):
        return cut("\n".join(pieces), room)
    cuts = [cut(text, share) for text, share in zip(pieces, given, strict=True)]
    return "\n".join(text for text, _ in cuts), sum(left for _, left in cuts)


def _merged(parts: Iterable[str | dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Blocks of a message: texts that follow each other in one."""
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
