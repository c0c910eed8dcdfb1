//! Benches: simulation, bounds, parsing, memory.
