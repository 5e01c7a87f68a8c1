"""What all commands share: help, errors that a user can mend, streams and exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
import typer

import skill_eval_nb as sen
from skill_eval_nb import cli
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.improving import read_drafts
from tests import bubblewrap
from tests.checkout import ROOT
from tests.cli.calls import COMMANDS, PROGRAM, TDD, WITH_PATH, refused, run, started
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


class TestErrors:
    """What a user can do something about is a line on stderr, and exit code 2."""

    @pytest.mark.parametrize("command", WITH_PATH)
    def test_a_path_with_nothing_to_load_and_an_output_folder_that_is_a_file(
        self, command, ws, tmp_path
    ):
        out = tmp_path / "out"
        more = {"check": [], "gate": ["--junit", out / "j.xml"]}
        options = more.get(command, ["--out", out])
        lay(tmp_path / "notes", {"notes.txt": "hello"})
        absent = refused(command, tmp_path / "wss", *options)
        assert re.fullmatch(rf".*does not exist.*Did you mean {ws}\?.*\n", absent)
        empty = refused(command, tmp_path / "notes", *options)
        assert re.fullmatch(r".*nothing to load.*notes\.txt.*\n", empty)
        assert not out.exists()
        out.write_text("mine")
        if options:
            assert str(out) in refused(command, ws, *options)
            assert out.read_text() == "mine"

    def test_what_is_unknown_names_what_there_is(self):
        assert "did you mean `grading`" in refused("schema", "gradin")
        for arguments in (("schema", "grading"), ("check", TDD), ("report", TDD, "--out", "out")):
            message = refused(*arguments, "--dialect", "skill-maker")
            assert all(name in message for name in DIALECTS)

    def test_a_mistake_of_ours_has_its_own_code_and_a_traceback_with_debug_alone(
        self, ws, monkeypatch
    ):
        def broken(*_: Any) -> None:
            raise ValueError("a bug\nof two lines")

        monkeypatch.setattr("skill_eval_nb.tables.check", broken)
        result = run("check", ws)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (70, "", 1)
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
        file = tmp_path / "drafts.json"
        drafted = json.loads(run("improve", "draft", TDD, "--out", file, "--json").stdout)
        keys = [draft["key"] for draft in drafted.pop("items")]
        assert keys == [draft.key for draft in read_drafts(file)]
        assert drafted == {"paths": [str(file)]}

    @bubblewrap.needed
    def test_a_terminal_is_told_how_far_it_is(self, tmp_path, monkeypatch):
        skill = ROOT / "data" / "release-notes"
        monkeypatch.setenv("FORCE_COLOR", "1")
        given = [skill, skill / "trigger-eval-set.json", "--executor", "offline", "--runs", 1]
        result = run("trigger", *given, "--out", tmp_path)
        assert "24 of 24, $0.00: " in result.stderr


class TestInAProcess:
    def test_help_loads_nothing_heavy(self):
        program = (
            "import sys\nfrom skill_eval_nb import cli\nsys.argv = ['skill-eval-nb', '--help']\n"
            "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
            "print(*sorted({'polars', 'pandas', 'pyarrow', 'altair', 'scipy', 'msgspec'} "
            "& sys.modules.keys()), file=sys.stderr)"
        )
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert ("Usage:" in done.stdout, done.stderr.split()) == (True, [])

    def test_exit_codes_and_streams_and_nothing_is_coloured_for_a_pipe(self, ws, tmp_path):
        wrong = started("check", tmp_path / "nowhere")
        assert (wrong.returncode, wrong.stdout, "Traceback" in wrong.stderr) == (2, "", False)
        said = started("tables", ws, "--out", tmp_path, env={**os.environ, "NO_COLOR": "1"})
        assert (said.returncode, said.stderr, "\x1b" in said.stdout) == (0, "", False)

    def test_a_reader_that_has_read_enough_is_no_error(self, tmp_path):
        files = {f"eval-{n}/with_skill/grading.json": "{" for n in range(700)}
        command = f"{PROGRAM} check {lay(tmp_path / 'ws', files)} --json | head -n 1"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert (bool(json.loads(done.stdout)), done.stderr) == (True, "")

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
    def test_a_name_that_is_not_utf_8_and_a_terminal_that_knows_ascii_only(self, tmp_path):
        name = os.fsdecode(b"eval-1-\xff\xf0\x9f\x98\x80")
        folder = lay(tmp_path / "ws", {f"{name}/with_skill/grading.json": "{"})
        ascii_ = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        for given, more, said in (
            ({}, (), "\N{GRINNING FACE}"),
            (ascii_, (), r"\U0001f600"),
            (ascii_, ("--json",), ""),
        ):
            done = started("check", folder, *more, env={**os.environ, **given})
            assert (done.returncode, done.stderr) == (1, "")
            assert r"eval-1-\udcff" in done.stdout
            assert said in done.stdout


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


@pytest.mark.parametrize("command", ["check", "grade", "run", "--no-such-option", "coloured"])
def test_nothing_that_is_printed_acts_on_a_terminal_but_its_own_colours(hostile, tmp_path, command):
    more = {"FORCE_COLOR": "1"} if command == "coloured" else {}
    command = "check" if more else command
    ended = started(command, hostile, cwd=tmp_path, env={**os.environ, **more})
    told = ended.stdout if more else ended.stdout + ended.stderr  # where progress is drawn
    written = re.sub(r"\x1b\[[0-9;]*m", "", told)
    assert written
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", written) == []
    if command == "check":
        assert ("\x1b[31merror\x1b[0m" in ended.stdout) == bool(more)
        assert SEEN in written
        assert not re.search("(?m)^0 errors, 0 w", written.rstrip().rpartition("\n")[0])


def test_a_traceback_is_as_plain_as_the_rest(tmp_path):
    code = (
        "from skill_eval_nb.cli import shell; shell.app = lambda: 1 / len('')\n"
        f"def fail(): raise RuntimeError({HOSTILE!r})\n"
        "shell.app = fail; shell.main()"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ended.returncode, f"RuntimeError: {SEEN}" in ended.stderr) == (1, True)
