"""Where installed entry points look for the executor `offline`."""

from .messages_api import Offline

__all__ = ["Offline"]
