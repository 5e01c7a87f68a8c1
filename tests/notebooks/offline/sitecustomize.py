"""Python without a network: every way out but loopback is refused, and written down.

With this folder on PYTHONPATH, a JupyterLab, its kernels and whatever they start have no
network. `SKILL_EVAL_NB_REFUSED` names the file in which each attempt becomes a line.
"""

import ipaddress
import os
import sys
from pathlib import Path

PROXY = ("127.0.0.1", 9)
"""Where the desk sends whoever asks for a proxy; nobody answers there."""


def _leaves(host: object) -> bool:
    if not isinstance(host, str) or host in ("", "localhost"):
        return False
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return True
    return not (address.is_loopback or address.is_unspecified)


def _refuse(event: str, arguments: tuple) -> None:
    if event == "socket.getaddrinfo":
        host, port = arguments[:2]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host, port = arguments[1][:2]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if not _leaves(host) and (host, port) != PROXY:
        return
    with Path(os.environ["SKILL_EVAL_NB_REFUSED"]).open("a") as file:
        file.write(f"{host}:{port}\n")
    message = f"there is no network here: {host}:{port}"
    raise OSError(message)


if "SKILL_EVAL_NB_REFUSED" in os.environ:
    sys.addaudithook(_refuse)
