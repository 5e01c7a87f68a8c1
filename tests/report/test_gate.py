"""The gate: its end for all that a verdict may be, what it says, and how CI calls it."""

from __future__ import annotations

import json
import os
import subprocess
from itertools import product
from xml.etree import ElementTree as ET

import pytest
import yaml
from scipy import stats as oracle

import skill_eval_nb as sen
from tests.checkout import ROOT
from tests.cli import calls
from tests.report.made import HOSTILE, SIDES, run, workspace

NOISE = (0.0, 0.25, -0.25)
HIGH, LOW = 0.75, 0.25


def rows(own, other, evals=8, k=3, noise=NOISE, **more):
    """Runs around a rate on either side; a pair in `more` is of the two sides."""
    found = []
    for (at, side), eval_, number in product(enumerate(SIDES), range(evals), range(k)):
        rate = (own, other)[at] + noise[(number + eval_) % 3]
        pairs = {key: one[at] if isinstance(one, tuple) else one for key, one in more.items()}
        found.append(run(str(eval_), side, number + 1, rate, **pairs))
    return found


def changed(these, **names):
    """Rows under other names, which may be made of their own."""
    return [row | {key: name.format(**row) for key, name in names.items()} for row in these]


def of_side(side, these):
    return [row for row in these if row["configuration"] == side]


EVEN = rows(HIGH, HIGH)
ONE_SIDE, OTHER_SIDE = (of_side(side, EVEN) for side in SIDES)
ERRORED = [
    row | {"pass_rate": None, "status": "errored"}
    if (row["configuration"], row["run_number"]) == (SIDES[0], 2)
    else row
    for row in rows(HIGH, 0.5)
]
LACKING = [row for row in ONE_SIDE if row["eval_id"] != "3"] + OTHER_SIDE
OF_TWO = [row for name in "ab" for row in rows(LOW, HIGH, 3, 1, executor_model=name)]
TOKENS = {"metric": "tokens"}
ALIKE = [  # unclear, and without an interval
    run(str(at), side, number, rate)
    for at, both in enumerate([((0, 0), (1, 1)), ((0,), (1, 1)), ((1,), (0,)), ((0, 0), (1,))])
    for side, own in zip(SIDES, both, strict=True)
    for number, rate in enumerate(own, 1)
]
NAMED = [
    row | {"skill": HOSTILE[2]}
    for at, name in enumerate(HOSTILE)
    for row in changed(ONE_SIDE, configuration=name, path=f"{at}/{{path}}")
] + rows(LOW, HIGH, skill=HOSTILE[2])
CASES = {
    "a loss": (rows(LOW, HIGH), {}, 1, "regression", "hurts"),
    "a gain": (rows(HIGH, LOW), {}, 0, "no regression", "helps"),
    "as good, with noise": (EVEN, {}, 0, "no regression beyond", "may be missed"),
    "four runs a side": (rows(0, 1, 4, 1, (0, 0, 0)), {}, 3, "too few runs", "leans down: −100 pp"),
    "of two models": (OF_TWO, {}, 3, "too few runs", "Next: "),
    "an eval that one side lacks": (
        LACKING,
        {},
        0,
        "no regression beyond",
        "lack of both sides: ‘eval 3’",
    ),
    "every run alike": (rows(HIGH, HIGH, noise=(0, 0, 0)), {}, 3, "too few runs", "Next: "),
    "one run of many evals": (rows(LOW, HIGH, 8, 1), {}, 1, "regression", "tasks like these"),
    "two judges": (rows(LOW, HIGH, judge_model=("a", "b")), {}, 3, "cannot tell", "not compara"),
    "errors decide": (ERRORED, {}, 3, "cannot tell", "Without the runs"),
    "the stand-in": (rows(LOW, HIGH, executor_model="stand-in"), {}, 3, "cannot tell", "stand-in"),
    "no other side": (ONE_SIDE, {}, 3, "nothing to compare", "no baseline among"),
    "only the baseline": (OTHER_SIDE, {}, 3, "nothing to compare", "no runs other than"),
    "nothing": ([], {}, 3, "nothing to compare", "no run"),
    "more tokens": (rows(HIGH, HIGH, tokens=(9, 5)), TOKENS, 1, "regression", "more"),
    "as many tokens, with noise": (
        [row | {"tokens": int(100 * row["pass_rate"])} for row in EVEN],
        TOKENS,
        0,
        "no regression beyond",
        "An increase of up to",
    ),
    "unclear, without an interval": (ALIKE, {}, 3, "cannot tell", "came out the same"),
    "a named baseline, and the other one is no loss": (
        rows(HIGH, LOW) + changed(ONE_SIDE, configuration="old_skill"),
        {"baseline": "old_skill"},
        0,
        "no regression beyond",
        "ruled out",
    ),
    "names that mean something elsewhere": (
        NAMED,
        {"metric": "pass_rate", "baseline": SIDES[1], "most": {"tokens": 9}},
        1,
        "regression",
        "hurts",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_gate_ends_with_and_every_form_says_it(name):
    runs, how, end, short, says = CASES[name]
    found = sen.gate(workspace(runs=runs), **how)
    worst = max(found.findings, key=lambda finding: (0, 3, 1).index(finding.end))
    assert (found.end, worst.end, worst.short[: len(short)]) == (end, end, short)
    assert says in worst.says
    assert json.loads(json.dumps(found._data()))["end"] == end
    svg, badge = "{http://www.w3.org/2000/svg}", ET.fromstring(found.badge())
    assert [text.text for text in badge.iter(f"{svg}text")] == ["skill evals", worst.short]
    assert badge.findtext(f"{svg}title") == f"skill evals: {worst.short}"
    assert found.markdown().startswith(f"# Gate: {worst.short}\n")
    assert "<script" not in found.markdown() + found._repr_html_()
    assert all(finding.short in repr(found) for finding in found.findings)
    suite = ET.fromstring(found.junit())
    ends = [finding.end for finding in found.findings]
    kinds = {0: "system-out", 1: "failure", 3: "skipped"}
    assert [case[0].tag for case in suite.findall("testcase")] == [kinds[one] for one in ends]
    counted = [suite.get(name) for name in ("tests", "failures", "skipped")]
    assert counted == [str(len(ends)), str(ends.count(1)), str(ends.count(3))]


def test_what_may_be_missed_is_what_welch_leaves_open():
    own, other = (0.5, 0.75, 0.25, 1.0, 0.75, 0.5), (0.75, 0.5, 1.0, 0.25, 0.75, 1.0)
    both = zip(SIDES, (own, other), strict=True)
    runs = [run("1", side, n, rate) for side, each in both for n, rate in enumerate(each)]
    found = sen.gate(workspace(runs=runs)).findings[0]
    low, high = oracle.ttest_ind(own, other, equal_var=False).confidence_interval(0.95)
    assert low < 0 < high
    assert found.figures["missed"] == pytest.approx(-low)
    assert f"beyond {-100 * low:.1f} pp" in found.short


def test_many_comparisons_share_alpha_and_an_older_iteration_is_not_looked_at():
    many = [
        row
        for name, by in zip("abcd", (0.1, 0.25, 0.2, 0.15), strict=True)
        for row in rows(HIGH, HIGH, noise=(0, by, -by), executor_model=name)
    ]
    older = rows(LOW, HIGH, iteration="iteration-0")
    two = [row for row in many if row["executor_model"] in "ab"]
    for runs, level in ((many, 0.975), (two, 0.95), (EVEN + older, 0.95)):
        found = sen.gate(workspace(runs=runs))
        assert found.end == 0
        assert {finding.figures["level"] for finding in found.findings} == {level}
        missed = [finding.figures["missed"] for finding in found.findings]
        assert found.worst.figures["missed"] == max(missed)


COSTLY = workspace(runs=rows(HIGH, HIGH, cost_usd=(0.1 * 3, 9.0)))


@pytest.mark.parametrize(
    ("limits", "fail_on", "end", "short"),
    [
        ({"most": {"cost_usd": 0.3}}, None, 0, "limit kept: $0.3000"),
        ({"most": {"cost_usd": 0.2999}}, None, 1, "limit not kept: $0.3000"),
        ({"most": {"cost_usd": 0.2}}, ["regression"], 0, "limit not kept: $0.3000"),
        ({"most": {"cost_usd": 0.2}}, [], 0, "limit not kept: $0.3000"),
        ({"least": {"pass_rate": 0.8}}, None, 1, "limit not kept: 75%"),
        ({"most": {"tokens": 5}}, ["cannot-tell"], 1, "no figure"),
    ],
)
def test_limits_are_held_against_the_mean_of_what_is_looked_at(limits, fail_on, end, short):
    found = sen.gate(COSTLY, **limits, fail_on=fail_on)
    assert (found.end, [finding.short for finding in found.findings[1:]]) == (end, [short])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"metric": "speed"}, "speed"),
        ({"metric": "output_chars"}, "has no better direction"),
        ({"versus": "iteration-7"}, "iteration-7"),
        ({"baseline": "nobody"}, "nobody"),
        ({"most": {"speed": 1}}, "speed"),
        ({"most": {"tokens": float("nan")}}, "finite"),
        ({"fail_on": ["always"]}, "always"),
        ({"versus": "iteration-1", "against": COSTLY}, "not both"),
        ({"against": workspace(runs=[])}, "one skill"),
    ],
)
def test_what_is_not_there_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        sen.gate(COSTLY, **how)


NEW, OLD = rows(LOW, 0.5), rows(HIGH, 0.5)
PROMPTS = [
    {"workspace": "tdd-workspace", "skill": "tdd", "eval_id": str(n), "prompt": f"Do {n}."}
    for n in range(8)
]
OTHER_ID = {"eval_id": "e{eval_id}"}
ELSEWHERE = {"workspace": "main", "skill": "tdd-main"}


def test_a_skill_that_lacks_what_others_are_held_against_is_said_to():
    ws = workspace(runs=NEW + changed(OLD, iteration="iteration-0") + changed(ONE_SIDE, skill="y"))
    for how in ({"versus": "iteration-0"}, {"baseline": "without_skill"}):
        found = sen.gate(ws, **how)
        said = [(finding.end, finding.short) for finding in found.findings]
        assert (found.end, said) == (1, [(1, "regression"), (3, "nothing to compare")])
        assert "no run" in found.findings[1].says


@pytest.mark.parametrize(
    ("names", "prompts", "paired", "end"),
    [
        ({}, PROMPTS, 8, 1),
        (ELSEWHERE, changed(PROMPTS, **ELSEWHERE), 8, 1),
        (OTHER_ID, changed(PROMPTS, **OTHER_ID), 8, 1),
        (OTHER_ID, [], 8, 1),
        (OTHER_ID | {"eval_name": "task {eval_id}"}, [], 0, 3),
        ({"eval_name": "task"}, [], 0, 3),
        ({}, changed(PROMPTS, prompt="Now {prompt}"), 0, 3),
    ],
)
def test_another_workspace_is_as_another_iteration(names, prompts, paired, end):
    ws = workspace(runs=NEW, evals=PROMPTS)
    other = workspace(runs=changed(OLD, **names), evals=prompts)
    both = workspace(runs=NEW + changed(OLD, iteration="iteration-0"), evals=PROMPTS)
    found, same = sen.gate(ws, against=other), sen.gate(both, versus="iteration-0")
    (finding,) = found.findings  # the baseline is not looked at
    assert (found.end, finding.figures["n_evals"]) == (end, paired)
    if paired:
        of = ("estimate", "low", "high", "p", "verdict", "missed")
        assert [finding.figures[one] for one in of] == [same.findings[0].figures[one] for one in of]
        assert "Anything else that changed" in finding.says


TDD, ONCE = ROOT / "data" / "tdd-workspace", ROOT / "data" / "iterations-workspace"
CALLS = [
    ((TDD,), 0, "no regression"),
    ((TDD, "--against", TDD), 0, "no regression beyond"),
    ((TDD, "--least", "pass_rate=0.99"), 1, "limit not kept"),
    ((TDD, "--metric", "tokens", "--fail-on", "limits"), 0, "regression"),
    ((ONCE,), 3, "too few runs"),
    ((TDD, "--most", "cost_usd=much"), 2, ""),
    ((TDD, "--fail-on", "always"), 2, ""),
    ((TDD, "--against", TDD / "nowhere"), 2, ""),
]


@pytest.mark.parametrize(("arguments", "end", "short"), CALLS)
def test_ci_has_the_end_as_exit_code_and_the_files(arguments, end, short, tmp_path, monkeypatch):
    """And nothing is written into the workspace."""
    there = {path: path.stat().st_mtime_ns for path in (ROOT / "data").rglob("*")}
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    forms = ("--junit", tmp_path / "out" / "j.xml", "--badge", tmp_path / "b.svg")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    done = calls.run("gate", *arguments, *forms, "--json")
    assert done.exit_code == end, done.stderr
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "data").rglob("*")} == there
    if end == 2:
        assert (done.stdout, summary.read_text()) == ("", "before\n")
        return
    found = json.loads(done.stdout)
    assert found["end"] == end
    assert any(finding["short"].startswith(short) for finding in found["findings"])
    suite = ET.parse(tmp_path / "out" / "j.xml").getroot()
    assert (suite.get("failures") != "0") == (end == 1)
    assert ET.parse(tmp_path / "b.svg").getroot().get("role") == "img"
    assert summary.read_text().startswith("before\n# ")


ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


@pytest.mark.parametrize(
    ("path", "options", "code", "end"),
    [
        (TDD, "", 0, "0"),
        (TDD, "--metric tokens --markdown more.md", 1, "1"),
        (ONCE, "", 0, "3"),
        (TDD, "--nonsense $(touch made)", 2, "2"),
    ],
)
def test_the_action_calls_the_shell_as_it_is(path, options, code, end, tmp_path):
    """Its last step, in bash as a runner starts it, with its inputs in the environment."""
    step = ACTION["runs"]["steps"][-1]
    given = {"inputs.path": str(path), "inputs.options": options}
    env = {name: given[value[4:-3]] for name, value in step["env"].items()}
    out, summary = tmp_path / "output", tmp_path / "summary"
    env |= {"GITHUB_OUTPUT": str(out), "GITHUB_STEP_SUMMARY": str(summary)}
    env["PATH"] = os.pathsep.join([str(calls.PROGRAM.parent), os.environ["PATH"]])
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(bash, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, out.read_text()) == (code, f"end={end}\n"), done.stderr
    assert ("::warning::" in done.stdout) == (end == "3")
    assert summary.exists() == (end != "2")
    assert not (tmp_path / "made").exists()
    assert ACTION["outputs"]["end"]["value"] == f"${{{{ steps.{step['id']}.outputs.end }}}}"
