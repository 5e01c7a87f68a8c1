"""The dialects: one module each, and what reads, writes, recognises and checks them all.

A dialect's module holds nothing but facts: a `Dialect`, with the form in which it writes each
kind of document that it has, and where they lie.
"""

from .reading import PATHS, Source, check, read, source_of, write
from .recognition import DIALECTS, NEUTRAL, NoSuchDocument, form_of, is_foreign, kind_of, recognise

__all__ = [
    "DIALECTS",
    "NEUTRAL",
    "PATHS",
    "NoSuchDocument",
    "Source",
    "check",
    "form_of",
    "is_foreign",
    "kind_of",
    "read",
    "recognise",
    "source_of",
    "write",
]
