"""The shell: every command, its exit codes, and what it says where something is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import jsonschema
import polars as pl
import pytest
from typer.testing import CliRunner, Result

import skill_eval_nb as sen
from skill_eval_nb import cli
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.documents.schema import document_names
from skill_eval_nb.report.export import FORMATS
from skill_eval_nb.tables import TABLES
from tests.checkout import ROOT
from tests.corpus.build import graded, lay, said
from tests.tables.made import RUN, two_sides

PROGRAM = Path(sys.executable).with_name("skill-eval-nb")
COMMANDS = "check schema convert report tables lab demo".split()
WITH_PATH = "check convert report tables".split()
TDD = ROOT / "data" / "tdd-workspace"


def run(*arguments: Any) -> Result:
    """A command, in this process; a traceback is a failure of the test."""
    result = CliRunner().invoke(cli.app, [str(one) for one in arguments], terminal_width=200)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def started(*arguments: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    """A command as users start it, in a process of its own."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, **more
    )


@pytest.fixture
def ws(tmp_path) -> Path:
    """A sound workspace of two runs."""
    return lay(tmp_path / "ws", two_sides())


@pytest.fixture
def faulty(tmp_path) -> Path:
    """A workspace with an error and things to look at."""
    grading = graded("ppf") | {"expectations": [{"name": "it works", "met": "perhaps"}]}
    return lay(tmp_path / "faulty", two_sides() | {f"{RUN}/grading.json": grading})


class TestHelp:
    def test_it_lists_the_commands(self):
        shown = run("--help").stdout
        assert re.findall(r"^  ([a-z]+)  ", shown, re.MULTILINE) == COMMANDS

    @pytest.mark.parametrize("command", ["", *COMMANDS])
    def test_it_is_plain_text(self, command):
        shown = run(*command.split(), "--help").stdout
        assert shown.isascii() or command == "schema"
        assert not re.search(r"[`*_]{2}|\x1b|[│╭╰]", shown)
        assert "..." not in re.sub(r"\[(OPTIONS|ARGS)\]\.\.\.|\[ARGS\]", "", shown)

    def test_without_a_command_it_is_shown(self):
        result = run()
        assert result.exit_code == 2
        assert "Usage:" in result.output

    def test_the_version(self):
        result = run("--version")
        assert result.exit_code == 0
        assert result.stdout == f"skill-eval-nb {sen.__version__}\n"

    def test_choices_are_those_there_are(self):
        assert set(get_args(cli.Dialect)) == set(DIALECTS)
        assert set(get_args(cli.Format)) == set(FORMATS)


class TestErrors:
    """What a user can do something about is a line on stderr, and exit code 2."""

    def refused(self, *arguments: Any) -> str:
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        return result.stderr

    def arguments(self, command: str, path: Path, out: Path) -> list[Any]:
        more = {"check": [], "convert": ["--to", "iterations", "--out", out]}
        return [command, path, *more.get(command, ["--out", out])]

    @pytest.mark.parametrize("command", WITH_PATH)
    def test_a_path_that_does_not_exist(self, command, ws, tmp_path):
        message = self.refused(*self.arguments(command, tmp_path / "wss", tmp_path / "out"))
        assert message.count("\n") == 1
        assert "does not exist" in message
        assert f"Did you mean {ws}?" in message
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("command", WITH_PATH)
    def test_a_folder_of_something_else(self, command, tmp_path):
        lay(tmp_path / "notes", {"notes.txt": "hello"})
        message = self.refused(*self.arguments(command, tmp_path / "notes", tmp_path / "out"))
        assert message.count("\n") == 1
        assert "nothing to load" in message
        assert "notes.txt" in message

    @pytest.mark.parametrize("command", ["report", "tables", "convert"])
    def test_an_output_folder_that_is_a_file(self, command, ws, tmp_path):
        (tmp_path / "out").write_text("mine")
        message = self.refused(*self.arguments(command, ws, tmp_path / "out"))
        assert str(tmp_path / "out") in message
        assert (tmp_path / "out").read_text() == "mine"

    def test_an_unknown_document_names_the_nearest(self):
        assert "did you mean `grading`" in self.refused("schema", "gradin")

    def test_a_document_that_the_dialect_does_not_have(self):
        assert "history" in self.refused("schema", "history", "--dialect", "codingbuddy")

    @pytest.mark.parametrize(
        "arguments",
        [
            ("schema", "grading", "--dialect", "skill-maker"),
            ("check", TDD, "--dialect", "skill-maker"),
            ("convert", TDD, "--to", "skill-maker", "--out", "out"),
            ("report", TDD, "--dialect", "skill-maker", "--out", "out"),
        ],
    )
    def test_an_unknown_dialect_says_which_there_are(self, arguments):
        message = self.refused(*arguments)
        assert all(dialect in message for dialect in DIALECTS)

    def test_an_unknown_format_says_which_there_are(self, tmp_path):
        message = self.refused("tables", TDD, "--out", tmp_path, "--format", "xlsx")
        assert all(one in message for one in FORMATS)

    def test_an_unknown_table_names_the_nearest(self, tmp_path):
        message = self.refused("tables", TDD, "--out", tmp_path, "--table", "run")
        assert "Did you mean `runs`" in message

    def test_a_folder_to_convert_into_that_is_not_empty(self, ws, tmp_path):
        lay(tmp_path / "out", {"mine.txt": "mine"})
        message = self.refused("convert", ws, "--to", "iterations", "--out", tmp_path / "out")
        assert "not empty" in message

    def test_a_mistake_of_ours_is_not_taken_for_one_of_the_users(self, ws, monkeypatch):
        def broken(*_: Any) -> None:
            raise ValueError("a bug")

        monkeypatch.setattr("skill_eval_nb.workspace.check", broken)
        with pytest.raises(ValueError, match="a bug"):
            run("check", ws)


class TestCheck:
    def test_a_sound_workspace(self, ws):
        result = run("check", ws)
        assert result.exit_code == 0
        assert result.stdout.splitlines()[-1].startswith("0 errors, 0 warnings")

    def test_an_error_is_exit_code_1(self, faulty):
        result = run("check", faulty)
        assert result.exit_code == 1
        severities = [line.split()[0] for line in result.stdout.splitlines()[:-1]]
        assert severities == sorted(severities, key=["error", "warning", "info"].index)
        assert re.search(
            r"^error \S+grading.json \$\.expectations\[0\]", result.stdout, re.MULTILINE
        )

    def test_warnings_alone_are_exit_code_0(self, tmp_path):
        files = two_sides() | {f"{RUN}/grading.json": json.dumps(graded("p"))[:-1] + ",}"}
        result = run("check", lay(tmp_path / "ws", files))
        assert "warning" in result.stdout
        assert result.exit_code == 0

    def test_json_lines(self, faulty):
        result = run("check", faulty, "--json")
        problems = [json.loads(line) for line in result.stdout.splitlines()]
        assert result.exit_code == 1
        assert "error" in {one["severity"] for one in problems}
        assert {frozenset(one) for one in problems} == {
            frozenset(("severity", "code", "path", "where", "message"))
        }

    def test_a_dialect_of_ones_choice(self, ws):
        assert "`codingbuddy`" in run("check", ws, "--dialect", "codingbuddy").stdout

    def test_more_than_anybody_reads_is_counted(self, tmp_path):
        files = {f"eval-{n}/with_skill/grading.json": "{" for n in range(cli.SHOWN + 5)}
        shown = run("check", lay(tmp_path / "ws", files)).stdout.splitlines()
        errors = [line for line in shown if line.startswith("error ")]
        assert len(errors) == cli.SHOWN
        assert any(re.fullmatch(r"… and \d+ more", line) for line in shown)

    def test_markup_in_names_is_shown_as_it_is(self, tmp_path):
        named = "eval-1-[bold]x[/bold]/with_skill"
        result = run("check", lay(tmp_path / "ws", {f"{named}/grading.json": "{"}))
        assert named in result.stdout


SCHEMAS = [
    (name, dialect)
    for name in document_names()
    for dialect in (None, *(one for one, forms in DIALECTS.items() if name in forms))
]


class TestSchema:
    @pytest.mark.parametrize(("name", "dialect"), SCHEMAS)
    def test_every_document_has_a_valid_one(self, name, dialect):
        result = run("schema", name, *(("--dialect", dialect) if dialect else ()))
        assert result.exit_code == 0
        schema = json.loads(result.stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]

    def test_a_document_passes_its_own_and_another_does_not(self):
        schema = json.loads(run("schema", "grading").stdout)
        jsonschema.validate(graded("pf-"), schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"expectations": "all fine"}, schema)

    def test_the_name_of_the_file_will_do(self):
        assert run("schema", "grading.json").stdout == run("schema", "grading").stdout


class TestConvert:
    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_what_was_written_loads(self, dialect, ws, tmp_path):
        out = tmp_path / "out"
        result = run("convert", ws, "--to", dialect, "--out", out)
        assert result.exit_code == 0
        written = sum(path.is_file() for path in out.rglob("*"))
        assert result.stdout.splitlines()[-1] == f"Wrote {written} files to {out}."
        assert sen.load(out).runs.height

    def test_losses_are_told(self, tmp_path):
        data = ROOT / "data" / "codingbuddy-workspace"
        result = run("convert", data, "--to", "iterations", "--out", tmp_path / "out")
        assert "[loss]" in result.stdout


class TestReport:
    def test_it_writes_three_files(self, ws, tmp_path):
        result = run("report", ws, "--out", tmp_path / "out")
        assert result.exit_code == 0
        names = ["benchmark.json", "benchmark.md", "report.html"]
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
        assert all(f"wrote {tmp_path / 'out' / name}" in result.stdout for name in names)
        assert "2 runs (2 graded)" in result.stdout

    def test_the_time_is_the_one_that_was_given(self, ws, tmp_path):
        run("report", ws, "--out", tmp_path, "--timestamp", "2026-01-02T03:04:05Z")
        assert "2026-01-02T03:04:05Z" in (tmp_path / "benchmark.json").read_text()

    def test_another_dialect(self, ws, tmp_path):
        result = run("report", ws, "--out", tmp_path, "--dialect", "test-cases")
        assert "entries" in json.loads((tmp_path / "benchmark.json").read_text())
        assert "not held: " in result.stdout


READ = {"parquet": pl.read_parquet, "csv": pl.read_csv, "json": pl.read_json}


class TestTables:
    def test_parquet_is_the_default(self, ws, tmp_path):
        assert run("tables", ws, "--out", tmp_path / "out").exit_code == 0
        assert {path.name for path in (tmp_path / "out").iterdir()} == {
            f"{name}.parquet" for name in TABLES
        }

    @pytest.mark.parametrize("format_", FORMATS)
    def test_every_format_reads_back(self, format_, ws, tmp_path):
        run("tables", ws, "--out", tmp_path, "--format", format_, "--table", "runs")
        back = READ[format_](tmp_path / f"runs.{format_}")
        assert back["pass_rate"].to_list() == sen.load(ws).runs["pass_rate"].to_list()

    def test_only_those_that_are_named(self, ws, tmp_path):
        out = tmp_path / "out"
        run("tables", ws, "--out", out, "--table", "runs", "--table", "problems")
        assert {path.stem for path in out.iterdir()} == {"runs", "problems"}


class TestLab:
    @pytest.fixture
    def commands(self, monkeypatch) -> list[list[str]]:
        """The commands that would be run; JupyterLab itself is not started."""
        every: list[list[str]] = []

        def record(command: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
            every.append(command)
            assert not check
            return subprocess.CompletedProcess(command, 3)

        monkeypatch.setattr(subprocess, "run", record)
        return every

    def test_jupyterlab_opens_the_first_notebook_of_the_copy(self, commands, tmp_path):
        result = run("lab", tmp_path / "mine")
        first = tmp_path / "mine" / "notebooks" / "01_load_and_look.ipynb"
        assert commands == [[sys.executable, "-m", "jupyterlab", str(first)]]
        assert first.exists()
        assert (tmp_path / "mine" / "data" / "tdd-workspace").is_dir()
        assert str(tmp_path / "mine" / "notebooks") in result.stdout

    def test_its_exit_code_is_passed_on(self, commands, tmp_path):
        assert run("lab", tmp_path / "mine").exit_code == 3
        assert len(commands) == 1

    def test_a_copy_that_is_there_is_kept(self, commands, tmp_path):
        notebook = lay(tmp_path, {"notebooks/01_load_and_look.ipynb": "mine"})
        run("lab", notebook)
        assert (tmp_path / "notebooks" / "01_load_and_look.ipynb").read_text() == "mine"
        assert len(commands) == 1


@pytest.mark.slow
def test_the_demo(tmp_path):
    out = tmp_path / "demo"
    result = run("demo", "--out", out)
    assert result.exit_code == 0
    assert "made up" in result.stdout
    workspaces = {path.name for path in (ROOT / "data").glob("*-workspace")}
    assert {path.name for path in out.iterdir()} == workspaces
    for name in workspaces:
        charts = list((out / name / "charts").glob("*.png"))
        assert {path.stem for path in charts} == set(sen.charts.__all__) - {"save"}
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in charts)
        assert (out / name / "report.html").exists()
        assert {path.stem for path in (out / name / "tables").iterdir()} == set(TABLES)
    told = re.findall(r"^  (\S+(?:html|md))$", result.stdout, re.MULTILINE)
    assert told
    assert all(Path(path).exists() for path in told)


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

    def test_exit_codes_and_streams(self, faulty, tmp_path):
        found = started("check", faulty)
        assert (found.returncode, found.stderr) == (1, "")
        wrong = started("check", tmp_path / "nowhere")
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert "Traceback" not in wrong.stderr

    def test_a_reader_that_has_read_enough_is_no_error(self, tmp_path):
        files = {f"eval-{n}/with_skill/grading.json": "{" for n in range(2000)}
        command = f"{PROGRAM} check {lay(tmp_path / 'ws', files)} --json | head -n 1"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert json.loads(done.stdout)
        assert done.stderr == ""

    def test_a_terminal_that_knows_ascii_only(self, tmp_path):
        name = "eval-1-\N{GRINNING FACE}/with_skill/grading.json"
        folder = lay(tmp_path / "ws", {name: "{"})
        ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        done = started("check", folder, env=ascii_only)
        assert done.returncode == 1
        assert r"eval-1-\U0001f600" in done.stdout

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
    def test_a_name_that_is_not_utf_8(self, tmp_path):
        folder = lay(tmp_path / "ws", {"eval-1/with_skill/grading.json": "{"})
        (folder / "eval-1").rename(folder / os.fsdecode(b"eval-\xff"))
        for arguments in (("check", folder), ("check", folder, "--json")):
            done = started(*arguments)
            assert done.returncode == 1
            assert "Traceback" not in done.stderr
            assert r"\udcff" in done.stdout

    def test_a_report_of_the_bundled_data_without_a_checkout_around(self, tmp_path):
        shutil.copytree(TDD, tmp_path / "ws")
        done = started("report", "ws", "--out", "out", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "out" / "report.html").exists()
        assert said(sen.load(tmp_path / "ws"), "error") == []
