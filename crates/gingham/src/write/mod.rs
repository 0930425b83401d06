//! Writing: plan, gather, append, resize.
