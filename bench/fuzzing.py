"""`python -m bench.fuzzing`: damaged copies of real workspaces through all that reads them.

Each round copies a workspace, breaks some of it (bits, types, structure, encodings, the tree,
links, pipes), and has it loaded, tabled, checked, converted, reported and shown. What raises
anything but what is documented is told with its seed, and the slowest are named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import skill_eval_nb as sen
from skill_eval_nb.report.page import markdown
from skill_eval_nb.tables import TABLES, check
from skill_eval_nb.tables.conversion import convert
from tests.checkout import ROOT

DOCUMENTED = (sen.NothingToLoad, FileNotFoundError)
"""What `load`, `check` and `convert` say that they raise, of a folder that is there."""

HAS_INSPECT = find_spec("inspect_ai") is not None

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0.5,
        1e308,
        10**30,
        "",
        "0",
        "NaN",
        "85%",
        "7/8",
        "\ud800",
        "\x1b[2J",
        "../..",
    ),
    *([], {}, [[]], [None], {"": {}}, {"a": [1, {"b": "c"}]}, "x" * 5_000, list(range(50))),
)
DEEP = (90, 300, 700, 950, 1_200, 20_000)
TEXTS = (
    '{"a": "' + '\\"' * 3_000,
    "{" + ",".join(f'"k{at}": 1' for at in range(2_000)) + ', "k1": 2}',
    '{"n": ' + "9" * 10_000 + "}",
    "---\nname: x\na: &a [x, x]\nb: &b [*a, *a]\ndescription: *b\n---\n",
    "---\nname: x\ndescription: " + "[" * 10_000 + "\n---\n",
)


READ = (".json", ".md", ".jsonl", ".eval", ".txt")
"""Endings of files that something reads; those of tools (`others` of the corpus) among them."""


def damage(folder: Path, chance: random.Random) -> str:
    """Break one thing of a workspace; what was done, in a word."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    if not files:
        return "nothing is left"
    path = chance.choice([file for file in files if file.suffix in READ] or files)
    kind = chance.choice([*_KINDS])
    _KINDS[kind](path, chance)
    return f"{kind} {path.relative_to(folder)}"


def use(
    folder: Path, out: Path, chance: random.Random
) -> Iterator[tuple[str, float, Exception | None]]:
    """Have everything read it that reads; how long each took, and what it raised."""
    ws: list[sen.Workspace] = []
    steps: dict[str, Callable[[], object]] = {
        "load": lambda: ws.append(sen.load(folder)),
        "tables": lambda: [ws[0].polars(name) for name in TABLES] if ws else None,
        "check": lambda: check(folder),
        "convert": lambda: convert(folder, out),
        "report": lambda: markdown(ws[0]) if ws else None,
        "inspect": lambda: ws and HAS_INSPECT and sen.report.write_inspect(ws[0], out / "logs"),
        "explore": lambda: sen.explore(ws[0]) if ws else None,
        "review": lambda: sen.review(ws[0]) if ws else None,
    }
    for name, step in steps.items():
        began, fault = time.perf_counter(), None
        try:
            step()
        except Exception as error:  # noqa: BLE001 -- what it looks for
            if not (name in ("load", "check", "convert") and isinstance(error, DOCUMENTED)):
                fault = error
        yield name, time.perf_counter() - began, fault


def rounds(source: Path, seeds: range) -> Iterator[tuple[int, str, str, float, Exception | None]]:
    """Seed, damage, step, seconds and fault of each step on each damaged copy."""
    for seed in seeds:
        chance = random.Random(seed)
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made, source.name)
            shutil.copytree(source, folder, symlinks=True)
            done = ", ".join(damage(folder, chance) for _ in range(chance.randint(1, 3)))
            for name, seconds, fault in use(folder, Path(made, "out"), chance):
                yield seed, done, name, seconds, fault


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="workspaces; the bundled ones if none")
    parser.add_argument("--rounds", type=int, default=50, help="of each workspace")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    slow: list[tuple[float, str]] = []
    faults = 0
    for source in options.paths or sorted((ROOT / "data").glob("*-workspace")):
        seeds = range(options.seed, options.seed + options.rounds)
        for seed, done, name, seconds, fault in rounds(source, seeds):
            slow.append((seconds, f"{name}, seed {seed} of {source.name}: {done}"))
            if fault is not None:
                faults += 1
                print(f"{slow[-1][1]}: {type(fault).__name__}: {str(fault)[:200]}")
                print("  ", *traceback.format_exception(fault)[-3:], flush=True)
    print(f"{faults} faults in {len(slow)} steps; the slowest:")
    for seconds, what in sorted(slow, reverse=True)[:5]:
        print(f"  {seconds:.2f} s  {what}")
    raise SystemExit(faults > 0)


def _bits(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes() or b"x")
    for _ in range(chance.randint(1, 8)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _cut(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data) + 1)])


def _value(path: Path, chance: random.Random) -> None:
    """Another value, key or type somewhere inside."""
    whole = _parsed(path)
    spots = list(_spots(whole))
    if not spots:
        path.write_text(json.dumps(chance.choice(VALUES)))
        return
    inside, key = chance.choice(spots)
    match chance.randrange(4):
        case 0:
            inside[key] = chance.choice(VALUES)
        case 1:
            inside[key] = [inside[key]]
        case 2 if isinstance(inside, dict):
            inside[f"{key}_"] = inside.pop(key)
        case _:
            inside[key] = (
                whole if chance.random() < 0.1 and inside is not whole else {key: inside[key]}
            )
    try:
        path.write_text(json.dumps(whole))
    except ValueError:  # it holds itself
        path.write_text("{}")


def _deep(path: Path, chance: random.Random) -> None:
    """A key that nobody knows, nested deeply."""
    n, (begin, end) = chance.choice(DEEP), chance.choice([("[", "]"), ('{"a":', "}")])
    whole = path.read_text("utf-8", "replace").rstrip()
    nested = f'"unknown": {begin * n}1{end * n}'
    path.write_text(f"{whole[:-1]}, {nested}}}" if whole.endswith("}") else f"{{{nested}}}")


def _encoding(path: Path, chance: random.Random) -> None:
    text = path.read_text("utf-8", "replace")
    kinds = ("utf-16", "utf-16-le", "utf-32-be", "utf-8-sig", "latin-1", "cp037")
    path.write_bytes(text.encode(chance.choice(kinds), "replace"))


def _tree(path: Path, chance: random.Random) -> None:
    match chance.randrange(4):
        case 0:
            path.unlink()
        case 1:
            path.unlink()
            path.mkdir()
        case 2:
            path.rename(path.with_name(chance.choice(["grading.json", "evals.json", "x" * 200])))
        case _:
            inner = path.parent / chance.choice(
                ["run-1", "with_skill", "iteration-9", "eval-\udcff", "*"]
            )
            if not inner.exists():
                shutil.copytree(path.parent, inner, symlinks=True, ignore=lambda *_: [inner.name])


def _link(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to(chance.choice(["/etc/hostname", "nowhere", path.name, "..", "/dev/zero", "."]))


def _pipe(path: Path, _: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


_KINDS: dict[str, Callable[[Path, random.Random], None]] = {
    "bits": _bits,
    "cut": _cut,
    "value": _value,
    "deep": _deep,
    "encoding": _encoding,
    "tree": _tree,
    "link": _link,
    "pipe": _pipe,
    "text": lambda path, chance: path.write_text(chance.choice(TEXTS)) and None,
}


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None


def _spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a value that holds another one."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield value, key
        yield from _spots(value[key])


if __name__ == "__main__":
    main()
