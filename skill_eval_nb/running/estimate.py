"""What a plan may cost: the estimate of what is missing, and the limit of each run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import quantiles

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, Timing, mend, parse
from skill_eval_nb.models import Prices, Usage
from skill_eval_nb.text import dollars

from .protocol import Limits
from .skill import SkillSource
from .spec import ERRORED, EXECUTED, Spec
from .suite import PlannedEval


def measure_past_runs(workspace: Path, model: str) -> dict[str, list[Timing]]:
    """What a model's runs in a workspace used, by configuration.

    Only complete runs count, and only in folders as this toolkit writes them:
    iteration-N/eval-…/CONFIGURATION/run-R.
    """
    found: dict[str, list[Timing]] = {}
    for path in sorted(workspace.glob(f"iteration-*/eval-*/*/run-*/{EXECUTED}")):
        try:
            timing, _ = mend(parse(read_bytes(path), Faults()), Timing)
        except (NotJSON, OSError):
            continue  # the tables say what is wrong with it; here it is just not measured
        if timing.model == model and timing.status != ERRORED:
            found.setdefault(path.parent.parent.name, []).append(timing)
    return found


def _known_costs(past: Iterable[Timing]) -> list[float]:
    return [timing.cost_usd for timing in past if timing.cost_usd is not None]


CHARS_PER_TOKEN = (4.5, 3.0)
"""Characters in a token: of English prose, and of code or other languages."""

OVERHEAD = {"claude-code": 18_000}
"""Tokens of a harness's own instructions and tools, by executor."""

OVERHEAD_ELSEWHERE = 1_500

TURNS = (3, 8)
"""Answers of the model in one run."""

TOKENS_A_TURN = (150, 900)
"""Tokens of one answer of an executor's model."""

RESULTS_A_TURN = (50, 1_200)
"""Tokens that the tools of one turn return, apart from the input files."""

SHOWN = (300, 8_000)
"""Tokens of outputs and transcript that a judge is shown."""

JUDGE_OVERHEAD = 1_200
"""Tokens of a judge's instructions and schema."""

INPUTS_SHOWN = 30_000
"""Characters of input files that a judge is shown at most, as the outputs need room, too."""

A_VERDICT = (80, 250)
"""Tokens of one verdict or score, with its evidence."""

REMARKS = (150, 800)
"""Tokens of claims, notes and critique in one judging."""

ENOUGH = 3
"""Measured runs of a configuration that are needed to replace the assumptions."""

MANY = 10
"""With at least this many measured runs, the highest and the lowest tenth are left out."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range from low to high."""

    low: float
    high: float

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)

    def __mul__(self, times: float) -> Span:
        return Span(self.low * times, self.high * times)

    def __str__(self) -> str:
        """The range in short numbers.

        >>> str(Span(36, 36)), str(Span(1234, 5_678_000))
        ('36', '1,234 – 5.7 M')
        """
        return _format_range(_format_short(self.low), _format_short(self.high))

    @property
    def dollars(self) -> str:
        """The range in US dollars.

        >>> Span(0, 0).dollars, Span(0.004, 1.5).dollars
        ('$0.00', '$0.004 – $1.50')
        """
        return _format_range(dollars(self.low), dollars(self.high))


NOTHING = Span(0, 0)


@dataclass(frozen=True, slots=True)
class CostPart:
    """A part of an estimate.

    Attributes:
        what: the configuration whose runs it is about, or "judging".
        number: how many runs or judgings.
        calls: calls of the model.
        tokens: tokens read and written.
        usd: US dollars; None if no price is known for the model.
        measured: the number of runs that it is based on; 0 if it is assumed.
    """

    what: str
    number: int
    calls: Span
    tokens: Span
    usd: Span | None
    measured: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the missing part of a plan may cost.

    Attributes:
        parts: one part per configuration, and the judging.
        assumptions: what it is based on, in words.
    """

    parts: tuple[CostPart, ...]
    assumptions: tuple[str, ...]

    @property
    def calls(self) -> Span:
        """Calls of models."""
        return sum((part.calls for part in self.parts), NOTHING)

    @property
    def tokens(self) -> Span:
        """Tokens, read and written."""
        return sum((part.tokens for part in self.parts), NOTHING)

    @property
    def usd(self) -> Span | None:
        """US dollars; None if a price is not known."""
        return _sum_known([part.usd for part in self.parts])


Use = tuple[Usage, Usage]
"""The least and the most that one run or judging may use."""


def price_use(use: Use, prices: Prices, model: str, *, batch: bool = False) -> Span | None:
    """The price of a use in US dollars; None if none is known."""
    low, high = (prices.cost(usage, model, batch=batch) for usage in use)
    return None if low is None or high is None else Span(low, high)


def usage_of_run(
    eval_: PlannedEval, skill: SkillSource | None, executor: str, limits: Limits
) -> Use:
    """What one run of an eval may use.

    Each turn reads everything before it again: from the cache in the low estimate, at full price
    in the high one. With a skill, its body is in the context from the second turn.
    """
    uses = []
    for at in (0, 1):
        opened = _tokens(skill.chars, at) if skill is not None else 0
        files = _tokens(sum(input_.size for input_ in eval_.inputs), at)
        described = _tokens(len(skill.description), at) if skill is not None else 0
        prompt = _tokens(len(eval_.definition.prompt), at)
        first = OVERHEAD.get(executor, OVERHEAD_ELSEWHERE) + prompt + described
        turns = min(TURNS[at] + (skill is not None), limits.turns)
        output = min(TOKENS_A_TURN[at], limits.output_tokens)
        grown = output + RESULTS_A_TURN[at]
        contexts = [first + turn * grown + (opened + files if turn else 0) for turn in range(turns)]
        last = contexts[-1] if contexts else 0
        read = sum(contexts)
        cached = {"cache_write_tokens": last, "cache_read_tokens": read - last}
        given = {"input_tokens": read} if at else cached
        uses.append(Usage(output_tokens=turns * output, calls=turns, longest=last, **given))
    return uses[0], uses[1]


def usage_of_judging(eval_: PlannedEval, *, per_dimension: bool) -> Use:
    """What one judging of a run may use, if every answer is usable at once."""
    definition = eval_.definition
    dimensions = eval_.dimensions
    chars = len(definition.prompt) + len(definition.expected_output or "")
    chars += sum(len(each.text) for each in eval_.judged)
    chars += sum(
        len(each.description or "") + sum(map(len, each.scoring.values())) for each in dimensions
    )
    chars += min(sum(input_.size for input_ in eval_.inputs), INPUTS_SHOWN)
    calls = len(dimensions) + bool(eval_.judged) if per_dimension else 1
    uses = []
    for at in (0, 1):
        read = JUDGE_OVERHEAD + _tokens(chars, at) + SHOWN[at]
        verdicts = (len(eval_.judged) + len(dimensions)) * A_VERDICT[at]
        written = verdicts + REMARKS[at] * (1 if at == 0 else calls)
        again = read * (calls - 1)
        cached = {"cache_write_tokens": read, "cache_read_tokens": again}
        given = {"input_tokens": read + again} if at or calls == 1 else cached
        uses.append(Usage(output_tokens=written, calls=calls, longest=read, **given))
    return uses[0], uses[1]


def estimate_runs(
    what: str,
    uses: Sequence[Use],
    prices: Prices,
    model: str,
    past: Sequence[Timing] = (),
    *,
    batch: bool = False,
) -> CostPart:
    """The estimate for the runs of a configuration, from measured runs or else from assumptions."""
    number = len(uses)
    low, high = (sum((use[at] for use in uses), Usage()) for at in (0, 1))
    calls, tokens = Span(low.calls, high.calls), Span(low.total, high.total)
    spans = [price_use(use, prices, model, batch=batch) for use in uses]
    usd = _sum_known(spans) if prices.known(model) else None
    measured = [timing.total_tokens for timing in past if timing.total_tokens]
    if len(measured) < ENOUGH:
        return CostPart(what, number, calls, tokens, usd)
    costs, asked = _known_costs(past), [timing.model_calls for timing in past if timing.model_calls]
    if len(costs) >= ENOUGH and usd is not None:
        usd = _spread(costs) * number
    if len(asked) >= ENOUGH:
        calls = _spread(asked) * number
    return CostPart(what, number, calls, _spread(measured) * number, usd, len(measured))


def assumptions(parts: Sequence[CostPart], executor: str, prices: str) -> Iterator[str]:
    """What an estimate rests on, in words; `prices` is where the prices come from."""
    overhead = OVERHEAD.get(executor, OVERHEAD_ELSEWHERE)
    parts = [part for part in parts if part.number]
    for part in parts:
        if part.measured:
            yield f"{part.what}: from {part.measured} runs of this workspace"
    if any(part.what != "judging" and not part.measured for part in parts):
        yield (
            f"a run takes {_format_span(TURNS)} turns (one more if a skill is opened) of "
            f"{_format_span(TOKENS_A_TURN)} tokens, and tools return "
            f"{_format_span(RESULTS_A_TURN)} per turn; {overhead:,} tokens of instructions and "
            "tools; earlier turns are read from the cache (low) or at full price (high)"
        )
    if any(part.what == "judging" for part in parts):
        yield (
            f"a judge is shown {_format_span(SHOWN)} tokens of output and writes "
            f"{_format_span(A_VERDICT)} per verdict and {_format_span(REMARKS)} of remarks; no "
            "gate fails, no answer is refused"
        )
    if parts:
        yield f"a token has {CHARS_PER_TOKEN[1]} to {CHARS_PER_TOKEN[0]} characters"
    yield f"prices of {prices}"


def _sum_known(spans: Sequence[Span | None]) -> Span | None:
    """The sum; None if one is not known."""
    known = [span for span in spans if span is not None]
    return sum(known, NOTHING) if len(known) == len(spans) else None


def _spread(values: Sequence[float]) -> Span:
    """The 10th and the 90th percentile; for few values, the lowest and the highest."""
    if len(values) < MANY:
        return Span(min(values), max(values))
    tenths = quantiles(values, n=10, method="inclusive")
    return Span(tenths[0], tenths[-1])


def _format_range(low: str, high: str) -> str:
    return low if low == high else f"{low} – {high}"


def _format_short(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:,.1f} M"
    return f"{value / 1e3:,.0f} k" if value >= 1e4 else f"{value:,.0f}"


def _tokens(chars: int, at: int) -> int:
    return round(chars / CHARS_PER_TOKEN[at])


def _format_span(both: tuple[float, float]) -> str:
    return f"{both[0]:,}–{both[1]:,}"


LEAST_USD = 0.05
"""The lowest limit of a run's cost that is derived from an estimate, in US dollars."""


def estimate_of(plan: Spec, known: Mapping[str, Sequence[Timing]]) -> Estimate:
    """What the missing steps may cost; `known` is the result of `measure_past_runs`."""
    todo = plan.todo
    parts = []
    for side in plan.sides:
        uses = [
            usage_of_run(run.eval, side.skill, plan.executor.name, plan.limits)
            for run in todo
            if run.cell.configuration == side.name and run.missing.execute
        ]
        past = known.get(side.name, ())
        parts.append(estimate_runs(side.name, uses, plan.prices, plan.executor_model, past))
    judging = [
        usage_of_judging(run.eval, per_dimension=plan.judge_per_dimension)
        for run in todo
        for _ in run.missing.judgings
    ]
    if judging and plan.judge_model is not None:
        model, batch = plan.judge_model, plan.judge_batch
        parts.append(estimate_runs("judging", judging, plan.prices, model, batch=batch))
    texts = [*assumptions(parts, plan.executor.name, plan.prices.date)]
    if plan.judge_batch and judging:
        texts.append("judging at batch prices")
    return Estimate(tuple(parts), tuple(texts))


def limit_runs(plan: Spec, known: Mapping[str, Sequence[Timing]]) -> Spec:
    """Under a budget, each run has a limit in dollars: four times the high estimate.

    The estimate is that of the most expensive run of the plan, or what such a run has cost before
    if that was more. For a free model, such as the stand-in, the limit is 0.
    """
    if plan.budget_usd is None or plan.limits.usd is not None:
        return plan
    priced = [
        span.high
        for eval_ in plan.evals
        for side in plan.sides
        for use in [usage_of_run(eval_, side.skill, plan.executor.name, plan.limits)]
        if (span := price_use(use, plan.prices, plan.executor_model)) is not None
    ]
    past = [usd for name in plan.configurations for usd in _known_costs(known.get(name, ()))]
    is_free = bool(priced) and not any((*priced, *past))
    usd = 0.0 if is_free else max(LEAST_USD, 4 * max((*priced, *past), default=0.0))
    return replace(plan, limits=replace(plan.limits, usd=round(usd, 4)))
