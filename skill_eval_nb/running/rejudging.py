"""Judge stored outputs again within a budget, without running anything, by calls or in a batch.

`batch.json` is written before the batch is submitted, and again with its id as soon as there is
one. It is deleted when the last of its judgings has been written. Unusable answers are asked for
again by single calls at full price, since a second batch could take another day.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Judging, Timing
from skill_eval_nb.grading.judge import Judge, Unjudged, prepare, worst
from skill_eval_nb.models import BudgetSpent, Client, Connection, ModelFault, Prices
from skill_eval_nb.models.batches import Results
from skill_eval_nb.models.stand_in import JUDGE
from skill_eval_nb.workspace import NothingToLoad, PathLike, Problems, write_atomic
from skill_eval_nb.workspace.folders import OWN

from .asking import NO_MONEY, Account, AskingProgress, LeftOut, Terms, look_at_figures
from .batch import BatchedJudging, NoJudging, batch_judging, bring_results, judging_from, worst_usd
from .estimate import CostPart, estimate_runs, usage_of_judging
from .journal import hold_folders, make_ready
from .judge_tasks import JudgedAgain, JudgeTask, Rejudging, work_of
from .protocol import Refused, refuse
from .spec import JUDGINGS
from .stored_runs import stored_runs
from .suite import PlannedEval
from .threads import in_thread, run_several

FILE = "batch.json"
WANTED = Path(OWN, "judging.json")
TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def name_of(folder: Path, home: Path) -> str:
    """The name of a run's folder in these files: its path below `home`, if it is there."""
    folder, home = folder.resolve(), home.resolve()
    return folder.relative_to(home).as_posix() if folder.is_relative_to(home) else str(folder)


class BatchItem(msgspec.Struct):
    """A judging in a batch: the name of its run, and its number."""

    run: str
    number: int


class Begun(msgspec.Struct):
    """What an unfinished call has begun.

    Attributes:
        judge: the settings of its judge.
        runs: how many judgings each run is to have, by its name; in `judging.json`.
        ids: of the batch, once there are any; in `batch.json`, as is the rest.
        items: the judgings of the batch.
    """

    judge: dict[str, Any]
    runs: dict[str, int] = {}
    ids: list[str] = []
    items: list[BatchItem] = []


def under_way(path: Path) -> Begun | None:
    """The pending batch; None if there is none.

    Raises:
        Refused: there may be one, and it cannot be continued.
    """
    if not path.is_file():
        return None
    try:
        state = msgspec.json.decode(read_bytes(path), type=Begun)
    except msgspec.DecodeError as error:
        raise refuse(f"{path} was changed since it was written; check it ({error})") from error
    if not state.ids:
        raise refuse(
            f"a batch may have been submitted, and was interrupted before its id was kept in "
            f"{path}. Look among the batches of your account whether it is there and cancel it; "
            "then remove that file, and start again"
        )
    return state


def check_judge(state: Begun, judge: Judge, path: Path) -> None:
    """Refuse to continue a batch of another judge."""
    theirs = ((name, mine, state.judge.get(name)) for name, mine in _judge_fields(judge).items())
    stated = ", ".join(f"{name}={their!r}" for name, mine, their in theirs if their != mine)
    if stated:
        raise refuse(
            f"a batch is under way with other settings ({stated}): call judge_again with those "
            f"to collect it first, or cancel it and remove {path}"
        )


def wanted_before(path: Path, judge: Judge) -> dict[str, int]:
    """How many judgings each run should have after an interrupted call like this one.

    Empty if there was none, or it was for another judge.
    """
    try:
        goals = msgspec.json.decode(read_bytes(path), type=Begun)
    except (OSError, msgspec.DecodeError):  # as if it had ended: somebody has changed the file
        return {}
    return goals.runs if goals.judge == _judge_fields(judge) else {}


def write_wanted(path: Path, judge: Judge, runs: Mapping[str, int]) -> None:
    """Write down how many judgings each run should have, before the first is paid for.

    Raises:
        OSError: it cannot be written.
    """
    write_atomic(path, msgspec.json.encode({"judge": _judge_fields(judge), "runs": runs}))


def _judge_fields(judge: Judge) -> Any:
    return json.loads(json.dumps(asdict(judge)))


async def judge_in_batch(job: Rejudging) -> None:
    """Judge each run until it has enough judgings, or continue a pending batch.

    Raises:
        Refused: the pending batch is for something else, or cannot be continued.
        ModelFault: the batch was not accepted, or cannot be reached; then it continues.
    """
    path, money = job.home / FILE, job.money
    by_name = {name_of(task.run.folder, job.home): task for task in job.work}
    lacking = [BatchItem(name, number) for name in by_name for number in by_name[name].numbers]
    state = under_way(path) or Begun(_judge_fields(job.judge), items=lacking)
    check_judge(state, job.judge, path)
    money.total = len(state.items)
    judgings, is_new = await _find_missing(job, state, by_name), not state.ids
    if is_new:
        judgings = _take_affordable(job, judgings)
        state.items = [
            BatchItem(name_of(each.of.run.folder, job.home), each.number) for each in judgings
        ]
    if not judgings:
        path.unlink(missing_ok=True)
        return

    def note(batch_id: str | None) -> None:
        state.ids += [] if batch_id is None else [batch_id]
        write_atomic(path, msgspec.json.encode(state))

    async with job.terms.reach([job.judge.model]) as client:
        # What was submitted before will be billed, even if the budget is smaller now.
        reservation = money.budget.take_up(worst_usd(judgings, money.prices))
        if is_new:
            note(None)
        try:
            ids = ",".join(state.ids) or None
            results = await bring_results(client, judgings, reservation, ids, note)
        except (ModelFault, BudgetSpent) as fault:
            if not state.ids and not getattr(fault, "sent", False):
                path.unlink()  # it was certainly not accepted: nothing is pending
            raise
        finally:
            reservation.close()
        for judging in judgings:
            try:
                made = await _judge_by_results(client, job, judging, results)
            except Unjudged as error:
                job.fail(judging.of, judging.number, error.reason)
            else:
                made.batch = f"{','.join(state.ids)}/{next(iter(judging.requests))}"
                await job.keep(judging.of, made)
    path.unlink()


async def _find_missing(
    job: Rejudging, state: Begun, by_name: dict[str, JudgeTask]
) -> list[BatchedJudging[JudgeTask]]:
    """The missing judgings whose outputs can be read."""
    judgings: list[BatchedJudging[JudgeTask]] = []
    ids = ",".join(state.ids)
    for place, run in enumerate(dict.fromkeys(item.run for item in state.items)):
        if (task := by_name.get(run)) is None:
            job.message = f"{run} is in the batch, but no longer exists"
            continue
        numbers = (item.number for item in state.items if item.run == run)
        names = {number: f"r{place}-j{number}-p" for number in numbers}
        written = {judging.batch for judging in task.before.judgings.values()}  # by an earlier call
        lacks = [n for n in names if not ids or f"{ids}/{names[n]}0" not in written]
        try:
            ready = await asyncio.to_thread(prepare, job.judge, task.case)
            judgings += [batch_judging(task, ready, number, names[number]) for number in lacks]
        except Unjudged as error:
            for number in lacks:
                job.fail(task, number, error.reason)
    return judgings


def _take_affordable(
    job: Rejudging, judgings: list[BatchedJudging[JudgeTask]]
) -> list[BatchedJudging[JudgeTask]]:
    """As many of the judgings, from the first on, as fit the budget in the worst case."""
    fitting: list[BatchedJudging[JudgeTask]] = []
    usd, ceiling = 0.0, job.money.budget.cap_usd
    for judging in judgings:
        usd += worst_usd([judging], job.money.prices)
        if ceiling is not None and usd > ceiling:
            job.fail(judging.of, judging.number, NO_MONEY)
        else:
            fitting.append(judging)
    return fitting


async def _judge_by_results(
    client: Client, job: Rejudging, judging: BatchedJudging[JudgeTask], results: Results
) -> Judging:
    """The judging in a batch's results; an answer that cannot be used is asked for again.

    Raises:
        Unjudged: there is none.
    """
    prices = job.money.prices
    try:
        return judging_from(judging, results, prices)
    except NoJudging as error:
        if error.answered is None:
            raise Unjudged(error.reason) from error
        made = await job.judge_once(client, judging.of, judging.prepared)
        usd = prices.cost(error.answered, job.judge.model, batch=True)
        if usd is not None and made.cost_usd is not None:
            made.cost_usd += usd
        return made


async def judge_all(job: Rejudging) -> None:
    """Judge each run until it has enough judgings.

    Raises:
        ModelFault: there is no key.
    """
    async with job.terms.reach([job.judge.model]) as client:
        todo = (_judge_run(client, job, task) for task in job.work if task.numbers)
        await run_several(todo, job.terms.concurrency)


async def _judge_run(client: Client, job: Rejudging, work: JudgeTask) -> None:
    """All new judgings of a run in sequence: the first one fills the cache."""
    prepared = None
    for number in work.numbers:
        try:
            prepared = prepared or await asyncio.to_thread(prepare, job.judge, work.case)
            await job.keep(work, await job.judge_once(client, work, prepared))
        except Unjudged as error:
            job.fail(work, number, error.reason)


RESUMED = (
    "An earlier call was unfinished, so only what was missing was judged. Call again to add new "
    "judgings."
)


def judge_again(
    path: PathLike,
    *,
    again: int = 1,
    judge_model: str | None = None,
    connection: Connection | None = None,
    prices: Prices | None = None,
    budget_usd: float | None = None,
    batch: bool = False,
    judge: Judge | None = None,
    concurrency: int = 8,
    progress: Callable[[AskingProgress], None] | None = None,
    evals: PathLike | None = None,
    stop: threading.Event | None = None,
    dry_run: bool = False,
) -> JudgedAgain:
    """Judge the outputs stored below a path once more, or several times.

    The number of judgings for each run is recorded first: after an interruption, the same call
    adds only the missing ones.

    New judgings are added as `judgings/N.json`, and `grading.json` is rebuilt from all of them.
    A `grading.json` without judgings counts as judging 1 and is kept as `judgings/1.json` first;
    one that was not built from the judgings next to it is left alone. Runs that did not pass the
    gate stay gated. This also works when an event loop is running, as in a notebook.

    Args:
        path: a workspace, or any folder in one.
        again: how many judgings to add to each run.
        judge_model: the model that judges; if not given, that of `judge`, else the one that
            judged these runs before.
        connection: how it is reached; if not given, the stand-in judge answers in process; other
            models are called over the network.
        prices: what calls cost; the bundled table if not given.
        budget_usd: the most that may be spent, in US dollars; runs that do not fit are not
            judged.
        batch: whether to use the Message Batches API: half the price, within a day. The batch's
            id is stored in `batch.json` below `path`; after an interruption, the same call waits
            for that batch and submits nothing new. Unusable answers are asked for again one by
            one, at once and at full price.
        judge: settings of the judge.
        concurrency: how many runs to judge at a time.
        progress: called after each judging.
        evals: the suite, if it is elsewhere.
        stop: once set, calls in flight are cancelled; what was written is kept.
        dry_run: no model is asked and nothing is written; `n_missing` is the number of judgings
            to make, `worst_usd` the most they can cost, and `estimate` what they may come to.

    Raises:
        FileNotFoundError: `path` does not exist.
        NothingToLoad: there is no run with its own folder.
        Stopped: `stop` was set before the end.
        Refused: a number is out of range; no judge model is known; there is a budget and no
            known price; another batch is running; these runs are being run or judged already,
            here or in another process; or their folders cannot be written.
        ModelFault: no API key was found; nothing was sent.
    """
    look_at_figures(budget_usd, again=again, concurrency=concurrency)
    noted = Problems()
    runs = stored_runs(path, evals=evals, problems=noted)
    if not runs:
        raise NothingToLoad(
            f"There is no stored run with a folder of its own below {path}, so there are no "
            "outputs to judge."
        )
    given = Path(path).expanduser()
    home = given if given.is_dir() else given.parent
    with nullcontext() if dry_run else hold_folders({run.home for run in runs}, "judging"):
        work, left = work_of(runs)
        left += [
            LeftOut(problem.path, problem.message)
            for problem in noted
            if (problem.code, problem.severity) == ("link", "warning")
        ]
        terms = Terms(connection, prices, budget_usd, concurrency, dry_run, progress)
        who = _complete_judge(judge, judge_model, again, work, terms)
        if not batch and under_way(home / FILE) is not None:
            raise refuse(
                f"a batch of judgings is under way, see {home / FILE}: judge by batch to collect "
                "it first, or cancel it and remove that file"
            )
        goals = wanted_before(home / WANTED, who)
        for task in work:
            task.wanted = goals.get(name_of(task.run.folder, home), task.before.last + again)
        money = Account(sum(len(task.numbers) for task in work), [who.model], terms)
        job = Rejudging(home, who, work, terms, money)
        if dry_run:
            usd, estimate = _worst_usd(job, batch=batch), _estimate(job, batch=batch)
            return job.result(left, status="dry run", worst_usd=usd, estimate=estimate)
        if work:
            folders = [task.run.folder for task in work]
            make_ready([home, home / OWN, *(at for run in folders for at in (run, run / JUDGINGS))])
            write_wanted(
                home / WANTED, who, {name_of(task.run.folder, home): task.wanted for task in work}
            )
        try:
            in_thread((judge_in_batch if batch else judge_all)(job), stop, name="judge_again")
        except (Refused, ModelFault):  # nothing was sent
            if not goals:
                (home / WANTED).unlink(missing_ok=True)
            raise
        done = job.result(
            left, message="\n".join(filter(None, [job.message, RESUMED if goals else ""]))
        )
        poor = any(failure.reason == NO_MONEY for failure in done.failed)
        if done.n_missing <= 0 or not (done.judged or poor):
            (home / WANTED).unlink(missing_ok=True)  # otherwise the same call judges the rest
    return done


def _worst_usd(job: Rejudging, *, batch: bool) -> float | None:
    """The most US dollars that missing judgings can cost; None if the price is not known.

    Unusable answers of a batch are asked for again by calls.
    """
    prices, usd = job.money.prices, 0.0
    for task in job.work:
        try:
            prepared = prepare(job.judge, task.case)
        except Unjudged:  # it costs nothing, and fails
            continue
        each = prices.cost(worst(prepared), job.judge.model)
        if each is None:
            return None
        by_batch = [batch_judging(task, prepared, n, "") for n in task.numbers if batch]
        usd += each * len(task.numbers) + worst_usd(by_batch, prices)
    return usd


def _estimate(job: Rejudging, *, batch: bool) -> CostPart:
    """What missing judgings may come to: as those by this model did, if there are enough."""
    uses, past, prices, model = [], list[Timing](), job.money.prices, job.judge.model
    for task in job.work:
        run = task.run
        assert run.eval is not None
        judged = tuple(task.case.expectations)
        planned = PlannedEval(run.eval_id, run.eval_name, "", run.eval, (), (), judged)
        use = usage_of_judging(planned, per_dimension=job.judge.per_dimension)
        uses += [use] * len(task.numbers)
        for made in task.before.judgings.values():
            if made.judge_model == model and (used := made.usage) is not None:
                tokens = sum(getattr(used, name) or 0 for name in TOKENS)
                calls, cost = used.calls or 1, made.cost_usd
                past.append(Timing(total_tokens=tokens, model_calls=calls, cost_usd=cost))
    return estimate_runs("judging", uses, prices, model, () if batch else past, batch=batch)


def _complete_judge(
    judge: Judge | None, model: str | None, again: int, work: list[JudgeTask], terms: Terms
) -> Judge:
    """The judge with all its settings.

    Raises:
        Refused: no model is given, and not exactly one has judged these runs.
    """
    judgings = (judging for item in work for judging in item.before.judgings.values())
    before = (judging.judge_model or None for judging in judgings)
    name = terms.model(model or (judge.model if judge is not None else None), before)
    if isinstance(name, list) and terms.dry_run and not work:
        name = JUDGE  # nothing can be judged, by whomever
    if isinstance(name, list):
        found = f"these runs were judged by {', '.join(name)}" if name else "no judging names one"
        raise refuse(f"judge_model is not given, and {found}: say which model is to judge")
    return replace(judge or Judge(name), model=name, judgings=again)
