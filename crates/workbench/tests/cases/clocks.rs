//! Clocks that are read coarsely, several cables to a switch, and protocols at the limits of their values.
