"""Stored outputs judged anew, without running anything, within a budget."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.documents import Judging
from skill_eval_nb.grading.judge import Judge, Unjudged, prepare
from skill_eval_nb.models import Connection, ModelFault, Prices, connect, load_prices
from skill_eval_nb.workspace import NothingToLoad, PathLike, Problems
from skill_eval_nb.workspace.layout import OWN

from .asking import NO_MONEY, AskingProgress, reached_by
from .judge_tasks import (
    JudgedAgain,
    JudgeState,
    JudgeTask,
    LeftOut,
    RejudgeSpec,
    judge_once,
    note_kept,
    settle,
    work_of,
)
from .lock import held, make_ready
from .refused import Refused, refuse
from .stored_batch import FILE, WANTED, name_of, under_way, want, wanted_before
from .stored_runs import stored_runs
from .threads import in_thread, to_the_end

if TYPE_CHECKING:
    from skill_eval_nb.models import Client


RESUMED = (
    "A call like this one had not come to its end: only what it lacked was judged. Called once "
    "more, this adds new judgings."
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
) -> JudgedAgain:
    """Judge the outputs stored below a path once more, or several times.

    How many judgings each run is to have is written down first: called again in the same way
    after an interruption, this adds only what is missing of them.

    New judgings are added as `judgings/N.json`, and `grading.json` is made anew from all of
    them. A `grading.json` without judgings counts as judging 1 and is kept as
    `judgings/1.json` first; one that is not made from the judgings beside it is left as it
    is. Runs that did not pass the gate stay gated. It works where an event loop runs already,
    as in a notebook.

    Args:
        path: a workspace, or any folder in one.
        again: how many judgings each run gets.
        judge_model: the model that judges; without it that of `judge`, else the one that
            judged these runs before.
        connection: how it is reached; where it is not given, the stand-in judge answers in
            process, and any other model from outside.
        prices: what calls cost; the bundled table where it is not given.
        budget_usd: the most that may be spent, in US dollars; what does not fit is not judged.
        batch: whether to go through the Message Batches API: half the price, within a day.
            Its id is kept in `batch.json` below `path`; called again after an interruption,
            this waits for that batch and submits nothing anew. Answers that cannot be used
            are asked for again one by one, at once and at the full price.
        judge: settings of the judge.
        concurrency: runs that are judged at a time.
        progress: called whenever a judging has ended.
        evals: the suite, where it lies elsewhere.
        stop: once it is set, what is in flight is cancelled, and what was written stays.

    Raises:
        FileNotFoundError: `path` does not exist.
        NothingToLoad: there is no run, or none with a folder of its own.
        Stopped: `stop` was set before it had ended.
        Refused: a figure makes no sense; no judge model is known; there is a budget and no
            known price; another batch is under way; these runs are being run or judged already,
            here or in another process; or their folders cannot be written.
        ModelFault: no API key was found; nothing was sent.
    """
    from .stored_batch import judge_in_batch

    for name, value in (("again", again), ("concurrency", concurrency)):
        if value < 1:
            raise refuse(f"{name} is {value}: it must be 1 at least")
    if budget_usd is not None and not budget_usd >= 0:
        raise refuse(f"budget_usd is {budget_usd}: it must be 0 at least")
    noted = Problems()
    runs = stored_runs(path, evals=evals, problems=noted)
    if not runs:
        raise NothingToLoad(
            f"There is no stored run with a folder of its own below {path}, so there are no "
            "outputs to judge."
        )
    given = Path(path).expanduser()
    home = given if given.is_dir() else given.parent
    with held({run.home for run in runs}, "judging"):
        work, left = work_of(runs)
        left += [
            LeftOut(Path(problem.path), problem.message)
            for problem in noted
            if (problem.code, problem.severity) == ("link", "warning")
        ]
        who = _judge(judge, judge_model, again, work, connection or Connection())
        if not batch and under_way(home / FILE) is not None:
            raise refuse(
                f"a batch of judgings is under way, see {home / FILE}: judge by batch to collect "
                "it first, or cancel it and remove that file"
            )
        goals = wanted_before(home / WANTED, who)
        wanted = {
            task.run.folder: goals.get(name_of(task.run.folder, home), task.before.last + again)
            for task in work
        }
        order = RejudgeSpec(
            home=home,
            judge=who,
            wanted=wanted,
            connection=connection or reached_by([who.model]),
            prices=prices or load_prices(),
            budget_usd=budget_usd,
            concurrency=concurrency,
            progress=progress,
        )
        if work:
            places = [place for run in wanted for place in (run, run / "judgings")]
            make_ready([home, home / OWN, *places])
            want(home / WANTED, who, {name_of(run, home): wanted[run] for run in wanted})
        judging = (judge_in_batch if batch else judge_all)(order, work, left)
        try:
            done = in_thread(judging, stop, name="judge_again")
        except (Refused, ModelFault):  # nothing was sent
            if not goals:
                (home / WANTED).unlink(missing_ok=True)
            raise
        lacking = sum(wanted[job.run.folder] - job.before.last for job in work) - len(done.judged)
        poor = any(failure.reason.startswith(NO_MONEY) for failure in done.failed)
        if lacking <= 0 or not (done.judged or poor):  # else: given again, the rest is judged
            (home / WANTED).unlink(missing_ok=True)
    return replace(done, message="\n".join(filter(None, [done.message, RESUMED if goals else ""])))


def _judge(
    judge: Judge | None,
    model: str | None,
    again: int,
    work: list[JudgeTask],
    connection: Connection,
) -> Judge:
    """The judge with all its settings."""
    if judge is None:
        return Judge(model or _model_before(work, connection), judgings=again)
    return replace(judge, model=model or judge.model, judgings=again)


def _model_before(work: list[JudgeTask], connection: Connection) -> str:
    if connection.stand_in is not None:
        from skill_eval_nb.models.stand_in.settings import JUDGE

        return JUDGE
    judgings = [judging for item in work for judging in item.before.judgings.values()]
    before = sorted({judging.judge_model for judging in judgings if judging.judge_model})
    if len(before) == 1:
        return before[0]
    found = f"these runs were judged by {', '.join(before)}" if before else "no judging names one"
    raise refuse(f"judge_model is not given, and {found}: say which model is to judge")


async def judge_all(order: RejudgeSpec, work: list[JudgeTask], left: list[LeftOut]) -> JudgedAgain:
    """Judge each run until it has as many judgings as it is to have.

    Raises:
        ModelFault: there is no key.
        Refused: there is a budget and no known price.
    """
    books = JudgeState(order, sum(len(order.numbers(item)) for item in work), left)
    places = asyncio.Semaphore(order.concurrency)

    async def judge_task(client: Client, item: JudgeTask) -> None:
        async with places:
            await _judge_run(client, books, item)

    async with connect(order.connection) as client, asyncio.TaskGroup() as group:
        for item in work:
            if order.numbers(item):
                group.create_task(judge_task(client, item))
    return books.result()


async def _judge_run(client: Client, books: JudgeState, work: JudgeTask) -> None:
    """All new judgings of a run, one after the other: the first one fills the cache."""
    judge = books.order.judge
    numbers = books.order.numbers(work)
    try:
        prepared = await asyncio.to_thread(prepare, judge, work.case)
    except Unjudged as error:
        for number in numbers:
            books.ended(work, number, error.reason)
        return
    new: dict[int, Judging] = {}
    for number in numbers:
        # Numbers have no gaps: one that failed is given to the next.
        place = work.before.last + 1 + len(new)
        reason = await judge_once(client, books, work, prepared, place, new)
        if reason is None:
            await to_the_end(asyncio.to_thread(settle, work, place, new), then_go=True)
        books.ended(work, place if reason is None else number, reason)
    if new:
        note_kept(books, work)
