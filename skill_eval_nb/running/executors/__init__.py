"""Executors: they work on a prompt as an agent would, behind `running.protocol.Executor`."""
