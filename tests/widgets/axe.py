"""What axe-core finds that would keep somebody from using a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Page

GRAVE = ("serious", "critical")

OF_LOOKS = (
    "color-contrast",
    "link-in-text-block",
    "scrollable-region-focusable",
    "th-has-data-cells",
)
"""The rules whose findings depend on colours, or on what has room: the others ask for elements."""

FOUND = "([within, options]) => axe.run(within, options).then(({violations}) => violations)"


def serious(page: Page, rules: Sequence[str] = (), within: str = "html") -> list[str]:
    """Its serious and critical findings: the rule, the element, and what is wrong with it.

    All rules are asked, or those named alone, of all the page or of the elements that a
    selector finds.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(Axe().axe_script)
    options = {"resultTypes": ["violations"], "iframes": False}
    found = page.evaluate(FOUND, [within, options | ({"runOnly": list(rules)} if rules else {})])
    return [
        f"{violation['id']}: {' '.join(map(str, node['target']))}: {_wrong(node)}"
        for violation in found
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]


def _wrong(node: dict[str, Any]) -> str:
    return "; ".join(one["message"] for one in [*node["any"], *node["all"], *node["none"]])
