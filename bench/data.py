"""Makes the data of the benchmarks: `python data.py DIRECTORY [--scale full|quick|tiny] [--only LAYOUT,...]`.

    DIRECTORY/fields/FIELD.bin    the values, C order, little-endian: what writers write from memory
    DIRECTORY/LAYOUT/             an array of them, or a hierarchy
    DIRECTORY/manifest.json       shape, type, field, objects, stored bytes, sums of the values

zarr-python writes all of it: no engine that is compared reads what it wrote itself, but for zarr-python. No shape is a
multiple of its chunk.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import zarr
import zarr.codecs

import fields
from sums import Sums

MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] + [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
HIERARCHY = 500

SHAPES: dict[str, dict[str, fields.Shape]] = {
    "full": {"weather": (500, 500, 500), "daily": (731, 350, 470), "cells": (500, 500, 1000), "dust": (317, 795, 795)},
    "quick": {"weather": (230, 250, 250), "daily": (731, 110, 150), "cells": (230, 250, 490), "dust": (93, 195, 195)},
    "tiny": {"weather": (70, 90, 100), "daily": (731, 25, 35), "cells": (70, 90, 200), "dust": (30, 40, 50)},
}

FIELDS: dict[str, Callable[[fields.Shape], np.ndarray]] = {
    "weather": fields.weather,
    "daily": fields.weather,
    "cells": fields.cells,
    "dust": lambda shape: fields.cells(shape, empty=False),
}


@dataclass(frozen=True)
class Layout:
    """How a field is stored."""

    field: str
    note: str
    chunks: tuple[Any, ...]
    compressors: Any = None
    shards: tuple[int, ...] | None = None
    filters: Any = None
    zarr_format: int = 3
    extra: dict[str, Any] = field(default_factory=dict)

    def create(self, path: Path, shape: fields.Shape, dtype: np.dtype) -> zarr.Array:
        shutil.rmtree(path, ignore_errors=True)
        return zarr.create_array(
            str(path), shape=shape, dtype=dtype, chunks=self.chunks, shards=self.shards, filters=self.filters,
            compressors=self.compressors, zarr_format=self.zarr_format, fill_value=0, **self.extra,
        )  # fmt: skip


def layouts(scale: str) -> dict[str, Layout]:
    """Every layout of one array. Chunks are 1 MiB, but where small ones are the point."""
    zstd = zarr.codecs.ZstdCodec(level=3, checksum=False)
    blosc = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"}
    cube, slab = (64, 64, 64), (64, 64, 128)
    shard = {"full": 256, "quick": 128, "tiny": 64}[scale]
    shards, small = (shard,) * 3, (shard // 2,) * 3
    area = {"full": (90, 120), "quick": (40, 40), "tiny": (10, 20)}[scale]
    return {
        "raw": Layout("weather", "64³, not compressed", cube),
        "zstd": Layout("weather", "64³, zstd 3", cube, zstd),
        "blosc_lz4": Layout("weather", "64³, blosc: lz4 5, byte shuffle", cube, zarr.codecs.BloscCodec(**blosc)),
        "blosc_zstd": Layout(
            "cells", "64×64×128, blosc: zstd 3, byte shuffle", slab,
            zarr.codecs.BloscCodec(cname="zstd", clevel=3, shuffle="shuffle"),
        ),
        "gzip": Layout("cells", "64×64×128, gzip 5", slab, zarr.codecs.GzipCodec(level=5)),
        "shard32": Layout("weather", f"32³ in shards of {shard}³, zstd 3", (32,) * 3, zstd, shards),
        "shard16": Layout("weather", f"16³ in shards of {shard // 2}³, zstd 3", (16,) * 3, zstd, small),
        "shard32_u16": Layout("cells", f"32³ in shards of {shard}³, zstd 3", (32,) * 3, zstd, shards),
        "shard_raw": Layout("weather", f"32³ in shards of {shard}³, not compressed", (32,) * 3, None, shards),
        "months": Layout(
            "daily", f"rectilinear: 24 months × {area[0]} × {area[1]}, zstd 3", (MONTHS, *area), zstd,
        ),
        "v2_blosc": Layout(
            "weather", "v2, 64³, blosc: lz4 5, byte shuffle", cube, numcodecs.Blosc("lz4", 5, 1), zarr_format=2,
        ),
        "v2_F": Layout(
            "cells", "v2, order F, 64×64×128, blosc: zstd 3, byte shuffle", slab, numcodecs.Blosc("zstd", 3, 1),
            zarr_format=2, extra={"order": "F"},
        ),
        "transposed": Layout(
            "cells", "transpose [2, 1, 0], 64×64×128, zstd 3", slab, zstd,
            filters=[zarr.codecs.TransposeCodec(order=(2, 1, 0))],
        ),
        "many": Layout("dust", "8×16×16, zstd 3: many small objects", (8, 16, 16), zstd),
    }  # fmt: skip


SIZES = {"full": [1, 4, 16, 64, 256, 1024], "quick": [1, 4, 16, 64], "tiny": [1, 4]}
SPLITS: dict[str, list[tuple[int, int, int]]] = {
    "full": [(64, 128, 256), (32, 64, 64), (16, 32, 32), (8, 16, 16), (4, 8, 8), (4, 4, 4)],
    "quick": [(64, 128, 256), (32, 64, 64), (16, 32, 32), (8, 16, 16), (8, 8, 8)],
    "tiny": [(64, 128, 256), (32, 64, 64)],
}


def scaling(scale: str) -> dict[str, tuple[fields.Shape, tuple[int, int, int]]]:
    """Arrays that grow, and one array cut ever smaller: shape and chunk. Chunks of the first kind are 1 MiB."""
    grown = {f"size_{mib:04}": ((4 * mib + 1, 255, 255), (4, 256, 256)) for mib in SIZES[scale]}
    split = {f"split_{n}": ((127, 255, 255), chunk) for n, chunk in enumerate(SPLITS[scale])}
    return grown | split


def stored(path: Path) -> tuple[int, int]:
    sizes = [p.stat().st_size for p in path.rglob("*") if p.is_file()]
    return len(sizes), sum(sizes)


class Maker:
    """Makes what is missing; a manifest entry means that it is there."""

    def __init__(self, root: Path, scale: str) -> None:
        self.root, self.scale = root, scale
        self.path = root / "manifest.json"
        self.manifest: dict[str, Any] = {"scale": scale, "arrays": {}}
        if self.path.exists():
            self.manifest = json.loads(self.path.read_text())
        if self.manifest["scale"] != scale:
            raise SystemExit(f"{root} holds data of the scale {self.manifest['scale']}")
        self.held: tuple[str, np.ndarray] | None = None
        (root / "fields").mkdir(parents=True, exist_ok=True)

    def values(self, name: str) -> np.ndarray:
        """The field, from its file or anew; the one used last stays in memory."""
        if self.held is None or self.held[0] != name:
            self.held = None
            path, shape = self.root / "fields" / f"{name}.bin", SHAPES[self.scale][name]
            if path.exists():
                dtype = "<u2" if name in ("cells", "dust") else "<f4"
                self.held = (name, np.fromfile(path, dtype).reshape(shape))
            else:
                self.held = (name, FIELDS[name](shape))
                self.held[1].tofile(path)
        return self.held[1]

    def array(self, name: str, layout: Layout, values: np.ndarray) -> None:
        begun = time.perf_counter()
        path = self.root / name
        layout.create(path, values.shape, values.dtype)[...] = values
        sums = Sums()
        sums.add(values)
        objects, size = stored(path)
        self.enter(name, {
            "shape": values.shape, "dtype": str(values.dtype), "field": layout.field, "note": layout.note,
            "objects": objects, "stored": size, "bytes": values.nbytes,
            "checksum": str(sums.plain), "order": str(sums.ordered),
        })  # fmt: skip
        print(
            f"{name:12} {values.nbytes / 2**20:6.0f} MiB as {size / 2**20:6.0f} in {objects} objects, {time.perf_counter() - begun:.1f} s",
            flush=True,
        )

    def enter(self, name: str, facts: dict[str, Any]) -> None:
        self.manifest["arrays"][name] = facts
        self.path.write_text(json.dumps(self.manifest, indent=1))

    def hierarchy(self) -> None:
        """A flat group of many small arrays, plain and with consolidated metadata."""
        for name in ("hier", "hier_cons"):
            root = self.root / name
            if name in self.manifest["arrays"]:
                continue
            shutil.rmtree(root, ignore_errors=True)
            group = zarr.create_group(root, attributes={"title": "many variables"})
            for i in range(HIERARCHY):
                group.create_array(
                    f"v{i:03}", shape=(24, 19, 37), chunks=(24, 19, 37), dtype="float32", dimension_names=("time", "lat", "lon"),
                    attributes={"units": "K", "long_name": f"variable {i}", "valid_range": [0.0, 400.0], "cell_methods": "time: mean"},
                )  # fmt: skip
            if name == "hier_cons":
                zarr.consolidate_metadata(root)
            self.enter(name, {"note": f"{HIERARCHY} arrays", "objects": stored(root)[0]})

    def scaling(self) -> None:
        zstd = zarr.codecs.ZstdCodec(level=3, checksum=False)
        slab = fields.weather((64, 255, 255))
        for name, (shape, chunk) in scaling(self.scale).items():
            if name not in self.manifest["arrays"]:
                layout = Layout("", f"{'×'.join(map(str, chunk))}, zstd 3", chunk, zstd)
                self.array(name, layout, np.resize(slab, shape))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--scale", choices=sorted(SHAPES), default="full")
    parser.add_argument("--only", default="", help="layouts, with commas; else all of them, the hierarchies and the scaling arrays")
    given = parser.parse_args()
    zarr.config.set({
        "array.rectilinear_chunks": True,
        "codec_pipeline.path": "zarr.core.codec_pipeline.FusedCodecPipeline",
    })  # fmt: skip
    # Consolidated metadata is not in the specification of v3; the row exists all the same.
    warnings.simplefilter("ignore", zarr.errors.ZarrUserWarning)
    maker = Maker(given.directory, given.scale)
    chosen = layouts(given.scale)
    names = given.only.split(",") if given.only else list(chosen)
    for name in sorted(names, key=lambda n: chosen[n].field):
        if name not in maker.manifest["arrays"]:
            maker.array(name, chosen[name], maker.values(chosen[name].field))
    if not given.only:
        maker.hierarchy()
        maker.scaling()


if __name__ == "__main__":
    main()
