"""One peer, in a process of its own: what `src/operations.rs` times, timed the same way."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from peers import peer as make_peer
from peers.peer import Peer, Selection
from sums import Sums


def status_kib(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


class Report:
    """Clocks, memory and facts of one operation."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.cpu: list[float] = []
        self.each: list[float] = []
        self.facts: dict[str, Any] = {}
        self.set_base()

    def set_base(self) -> None:
        """Inputs are in memory: the peak is told apart from them, and begins anew."""
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self.base = status_kib("VmRSS")

    def time(self, work: Callable[[], Any]) -> Any:
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        self.times.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)
        return result

    def time_each(self, works: list[Callable[[], Any]]) -> None:
        """Times all of them, and each."""
        begun = []

        def all_of_them() -> None:
            for work in works:
                begun.append(time.perf_counter())
                work()
            begun.append(time.perf_counter())

        self.time(all_of_them)
        self.each += [after - before for before, after in zip(begun, begun[1:], strict=False)]

    def warmed(self) -> None:
        self.times, self.cpu, self.each = [], [], []

    def sums(self, sums: Sums) -> None:
        self.facts |= {"checksum": str(sums.plain), "order": str(sums.ordered)}

    def line(self) -> dict[str, Any]:
        found = {"times": self.times, "cpu": self.cpu, "rss_base_kib": self.base, "rss_peak_kib": status_kib("VmHWM")}
        if self.each:
            self.each.sort()
            last = len(self.each) - 1
            found |= {"each_p50": self.each[len(self.each) // 2], "each_p95": self.each[min(len(self.each) * 95 // 100, last)]}
        return found | self.facts


def document(place: str) -> tuple[list[int], np.dtype]:
    """Shape and type of a local array."""
    v3 = Path(place, "zarr.json")
    found = json.loads((v3 if v3.exists() else Path(place, ".zarray")).read_text())
    return found["shape"], np.dtype(found["data_type"] if v3.exists() else found["dtype"])


def lay_documents(source: str, target: str, cut: bool = False) -> None:
    """The documents of one array where another is to be written; `cut`: the first axis gets the length 0."""
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for name in ("zarr.json", ".zarray", ".zattrs"):
        path = Path(source, name)
        if path.exists():
            found = json.loads(path.read_text())
            if cut and "shape" in found:
                found["shape"][0] = 0
            Path(target, name).write_text(json.dumps(found))


def selections(path: str) -> list[Selection]:
    found = []
    for line in Path(path).read_text().splitlines():
        numbers = [int(word) for word in line.split()]
        half = len(numbers) // 2
        found.append(tuple(slice(at, at + n) for at, n in zip(numbers[:half], numbers[half:], strict=True)))
    return found


def block(selection: Selection, dtype: np.dtype, seed: int) -> np.ndarray:
    shape = [part.stop - part.start for part in selection]
    values = (np.arange(int(np.prod(shape)) * dtype.itemsize) * 7 + seed) % 251
    return values.astype(np.uint8).view(dtype).reshape(shape)


class Job:
    """One operation of one peer."""

    def __init__(self, peer: Peer, options: dict[str, str]) -> None:
        self.peer, self.options, self.store = peer, options, options["store"]
        peer.endpoint = options.get("endpoint")
        self.report = Report()

    def rounds(self) -> Iterator[None]:
        """The warm-up, then what counts."""
        for _ in range(int(self.options.get("warm", 1))):
            yield
        self.report.warmed()
        for _ in range(int(self.options.get("iters", 3))):
            yield

    def has(self, word: str) -> bool:
        return word in self.options.get("variant", "").split(",")

    def read(self, array: Any, selection: Selection | None) -> Any:
        """In C order, as the Rust programs read: a peer that returns another is not done yet. `any` takes what comes."""
        values = self.peer.read(array, selection)
        return values if self.has("any") else np.ascontiguousarray(values)

    def source(self) -> np.ndarray:
        shape, dtype = document(self.store)
        return np.fromfile(self.options["src"], dtype).reshape(shape)

    def open(self) -> None:
        for _ in self.rounds():
            self.report.time(lambda: self.peer.open(self.store))

    def read_full(self) -> None:
        array = self.peer.open(self.store)
        self.report.set_base()
        for _ in self.rounds():
            values = self.report.time(lambda: self.read(array, None))
            if "order" not in self.report.facts:
                # Values in another order are copied for the sums, which is not the peer's doing.
                peak = status_kib("VmHWM")
                sums = Sums()
                sums.add(values)
                self.report.sums(sums)
                self.report.facts["rss_peak_kib"] = peak
            del values

    def read_into(self) -> None:
        array = self.peer.open(self.store)
        shape, dtype = document(self.store)
        out = np.full(shape, 1, dtype)
        self.report.set_base()
        for _ in self.rounds():
            self.report.time(lambda: self.peer.read_into(array, out))
        sums = Sums()
        sums.add(out)
        self.report.sums(sums)

    def read_sel(self) -> None:
        boxes = selections(self.options["sel"])
        kept = self.peer.open(self.store) if self.has("kept") else None
        self.report.set_base()
        for n, _ in enumerate(self.rounds()):
            array = kept if kept is not None else self.peer.open(self.store)
            if n == 0:
                sums = Sums()
                for box in boxes:
                    sums.add(self.read(array, box))
                self.report.sums(sums)
                if self.options.get("warm", "1") != "0":
                    continue
            self.report.time_each([partial(self.read, array, box) for box in boxes])

    def write_full(self, over: bool = False) -> None:
        values, target = self.source(), self.options["dst"]
        if over:
            lay_documents(self.store, target)
            self.peer.write(self.peer.open(target, write=True), None, values)
        self.report.set_base()
        for _ in self.rounds():
            if not over:
                lay_documents(self.store, target)
            self.report.time(lambda: self.peer.write(self.peer.open(target, write=True), None, values))

    def overwrite(self) -> None:
        self.write_full(over=True)

    def write_sel(self) -> None:
        target = self.options["dst"]
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.store, target)
        _, dtype = document(self.store)
        boxes = selections(self.options["sel"])
        blocks = [block(box, dtype, n) for n, box in enumerate(boxes)]
        self.report.set_base()
        for _ in self.rounds():
            array = self.peer.open(target, write=True)
            works = zip(boxes, blocks, strict=True)
            self.report.time_each([partial(self.peer.write, array, box, values) for box, values in works])

    def append(self) -> None:
        values, target, rows = self.source(), self.options["dst"], int(self.options["batch"])
        batches = [values[at : at + rows] for at in range(0, len(values), rows)]
        self.report.set_base()
        for _ in self.rounds():
            lay_documents(self.store, target, cut=True)
            array = self.peer.open(target, write=True)

            def one(batch: np.ndarray) -> None:
                nonlocal array
                array = self.peer.append(array, batch)

            self.report.time_each([lambda batch=batch: one(batch) for batch in batches])

    def list(self) -> None:
        for _ in self.rounds():
            self.report.facts["count"] = self.report.time(lambda: self.peer.list(self.store))

    def hier(self, consolidated: bool = False) -> None:
        for _ in self.rounds():
            self.report.facts["count"] = self.report.time(lambda: self.peer.hierarchy(self.store, consolidated))

    def hier_cons(self) -> None:
        self.hier(consolidated=True)


OPERATIONS = (
    "open",
    "read_full",
    "read_into",
    "read_sel",
    "write_full",
    "overwrite",
    "write_sel",
    "append",
    "list",
    "hier",
    "hier_cons",
)


def served(store: str) -> dict[str, int]:
    """What the latency server has sent since it was last asked; nothing of other stores."""
    if not store.startswith("http://"):
        return {}
    with urllib.request.urlopen("/".join([*store.split("/")[:3], "-", "counters"])) as answer:
        return json.load(answer)


def run(name: str, operation: str, options: dict[str, str]) -> dict[str, Any]:
    """The line of one operation; what fails says why in it."""
    if operation not in OPERATIONS:
        return {"error": f"not offered: {operation}"}
    try:
        served(options["store"])
        job = Job(make_peer(name), options)
        getattr(job, operation)()
        return job.report.line() | served(options["store"])
    except Exception as e:  # the peers' errors have no common class; whatever it was is the result
        what = "not offered: " if type(e).__name__ == "NotOffered" else f"{type(e).__name__}: "
        return {"error": what + " ".join(str(e).split())[:300]}
