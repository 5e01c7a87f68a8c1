"""The harness's only way to a model: it adds the key, and meters every call.

It listens on a socket that only the sandbox's own forwarder reaches, or on loopback where the
user does without a sandbox.
"""

from .relay import Relay

__all__ = ["Relay"]
