"""Message batches: taken in, worked off when they are due, kept by id."""

from __future__ import annotations

import json
import secrets
import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import write_atomic

from .settings import uniform

OUTCOMES = ("succeeded", "errored", "canceled", "expired")


class Batches:
    """The batches of one app. Safe among threads.

    A batch is worked off when it is first looked at after its time: until then it is
    `in_progress` and can be cancelled. With a folder each batch is a file in it, so that a
    process that comes later finds it; without one they are kept in memory.
    """

    def __init__(
        self,
        folder: str | None,
        seconds: float,
        work: Callable[[str, str, Any], dict[str, Any]],
    ) -> None:
        """`work(batch id, custom id, request)` gives the result of one request."""
        self._folder = Path(folder) if folder else None
        self._seconds = seconds
        self._work = work
        self._held: dict[str, dict[str, Any]] = {}
        self._lock = threading.RLock()

    def create(self, requests: list[dict[str, Any]]) -> dict[str, Any]:
        """The new batch."""
        now, name = datetime.now(UTC), "msgbatch_" + secrets.token_hex(12)
        batch = {
            "id": name,
            "type": "message_batch",
            "processing_status": "in_progress",
            "request_counts": dict.fromkeys(OUTCOMES, 0) | {"processing": len(requests)},
            "created_at": now.isoformat(),
            "expires_at": (now + timedelta(hours=24)).isoformat(),
            "ended_at": None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": None,
        }
        due = now.timestamp() + self._seconds
        with self._lock:
            self._keep({"due": due, "requests": requests, "results": None, "batch": batch})
        return batch

    def batch(self, name: str) -> dict[str, Any] | None:
        """A batch as it stands now, None where none has this id."""
        with self._lock:
            entry = self._due(name)
        return entry["batch"] if entry else None

    def cancel(self, name: str) -> dict[str, Any] | None:
        """Cancel what is not worked off; the batch as the canceller sees it."""
        with self._lock:
            entry = self._due(name)
            if entry is None or entry["results"] is not None:
                return entry and entry["batch"]
            entry["batch"]["cancel_initiated_at"] = datetime.now(UTC).isoformat()
            shown = {**entry["batch"], "processing_status": "canceling"}
            self._end(entry, lambda *_: {"type": "canceled"})
        return shown

    def results(self, name: str) -> list[dict[str, Any]] | None:
        """The results in an order of their own, None where there are none (yet)."""
        with self._lock:
            entry = self._due(name)
        return entry["results"] if entry else None

    def _due(self, name: str) -> dict[str, Any] | None:
        entry = self._held.get(name)
        file = self._folder and self._folder / f"{name}.json"
        if file and file.is_file():
            entry = json.loads(file.read_bytes())
        if entry and entry["results"] is None and entry["due"] <= datetime.now(UTC).timestamp():
            self._end(entry, self._work)
        return entry

    def _end(self, entry: dict[str, Any], work: Callable[[str, str, Any], dict[str, Any]]) -> None:
        batch = entry["batch"]
        name = batch["id"]
        entry["results"] = [
            {"custom_id": row["custom_id"], "result": work(name, row["custom_id"], row["params"])}
            for row in entry["requests"]
        ]
        # The API promises no order, so nobody may lean on one.
        entry["results"].sort(key=lambda result: uniform(name, result["custom_id"]))
        kinds = Counter(result["result"]["type"] for result in entry["results"])
        batch["request_counts"] = {kind: kinds[kind] for kind in ("processing", *OUTCOMES)}
        batch["processing_status"] = "ended"
        batch["ended_at"] = datetime.now(UTC).isoformat()
        batch["results_url"] = f"/v1/messages/batches/{name}/results"
        self._keep(entry)

    def _keep(self, entry: dict[str, Any]) -> None:
        name = entry["batch"]["id"]
        if self._folder is None:
            self._held[name] = entry
        else:
            write_atomic(self._folder / f"{name}.json", json.dumps(entry).encode())
