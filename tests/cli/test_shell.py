"""What all commands share: help, errors that a user can mend, streams and exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import skill_eval_nb as sen
from skill_eval_nb import cli
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.improving import read_drafts
from tests import bubblewrap
from tests.checkout import ROOT
from tests.cli.calls import COMMANDS, PROGRAM, TDD, WITH_PATH, run, started
from tests.corpus.build import lay


class TestHelp:
    def test_it_lists_the_commands_and_the_version(self):
        assert re.findall(r"(?m)^  ([a-z][a-z-]+)  ", run("--help").stdout) == COMMANDS
        assert run("--version").stdout == f"skill-eval-nb {sen.__version__}\n"

    @pytest.mark.parametrize("command", ["", *COMMANDS])
    def test_it_is_plain_text_and_says_what_every_command_has(self, command):
        shown = run(*command.split(), "--help").stdout
        assert shown.isascii() or command == "schema"
        assert not re.search(r"[`*_]{2}|\x1b|[│╭╰]|list\[|Value error", shown)
        rest = re.sub(r"(\[(OPTIONS|ARGS)\]|\{paths\}|paths)\.\.\.|\[ARGS\]", "", shown)
        assert "..." not in rest
        assert run(*command.split(), "-h").stdout == shown
        if command not in ("", "improve"):
            line = " ".join(shown.split())
            assert all(one in line for one in ("--json", "--debug", "Exit codes: 0 done; 1 "))

    def test_every_option_says_what_it_does(self):
        waiting, silent = [typer.main.get_command(cli.app)], []
        for command in waiting:
            waiting += getattr(command, "commands", {}).values()
            silent += [(command.name, one.name) for one in command.params if not one.help]
        assert len(waiting) > len(COMMANDS)
        assert silent == []

    @pytest.mark.parametrize("group", [(), ("improve",)])
    def test_a_command_s_line_is_whole(self, group):
        narrow = CliRunner().invoke(cli.app, [*group, "-h"], terminal_width=60).stdout
        _, lines = narrow.split("Commands:")
        for found in re.split(r"\n  (?=[a-z])", lines)[1:]:
            name, _, line = found.partition(" ")
            told = " ".join(run(*group, name, "-h").stdout.split())
            assert " ".join(line.split()) in told
            assert line.rstrip().endswith(".")


class TestErrors:
    """What a user can do something about is a line on stderr, and exit code 2."""

    def refused(self, *arguments: Any) -> str:
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        return result.stderr

    @pytest.mark.parametrize("command", WITH_PATH)
    def test_a_path_with_nothing_to_load_and_an_output_folder_that_is_a_file(
        self, command, ws, tmp_path
    ):
        out = tmp_path / "out"
        more = {"check": [], "gate": ["--junit", out / "j.xml"]}
        options = more.get(command, ["--out", out])
        lay(tmp_path / "notes", {"notes.txt": "hello"})
        for name, faults in (
            ("wss", ("does not exist", f"Did you mean {ws}?")),
            ("notes", ("nothing to load", "notes.txt")),
        ):
            message = self.refused(command, tmp_path / name, *options)
            assert message.count("\n") == 1
            assert all(fault in message for fault in faults)
            assert not out.exists()
        out.write_text("mine")
        if options:
            assert str(out) in self.refused(command, ws, *options)
            assert out.read_text() == "mine"

    @pytest.mark.parametrize(
        ("arguments", "known"),
        [
            (("schema", "gradin"), ["did you mean `grading`"]),
            (("schema", "grading", "--dialect", "skill-maker"), DIALECTS),
            (("check", TDD, "--dialect", "skill-maker"), DIALECTS),
            (("report", TDD, "--dialect", "skill-maker", "--out", "out"), DIALECTS),
        ],
    )
    def test_what_is_unknown_names_what_there_is(self, arguments, known):
        message = self.refused(*arguments)
        assert all(name in message for name in known)

    def test_a_mistake_of_ours_has_its_own_code_and_a_traceback_with_debug_alone(
        self, ws, monkeypatch
    ):
        def broken(*_: Any) -> None:
            raise ValueError("a bug\nof two lines")

        monkeypatch.setattr("skill_eval_nb.tables.check", broken)
        result = run("check", ws)
        assert (result.exit_code, result.stdout) == (70, "")
        assert result.stderr.count("\n") == 1
        assert "internal error: ValueError: a bug of two lines" in result.stderr
        with pytest.raises(ValueError, match="a bug"):
            run("check", ws, "--debug")


class TestEveryCommand:
    @bubblewrap.needed
    def test_a_table_is_json_alone_on_stdout_and_the_rest_on_stderr(self, tmp_path):
        skill = ROOT / "data" / "release-notes"
        plan = run("run", skill, "--workspace", tmp_path, "--dry-run", "--json")
        planned = json.loads(plan.stdout)
        assert planned["estimate"][0]["what"] == "with_skill"
        assert (planned["runs"], planned["runs_to_do"]) == (36, 36)
        result = run("improve", "draft", TDD, "--out", tmp_path / "drafts.json", "--json")
        drafted = json.loads(result.stdout)
        assert {"items", "paths"} == drafted.keys()
        assert drafted["paths"] == [str(tmp_path / "drafts.json")]
        keys = [draft["key"] for draft in drafted["items"]]
        assert keys == [draft.key for draft in read_drafts(tmp_path / "drafts.json")]

    def test_what_models_are_asked_has_its_fields_and_counts_nothing_below_0(self, tmp_path):
        home = shutil.copytree(TDD, tmp_path / "tdd")
        commands = [
            ("compare", home, "with_skill", "without_skill", "--dry-run"),
            ("judge", home),
            ("improve", "history", home),
        ]
        for command, key in zip(commands, ("n_missing", "judged", "versions"), strict=True):
            model = {"compare": ("--model", "stand-in-judge")}
            model["judge"] = ("--judge-model", "stand-in-judge")
            result = run(*command, *model.get(command[0], ()), "--json")
            fields = json.loads(result.stdout)
            assert key in fields
            assert "text" not in fields
            assert not re.search(r'_(out|missing|pairs)": -', result.stdout)
        assert json.loads(run(*commands[0], *model["compare"], "--json").stdout)["verdict"]["word"]

    @bubblewrap.needed
    def test_a_terminal_is_told_how_far_it_is(self, tmp_path, monkeypatch):
        skill = ROOT / "data" / "release-notes"
        monkeypatch.setenv("FORCE_COLOR", "1")
        given = [skill, skill / "trigger-eval-set.json", "--executor", "offline", "--runs", 1]
        result = run("trigger", *given, "--out", tmp_path)
        assert "24 of 24, $0.00: " in result.stderr

    def test_nothing_is_coloured_and_no_progress_shown_to_a_pipe(self, ws, tmp_path):
        said = started("tables", ws, "--out", tmp_path, env={**os.environ, "NO_COLOR": "1"})
        assert (said.returncode, said.stderr) == (0, "")
        assert "\x1b" not in said.stdout


class TestInAProcess:
    def test_help_loads_nothing_heavy(self):
        program = (
            "import sys\nfrom skill_eval_nb import cli\nsys.argv = ['skill-eval-nb', '--help']\n"
            "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
            "print(*sorted({'polars', 'pandas', 'pyarrow', 'altair', 'scipy', 'msgspec'} "
            "& sys.modules.keys()), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert "Usage:" in done.stdout
        assert done.stderr.split() == []

    def test_exit_codes_and_streams(self, tmp_path):
        wrong = started("check", tmp_path / "nowhere")
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert "Traceback" not in wrong.stderr

    def test_a_reader_that_has_read_enough_is_no_error(self, tmp_path):
        files = {f"eval-{n}/with_skill/grading.json": "{" for n in range(700)}
        command = f"{PROGRAM} check {lay(tmp_path / 'ws', files)} --json | head -n 1"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert json.loads(done.stdout)
        assert done.stderr == ""

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
    def test_a_name_that_is_not_utf_8_and_a_terminal_that_knows_ascii_only(self, tmp_path):
        name = os.fsdecode(b"eval-1-\xff\xf0\x9f\x98\x80")
        folder = lay(tmp_path / "ws", {f"{name}/with_skill/grading.json": "{"})
        for given in ({}, {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}):
            for more in ((), ("--json",)):
                done = started("check", folder, *more, env={**os.environ, **given})
                assert (done.returncode, done.stderr) == (1, "")
                assert r"eval-1-\udcff" in done.stdout
                assert more or (r"\U0001f600" if given else "\N{GRINNING FACE}") in done.stdout


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp"
SEEN = r"\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp"


@pytest.fixture
def hostile(tmp_path):
    """A workspace in whose names, texts and figures there is what a terminal obeys."""
    run_of = f"eval-{HOSTILE}/{HOSTILE}/run-1"
    files = {
        f"{run_of}/grading.json": {"expectations": [{"name": HOSTILE, "met": HOSTILE}]},
        f"{run_of}/metrics.json": {"tool_calls": {HOSTILE: HOSTILE}},
        f"{run_of}/outputs/{HOSTILE}\n0 errors.md": "x",
        f"{run_of}/{HOSTILE}\n0 errors, 0 warnings.json/grading.json": "{",
        "evals.json": {"skill_name": HOSTILE, "evals": [{"id": HOSTILE, "prompt": HOSTILE}]},
    }
    return lay(tmp_path / f"ws {HOSTILE}", files)


@pytest.mark.parametrize("command", ["check", "grade", "run", "--no-such-option"])
def test_nothing_that_is_printed_acts_on_a_terminal(hostile, tmp_path, command):
    ended = started(command, hostile, cwd=tmp_path)
    written = ended.stdout + ended.stderr
    assert written
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", written) == []
    if command == "check":
        assert SEEN in written
        assert not any(line.startswith("0 errors, 0 w") for line in ended.stdout.splitlines()[:-1])


def test_the_terminal_s_own_colours_stay(hostile, tmp_path):
    more = {"env": {**os.environ, "FORCE_COLOR": "1"}, "cwd": tmp_path}
    written = started("check", hostile, **more).stdout
    assert "\x1b[31merror\x1b[0m" in written
    assert "\x1b]0" not in written
    assert SEEN in re.sub(r"\x1b\[[0-9;]*m", "", written)


def test_a_traceback_is_as_plain_as_the_rest(tmp_path):
    code = (
        "from skill_eval_nb.cli import shell; shell.app = lambda: 1 / len('')\n"
        f"def fail(): raise RuntimeError({HOSTILE!r})\n"
        "shell.app = fail; shell.main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ended.returncode == 1
    assert f"RuntimeError: {SEEN}" in ended.stderr
