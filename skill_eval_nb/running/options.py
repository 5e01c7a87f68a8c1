"""Check the options of a plan one by one: faults are collected, and odd choices get a warning.

Nothing here is spent or written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_eval_nb.models import BadPrices, Prices, load_prices
from skill_eval_nb.models.stand_in import EXECUTOR, JUDGE
from skill_eval_nb.text import some
from skill_eval_nb.workspace.folders import is_container, is_eval, is_iteration, run_number

from . import protocol
from .estimate import Span
from .protocol import (
    Executor,
    Limits,
    find_number_faults,
    gather_refusals,
    is_amount,
    no_such,
    refuse,
)
from .protocol import executor as make_executor
from .skill import SkillSource, folder_beside, read_skill
from .spec import SNAPSHOTS, Side, Spec
from .suite import PlannedEval, Suite, find_suite, read_suite

Skills = Sequence[str] | Mapping[str, str | os.PathLike[str] | None]

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")


def read_all(
    skill: str | os.PathLike[str],
    evals: str | os.PathLike[str] | None,
    workspace: str | os.PathLike[str] | None,
    faults: list[str],
) -> tuple[SkillSource | None, Suite | None, Path]:
    """The skill, its suite and the workspace's folder, if they can be used.

    Raises:
        Refused: there is no place for the workspace.
    """
    root = Path(skill).expanduser()
    root = Path(os.path.realpath(root.parent if root.is_file() else root))
    given = folder_beside(root, workspace)
    home = Path(os.path.realpath(given))
    if home.is_symlink():
        raise refuse(f"workspace {given} is a link to itself")
    if home.exists() and not home.is_dir():
        faults.append(f"workspace {given} is a file; it must be a folder, or not exist yet")
    if home == root:
        faults.append(f"workspace {given} is the skill's own folder; choose another")
    main = suite = path = None
    with gather_refusals(faults):
        given = Path(evals).expanduser() if evals is not None else None
        if given is not None and given.is_symlink() and not given.exists():
            raise refuse(f"evals {evals} is a link that leads nowhere")
        path = given or (find_suite(root) if root.is_dir() else None)
    with gather_refusals(faults):
        main = read_skill(skill, path, apart=[home])
    with gather_refusals(faults):
        suite = read_suite(path, root) if path is not None else None
    return main, suite, home


def sides_of(
    configurations: Skills,
    main: SkillSource | None,
    suite: Suite | None,
    home: Path,
    faults: list[str],
) -> tuple[Side, ...]:
    """The sides, each with the skill that it offers."""
    if not configurations:
        faults.append("there is no configuration; give `with_skill`, `without_skill` or both")
    if isinstance(configurations, Mapping):
        sides = []
        for name, folder in configurations.items():
            source = None
            with gather_refusals(faults):
                evals = suite and suite.path
                source = read_skill(folder, evals, apart=[home]) if folder is not None else None
            sides.append(Side(name, source))
        faults += [fault for side in sides if (fault := _misnaming_fault(side.name))]
        return tuple(sides)
    names = [configurations] if isinstance(configurations, str) else list(configurations)
    usual = {"with_skill": main, "without_skill": None}
    faults += [
        f"configuration `{name}`: which skill does it offer? Give a mapping, such as "
        f'configurations={{"with_skill": "skills/x", "{name}": "skills/x-old"}}, with None for no '
        "skill"
        for name in names
        if name not in usual
    ]
    if len(set(names)) < len(names):
        faults.append(f"a configuration is named twice: {', '.join(names)}")
    return tuple(Side(name, usual[name]) for name in names if name in usual)


def _misnaming_fault(name: str) -> str | None:
    """Why a configuration cannot have this name: it would be read as something else."""
    other = is_container(name) or is_iteration(name) or is_eval(name)
    other = other or run_number(name) is not None or name in (SNAPSHOTS, "inputs", "judgings")
    if _NAME.fullmatch(name) and not other:
        return None
    return (
        f"configuration {name!r} names a folder: it must start with a letter or digit, have only "
        "letters, digits, `_`, `-` and `.`, and not be the name of another folder of a workspace"
    )


def evals_of(
    suite: Suite | None, only: Sequence[str | int] | None, faults: list[str]
) -> tuple[PlannedEval, ...]:
    """The evals to run, in the order of the suite."""
    if suite is None or only is None:
        return suite.evals if suite is not None else ()
    wanted = [str(id_) for id_ in ([only] if isinstance(only, (str, int)) else only)]
    known = {name: eval_ for eval_ in suite.evals for name in (eval_.name, eval_.id)}
    faults += [
        no_such("eval", name, [eval_.name for eval_ in suite.evals])
        for name in wanted
        if name not in known
    ]
    if not wanted:
        faults.append("evals_only is empty; leave it out to run all evals")
    ids = {known[name].id for name in wanted if name in known}
    return tuple(eval_ for eval_ in suite.evals if eval_.id in ids)


def looks_of(
    given: Sequence[int] | str | None, runs: int | None, n_evals: int, faults: list[str]
) -> tuple[int, ...]:
    """The planned looks, if they can be planned; none if none are given."""
    words = given.split(",") if isinstance(given, str) and given else given or ()
    looks: tuple[Any, ...] = tuple(int(one) if str(one).strip().isdigit() else one for one in words)
    if not looks:
        return ()
    try:
        protocol.look_rules().check_looks(looks, n_evals)
    except ValueError as error:
        faults.append(str(error))
    if looks and runs not in (None, looks[-1]):
        faults.append(f"runs is {runs}, and the last look is at {looks[-1]}: leave `runs` out")
    return looks


def figures(
    faults: list[str], limits: Limits, budget_usd: float | None, judgings: int = 0, **counts: Any
) -> None:
    """Check every number; `counts` are at least 1."""
    counts |= {"limits.turns": limits.turns, "limits.output_tokens": limits.output_tokens}
    least = {name: (count, 1) for name, count in counts.items()}
    faults += find_number_faults(least | {"judgings": (judgings, 0)}, budget_usd)
    for name, amount in {"limits.usd": limits.usd, "limits.seconds": limits.seconds}.items():
        if amount is not None and not (is_amount(amount) and amount):
            faults.append(f"{name} is {amount!r}; it must be a number above 0")


def price_table(prices: Prices | str | os.PathLike[str] | None, faults: list[str]) -> Prices | None:
    """The table of prices, read if a file is given."""
    if isinstance(prices, Prices):
        return prices
    try:
        return load_prices(prices)
    except BadPrices as error:
        faults.append(str(error))
        return None


def executor_of(
    given: str | Executor, options: Mapping[str, Any], sandbox: str, faults: list[str]
) -> Executor | None:
    """The executor, made if it is given by its name, if it can run here."""
    if sandbox not in ("bubblewrap", "none"):
        faults.append(f'sandbox is {sandbox!r}; it must be "bubblewrap" or "none"')
        sandbox = "bubblewrap"
    runner = given
    if isinstance(runner, str):
        try:
            runner = make_executor(runner, **options)
        except ValueError as error:
            faults.append(str(error))
            return None
    elif options:
        faults.append("executor_options need an executor given by name; leave them out")
    if not isinstance(runner, Executor):
        faults.append(f"{runner!r} is not an executor: it lacks `name`, `why_not` or `execute`")
        return None
    why = runner.why_not(sandbox)
    if why is not None:
        faults.append(f"executor `{runner.name}` cannot run here: {why}")
    return runner


def worker_of(
    runner: Executor | None, given: str | None, stand_in: Any, faults: list[str], *, name: str
) -> str | None:
    """The model that works: the stand-in's own if that answers and no other is named.

    `name` is the setting's, for the message.
    """
    if not given and stand_in is not None:
        return EXECUTOR
    if not given and runner is not None:
        faults.append(f"{name} is not given, but executor `{runner.name}` needs a model")
    return given or None


def judge_of(given: str | None, suite: Suite | None, stand_in: Any) -> str | None:
    """The model that judges: the given one, else the stand-in's own, else the suite's."""
    stated = suite.config.judge_model if suite is not None else None
    return given or (stated if stand_in is None else JUDGE)


def give_advice(plan: Spec, usd: Span | None) -> Iterator[str]:
    """Warnings about things that are allowed but may not be what was meant.

    Args:
        plan: the requested plan.
        usd: its estimate in US dollars; None if a price is not known.
    """
    yield from _skill_advice(plan)
    yield from _grading_advice(plan)
    yield from _model_advice(plan)
    yield from _money_advice(plan, usd)
    if plan.sandbox == "none":
        yield (
            'sandbox="none": an agent\'s commands can read and change anything you can, on both '
            "sides; the baseline may find the skill on your disk"
        )


def _skill_advice(plan: Spec) -> Iterator[str]:
    offered = {side.name: side.skill for side in plan.sides}
    if len(offered) == 1:
        yield "only one configuration: without a baseline there is no delta"
    seen: dict[str | None, str] = {}
    for name, skill in offered.items():
        digest = skill.digest if skill is not None else None
        if digest in seen:
            what = "the same skill" if skill is not None else "no skill"
            yield f"`{seen[digest]}` and `{name}` both offer {what}"
        seen.setdefault(digest, name)
    stated, name = plan.suite.skill_name, plan.skill_name
    if stated is not None and any(offered.values()) and stated != name:
        yield f"the evals are for skill `{stated}`, but this skill is called `{name}`"


def _grading_advice(plan: Spec) -> Iterator[str]:
    nothing = [eval_.name for eval_ in plan.evals if not (eval_.checks or eval_.has_judged)]
    if nothing:
        yield f"nothing to grade in {some(nothing, 4)}: no expectations, no rubric"
    judged = [eval_.name for eval_ in plan.evals if eval_.has_judged]
    if judged and not plan.judgings:
        yield f"judgings=0: nothing is judged, though {some(judged, 4)} could be"
    scripts = [
        eval_.name
        for eval_ in plan.evals
        if any(each.type == "custom_script" for each in eval_.checks)
    ]
    if scripts and not plan.allow_scripts:
        yield (
            f"custom_script expectations of {some(scripts, 4)} are not scored: run them in "
            "the sandbox with allow_scripts=True"
        )


def _model_advice(plan: Spec) -> Iterator[str]:
    from skill_eval_nb.grading.judge import same_model

    judge = [plan.judge.model] if plan.judge is not None else []
    if plan.connection.stand_in is not None:
        for model in dict.fromkeys([plan.executor_model, *judge]):
            if not model.startswith("stand-in"):
                yield f"answers of `{model}` come from the stand-in, not from a model of that name"
        return
    warnings = (same_model(model, plan.executor_model) for model in judge)
    yield from filter(None, (*warnings, plan.connection.why_not()))


def _money_advice(plan: Spec, usd: Span | None) -> Iterator[str]:
    if usd is None:
        names = [plan.executor_model, *([plan.judge_model] if plan.judge_model else [])]
        unknown = [name for name in dict.fromkeys(names) if not plan.prices.known(name)]
        yield from (plan.prices.unknown(model) for model in unknown)
    if plan.budget_usd is None:
        if usd is None or usd.high > 0:
            yield "no budget is set: only the limits per run cap the cost"
        return
    cap, left = plan.limits.usd, max(plan.budget_usd - plan.spent_usd, 0.0)
    named = f"the ${left:,.2f} that is left of the budget"
    if cap is not None and left < cap and any(run.missing.execute for run in plan.todo):
        yield (
            f"{named} is below the ${cap:,.2f} that one run may cost, so no run can start: "
            "raise budget_usd, or lower the cap per run with limits=Limits(usd=…)"
        )
    elif usd is not None and left < usd.high:
        yield (
            f"{named} may be too little: the estimate is {usd.dollars}. The job would then end as "
            "partial; it can be continued with more"
        )
