"""`.eval`, a log of inspect_ai as a zip, unpacked without the library."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from typing import Any

import msgspec

from skill_eval_nb.disk import LARGEST, open_regular

from ..base import Faults
from ..parsing import NotJSON, parse

_ZSTD = 93


_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, NotJSON),
    *(NotImplementedError, EOFError, RuntimeError),
)
"""What a damaged zip, or one that is packed in an unknown way, ends in."""


class _Sample(msgspec.Struct):
    """What is read of a sample; its messages and events, which are long, are passed over."""

    id: Any = None
    epoch: Any = None
    input: Any = None
    scores: Any = None
    score: Any = None
    metadata: Any = None
    model_usage: Any = None
    total_time: Any = None
    started_at: Any = None
    error: Any = None
    limit: Any = None


def open_log(path: str, faults: Faults) -> Any:
    """The log in a `.eval` file as its `.json` form has it; None where it is none.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no zip, or holds what cannot be unpacked; the message says what.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as log:
            names = log.namelist()
            head = next(
                (member for member in ("header.json", "_journal/start.json") if member in names),
                None,
            )
            if head is None:
                return None
            whole = parse(_member(log, head), faults)
            if isinstance(whole, dict):
                whole["samples"] = []
                for name in names:
                    if not (name.startswith("samples/") and name.endswith(".json")):
                        continue
                    try:
                        whole["samples"].append(_sample(_member(log, name), faults))
                    except _BROKEN as fault:
                        message = f"{name} cannot be read: {fault}; the run is left out"
                        faults.add("error", "unreadable", "$.samples", message)
            return whole
    except _BROKEN as fault:
        raise ValueError(str(fault)) from None


def _member(log: zipfile.ZipFile, name: str) -> bytes:
    """A file of the zip; newer logs are packed in a way that not every standard library knows.

    What else knows it is not asked: it ends in faults of its own.
    """
    info = log.getinfo(name)
    if info.file_size > LARGEST:
        raise NotImplementedError(f"{name} has {info.file_size / 1e6:.0f} MB")
    if info.compress_type != _ZSTD:
        with log.open(info) as file:
            return file.read(LARGEST)
    import pyarrow as pa

    assert log.fp is not None
    log.fp.seek(info.header_offset + 26)
    lengths = log.fp.read(4)
    log.fp.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
    packed = log.fp.read(info.compress_size)
    try:
        data = pa.decompress(packed, info.file_size, "zstd", asbytes=True)
    except (pa.ArrowException, OSError, ValueError) as fault:
        raise NotImplementedError(f"{name}: {fault}") from None
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(f"{name}: its sum is wrong")
    return data


def _sample(data: bytes, faults: Faults) -> Any:
    try:
        return msgspec.structs.asdict(msgspec.json.decode(data, type=_Sample))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return parse(data, faults)
