"""How a widget is made: a tree of plain values, the actions it names, and one script to draw it."""

from .panel import Panel, action, offer, quiet_action, style
from .tree import Child, Node, h

__all__ = [
    "Child",
    "Node",
    "Panel",
    "action",
    "h",
    "offer",
    "quiet_action",
    "style",
]
