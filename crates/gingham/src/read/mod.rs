//! Reading: plan, machine, scatter.
pub mod plan;
