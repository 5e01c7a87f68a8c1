"""How far a job is: a value that can be shown at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Status = Literal["running", "done", "partial", "stopped", "failed"]
"""running; done: every cell is finished or errored; partial: the budget does not reach;
stopped: by the user; failed: by an error of the machine or of ours."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """A step that is being done: what it is, of which run, for how many seconds."""

    step: str
    folder: str
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Progress:
    """How far a job is.

    Attributes:
        status: see `Status`.
        cells: runs of the plan.
        finished: runs that have all that they are to have; errored ones are not among them.
        errored: runs that ended in an error, of this start or an earlier one.
        waiting: runs that nothing was done for yet.
        steps: how many of each step this start has done: execute, check, judge, grade.
        in_flight: what is being done.
        spent_usd: US dollars, over all starts.
        reserved_usd: what is in flight may still cost at worst.
        ceiling_usd: the budget; None where there is none.
        tokens: used by this start.
        priced: whether every call had a known price; `spent_usd` lacks the others.
        seconds: since this start.
        left_seconds: an estimate of the rest; None where nothing can be told yet.
        problems: what went wrong or stands out, in words, in order.
        message: why the job ended as it did; None while it runs.
    """

    status: Status
    cells: int = 0
    finished: int = 0
    errored: int = 0
    waiting: int = 0
    steps: tuple[tuple[str, int], ...] = ()
    in_flight: tuple[InFlight, ...] = ()
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    ceiling_usd: float | None = None
    tokens: int = 0
    priced: bool = True
    seconds: float = 0.0
    left_seconds: float | None = None
    problems: tuple[str, ...] = ()
    message: str | None = None

    @property
    def share(self) -> float:
        """The share of runs that are finished or errored, 0 to 1."""
        return (self.finished + self.errored) / self.cells if self.cells else 1.0

    def __str__(self) -> str:
        """One line for people.

        >>> print(Progress("running", cells=6, finished=2, errored=1, spent_usd=0.5,
        ...                reserved_usd=0.25, ceiling_usd=5.0, seconds=62, left_seconds=60))
        running: 3 of 6 runs (1 errored), $0.50 spent of $5.00 ($0.25 in flight), 1:02, about
        1:00 left
        """
        parts = [f"{self.finished + self.errored} of {self.cells} runs"]
        if self.errored:
            parts[0] += f" ({self.errored} errored)"
        money = f"{dollars(self.spent_usd)} spent"
        if self.ceiling_usd is not None:
            money += f" of {dollars(self.ceiling_usd)}"
        if self.reserved_usd:
            money += f" ({dollars(self.reserved_usd)} in flight)"
        parts += [money if self.priced else f"{money}, some calls without a known price"]
        parts.append(clock(self.seconds))
        if self.status == "running" and self.left_seconds is not None:
            parts.append(f"about {clock(self.left_seconds)} left")
        line = f"{self.status}: {', '.join(parts)}"
        return f"{line}\n{self.message}" if self.message else line

    def __repr__(self) -> str:
        """The same: it is what a notebook shows."""
        return str(self)


def dollars(amount: float) -> str:
    """US dollars, for people; small amounts keep two digits that tell something.

    >>> dollars(1.5), dollars(0), dollars(0.00123)
    ('$1.50', '$0.00', '$0.0012')
    """
    return f"${amount:.2f}" if amount >= 0.1 or amount == 0 else f"${amount:.2g}"


def clock(seconds: float) -> str:
    """A length of time, for people.

    >>> clock(62), clock(3600)
    ('1:02', '1:00:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def estimate_left(
    rest: Mapping[str, int],
    flying: Sequence[InFlight],
    took: Mapping[str, tuple[float, int]],
    concurrency: int,
) -> float | None:
    """Seconds that the rest may take, by the mean of each step so far.

    Args:
        rest: how many of each step are still to be launched.
        flying: what is being done.
        took: seconds and number of the steps that have ended, by step.
        concurrency: steps at a time.

    Returns:
        seconds; None where a step is to come that none has ended of.

    >>> estimate_left({"execute": 4}, [InFlight("execute", "…", 1.0)], {"execute": (6.0, 3)}, 2)
    4.5
    """
    means = {step: total / count for step, (total, count) in took.items() if count}
    if any(count and step not in means for step, count in rest.items()):
        return None
    seconds = sum(count * means.get(step, 0.0) for step, count in rest.items())
    seconds += sum(max(means.get(one.step, 0.0) - one.seconds, 0.0) for one in flying)
    return seconds / max(concurrency, 1)


def falls_short(
    *,
    ceiling: float,
    spent: float,
    step: tuple[str, float],
    missing: tuple[int, int, float],
    guess: float | None,
) -> str:
    """What to say where the budget does not reach; all amounts are US dollars.

    Args:
        ceiling: the budget.
        spent: of it.
        step: what is next, and the most that it may cost.
        missing: the runs and the judgings that are missing, and what they may cost at worst.
        guess: what they may come to, going by what is done; None where nothing is.
    """
    runs, judgings, worst = missing
    parts = [f"{runs} runs"] if runs else []
    parts += [f"{judgings} judgings"] if judgings else []
    about = "" if guess is None else f" (about {dollars(guess)} if it goes on as before)"
    return (
        f"the budget of {dollars(ceiling)} does not reach: {dollars(spent)} is spent, and the next "
        f"{step[0]} may cost up to {dollars(step[1])}. Missing: {' and '.join(parts)}, which may "
        f"cost up to {dollars(worst)} more at worst{about}. Plan again with budget_usd of at least "
        f"{dollars(spent + step[1])}, and start: what is done is not done again"
    )
