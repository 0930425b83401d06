"""From records to tables: medians, spread, ratios, and what did not agree."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Any

from rows import ALL, ROWS, Row
from servers import COUNTERS

Record = dict[str, Any]
Key = tuple[str, str, str]

# More than this many cores used by other processes beside a measurement, and its number is marked.
LOADED = 0.3


# Rows after which everything was read or written, so that the maker of the data knows the sum.
WHOLE = ("full", "any", "into", "write", "overwrite", "append")


def aggregate(records: Iterable[Record]) -> dict[Key, Record]:
    """(row, layout, peer) -> what all rounds together say."""
    groups: dict[Key, list[Record]] = {}
    for record in records:
        if record["row"] != "scaling":
            groups.setdefault((record["row"], record["layout"], record["peer"]), []).append(record)
    each = {row.name for row in ROWS if row.each}
    return {key: _together(group, key[0] in each) for key, group in groups.items()}


def _together(group: list[Record], each: bool) -> Record:
    errors = [record["error"] for record in group if "error" in record]
    good = [record for record in group if "error" not in record]
    if not good:
        return {"error": errors[0]}
    times = [record["each_p50"] for record in good] if each else [t for record in good for t in record["times"]]
    found: Record = {
        "seconds": statistics.median(times),
        "least": min(times),
        "most": max(times),
        "cpu": statistics.median(t for record in good for t in record["cpu"]),
        "peak_mib": statistics.median((record["rss_peak_kib"] - record["rss_base_kib"]) / 1024 for record in good),
        "others": statistics.median(record["others"] for record in good),
        "rounds": len(good),
    }
    for name in COUNTERS:
        if name in good[0]:
            found[name] = statistics.median(record[name] for record in good)
    if errors:
        found["error"] = errors[0]
    return found


def disagreements(records: Iterable[Record], expected: dict[str, str]) -> list[str]:
    """Whatever was read, counted, hashed or written differently by two peers, or not as the data was made."""
    seen: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for record in records:
        what = record["layout"]
        for name in ("order", "count", "sha256", "written"):
            if name in record and not (name == "count" and record["row"] in ("write", "overwrite")):
                whole = record["row"] in WHOLE or record["row"].endswith("_full")
                kind = "everything" if whole and name != "count" else record["row"]
                kind = kind.removesuffix("_kept")
                by = f"{record['peer']} ({record['row']})"
                seen.setdefault((kind, what, "order" if name == "written" else name), {}).setdefault(str(record[name]), []).append(
                    by
                )
    for (kind, layout, name), answers in seen.items():
        if kind == "everything" and name == "order" and layout in expected:
            answers.setdefault(expected[layout], []).append("the data's maker")
    return [
        f"{kind}, {layout}: {name} differs: "
        + "; ".join(f"{answer} by {', '.join(sorted(set(who)))}" for answer, who in answers.items())
        for (kind, layout, name), answers in seen.items()
        if len(answers) > 1
    ]


def _number(seconds: float, unit: float) -> str:
    value = seconds * unit
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


class Tables:
    """The Markdown of the rows."""

    def __init__(self, found: dict[Key, Record]) -> None:
        self.found = found

    def row(self, row: Row) -> list[str]:
        layouts = [name for name in row.layouts if any((row.name, name, peer) in self.found for peer in row.peers)]
        peers = [peer for peer in row.peers if any((row.name, name, peer) in self.found for name in layouts)]
        if not layouts:
            return []
        short = [found["seconds"] for (name, _, _), found in self.found.items() if name == row.name and "seconds" in found]
        unit, word = (1e6, "µs") if short and statistics.median(short) < 1e-3 else (1e3, "ms")
        text = [f"### {row.title} (`{row.name}`)", ""]
        text += self._table(
            f"{word} (× gingham)", layouts, peers, lambda key: self._time(key, unit, peers), self._verdict(row, peers)
        )
        spread = lambda key: self._fact(key, lambda f: f"{_number(f['least'], unit)}–{_number(f['most'], unit)}")  # noqa: E731
        hidden = self._table(f"{word}, least–most", layouts, peers, spread)
        hidden += self._table("CPU ms", layouts, peers, lambda key: self._fact(key, lambda f: _number(f["cpu"], 1e3)))
        if row.memory:
            hidden += self._table(
                "peak MiB above the start", layouts, peers, lambda key: self._fact(key, lambda f: f"{f['peak_mib']:.0f}")
            )
        if row.delay is not None:
            text += self._table("requests (MiB sent), a pass", layouts, peers, self._requests)
        text += ["<details><summary>spread, CPU, memory</summary>", "", *hidden, "</details>", ""]
        notes = {self.found[key].get("error") for key in self.found if key[0] == row.name} - {None}
        named = {
            note: [f"{p} {n}" for r, n, p in self.found if r == row.name and self.found[r, n, p].get("error") == note]
            for note in notes
        }
        text += [f"- {', '.join(who)}: {note}" for note, who in sorted(named.items()) if not note.startswith("not offered")]
        return [*text, ""]

    def _table(self, corner: str, layouts: list[str], peers: list[str], cell: Any, extra: Any = None) -> list[str]:
        row = lambda words: "| " + " | ".join(words) + " |"  # noqa: E731
        last = ["best peer / gingham", "gingham / floor"] if extra else []
        lines = [row([corner, *peers, *last]), row(["---", *["---:"] * (len(peers) + len(last))])]
        lines += [row([layout, *(cell((layout, peer)) for peer in peers), *(extra(layout) if extra else [])]) for layout in layouts]
        return [*lines, ""]

    def _get(self, key: tuple[str, str]) -> Record | None:
        return self.found.get((self.current, *key))

    def _fact(self, key: tuple[str, str], show: Any) -> str:
        found = self._get(key)
        return show(found) if found and "seconds" in found else "–"

    def _time(self, key: tuple[str, str], unit: float, peers: list[str]) -> str:
        found, ours = self._get(key), self._get((key[0], peers[0]))
        if not found:
            return "–"
        if "seconds" not in found:
            return "–" if found["error"].startswith("not offered") else "fails"
        mark = "~" if found["others"] > LOADED else ""
        if key[1] == peers[0] or not ours or "seconds" not in ours:
            return mark + _number(found["seconds"], unit)
        return f"{mark}{_number(found['seconds'], unit)} ({found['seconds'] / ours['seconds']:.2f})"

    def _requests(self, key: tuple[str, str]) -> str:
        return self._fact(key, lambda f: f"{f['requests']:.0f} ({f['bytes'] / 2**20:.1f})" if "requests" in f else "–")

    def _verdict(self, row: Row, peers: list[str]) -> Any:
        self.current = row.name

        def verdict(layout: str) -> list[str]:
            ahead, floor = ratios(self.found, row, layout)
            return [
                f"**{ahead:.2f}**" if ahead and ahead >= 1 else f"{ahead:.2f}" if ahead else "–",
                f"{floor:.2f}" if floor else "–",
            ]

        return verdict


def ratios(found: dict[Key, Record], row: Row, layout: str) -> tuple[float | None, float | None]:
    """Best peer over gingham, and gingham over the floor."""
    seconds = {
        peer: found[row.name, layout, peer]["seconds"] for peer in row.peers if "seconds" in found.get((row.name, layout, peer), {})
    }
    ours = seconds.get(row.peers[0])
    if not ours:
        return None, None
    peers = [value for peer, value in seconds.items() if peer not in (row.peers[0], "floor")]
    return (min(peers) / ours if peers else None, ours / seconds["floor"] if "floor" in seconds else None)


def summary(found: dict[Key, Record]) -> list[str]:
    """One line a row: how far ahead of the best peer, how far from the floor, over the layouts."""
    lines = [
        "| row | layouts | ahead in | best peer / gingham: geometric mean (least) | gingham / floor: geometric mean (most) |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    mean = lambda values: math.exp(statistics.fmean(map(math.log, values)))  # noqa: E731
    for row in ROWS:
        pairs = [ratios(found, row, layout) for layout in row.layouts]
        ahead, floor = [a for a, _ in pairs if a], [f for _, f in pairs if f]
        if ahead or floor:
            best = f"{mean(ahead):.2f} ({min(ahead):.2f})" if ahead else "–"
            far = f"{mean(floor):.2f} ({max(floor):.2f})" if floor else "–"
            measured = sum(1 for pair in pairs if any(pair))
            lines.append(f"| {row.title} | {measured} | {sum(a >= 1 for a in ahead)} | {best} | {far} |")
    return [*lines, ""]


def _layout(name: str, array: Record) -> str:
    shape, mib = "×".join(map(str, array["shape"])), [f"{array[size] / 2**20:.0f}" for size in ("bytes", "stored")]
    return f"| {name} | {array['note']} | {shape} {array['dtype']} | {' | '.join(mib)} | {array['objects']} |"


def markdown(run: Record, found: dict[Key, Record], wrong: list[str], scaling: list[str]) -> str:
    """The whole page."""
    loads = sorted(record["others"] for record in found.values() if "others" in record)
    text = [f"# gingham and its peers, scale {run['scale']}", ""]
    if wrong:
        text += ["**FAILED: the peers do not agree.**", "", *(f"- {line}" for line in wrong), ""]
    text += [
        f"{run['measurements']} processes, {run['rounds']} rounds, medians. Every reading peer had the same sums." if not wrong else "",
        f"Other processes used {statistics.median(loads):.2f} cores beside a measurement in the median, {loads[-1]:.2f} at most;"
        f" numbers with more than {LOADED} are marked ~ and are not to be quoted." if loads else "",
        "A quick run: a fifth of the boxes, planes and series that the titles say, some layouts, one round." if run["quick"] else "",
        "", "Machine: " + ", ".join(f"{name} {value}" for name, value in run["machine"].items()) + ".", "",
        "Versions: " + ", ".join(f"{name} {value}" for name, value in run["versions"].items()) + ".", "",
        "## In short", "", *summary(found), "## Limits, measured in this run", "", "| what | GiB/s | best |", "| --- | ---: | ---: |",
        *(f"| {name} | {value['gib_s']:.2f} | {value['best_gib_s']:.2f} |" for name, value in run["limits"].items()), "",
        "## Layouts", "", "| layout | what | shape | MiB | stored MiB | objects |", "| --- | --- | --- | ---: | ---: | ---: |",
        *(_layout(name, run["arrays"][name]) for name in ALL if name in run["arrays"]), "", "## Rows", "",
    ]  # fmt: skip
    tables = Tables(found)
    for row in ROWS:
        tables.current = row.name
        text += tables.row(row)
    return "\n".join([*text, *scaling, ""])
