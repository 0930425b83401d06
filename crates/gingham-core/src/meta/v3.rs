//! `zarr.json` (format.md 1).
