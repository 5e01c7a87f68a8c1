"""Plan checks and give the verdicts on a run; each file is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from skill_eval_nb.documents import (
    Expectation,
    GradedExpectation,
    Structural,
    StructuralExpectation,
)

from ..grades import count_verdicts
from .actions import VERDICTS, ActionCheck
from .outputs import (
    BadGlob,
    CheckVerdict,
    Content,
    Outputs,
    Record,
    broken,
    list_outputs,
    match_pattern,
    show_line,
    verdict_unscored,
)
from .search import BadPattern, TextSearch
from .sentences import contains_text, spoken_csv, spoken_exists, spoken_rows
from .types import (
    OF_TRANSCRIPT,
    Check,
    CheckContext,
    FileVisitor,
    PlannedCheck,
    Sandbox,
    as_structural,
    contains,
    contains_not,
    custom_script,
    exists,
    file_count,
    lost_fields,
    sought_by,
    unknown_type,
)


def plan_check(
    expectation: StructuralExpectation, setting: CheckContext, *, spoken: bool
) -> PlannedCheck:
    """The files that a check needs to see, and a function for its verdict.

    `spoken`: its dialect says in a sentence what others say in fields.
    """
    try:
        if lost := lost_fields(expectation):
            return PlannedCheck(
                partial(verdict_unscored, f"{', '.join(map(show_line, lost))} cannot be read")
            )
        if expectation.type == "file_exists" and expectation.pattern is None:
            return spoken_exists(expectation, setting.outputs, any_file=spoken)
        planner = _PLANNERS.get(expectation.type)
        if planner is None:
            return PlannedCheck(partial(verdict_unscored, unknown_type(expectation.type)))
        return planner(expectation, setting)
    except (BadGlob, BadPattern) as error:
        tool = "tool" if expectation.type in OF_TRANSCRIPT else "pattern"
        field = "match_regex" if isinstance(error, BadPattern) else tool
        return PlannedCheck(partial(verdict_unscored, f"`{field}`: {error}"))
    except Exception as error:  # noqa: BLE001 -- it must not affect the other checks
        return PlannedCheck(partial(broken, error))


def _plan_exists(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    found = setting.files(expectation.pattern)
    return PlannedCheck(partial(exists, expectation.pattern, found, setting.outputs))


def _plan_count(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    found = setting.files(expectation.pattern)
    return PlannedCheck(
        partial(
            file_count,
            expectation.pattern,
            found,
            expectation.count,
            expectation.operator,
            setting.outputs.left_out,
        )
    )


def _plan_contains(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    what = sought_by(expectation, setting.near)
    if what is None:
        reason = "neither `match` nor `match_any` nor `match_regex` says what to look for"
        return PlannedCheck(partial(verdict_unscored, reason))
    positive = expectation.type == "file_contains"
    search = TextSearch(what, one_is_enough=positive)
    verdict = contains if positive else contains_not
    looks = ((search, setting.files(expectation.pattern)),)
    return PlannedCheck(partial(verdict, search, expectation.pattern, setting.outputs), looks)


def _plan_script(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    return PlannedCheck(
        partial(
            custom_script,
            expectation.script,
            setting.outputs,
            allowed=setting.allow_scripts,
            kind=setting.sandbox,
        )
    )


def _plan_record(expectation: StructuralExpectation, setting: CheckContext) -> PlannedCheck:
    for tool in (expectation.tool or "*", *expectation.tools):
        match_pattern(tool, ())
    terms = sought_by(expectation, setting.near)

    def verdict() -> CheckVerdict:
        record = setting.record()
        if not isinstance(record, Record):
            return record
        return VERDICTS[expectation.type](ActionCheck(expectation, terms, record))

    return PlannedCheck(verdict)


_PLANNERS: dict[str, Callable[[StructuralExpectation, CheckContext], PlannedCheck]] = {
    "file_exists": _plan_exists,
    "file_contains": _plan_contains,
    "file_not_contains": _plan_contains,
    "file_count": _plan_count,
    "custom_script": _plan_script,
    "row_count": lambda wanted, setting: spoken_rows(wanted, setting.outputs),
    "contains_text": lambda wanted, setting: contains_text(wanted, setting.outputs, setting.near),
    "csv_valid": lambda wanted, setting: spoken_csv(wanted, setting.outputs),
    "custom": _plan_script,
    **dict.fromkeys(OF_TRANSCRIPT, _plan_record),
}


def check(
    expectations: Sequence[Check],
    outputs: Path,
    transcript: Path | None,
    *,
    near: int = 2,
    allow_scripts: bool = False,
    sandbox: Sandbox = "bubblewrap",
) -> Structural:
    """Check what a run has produced: layer 1, without a model.

    Each file is read at most once, whatever the number of checks. The content of suite and outputs
    never raises an error: what cannot be checked is not scored (`passed` is null), and its evidence
    says why.

    Args:
        expectations: structural expectations, or expectations of the `iterations` dialect with a
            type.
        outputs: the folder of the outputs; if it does not exist, there are none.
        transcript: the transcript, for checks of what was done; None if there is none.
        near: within how many lines of a match a text of `except_context` exempts it; 0 is the
            same line.
        allow_scripts: whether `custom_script` may run the suite author's scripts.
        sandbox: what scripts run in; `"none"` runs them with your own rights.

    Returns:
        The verdicts in the order of the expectations. `gate_passed` is false if a critical one
        failed, null if none failed but one was not scored, else true.

    >>> import tempfile
    >>> from skill_eval_nb.documents import StructuralExpectation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.md").write_text("# Title")
    ...     wanted = StructuralExpectation("file_contains", pattern="*.md", match="# ")
    ...     check([wanted], Path(folder), None).expectations[0].evidence
    "a.md:1: # Title ('#')"
    """
    if near < 0:
        raise ValueError(f"near is {near}: a number of lines, 0 or more")
    wanted = [as_structural(expectation) for expectation in expectations]
    setting = CheckContext(list_outputs(str(outputs)), transcript, near, allow_scripts, sandbox)
    spoken = [isinstance(expectation, Expectation) for expectation in expectations]
    verdicts = verdicts_on(wanted, spoken, setting)
    graded = [_grade_check(check, verdict) for check, verdict in zip(wanted, verdicts, strict=True)]
    return Structural(
        expectations=graded, summary=count_verdicts(graded), gate_passed=_is_gate_passed(graded)
    )


def verdicts_on(
    wanted: Sequence[StructuralExpectation], spoken: Sequence[bool], setting: CheckContext
) -> list[CheckVerdict]:
    """Only the verdicts, in the order of the checks; for use with many runs.

    Args:
        wanted: the checks.
        spoken: which of them say in a sentence what others say in fields.
        setting: the outputs, and everything else that the checks share.
    """
    planned = [
        plan_check(check, setting, spoken=worded)
        for check, worded in zip(wanted, spoken, strict=True)
    ]
    failed: dict[FileVisitor, Exception] = {}
    _visit_files(setting.outputs, planned, failed)
    return [_verdict(check, failed) for check in planned]


def _verdict(planned: PlannedCheck, failed: Mapping[FileVisitor, Exception]) -> CheckVerdict:
    error = next((failed[looks] for looks, _ in planned.looks if looks in failed), None)
    if error is not None:
        return broken(error)
    try:
        return planned.verdict()
    except Exception as error:  # noqa: BLE001 -- it must not affect the other checks
        return broken(error)


def _visit_files(
    outputs: Outputs, planned: Sequence[PlannedCheck], failed: dict[FileVisitor, Exception]
) -> None:
    """Show each file to all visitors that need it, one file after the other."""
    groups: dict[int, tuple[Sequence[str], list[FileVisitor]]] = {}
    for check in planned:
        for looks, names in check.looks:
            groups.setdefault(id(names), (names, []))[1].append(looks)
    if len(groups) == 1:
        ((names, wanting),) = groups.values()
        _show_files(outputs, ((name, wanting) for name in names), failed)
        return
    by_name: dict[str, list[FileVisitor]] = {}
    for names, wanting in groups.values():
        for name in names:
            by_name.setdefault(name, []).extend(wanting)
    wanted = ((name, by_name[name]) for name in outputs.names if name in by_name)
    _show_files(outputs, wanted, failed)


def _show_files(
    outputs: Outputs,
    wanted: Iterable[tuple[str, Sequence[FileVisitor]]],
    failed: dict[FileVisitor, Exception],
) -> None:
    """Show files to their visitors; a visitor that fails is added to `failed`, and sees no more."""
    for name, wanting in wanted:
        content = None
        for looks in wanting:
            if looks.done or looks in failed:
                continue
            try:
                content = content or Content(outputs.read(name))
                looks.look(name, content)
            except OSError as error:
                looks.cannot_read(name, error)
            except Exception as error:  # noqa: BLE001 -- it must not affect the other checks
                failed[looks] = error


def _grade_check(expectation: StructuralExpectation, verdict: CheckVerdict) -> GradedExpectation:
    about = expectation.pattern or expectation.tool or expectation.skill
    about = about or ", ".join(expectation.tools)
    return GradedExpectation(
        text=expectation.description or f"{expectation.type} {about}".strip(),
        passed=verdict.passed,
        evidence=verdict.evidence,
        id=expectation.id,
        type=expectation.type,
        critical=expectation.critical,
    )


def _is_gate_passed(graded: Sequence[GradedExpectation]) -> bool | None:
    critical = [expectation.passed for expectation in graded if expectation.critical]
    if False in critical:
        return False
    return None if None in critical else True
