//! `sharding_indexed`: the index and the inner chain.
