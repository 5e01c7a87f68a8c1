"""`gate`: has something got worse? An end for CI, from verdicts and never from differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from skill_eval_nb.stats.confounds import TOO_FEW
from skill_eval_nb.stats.overview import compare_scopes
from skill_eval_nb.stats.pairing import Versus, choose_baseline, likeness
from skill_eval_nb.stats.values import (
    EVAL,
    ITERATION,
    MODEL,
    better,
    headline_of,
    in_polars,
    metrics_of,
    no_such,
    order_iterations,
    runs_of,
    values_of,
)
from skill_eval_nb.stats.verdict import Row, say_answer
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.text import as_label, count, in_quotes, some
from skill_eval_nb.view import Block, Mark, Shown, Title

from .measured import NO_ITERATION, Paragraph, difference, in_unit, line, metric_name, section
from .page import render_markdown

if TYPE_CHECKING:
    import polars as pl

PASSED, CANNOT_TELL, REGRESSION = 0, 3, 1
LOOKS = {
    PASSED: ("info", "#2d7d46"),
    CANNOT_TELL: ("warning", "#66707a"),
    REGRESSION: ("error", "#b3261e"),
}
"""What a finding ends with, the worst last; how that is marked, and the colour of a badge."""
FAILS = ("regression", "limits")
"""What ends with 1 unless told otherwise."""
ENDS = (*FAILS, "cannot-tell")
"""What may end with 1; what cannot be told ends with 3 if it may not."""
BEARS = ("no worthwhile difference", "unclear")
"""Verdicts that show no regression, where the interval says how large a one may be missed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A comparison or a limit, and what the gate makes of it.

    Attributes:
        kind: `regression` for a comparison, `limits` for a limit.
        end: 0, 1 or 3, as exit codes.
        place: the skill and iteration.
        name: what was looked at.
        short: the result in a few words.
        says: the same in sentences.
        figures: for programs: a comparison's row of `deltas`, and `missed`, the largest loss that
            its interval leaves open; a limit's `metric`, `mean` and `limit`.
    """

    kind: str
    end: int
    place: str
    name: str
    short: str
    says: str
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False, slots=True)
class Gate(Shown):
    """What `gate` found. `end` is the exit code, and `findings` are the reasons."""

    findings: Sequence[Finding]
    fail_on: Sequence[str] = FAILS

    @property
    def end(self) -> int:
        """1 where what is in `fail_on` was found, else 3 where something cannot be told, else 0."""
        return max(map(self.end_of, self.findings), key=list(LOOKS).index)

    @property
    def worst(self) -> Finding:
        """The worst of what was found, whether or not it is in `fail_on`."""
        order = list(LOOKS).index
        return max(self.findings, key=lambda of: (order(of.end), of.figures.get("missed") or 0))

    def end_of(self, finding: Finding) -> int:
        """The exit code for this finding alone, under `fail_on`."""
        if finding.end == CANNOT_TELL:
            return REGRESSION if "cannot-tell" in self.fail_on else CANNOT_TELL
        return finding.end if finding.kind in self.fail_on else PASSED

    def markdown(self) -> str:
        """It as Markdown for a job's summary; texts from files are escaped."""
        parts = [Paragraph(f"{each.name}. {each.says}", f"{each.short}:") for each in self.findings]
        return render_markdown(section(f"Gate: {self.worst.short}", parts))

    def junit(self) -> str:
        """It as JUnit XML, a test case a finding; one that cannot be told, and may, is skipped."""
        ends = [self.end_of(each) for each in self.findings]
        counts = {"tests": len(ends), "failures": ends.count(1), "skipped": ends.count(3)}
        totals = {name: str(number) for name, number in counts.items()}
        suite = ET.Element("testsuite", {"name": "skill-eval-nb gate", **totals})
        for each, end in zip(self.findings, ends, strict=True):
            names = {"classname": line(each.place), "name": line(each.name)}
            case = ET.SubElement(suite, "testcase", names)
            if end != PASSED:
                kind = "failure" if end == REGRESSION else "skipped"
                ET.SubElement(case, kind, message=line(each.short))
            ET.SubElement(case, "system-out").text = line(each.says, 10_000)
        return ET.tostring(suite, "unicode") + "\n"

    def badge(self) -> str:
        """An SVG badge with the worst finding in a few words."""
        words, right = self.worst.short, 18 + 6 * len(self.worst.short)
        ink = LOOKS[self.worst.end][1]
        return BADGE.format(all=64 + right, right=right, ink=ink, words=escape(words))

    def _blocks(self) -> Iterator[Block]:
        yield Title(f"Gate: {self.worst.short}")
        for each in self.findings:
            yield Mark(LOOKS[each.end][0], each.short, f"{each.name}. {each.says}")

    def _data(self) -> dict[str, Any]:
        return {"end": self.end, "findings": list(map(asdict, self.findings))}


BADGE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{all}" height="20" role="img" \
aria-label="skill evals: {words}"><title>skill evals: {words}</title>
<rect width="{all}" height="20" rx="3" fill="#3b434b"/>
<path d="M64 0h{right}v20H64z" fill="{ink}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="6" y="14" textLength="52">skill evals</text>
<text x="71" y="14">{words}</text></g></svg>
"""


def gate(
    ws: Workspace,
    metric: str | None = None,
    baseline: str | None = None,
    *,
    versus: str | None = None,
    against: Workspace | None = None,
    most: Mapping[str, float] | None = None,
    least: Mapping[str, float] | None = None,
    fail_on: Sequence[str] | None = None,
    level: float = 0.95,
) -> Gate:
    """Say for CI whether the newest iteration shows a regression.

    The verdict of `deltas` decides, never a difference alone: `hurts` is a regression. No
    regression is shown if the skill helps, or if the interval tells how large a regression may
    have been missed. Otherwise the gate cannot tell: too few runs or evals, sides that are not
    comparable, errors that decide. It is about these evals; or, if they were run once per side
    and are enough for it, about tasks like these.

    Args:
        ws: what `load` returned.
        metric: as for `deltas`; the pass rate if not given.
        baseline: the configuration to compare against, chosen by name if not given. With
            `versus` or `against` its own change is subtracted.
        versus: instead, an iteration to compare against, configuration by configuration.
        against: instead, another workspace, such as another branch's: its newest iteration is
            the other side. Evals are matched by name, unless their prompts differ.
        most: the largest mean over runs that a metric may have, such as `{"cost_usd": 0.5}`.
            Limits apply to each configuration whose name is not a baseline's.
        least: the smallest, such as `{"pass_rate": 0.8}`.
        fail_on: what ends with 1, of `regression`, `limits` and `cannot-tell`; the first two if
            not given.
        level: 1 - alpha of one comparison. More than two share alpha, so that at most 5 % of
            gates fail if nothing differs.

    Returns:
        A `Gate`: `end` (0 no regression shown, 1 a regression or a limit that is not met, 3
        cannot tell), `findings`, and `markdown()`, `junit()` and `badge()` as texts.

    Raises:
        ValueError: for an unknown name, a metric with no better direction, `versus` and
            `against` together, or several skills with `against`.

    >>> from skill_eval_nb.tables import Workspace
    >>> gate(Workspace.from_tables({})).end
    3
    """
    for name in fail_on or ():
        if name not in ENDS:
            raise no_such("end", name, ENDS)
    if against is not None and versus is not None:
        raise ValueError("Give `versus` or `against`, not both.")
    ws = in_polars(ws)
    if against is not None:
        ws, versus = set_beside(ws, against)
    metric = metric or headline_of(metrics_of(ws))
    if better(metric) is None:
        raise ValueError(f"{metric} has no better direction, so it cannot regress.")
    limits = [
        (values_of(ws, name), name, float(bound), sign)
        for sign, given in (("most", most), ("least", least))
        for name, bound in (given or {}).items()
    ]
    if not all(math.isfinite(bound) for _, _, bound, _ in limits):
        raise ValueError("A limit must be a finite number.")
    suites = list(_find_suites(ws, baseline, versus))
    findings = [each for suite in suites for each in _compare(suite, metric, baseline, level)]
    if len(findings) > 2:  # a regression is one of the two sides of a test
        level = 1 - 2 * (1 - level) / len(findings)
        findings = [each for suite in suites for each in _compare(suite, metric, baseline, level)]
    findings += [each for suite in suites for own in limits for each in _hold_limit(suite, *own)]
    nothing = Finding("regression", CANNOT_TELL, "", "Runs", NOTHING, "There are no runs.")
    return Gate(findings or [nothing], FAILS if fail_on is None else tuple(fail_on))


NOTHING = "nothing to compare"
"""The result for a skill without a comparison."""


class Suite(NamedTuple):
    """A skill's newest iteration.

    Attributes:
        keys: its workspace, skill and iteration.
        place: the same in words.
        ws: its tables, with the tables of the iteration that it is compared with.
        configurations: those that are looked at: all that by their names are no baseline.
        sides: both iterations, where two are compared.
        why: why there is nothing to compare, if that is known beforehand.
    """

    keys: dict[str, str]
    place: str
    ws: Workspace
    configurations: Sequence[str]
    sides: Versus | None
    why: str


def _find_suites(ws: Workspace, baseline: str | None, versus: str | None) -> Iterator[Suite]:
    runs = runs_of(ws)
    for name, column in ((versus, "iteration"), (baseline, "configuration")):
        if name not in (None, *runs[column]):
            raise no_such(column, str(name), set(runs[column]))
    for suite in runs.select(ITERATION[:2]).unique().sort(ITERATION[:2]).rows():
        keys = dict(zip(ITERATION, suite, strict=False))
        names = [name for name in order_iterations(runs.filter(**keys)) if name != versus]
        if not names:
            continue
        keys["iteration"] = names[-1]
        there = runs.filter(**keys)["configuration"].unique().to_list()
        chosen, why = choose_baseline(there, baseline)
        others = sorted(name for name in there if name != chosen or len(there) == 1)
        looked_at = [name for name in others if likeness(name) is None] or others
        sides = None if versus is None else (names[-1], versus)
        part = ws.select(**keys | {"iteration": sides or names[-1]})
        why = why if versus is None else ""
        for name, column in ((versus, "iteration"), (baseline, "configuration")):
            if name not in (None, *part.polars("runs")[column]):
                why = f"There are no runs of {as_label(name)}"
        place = ", ".join(as_label(name) for name in (suite[1], names[-1]) if name != NO_ITERATION)
        yield Suite(keys, place, part, looked_at, sides, why)


def _compare(suite: Suite, metric: str, baseline: str | None, level: float) -> Iterator[Finding]:
    """The configurations that are looked at, each against its other side."""
    how = {"versus": suite.sides, "level": level}
    pairs = [] if suite.why else compare_scopes(suite.ws, metric, baseline, **how)
    pairs = [pair for pair in pairs if pair[0]["configuration"] in suite.configurations]
    yield from (read_comparison(*pair, place=suite.place) for pair in pairs)
    if not pairs:
        why = suite.why or f"There are no runs other than those of {some(suite.configurations)}"
        yield Finding("regression", CANNOT_TELL, suite.place, "Comparison", NOTHING, f"{why}.")


def _name_side(row: Row) -> str:
    """A configuration, and its model where a row has one."""
    models = (row.get(name) for name in ("configuration", *MODEL))
    return ", ".join(as_label(name) for name in models if name)


def read_comparison(these: Row, beyond: Row, place: str = "") -> Finding:
    """What a comparison is to a gate.

    Args:
        these: the row of `deltas` about these evals.
        beyond: that about tasks like these.
        place: the skill and iteration.
    """
    answer = say_answer(these, beyond)
    row, words, _ = answer.claims[0]
    metric, verdict = row["metric"], row["verdict"]
    more = better(metric) == "more"
    edge = row["low"] if more else row["high"]
    missed = None if edge is None else max(0.0, -edge if more else edge)
    amount = difference(missed, metric).lstrip("+")
    says = f"{words}. {row['reason']}"
    if row["unpaired"]:
        says += f" Left out for lack of both sides: {some(map(in_quotes, row['unpaired']))}."
    if verdict == "hurts":
        end, short = REGRESSION, "regression"
    elif verdict == "helps" or (verdict in BEARS and missed is not None):
        end, short = PASSED, f"no regression beyond {amount}" if missed else "no regression"
        noun, sure = "A loss" if more else "An increase", f"({100 * row['level']:.3g} % interval)"
        if missed:
            says += f" {noun} of up to {amount} may be missed; a larger one is ruled out {sure}."
    else:
        end = CANNOT_TELL
        short = verdict if verdict in TOO_FEW else "cannot tell"
        steps = (step for step, _ in answer.next_steps)
        says = " ".join(filter(None, (says, answer.lean, *steps)))
    name = f"{metric_name(metric)} of {_name_side(row)} against {as_label(row['baseline'])}"
    return Finding("regression", end, place, name, short, says, {**row, "missed": missed})


def _hold_limit(
    suite: Suite, values: pl.DataFrame, metric: str, bound: float, sign: str
) -> Iterator[Finding]:
    """The mean of each configuration's values, which is to be at `most` or at `least` the bound."""
    import polars as pl

    own = values.filter(pl.col("configuration").is_in(suite.configurations), **suite.keys)
    value = pl.col("value")
    means = own.group_by("configuration", *MODEL, maintain_order=True).agg(
        mean=value.sort().mean(), n=value.count(), n_runs=pl.len()
    )
    none = {"configuration": some(suite.configurations), "mean": None}
    for row in means.to_dicts() or [none]:
        mean, end, short, says = row["mean"], CANNOT_TELL, "no figure", "No run has it."
        if mean is not None:
            over = mean > bound if sign == "most" else mean < bound
            end = REGRESSION if over and not math.isclose(mean, bound) else PASSED
            short = f"limit {'not ' * end}kept: {in_unit(mean, metric)}"
            says = f"Mean over {row['n']:,} of {count(row['n_runs'], 'run')}."
        name = f"{metric_name(metric)} of {_name_side(row)}, at {sign} {in_unit(bound, metric)}"
        figures = {"metric": metric, "mean": mean, "limit": bound}
        yield Finding("limits", end, suite.place, name, short, says, figures)


def set_beside(ws: Workspace, other: Workspace) -> tuple[Workspace, str]:
    """The workspace with the newest iteration of another as one more, and what that is called.

    Raises:
        ValueError: unless both have runs of one skill.
    """
    import polars as pl

    suites = [each.polars("runs").select(ITERATION[:2]).unique().rows() for each in (ws, other)]
    if [len(suite) for suite in suites] != [1, 1]:
        one = "choose one by ws.select(workspace=…, skill=…)"
        raise ValueError(f"`against` compares the runs of one skill with those of one: {one}.")
    newest = order_iterations(runs_of(other))[-1]
    label = f"{newest} of {other.path or 'the other workspace'}"
    place = {key: pl.lit(name) for key, name in zip(ITERATION, (*suites[0][0], label), strict=True)}
    other = other.select(iteration=newest)
    here = {"eval_id": "id_here", "eval_name": "name_here", "prompt": "prompt_here"}
    both = _list_evals(other).join(_list_evals(ws).rename(here), on="key", how="left")
    other_prompt = pl.col("prompt") != pl.col("prompt_here")
    new_name = pl.format("{} (other prompt)", "eval_name")
    renamed = both.select(
        *EVAL,
        new_id=pl.coalesce("id_here", "eval_id"),
        new_name=pl.when(other_prompt).then(new_name).otherwise("eval_name"),
    )

    def join_theirs(name: str) -> pl.DataFrame:
        frame = ws.polars(name)
        if not {*ITERATION, *EVAL} <= set(frame.columns):
            return frame
        theirs = other.polars(name).join(renamed, EVAL, how="left", nulls_equal=True)
        theirs = theirs.with_columns(eval_id="new_id", eval_name="new_name", **place)
        return pl.concat([frame, theirs.select(frame.columns)])

    return Workspace.from_tables({name: join_theirs(name) for name in TABLES}, ws.path), label


def _list_evals(ws: Workspace) -> pl.DataFrame:
    """The evals that were run: EVAL, `prompt` where known, `key`: the name, of several with id."""
    import polars as pl

    words = pl.col("prompt").str.replace_all(r"\s+", " ").str.strip_chars()
    prompts = ws.polars("evals").select("eval_id", words).unique("eval_id")
    evals = ws.polars("runs").select(EVAL).unique().join(prompts, on="eval_id", how="left")
    alone = pl.col("eval_name").is_unique()
    with_id = pl.format("{}\0{}", *EVAL)
    return evals.with_columns(key=pl.when(alone).then("eval_name").otherwise(with_id))
