"""How time grows: with the size of the array, with the number of chunks, and what a second thread gives."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

from data import scaling
from measure import Bench, Step, warm
from plot import Points, svg

PEERS = ("gingham", "floor", "zarrs")
THREADS = (1, 2)


def steps(data: Path, scale: str, name: str, iters: int) -> list[tuple[str, int, Step]]:
    """For each peer and number of threads, the full read of one array."""
    found = []
    for peer in PEERS:
        for threads in THREADS:
            options = {"store": str(data / name), "iters": str(iters), "threads": str(threads)}
            found.append((peer, threads, Step("read_full", options, {"row": "scaling", "layout": name, "threads": threads})))
    return found


def measure(
    bench: Bench, data: Path, scale: str, round_: int, done: set[tuple[Any, ...]], iters: int, peers: list[str]
) -> list[dict[str, Any]]:
    """One round; peers take turns, in another order each round."""
    records = []
    for name in scaling(scale):
        warm(data / name)
        turns = [turn for turn in steps(data, scale, name, iters) if turn[0] in peers]
        turns = turns[round_ % len(turns) :] + turns[: round_ % len(turns)] if turns else []
        for peer, threads, step in turns:
            if ("scaling", name, f"{peer} {threads}t", round_) not in done:
                (record,) = bench.run(peer, [step])
                records.append(record | {"round": round_, "peer": f"{peer} {threads}t"})
    return records


def report(records: list[dict[str, Any]], scale: str, arrays: dict[str, Any], out: Path) -> list[str]:
    """Two tables and two pictures; the pictures are files beside the page."""
    names = [name for name in scaling(scale) if any(r["layout"] == name for r in records)]
    lines = [f"{peer} {threads}t" for peer in PEERS for threads in THREADS]
    lines = [line for line in lines if any(r["peer"] == line for r in records)]
    if not names:
        return []
    seconds: dict[tuple[str, str], float] = {}
    for name in names:
        for line in lines:
            times = [t for r in records if (r["layout"], r["peer"]) == (name, line) and "times" in r for t in r["times"]]
            if times:
                seconds[name, line] = statistics.median(times)
    text = ["## Scaling", "", "Full reads, zstd 3. 1t and 2t are threads.", ""]
    for kind, title, across in (
        ("size", "Arrays that grow, chunks of 1 MiB", "MiB"),
        ("split", "One array of 32 MiB, cut ever smaller", "chunks"),
    ):
        chosen = [name for name in names if name.startswith(kind)]
        if not chosen:
            continue
        x = {name: arrays[name]["bytes"] / 2**20 if kind == "size" else chunks(scale, name) for name in chosen}
        text += [
            f"### {title} (ns a byte)",
            "",
            f"| {across} | " + " | ".join([*lines, "gingham: 1t / 2t"]) + " |",
            "| ---: |" + " ---: |" * (len(lines) + 1),
        ]
        for name in chosen:
            cells = [
                f"{seconds[name, line] / arrays[name]['bytes'] * 1e9:.3f}" if (name, line) in seconds else "–" for line in lines
            ]
            one, two = (seconds.get((name, f"gingham {threads}t")) for threads in THREADS)
            text.append(f"| {x[name]:.0f} | " + " | ".join([*cells, f"{one / two:.2f}" if one and two else "–"]) + " |")
        curves: dict[str, Points] = {
            line: [(x[name], seconds[name, line] / arrays[name]["bytes"] * 1e9) for name in chosen if (name, line) in seconds]
            for line in lines
        }
        picture = f"scaling-{kind}.svg"
        (out / picture).write_text(svg(title, across, "ns a byte", curves))
        text += ["", f"![{title}]({picture})", ""]
    return text


def chunks(scale: str, name: str) -> int:
    shape, chunk = scaling(scale)[name]
    return math.prod(math.ceil(n / c) for n, c in zip(shape, chunk, strict=True))
