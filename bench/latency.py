"""A slow HTTP/1.1 server over a directory: `python latency.py DIRECTORY [--delay MS] [--at-once N]`.

    request ──► one of N places ──► wait DELAY ──► 200, 206, 404 or 416 ──► the connection stays

Every request waits the delay, and N are served at once, whoever sends them. It answers GET and HEAD, and of ranges `a-b`,
`a-` and `-n`. `GET /-/counters` returns what was served since it was last asked, at once and uncounted. The first line of
output is the port.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
from pathlib import Path
from urllib.parse import unquote

RANGE = re.compile(r"bytes=(\d*)-(\d*)$")
PIECE = 1 << 20


class Server:
    def __init__(self, root: Path, delay: float, at_once: int) -> None:
        self.root, self.delay = root.resolve(), delay
        self.places = asyncio.Semaphore(at_once)
        self.counters = dict.fromkeys(("requests", "heads", "absent", "bytes", "connections"), 0)

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.counters["connections"] += 1
        # A client that goes away is no error of the server.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            while await self.request(reader, writer):
                pass
        writer.close()

    async def request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; false where the connection ends."""
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, version = lines[0].split(" ")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
        path = unquote(target.split("?")[0])
        if path == "/-/counters":
            body = json.dumps(self.counters).encode()
            self.counters = dict.fromkeys(self.counters, 0)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
            return True
        async with self.places:
            if self.delay:
                await asyncio.sleep(self.delay)
            self.counters["requests"] += 1
            self.counters["heads"] += method == "HEAD"
            await self.answer(writer, method, path, headers.get("range"))
        return version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"

    def open(self, path: str) -> int | None:
        """A descriptor of the file, where there is one below the root."""
        file = self.root / path.lstrip("/")
        if not file.resolve().is_relative_to(self.root) or not file.is_file():
            return None
        return os.open(file, os.O_RDONLY)

    async def answer(self, writer: asyncio.StreamWriter, method: str, path: str, wanted: str | None) -> None:
        file = self.open(path) if method in ("GET", "HEAD") else None
        if file is None:
            self.counters["absent"] += 1
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return await writer.drain()
        try:
            status = os.fstat(file)
            span = within(wanted, status.st_size)
            tag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
            head = ["HTTP/1.1 200 OK", "Accept-Ranges: bytes", "Content-Type: application/octet-stream", f"ETag: {tag}"]
            start, length = span or (0, 0)
            if span is None:
                head[0] = "HTTP/1.1 416 Range Not Satisfiable"
            elif wanted:
                head[0] = "HTTP/1.1 206 Partial Content"
                head.append(f"Content-Range: bytes {start}-{start + length - 1}/{status.st_size}")
            writer.write("\r\n".join([*head, f"Content-Length: {length}", "", ""]).encode())
            if method == "GET":
                self.counters["bytes"] += length
                await self.body(writer, file, start, length)
            await writer.drain()
        finally:
            os.close(file)

    async def body(self, writer: asyncio.StreamWriter, file: int, start: int, length: int) -> None:
        for at in range(start, start + length, PIECE):
            writer.write(os.pread(file, min(PIECE, start + length - at), at))
            await writer.drain()


def within(wanted: str | None, size: int) -> tuple[int, int] | None:
    """Start and length of a range; everything where there is none; `None` where it cannot be satisfied."""
    found = RANGE.match(wanted) if wanted else None
    if not found or found.groups() == ("", ""):
        return 0, size
    first, last = found.groups()
    if not first:
        length = min(int(last), size)
        return (size - length, length) if length else None
    start, end = int(first), min(int(last) if last else size - 1, size - 1)
    return (start, end - start + 1) if start <= end else None


async def serve(root: Path, delay: float, at_once: int) -> None:
    server = Server(root, delay, at_once)
    listening = await asyncio.start_server(server.connection, "127.0.0.1", 0, backlog=256)
    print(listening.sockets[0].getsockname()[1], flush=True)
    async with listening:
        await listening.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--delay", type=float, default=10, help="milliseconds")
    parser.add_argument("--at-once", type=int, default=16)
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(given.directory, given.delay / 1000, given.at_once))


if __name__ == "__main__":
    main()
