//! Results as JSON, Arrow, Parquet, pcapng, tables and HTML.
