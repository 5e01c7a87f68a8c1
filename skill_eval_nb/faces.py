"""The faces of rooms: names that are imported when they are first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def load_lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package that loads nothing before it is used.

    Args:
        package: its name.
        homes: by the module, as `import_module` takes it from there, the names that come from
            it; those at "" are modules themselves.
    """
    found = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in found:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not found[name]:
            return importlib.import_module(f".{name}", package)
        value = getattr(importlib.import_module(found[name], package), name)
        setattr(sys.modules[package], name, value)  # the next time it is there
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *found})
