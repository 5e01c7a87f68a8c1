"""The stand-in model as tests want it: it fails on demand, waits, keeps a log, and is served."""

from .rigged import Fault, RiggedStandIn, logged, serve

__all__ = ["Fault", "RiggedStandIn", "logged", "serve"]
