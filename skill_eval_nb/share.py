"""The notebooks and the bundled data that come with the package."""

from __future__ import annotations

import shutil
from pathlib import Path

PACKAGE = Path(__file__).parent


def share() -> Path:
    """The folder that holds `notebooks/` and `data/`: in the installed package, or the checkout."""
    installed = PACKAGE / "_share"
    return installed if installed.is_dir() else PACKAGE.parent


def bundled_workspaces() -> list[Path]:
    """The workspaces of the bundled data, one a dialect. They are made up, and say so."""
    return sorted((share() / "data").glob("*-workspace"))


def copy_notebooks(folder: Path) -> list[Path]:
    """Copy the notebooks and their data into `folder`; what is there already stays as it is.

    Returns the notebooks in the copy.
    """
    for name in ("notebooks", "data"):
        for source in sorted((share() / name).rglob("*")):
            target = folder / name / source.relative_to(share() / name)
            hidden = any(part.startswith((".", "__")) for part in target.relative_to(folder).parts)
            if source.is_file() and not hidden and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
    return sorted((folder / "notebooks").glob("*.ipynb"))
