"""The rows of the benchmark: what is done to which layout by whom."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Box = tuple[list[int], list[int]]

MAIN = ("gingham", "floor", "zarrs", "tensorstore", "zarr-fused", "zarr", "zarr-zarrs", "zarrista")
CACHED = ("gingham-kept", "zarrs-index", "zarrs-cache", "tensorstore-cache")
REMOTE = ("gingham", "zarrs", "tensorstore", "zarr-fused", "zarr")

ALL = (
    "raw", "zstd", "blosc_lz4", "blosc_zstd", "gzip", "shard32", "shard16", "shard32_u16", "shard_raw", "months", "v2_blosc", "v2_F",
    "transposed", "many",
)  # fmt: skip
PARTS = tuple(name for name in ALL if name != "many")
CORE = ("raw", "zstd", "shard32", "v2_blosc")


@dataclass(frozen=True)
class Row:
    """One kind of measurement. `boxes` makes its selection from shape and chunk; `of` divides the time shown."""

    name: str
    title: str
    operation: str
    layouts: tuple[str, ...]
    peers: tuple[str, ...] = MAIN
    boxes: Callable[[random.Random, list[int], list[int]], list[Box]] | None = None
    writes: bool = False
    each: bool = False
    delay: float | None = None
    s3: bool = False
    memory: bool = False
    variant: str = ""


def _random_boxes(count: int, edges: tuple[int, int, int]) -> Callable[..., list[Box]]:
    def make(rng: random.Random, shape: list[int], _: list[int]) -> list[Box]:
        size = [min(edge, n) for edge, n in zip(edges, shape, strict=True)]
        return [([rng.randrange(n - s + 1) for n, s in zip(shape, size, strict=True)], size) for _ in range(count)]

    return make


_boxes = _random_boxes(200, (32, 32, 32))


def _chunks(rng: random.Random, shape: list[int], chunk: list[int]) -> list[Box]:
    """Whole chunks; of an array smaller than a chunk, all of it."""
    return [
        (
            [rng.randrange(max(n // c, 1)) * c for n, c in zip(shape, chunk, strict=True)],
            [min(n, c) for n, c in zip(shape, chunk, strict=True)],
        )
        for _ in range(32)
    ]


def _slices(rng: random.Random, shape: list[int], _: list[int]) -> list[Box]:
    """One element thick along the last axis: the worst direction of C order."""
    return [([0, 0, rng.randrange(shape[2])], [shape[0], shape[1], 1]) for _ in range(3)]


def _planes(rng: random.Random, shape: list[int], _: list[int]) -> list[Box]:
    return [([rng.randrange(shape[0]), 0, 0], [1, shape[1], shape[2]]) for _ in range(16)]


def _few_planes(rng: random.Random, shape: list[int], chunk: list[int]) -> list[Box]:
    return _planes(rng, shape, chunk)[:4]


def _series(rng: random.Random, shape: list[int], _: list[int]) -> list[Box]:
    return [([0, rng.randrange(shape[1]), rng.randrange(shape[2])], [shape[0], 1, 1]) for _ in range(16)]


ROWS: tuple[Row, ...] = (
    Row("full", "Full read into new memory", "read_full", ALL, memory=True),
    Row("any", "Full read, any memory order", "read_full", ("v2_F", "transposed"), variant="any"),
    Row("into", "Full read into memory that is given", "read_into", ("raw", "zstd", "blosc_lz4", "shard32", "shard_raw"), memory=True),
    Row("chunk", "One whole chunk", "read_sel", PARTS, boxes=_chunks, each=True),
    Row("boxes", "200 random boxes of 32³", "read_sel", ALL, boxes=_boxes),
    Row("slice", "3 slices, one element thick along the last axis", "read_sel", PARTS, boxes=_slices),
    Row("planes", "16 planes across the first axis", "read_sel", ALL, boxes=_planes),
    Row("series", "16 pixel series along the first axis", "read_sel", ALL, boxes=_series),
    Row("element", "One element (of 200 random ones)", "read_sel", CORE, boxes=_random_boxes(200, (1, 1, 1)), each=True),
    Row("boxes_kept", "200 boxes again, what was met is kept", "read_sel", CORE, CACHED, _boxes, variant="kept", memory=True),
    Row("planes_kept", "16 planes again, what was met is kept", "read_sel", CORE, CACHED, _planes, variant="kept"),
    Row("series_kept", "16 series again, what was met is kept", "read_sel", CORE, CACHED, _series, variant="kept"),
    Row("open", "Open an array", "open", CORE),
    Row("hier", "Open a hierarchy of 500 arrays", "hier", ("hier",)),
    Row("hier_cons", "Open 500 arrays, consolidated", "hier_cons", ("hier_cons",)),
    Row("list", "List a store", "list", ("many", "hier")),
    Row("checksum", "SHA-256 of the values", "checksum", ("raw", "zstd", "shard32", "transposed"), ("gingham", "floor"), memory=True),
    Row("write", "Full write", "write_full", ALL, writes=True, memory=True),
    Row("overwrite", "Full write over what is there", "overwrite", CORE, writes=True),
    Row("partial", "20 boxes of 37×45×53 into what is there", "write_sel", CORE, boxes=_random_boxes(20, (37, 45, 53)), writes=True),
    Row("append", "The array, appended in 10 batches", "append", CORE, writes=True),
    *(
        Row(f"http{delay}_{name}", f"{title}, HTTP, {delay} ms a request", operation, layouts, REMOTE, boxes, delay=delay)
        for delay in (0, 10, 50)
        for name, title, operation, layouts, boxes in (
            ("full", "Full read", "read_full", ("zstd", "shard32"), None),
            ("boxes", "20 random boxes", "read_sel", ("raw", "zstd", "shard32"), _random_boxes(20, (32, 32, 32))),
            ("planes", "4 planes", "read_sel", ("zstd", "shard32"), _few_planes),
            ("open", "Open an array", "open", ("zstd",), None),
        )
    ),
    Row("s3_full", "Full read, S3", "read_full", ("shard32",), REMOTE, s3=True),
    Row("s3_boxes", "20 random boxes, S3", "read_sel", ("shard32",), REMOTE, _random_boxes(20, (32, 32, 32)), s3=True),
)  # fmt: skip


# What a quick run leaves out, so that it stays below three minutes: the slowest peers where they take seconds a pass, the
# compressed layouts that differ from others in the codec alone, and remote rows that say the same at another delay.
_QUICK_LAYOUTS = {*CORE, "gzip", "shard16", "months", "v2_F", "transposed", "many", "hier", "hier_cons"}
_QUICK_WRITES = {*CORE, "many", "transposed"}
_QUICK_SLOW = {"full", "chunk", "element", "open", "hier", "hier_cons", "list", "write", "http10_boxes"}


def in_quick(row: Row, layout: str, peer: str) -> bool:
    if row.delay is not None and (row.delay != 10 and not row.name.endswith("_boxes") or layout == "raw"):
        return False
    if peer in ("zarr", "zarr-zarrs") and (row.name not in _QUICK_SLOW or layout in ("shard16", "many")):
        return False
    return layout in (_QUICK_WRITES if row.writes else _QUICK_LAYOUTS)


def chunk_shape(store: Path) -> list[int]:
    """What is decoded at once: of shards, their chunks; of a rectilinear grid, its first chunk."""
    if (store / ".zarray").exists():
        return json.loads((store / ".zarray").read_text())["chunks"]
    document: dict[str, Any] = json.loads((store / "zarr.json").read_text())
    for codec in document["codecs"]:
        if codec["name"] == "sharding_indexed":
            return codec["configuration"]["chunk_shape"]
    grid = document["chunk_grid"]["configuration"]
    if "chunk_shape" in grid:
        return grid["chunk_shape"]
    first = [axis if isinstance(axis, int) else axis[0] for axis in grid["chunk_shapes"]]
    return [one if isinstance(one, int) else one[0] for one in first]


def selection_file(folder: Path, row: Row, layout: str, store: Path, shape: list[int], share: int = 1) -> Path:
    """The row's boxes, the same in every run: a line each, the starts, then the shape. Of `share` boxes only the first is kept."""
    assert row.boxes
    boxes = row.boxes(random.Random(f"{row.name.removesuffix('_kept')} {layout}"), shape, chunk_shape(store))
    boxes = boxes[: max(len(boxes) // share, 1)]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{row.name}-{layout}.txt"
    path.write_text("".join(" ".join(map(str, start + size)) + "\n" for start, size in boxes))
    return path
