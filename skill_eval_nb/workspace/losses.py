"""What a conversion loses, told once however many files lose it."""

from __future__ import annotations

import re

from .problems import Problems


def together(losses: Problems) -> Problems:
    """The losses, where those that say the same of several files are one."""
    groups: dict[tuple[str, str, str | None, str], Problems] = {}
    for one in dict.fromkeys(losses):
        message = re.sub(r" \(\d+ times, first at [^)]*\)", "", one.message)
        key = (one.severity, one.code, one.where, message)
        groups.setdefault(key, Problems()).append(one)
    merged = Problems()
    for (_, code, where, message), ones in groups.items():
        first = ones[0]
        if len(ones) == 1:
            merged.append(first)
        else:
            told = f"{message} ({len(ones)} times, first here)"
            merged.add(first.severity, code, first.path, told, where=where)
    return merged
