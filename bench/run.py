"""Measures gingham and its peers: `python run.py --data DIR --bin DIR [--quick] [--only …] [--rows …] [--peers …] [--rounds N]`.

    limits ─► for each round: for each layout: for each row: peers in turn ─► remote rows ─► scaling ─► results.{json,md}

Every measurement is a record in `measurements.jsonl`; a run that was stopped goes on where it was. Exits with 1 where two
peers, or a peer and the maker of the data, do not agree on what was read or written, or where gingham fails.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import report
import scaling
import servers
from measure import RUST, Bench, Step, machine, versions, warm
from peers import PEERS
from rows import ROWS, Row, in_quick, selection_file

HERE = Path(__file__).parent
# With more objects than this, the slowest peer takes minutes: one pass, no warm-up.
HEAVY = 20_000
CODECS = ("zstd", "blosc_lz4", "blosc_zstd", "gzip", "shard32", "shard16")


class Run:
    """One run, or the rest of one."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.data, self.out = given, given.data.resolve(), given.out.resolve()
        manifest = json.loads((self.data / "manifest.json").read_text())
        self.scale, self.arrays = manifest["scale"], manifest["arrays"]
        self.quick = given.quick
        self.bench = Bench(given.bin.resolve(), self.data, self.out, timeout=60 if self.quick else 400)
        self.records: list[dict[str, Any]] = []
        self.journal = self.out / "measurements.jsonl"
        self.rows = [row for row in ROWS if given.rows is None or row.name in given.rows]
        self.layouts = [name for name in self.arrays if given.only is None or name in given.only]

    def begin(self) -> None:
        """Takes up what is there; two builds, or two machines, are never mixed."""
        self.out.mkdir(parents=True, exist_ok=True)
        about = {"scale": self.scale, "machine": machine(), "versions": versions(self.bench.binaries)}
        path = self.out / "run.json"
        if self.given.fresh or not path.exists():
            self.journal.unlink(missing_ok=True)
            path.write_text(json.dumps(about, indent=1))
        elif comparable(json.loads(path.read_text())) != comparable(about):
            raise SystemExit(f"{self.out} holds measurements of other versions: begin anew with --fresh, or choose another --out")
        if self.journal.exists():
            self.records = [json.loads(line) for line in self.journal.read_text().splitlines()]
        self.about = about

    def done(self) -> set[tuple[Any, ...]]:
        return {(r["row"], r["layout"], r["peer"], r["round"]) for r in self.records}

    def add(self, records: list[dict[str, Any]]) -> None:
        self.records += records
        with self.journal.open("a") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
        for r in records:
            each = r.get("each_p50")
            shown = f"{statistics.median(r['times']) * 1e3:10.2f} ms" if "times" in r else r["error"][:100]
            print(
                f"{r['round']} {r['row']:12} {r['layout']:12} {r['peer']:18} {shown}"
                + (f" ({each * 1e6:.0f} µs each)" if each else ""),
                flush=True,
            )

    def limits(self) -> dict[str, Any]:
        """What the machine gives now, and the codecs on their own."""
        path = self.out / "limits.json"
        if path.exists() and not self.given.fresh:
            return json.loads(path.read_text())
        iters = "3" if self.quick else "7"
        found = self.floor("limits", self.data / "raw", iters)
        for layout in CODECS:
            speeds = self.floor("codec", self.data / layout, iters)
            found |= {f"{layout}: {name}": value for name, value in speeds.items()}
        path.write_text(json.dumps(found, indent=1))
        return found

    def floor(self, operation: str, store: Path, iters: str) -> dict[str, Any]:
        step = Step(operation, {"store": str(store), "iters": iters, "warm": "0"}, {})
        (found,) = self.bench.run("floor", [step])
        if "error" in found:
            raise SystemExit(f"floor {operation} {store}: {found['error']}")
        return {name: value for name, value in found.items() if name not in ("peer", "others")}

    def step(self, row: Row, layout: str, round_: int, place: str | None = None, endpoint: str | None = None) -> Step:
        array, heavy = self.arrays[layout], self.arrays[layout]["objects"] > HEAVY
        iters, warm_up = (2 if self.quick else 3), 1
        if heavy or (row.writes and layout == "gzip"):
            iters, warm_up = 1, 0
        elif row.operation == "open":
            iters = 20
        elif row.writes or row.delay is not None or row.s3 or (self.quick and row.boxes):
            iters = 1 if self.quick else 2
        options = {"store": place or str(self.data / layout), "iters": str(iters), "warm": str(warm_up)}
        if row.boxes:
            options["sel"] = str(selection_file(self.out / "boxes", row, layout, self.data / layout, array["shape"], 5 if self.quick else 1))
        if row.writes:
            options |= {
                "src": str(self.data / "fields" / f"{array['field']}.bin"),
                "dst": str(self.scratch / f"{row.name}-{layout}"),
            }
            options["batch"] = str(array["shape"][0] // 10 + 1)
        if row.variant:
            options["variant"] = row.variant
        if endpoint:
            options["endpoint"] = endpoint
        return Step(row.operation, options, {"row": row.name, "layout": layout, "round": round_})

    def order(self, names: list[str], shift: int) -> list[str]:
        names = [name for name in names if self.given.peers is None or name in self.given.peers]
        return names[shift % len(names) :] + names[: shift % len(names)] if names else []

    def one_round(
        self,
        rows: list[Row],
        round_: int,
        base: str | None = None,
        endpoint: str | None = None,
        server: servers.Latency | None = None,
    ) -> None:
        """Every layout, every row, every peer. In a quick run a peer does all rows of a layout before the next has its turn, so
        that starting Python does not take most of the time."""
        turn = 0
        for layout in self.layouts:
            chosen = [row for row in rows if layout in row.layouts]
            if chosen:
                warm(self.data / layout)
            for group in [chosen] if self.quick else [[row] for row in chosen]:
                for peer in self.order([*RUST, *PEERS], round_ + turn):
                    due = [row for row in group if self.due(row, layout, peer, round_)]
                    place = f"{base}/{layout}" if base else None
                    self.take(peer, [self.step(row, layout, round_, place, endpoint) for row in due], server)
                turn += 1

    def due(self, row: Row, layout: str, peer: str, round_: int) -> bool:
        wanted = peer in row.peers and (not self.quick or bool(self.given.only) or in_quick(row, layout, peer))
        return wanted and (row.name, layout, peer, round_) not in self.done()

    def take(self, peer: str, steps: list[Step], server: servers.Latency | None = None) -> None:
        """A peer's turn. What it wrote is read back by the floor, and is gone before the next turn."""
        if not steps:
            return
        records = []
        for part in [[step] for step in steps] if peer in RUST else [steps]:
            if server:
                server.counters()
            records += self.bench.run(peer, part)
            if server and peer in RUST:
                records[-1] |= server.counters()
        for step, record in zip(steps, records, strict=True):
            passes = int(step.options["iters"]) + int(step.options["warm"])
            record |= {name: record[name] / passes for name in servers.COUNTERS if name in record}
            written = step.options.get("dst")
            if written and "error" not in record:
                check = Step("read_full", {"store": written, "iters": "1", "warm": "0"}, {})
                (found,) = self.bench.run("floor", [check])
                record["written"] = found.get("order", found.get("error"))
            if written:
                shutil.rmtree(written, ignore_errors=True)
        self.add(records)

    def all(self) -> int:
        self.begin()
        limits = self.limits()
        with self.place_to_write() as self.scratch:
            rows = [row for row in self.rows if row.delay is None and not row.s3]
            for round_ in range(self.given.rounds):
                self.one_round(rows, round_)
            for delay in sorted({row.delay for row in self.rows if row.delay is not None}):
                rows = [row for row in self.rows if row.delay == delay]
                with servers.latency(self.data, delay) as server:
                    for round_ in range(self.remote_rounds()):
                        self.one_round(rows, round_, server.url, server=server)
            rows = [row for row in self.rows if row.s3 and any(layout in self.layouts for layout in row.layouts)]
            if rows:
                with servers.s3(self.data, sorted({layout for row in rows for layout in row.layouts})) as endpoint:
                    for round_ in range(self.remote_rounds()):
                        self.one_round(rows, round_, f"s3://{servers.BUCKET}", endpoint)
        if self.given.rows is None or "scaling" in self.given.rows:
            for round_ in range(self.given.rounds):
                chosen = self.order(list(scaling.PEERS), 0)
                self.add(scaling.measure(self.bench, self.data, self.scale, round_, self.done(), 2 if self.quick else 3, chosen))
        return self.report(limits)

    def remote_rounds(self) -> int:
        return min(self.given.rounds, 1 if self.quick else 3)

    @contextlib.contextmanager
    def place_to_write(self) -> Iterator[Path]:
        """In memory where that is a file system: the disk's moods are not the engines'."""
        shared = Path("/dev/shm")
        base = self.given.scratch or (shared if shared.is_dir() else self.out)
        with tempfile.TemporaryDirectory(prefix="gingham-bench-", dir=base) as folder:
            yield Path(folder)

    def report(self, limits: dict[str, Any]) -> int:
        found = report.aggregate(self.records)
        expected = {name: array["order"] for name, array in self.arrays.items() if "order" in array}
        wrong = report.disagreements(self.records, expected)
        wrong += [
            f"gingham fails: {row}, {layout}: {record['error']}"
            for (row, layout, peer), record in found.items()
            if peer.startswith("gingham") and "error" in record
        ]
        scaled = [record for record in self.records if record["row"] == "scaling"]
        pages = scaling.report(scaled, self.scale, self.arrays, self.out)
        about = self.about | {
            "quick": self.quick,
            "rounds": self.given.rounds,
            "measurements": len(self.records),
            "limits": limits,
            "arrays": self.arrays,
        }
        (self.out / "results.md").write_text(report.markdown(about, found, wrong, pages))
        rows = [{"row": row, "layout": layout, "peer": peer} | record for (row, layout, peer), record in found.items()]
        (self.out / "results.json").write_text(json.dumps(about | {"wrong": wrong, "rows": rows, "scaling": scaled}, indent=1))
        print(f"\n{self.out / 'results.md'}")
        for line in wrong:
            print(f"WRONG {line}", file=sys.stderr)
        return 1 if wrong else 0


def comparable(about: dict[str, Any]) -> dict[str, Any]:
    """Without the state of the checkout: another word in this folder is no other program; when those were built stays in."""
    return about | {"versions": {name: value for name, value in about["versions"].items() if name != "gingham"}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--data", type=Path, required=True, help="what data.py made")
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the Rust programs")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "results")
    parser.add_argument("--scratch", type=Path, help="where writes go; memory where there is a file system of it")
    parser.add_argument(
        "--quick", action="store_true", help="one round, fewer passes and layouts, a fifth of the boxes, a peer's rows of a layout in one process"
    )
    parser.add_argument("--only", type=words, metavar="LAYOUT,…")
    parser.add_argument("--rows", type=words, metavar="ROW,…", help=", ".join([row.name for row in ROWS] + ["scaling"]))
    parser.add_argument("--peers", type=words, metavar="PEER,…", help=", ".join([*RUST, *PEERS]))
    parser.add_argument("--rounds", type=int, help="3, or 1 with --quick")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured")
    given = parser.parse_args()
    given.rounds = given.rounds or (1 if given.quick else 3)
    return Run(given).all()


if __name__ == "__main__":
    sys.exit(main())
