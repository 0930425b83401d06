//! Selections against NumPy's rules.
