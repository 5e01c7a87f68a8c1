"""How a widget is made: a tree of plain values, the actions it names, and one script to draw it."""

from .panel import Panel, action, offer, quiet_action, style
from .tree import Child, Node, elements, find, h, text

__all__ = [
    "Child",
    "Node",
    "Panel",
    "action",
    "elements",
    "find",
    "h",
    "offer",
    "quiet_action",
    "style",
    "text",
]
