"""What axe-core finds that would keep somebody from using a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

GRAVE = ("serious", "critical")


def serious(page: Page) -> list[str]:
    """Its serious and critical findings: the rule, the element, and what is wrong with it."""
    found = Axe().run(page, options={"resultTypes": ["violations"], "iframes": False})
    return [
        f"{violation['id']}: {' '.join(map(str, node['target']))}: {_wrong(node)}"
        for violation in found.response["violations"]
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]


def _wrong(node: dict[str, Any]) -> str:
    return "; ".join(one["message"] for one in [*node["any"], *node["all"], *node["none"]])
