"""Inside the sandbox: carry connections to a port on loopback over to the relay's socket.

The sandbox has a network of its own with nothing on it, and this is its only way out. The
file runs by itself, with nothing but Python's own library, and is the parent of the harness:
`forwarder.py SOCKET PORT COMMAND …`. It ends as the command ends, with its exit code.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys

PIECE = 64 * 1024


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy until one of the two is closed."""
    with contextlib.suppress(OSError):
        while data := await reader.read(PIECE):
            writer.write(data)
            await writer.drain()


async def forward(path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry one connection over, both ways, until either side closes it."""
    try:
        far_reader, far_writer = await asyncio.open_unix_connection(path)
    except OSError:
        writer.close()
        return
    ways = {
        asyncio.ensure_future(carry(reader, far_writer)),
        asyncio.ensure_future(carry(far_reader, writer)),
    }
    # A client that closes has given up, and an answer that ends has closed its connection.
    _, rest = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for way in rest:
        way.cancel()
    await asyncio.gather(*ways, return_exceptions=True)
    far_writer.close()
    writer.close()


async def run(path: str, port: int, command: list[str]) -> int:
    """Listen, start the command with this process's own streams, and wait for it."""
    server = await asyncio.start_server(
        lambda reader, writer: forward(path, reader, writer), "127.0.0.1", port
    )
    async with server:
        process = await asyncio.create_subprocess_exec(*command)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, process.terminate)
        return await process.wait()


if __name__ == "__main__":
    code = asyncio.run(run(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
    sys.exit(code if code >= 0 else 128 - code)
