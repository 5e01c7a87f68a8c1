"""No trace of the skill reaches a baseline, none of the grading reaches an executor.

Everything that could be told bears a canary. What was told stands in the stand-in's log of a
whole job, from its plan to its grades; and an agent that searches its sandbox tells what lies
there.
"""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.models import Connection
from skill_eval_nb.running import Plan, plan_runs
from skill_eval_nb.running.executors.harness import session_id
from tests import bubblewrap
from tests.corpus.build import lay
from tests.models.scripted import Scripted
from tests.running.agents import scripted_agent
from tests.stand_in import RiggedStandIn, logged, serve

pytestmark = bubblewrap.needed


def canaried(*parts: str) -> dict[str, str]:
    return {part: f"canary-{part}-k7" for part in parts}


SKILL = canaried("name", "description", "body", "file")
JUDGED = canaried("expectation", "expected", "dimension", "rubric", "anchor")
CHECKED = canaried("check", "pattern")
NAMED = canaried("title", "suite", "workspace")
"""Names of things that no model needs to know: of the eval, of the suite, of folders."""

SIDES = ("with_skill", "without_skill")

FILES = {
    "SKILL.md": f"""---
name: {SKILL["name"]}
description: "{SKILL["description"]}: turns commits into release notes for a version."
---

# Release notes

Write them, and say {SKILL["body"]}. More is in references/more.md.
""",
    "references/more.md": SKILL["file"],
    "evals/files/log.txt": "a1 feat(search): find words with typing mistakes (#3)\n",
}
DIMENSION = {"name": JUDGED["dimension"], "description": JUDGED["rubric"], "weight": 2.0}
DIMENSION |= {"scoring": {"1": "none", "3": "some", "5": JUDGED["anchor"]}}
EVAL = {
    "id": 7,
    "name": NAMED["title"],
    "prompt": "Write the release notes of version 2.0 from the commits in evals/files/log.txt.",
    "files": ["evals/files/log.txt"],
    "expected_output": f"Notes of which one says {JUDGED['expected']}",
    "expectations": [f"The notes name {JUDGED['expectation']}", "The notes are short"],
    "structural_expectations": [
        {"type": "file_exists", "pattern": "*.md", "description": CHECKED["check"]},
        {"type": "file_not_contains", "pattern": "*", "match": CHECKED["pattern"]},
    ],
    "quality_rubric": {"dimensions": [DIMENSION, {"name": "brevity", "weight": 1.0}]},
}


def planned(root: Path, executor: str, **options: Any) -> Plan:
    """A plan of one run a side, of a skill with a canary in each part and in all beside it."""
    skill = lay(root / SKILL["name"], FILES)
    lay(skill, {"evals/evals.json": {"skill_name": NAMED["suite"], "evals": [EVAL]}})
    return plan_runs(
        skill,
        workspace=root / NAMED["workspace"],
        executor=executor,
        executor_model="stand-in",
        judge_model="stand-in-judge",
        runs=1,
        **options,
    )


Lines = list[dict[str, Any]]
Told = tuple[Plan, dict[tuple[str, str], Lines]]


@pytest.fixture(scope="module")
def told(agent, tmp_path_factory) -> Told:
    """The plan of a whole job, and what it told the models: lines of their log by role and side."""
    root = tmp_path_factory.mktemp("root")
    log = root / "log.jsonl"
    # It writes the same with the skill and without.
    model = RiggedStandIn(base=4.5, effect=0.0, eval_sd=0.0, run_sd=0.0, log=str(log))
    with serve(model) as address:
        plan = planned(root, agent, connection=Connection(address))
        progress = plan.start().wait(300)
    assert progress.status == "done", progress
    side_of = {
        session: cell.configuration
        for cell in plan.cells
        for session in (cell.key, f"{cell.key}-1", session_id(cell.key))
    }
    lines: dict[tuple[str, str], Lines] = {}
    for line in logged(log):
        lines.setdefault((line["role"], side_of[line["session"]]), []).append(line)
    return plan, lines


def sent(lines: list[dict[str, Any]]) -> str:
    """All that was sent, headers and address included."""
    return json.dumps([[line["path"], line["headers"], line["body"]] for line in lines]).lower()


def canaries(text: str) -> set[str]:
    return set(re.findall("canary-[a-z]+-k7", text.lower()))


@pytest.mark.slow
def test_a_baseline_is_told_nothing_of_the_skill_and_no_executor_of_the_grading(told):
    _, lines = told
    assert set(lines) == set(product(("executor", "judge"), SIDES))  # none is overlooked
    with_skill, without = (lines["executor", side] for side in SIDES)
    assert min(len(with_skill), len(without)) >= 3
    assert canaries(sent(without)) == set()
    opened = {SKILL[part] for part in ("name", "description", "body")}
    assert canaries(sent(with_skill)) == opened
    assert canaries(sent(with_skill[:1])) == opened - {SKILL["body"]}  # until it is opened
    every = sent([line for some in lines.values() for line in some])
    assert not re.search("with.?skill|without.?skill|baseline", every)


def test_both_sides_have_the_same_tools_and_limits_and_nearly_the_same_system_prompt(told):
    one, other = (told[1]["executor", side][0]["body"] for side in SIDES)
    for name in ("max_tokens", "thinking"):
        assert one.get(name) == other.get(name)
    names = [[tool["name"] for tool in body["tools"]] for body in (one, other)]
    assert names[0] == names[1]
    said, unsaid = (
        set(json.dumps([body["system"], body["tools"]], indent=0).replace("\\n", "\n").splitlines())
        for body in (one, other)
    )
    assert len(unsaid - said) <= 1  # that there is none
    assert 1 <= len(said - unsaid) <= 2


def test_the_judge_is_told_what_it_judges_by_and_of_equal_work_the_same(told):
    """But for ids, and for the order in which it is asked, which are drawn from them."""
    plan, lines = told
    asked = [lines["judge", side] for side in SIDES]
    for one in asked:
        assert len(one) == 1
        assert canaries(sent(one)) == set(JUDGED.values())
    one, other = (_without_ids(some[0]["body"]) for some in asked)
    assert one == other
    assert "(#3)" in json.dumps(one)
    for cell in plan.cells:  # the canaries that no model was told were there to be told
        found = (plan.workspace / cell.folder / "structural.json").read_text()
        assert set(CHECKED.values()) <= canaries(found)
        assert NAMED["title"] in cell.folder
    assert NAMED["suite"] in plan.suite.path.read_text()


def _without_ids(request: dict[str, Any]) -> dict[str, Any]:
    """A request without its nonce and its run's id, with what it asks in the order of the text."""
    assert set(request.pop("metadata")) == {"user_id"}
    text = json.dumps(request)
    (nonce,) = set(re.findall(r'nonce=\\"(\w+)\\"', text))
    request = json.loads(text.replace(nonce, "NONCE"))
    asked = request["messages"][0]["content"].pop()["text"]
    return {**request, "asked": sorted(re.sub(r"\[E\d\]", "[E]", asked).splitlines())}


SEARCH = """
here=$(pwd)
grep -rohiaE 'cana[r]y-[a-z]+-k7' $here /tmp /home /root /skills /etc /mnt /media /opt \\
  /run /srv /var 2>/dev/null | sort -u
find / -xdev -iname '*cana[r]y-*-k7*' 2>/dev/null
find $here /tmp -iname '*cana[r]y-*-k7*' 2>/dev/null
env
{ find /proc -type l -printf '%l\\n'; timeout 60 grep -rhaD skip '' /proc \\
  --exclude={pagemap,kmsg,kallsyms,kcore,mem,'kpage*',trace_pipe}; } 2>/dev/null | tr '\\0' '\\n' |
  grep -oaiE 'cana[r]y-[a-z]+-k7|[.]staging|skill[_-]eval|iteration[-]' | sort -u
grep -ao ' /box ' /proc/self/mountinfo | head -1
echo searched
"""


@pytest.fixture(scope="module")
def searched(agent, tmp_path_factory) -> dict[str, str]:
    """What an agent finds that searches wherever something could lie, by side."""
    root = tmp_path_factory.mktemp("root")
    with scripted_agent({"release notes": [SEARCH]}) as server:
        plan = planned(root, agent, connection=server.connection, judgings=0)
        assert plan.start().wait(300).status == "done"
        return {side: _found(server, plan, side) for side in SIDES}


def _found(server: Scripted, plan: Plan, side: str) -> str:
    (cell,) = (one for one in plan.cells if one.configuration == side)
    ids = (cell.key, session_id(cell.key))
    asked = [seen.body.decode() for seen in server.seen]
    last = [json.loads(body) for body in asked if any(one in body for one in ids)][-1]
    said = [one["content"] for one in last["messages"] if isinstance(one["content"], list)]
    (result,) = (block for one in said for block in one if block["type"] == "tool_result")
    text = json.dumps(result["content"])
    assert " /box " in text
    assert "searched" in text
    return text


def test_a_baseline_finds_no_trace_of_the_skill_and_nobody_any_of_the_evals(searched):
    """Nor does anything tell a side, or where on disk its folders lie: no process, no path."""
    assert canaries(searched["without_skill"]) == set()
    assert canaries(searched["with_skill"]) == set(SKILL.values())
    for found in searched.values():
        assert not re.search("with.?skill|without.?skill|eval-7", found.lower())
        assert not re.search("skill.eval|[.]staging|iteration-", found.lower())
