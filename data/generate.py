"""Write the bundled workspaces: ``python data/generate.py``.

With ``--check`` nothing is written; the exit code is 1 if a file on disk is not what would be
written, is missing, or should not be there. The README.md of each workspace is written by hand
and left alone. Same script, same bytes: all chance is seeded (see `making/model.py`).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from making import codingbuddy, iterations, skill_creator, tdd, test_cases

DATA = Path(__file__).parent
WORKSPACES = {
    "codingbuddy-workspace": codingbuddy.files,
    "iterations-workspace": iterations.files,
    "skill-creator-workspace": skill_creator.files,
    "tdd-workspace": tdd.files,
    "test-cases-workspace": test_cases.files,
}
BY_HAND = "README.md"


def wanted() -> dict[Path, bytes]:
    """Every generated file: path and content."""
    return {
        DATA / workspace / path: text.encode("utf-8")
        for workspace, files in WORKSPACES.items()
        for path, text in files().items()
    }


def present() -> set[Path]:
    """The files on disk in the workspaces, but those written by hand."""
    return {
        path
        for workspace in WORKSPACES
        for path in (DATA / workspace).rglob("*")
        if path.is_file() and path != DATA / workspace / BY_HAND
    }


def differences(files: dict[Path, bytes]) -> list[str]:
    """What on disk is not as it would be written."""
    found = [f"should not be there: {path}" for path in sorted(present() - files.keys())]
    for path, content in sorted(files.items()):
        if not path.is_file():
            found.append(f"missing: {path}")
        elif path.read_bytes() != content:
            found.append(f"differs: {path}")
    return found


def write(files: dict[Path, bytes]) -> None:
    """Bring the files on disk to what is wanted."""
    for path in present() - files.keys():
        path.unlink()
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def main() -> int:
    """Write, or with ``--check`` compare; the exit code."""
    parser = argparse.ArgumentParser(description="Write the bundled workspaces.")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    files = wanted()
    if not parser.parse_args().check:
        write(files)
        print(f"{len(files)} files written below {DATA}")
        return 0
    found = differences(files)
    print("\n".join(found) or f"{len(files)} files are as they would be written")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
