"""What on disk could not be used as it was: one row each, nothing dropped in silence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skill_eval_nb.documents import Fault
from skill_eval_nb.documents.faults import Severity


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem: how bad, what kind, which file, where in it, what was found and what to do."""

    severity: Severity
    code: str
    path: str
    message: str
    where: str | None = None
    workspace: str | None = None


class Problems(list[Problem]):
    """The problems met while reading, in the order they were met."""

    def add(
        self,
        severity: Severity,
        code: str,
        path: str,
        message: str,
        *,
        where: str | None = None,
        workspace: str | None = None,
    ) -> None:
        """Note one problem."""
        self.append(Problem(severity, code, path, message, where, workspace))

    def add_faults(self, path: str, faults: Iterable[Fault], workspace: str | None = None) -> None:
        """The faults of one document as problems of its file."""
        for fault in faults:
            self.add(
                fault.severity,
                fault.code,
                path,
                fault.message,
                where=fault.where,
                workspace=workspace,
            )
