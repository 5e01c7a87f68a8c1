"""Harbor: trials with a result.json, however it was renamed, jobs, and bare reward.txt trials."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import decode, read_bytes

from ..base import Faults
from ..parsing import NotJSON, parse
from ..run import GradedExpectation, Grading, Metrics, Timing
from ..sides import UNSTATED, WITH, WITHOUT, is_model, side_in
from .part import (
    Aggregate,
    Part,
    Results,
    Run,
    seconds_between,
    secrets_in,
    side_of,
    total_of,
)

_REWARDS = ("reward.txt", "reward.json")
TRIAL_FILES = frozenset((*_REWARDS, "trial-result.json", "result.json", "failure.json"))
"""One of these lies in the folder of a trial, or in its `verifier`."""
_NUMBER = re.compile(r"(?:trial|run|rep|attempt)[-_]?(\d{1,6})(?:[-_].*)?", re.IGNORECASE)
_SKILLS = re.compile(r"(?<![a-z])skills(?![a-z])", re.IGNORECASE)


def trial_file(
    files: Collection[str], verifier: Collection[str], *, agent: bool, arm: str = ""
) -> str | None:
    """The file with a trial's result, by the names in its folder; None if there is none.

    Args:
        files: the names in the folder.
        verifier: the names in its sub-folder `verifier`.
        agent: whether there is a sub-folder `agent`.
        arm: the name of the folder above that of the trials: in an arm of NVIDIA's
            SkillEvaluator the tool's own files count before those of Harbor.

    >>> trial_file(["config.json", "result.json"], ["reward.txt"], agent=True)
    'result.json'
    >>> trial_file(["timing.json"], ["reward.txt"], agent=False)
    'verifier/reward.txt'
    """
    preferred = ("failure.json", "reward.json") if arm in ("with-skill", "without-skill") else ()
    if own := next((name for name in preferred if name in files), None):
        return own
    rewards = [name for name in _REWARDS if name in files]
    rewards += [f"verifier/{name}" for name in _REWARDS if name in verifier]
    if "trial-result.json" in files:
        return "trial-result.json"
    if "result.json" in files and (rewards or verifier or agent):
        return "result.json"
    return rewards[0] if rewards else None


def recognise(raw: Any) -> bool:
    """A trial, a job, or a reward."""
    if not isinstance(raw, dict):
        return False
    trial = {"task_name", "trial_name"} <= raw.keys() and bool(
        raw.keys() & {"agent_info", "verifier_result", "exception_info"}
    )
    job = "n_total_trials" in raw and isinstance(raw.get("stats"), dict)
    return trial or job or set(raw) == {"bare reward"}


def read(raw: Any, path: str) -> Results:
    """The run of a trial, or what a job states."""
    if "n_total_trials" in raw:
        return _read_job(raw, path)
    return _read_bare(raw["bare reward"], path) if "bare reward" in raw else read_trial(raw, path)


def read_trial(raw: dict[str, Any], path: str) -> Results:
    """The run of a trial, from its result.json."""
    config = raw.get("config")
    whole = Part(raw, secrets=tuple(secrets_in(config)))
    results = Results(faults=whole.faults)
    folder = os.path.dirname(path)
    if trial := whole.text("id"):
        results.key = f"harbor {trial}"
    agent = whole.part("config").part("agent")
    info, used = whole.part("agent_info"), whole.part("agent_result")
    skills = agent.raw.get("skills")
    if isinstance(skills, list) and len(names := [str(skill) for skill in skills]) == 1:
        results.skill = names[0].rstrip("/").rsplit("/", 1)[-1]
    task = whole.text("task_name") or "unnamed"
    known, whole_model = info.part("model_info"), agent.text("model_name")
    named, provider = known.text("name"), known.text("provider")
    run = Run(
        configuration=_find_side(skills, path, whole.faults),
        eval_id=task,
        eval_name=task.rsplit("/", 1)[-1],
        model=named,
        whole_model=whole_model or (f"{provider}/{named}" if provider and named else None),
        harness=info.text("name") or agent.text("name"),
        metrics=Metrics(cost_usd=used.number("cost_usd", 0) or None),
        path=folder,
    )
    took = whole.part("agent_execution")
    start, end = took.text("started_at"), took.text("finished_at")
    begun = whole.text("started_at")
    tokens = [used.whole(name) for name in ("n_input_tokens", "n_output_tokens")]
    run.timing = Timing(
        total_duration_seconds=seconds_between(start, end)
        or seconds_between(begun, whole.text("finished_at")),
        total_tokens=total_of(None, *tokens),
        cache_read_tokens=used.whole("n_cache_tokens"),
        executor_start=begun,
    )
    rewards = whole.part("verifier_result").part("rewards")
    if whole.raw.get("exception_info"):
        run.error = whole.part("exception_info").text("exception_type") or "an exception"
    if rewards.raw or (whole.raw.get("verifier_result") and run.error is None):
        _set_reward(run, rewards, folder)
    results.runs.append(run)
    return results


def _find_side(skills: Any, path: str, faults: Faults) -> str:
    """By the agent's skills if they are stated, else by words of the folders."""
    above = path.replace("\\", "/").split("/")[-4:-1]
    if not isinstance(skills, list):
        named = next((side for name in reversed(above) if (side := side_in(name))), None)
        return named or (WITH if any(map(_SKILLS.search, above[-2:])) else UNSTATED)
    stated, named = WITH if skills else WITHOUT, side_in(above[-1])
    if named not in (None, stated):
        message = f"{len(skills)} skills are stated, the folder says {named}: the statement counts"
        faults.add("warning", "sides-differ", "$.config.agent.skills", message)
    return stated


def _set_reward(run: Run, rewards: Part, folder: str) -> None:
    """The reward is the rate, and no count of checks; further ones are scores."""
    names = [name for name in rewards.raw if rewards.raw[name] is not None]
    main = "reward" if "reward" in names else names[0] if len(names) == 1 else None
    run.grading = Grading(_read_tests(folder, rewards))
    if main is not None:
        run.score, run.rate = rewards.number(main), rewards.rate(main)
    scores = rewards.numbers().items()
    run.scores = {name: (value, None) for name, value in scores if name != main}


def _read_tests(folder: str, of: Part) -> list[GradedExpectation]:
    """The tests of ctrf.json as verdicts, if there is one."""
    names = "verifier/ctrf.json", "ctrf.json"
    found = ((name, read_beside(f"{folder}/{name}")) for name in names)
    name, raw = next((one for one in found if isinstance(one[1], dict)), ("", {}))
    passed = {"passed": True, "failed": False}
    return [
        GradedExpectation(
            text=test.text("name") or "unnamed",
            passed=passed.get(test.text("status") or ""),
            evidence=test.text("message"),
        )
        for test in Part(raw, f"{name} $", of.faults, of.secrets).part("results").parts("tests")
    ]


def read_beside(path: str) -> Any:
    """What a JSON file beside another holds; None if there is none that can be read."""
    try:
        return parse(read_bytes(path), Faults())
    except (OSError, NotJSON):
        return None


def wrap_reward(path: str) -> dict[str, Any]:
    """A reward.txt or reward.json as what `read` takes.

    Raises:
        OSError: it cannot be read.
        ValueError: it holds no reward.
    """
    data = read_bytes(path)
    is_json = path.endswith(".json")
    value = parse(data, Faults()) if is_json else float(decode(data)[0])
    return {"bare reward": value if isinstance(value, dict) else {"reward": value}}


def _read_bare(rewards: Any, path: str) -> Results:
    """A trial of which the folders say everything: `<model>/<task>/<side>/trial-N/reward.txt`."""
    folder = os.path.dirname(path).removesuffix("/verifier")
    whole = Part({"rewards": rewards})
    names = [name for name in Path(folder).parts if name != os.sep][-6:]
    number = task = model = side = None
    for name in reversed(names):
        found = _NUMBER.fullmatch(name)
        if number is None and found:
            number = int(found[1])
        elif side is None and task is None and "__" in name:
            task = name.rsplit("__", 1)[0]
        elif side is None and side_in(name):
            side = side_in(name)
        elif task is None and not found:
            task = name
        elif model is None and is_model(name):
            model = name
    run = Run(
        configuration=side or UNSTATED,
        eval_id=task or "unnamed",
        run_number=number,
        model=model,
        path=folder,
    )
    usage = Part(read_beside(f"{folder}/usage.json"))
    timing = Part(read_beside(f"{folder}/timing.json"))
    run.timing = Timing(
        total_duration_seconds=timing.number("agent_execution", 0) or timing.number("total", 0),
        total_tokens=usage.whole("total_tokens"),
        cache_read_tokens=usage.whole("cache_read_tokens"),
    )
    _set_reward(run, whole.part("rewards"), folder)
    return Results([run], faults=whole.faults)


def _read_job(raw: dict[str, Any], path: str) -> Results:
    """The mean that a job states, if it is of one agent, and so of one side."""
    results = Results(key=f"harbor job {raw['id']}" if raw.get("id") else None)
    whole = Part(raw, faults=results.faults)
    evals = whole.part("stats").named("evals")
    config = Part(read_beside(f"{os.path.dirname(path)}/config.json")).parts("agents")
    if len(evals) != 1:
        message = f"a job of {len(evals)} agents or data sets: its means belong to no single side"
        results.faults.add("info", "not-used", "$.stats.evals", message)
        return results
    skills = config[0].raw.get("skills") if len(config) == 1 else None
    side = (WITH if skills else WITHOUT) if isinstance(skills, list) else side_of(path)
    for metric in next(iter(evals.values())).parts("metrics")[:1]:
        if (value := metric.rate("mean")) is not None:
            results.aggregates[side or UNSTATED] = Aggregate(pass_rate=value)
    return results
