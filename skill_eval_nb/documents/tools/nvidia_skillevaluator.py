"""NVIDIA's SkillEvaluator: its tree of results, and the card BENCHMARK.md that it publishes.

It is not the dialect `skill-evaluator`, which only shares its name.
"""

from __future__ import annotations

import os
import re
from typing import Any

from ..run import Grading, Timing
from ..sides import SIDES, UNSTATED, WITH, WITHOUT, side_in
from .harbor import read_beside, read_trial
from .part import Aggregate, Part, Results, Run

_RESTATE = frozenset({"passed_cases_delta", "score_definition", "custom_scores"})
TRIALS = re.compile(
    r".*?(?P<below>(?:evals/results/)?(?P<run>[^/]+)/[^/]+/(?P<arm>with|without)-skill"
    r"/trials/[^/]+)/[^/]+"
)
"""The path of a trial's file: below the workspace lie the run, the agent, the arm and the trial."""
_ABOUT = {"entry_id", "metric_set", "metric_set_version", "overall", "has_skill"}
"""What stands as a number or a text in a reward, and is no metric."""


def recognise(raw: Any) -> bool:
    """The reward or the failure of a trial, what a run states, or a card."""
    if not isinstance(raw, dict):
        return False
    reward = raw.get("bare reward")
    return (
        (isinstance(reward, dict) and {"entry_id", "agent", "trial_id"} <= reward.keys())
        or {"status", "trial", "agent", "variant"} <= raw.keys()
        or ({"agents", "attempt_policy"} <= raw.keys() and isinstance(raw["agents"], dict))
        or isinstance(raw.get("card"), str)
        or _is_repeat(raw)
    )


def _is_repeat(raw: dict[str, Any]) -> bool:
    """Whether a file of the tree says only what the run's result.json says as well."""
    if "agents" in raw or raw.keys().isdisjoint((*_RESTATE, "metrics", "skill_execution")):
        return False
    metrics = raw["metrics"] if isinstance(raw.get("metrics"), dict) else raw
    parts = [part for part in metrics.values() if isinstance(part, dict)]
    parts += [agent for part in parts for agent in part.values() if isinstance(agent, dict)]
    lifts = any(part.keys() >= {*SIDES} and part.keys() & {"direction", "lift"} for part in parts)
    return lifts or not _RESTATE.isdisjoint(raw)


def read(raw: Any, path: str) -> Results:
    """The run of a trial; or what a run, or a card, states of each agent."""
    if "card" in raw:
        return _read_card(raw["card"])
    if "attempt_policy" in raw:
        return _read_summary(raw, path)
    return Results() if _is_repeat(raw) else _read_trial(Part(raw.get("bare reward", raw)), path)


def _read_trial(whole: Part, path: str) -> Results:
    """A trial: its overall score is the rate, its metrics are dimensions.

    Time, tokens and model are those of Harbor's own file beside it, which ran the trial.
    """
    folder = os.path.dirname(path)
    trial = read_beside(f"{folder}/result.json")
    harbor = read_trial(trial, f"{folder}/result.json") if isinstance(trial, dict) else Results()
    run = harbor.runs[0] if harbor.runs else Run(timing=Timing())
    results = Results([run], faults=whole.faults)
    where = TRIALS.fullmatch(path.replace("\\", "/"))
    if where:
        results.iteration, results.below = where["run"], where["below"]
    arm = where["arm"] if where else side_in(whole.text("variant"))
    name = whole.text("entry_id") or _case_of(whole.text("trial", "task_name") or folder)
    run.eval_id = run.eval_name = name
    run.configuration = side_in(arm) or arm or UNSTATED
    run.model, run.harness = whole.text("model") or run.model, whole.text("agent") or run.harness
    run.path, run.grading, run.rate, run.score = folder, None, None, None
    reason = _failure_of(whole)
    step = whole.text("trial_id") not in (None, os.path.basename(folder))
    if "status" in whole.raw and "evaluation_status" not in whole.raw:
        run.error = reason or "it was not scored"
    elif reason or step:
        run.incomplete = reason or f"it is a step of the trial {whole.text('trial_id')}"
    else:
        run.grading, run.scores = Grading([]), _scores_of(whole)
        run.score, run.rate = whole.number("overall"), whole.rate("overall")
        if run.metrics is not None:
            run.metrics.skill_used = whole.flag("skill_invoked")
        run.error = whole.text("error")
    return results


def _case_of(trial: str) -> str:
    """The case that a trial's name begins with.

    >>> _case_of("export-csv_attempt002__Ab3x")
    'export-csv'
    """
    return re.sub(r"[-_]attempt\d+$", "", os.path.basename(trial).split("__", 1)[0])


def _failure_of(whole: Part) -> str | None:
    """Why there is no score: what the judge, or the trial, ended in."""
    error, errors = whole.raw.get("error"), whole.raw.get("evaluation_errors")
    if str(whole.text("evaluation_status")).lower() in ("failed", "error"):
        said = errors.values() if isinstance(errors, dict) else errors
        reasons = [str(reason) for reason in said] if said and not isinstance(said, str) else [said]
        return f"the judge failed: {'; '.join(filter(None, map(str, reasons)))}"
    if isinstance(error, dict):
        return whole.part("error").text("message", "type")
    return None


def _scores_of(whole: Part) -> dict[str, tuple[float, str | None]]:
    found: dict[str, tuple[float, str | None]] = {}
    metrics = {**whole.part("metrics").raw, **whole.part("custom_metrics").raw, **whole.raw}
    for name in sorted(metrics.keys() - _ABOUT):
        value = metrics[name].get("score") if isinstance(metrics[name], dict) else metrics[name]
        if type(value) in (int, float):
            found[name] = value, None
    return found


def _read_summary(raw: dict[str, Any], path: str) -> Results:
    """What the result.json of a run states of its agents."""
    whole = Part(raw)
    results = Results(skill=whole.text("skill_name"), faults=whole.faults)
    folder = os.path.dirname(path.replace("\\", "/"))
    results.iteration = os.path.basename(folder)
    within = re.search(r"(?:evals/results/)?[^/]+$", folder)
    results.below = within[0] if within else ""
    agents = whole.named("agents")
    for agent, part in agents.items():
        overall = part.part("lift").part("overall")
        found = ((side, overall.number(side)) for side in (WITH, WITHOUT, "delta"))
        stated = {side: {"overall": value} for side, value in found if value is not None}
        _add_stated(results, stated, agent if len(agents) > 1 else None)
    return results


def _add_stated(results: Results, stated: dict[str, dict[str, float]], agent: str | None) -> None:
    """Add what is stated of an agent; of one of several each side is called after it, too."""
    for side, figures in stated.items():
        name = side if agent is None else f"{side} ({agent})"
        others = {measure: value for measure, value in figures.items() if measure != "overall"}
        if figures:
            results.aggregates[name] = Aggregate(pass_rate=figures.get("overall"), others=others)


_TABLE = re.compile(r"^\|.*Baseline\s*→\s*Skill.*\n(?:\|.*\n?)+", re.MULTILINE)
_CELL = re.compile(r"(?:(?P<without>[\d.]+)%\s*→\s*)?(?P<with>[\d.]+)%")


def open_card(text: str) -> dict[str, str] | None:
    """What `read` takes, where a text is a card: it has a table from the baseline to the skill."""
    return {"card": text} if _TABLE.search(text) else None


def _read_card(text: str) -> Results:
    """The table of a card: what it states of each agent, with and without the skill.

    A score without a baseline beside it has no difference; how many tasks and attempts there were
    stands with the skill's side.
    """
    skill = re.search(r"^- Skill: `([^`]+)`", text, re.MULTILINE)
    results = Results(skill=skill[1] if skill else None, below="")
    table = _TABLE.search(text)
    lines = table[0].splitlines() if table else []
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    counts = {
        name: float(found[1])
        for name, what in (("tasks", r"Tasks: (\d+)"), ("attempts", r"Attempts per task: (\d+)"))
        if (found := re.search(rf"^- {what}", text, re.MULTILINE))
    }
    for at, title in enumerate(head[1:], 1):
        stated: dict[str, dict[str, float]] = {WITH: {**counts}, WITHOUT: {}, "delta": {}}
        for measure, cell in ((row[0], _CELL.match(row[at])) for row in rows if at < len(row)):
            shares = cell.groupdict() if cell else {}
            own = {
                side: float(shares[name]) / 100
                for side, name in ((WITH, "with"), (WITHOUT, "without"))
                if shares.get(name)
            }
            own |= {"delta": own[WITH] - own[WITHOUT]} if len(own) > 1 else {}
            for side, value in own.items():
                stated[side][measure.lower()] = round(value, 6)
        _add_stated(results, stated, title.split(" (")[0] if len(head) > 2 else None)
    return results
