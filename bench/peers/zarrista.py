"""zarrista: Python bindings of the crate zarrs."""

from __future__ import annotations

from typing import Any

import numpy as np
import zarrista
from zarrista.store import FilesystemStore

from peers.peer import NotOffered, Peer, Selection


class Zarrista(Peer):
    def open(self, place: str, write: bool = False) -> Any:
        if "://" in place:
            raise NotOffered("a remote store without asyncio")
        return zarrista.Array.open(FilesystemStore(place))

    def read(self, array: Any, selection: Selection | None) -> Any:
        return array[... if selection is None else selection].to_numpy()

    def write(self, array: Any, selection: Selection | None, values: np.ndarray) -> None:
        array.store_array_subset(... if selection is None else selection, values)

    def hierarchy(self, place: str, consolidated: bool) -> int:
        return len(zarrista.Group.open(FilesystemStore(place)).child_arrays())


make = Zarrista
