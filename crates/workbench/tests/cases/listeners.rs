//! What each listener gets, and streams that never run.
