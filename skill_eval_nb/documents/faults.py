"""What was wrong with a document, and where: the material of `check` and of the problems table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
"""`error`: something could not be used. `warning`: it was used, but look at it.
`info`: a decision that was made and is worth knowing."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    `code` names its kind, `where` is a JSON path, `message` says what was found and what to do.
    """

    severity: Severity
    code: str
    where: str
    message: str


class Faults(list[Fault]):
    """The faults of one file. The same fault in many elements of a list is one fault.

    `looked_at` counts the values that were looked at for repair.
    """

    looked_at = 0

    def add(self, severity: Severity, code: str, where: str, message: str) -> None:
        """Note one fault."""
        self.append(Fault(severity, code, where, message))

    def collapsed(self) -> list[Fault]:
        """The faults, where those that differ in list positions alone are counted together."""
        groups: dict[tuple[str, str, str], list[Fault]] = {}
        for fault in self:
            key = (fault.code, re.sub(r"\[\d+\]", "[*]", fault.where), fault.severity)
            groups.setdefault(key, []).append(fault)
        return [
            faults[0]
            if len(faults) == 1
            else Fault(
                faults[0].severity,
                code,
                where,
                f"{faults[0].message} ({len(faults)} times, first at {faults[0].where})",
            )
            for (code, where, _), faults in groups.items()
        ]
