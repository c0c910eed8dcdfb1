//! Tables of tsnkit, a tool kit for scheduled traffic: tasks, topology, and schedules.
//!
//! | table | columns | here |
//! |---|---|---|
//! | tasks | `stream,src,dst,size,period,deadline,jitter` | streams |
//! | topology | `link,q_num,rate,t_proc,t_prop`, a row for each direction | cables, stages of devices |
//! | gates | `link,queue,start,end,cycle` | lists of gates |
//! | offsets, routes, queues | `stream,frame,offset`, `stream,link`, `stream,frame,link,queue` | offsets, routes, classes |
//!
//! What differs: `size` is all that a frame takes of the line, gap and preamble too, so a window of tsnkit ends where the gap ends, and the frame is
//! behind the link's delay and `t_proc` after its gap. Here a window ends with the last bit, and a bridge takes `t_proc` and the gap.
//! Nodes and streams are numbers there; a table of ours, `kind,number,name`, keeps their names.

mod describe;
mod read;
mod table;
mod windows;
mod write;

use tautwire_units::{BitRate, Bits};

use crate::{Export, Import, Scope};

pub(crate) static EXPORT: Export = Export {
    name: "tsnkit",
    about: "tables (CSV) of tsnkit: tasks, topology, and the schedule if ports have gates",
    scope: Scope::Files(write::write),
};

pub(crate) static IMPORT: Import = Import {
    name: "tsnkit",
    about: "tables (CSV) of tsnkit: tasks and topology, and the gates, offsets, queues and routes\nof a schedule; without a schedule, streams wait for `tautwire schedule`",
    example: "tautwire import tsnkit task.csv topo.csv ls-*.csv --to scheduled.yaml",
    has_configurations: false,
    of: read::read,
    of_octets: None,
    onto: None,
};

/// Picoseconds of a day, the longest time.
const DAY: u64 = 86_400_000_000_000_000;

/// Picoseconds of 1000 s, the longest cycle.
const CYCLE_MAX: u64 = 1_000_000_000_000_000;

/// Octets of the line behind a frame.
const GAP: u64 = 12;

/// Octets of the line before a frame, and behind it.
const OVERHEAD: u64 = 20;

/// How long the gap is on a line, picoseconds, rounded up.
fn gap(bits_per_second: u64) -> u64 {
    BitRate::from_bps(bits_per_second).duration_ceil(Bits::new(8 * GAP)).as_ps()
}
