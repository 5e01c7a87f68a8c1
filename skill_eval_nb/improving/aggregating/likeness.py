"""How alike texts are, word by word: inflections and typing errors count as nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from .words import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEARLY = 78
"""Two words with the same first letter are alike from this ratio of rapidfuzz (0-100) on."""
FRAME = 65
"""From this ratio on, two texts have the same frame."""
SHARED = 0.1
"""The cosine from which on the frame is looked at; below it, two texts share next to nothing."""
STEEP = 8.0
"""How much less alike texts of the same frame are whose other words differ."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Texts as vectors of weighted words, and which words are alike (0-1)."""

    texts: tuple[str, ...]
    vectors: csr_array
    alike: csr_array


def measure(texts: Sequence[str]) -> Measured:
    """The words of texts as vectors; a word counts the more, the fewer texts have it."""
    said = [words(text) for text in texts]
    vocabulary = sorted({word for one in said for word in one})
    place = {word: index for index, word in enumerate(vocabulary)}
    rows = np.repeat(np.arange(len(said)), [len(one) for one in said])
    columns = np.array([place[word] for one in said for word in one], dtype=np.intp)
    weights = np.array([weight for one in said for weight in one.values()])
    shape = (len(said), len(vocabulary))
    alike = _alike(vocabulary)
    held = csr_array(csr_array((np.ones(len(rows)), (rows, columns)), shape=shape) @ alike)
    held.data = np.minimum(held.data, 1)
    rarity = 1 + np.log((len(said) + 1) / np.maximum(held.sum(axis=0), 1))
    vectors = csr_array((weights * rarity[columns], (rows, columns)), shape=shape)
    return Measured(tuple(texts), vectors, alike)


def likeness(measured: Measured, rows: Sequence[int]) -> NDArray[np.float64]:
    """How alike some of the texts are, 0-1: the soft cosine of their words.

    Two sentences that differ in one word, as "nothing checks the head" and "nothing checks the
    rows", speak of two things: where the whole texts are nearly the same (`FRAME`), what
    differs counts the more.

    Args:
        measured: all texts.
        rows: which of them.

    Returns:
        A square of `len(rows)`.
    """
    from rapidfuzz import fuzz, process

    part = measured.vectors[list(rows)]
    both = (part @ measured.alike @ part.T).toarray()
    own = np.sqrt(np.maximum(both.diagonal(), 1e-12))
    cosine = np.clip(both / own[:, None] / own[None, :], 0, 1)
    texts = [measured.texts[row].casefold() for row in rows]
    one, other = np.nonzero(np.triu(cosine > SHARED, 1))
    frame = process.cpdist(
        [texts[row] for row in one], [texts[row] for row in other], scorer=fuzz.ratio
    )
    cosine[one, other] **= 1 + STEEP * np.maximum(0, frame - FRAME) / 100
    cosine[other, one] = cosine[one, other]
    return cosine


def _alike(vocabulary: Sequence[str]) -> csr_array:
    """How alike words are: 1 for a word and itself, 0 below `NEARLY`.

    The first letters must be the same: `valid` and `invalid` are opposites.
    """
    from rapidfuzz import fuzz, process

    initials = np.array([ord(word[0]) for word in vocabulary])
    bounds = [0, *(np.flatnonzero(np.diff(initials)) + 1), len(vocabulary)]
    found = [(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))]
    for begin, end in pairwise(bounds):
        part = vocabulary[begin:end]
        scores = process.cdist(part, part, scorer=fuzz.ratio, score_cutoff=NEARLY, dtype=np.float32)
        row, column = scores.nonzero()
        found.append((row + begin, column + begin, scores[row, column] / 100))
    rows, columns, values = (np.concatenate(one) for one in zip(*found, strict=True))
    return csr_array((values, (rows, columns)), shape=(len(vocabulary), len(vocabulary)))
