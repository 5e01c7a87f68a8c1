"""drafts.json: drafts on disk, between drafting, trying and applying."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from skill_eval_nb.disk import read_bytes, write_atomic
from skill_eval_nb.documents import to_json
from skill_eval_nb.running.refused import Refused, refuse
from skill_eval_nb.workspace import PathLike

from ..values import Draft, Kind, Part, RunRef
from .keys import key_of, missing_in


class _Filed(msgspec.Struct, forbid_unknown_fields=True):
    """A draft, as the file has it."""

    kind: Kind
    part: Part
    evals: tuple[str, ...]
    target: str | None
    new: tuple[dict[str, Any] | str, ...]
    why: str
    key: str = ""
    runs: tuple[tuple[str, str, str, str, str, str, int], ...] = ()
    suggestions: tuple[str, ...] = ()
    found_on: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    by: str = "rule"


def write_drafts(path: PathLike, drafts: Iterable[Draft]) -> Path:
    """Write drafts to a file in one step; `read_drafts` gives them back.

    Raises:
        OSError: where the file cannot be written.
    """
    filed = {"drafts": [msgspec.to_builtins(one) for one in drafts]}
    return write_atomic(path, to_json(filed))


def read_drafts(path: PathLike) -> tuple[Draft, ...]:
    """Read drafts from a file, one that a person has edited included.

    The key and what is missing are looked at anew, so that they fit what stands there now.

    Args:
        path: a file of `write_drafts`: an object whose `drafts` are a list of drafts.

    Raises:
        Refused: the file holds no drafts; every draft that is none is named.
        OSError: where the file cannot be read.
    """
    try:
        raw = msgspec.json.decode(read_bytes(Path(path)))
    except msgspec.DecodeError as error:
        raise refuse(f"{path} is no JSON ({error})") from None
    listed = raw.get("drafts") if isinstance(raw, dict) else None
    if not isinstance(listed, list):
        raise refuse(f"{path} holds no drafts: it should be an object with a list `drafts`")
    found: list[Draft] = []
    faults: list[str] = []
    for number, one in enumerate(listed):
        try:
            found.append(_draft(msgspec.convert(one, _Filed)))
        except msgspec.ValidationError as error:
            faults.append(f"{path}: $.drafts[{number}] is no draft ({error})")
    if faults:
        raise Refused(faults)
    return tuple(found)


def _draft(filed: _Filed) -> Draft:
    fields = {name: getattr(filed, name) for name in filed.__struct_fields__}
    fields["runs"] = tuple(RunRef(*one) for one in filed.runs)
    fields["key"] = key_of(filed.part, filed.evals, filed.target, filed.new)
    fields["missing"] = missing_in(filed.part, filed.new)
    return Draft(**fields)
