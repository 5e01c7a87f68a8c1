"""Executors: what works on a prompt, behind one small protocol."""

from .protocol import Execution, Executor, Limits, SandboxKind, Skill, Task
from .registry import GROUP, executor, executor_names

__all__ = [
    "GROUP",
    "Execution",
    "Executor",
    "Limits",
    "SandboxKind",
    "Skill",
    "Task",
    "executor",
    "executor_names",
]
