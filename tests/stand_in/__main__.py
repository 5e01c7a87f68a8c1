"""Serve the stand-in by itself: `python -m tests.stand_in SECONDS`, each answer so late."""

import signal
import sys
import threading

from . import RiggedStandIn, serve

done = threading.Event()
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: done.set())
with serve(RiggedStandIn(latency=float(sys.argv[1]))) as address:
    print(address, flush=True)
    done.wait()
