"""The API's forms of what is listed: models and batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def model(name: str) -> dict[str, Any]:
    """A model as `/v1/models` has it; its name for display says that it is none."""
    return {
        "type": "model",
        "id": name,
        "display_name": f"{name} (no model: answers by rules and a seed)",
        "created_at": "1970-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": 1_000_000,
        "max_tokens": 128_000,
    }


def listed(items: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A list, all on one page."""
    data = list(items)
    return {
        "data": data,
        "has_more": False,
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
    }


def seen(batch: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """A batch as the client sees it: the address of its results is the client's own."""
    ended = batch["processing_status"] == "ended"
    url = f"{origin}/v1/messages/batches/{batch['id']}/results" if ended else None
    return {**batch, "results_url": url}
