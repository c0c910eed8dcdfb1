//! The Python module tautwire._core.
