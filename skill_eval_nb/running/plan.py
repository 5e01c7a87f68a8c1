"""Plan a job: check everything before anything is spent, and report all faults at once.

It also has the text that a plan displays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor as Pool
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.text import clip, count, dollars, pluralize, some
from skill_eval_nb.view import Block, Card, Cards, Items, Mark, Pairs, Shown, Table, Text, Title
from skill_eval_nb.workspace.jobs import read_job, read_settings

from .estimate import CostPart, Estimate, estimate_of, limit_runs, measure_past_runs
from .options import (
    Skills,
    evals_of,
    executor_of,
    figures,
    give_advice,
    judge_of,
    looks_of,
    price_table,
    read_all,
    sides_of,
    worker_of,
)
from .protocol import Executor, Limits, Refused, SandboxKind, find_unpriced, refuse
from .spec import Run, Spec, choose_iteration, make_cells, mark_plan

if TYPE_CHECKING:
    from .job import Job, Progress

HEADS = ("part", "number", "calls", "tokens", "US dollars")

FIRST = 6
"""This many runs of the order are shown; the rest are only counted."""

LONGEST = 50
"""Characters of an eval's name in a line of the order."""


def _plan_size(plan: Spec, todo: tuple[Run, ...]) -> str:
    runs = max((cell.run_number for cell in plan.cells), default=0)
    factors = (
        count(len(plan.evals), "eval"),
        count(len(plan.sides), "configuration"),
        count(runs, "run"),
    )
    judged = f", {count(plan.judgings, 'judging')} each" if plan.judge is not None else ""
    most = " at most" * bool(plan.looks)
    done = len(plan.needed) - len(todo)
    state = f"; {done:,} done, {len(todo):,} to do" if done else ""
    return f"{' × '.join(factors)} = {count(len(plan.cells), 'run')}{most}{judged}{state}"


def _setting_rows(plan: Spec) -> Iterator[tuple[str, str]]:
    for side in plan.sides:
        if side.skill is None:
            yield side.name, "no skill"
            continue
        files = count(len(side.skill.files), "file")
        yield side.name, f"skill {side.skill.name}, {files} of {side.skill.folder}"
        if side.skill.left_out:
            yield "  left out", f"{some(side.skill.left_out, 8)} (no executor sees them)"
    yield "evals", f"{some([eval_.name for eval_ in plan.evals], 8)} of {plan.suite.path}"
    if plan.looks:
        decision = plan.decision
        ends = f"decided at {decision['runs']}" if decision else "the job ends when one decides"
        yield "looks", f"at {some(plan.looks, 9)} runs per side; {ends}"
    yield "executor", f"{plan.executor.name}, model {plan.executor_model}"
    yield "judge", _judge_text(plan)
    limits = plan.limits
    money = f", {dollars(limits.usd)}" if limits.usd is not None else ""
    times = f"{count(limits.turns, 'turn')}, {limits.seconds:,.0f} s"
    yield "limits per run", f"{times}, {limits.output_tokens:,} tokens per answer{money}"
    yield "sandbox", "none: commands are not confined" if plan.sandbox == "none" else plan.sandbox
    limit = "none" if plan.budget_usd is None else dollars(plan.budget_usd)
    yield "budget", f"{limit}; {dollars(spent)} is spent" if (spent := plan.spent_usd) else limit
    yield "concurrency", f"{count(plan.concurrency, 'step')}, order by seed {plan.seed}"


def _judge_text(plan: Spec) -> str:
    if plan.judge is None:
        return "none"
    ways = [
        "one call per dimension" if plan.judge_per_dimension else "all dimensions in one call",
        *(["with message batches, at half the price"] if plan.judge_batch else []),
        "skipped where the gate fails" if plan.gate else "whether the gate fails or not",
    ]
    return f"model {plan.judge.model}, {', '.join(ways)}"


def _estimate_rows(whole: Estimate) -> Iterator[tuple[str, str, str, str, str]]:
    parts = [part for part in whole.parts if part.number]
    if len(parts) > 1:
        parts.append(CostPart("total", 0, whole.calls, whole.tokens, whole.usd))
    for part in parts:
        noun = "judging" if part.what == "judging" else "run"
        number = count(part.number, noun) if part.number else ""
        usd = part.usd.dollars if part.usd is not None else "no price known"
        yield part.what, number, str(part.calls), str(part.tokens), usd


KEYED = ("claude-code", "messages-api")
"""Executors that call the API with the connection's key; others have their own way."""
RUNS = 3
"""Runs of each eval if neither the user nor the suite says."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Plan(Spec, Shown):
    """What will be done; nothing is spent or written before `start`.

    It is a value: you can store it, send it to another process, and start it again, which does only
    what is missing. Attributes in addition to those of `Spec`:

    Attributes:
        estimate: what the missing runs may cost, when the plan was made.
        warnings: what to check before starting.
    """

    estimate: Estimate
    warnings: tuple[str, ...]

    def start(
        self,
        pool: Pool | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> Job:
        """Begin, and return at once.

        Args:
            pool: where to do the steps, such as a Dask client's pool; this process if not given.
            on_progress: called with each new state of the job, from the job's thread.

        Returns:
            The job: wait for it, await it, stop it, look at its progress.

        Raises:
            Held: another job is at this iteration.
            Refused: there is no key, a skill has changed since the plan was made, or the disk is
                full.
            OSError: the workspace cannot be written.
        """
        from .job import Job  # modules for executing are imported when needed

        if pool is None and (why := self.no_key):
            raise refuse(why)
        return Job(self, pool, on_progress)

    @property
    def no_key(self) -> str | None:
        """Why its models cannot be called from here; None if they can, or nobody calls them."""
        calls = self.judge is not None or self.executor.name in KEYED
        return self.connection.why_not() if calls and self.todo else None

    def _blocks(self) -> Iterator[Block]:
        """What matters most for the decision comes first; the folder says what is missing."""
        whole = self.estimate
        todo, usd, at_most = self.todo, whole.usd, " at most" * bool(self.looks)
        place = f"{self.folder} ({self.why_iteration})"
        yield Title(f"Plan: iteration-{self.iteration} of {self.skill_name}", place)
        counts = [
            Card(f"{len(self.cells):,}", pluralize("run", len(self.cells))),
            Card(f"{sum(run.missing.execute for run in todo):,}", "to execute"),
            Card(f"{sum(len(run.missing.judgings) for run in todo):,}", "to judge"),
            Card(usd.dollars if usd is not None else "unknown", f"estimated{at_most}"),
            *([Card(dollars(self.budget_usd), "budget")] if self.budget_usd is not None else ()),
        ]
        yield Cards(counts)
        yield Text(_plan_size(self, todo))
        marked = [(Mark("warning", "look"), warning) for warning in self.warnings]
        yield Table(("", ""), marked, "Check before starting")
        yield Pairs(tuple(_setting_rows(self)), "Details")
        if estimate := tuple(_estimate_rows(whole)):
            yield Table(HEADS, estimate, "Estimate, low to high", right=HEADS[1:])
        else:
            yield Text("nothing that is missing costs money.", "Estimate:")
        yield Items(whole.assumptions, soft=True)
        first = (run.cell for run in todo[:FIRST])
        order = tuple(
            f"{clip(cell.eval_name, LONGEST)}, {cell.configuration}, run {cell.run_number}"
            for cell in first
        )
        yield Items(order, "Order", numbered=True, more=max(len(todo) - FIRST, 0))
        last = "plan.start() starts it; nothing is spent before" if todo else "everything is done"
        yield Text(last)

    def summary(self) -> str:
        """Its size, price and warnings, as text."""
        first = takewhile(lambda block: not isinstance(block, Pairs), self._blocks())
        return "\n".join(line for block in first for line in block.lines())


def plan_runs(
    skill: str | os.PathLike[str],
    evals: str | os.PathLike[str] | None = None,
    workspace: str | os.PathLike[str] | None = None,
    *,
    configurations: Skills = ("with_skill", "without_skill"),
    runs: int | None = None,
    looks: Sequence[int] | str | None = None,
    executor: str | Executor = "offline",
    executor_model: str | None = None,
    judge_model: str | None = None,
    judgings: int = 1,
    judge_per_dimension: bool = False,
    judge_batch: bool = False,
    budget_usd: float | None = None,
    concurrency: int = 8,
    seed: int = 0,
    limits: Limits | None = None,
    sandbox: SandboxKind = "bubblewrap",
    allow_scripts: bool = False,
    connection: Connection | None = None,
    executor_options: Mapping[str, Any] | None = None,
    evals_only: Sequence[str | int] | None = None,
    iteration: int | None = None,
    prices: Prices | str | os.PathLike[str] | None = None,
    retry_errored: bool = False,
) -> Plan:
    """Plan the runs of a skill's evals; nothing is spent or written.

    Args:
        skill: the skill's folder.
        evals: its evals file, in any dialect; `evals/evals.json` in the skill's folder if not
            given.
        workspace: the folder for the runs; NAME-workspace next to the skill's folder if not
            given.
        configurations: `with_skill` and `without_skill`; or a mapping from each side's name to
            its skill: a folder, or None for no skill.
        runs: runs of each eval per side; if not given, the suite's number, else 3.
        looks: instead, increasing numbers of runs, such as (2, 4, 6, 10) or "2, 4, 6, 10": after
            each, the job looks, and ends if that decides (`stats.sequential`); the last is the
            maximum. An iteration that began with looks continues with them if neither is given.
        executor: a registered name (`offline`, `messages-api`, `claude-code`) or an executor.
        executor_model: the model that does the work; the offline executor has its own.
        judge_model: the model that judges; if not given, the offline executor's own, else the
            suite's.
        judgings: judgings of each run; 0 for none.
        judge_per_dimension: whether each dimension is judged in its own call.
        judge_batch: whether to judge through the Message Batches API: half the price, but later.
        budget_usd: the ceiling in US dollars, over all starts of the iteration.
        concurrency: how many steps run at a time.
        seed: for the order of runs.
        limits: for one run. With a budget, its dollars come from the estimate if not given.
        sandbox: "bubblewrap"; with "none", an agent's commands can do whatever you can do.
        allow_scripts: whether `custom_script` expectations may run, in the sandbox.
        connection: how models are reached; from the environment if not given.
        executor_options: options of the named executor.
        evals_only: the ids or names of the evals to run; all if not given.
        iteration: the iteration's number; if not given, the one with the same fingerprint, else
            the next.
        prices: a table of prices or its file; the bundled one if not given.
        retry_errored: whether to repeat runs that errored.

    Returns:
        The plan, which displays itself.

    Raises:
        Refused: the plan is not possible; the message lists every reason. It is a ValueError.
    """
    faults: list[str] = []
    main, suite, home = read_all(skill, evals, workspace, faults)
    sides = sides_of(configurations, main, suite, home, faults)
    chosen = evals_of(suite, evals_only, faults)
    planned = looks_of(looks, runs, len(chosen), faults)
    counts = {"runs": runs, "concurrency": concurrency, "iteration": iteration}
    figures(faults, limits or Limits(), budget_usd, judgings, **counts)
    table = price_table(prices, faults)
    runner = executor_of(executor, executor_options or {}, sandbox, faults)
    stand_in = getattr(runner, "stand_in", None)
    reached = connection or Connection(stand_in=stand_in)
    judged = judgings > 0 and any(eval_.has_judged for eval_ in chosen)
    worker = worker_of(runner, executor_model, stand_in, faults, name="executor_model")
    judge = judge_of(judge_model, suite, stand_in)
    if judge is None and judged and runner is not None:
        faults.append(
            "judge_model is not given, and the suite states none: name a model other than "
            "the executor's, or set judgings=0"
        )
    if table is not None:
        faults += find_unpriced((worker, judge if judged else None), table, budget_usd)
    if faults or main is None or suite is None or table is None or runner is None or worker is None:
        raise Refused(dict.fromkeys(faults))
    plan = Spec(
        suite=suite,
        evals=chosen,
        sides=sides,
        workspace=home,
        executor=runner,
        executor_model=worker,
        judge_model=judge,
        judgings=judgings,
        judge_per_dimension=judge_per_dimension,
        judge_batch=judge_batch,
        budget_usd=budget_usd,
        concurrency=concurrency,
        seed=seed,
        limits=limits or Limits(),
        sandbox=sandbox,
        allow_scripts=allow_scripts,
        connection=reached,
        prices=table,
        retry_errored=retry_errored,
        looks=planned,
    )
    plan = _place_plan(plan, iteration, runs)
    known = measure_past_runs(plan.workspace, plan.executor_model)
    estimate, plan = estimate_of(plan, known), limit_runs(plan, known)
    warnings = (*main.warnings, *suite.warnings, *give_advice(plan, estimate.usd))
    return Plan(**vars(plan), estimate=estimate, warnings=warnings)


def _place_plan(plan: Spec, iteration: int | None, runs: int | None) -> Spec:
    """A plan with its iteration and cells.

    Raises:
        Refused: the requested iteration belongs to another plan, or was begun with other looks.
    """
    mark = mark_plan(plan)
    number, why = choose_iteration(plan.workspace, mark, iteration)
    looks = _find_planned_looks(plan.workspace / f"iteration-{number}", plan.looks, runs)
    per_eval = looks[-1] if looks else runs or plan.suite.config.runs_per_eval or RUNS
    seeded = {"seed": plan.seed, "iteration": number, "fingerprint": mark.digest}
    cells = make_cells(plan.evals, plan.configurations, per_eval, **seeded)
    placed = {"iteration": number, "why_iteration": why, "cells": cells}
    return replace(plan, **placed, fingerprint=mark, looks=looks)


def _find_planned_looks(
    iteration: Path, looks: tuple[int, ...], runs: int | None
) -> tuple[int, ...]:
    """The looks that an iteration was begun with, else the requested ones.

    Raises:
        Refused: other looks are requested; they cannot be planned after the first run.
    """
    begun = read_job(iteration).looks if iteration.is_dir() else ()
    if looks and looks != begun and read_settings(iteration).asked:
        how = f"with looks at {some(begun, 9)}" if begun else "without looks"
        raise refuse(
            f"{iteration.name} was started {how}, and looks are planned before the first run: "
            "leave `looks` out to continue it, or give `iteration` the next number"
        )
    return looks or (begun if runs is None else ())
