"""Generated documents: any JSON value."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

from skill_eval_nb.documents.dialects import NEUTRAL

TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12
).filter(str.strip)
WORDS = st.sampled_from(
    ["with_skill", "without_skill", "old_skill", "e-1", "3", "eval-2", "A", "B"]
)
NUMBERS = st.one_of(st.integers(-5, 200), st.floats(-5, 200, allow_nan=False))

KNOWN = sorted(
    {field.name for kind in NEUTRAL.values() for field in msgspec.structs.fields(kind)}
    | {"assertions", "with_skill", "evals", "entries", "score_a", "details", "per_case", "met"}
    | {"id", "text", "passed", "result", "configuration", "avg_ms", "pass_rate", "tokens", "name"}
)
KEYS = st.one_of(st.sampled_from(KNOWN), TEXT)

ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), NUMBERS, TEXT, WORDS, st.sampled_from(["3/3", "85%", "pass"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)
"""Any JSON value, with keys that documents have more often than not."""
