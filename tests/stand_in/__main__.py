"""Serve the stand-in by itself: `python -m tests.stand_in --port 8765`."""

from __future__ import annotations

import argparse
import dataclasses
import signal
import threading

from . import RiggedStandIn, serve


def main() -> None:
    """Serve until interrupted; the address is printed first."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.stand_in",
        description="Serve the stand-in model on 127.0.0.1. Its answers come from no model.",
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    for field in dataclasses.fields(RiggedStandIn):
        if field.name != "faults":
            kind = str if field.default is None else type(field.default)
            name = "--" + field.name.replace("_", "-")
            parser.add_argument(name, dest=field.name, type=kind, default=field.default)
    fields = vars(parser.parse_args())
    port = fields.pop("port")
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    with serve(RiggedStandIn(**fields), port) as address:
        print(address, flush=True)
        done.wait()


if __name__ == "__main__":
    main()
