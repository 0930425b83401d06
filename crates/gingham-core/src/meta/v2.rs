//! `.zarray`, `.zgroup`, `.zattrs` (format.md 2).
