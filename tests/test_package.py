"""The package's face, what importing it costs, and what no file of the project may hold."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import skill_eval_nb as sen
from skill_eval_nb import cli
from tests.checkout import ROOT, files, pyproject

HEAVY = (
    *("altair", "anthropic", "anywidget", "dask", "httpx2", "jupyterlab", "pandas", "polars"),
    *("IPython", "ipywidgets", "markdown_it", "pyarrow", "regex", "scipy", "statsmodels"),
    "skill_eval_nb.tables",
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
STARTED = {"skill_eval_nb.__main__"}
ROOMS = [room.name for room in pkgutil.iter_modules(sen.__path__) if room.ispkg]
HOSTS = re.compile(r"\b(pypi|pythonhosted|npmjs|deb\.debian)\.(org|com|io)\b")


def loaded_by(statement):
    """The heavy packages that a fresh Python has loaded after `statement`."""
    program = f"{statement}\nimport sys\nprint(*sorted({set(HEAVY)!r} & sys.modules.keys()))"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_importing_loads_nothing_heavy():
    rooms = ("skill_eval_nb", "skill_eval_nb.grading.structural", "skill_eval_nb.widgets")
    for statement in (
        *(f"import {room}" for room in rooms),
        "import skill_eval_nb.running as r; r.plan_runs; r.Limits",
    ):
        assert loaded_by(statement) == [], statement
    assert loaded_by("import polars") == ["polars"]


def test_the_version_is_the_one_of_the_project():
    assert sen.__version__ == pyproject()["project"]["version"] == version("skill-eval-nb")


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_every_example_in_a_docstring_runs(room):
    face = importlib.import_module(f"skill_eval_nb.{room}".rstrip("."))
    walk = pkgutil.walk_packages if room else pkgutil.iter_modules
    names = [
        one.name for one in walk(face.__path__, f"{face.__name__}.") if one.name not in STARTED
    ]
    modules = [face, *map(importlib.import_module, names)]
    results = {module.__name__: doctest.testmod(module, optionflags=FLAGS) for module in modules}
    assert {name: result for name, result in results.items() if result.failed} == {}
    assert sum(result.attempted for result in results.values()) > 0


def test_a_face_names_what_can_be_imported():
    for room in ("", *ROOMS):
        face = importlib.import_module(f"skill_eval_nb.{room}".rstrip("."))
        assert len(set(face.__all__)) == len(face.__all__)
        assert [name for name in face.__all__ if not hasattr(face, name)] == []
        assert set(face.__all__) <= set(dir(face))
    with pytest.raises(AttributeError, match="laod"):
        sen.laod  # noqa: B018


def forbidden_in(text):
    """Paths of this machine and hosts of package registries that stand in a text.

    Root's home is the same everywhere: what may not be read there is a test of the sandbox.
    """
    own = {ROOT, Path.home()} - {Path("/"), Path("/root")}
    paths = [str(path) for path in own]
    machine = [path for path in paths if re.search(re.escape(path) + r"(?![\w-])/?", text)]
    return machine + [found[0] for found in HOSTS.finditer(text)]


def test_no_file_names_this_machine_or_a_registry():
    texts = {path: path.read_bytes().decode(errors="ignore") for path in files()}
    assert len(texts) > 50
    found = {str(path): found for path, text in texts.items() if (found := forbidden_in(text))}
    assert found == {}
    host = "files.python" + "hosted.org"
    assert forbidden_in(f"see {ROOT}/x and https://{host}/y") != []
    assert forbidden_in(f"https://{host}/y") == [host.removeprefix("files.")]


def test_the_shell_is_a_module_too_and_completes():
    command = [sys.executable, "-m", "skill_eval_nb"]
    told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("skill-eval-nb ")
    words = {"COMP_WORDS": "skill-eval-nb re", "COMP_CWORD": "1"}
    asked = {**os.environ, **words, "_SKILL_EVAL_NB_COMPLETE": "complete_bash"}
    shell = [str(Path(sys.executable).with_name("skill-eval-nb"))]
    told = subprocess.run(shell, capture_output=True, text=True, check=True, env=asked)
    assert told.stdout.split() == ["report"]


def test_what_others_look_for_is_there_and_says_the_same():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = pyproject()["project"]
    said = ("version", "license", "keywords")
    assert [cited[one] for one in said] == [project[one] for one in said]
    assert cited["abstract"] == project["description"]
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"].split()[0] in project["scripts"]
    names = re.compile(hook["files"])
    found = [str(path.relative_to(ROOT)) for path in files("data") if names.search(path.as_posix())]
    assert {"SKILL.md", "evals.json", "grading.json"} <= {path.rpartition("/")[2] for path in found}
    skill = [one for one in found if one.startswith("data/release-notes/")]
    done = CliRunner().invoke(cli.app, ["check", *(str(ROOT / one) for one in skill)])
    assert (len(skill), done.exit_code) == (2, 0), done.output
