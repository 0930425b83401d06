//! Where reading meets waiting.
