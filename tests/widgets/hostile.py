"""What a file may hold to get at whoever looks at it; and whether any of it has run.

Each text would set `canary` in the page, or break what shows it, if anything read it as more
than a text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from skill_eval_nb.widgets.ui import h
from skill_eval_nb.widgets.ui.tree import EMPTY, TAGS

if TYPE_CHECKING:
    from playwright.sync_api import Page

MARKUP = (
    "<script>top.canary = window.canary = 1</script>",
    "</script><script>top.canary = window.canary = 1</script>",
    "</textarea></title></style><script>window.canary = 1</script>",
    "--><img src=x onerror='top.canary = window.canary = 1'>",
    '"><img src=x onerror=window.canary=1>',
    "' autofocus onfocus='window.canary = 1' x='",
    "<svg onload=window.canary=1><script>window.canary = 1</script></svg>",
    "<svg><a xlink:href='javascript:window.canary=1'><text y=9>x</text></a></svg>",
    "<details open ontoggle=window.canary=1>",
    "<iframe srcdoc='<script>top.canary = 1</script>'></iframe>",
    "<iframe src='javascript:top.canary=1'></iframe>",
    "<object data='data:text/html,<script>top.canary=1</script>'></object>",
    "<a href='javascript:window.canary=1'>link</a>",
    "<a href=' java\nscript:window.canary=1' target=_top>link</a>",
    "<form action='javascript:window.canary=1'><button>go</button></form>",
    "<meta http-equiv=refresh content='0;url=javascript:window.canary=1'>",
    "<base href='http://outside.test/'><img src=a>",
    "<style>* {background: url(http://outside.test/b)} @import 'http://outside.test/c';</style>",
    "<link rel=stylesheet href=http://outside.test/d><link rel=prefetch href=http://outside.test/e>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.canary=1>",
    "<noscript><p title='</noscript><img src=x onerror=window.canary=1>'>",
    "<video src=http://outside.test/f poster=http://outside.test/g><audio src=http://outside.test/h>",
    "<input type=image src=http://outside.test/i><table background=http://outside.test/j>",
    "<p style='background: url(http://outside.test/k)'>styled</p>",
    "<object data=http://outside.test/l></object><img src=x srcset='http://outside.test/m 2x'>",
    "&lt;script&gt;window.canary = 1&lt;/script&gt;",
)
"""HTML and SVG."""

TEXTS = (
    *MARKUP,
    "javascript:window.canary=1",
    "data:text/html,<script>top.canary=1</script>",
    '[link](javascript:window.canary=1) ![x](x" onerror="window.canary=1)',
    "```html\n<script>window.canary = 1</script>\n```",
    "<!-- --!><script>window.canary = 1</script>",
    "${window.canary = 1} {{constructor.constructor('window.canary = 1')()}} #{canary}",
    "\\u003cscript\\u003ewindow.canary = 1\\u003c/script\\u003e",
    "\u202egnp.exe\u202c \u2066isolated",  # bidirectional marks, one of them never closed
    "\u05e9\u05dc\u05d5\u05dd 123 \u0645\u0631\u062d\u0628\u0627",
    "\x00nothing\x00 \x1b[31mred \x07",
    "half a pair \ud83d and a byte that is not text \udcff",
    "\ufeff\ufffe\uffff\u2028\u2029\u200b",
    "Z\u0351\u036b" * 60,
    "long" * 1000,
    "\n" * 50 + "far below",
    "\r\nlines\r",
    *("__proto__", "constructor", "toString", "null", "undefined", "NaN", "0", " ", ""),
    *("childNodes", "insertBefore", "document", "body", "querySelector", "jupyterapp"),
    *("../../secret", "a\\b:c*?.csv", "CON", "%2e%2e%2f"),
)
"""The same, and what else a name, a prompt or an output may be."""


LINE = "<script>window.canary=1</script>\t" * 100_000
"""Three million characters without a line break."""

PLANTED = """() => {
  const found = [];
  const look = (one) => {
    try { if (one.canary !== undefined) found.push(String(one.canary)); } catch {}
  };
  look(window);
  for (let at = 0; at < frames.length; at += 1) look(frames[at]);
  return found;
}"""


def canaries(page: Page) -> list[str]:
    """What has run, in the page or in a frame of it, that should not have."""
    found = []
    for frame in page.frames:
        found += [f"{one} in {frame.url}" for one in frame.evaluate(PLANTED)]
    return found


def squeezed(words: str) -> str:
    """The words without what is not seen, or may look different."""
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd-\uffff]", "", words)


def trees() -> st.SearchStrategy[Any]:
    """Trees as `h` may build them; without those elements whose text is not text of the page."""
    words = st.sampled_from(TEXTS) | st.text(st.characters(codec=None), max_size=30)
    tags = sorted(TAGS - EMPTY - {"option", "optgroup", "select"})
    attributes = st.fixed_dictionaries(
        {},
        optional={
            "title": words,
            "cls": words,
            "key": words,
            "id": words,
            "href": words,
            "dir": st.sampled_from(["auto", "rtl"]),
            "on": st.just({"click": ("say", 1)}),
            "aria_label": words,
        },
    )

    def node(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.builds(
            lambda tag, children, given: h(tag, children, **given),
            st.sampled_from(tags),
            st.lists(inside, max_size=4),
            attributes,
        )

    return st.lists(st.recursive(words, node, max_leaves=12), max_size=4)
