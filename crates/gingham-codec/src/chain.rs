//! Codecs strung together.
