"""Inside the sandbox: forward connections from a port on loopback to the relay's socket.

The sandbox has its own empty network, and this is its only way out. The file runs by itself, with
only the standard library, and is the parent of the harness: `forwarder.py SOCKET PORT COMMAND …`.
It ends when the command ends, with the same exit code, and so does everything that the command left
running; its last line says how many processes that were.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path

PROC = Path("/proc")
PIECE = 64 * 1024
LOOKS, APART = 10, 0.02
"""How often, and how many seconds apart, to check whether remaining processes have ended."""


async def copy_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy until either side is closed."""
    with contextlib.suppress(OSError):
        while data := await reader.read(PIECE):
            writer.write(data)
            await writer.drain()


async def forward(path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forward one connection, both ways, until either side closes it."""
    try:
        far_reader, far_writer = await asyncio.open_unix_connection(path)
    except OSError:
        writer.close()
        return
    ways = {
        asyncio.ensure_future(copy_stream(reader, far_writer)),
        asyncio.ensure_future(copy_stream(far_reader, writer)),
    }
    # A client that closes has given up, and a complete answer closes its connection.
    _, rest = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for way in rest:
        way.cancel()
    await asyncio.gather(*ways, return_exceptions=True)
    far_writer.close()
    writer.close()


async def run_behind_relay(path: str, port: int, command: list[str]) -> int:
    """Listen, start the command with this process's own streams, and wait for its end."""
    server = await asyncio.start_server(
        lambda reader, writer: forward(path, reader, writer), "127.0.0.1", port
    )
    async with server:
        process = await asyncio.create_subprocess_exec(*command)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, process.terminate)
        code = await process.wait()
        if left := await left_behind():
            event = {"type": "system", "subtype": "left_behind", "left": left}
            sys.stdout.write(f"{json.dumps(event)}\n")
            sys.stdout.flush()
        return code


async def left_behind() -> int:
    """How many processes of the sandbox are still running after a short wait."""
    left = count_others()
    for _ in range(LOOKS):
        if not left:
            break
        await asyncio.sleep(APART)
        left = count_others()
    return left


def count_others() -> int:
    """How many processes there are apart from this one and its parents."""
    parents = {
        int(entry.name): parent_of(entry) for entry in PROC.iterdir() if entry.name.isdecimal()
    }
    above, known = os.getpid(), set[int]()
    while above and above not in known:
        known.add(above)
        above = parents.get(above) or 0
    return sum(by is not None and pid not in known for pid, by in parents.items())


def parent_of(process: Path) -> int | None:
    """A process's parent; None if it has ended."""
    try:
        state, number = (process / "stat").read_bytes().rpartition(b")")[2].split()[:2]
    except OSError:
        return None
    return None if state in (b"Z", b"X") else int(number)


if __name__ == "__main__":
    code = asyncio.run(run_behind_relay(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
    sys.exit(code if code >= 0 else 128 - code)
