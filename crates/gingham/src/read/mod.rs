//! Reading: a plan says what is wanted, the machine which bytes that needs and what to do with them, a driver fetches.

pub(crate) mod kept;
pub mod machine;
pub mod output;
pub mod plan;
