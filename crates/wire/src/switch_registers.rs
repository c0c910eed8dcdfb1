//! Addresses of the registers of the switch in `hdl/`. Written by hdl/registers.py; change registers.toml there.

/// Where the registers of port 0 begin.
pub const PORT_BASE: u16 = 0x800;

/// From one port to the next.
pub const PORT_STRIDE: u16 = 0x100;

/// The letters TAUT.
pub const IDENTITY: u16 = 0x000;

/// Version of this map.
pub const VERSION: u16 = 0x004;

/// Bits 7-0: ports; 15-8: classes; 23-16: log2 of cells in the buffer; 31-24: log2 of ATS schedulers.
pub const SHAPE: u16 = 0x008;

/// 1 when the tables are initialised after a reset; frames before that are ignored.
pub const STATUS: u16 = 0x00c;

/// Free-running local time in ticks of half a nanosecond, bits 31-0.
pub const TIME_LOW: u16 = 0x010;

/// Its bits 63-32.
pub const TIME_HIGH: u16 = 0x014;

/// Adjustable clock in nanoseconds, bits 31-0.
pub const CLOCK_LOW: u16 = 0x018;

/// Its bits 63-32.
pub const CLOCK_HIGH: u16 = 0x01c;

/// What a cycle adds to the adjustable clock, in 2^-24 ns.
pub const CLOCK_RATE: u16 = 0x020;

/// Bits 63-32 of the step below.
pub const CLOCK_STEP_HIGH: u16 = 0x024;

/// Adds this and the upper half above, a signed number of nanoseconds, to the adjustable clock.
pub const CLOCK_STEP: u16 = 0x028;

/// Time between two ageing ticks in 2^20 cycles; a learned address is forgotten after three. 0: never.
pub const AGEING_INTERVAL: u16 = 0x02c;

/// Cells in the free list; every port has one more in hand.
pub const FREE_CELLS: u16 = 0x030;

/// Addresses and streams that found no place in their table, or were learned and had to leave it.
pub const TABLE_OVERFLOWS: u16 = 0x034;

/// Classes shaped by ATS, a bit each.
pub const ATS_CLASSES: u16 = 0x040;

/// Octets charged in addition to a frame's own.
pub const CHARGED_OVERHEAD: u16 = 0x044;

/// ProcessingDelayMax in ticks.
pub const PROCESSING_DELAY_MAX: u16 = 0x048;

/// Scheduler group of a scheduler to be written.
pub const SCHEDULER_GROUP: u16 = 0x050;

/// CommittedInformationRate as the time of an octet in 2^-24 ticks, rounded up, bits 31-0.
pub const SCHEDULER_OCTET_TIME_LOW: u16 = 0x054;

/// Its bits 39-32.
pub const SCHEDULER_OCTET_TIME_HIGH: u16 = 0x058;

/// EmptyToFullDuration in ticks, rounded down, bits 31-0.
pub const SCHEDULER_EMPTY_TO_FULL_LOW: u16 = 0x05c;

/// Its bits 35-32.
pub const SCHEDULER_EMPTY_TO_FULL_HIGH: u16 = 0x060;

/// CommittedBurstSize in octets.
pub const SCHEDULER_OCTETS_MAX: u16 = 0x064;

/// Writes the parameters above to the scheduler of this number.
pub const SCHEDULER_WRITE: u16 = 0x068;

/// MaxResidenceTime of a group to be written, in ticks, bits 31-0.
pub const GROUP_RESIDENCE_LOW: u16 = 0x070;

/// Its bits 35-32.
pub const GROUP_RESIDENCE_HIGH: u16 = 0x074;

/// Writes it to the scheduler group of this number.
pub const GROUP_WRITE: u16 = 0x078;

/// The scheduler group whose counters the next two registers show.
pub const GROUP_COUNT_INDEX: u16 = 0x07c;

/// Frames of the group discarded as larger than CommittedBurstSize.
pub const GROUP_EXCEEDS_BURST: u16 = 0x080;

/// Frames of the group discarded for MaxResidenceTime.
pub const GROUP_EXCEEDS_RESIDENCE: u16 = 0x084;

/// Address of a stream to be written, bits 31-0.
pub const STREAM_KEY_LOW: u16 = 0x090;

/// Bits 15-0: address, bits 47-32; 27-16: VLAN; 28: 1 for the source address, 0 for the destination.
pub const STREAM_KEY_HIGH: u16 = 0x094;

/// Its ATS scheduler.
pub const STREAM_SCHEDULER: u16 = 0x098;

/// 0 writes the stream above, 1 removes it. SLVERR: it found no place, and nothing is changed.
pub const STREAM_WRITE: u16 = 0x09c;

/// The ports whose identification rules are written by the two below, a bit each: every port has rules of its own.
pub const RULE_PORTS: u16 = 0x0a8;

/// An octet of an identification rule. Bits 7-0: mask; 15-8: value; 21-16: place after the start of the frame; 31-24: rule.
pub const RULE_OCTET: u16 = 0x0a0;

/// Bits 15-0: ATS scheduler of a rule; 23-16: rule; 31: whether the rule is used.
pub const RULE_SCHEDULER: u16 = 0x0a4;

/// Address to be written, bits 31-0.
pub const ADDRESS_KEY_LOW: u16 = 0x0b0;

/// Bits 15-0: address, bits 47-32; 27-16: VLAN.
pub const ADDRESS_KEY_HIGH: u16 = 0x0b4;

/// The ports that it is forwarded to, a bit each.
pub const ADDRESS_PORTS: u16 = 0x0b8;

/// 0 writes the address above, 1 removes it. SLVERR: it found no place, and nothing is changed.
pub const ADDRESS_WRITE: u16 = 0x0bc;

/// Member set of a VLAN to be written, a bit for each port. After a reset every VLAN has all ports.
pub const VLAN_MEMBERS: u16 = 0x0c0;

/// Writes it to this VLAN.
pub const VLAN_WRITE: u16 = 0x0c4;

/// Cells that must be free for a frame of a class to be queued; 0: no limit. The cells of frames that come in are not free. The first of 8, four octets apart.
pub const FREE_CELLS_MIN: u16 = 0x0e0;

/// Class of frames received with priority code point k in bits 4k+2 to 4k. Relative to the port's block.
pub const CLASS_OF_PCP: u16 = 0x000;

/// Of frames received untagged: bits 11-0: VLAN, of priority tags too; 14-12: priority code point. Relative to the port's block.
pub const DEFAULT_TAG: u16 = 0x004;

/// Classes that may be sent, a bit each. Relative to the port's block.
pub const GATES: u16 = 0x008;

/// Classes sent with a credit-based shaper, a bit each. Relative to the port's block.
pub const CREDIT_BASED: u16 = 0x00c;

/// Classes that may be cut through when sent here, a bit each; never those of ATS or with a credit-based shaper. Relative to the port's block.
pub const CUT_THROUGH: u16 = 0x010;

/// Adjustable clock when the last start delimiter came in, in ns, bits 31-0. Relative to the port's block.
pub const RECEIVED_STAMP_LOW: u16 = 0x020;

/// Its bits 63-32. Relative to the port's block.
pub const RECEIVED_STAMP_HIGH: u16 = 0x024;

/// Adjustable clock when the last start delimiter went out, in ns, bits 31-0. Relative to the port's block.
pub const SENT_STAMP_LOW: u16 = 0x028;

/// Its bits 63-32. Relative to the port's block.
pub const SENT_STAMP_HIGH: u16 = 0x02c;

/// idleSlope of a class in bit/s. The first of 8, four octets apart. Relative to the port's block.
pub const IDLE_SLOPE: u16 = 0x040;

/// Good frames received. Relative to the port's block.
pub const RECEIVED: u16 = 0x080;

/// Frames under 64 octets. Relative to the port's block.
pub const RECEIVED_SHORT: u16 = 0x084;

/// Frames over 1522 octets. Relative to the port's block.
pub const RECEIVED_LONG: u16 = 0x088;

/// Frames with a wrong check sequence or rx_er. Relative to the port's block.
pub const RECEIVED_CHECK: u16 = 0x08c;

/// Good frames that found the buffer full. Relative to the port's block.
pub const DROPPED_NO_CELL: u16 = 0x090;

/// Good frames for their own port, for a reserved address, or for no member of their VLAN. Relative to the port's block.
pub const DROPPED_NO_PORT: u16 = 0x094;

/// Good frames of a VLAN that the port is no member of. Relative to the port's block.
pub const DROPPED_NOT_MEMBER: u16 = 0x098;

/// Frames to be sent here that found their queue full. Relative to the port's block.
pub const DROPPED_QUEUE_FULL: u16 = 0x09c;

/// Frames for this port that were not queued because fewer than free_cells_min of their class were free. Relative to the port's block.
pub const DROPPED_CLASS_LIMIT: u16 = 0x0ac;

/// Frames sent. Relative to the port's block.
pub const SENT: u16 = 0x0a0;

/// Of these, cut through. Relative to the port's block.
pub const SENT_CUT_THROUGH: u16 = 0x0a4;

/// Of these, ended as bad ones, because they were received as bad. Relative to the port's block.
pub const SENT_BAD: u16 = 0x0a8;
