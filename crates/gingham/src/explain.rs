//! A plan as text and JSON.
