//! Grids against the vectors of format.md 1.5, 3.1 and public reports.
