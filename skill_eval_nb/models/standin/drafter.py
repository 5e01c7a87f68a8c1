"""The stand-in as drafter: drops what tells nothing, and checks for what suggestions name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from . import reading
from .stand_in import StandIn

PART = re.compile(
    r'<(?P<tag>checks|suggestions) nonce="(?P<nonce>[^"]+)">\n'
    r'(?P<text>.*?)\n</(?P=tag) nonce="(?P=nonce)">',
    re.DOTALL,
)
CHECK = re.compile(
    r"^\[(?P<id>C\d+)\] \((?P<layer>structural|judged)(?P<gate>; critical)?; "
    r"evals (?P<evals>[^)]*)\) "
    r"(?:(?P<name>\S+) \()?‘(?P<text>.*?)’.*: (?P<figures>it .*)$",
    re.MULTILINE | re.IGNORECASE,
)
SUGGESTION = re.compile(
    r"^\[(?P<id>G\d+)\] \(\d+ runs; .*?; evals (?P<evals>[^)]*)\) (?P<text>.*)$", re.MULTILINE
)
NAMED = re.compile(r"`([^`]{2,60})`")
FIELDS = (
    *("text", "type", "description", "pattern", "match", "match_any", "match_regex", "critical"),
    *("count", "operator", "name", "weight", "anchor_1", "anchor_3", "anchor_5", "prompt"),
)


def answer(_: StandIn, request: Mapping[str, Any]) -> dict[str, Any]:
    """The drafter's answer: at most one check to drop, and a check for each name in backticks."""
    texts = [text for message in request["messages"] for text in reading.texts(message["content"])]
    parts = {one["tag"]: one["text"] for one in PART.finditer("\n".join(texts))}
    dropped = list(_dropped(parts.get("checks", "")))[:1]
    return {"drafts": [*dropped, *_added(parts.get("suggestions", ""))]}


def _dropped(checks: str) -> Iterator[dict[str, Any]]:
    for one in CHECK.finditer(checks):
        if not one["gate"] and "does not tell the sides apart" in one["figures"]:
            structural = one["layer"] == "structural"
            yield {
                "why": f"{one['name'] or 'It'} has the same verdict on both sides in every run.",
                "rests_on": [one["id"]],
                "kind": "drop",
                "part": "structural_expectations" if structural else "expectations",
                "evals": one["evals"].split(", "),
                "target": one["id"],
                "items": [],
            }


def _added(suggestions: str) -> Iterator[dict[str, Any]]:
    for one in SUGGESTION.finditer(suggestions):
        for name in NAMED.findall(one["text"]):
            item = dict.fromkeys(FIELDS) | {
                "type": "file_contains",
                "description": f"An output file names {name}",
                "match": name,
                "critical": False,
            }
            yield {
                "why": f"Graders miss a check of `{name}`.",
                "rests_on": [one["id"]],
                "kind": "add",
                "part": "structural_expectations",
                "evals": one["evals"].split(", "),
                "target": None,
                "items": [item],
            }
