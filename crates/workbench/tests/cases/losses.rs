//! Nothing is proven that may be lost.
