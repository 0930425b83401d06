//! One file per codec.
