"""The stand-in model as tests want it: it fails on demand, waits, keeps a log, and is served."""

from .faults import Fault, RiggedStandIn
from .ways import serve

__all__ = ["Fault", "RiggedStandIn", "serve"]
