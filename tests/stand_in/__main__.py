"""Serve the stand-in by itself: `python -m tests.stand_in SECONDS [LOG]`, each answer so late."""

import signal
import sys
import threading

from . import RiggedStandIn, serve

done = threading.Event()
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: done.set())
_, seconds, *log = sys.argv
with serve(RiggedStandIn(latency=float(seconds), log=log[0] if log else None)) as address:
    print(address, flush=True)
    done.wait()
