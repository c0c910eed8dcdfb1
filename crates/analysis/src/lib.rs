//! Worst-case bounds per port and end to end, of every mechanism that `core` has a machine for.

mod result;

pub use result::{Bounds, ClassBounds, HopBounds, ListenerBounds, Method, StreamBounds, Unbounded};
