"""Processes: each measurement has one of its own, and says how loaded the machine was meanwhile."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TICK = os.sysconf("SC_CLK_TCK")

# Name -> program and variant. The other peers are Python's: `peers/__init__.py` lists them.
RUST = {
    "gingham": ("bench_gingham", ""),
    "gingham-kept": ("bench_gingham", "cache"),
    "floor": ("bench_floor", ""),
    "zarrs": ("bench_zarrs", ""),
    "zarrs-index": ("bench_zarrs", "index"),
    "zarrs-cache": ("bench_zarrs", "cache"),
}


@dataclass(frozen=True)
class Step:
    """One operation with its options; what a record says besides is in `labels`."""

    operation: str
    options: dict[str, str]
    labels: dict[str, Any]


def busy_seconds() -> float:
    """CPU seconds that the whole machine has spent."""
    fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICK


def warm(path: Path) -> None:
    """Reads all files once, so that they are in the page cache."""
    for file in path.rglob("*"):
        if file.is_file():
            file.read_bytes()


class Bench:
    """Runs peers. `binaries` holds the Rust programs."""

    def __init__(self, binaries: Path, data: Path, out: Path, timeout: float) -> None:
        self.binaries, self.out, self.timeout = binaries, out, timeout
        # Peers name files in what they say of an error; results are published, and where they were made is nobody's concern.
        self.places = {str(data): "DATA", str(out): "OUT", str(HERE.parent): "."}

    def placeless(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record whose error names places by what they are."""
        for place, name in self.places.items():
            if "error" in record:
                record = record | {"error": record["error"].replace(place, name)}
        return record

    def command(self, peer: str, steps: list[Step]) -> list[str]:
        if peer in RUST:
            (step,) = steps
            program, variant = RUST[peer]
            options = dict(step.options)
            words = ",".join(word for word in (variant, options.pop("variant", "")) if word)
            command = [str(self.binaries / program), step.operation]
            return command + [part for name, value in (options | {"variant": words}).items() for part in (f"--{name}", value)]
        job = self.out / "job.json"
        job.write_text(json.dumps([[step.operation, step.options] for step in steps]))
        return [sys.executable, "-m", "peers", peer, "batch", "--job", str(job)]

    def run(self, peer: str, steps: list[Step]) -> list[dict[str, Any]]:
        """A record for each step. A process that dies or takes too long is an error of the steps it did not finish."""
        wall, busy, mine = time.perf_counter(), busy_seconds(), resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(self.command(peer, steps), cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, err = process.communicate(timeout=self.timeout * len(steps))
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            err += f"\nstopped after {self.timeout * len(steps):.0f} s"
        wall = time.perf_counter() - wall
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = now.ru_utime + now.ru_stime - mine.ru_utime - mine.ru_stime
        others = max(busy_seconds() - busy - spent, 0) / wall
        lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        why = (err.strip().splitlines() or [f"exit status {process.returncode}"])[-1].removeprefix("Error: ").strip('"')
        found = lines + [{"error": why[:300]}] * (len(steps) - len(lines))
        labels = {"peer": peer, "others": round(others, 2)}
        return [step.labels | labels | self.placeless(line) for step, line in zip(steps, found, strict=True)]


def versions(binaries: Path) -> dict[str, str]:
    """Of everything that is measured; and when the programs were built, so that a run does not mix two builds."""
    lock = (HERE / "Cargo.lock").read_text()
    found = {"python": platform.python_version()}
    for name in ("zarr", "zarrs", "zarrista", "tensorstore", "numcodecs", "numpy", "obstore"):
        found[f"{name} (Python)"] = version(name)
    for crate in ("zarrs", "zarrs_filesystem", "zarrs_object_store", "zstd-sys", "blosc-src", "libdeflate-sys"):
        found[f"{crate} (Rust)"] = lock.split(f'name = "{crate}"\nversion = "', 1)[1].split('"', 1)[0]
    git = ["git", "-C", str(HERE), "describe", "--always", "--dirty"]
    found["gingham"] = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
    for program in sorted({program for program, _ in RUST.values()}):
        found[f"{program} built"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime((binaries / program).stat().st_mtime))
    return found


def machine() -> dict[str, str]:
    cpu = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")),
        "?",
    )
    memory = next(int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return {
        "processor": cpu, "cores": str(len(os.sched_getaffinity(0))), "memory": f"{memory / 2**20:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "transparent huge pages": huge.read_text().split("[")[1].split("]")[0] if huge.exists() else "?",
    }  # fmt: skip
