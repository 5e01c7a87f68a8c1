"""How each type of check goes about its work."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from skill_eval_nb.documents import StructuralExpectation

from .contains import contains, contains_not, sought_by
from .errors import no_errors
from .globs import BadGlob
from .kinds import lost_fields, unknown
from .patterns import BadPattern
from .planned import Planned, Setting
from .presence import count, exists
from .scripts import custom_script
from .searching import Looking
from .spoken import contains_text, spoken_csv, spoken_exists, spoken_rows
from .verdict import shown, unscored


def plan(one: StructuralExpectation, setting: Setting, *, spoken: bool) -> Planned:
    """What a check wants to see, and how its verdict will come about.

    `spoken`: its dialect says in a sentence what others say in fields.
    """
    if lost := lost_fields(one):
        return Planned(partial(unscored, f"{', '.join(map(shown, lost))} cannot be read"))
    if one.type == "file_exists" and one.pattern is None:
        return spoken_exists(one, setting.outputs, any_file=spoken)
    planner = _PLANNERS.get(one.type)
    if planner is None:
        return Planned(partial(unscored, unknown(one.type)))
    try:
        return planner(one, setting)
    except (BadGlob, BadPattern) as error:
        field = "match_regex" if isinstance(error, BadPattern) else "pattern"
        return Planned(partial(unscored, f"`{field}`: {error}"))


def _plan_exists(one: StructuralExpectation, setting: Setting) -> Planned:
    found = setting.files(one.pattern)
    return Planned(partial(exists, one.pattern, found, setting.outputs))


def _plan_count(one: StructuralExpectation, setting: Setting) -> Planned:
    found = setting.files(one.pattern)
    return Planned(
        partial(count, one.pattern, found, one.count, one.operator, setting.outputs.left_out)
    )


def _plan_contains(one: StructuralExpectation, setting: Setting) -> Planned:
    what = sought_by(one, setting.near)
    if what is None:
        reason = "neither `match` nor `match_any` nor `match_regex` says what to look for"
        return Planned(partial(unscored, reason))
    positive = one.type == "file_contains"
    looking = Looking(what, one_is_enough=positive)
    verdict = contains if positive else contains_not
    looks = ((looking, setting.files(one.pattern)),)
    return Planned(partial(verdict, looking, one.pattern, setting.outputs), looks)


def _plan_text(one: StructuralExpectation, setting: Setting) -> Planned:
    return contains_text(one, setting.outputs, setting.near)


def _plan_rows(one: StructuralExpectation, setting: Setting) -> Planned:
    return spoken_rows(one, setting.outputs)


def _plan_csv(one: StructuralExpectation, setting: Setting) -> Planned:
    return spoken_csv(one, setting.outputs)


def _plan_errors(_: StructuralExpectation, setting: Setting) -> Planned:
    return Planned(partial(no_errors, setting.transcript))


def _plan_script(one: StructuralExpectation, setting: Setting) -> Planned:
    return Planned(
        partial(
            custom_script,
            one.script,
            setting.outputs,
            allowed=setting.allow_scripts,
            kind=setting.sandbox,
        )
    )


_PLANNERS: dict[str, Callable[[StructuralExpectation, Setting], Planned]] = {
    "file_exists": _plan_exists,
    "file_contains": _plan_contains,
    "file_not_contains": _plan_contains,
    "no_errors": _plan_errors,
    "file_count": _plan_count,
    "custom_script": _plan_script,
    "row_count": _plan_rows,
    "contains_text": _plan_text,
    "csv_valid": _plan_csv,
    "custom": _plan_script,
}
