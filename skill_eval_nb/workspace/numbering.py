"""What evals and iterations are called in a layout: ids, and names that are safe in a path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .homes import Home
from .identity import EvalKey
from .names import NO_ITERATION, eval_parts, is_iteration, natural, slug

LONGEST = 120
"""So many bytes of UTF-8 a name has at most; two of them fit into the name of a folder."""


class EvalName(NamedTuple):
    """An eval in the target: its id in the suite, its id elsewhere, its folder, its file."""

    in_suite: str | int
    in_folders: str | int
    folder: str
    file: str


def name_evals(keys: Iterable[EvalKey], home: Home) -> dict[EvalKey, EvalName]:
    """The names of the evals; the same id is the same eval in every iteration.

    Where the layout counts evals, numbers keep their distances, and other ids are counted in
    the order of `keys`.
    """
    keys = list(dict.fromkeys(keys))
    ids = list(dict.fromkeys(key.id for key in keys))
    numbers = _counted(ids) if home.counted else {id_: _number(id_) for id_ in ids}
    folders = _apart((key.id, _folder(key, numbers[key.id], home)) for key in keys)
    files = _apart((key.id, safe(str(numbers[key.id]))) for key in keys)
    return {
        key: EvalName(_in_suite(numbers[key.id], home), numbers[key.id], folder, file)
        for key, folder, file in zip(keys, folders, files, strict=True)
    }


def _in_suite(number: str | int, home: Home) -> str | int:
    return number + 1 if home.counted and isinstance(number, int) else number


def _counted(ids: list[str]) -> dict[str, str | int]:
    """Ids as numbers from 0."""
    numbers = [_number(id_) for id_ in ids]
    whole = [number for number in numbers if isinstance(number, int)]
    if len(whole) < len(ids):
        return {id_: place for place, id_ in enumerate(ids)}
    first = 1 if 0 not in whole else 0
    return {id_: number - first for id_, number in zip(ids, whole, strict=True)}


def _number(id_: str) -> str | int:
    """An id as a number, where that is what it is written like."""
    return int(id_) if re.fullmatch(r"0|[1-9][0-9]{0,14}", id_) else id_


def _folder(key: EvalKey, id_: str | int, home: Home) -> str:
    text = safe(str(id_))
    name = safe(slug(eval_parts(key.name)[1]), "")
    told = "" if name in ("", slug(text), slug(f"eval-{text}")) else name
    return home.eval_folder.format(id=text, slug=told).rstrip("-")


def name_iterations(used: Iterable[str]) -> dict[str, str]:
    """The names of the folders of iterations; runs of none are those of the first free number."""
    names = sorted(set(used) - {NO_ITERATION}, key=natural)
    plain = [name if is_iteration(name) else safe(f"iteration-{name}") for name in map(safe, names)]
    folders = dict(zip(names, _apart(zip(names, plain, strict=True)), strict=True))
    if NO_ITERATION in set(used):
        free = (f"iteration-{number}" for number in range(1, len(names) + 2))
        folders[NO_ITERATION] = next(name for name in free if name not in folders.values())
    return folders


def safe(name: str, otherwise: str = "-") -> str:
    r"""A text as the name of one file or folder, on any system.

    >>> safe("../a:b"), safe(".."), safe("naïve 🎉"), safe("")
    ('-a-b', '-', 'naïve 🎉', '-')
    """
    plain = re.sub(r'[\\/:*?"<>|\x00-\x1f\x7f\ud800-\udfff]', "-", name).strip(" .")
    return _short(plain, LONGEST) or otherwise


def _short(name: str, most: int) -> str:
    """The beginning of a name, so many bytes of UTF-8 at most."""
    return name.encode()[:most].decode(errors="ignore").strip(" .")


def _apart(wanted: Iterable[tuple[str, str]]) -> list[str]:
    """The names that owners want, changed where another owner has the same already."""
    owners: dict[str, str] = {}
    names = []
    for owner, text in wanted:
        name, count = text, 1
        while owners.setdefault(name.casefold(), owner) != owner:
            count += 1
            name = f"{_short(text, LONGEST - len(f'-{count}'))}-{count}"
        names.append(name)
    return names
