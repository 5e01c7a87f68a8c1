"""The executor `claude-code`: the real harness, started through `claude-agent-sdk`.

The harness runs as a whole in the sandbox, with no network but a relay to the model's API and
with no key: the relay outside adds it, and reserves and settles every call with the meter.
"""

from .executor import ClaudeCode

__all__ = ["ClaudeCode"]
