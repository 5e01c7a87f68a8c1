"""Stored runs judged through the Message Batches API, and taken up again after an interruption.

`batch.json` is written before the batch is submitted, and again with its id as soon as there
is one. It goes when the last of its judgings has been written. An answer that cannot be used
is asked for again by a call of its own, at the full price: a second batch could take a day more.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, parse, to_json
from skill_eval_nb.documents.run import Judging
from skill_eval_nb.grading.judge import Judge, Prepared, Unjudged, prepare
from skill_eval_nb.models import BudgetSpent, Client, ModelFault, connect, together
from skill_eval_nb.models.batches import Results
from skill_eval_nb.workspace import write_atomic
from skill_eval_nb.workspace.layout import OWN

from .asking import NO_MONEY
from .batch import BatchedJudging, NoJudging, batched, bring, judging_from, worst_usd
from .judge_tasks import (
    JudgedAgain,
    JudgeState,
    JudgeTask,
    LeftOut,
    RejudgeSpec,
    judge_once,
    note_kept,
    settle,
)
from .refused import refuse

FILE = "batch.json"
WANTED = Path(OWN, "judging.json")


def name_of(folder: Path, home: Path) -> str:
    """What a run's folder is called in these files: where it lies below `home`, if it does."""
    folder, home = folder.resolve(), home.resolve()
    return folder.relative_to(home).as_posix() if folder.is_relative_to(home) else str(folder)


def under_way(path: Path) -> dict[str, Any] | None:
    """The batch that is under way; None where there is none.

    Raises:
        Refused: there may be one, and it cannot be taken up.
    """
    if not path.is_file():
        return None
    try:
        state = parse(read_bytes(path), Faults())
        ids = state["ids"]
        whole = {"judge", "items"} <= set(state)
    except (NotJSON, KeyError, TypeError) as error:
        raise refuse(f"{path} is not what was written there; look at it ({error})") from error
    if not ids or not whole:
        raise refuse(
            f"a batch may have been submitted, and was interrupted before its id was kept in "
            f"{path}. Look among the batches of your account whether it is there and cancel it; "
            "then remove that file, and start again"
        )
    return state


def fits(state: dict[str, Any], judge: Judge, path: Path) -> None:
    """Refuse to take up a batch that another judge was asked for."""
    mine = _plain(judge)
    theirs = {name: state["judge"].get(name) for name in mine}
    differs = [name for name in mine if mine[name] != theirs[name]]
    if differs:
        told_so = ", ".join(f"{name}={theirs[name]!r}" for name in differs)
        raise refuse(
            f"a batch is under way with other settings ({told_so}): call judge_again with those "
            f"to collect it first, or cancel it and remove {path}"
        )


def wanted_before(path: Path, judge: Judge) -> dict[str, int]:
    """How many judgings each run is to have by a call like this one that did not come to its end.

    Nothing where there was none, or another judge was asked for then.
    """
    try:
        state = parse(read_bytes(path), Faults())
        runs = state["runs"] if state["judge"] == _plain(judge) else {}
        return {str(run): int(number) for run, number in runs.items()}
    except (OSError, NotJSON, LookupError, TypeError, ValueError, AttributeError):
        return {}  # as if it had ended: somebody has changed it


def want(path: Path, judge: Judge, runs: Mapping[str, int]) -> None:
    """Write down how many judgings each run is to have, before the first of them is paid for.

    Raises:
        OSError: it cannot be written.
    """
    write_atomic(path, to_json({"judge": _plain(judge), "runs": dict(runs)}))


def _plain(judge: Judge) -> Any:
    return json.loads(json.dumps(asdict(judge)))


async def judge_in_batch(
    order: RejudgeSpec, work: list[JudgeTask], left: list[LeftOut]
) -> JudgedAgain:
    """Judge each run until it has as many judgings as it is to have; or take up what is under way.

    Raises:
        Refused: what is under way is not what is asked for, or cannot be taken up.
        ModelFault: the batch was not taken, or cannot be reached; it goes on then.
    """
    path = order.home / FILE
    state = under_way(path)
    if state is not None:
        fits(state, order.judge, path)
        items = [(item["run"], item["number"]) for item in state["items"]]
    else:
        items = [
            (name_of(task.run.folder, order.home), number)
            for task in work
            for number in order.numbers(task)
        ]
    books = JudgeState(order, len(items), left)
    by_name = {name_of(task.run.folder, order.home): task for task in work}
    ids = [] if state is None else list(state["ids"])
    judgings = await _judgings(books, items, by_name, ids)
    if state is None:
        judgings = _affordable(books, judgings)
    if not judgings:
        path.unlink(missing_ok=True)
        return books.result()
    kept = state["items"] if state is not None else [_item(item, order.home) for item in judgings]

    def note(batch_id: str | None) -> None:
        ids.extend([] if batch_id is None else [batch_id])
        about = {"ids": ids, "judge": asdict(order.judge), "items": kept}
        write_atomic(path, to_json(about))

    async with connect(order.connection) as client:
        usd = worst_usd(judgings, order.prices)
        reservation = books.budget.allot(None if order.budget_usd is None else usd)
        if reservation is None:  # only where it was submitted under a larger budget before
            raise refuse(
                f"the batch in {path} may cost ${usd:.2f}: budget_usd must hold that, since it is "
                "under way already"
            )
        if state is None:
            note(None)
        try:
            meter = together(reservation, books.tally)
            results = await bring(client, judgings, meter, ",".join(ids) or None, note)
        except (ModelFault, BudgetSpent) as fault:
            if not ids and not getattr(fault, "sent", False):
                path.unlink()  # it was surely not taken: nothing is under way
            raise
        finally:
            reservation.close()
        await _settle_all(client, books, judgings, results, ",".join(ids))
    path.unlink()
    return books.result()


def _item(judging: BatchedJudging[JudgeTask], home: Path) -> dict[str, Any]:
    return {"run": name_of(judging.of.run.folder, home), "number": judging.number}


async def _judgings(
    books: JudgeState, items: list[tuple[str, int]], by_name: dict[str, JudgeTask], ids: list[str]
) -> list[BatchedJudging[JudgeTask]]:
    """The judgings that there are not, and whose outputs can be read."""
    judge = books.order.judge
    places = {name: place for place, name in enumerate(dict.fromkeys(run for run, _ in items))}
    prepared: dict[str, Prepared | str] = {}
    judgings = []
    for run, number in items:
        work = by_name.get(run)
        if work is None:
            books.message = f"{run} is in the batch, and is not there any more"
            continue
        name = f"r{places[run]}-j{number}-p"
        if _written(work, ids, f"{name}0"):
            continue
        if run not in prepared:
            try:
                prepared[run] = await asyncio.to_thread(prepare, judge, work.case)
            except Unjudged as error:
                prepared[run] = error.reason
        shown = prepared[run]
        if isinstance(shown, str):
            books.ended(work, number, shown)
        else:
            judgings.append(batched(work, judge, shown, number, name))
    return judgings


def _written(work: JudgeTask, ids: list[str], name: str) -> bool:
    """Whether a judging of the batch was written before an interruption."""
    wanted = f"{','.join(ids)}/{name}"
    return bool(ids) and any(judging.batch == wanted for judging in work.before.judgings.values())


def _affordable(
    books: JudgeState, judgings: list[BatchedJudging[JudgeTask]]
) -> list[BatchedJudging[JudgeTask]]:
    """As many of the judgings, from the first on, as the budget holds at their worst."""
    order = books.order
    if order.budget_usd is None:
        return judgings
    fitting: list[BatchedJudging[JudgeTask]] = []
    usd = 0.0
    for judging in judgings:
        usd += worst_usd([judging], order.prices)
        if usd > order.budget_usd:
            books.ended(judging.of, judging.number, NO_MONEY)
        else:
            fitting.append(judging)
    return fitting


async def _settle_all(
    client: Client,
    books: JudgeState,
    judgings: list[BatchedJudging[JudgeTask]],
    results: Results,
    batch_id: str,
) -> None:
    order = books.order
    new: dict[Path, dict[int, Judging]] = {}
    for judging in judgings:
        work = judging.of
        mine = new.setdefault(work.run.folder, {})
        place = work.before.last + 1 + len(mine)
        reason = None
        try:
            mine[place] = judging_from(judging, results, order.judge, order.prices)
            mine[place].judging = place
        except NoJudging as error:
            reason = error.reason
            if error.answered is not None:
                reason = await judge_once(client, books, work, judging.prepared, place, mine)
                usd = order.prices.cost(error.answered, order.judge.model, batch=True)
                direct = None if reason else mine[place].cost_usd
                if usd is not None and direct is not None:
                    mine[place].cost_usd = direct + usd
        except Unjudged as error:
            reason = error.reason
        if reason is None:
            mine[place].batch = f"{batch_id}/{next(iter(judging.requests))}"
            await asyncio.to_thread(settle, work, place, mine)
        books.ended(work, judging.number if reason else place, reason)
    for work in {judging.of.run.folder: judging.of for judging in judgings}.values():
        if new[work.run.folder]:
            note_kept(books, work)
