//! Captures, tables and folders as people have them.
