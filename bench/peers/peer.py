"""What a peer offers. Whatever it does not, it leaves as it is here."""

from __future__ import annotations

from typing import Any

import numpy as np

Selection = tuple[slice, ...]

# The key of the S3 server that the benchmarks start; it guards nothing.
S3_KEY, S3_SECRET = "bench", "bench-secret"


class NotOffered(Exception):
    """The peer has no such operation."""


class Peer:
    """A way to read and write Zarr. `endpoint` is that of the S3 server, where there is one."""

    endpoint: str | None = None

    def open(self, place: str, write: bool = False) -> Any:
        """Opens the array at a path, at an http:// URL, or at s3://bucket/key."""
        raise NotImplementedError

    def read(self, array: Any, selection: Selection | None) -> Any:
        """A box, or everything, in new memory."""
        raise NotImplementedError

    def read_into(self, array: Any, out: np.ndarray) -> None:
        raise NotOffered("reading into a given buffer")

    def write(self, array: Any, selection: Selection | None, values: np.ndarray) -> None:
        raise NotOffered("writing")

    def append(self, array: Any, values: np.ndarray) -> Any:
        """Appends along the first axis, the document's shape included; returns the grown array."""
        raise NotOffered("appending")

    def list(self, place: str) -> int:
        """The number of keys in a store."""
        raise NotOffered("listing a store")

    def hierarchy(self, place: str, consolidated: bool) -> int:
        """Opens every array of a group; how many there are."""
        raise NotOffered("opening a hierarchy")
