"""tensorstore, through the drivers zarr and zarr3. It has no groups: a hierarchy is a folder of arrays, opened at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore as ts

from peers.peer import S3_KEY, S3_SECRET, NotOffered, Peer, Selection

CACHE = 256 << 20


class TensorStore(Peer):
    def __init__(self, cache: bool = False) -> None:
        os.environ.update(AWS_ACCESS_KEY_ID=S3_KEY, AWS_SECRET_ACCESS_KEY=S3_SECRET)
        self.context = ts.Context({"cache_pool": {"total_bytes_limit": CACHE}} if cache else {})
        # A cache that asks the store whether its data is still right would not be one.
        self.options = {"recheck_cached_data": False, "recheck_cached_metadata": False} if cache else {}

    def place(self, place: str) -> dict[str, Any]:
        if place.startswith("http://"):
            base, _, path = place.removeprefix("http://").partition("/")
            return {"driver": "http", "base_url": f"http://{base}", "path": f"/{path}/"}
        if place.startswith("s3://"):
            bucket, _, key = place.removeprefix("s3://").partition("/")
            return {
                "driver": "s3", "bucket": bucket, "path": f"{key}/", "endpoint": self.endpoint, "aws_region": "us-east-1",
                "aws_credentials": {"type": "environment"},
            }  # fmt: skip
        return {"driver": "file", "path": f"{place}/"}

    def spec(self, place: str) -> dict[str, Any]:
        v2 = "://" not in place and (Path(place) / ".zarray").exists()
        return {"driver": "zarr" if v2 else "zarr3", "kvstore": self.place(place), **self.options}

    def open(self, place: str, write: bool = False) -> Any:
        return ts.open(self.spec(place), context=self.context, open=True, read=True, write=write).result()

    def read(self, array: Any, selection: Selection | None) -> Any:
        return (array if selection is None else array[selection]).read(order="C").result()

    def read_into(self, array: Any, out: np.ndarray) -> None:
        ts.array(out).write(array).result()

    def write(self, array: Any, selection: Selection | None, values: np.ndarray) -> None:
        (array if selection is None else array[selection]).write(values).result()

    def append(self, array: Any, values: np.ndarray) -> Any:
        height = array.shape[0]
        grown = array.resize(exclusive_max=[height + len(values), *array.shape[1:]]).result()
        grown[height:].write(values).result()
        return grown

    def list(self, place: str) -> int:
        return len(ts.KvStore.open(self.place(place)).result().list().result())

    def hierarchy(self, place: str, consolidated: bool) -> int:
        if consolidated:
            raise NotOffered("consolidated metadata")
        names = [entry.name for entry in os.scandir(place) if entry.is_dir()]
        opened = [ts.open(self.spec(f"{place}/{name}"), context=self.context, open=True) for name in names]
        return len([array.result() for array in opened])


make = TensorStore
