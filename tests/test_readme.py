"""The README is true: its Python runs, its commands run, its links lead somewhere.

So are the pages of Python and shell, of the widgets, of first evals and of checks.
"""

import json
import re
import shlex
import shutil

import pytest

from skill_eval_nb.grading.structural import KINDS
from tests.checkout import ROOT
from tests.cli.calls import run
from tests.corpus.build import lay
from tests.grading.made import called, checked

TEXT = (ROOT / "README.md").read_text()
PAGES = "".join((ROOT / "docs" / "pages" / name).read_text() for name in ("ways.md", "widgets.md"))
CELLS = re.findall(r"`([^`\n]+)`", TEXT + PAGES)


def blocks(language):
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT + PAGES, re.MULTILINE | re.DOTALL)


PYTHON = [
    *blocks("python"),
    *(cell for cell in CELLS if cell.startswith("sen.") and cell.endswith(")") and "…" not in cell),
]
SHELL = [
    line.partition("#")[0].strip()
    for line in [*"".join(blocks("sh")).replace("\\\n", "").splitlines(), *CELLS]
    if line.startswith("skill-eval-nb ") and not line.startswith("skill-eval-nb lab")
]
PYTHON, SHELL = (list(dict.fromkeys(lines)) for lines in (PYTHON, SHELL))  # several pages say it


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with copies of `data` and `skills`, so that what the README writes does not stay."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("data", "skills"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.mark.slow
def test_the_python_runs_in_order(folder, monkeypatch):
    assert len(PYTHON) >= 4
    monkeypatch.chdir(folder)
    names = {"path": "data/tdd-workspace"}
    for block in PYTHON:
        exec(block, names)


@pytest.mark.parametrize("line", SHELL)
def test_the_command_runs(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = run(*shlex.split(line)[1:])
    assert result.exit_code == 0, result.output


def test_it_is_short_its_links_lead_somewhere_and_it_names_every_notebook():
    assert TEXT.index("![") < TEXT.index("```")
    assert len(TEXT.split()) <= 1400
    targets = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert [one for one in targets if not (ROOT / one).exists()] == []
    notebooks = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert set(re.findall(r"^\| `(\d\d_\w+)`", TEXT, re.MULTILINE)) == notebooks
    assert {shlex.split(line)[1] for line in SHELL} >= {"report", "tables", "check", "convert"}


def page(name):
    """The text of a page written by hand."""
    return (ROOT / "docs" / "pages" / f"{name}.md").read_text()


@pytest.mark.slow
def test_the_first_evals_are_checked_run_and_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page("first_evals")
    front = "---\nname: my-skill\ndescription: Writes commit messages.\n---\nSay why.\n"
    evals = re.search(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    files = {"SKILL.md": front, "evals/evals.json": evals, "evals/files/change.diff": "+ 30 s\n"}
    lay(tmp_path / "my-skill", files)
    lines = re.search(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1].splitlines()
    assert len(lines) == 3
    for line in lines:
        result = run(*shlex.split(line, comments=True)[1:])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "report" / "report.html").exists()


GOOD = {
    "NOTES.md": "# 2.4.0\n\n- Search allows typing mistakes (#311)\n",
    "issues.csv": "number,title\n311,Search\n302,Clock\n290,Login\n",
}
BAD = {"a.txt": "", "NOTES.md": "TODO\n" * 30}
BAD |= {f"{name}.csv": "a,b\n1\n" for name in ("issues", "b", "c")}
"""Outputs that pass every example, and some that fail every one but the search for a file."""
EXAMPLES = [
    json.loads(one) for one in re.findall(r"`(\{[^`]*\})`", page("checks")) if '"type"' in one
]


def messages(calls, *, failed, tokens):
    """A transcript of these calls, each in a turn of its own."""
    text = "Error" if failed else "---\nname: release-notes\ndescription: Notes.\n---\n"
    for name, given in calls:
        use, done = called(name, text, failed=failed, **given)
        use["message"]["usage"] = {"input_tokens": tokens, "output_tokens": 1}
        yield from (use, done)


GOOD_CALLS = [
    ("Read", {"file_path": "skills/release-notes/SKILL.md"}),
    ("Bash", {"command": "git log --oneline"}),
    ("Read", {"file_path": "commits.txt"}),
    ("Write", {"file_path": "NOTES.md"}),
]
BAD_CALLS = [("Write", {"file_path": "a.txt"}), ("Bash", {"command": "rm -rf notes"})] * 11


WORK = [(GOOD, GOOD_CALLS, True), (BAD, BAD_CALLS, False)]


@pytest.mark.parametrize(("files", "calls", "passed"), WORK)
def test_each_example_of_a_check_tells_good_work_from_bad(tmp_path, files, calls, passed):
    assert {one["type"] for one in EXAMPLES} >= KINDS - {"custom"}
    told = messages(calls, failed=not passed, tokens=90 if passed else 9000)
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("".join(json.dumps(one) + "\n" for one in told))
    for number, one in enumerate(EXAMPLES):
        outputs = {} if one["type"] == "file_exists" and not passed else files
        at = tmp_path / "outputs" / str(number)
        fields = {"description": one.get("text"), **one}
        kind = fields.pop("type")
        options = {"allow_scripts": True, "sandbox": "none"}
        found = checked(at, kind, outputs, transcript=transcript, options=options, **fields)
        assert found.passed is passed, (one, found.evidence)


SKILL = ROOT / "skills" / "evaluate-a-skill"


def test_the_skill_names_commands_and_options_that_there_are():
    """Of the shell alone: what a model makes of them is what its evals are for."""
    text = (SKILL / "SKILL.md").read_text("utf-8").replace("\\\n", "")
    lines = re.findall(r"(?:^|`)skill-eval-nb ([a-z][^#`\n]*)", text, re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        words = shlex.split(line)
        names = words[: 2 if words[0] == "improve" else 1]
        told = run(*names, "--help").output
        assert [one for one in words if one.startswith("--") and one not in told] == []
