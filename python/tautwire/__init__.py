"""Workbench for deterministic Ethernet: bounds, simulation, verdicts."""
