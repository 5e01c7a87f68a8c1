"""What is installed: the wheel, its dependencies, the commands that make and CI run."""

import ast
import json
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.tables.columns import TABLES
from tests.checkout import ROOT, files, pyproject

MADE_WITH = ("data/generate.py", "data/making/")
SHARED = ("notebooks", "data", "skills")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, unpacked."""
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_wheel_holds_the_package_with_what_is_shared_and_nothing_else(wheel):
    """The notebooks, the data and the skill; how the data were made stays behind."""
    homes = {"skill_eval_nb": ""} | dict.fromkeys(SHARED, "skill_eval_nb/_share/")
    wanted = {
        home + path.relative_to(ROOT).as_posix()
        for name, home in homes.items()
        for path in files(name)
    }
    made_with = tuple(f"skill_eval_nb/_share/{name}" for name in MADE_WITH)
    held = {name for name in below(wheel) if not name.startswith("skill_eval_nb-")}
    assert held == {name for name in wanted if not name.startswith(made_with)}
    assert all(f"skill_eval_nb/_share/{name}/" in " ".join(held) for name in SHARED)
    (tile,) = wheel.glob("*.data/data/share/jupyter/labextensions/skill-eval-nb")
    assert below(tile) == below(ROOT / "skill_eval_nb" / "widgets" / "lab")
    told = json.loads((tile / "package.json").read_text())
    assert told["version"] == pyproject()["project"]["version"]
    assert (tile / told["jupyterlab"]["_build"]["load"]).is_file()
    assert "skill_eval_nb/py.typed" in held
    (info,) = wheel.glob("*.dist-info")
    assert "License-Expression: Apache-2.0" in (info / "METADATA").read_text()
    assert (info / "licenses/LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert "skill-eval-nb = skill_eval_nb.cli:main" in (info / "entry_points.txt").read_text()


ABSENT = frozenset(("ipykernel", "jupyterlab", "pandas", "pyarrow"))
"""What a CI image or a host with its own may lack."""


def reached(names):
    """The distributions that these need, and all that those need, but for the absent ones."""
    found, waiting = set(), list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found or name in ABSENT:
            continue
        found.add(name)
        needed = map(Requirement, distribution(name).requires or ())
        waiting += [
            one.name for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})
        ]
    return found


@pytest.fixture(scope="module")
def bare(tmp_path_factory, wheel):
    """Runs Python where nothing is installed but the wheel and what it needs, without `ABSENT`."""
    there = tmp_path_factory.mktemp("bare")
    base = pyproject()["project"]["dependencies"]
    for name in reached(Requirement(one).name for one in base):
        whole = distribution(name)
        for top in {file.parts[0] for file in whole.files or ()} - {"..", "__pycache__"}:
            if not (there / top).exists():
                (there / top).symlink_to(whole.locate_file(top))

    def run(program, *arguments):
        setup = f"import sys; sys.path += [{str(wheel)!r}, {str(there)!r}]\n"
        command = [sys.executable, "-I", "-S", "-c", setup + program, *map(str, arguments)]
        done = subprocess.run(command, cwd=there, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done

    return run


SHELL = """
import json
from skill_eval_nb.cli import main
for words, code in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as ended:
        assert (ended.code or 0) == code, (words, ended.code)
"""


def test_the_main_job_is_done_by_the_wheel_alone_without_jupyterlab_and_pandas(
    bare, wheel, tmp_path
):
    data = ROOT / "data" / "skill-creator-workspace"
    program = f"""
from importlib.util import find_spec
assert not [one for one in {sorted(ABSENT)!r} if find_spec(one)]
import skill_eval_nb as sen
assert sen.__file__.startswith({str(wheel)!r})
ws = sen.load({str(wheel / "skill_eval_nb/_share/data/skill-creator-workspace")!r})
(row,) = sen.stats.deltas(ws).to_dicts()
assert row["n_evals"] == 3, row
chart = sen.charts.forest(ws)
assert chart.to_dict()["$schema"]
assert "image/png" in chart._repr_mimebundle_()
sen.explore(ws)
try:
    sen.load({str(data)!r}, backend="pandas").runs
except ModuleNotFoundError as error:
    assert "pip install pandas pyarrow" in str(error)
else:
    raise AssertionError
"""
    bare(program)
    skill, ws = ROOT / "data" / "release-notes", tmp_path / "ws"
    once = ["--executor", "offline", "--runs", "1", "--eval", "1"]
    commands = [
        (["check", data], 0),
        (["report", data, "--out", tmp_path / "report"], 0),
        (["run", skill, "--workspace", ws, *once], 0),
        (["lab", "--to", tmp_path / "lab"], 2),
    ]
    told = bare(SHELL, json.dumps(commands, default=str)).stderr
    assert (tmp_path / "report" / "benchmark.json").is_file()
    assert "<svg" in (tmp_path / "report" / "report.html").read_text("utf-8")
    assert list(ws.glob("iteration-1/*/*/run-1/grading.json"))
    assert told.endswith("JupyterLab is missing: `pip install jupyterlab`\n")


def statements(node):
    """Every statement below a node; expressions are passed over, which are by far the most."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for one in getattr(node, part, ()):
            yield one
            yield from statements(one)


def tops(requirement):
    """The modules that a distribution brings; none where it is not installed."""
    try:
        listed = distribution(Requirement(requirement).name).read_text("RECORD") or ""
    except PackageNotFoundError:
        return set()
    return {line.partition("/")[0].partition(".py,")[0] for line in listed.splitlines()}


def test_nothing_is_required_that_is_not_imported():
    trees = (ast.parse(path.read_text()) for path in files("skill_eval_nb") if path.suffix == ".py")
    kinds = ast.Import | ast.ImportFrom
    nodes = [node for tree in trees for node in statements(tree) if isinstance(node, kinds)]
    imported = {one.name for node in nodes if isinstance(node, ast.Import) for one in node.names}
    whole = [node for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    imported = {one.partition(".")[0] for one in imported | {node.module or "" for node in whole}}
    required = {one: tops(one) for one in pyproject()["project"]["dependencies"]}
    # A program, and what anywidget stands on, with which people lay out our widgets.
    unused = {Requirement(one).name for one, names in required.items() if not names & imported}
    assert unused == {"jupyterlab", "ipywidgets"}
    extras = pyproject()["project"]["optional-dependencies"].values()
    known = set[str]().union(*required.values(), *(tops(one) for of in extras for one in of))
    # IPython and traitlets are there wherever their notebook is.
    strange = imported - known - sys.stdlib_module_names - {"skill_eval_nb"}
    assert strange == {"IPython", "traitlets"}


def test_constraints_pin_every_requirement_to_a_version_it_allows():
    """Of the base, the extras and the groups."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.lstrip().startswith("#")]
    pinned = {canonicalize_name(pin.name): pin.specifier for pin in pins}
    told = pyproject()
    extras, groups = told["project"]["optional-dependencies"], told["dependency-groups"]
    lists = [told["project"]["dependencies"], *extras.values(), *groups.values()]
    for requirement in (Requirement(text) for texts in lists for text in texts):
        (pin,) = pinned[canonicalize_name(requirement.name)]
        assert pin.operator == "=="
        assert requirement.specifier.contains(pin.version), requirement


def test_every_public_name_table_command_dialect_and_tool_has_a_page():
    """`make docs` builds them, and ends at a dead link or a warning."""
    spec = spec_from_file_location("build", ROOT / "docs" / "build.py")
    pages = module_from_spec(spec)
    spec.loader.exec_module(pages)
    made = dict([*pages.python(), *pages.dialects(), *pages.tools()])
    assert "::: skill_eval_nb.stats.deltas.deltas\n" in made["python/sen_stats.md"]
    assert {f"dialects/{name}.md" for name in DIALECTS} < made.keys()
    assert {"tools/harbor.md", "tools/waza.md"} < made.keys()
    assert all(column.meaning in pages.tables() for column in TABLES["runs"].columns)
    assert "## skill-eval-nb improve apply" in pages.shell()
