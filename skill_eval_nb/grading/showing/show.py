"""Put together what a judge is shown, within its room, and the record of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skill_eval_nb.documents.judging import NotShown, Shown, ShownFile

from .contents import Content, contents
from .found import Entry, entries, safe
from .hiding import Cover
from .rule import (
    IMAGES,
    IMAGES_BYTES,
    LEAST,
    LIST_SHARE,
    SHOWN_CHARS,
    TRANSCRIPT_SHARE,
)
from .shares import MARK_ROOM, admitted, cut, shares
from .transcripts import Transcript, transcript_of

NONCE = 16
_OPEN = '<output file="{name}" nonce="{nonce}">\n'
_CLOSE = '\n</output nonce="{nonce}">\n'
_PART = '<transcript part="{name}" nonce="{nonce}">\n'
_PART_CLOSE = '\n</transcript nonce="{nonce}">\n'
_FENCE = len(_OPEN.format(name="", nonce="0" * NONCE)) + len(_CLOSE.format(nonce="0" * NONCE))
_PART_FENCE = 2 * NONCE + 100
_HEAD = 200
"""Room for the words around the list of files."""
_STATUS = 60
"""Room in a line of the list for what became of a file, beyond a reason of its own."""


@dataclass(frozen=True, slots=True)
class Showing:
    """What is shown: blocks of a message, the fence's nonce, and the record of it all."""

    blocks: tuple[dict[str, Any], ...]
    nonce: str
    shown: Shown


@dataclass(frozen=True, slots=True)
class _Piece:
    """A file on its way to being shown."""

    entry: Entry
    name: str
    content: Content

    @property
    def wants(self) -> int:
        """Characters that it would take whole, fence included; 0 where there is nothing to show."""
        if self.content.picture is not None:
            return _FENCE + len(self.name)
        return _FENCE + len(self.name) + len(self.content.text) if self.content.text else 0


def show(
    outputs: Path,
    transcript: Path | None = None,
    *,
    chars: int = SHOWN_CHARS,
    key: str = "",
    hidden: Iterable[str] = (),
    ignored: Collection[str] = (),
    images: bool = True,
) -> Showing:
    """Choose what is shown of a run by the rule in `rule`.

    Args:
        outputs: the folder of the output files.
        transcript: what the executor did.
        chars: the room, for everything together, fences included.
        key: anything that belongs to the run; the nonce is drawn from it and from the files.
        hidden: names that tell the side.
        ignored: files directly in `outputs` that the executor did not put out.
        images: whether pictures may go as pictures.

    Raises:
        OSError: `outputs` cannot be listed.
    """
    cover = Cover(hidden, [outputs, outputs.parent])
    pieces = _pieces(entries(outputs, ignored), cover)
    told = None if transcript is None else _covered(transcript_of(transcript), cover)
    nonce = _nonce(key, pieces, told)
    left_out: list[NotShown] = []
    pieces = _pictures(pieces, images)
    list_room = min(sum(_line_room(one) for one in pieces), chars // LIST_SHARE)
    room = chars - list_room - _HEAD
    wanted = [one.wants for one in pieces]
    transcript_room = 0
    if told is not None:
        needs = len(told.text) + len(told.final or "") + 2 * _PART_FENCE
        least = min(needs, chars // TRANSCRIPT_SHARE)
        transcript_room = min(needs, max(least, room - sum(wanted)))
    given = _given(wanted, room - transcript_room)
    files, blocks = _compose(pieces, given, nonce, left_out)
    parts, record = ("", None) if told is None else _parts(told, transcript_room, nonce, left_out)
    listed = _list(files, list_room, left_out)
    head = f'Files that the executor put out, {len(files)} in all:\n<files nonce="{nonce}">\n'
    texts = [f'{head}{listed}\n</files nonce="{nonce}">\n', *blocks, parts]
    merged = _merged(texts)
    return Showing(
        merged,
        nonce,
        Shown(
            budget_chars=chars,
            chars=sum(len(one["text"]) for one in merged if one["type"] == "text"),
            images=sum(one["type"] == "image" for one in merged),
            files=[shown for shown, _ in files],
            transcript=record,
            left_out=left_out,
            masked=cover.count,
            digest=hashlib.sha256(json.dumps(merged).encode()).hexdigest(),
        ),
    )


def _pieces(found: Sequence[Entry], cover: Cover) -> list[_Piece]:
    pieces = []
    for entry, content in contents(found):
        if content.text is not None:
            content = replace(content, text=cover(content.text))  # noqa: PLW2901
        pieces.append(_Piece(entry, safe(cover(entry.name)), content))
    return pieces


def _covered(told: Transcript, cover: Cover) -> Transcript:
    pieces = tuple(cover(piece) for piece in told.pieces)
    return replace(told, pieces=pieces, final=told.final and cover(told.final))


def _nonce(key: str, pieces: Sequence[_Piece], told: Transcript | None) -> str:
    """Letters that no file holds: whoever wrote the files could not know them.

    They depend on the run and on what it put out alone, so that all judgings of a run have
    the same beginning, which a cache can keep.
    """
    texts = [one.content.text or "" for one in pieces]
    texts += [] if told is None else [*told.pieces, told.final or ""]
    digest = hashlib.sha256(key.encode("utf-8", "replace"))
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "replace")).digest())
    while True:
        nonce = digest.hexdigest()[:NONCE]
        if not any(nonce in text for text in texts):
            return nonce
        digest.update(b"again")


def _pictures(pieces: Sequence[_Piece], wanted: bool) -> list[_Piece]:
    """The pieces, with the pictures that there is no place for named only."""
    count = size = 0
    out = []
    for one in pieces:
        if one.content.picture is not None:
            reason = None
            if not wanted:
                reason = "the model's API refused the pictures"
            elif count == IMAGES:
                reason = f"{IMAGES} pictures come before it, which is the most"
            elif size + one.content.picture_bytes > IMAGES_BYTES:
                reason = f"the pictures before it fill {IMAGES_BYTES:,} bytes with it"
            if reason is None:
                count, size = count + 1, size + one.content.picture_bytes
            else:
                one = replace(one, content=Content("image", reason=reason))  # noqa: PLW2901
        out.append(one)
    return out


def _line_room(piece: _Piece) -> int:
    return len(piece.name) + len(piece.content.reason or "") + _STATUS + 40


def _given(wanted: Sequence[int], room: int) -> list[int]:
    """Room for each file: a share of use to the first ones, where there is not enough for all."""
    given = shares(wanted, room)
    if all(share >= min(want, LEAST) for share, want in zip(given, wanted, strict=True)):
        return given
    first = admitted(wanted, room, LEAST)
    return shares(wanted[:first], room) + [0] * (len(wanted) - first)


def _compose(
    pieces: Sequence[_Piece], given: Sequence[int], nonce: str, left_out: list[NotShown]
) -> tuple[list[tuple[ShownFile, str]], list[str | dict[str, Any]]]:
    """The files as they are shown, with a word on each, and the blocks they are shown in."""
    files: list[tuple[ShownFile, str]] = []
    blocks: list[str | dict[str, Any]] = []
    close = _CLOSE.format(nonce=nonce)
    for piece, room in zip(pieces, given, strict=True):
        content, entry = piece.content, piece.entry
        shown = ShownFile(name=piece.name, kind=content.kind, size_bytes=entry.size)
        status = "shown whole"
        begin = _OPEN.format(name=piece.name, nonce=nonce)
        if content.picture is not None and room >= piece.wants:
            blocks += [begin, content.picture, close]
            status = "shown as a picture"
        elif content.text is not None:
            shown.chars = len(content.text)
            status = status if content.text else "empty"
            text, left = cut(content.text, room - _FENCE - len(piece.name))
            shown.shown_chars = len(content.text) - left
            if shown.shown_chars:
                blocks.append(f"{begin}{text}{close}")
            if left:
                whole = not shown.shown_chars
                status = "not shown: no room" if whole else f"{left:,} characters left out"
                reason = "there is no room for it" if whole else "there is room for a part of it"
                left_out.append(NotShown(what=piece.name, reason=reason, chars=left))
            if content.unread:
                reason = "a very large file: its middle was not read"
                left_out.append(NotShown(what=piece.name, reason=reason, size_bytes=content.unread))
        else:
            reason = content.reason or "there is no room for it"
            status = f"not shown: {reason}"
            left_out.append(NotShown(what=piece.name, reason=reason, size_bytes=entry.size))
        files.append((shown, status))
    return files, blocks


def _list(files: Sequence[tuple[ShownFile, str]], room: int, left_out: list[NotShown]) -> str:
    """All files by name and size, and what became of them; the middle of a list too long is cut."""
    if not files:
        return "(none)"
    lines = [f"- {one.name} ({one.size_bytes:,} bytes): {status}" for one, status in files]
    whole = "\n".join(lines)
    text, left = cut(whole, room)
    if left:
        reason = "the list of all files is longer than its share"
        left_out.append(NotShown(what="list of files", reason=reason, chars=left))
    return text


def _parts(
    told: Transcript, room: int, nonce: str, left_out: list[NotShown]
) -> tuple[str, ShownFile]:
    """The transcript, its last message first in line for room and last in place."""
    whole = len(told.text) + len(told.final or "")
    record = ShownFile(name="transcript", kind="transcript", chars=whole)
    if told.setup_calls:
        reason = "calls that opened a skill would tell the side; the judge is not told of them"
        left_out.append(NotShown(what=f"transcript: {told.setup_calls} calls", reason=reason))
    if told.reason is not None:
        left_out.append(NotShown(what="transcript", reason=told.reason))
        record.shown_chars = 0
        return f"The transcript is not shown: {told.reason}.\n"[:room], record
    out = ""
    final, final_left = cut(told.final or "", room - 2 * _PART_FENCE)
    text, left = _fitted(told.pieces, room - 2 * _PART_FENCE - len(final))
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
    given = shares([len(one) for one in pieces], room - breaks)
    if any(share < min(len(one), LEAST) for share, one in zip(given, pieces, strict=True)):
        return cut("\n".join(pieces), room)
    cuts = [cut(one, share) for one, share in zip(pieces, given, strict=True)]
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
