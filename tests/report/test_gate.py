"""The gate: its end for all that a verdict may be, what it says, and how CI calls it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import product
from xml.etree import ElementTree as ET

import pytest
import yaml
from scipy import stats as oracle

import skill_eval_nb as sen
from tests.checkout import ROOT
from tests.cli import calls
from tests.report.made import HOSTILE, check, run, workspace

SIDES = ("with_skill", "without_skill")
NOISE = (0.0, 0.25, -0.25)
HIGH, LOW = 0.75, 0.25


def rows(own, other, evals=8, k=3, noise=NOISE, **more):
    """Runs around a rate on either side; a pair in `more` is of the two sides."""
    found = []
    for (at, side), eval_, number in product(enumerate(SIDES), range(evals), range(k)):
        rate = (own, other)[at]
        rate = None if rate is None else rate + noise[(number + eval_) % 3]
        pairs = {
            name: value[at] if isinstance(value, tuple) else value for name, value in more.items()
        }
        found.append(run(str(eval_), side, number + 1, rate, **pairs))
    return found


ONE_SIDE = [row for row in rows(HIGH, HIGH) if row["configuration"] == "with_skill"]
ERRORED = [
    row | ({"pass_rate": None, "status": "errored"} if errs else {})
    for row in rows(HIGH, 0.5)
    for errs in [row["configuration"] == "with_skill" and row["run_number"] == 2]
]
CASES = {
    "a loss": (rows(LOW, HIGH), {}, 1, "regression", "hurts"),
    "a gain": (rows(HIGH, LOW), {}, 0, "no regression", "helps"),
    "as good, with noise": (rows(HIGH, HIGH), {}, 0, "no regression beyond", "may be missed"),
    "four runs a side": (rows(0, 1, 4, 1, (0, 0, 0)), {}, 3, "too few runs", "leans down: −100 pp"),
    "three runs a side": (rows(LOW, HIGH, 3, 1), {}, 3, "too few runs", "Next: "),
    "of two models": (
        [row for name in "ab" for row in rows(LOW, HIGH, 3, 1, executor_model=name)],
        {},
        3,
        "too few runs",
        "Next: ",
    ),
    "an eval that one side lacks": (
        [
            row
            for row in rows(HIGH, HIGH)
            if (row["eval_id"], row["configuration"]) != ("3", SIDES[0])
        ],
        {},
        0,
        "no regression beyond",
        "left out: ‘eval 3’",
    ),
    "every run alike": (rows(HIGH, HIGH, noise=(0, 0, 0)), {}, 3, "too few runs", "Next: "),
    "one run of many evals": (rows(LOW, HIGH, 8, 1), {}, 1, "regression", "tasks like these"),
    "two judges": (rows(LOW, HIGH, judge_model=("a", "b")), {}, 3, "cannot tell", "two yardst"),
    "errors decide": (ERRORED, {}, 3, "cannot tell", "Errors decide"),
    "the stand-in": (rows(LOW, HIGH, executor_model="stand-in"), {}, 3, "cannot tell", "stand-in"),
    "no other side": (ONE_SIDE, {}, 3, "nothing to compare", "no baseline among"),
    "only the baseline": (
        [row for row in rows(HIGH, HIGH) if row["configuration"] == "without_skill"],
        {},
        3,
        "nothing to compare",
        "no runs other than",
    ),
    "nothing": ([], {}, 3, "nothing to compare", "no run"),
    "more tokens": (rows(HIGH, HIGH, tokens=(9, 5)), {"metric": "tokens"}, 1, "regression", "more"),
    "fewer": (rows(HIGH, HIGH, tokens=(5, 9)), {"metric": "tokens"}, 0, "no regression", "fewer"),
    "a named baseline, and the other one is no loss": (
        rows(HIGH, LOW) + [row | {"configuration": "old_skill"} for row in ONE_SIDE],
        {"baseline": "old_skill"},
        0,
        "no regression beyond",
        "ruled out",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_gate_ends_with_and_says(name):
    runs, how, end, short, says = CASES[name]
    found = sen.gate(workspace(runs=runs), **how)
    worst = max(found.findings, key=lambda finding: finding.end)
    assert (found.end, worst.end, worst.short[: len(short)]) == (end, end, short)
    assert says in worst.says
    assert json.loads(json.dumps(found._data()))["end"] == end
    assert f">{found.worst.short}</text>" in found.badge()
    assert f"# Gate: {found.worst.short}\n" in found.markdown()
    cases = ET.fromstring(found.junit()).findall("testcase")
    kinds = {0: None, 1: "failure", 3: "skipped"}
    assert [case[0].tag for case in cases] == [
        kinds[finding.end] or "system-out" for finding in found.findings
    ]


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
    many = [row for name in "abcd" for row in rows(HIGH, HIGH, executor_model=name)]
    older = [row | {"iteration": "iteration-0"} for row in rows(LOW, HIGH)]
    for runs, level in ((many, 0.975), (rows(HIGH, HIGH) + older, 0.95)):
        found = sen.gate(workspace(runs=runs))
        assert found.end == 0
        assert {finding.figures["level"] for finding in found.findings} == {level}


COSTLY = rows(HIGH, HIGH, cost_usd=(0.3, 9.0))


@pytest.mark.parametrize(
    ("limits", "fail_on", "end", "short"),
    [
        ({"most": {"cost_usd": 0.3}}, None, 0, "limit kept: $0.3000"),
        ({"most": {"cost_usd": 0.2999}}, None, 1, "limit not kept: $0.3000"),
        ({"most": {"cost_usd": 0.2}}, ["regression"], 0, "limit not kept: $0.3000"),
        ({"least": {"pass_rate": 0.75}}, None, 0, "limit kept: 75%"),
        ({"least": {"pass_rate": 0.8}}, None, 1, "limit not kept: 75%"),
        ({"most": {"tokens": 5}}, None, 3, "no figure"),
        ({"most": {"tokens": 5}}, ["cannot-tell"], 1, "no figure"),
    ],
)
def test_limits_are_held_against_the_mean_of_what_is_looked_at(limits, fail_on, end, short):
    found = sen.gate(workspace(runs=COSTLY), **limits, fail_on=fail_on)
    assert (found.end, [finding.short for finding in found.findings[1:]]) == (end, [short])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"metric": "speed"}, "speed"),
        ({"metric": "output_chars"}, "Neither more nor less"),
        ({"versus": "iteration-7"}, "iteration-7"),
        ({"baseline": "nobody"}, "nobody"),
        ({"most": {"speed": 1}}, "speed"),
        ({"most": {"tokens": float("nan")}}, "finite"),
        ({"fail_on": ["always"]}, "always"),
        ({"versus": "iteration-1", "against": workspace(runs=COSTLY)}, "not both"),
        ({"against": workspace(runs=[])}, "one skill"),
    ],
)
def test_what_is_not_there_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        sen.gate(workspace(runs=COSTLY), **how)


NEW, OLD = rows(LOW, 0.5), rows(HIGH, 0.5)
PROMPTS = [
    {"workspace": "tdd-workspace", "skill": "tdd", "eval_id": str(n), "prompt": f"Do {n}."}
    for n in range(8)
]
RENAMED = {"eval_id": "e{eval_id}", "eval_name": "task {eval_id}"}
ELSEWHERE = {"workspace": "main", "skill": "tdd-main"}


def moved(these, **names):
    """Rows under other names, which may be made of their own."""
    return [row | {key: name.format(**row) for key, name in names.items()} for row in these]


def test_a_skill_that_lacks_what_others_are_held_against_is_said_to():
    both = NEW + [row | {"iteration": "iteration-0"} for row in OLD]
    ws = workspace(runs=both + [row | {"skill": "young"} for row in ONE_SIDE])
    for found in (
        sen.gate(ws, versus="iteration-0"),
        sen.gate(ws, baseline="without_skill"),
    ):
        said = [(finding.end, finding.short) for finding in found.findings]
        assert (found.end, said) == (1, [(1, "regression"), (3, "nothing to compare")])
        assert "no run of" in found.findings[1].says


@pytest.mark.parametrize(
    ("names", "prompts", "paired", "end"),
    [
        ({}, PROMPTS, 8, 1),
        (ELSEWHERE, moved(PROMPTS, **ELSEWHERE), 8, 1),
        ({"eval_id": "e{eval_id}"}, moved(PROMPTS, eval_id="e{eval_id}"), 8, 1),
        ({"eval_id": "e{eval_id}"}, [], 8, 1),
        (RENAMED, [], 0, 3),
        ({"eval_name": "task"}, [], 0, 3),
        ({}, moved(PROMPTS, prompt="Now {prompt}"), 0, 3),
    ],
)
def test_another_workspace_is_as_another_iteration(names, prompts, paired, end):
    ws = workspace(runs=NEW, evals=PROMPTS)
    other = workspace(runs=moved(OLD, **names), evals=prompts)
    both = workspace(runs=NEW + moved(OLD, iteration="iteration-0"), evals=PROMPTS)
    found, same = sen.gate(ws, against=other), sen.gate(both, versus="iteration-0")
    assert found.end == end
    figures = found.findings[0].figures
    assert figures["n_evals"] == paired
    if paired:
        of = ("estimate", "low", "high", "p", "verdict", "missed")
        assert [figures[name] for name in of] == [same.findings[0].figures[name] for name in of]
        assert "Two iterations are two sessions" in found.findings[0].says
    assert len(found.findings) == 1  # the baseline is not looked at


@pytest.mark.parametrize(
    ("judge", "texts", "said"),
    [("a", "is right", ""), ("b", "is right", "two yardsticks"), ("a", "is wrong", "other checks")],
)
def test_what_differs_between_workspaces_is_named(judge, texts, said):
    ws, other = (
        workspace(
            runs=[row | {"judge_model": own} for row in runs],
            expectations=[check(row, text, passed=True) for row in runs],
        )
        for runs, own, text in ((NEW, "a", "is right"), (OLD, judge, texts))
    )
    found = sen.gate(ws, against=other)
    assert (found.end, said in found.findings[0].says) == (3 if said else 1, True)


def test_every_form_says_the_same_and_holds_any_name():
    named = rows(LOW, HIGH)
    for at, text in enumerate(HOSTILE):
        named += [
            row | {"configuration": text, "path": f"{at}/{row['path']}"}
            for row in rows(HIGH, HIGH)
            if row["configuration"] == "with_skill"
        ]
    named = [row | {"skill": HOSTILE[2]} for row in named]
    found = sen.gate(workspace(runs=named), "pass_rate", "without_skill", most={"tokens": 9})
    suite = ET.fromstring(found.junit())
    cases = suite.findall("testcase")
    kinds = [case.find("failure") is not None for case in cases]
    assert (suite.get("failures"), suite.get("tests")) == ("1", str(len(found.findings)))
    assert kinds == [finding.short == "regression" for finding in found.findings]
    assert (
        int(suite.get("skipped", "")) == len(suite.findall("testcase/skipped")) == len(HOSTILE) + 1
    )
    svg = "{http://www.w3.org/2000/svg}"
    badge = ET.fromstring(found.badge())
    assert [text.text for text in badge.iter(f"{svg}text")] == ["skill evals", "regression"]
    assert badge.findtext(f"{svg}title") == "skill evals: regression"
    assert found.markdown().startswith("# Gate: regression\n")
    assert "<script" not in found.markdown() + found._repr_html_()
    assert all(finding.short in repr(found) for finding in found.findings)


TDD, ONCE = ROOT / "data" / "tdd-workspace", ROOT / "data" / "iterations-workspace"
CALLS = [
    ((TDD,), 0, "no regression"),
    ((TDD, "--versus", "iteration-1"), 0, "no regression beyond"),
    ((TDD, "--against", TDD), 0, "no regression beyond"),
    ((TDD, "--metric", "tokens"), 1, "regression"),
    ((TDD, "--least", "pass_rate=0.99"), 1, "limit not kept"),
    ((TDD, "--metric", "tokens", "--fail-on", "limits"), 0, "regression"),
    ((ONCE,), 3, "too few runs"),
    ((ONCE, "--fail-on", "cannot-tell"), 1, "too few runs"),
    ((TDD, "--most", "cost_usd"), 2, ""),
    ((TDD, "--most", "cost_usd=much"), 2, ""),
    ((TDD, "--fail-on", "always"), 2, ""),
    ((TDD, "--against", TDD / "nowhere"), 2, ""),
]


@pytest.mark.parametrize(("arguments", "end", "short"), CALLS)
def test_ci_has_the_end_as_exit_code_and_the_files(arguments, end, short, tmp_path, monkeypatch):
    """With a workspace that cannot be written; as a process the action's step starts it."""
    here = tmp_path / "ws"
    shutil.copytree(arguments[0], here)
    for path in (here, *here.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    forms = ("--junit", tmp_path / "out" / "j.xml", "--badge", tmp_path / "b.svg")
    options = [here if one == arguments[0] else one for one in arguments[1:]]
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.chdir(tmp_path)
    done = calls.run("gate", here, *options, *forms, "--json")
    assert done.exit_code == end, done.stderr
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
    for path in (here, *here.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)


ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


@pytest.mark.parametrize(
    ("path", "options", "code", "end"),
    [
        (TDD, "", 0, "0"),
        (TDD, "--metric tokens --markdown more.md", 1, "1"),
        (ONCE, "", 0, "3"),
        (ONCE, "--fail-on cannot-tell", 1, "1"),
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
