"""zarr-python, with the pipeline it comes with, with its own fused one, or with that of the package zarrs."""

from __future__ import annotations

from typing import Any

import numpy as np
import zarr
from zarr.core.buffer.cpu import NDBuffer
from zarr.core.sync import sync
from zarr.storage import LocalStore, ObjectStore

from peers.peer import S3_KEY, S3_SECRET, Peer, Selection


class ZarrPython(Peer):
    def __init__(self, pipeline: str | None = None) -> None:
        zarr.config.set({"array.rectilinear_chunks": True})
        if pipeline:
            if pipeline.startswith("zarrs."):
                import zarrs  # noqa: F401  (registers its pipeline)
            zarr.config.set({"codec_pipeline.path": pipeline})

    def store(self, place: str) -> Any:
        if "://" not in place:
            return place
        import obstore.store as obstore

        clients = {"allow_http": True}
        if place.startswith("http://"):
            return ObjectStore(obstore.HTTPStore.from_url(place, client_options=clients), read_only=True)
        bucket, _, key = place.removeprefix("s3://").partition("/")
        store = obstore.S3Store(
            bucket, prefix=key, endpoint=self.endpoint, region="us-east-1", access_key_id=S3_KEY, secret_access_key=S3_SECRET,
            client_options=clients,
        )  # fmt: skip
        return ObjectStore(store, read_only=True)

    def open(self, place: str, write: bool = False) -> Any:
        return zarr.open_array(self.store(place), mode="r+" if write else "r")

    def read(self, array: Any, selection: Selection | None) -> Any:
        return array[... if selection is None else selection]

    def read_into(self, array: Any, out: np.ndarray) -> None:
        array.get_basic_selection(..., out=NDBuffer(out))

    def write(self, array: Any, selection: Selection | None, values: np.ndarray) -> None:
        array[... if selection is None else selection] = values

    def append(self, array: Any, values: np.ndarray) -> Any:
        array.append(values, axis=0)
        return array

    def list(self, place: str) -> int:
        async def count() -> int:
            return len([key async for key in LocalStore(place).list()])

        return sync(count())

    def hierarchy(self, place: str, consolidated: bool) -> int:
        return len(dict(zarr.open_group(self.store(place), mode="r", use_consolidated=consolidated).members()))


make = ZarrPython
