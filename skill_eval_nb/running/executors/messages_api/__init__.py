"""The executor `messages-api`: a model and a few tools, with nothing in between.

A plain loop over `/v1/messages`: the model asks for tools, they act in the sandbox, their
results go back, until the model says that it is done. Both sides have the same tools; with a
skill, its name and description are listed, and its body comes when the model opens it.
"""

from .executor import MessagesApi

__all__ = ["MessagesApi"]
