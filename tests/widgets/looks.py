"""What a page shows, as everybody sees it: light in a wide window, dark in a narrow one.

A tour is made once, dark and narrow, where what is clicked has least room; where it is worth
looking around, the same page is looked at in both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.checkout import ROOT
from tests.widgets.axe import OF_LOOKS, serious

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.widgets.stage import Look, Stage

PICTURES = ROOT / "build" / "screenshots"
OVERFLOW = "() => document.documentElement.scrollWidth - innerWidth"

NARROW: Look = ("dark", 600)
WIDE: Look = ("light", 1200)


def looked_at(
    stage: Stage, name: str = "", looks: Sequence[Look] = (NARROW, WIDE), within: str = "html"
) -> None:
    """Everybody can use it in each look, and nothing runs over the edge.

    Axe looks at what is `within`, and asks all rules in the last look, the widest: a narrower
    one shows no element besides. A picture of the last is kept under a name: each costs as much as
    axe does. In the end the page looks as it does in the first.
    """
    stage.unroll()
    for look in looks:
        stage.dress(*look)
        rules = () if look == looks[-1] else OF_LOOKS
        assert serious(stage.page, rules, within) == [], look
        assert stage.page.evaluate(OVERFLOW) <= 0, look
    if name:
        stage.keep(PICTURES / f"{name}.png")
    stage.dress(*looks[0])
