"""The Python peers: one file each, and the table that lists them."""

from __future__ import annotations

from importlib import import_module

from peers.peer import Peer

# Name -> module, and what its class is told.
PEERS: dict[str, tuple[str, dict[str, object]]] = {
    "tensorstore": ("tensorstore", {}),
    "tensorstore-cache": ("tensorstore", {"cache": True}),
    "zarr": ("zarr_python", {}),
    "zarr-fused": ("zarr_python", {"pipeline": "zarr.core.codec_pipeline.FusedCodecPipeline"}),
    "zarr-zarrs": ("zarr_python", {"pipeline": "zarrs.ZarrsCodecPipeline"}),
    "zarrista": ("zarrista", {}),
}


def peer(name: str) -> Peer:
    module, options = PEERS[name]
    return import_module(f"peers.{module}").make(**options)
