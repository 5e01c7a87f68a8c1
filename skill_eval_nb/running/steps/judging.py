"""The third step of a run, done once for each judging: a judge looks at it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skill_eval_nb.documents import Judging, dump, to_json

from .files import write
from .orders import Ended, Hidden, JudgeOnce, Run
from .state import JUDGINGS

if TYPE_CHECKING:
    from skill_eval_nb.grading.judge import Case, Prepared
    from skill_eval_nb.models import Client, Meter


def case_of(run: Run, hidden: Hidden) -> Case:
    """A run as its judge is to see it."""
    from skill_eval_nb.grading.judge import Case

    one = run.eval.definition
    return Case(
        prompt=one.prompt,
        expected_output=one.expected_output,
        expectations=run.eval.judged,
        dimensions=run.eval.dimensions,
        outputs=run.place / "outputs",
        transcript=run.place / "transcript.jsonl",
        key=run.cell.key,
        inputs=run.place / "inputs",
        hidden=hidden.skills,
        configurations=hidden.configurations,
    )


async def judge(
    order: JudgeOnce, meter: Meter, client: Client, prepared: Prepared | None = None
) -> Ended:
    """Judge a run once, and write its judgings/N.json at once.

    Args:
        order: the run, the judge and the number.
        meter: what every call goes through.
        client: how calls reach the model.
        prepared: the run made ready to be judged; read from the disk where it is not given.

    Raises:
        Unwritable: it cannot be written.
    """
    from skill_eval_nb.grading.judge import Unjudged
    from skill_eval_nb.grading.judge import judge as judge_it
    from skill_eval_nb.models import BudgetSpent, ModelFault

    run = order.run
    clock = time.perf_counter()
    case = case_of(run, order.hidden)
    try:
        judging = await judge_it(
            client, order.judge, case, order.number, meter, prices=order.prices, prepared=prepared
        )
    except Unjudged as error:
        return Ended(error.reason, None, time.perf_counter() - clock)
    except (ModelFault, BudgetSpent) as error:
        return Ended(str(error), None, time.perf_counter() - clock)
    write_judging(run, order.number, judging)
    return Ended(seconds=time.perf_counter() - clock)


def write_judging(run: Run, number: int, judging: Judging) -> None:
    """Write judgings/N.json.

    Raises:
        Unwritable: it cannot be written.
    """
    write(run.place / JUDGINGS / f"{number}.json", to_json(dump(judging)))
