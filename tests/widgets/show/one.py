"""One file of a run, as it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from skill_eval_nb.widgets.show.files import OutputFile, Sheet, output_files
from skill_eval_nb.widgets.show.outputs import draw_file, pictures_of
from tests.widgets.trees import text


def written(run: Path, name: str, data: bytes | str) -> OutputFile:
    """A file among the outputs of a run."""
    path = run / "outputs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return next(one for one in output_files(run) if one.name == name)


def draw(run: Path, name: str, data: bytes | str, waits: float = 30) -> Sheet:
    """What is to be seen of a file with this content."""
    file = written(run, name, data)
    return draw_file(file, pictures_of(output_files(run)), waits)


def said(run: Path, name: str, data: bytes | str) -> str:
    """The text of that."""
    return text(draw(run, name, data).view)


def junk(names: Sequence[str], *words: str) -> st.SearchStrategy[Any]:
    """What may stand in JSON, with these keys, and these among its texts."""
    texts = st.sampled_from(["", *words])
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4) | texts,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(names), inner, max_size=6)
        ),
        max_leaves=25,
    )


def dense(words: str) -> str:
    """A text without its spaces: a tree has some of its own."""
    return "".join(words.split())
