//! Stores around stores: each watches or changes one thing.

mod prefix;

pub use prefix::Prefix;
