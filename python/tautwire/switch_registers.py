"""Addresses of the switch's registers. Written by hdl/registers.py; change registers.toml there."""

from __future__ import annotations

__all__ = ["ADDRESSES", "PORT_ADDRESSES", "port_address"]

PORT_BASE = 0x800
PORT_STRIDE = 0x100

#: Of the switch, by name.
ADDRESSES: dict[str, int] = {
    "identity": 0x000,
    "version": 0x004,
    "shape": 0x008,
    "status": 0x00C,
    "time_low": 0x010,
    "time_high": 0x014,
    "clock_low": 0x018,
    "clock_high": 0x01C,
    "clock_rate": 0x020,
    "clock_step_high": 0x024,
    "clock_step": 0x028,
    "ageing_interval": 0x02C,
    "free_cells": 0x030,
    "table_overflows": 0x034,
    "ats_classes": 0x040,
    "charged_overhead": 0x044,
    "processing_delay_max": 0x048,
    "scheduler_group": 0x050,
    "scheduler_octet_time_low": 0x054,
    "scheduler_octet_time_high": 0x058,
    "scheduler_empty_to_full_low": 0x05C,
    "scheduler_empty_to_full_high": 0x060,
    "scheduler_octets_max": 0x064,
    "scheduler_write": 0x068,
    "group_residence_low": 0x070,
    "group_residence_high": 0x074,
    "group_write": 0x078,
    "group_count_index": 0x07C,
    "group_exceeds_burst": 0x080,
    "group_exceeds_residence": 0x084,
    "stream_key_low": 0x090,
    "stream_key_high": 0x094,
    "stream_scheduler": 0x098,
    "stream_write": 0x09C,
    "rule_ports": 0x0A8,
    "rule_octet": 0x0A0,
    "rule_scheduler": 0x0A4,
    "address_key_low": 0x0B0,
    "address_key_high": 0x0B4,
    "address_ports": 0x0B8,
    "address_write": 0x0BC,
    "vlan_members": 0x0C0,
    "vlan_write": 0x0C4,
    "free_cells_min": 0x0E0,
}

#: Of a port, relative to its block, by name; the first of an array.
PORT_ADDRESSES: dict[str, int] = {
    "class_of_pcp": 0x000,
    "default_tag": 0x004,
    "gates": 0x008,
    "credit_based": 0x00C,
    "cut_through": 0x010,
    "received_stamp_low": 0x020,
    "received_stamp_high": 0x024,
    "sent_stamp_low": 0x028,
    "sent_stamp_high": 0x02C,
    "idle_slope": 0x040,
    "received": 0x080,
    "received_short": 0x084,
    "received_long": 0x088,
    "received_check": 0x08C,
    "dropped_no_cell": 0x090,
    "dropped_no_port": 0x094,
    "dropped_not_member": 0x098,
    "dropped_queue_full": 0x09C,
    "dropped_class_limit": 0x0AC,
    "sent": 0x0A0,
    "sent_cut_through": 0x0A4,
    "sent_bad": 0x0A8,
}


def port_address(port: int, name: str, index: int = 0) -> int:
    """Address of a register of a port; of an array, the one of this index."""
    return PORT_BASE + PORT_STRIDE * port + PORT_ADDRESSES[name] + 4 * index
