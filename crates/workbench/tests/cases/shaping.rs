//! Credit-based and asynchronous shapers.
