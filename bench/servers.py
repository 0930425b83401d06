"""The servers of the remote rows, each a process that ends with its `with` block."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from peers.peer import S3_KEY, S3_SECRET

HERE = Path(__file__).parent
BUCKET = "bench"
COUNTERS = ("requests", "heads", "absent", "bytes", "connections")


class Latency:
    """A running `latency.py`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        self.url = f"http://127.0.0.1:{int(process.stdout.readline())}"

    def counters(self) -> dict[str, int]:
        """What was served since the last call."""
        with urllib.request.urlopen(f"{self.url}/-/counters") as answer:
            return json.load(answer)


@contextlib.contextmanager
def latency(root: Path, delay_ms: float) -> Iterator[Latency]:
    command = [sys.executable, str(HERE / "latency.py"), str(root), "--delay", str(delay_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Latency(process)
        finally:
            process.terminate()


def _ports(count: int) -> list[int]:
    """Free ports; all are held until all are chosen, so that they differ."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


@contextlib.contextmanager
def s3(root: Path, layouts: list[str]) -> Iterator[str]:
    """SeaweedFS with these layouts in a bucket; its endpoint."""
    weed = subprocess.run(
        [sys.executable, str(HERE.parent / "scripts" / "find_weed.py")], capture_output=True, text=True, check=True
    )
    with tempfile.TemporaryDirectory(prefix="gingham-bench-s3-") as folder:
        config = Path(folder, "s3.json")
        key = {"accessKey": S3_KEY, "secretKey": S3_SECRET}
        config.write_text(json.dumps({"identities": [{"name": "bench", "credentials": [key], "actions": ["Admin"]}]}))
        names = (
            "master.port",
            "master.port.grpc",
            "volume.port",
            "volume.port.grpc",
            "filer.port",
            "filer.port.grpc",
            "s3.port",
            "s3.port.grpc",
        )
        ports = dict(zip(names, _ports(len(names)), strict=True))
        command = [
            weed.stdout.strip(), "server", "-s3", "-filer", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false",
            "-master.volumeSizeLimitMB=256", "-volume.max=20", f"-dir={folder}", f"-s3.config={config}",
            "-s3.port.iceberg=0", "-s3.port.lance=0", f"-filer.localSocket={folder}/filer.sock",
            *(f"-{name}={port}" for name, port in ports.items()),
        ]  # fmt: skip
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                endpoint = f"http://127.0.0.1:{ports['s3.port']}"
                _fill(endpoint, root, layouts)
                yield endpoint
            finally:
                process.terminate()


def _fill(endpoint: str, root: Path, layouts: list[str]) -> None:
    """Puts the layouts' objects there, as soon as the server answers."""
    import obstore

    clients = {"allow_http": True}
    store = obstore.store.S3Store(
        BUCKET, endpoint=endpoint, region="us-east-1", access_key_id=S3_KEY, secret_access_key=S3_SECRET, client_options=clients,
        retry_config={"max_retries": 0},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while True:
        try:
            obstore.put(store, "ready", b"1")
            break
        except Exception as e:  # refused, or not ready: obstore's errors for both vary with the moment
            if time.monotonic() > deadline:
                raise TimeoutError("the S3 server did not start in a minute") from e
            time.sleep(0.3)
    for layout in layouts:
        for path in sorted((root / layout).rglob("*")):
            if path.is_file():
                obstore.put(store, path.relative_to(root).as_posix(), path.read_bytes())
