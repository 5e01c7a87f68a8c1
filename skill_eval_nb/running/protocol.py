"""The protocol of executors: something that works on a prompt as an agent would.

The driver knows nothing else about executors. To write one, you need a class with a `name`,
`why_not` and `execute`, registered under the entry point group `skill_eval_nb.executors`. A request
that cannot be met is `Refused`, with all faults at once.

Statistics determine whether a planned look can decide, and does. This package does not import them:
`skill_eval_nb/__init__.py` sets `look_rules`. So nothing heavy is imported here.
"""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from skill_eval_nb.models import Client, Connection, Meter, Prices, Usage


class Refused(ValueError):
    """A request cannot be met; `faults` has every reason.

    >>> print(Refused(["runs is 0; it is at least 1", "there is no eval `x`"]))
    2 problems:
      - runs is 0; it is at least 1
      - there is no eval `x`
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return self.faults[0]
        lines = "".join(f"\n  - {fault}" for fault in self.faults)
        return f"{len(self.faults)} problems:{lines}"


def refuse(fault: str) -> Refused:
    """What to raise if there is one reason.

    >>> raise refuse("again is 0; it is at least 1")
    Traceback (most recent call last):
    skill_eval_nb.running.protocol.Refused: again is 0; it is at least 1
    """
    return Refused([fault])


def find_number_faults(
    counts: Mapping[str, tuple[Any, int]], budget_usd: float | None = None
) -> list[str]:
    """What is wrong with whole numbers, each given with its minimum, and a budget.

    None means not given.

    >>> find_number_faults({"runs": (0, 1), "judgings": (0, 0)}, -1.0)
    ['runs is 0; it must be a whole number of at least 1',
     'budget_usd is -1.0; it must be a number of at least 0']
    """
    faults = [
        f"{name} is {value!r}; it must be a whole number of at least {least}"
        for name, (value, least) in counts.items()
        if value is not None and (type(value) is not int or value < least)
    ]
    if budget_usd is not None and not is_amount(budget_usd):
        faults.append(f"budget_usd is {budget_usd!r}; it must be a number of at least 0")
    return faults


def find_unpriced(
    models: Iterable[str | None], prices: Prices, budget_usd: float | None
) -> list[str]:
    """The message about models without a known price, if a budget needs it."""
    unpriced = (model for model in dict.fromkeys(models) if model and not prices.known(model))
    why = "budget_usd is set, so the price must be known"
    return [f"{why}: {prices.unknown(model)}" for model in unpriced if budget_usd is not None]


def is_amount(value: Any) -> bool:
    """Whether something is a finite number of at least 0."""
    return type(value) in (int, float) and 0 <= value < math.inf


@contextmanager
def gather_refusals(faults: list[str]) -> Iterator[None]:
    """Collect what is refused inside, so that later checks are made as well."""
    try:
        yield
    except Refused as error:
        faults.extend(error.faults)


def no_such(kind: str, name: str, known: Iterable[str]) -> str:
    """The message about an unknown name: the nearest one, and all known ones.

    >>> no_such("eval", "mixd", ["mixed", "long"])
    'there is no eval `mixd`; did you mean `mixed`? There are mixed, long'
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean `{near[0]}`? There are" if near else "; there are"
    return f"there is no {kind} `{name}`{hint} {', '.join(names) or 'none'}"


SandboxKind = Literal["bubblewrap", "none"]
"""How an agent's commands are confined; "none" only if the user said so."""


@dataclass(frozen=True)
class Skill:
    """A staged copy of a skill, without its evals.

    Attributes:
        name: from the front matter of its SKILL.md.
        description: from there too; all that an agent sees before it opens the skill.
        folder: the copy; the executor offers it read-only.
    """

    name: str
    description: str
    folder: Path


@dataclass(frozen=True)
class Limits:
    """What one run may use; the same on both sides.

    Attributes:
        turns: answers of the model.
        seconds: wall clock, from the first call to the last.
        output_tokens: of one answer.
        usd: of one run, in US dollars; None if there is no such limit.
    """

    turns: int = 30
    seconds: float = 900.0
    output_tokens: int = 8192
    usd: float | None = None


@dataclass(frozen=True)
class Task:
    """One run as an executor sees it, without anything about how the output is judged.

    Attributes:
        prompt: the eval's prompt, word for word.
        folder: the working folder, which holds the input files; what is new or changed in
            it afterwards is the output.
        skill: the skill on offer; None on the baseline.
        model: the model that works.
        limits: what the run may use.
        key: an opaque id of the run: it tells neither the eval nor the side.
        sandbox: how the agent's commands are confined.
        connection: how the model is reached.
        scratch: a private folder for a home and configuration; deleted afterwards.
        others: further skills on offer, with or without `skill`; each has its own name.
        until_opened: whether the run ends, done, as soon as `skill` was opened.
        client: for calls to the model through the SDK; None if there is none yet. It belongs to
            this event loop.
    """

    prompt: str
    folder: Path
    skill: Skill | None
    model: str
    limits: Limits
    key: str
    sandbox: SandboxKind
    connection: Connection
    scratch: Path
    others: tuple[Skill, ...] = ()
    until_opened: bool = False
    client: Client | None = field(default=None, repr=False, compare=False)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """All skills on offer, sorted by name so that the order gives nothing away."""
        offered = self.others if self.skill is None else (self.skill, *self.others)
        return tuple(sorted(offered, key=lambda skill: skill.name))


ON_EVENTS: ContextVar[Callable[[Sequence[Mapping[str, Any]]], object]] = ContextVar(
    "ON_EVENTS", default=lambda _: None
)
"""Takes the list to which an executor adds a run's events, so that its latest steps can be shown.

An executor calls this once, as it begins. Without that call, its steps are only shown at the end.
"""


@dataclass(frozen=True)
class Execution:
    """How a run went.

    Attributes:
        status: "done", or "errored" if the run must not be graded.
        reason: why it errored, in words for the user; None if it is done.
        events: what happened, in the form of Claude Code's stream-json lines (`type` is
            system, assistant, user or result), each with a `timestamp` in ISO 8601.
        usage: tokens of all its calls, including failed ones.
        cost_usd: what it cost in US dollars; None if no price is known.
        skill_used: whether the skill was opened; None if there was none to open, or it is not
            known.
        out_of_turns: whether it errored because it was not done within `Limits.turns`.
    """

    status: Literal["done", "errored"]
    reason: str | None
    events: tuple[Mapping[str, Any], ...]
    usage: Usage
    cost_usd: float | None
    skill_used: bool | None
    out_of_turns: bool = False


@runtime_checkable
class Executor(Protocol):
    """Works on one task at a time; one executor serves many tasks at once.

    It is picklable, so that it can be sent to other processes and machines.
    """

    @property
    def name(self) -> str:
        """Its name, as stated in a run's files."""
        ...

    def why_not(self, sandbox: str) -> str | None:
        """Why it cannot run here with this sandbox, in words for the user; None if it can."""
        ...

    async def execute(self, task: Task, meter: Meter) -> Execution:
        """Work on a task; every call to a model is reserved and settled with the meter.

        It does not raise because of what a model or a tool did, or because the budget is spent:
        that is an `Execution` with status "errored" and the reason. It raises when it is cancelled,
        and then leaves no process behind.
        """
        ...


def calls_models(executor: Executor) -> bool:
    """Whether an executor is one of ours: each of these calls models through the SDK."""
    return type(executor).__module__.startswith(f"{__package__}.executors.")


GROUP = "skill_eval_nb.executors"
"""The entry point group; each entry has a name and a callable that makes an executor, usually a
class.
"""


def executor_names() -> tuple[str, ...]:
    """The names of all installed executors, in alphabetical order."""
    return tuple(sorted(_find_entries(tuple(sys.path)).names))


@lru_cache(maxsize=1)
def _find_entries(_: tuple[str, ...]) -> EntryPoints:
    """The entries of our group on a module path.

    Looking for them opens every installed package, which would take a tenth of a second each time
    that a form is drawn.
    """
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def executor(name: str, **options: Any) -> Executor:
    """Make the executor with this name.

    Args:
        name: the name under which it is registered.
        options: arguments of its class.

    Raises:
        ValueError: no executor has this name, it cannot be imported, it does not take
            these options, or what it makes is not an executor.
    """
    found = _find_entries(tuple(sys.path)).select(name=name)
    if not found:
        raise ValueError(
            f"{no_such('executor', name, executor_names())}. Others are registered under the "
            f"entry point group `{GROUP}`"
        )
    [entry, *_] = found
    try:
        factory = entry.load()
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"executor `{name}` is registered as `{entry.value}`, which cannot be imported: {error}"
        ) from error
    try:
        runner = factory(**options)
    except TypeError as error:
        raise ValueError(f"executor `{name}` does not take these options: {error}") from error
    if not isinstance(runner, Executor):
        raise ValueError(  # noqa: TRY004 -- the user gave a name, not a type
            f"`{entry.value}`, registered as executor `{name}`, made a {type(runner).__name__}, "
            "which lacks `name`, `why_not` or `execute`"
        )
    return runner


class LookRules(Protocol):
    """The statistics of planned looks: after so many runs per side a job stops to look."""

    def check_looks(self, looks: Sequence[int], n_evals: int) -> None:
        """Raise a ValueError if looks over this many evals cannot be planned."""
        ...

    def decide_look(
        self, workspace: Path, iteration: int, looks: Sequence[int], runs: int
    ) -> str | None:
        """What the look at so many runs per side decides, in words; None if it decides nothing."""
        ...


def _lack_rules() -> LookRules:
    raise NotImplementedError("the rules of looks were not set")


look_rules: Callable[[], LookRules] = _lack_rules
"""Gives them; `skill_eval_nb` sets it when it is imported."""
