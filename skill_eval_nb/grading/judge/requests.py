"""From a run to the calls of one judging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from skill_eval_nb.documents import Dimension, Expectation
from skill_eval_nb.grading.showing import Showing, show
from skill_eval_nb.models import Usage, worst_case
from skill_eval_nb.models.asking import ASKED, FAULT_BYTES

from .orders import order
from .prompt import EXPECTED, FENCED, SYSTEM, asked
from .schema import SCHEMA
from .values import Case, Judge, Unjudged


@dataclass(frozen=True, slots=True)
class Part:
    """What one call asks for."""

    expectations: tuple[tuple[str, Expectation], ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    remarks: bool = True


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run made ready to be judged any number of times: all of it that is the same each time."""

    judge: Judge
    case: Case
    showing: Showing


def prepare(judge: Judge, case: Case, *, images: bool = True) -> Prepared:
    """Read a run's files and choose what is shown of them.

    Raises:
        Unjudged: there is nothing to judge by, or nothing to judge.
    """
    _look_at(case)
    try:
        showing = show(
            case.outputs,
            case.transcript,
            inputs=case.inputs,
            chars=judge.shown_chars,
            key=case.key,
            skills=case.hidden,
            configurations=case.configurations,
            ignored=case.ignored,
            images=images,
        )
    except OSError as error:
        raise Unjudged(f"the files cannot be read ({error.strerror or error})") from error
    return Prepared(judge, case, showing)


def _look_at(case: Case) -> None:
    if not case.expectations and not case.dimensions:
        raise Unjudged("the eval has neither expectations for a judge nor a rubric")
    names = [" ".join(one.name.split()) for one in case.dimensions]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or "" in names:
        which = f"named {', '.join(twice)} more than once" if twice else "without a name"
        raise Unjudged(
            f"the rubric has a dimension {which}; scores are kept by name, so each needs its own"
        )


def calls(judge: Judge, case: Case, number: int) -> tuple[Part, ...]:
    """What the calls of judging `number` ask for, in its order.

    One call for everything, or (`per_dimension`) one for the expectations and one for each
    dimension. Claims, notes and critique come with the first.
    """
    named = tuple((f"E{n}", one) for n, one in enumerate(case.expectations, 1))
    expectations = tuple(
        named[index] for index in order(len(named), f"{case.key}:expectations", number)
    )
    dimensions = tuple(
        case.dimensions[index]
        for index in order(len(case.dimensions), f"{case.key}:dimensions", number)
    )
    if not judge.per_dimension:
        return (Part(expectations, dimensions),)
    parts = [Part(expectations)] if expectations else []
    parts += [Part(dimensions=(one,)) for one in dimensions]
    return (parts[0], *(replace(part, remarks=False) for part in parts[1:]))


def request(
    judge: Judge,
    case: Case,
    number: int,
    part: int = 0,
    *,
    prepared: Prepared | None = None,
    fault: str | None = None,
    cached: bool | None = None,
) -> dict[str, Any]:
    """The body of one call of judging `number`.

    What is the same in all judgings of a run comes first and may be kept by the API's cache;
    what differs (the order, a fault that is told) is all in the last block.

    Args:
        judge: who judges.
        case: the run.
        number: the judging, from 1.
        part: which of its `calls`.
        prepared: the run made ready; read anew where it is not given.
        fault: what was wrong with the last answer to the same call.
        cached: whether the beginning is marked for the cache; without it, where more than
            one call will read it.

    Raises:
        Unjudged: there is nothing to judge by, or nothing to judge.
    """
    ready = prepared or prepare(judge, case)
    wanted = calls(judge, case, number)[part]
    nonce = ready.showing.nonce
    head = FENCED.format(nonce=nonce, prompt=case.prompt)
    if case.expected_output:
        head += EXPECTED.format(nonce=nonce, expected=case.expected_output)
    content = [{"type": "text", "text": head}, *ready.showing.blocks]
    if cached if cached is not None else judge.judgings > 1 or judge.per_dimension:
        content[-1] = {**content[-1], "cache_control": {"type": "ephemeral"}}
    last = asked(wanted.expectations, wanted.dimensions, remarks=wanted.remarks, fault=fault)
    content.append({"type": "text", "text": last})
    config: dict[str, Any] = {"format": {"type": "json_schema", "schema": SCHEMA}}
    if judge.effort is not None:
        config["effort"] = judge.effort
    return {
        "model": judge.model,
        "max_tokens": judge.max_tokens,
        "system": SYSTEM,
        "messages": [{"role": "user", "content": content}],
        "output_config": config,
        "metadata": {"user_id": f"{case.key}-{number}"},
    }


def worst(judge: Judge, case: Case, *, prepared: Prepared | None = None) -> Usage:
    """The most that one judging can use, answers that are refused and asked for anew included.

    Raises:
        Unjudged: there is nothing to judge by, or nothing to judge.
    """
    ready = prepared or prepare(judge, case)
    return sum(
        (
            worst_case(request(judge, case, 1, part, prepared=ready, fault="?" * FAULT_BYTES))
            * ASKED
            for part in range(len(calls(judge, case, 1)))
        ),
        Usage(),
    )
