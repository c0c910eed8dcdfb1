//! The public interface: load, check, bounds, simulate, verify, report.
