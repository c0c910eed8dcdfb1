//! What passes the check can be run.
