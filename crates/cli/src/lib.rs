//! The command tautwire.
