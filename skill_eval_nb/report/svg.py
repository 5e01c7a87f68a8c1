"""Charts as SVG that stands inside a page: nothing to fetch, names that do not clash."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from altair.typing import ChartType

_OPENING = re.compile(r"<svg[^>]*>")
_SIZE = re.compile(r'\b(width|height|viewBox)="([^"]*)"')
_NAME = re.compile(r'(<\w+ id="|="url\(#)')


def inline_svg(chart: ChartType, alt: str, name: str) -> str:
    """A chart as an `<svg>` element for HTML.

    Args:
        chart: an Altair chart.
        alt: what it shows, for those who cannot see it.
        name: begins the names inside it, so that several charts can share a page.
    """
    import vl_convert

    spec = chart.to_dict(validate=False)  # our own, and tested: most of the time
    # one text for the whole picture: those for every mark would repeat all evidence
    spec["config"] = {**spec.get("config", {}), "aria": False}
    drawn = vl_convert.vegalite_to_svg(spec)
    opening = _OPENING.search(drawn)
    assert opening, "vl-convert gave no SVG"
    size = " ".join(f'{key}="{value}"' for key, value in _SIZE.findall(opening[0]))
    inside = _NAME.sub(rf"\1{name}-", drawn[opening.end() :])
    return f'<svg role="img" aria-label="{html.escape(alt)}" {size}>{inside}'
