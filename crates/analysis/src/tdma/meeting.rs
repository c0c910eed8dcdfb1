//! Whether frames of different slots may be at one port at the same time.
//!
//! In: slots and paths. Out: the port where two may meet; if there is none, no frame waits after its talker
//! (`T_switch^wait = 0`), by induction over the first that would. Not here: paths (`way.rs`).

use std::borrow::Cow;
use std::collections::BTreeMap;

use tautwire_model::network::{PortIndex, StreamIndex, Traffic};

use super::Cycle;
use super::reasons::SLOTS_MEET;
use crate::unbounded::Unbounded;

impl Cycle<'_> {
    /// A port at which frames of different slots may meet.
    pub(super) fn meeting(&self) -> Option<Unbounded> {
        // Per port and slot, whose streams use it in turn: from when to when its frame may be there. The frame that
        // opens a cycle at the start of a slot comes first.
        let mut times: BTreeMap<(u32, u64, bool), (u64, u64)> = BTreeMap::new();
        for number in 0..self.network.streams.len() {
            let mut stream = Cow::Borrowed(&self.network.streams[number]);
            if stream.traffic == Traffic::Protocol && !self.starts_up_again() {
                // Of a start-up's messages, only the talker's ready message is sent after streams have begun: the shortest frame.
                stream.to_mut().payload_max = stream.payload_min;
            }
            let opens = matches!(stream.traffic, Traffic::Synchronisation { .. });
            let mut starts = self.starts(StreamIndex::at(number), self.cycles + 1);
            if let Some(lender) = self.lends(StreamIndex::at(number)) {
                starts.extend(self.starts(lender, self.cycles + 1));
            }
            for start in starts {
                for (place, hop) in stream.hops.iter().enumerate() {
                    let (queued, gone) = self.at_hop(&stream, place);
                    let begin = (start + queued.min).saturating_sub(self.early);
                    let end = start.saturating_add(gone).saturating_add(self.late);
                    let known = times.entry((hop.port.0, start, !opens)).or_insert((begin, end));
                    *known = (known.0.min(begin), known.1.max(end));
                }
            }
        }
        let (mut port, mut taken) = (u32::MAX, 0);
        for ((next, ..), (begin, end)) in times {
            if next == port && begin < taken {
                return Some(SLOTS_MEET.at(PortIndex(port)));
            }
            taken = if next == port { end.max(taken) } else { end };
            port = next;
        }
        None
    }

    /// Whether a station may start up while others run: one that comes back, or was declared dead.
    fn starts_up_again(&self) -> bool {
        self.tdma.start_up.as_ref().is_some_and(|start_up| start_up.heartbeat.is_some())
    }

    /// The stream in whose slots the master answers a station that calibrates by this one, while others run.
    fn lends(&self, reply: StreamIndex) -> Option<StreamIndex> {
        let start_up = self.tdma.start_up.as_ref().filter(|_| self.starts_up_again())?;
        let pairs = start_up.stations.iter().filter_map(|station| station.with_master);
        pairs.filter(|(_, back)| *back == reply).map(|(there, _)| there).next()
    }

    /// Starts of the slots that carry a stream, in order, in the first `cycles`.
    pub(super) fn starts(&self, stream: StreamIndex, cycles: u64) -> Vec<u64> {
        let cycle_ps = self.tdma.cycle.as_ps();
        let standby = self.tdma.standby.filter(|standby| standby.synchronisation == stream);
        let mut starts = Vec::new();
        for cycle in 0..cycles {
            if matches!(self.network.streams[stream.index()].traffic, Traffic::Synchronisation { .. }) {
                starts.push(cycle * cycle_ps);
                starts.extend(standby.map(|standby| cycle * cycle_ps + standby.offset.as_ps()));
                continue;
            }
            let carries = self.tdma.slots.iter().filter(|slot| self.network.is_carried(slot, stream));
            let here =
                carries.filter(|slot| cycle % u64::from(slot.slot.period) == u64::from(slot.slot.phase));
            starts.extend(here.map(|slot| cycle * cycle_ps + slot.slot.offset.as_ps()));
        }
        starts
    }
}
