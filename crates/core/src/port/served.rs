//! A port whose frames wait in servers in place of the queues of its classes (`harts/servers.rs`): its classes count alone.

use alloc::vec::Vec;

use tautwire_units::{Bytes, Duration, Instant};

use super::{Arbiter, EgressPort, QueuedFrame, SERVED_OVERHEAD, Selection};
use crate::harts::servers::{Choice, ServerConfig, Servers};

impl<F: QueuedFrame> EgressPort<F> {
    /// Replaces a server from now on, with a memory pool of so many octets on the wire; an unchanged one continues.
    /// Only where there are servers.
    pub fn install_server(&mut self, now: Instant, lane: u16, config: ServerConfig, pool: Option<u32>) {
        if let Some(servers) = self.servers() {
            servers.install(now, lane, config, pool);
        }
    }

    /// Throws away those frames of a server that are meant, and gives them back. None where there are no servers.
    pub fn withdraw(&mut self, now: Instant, lane: u16, is_meant: impl Fn(&F) -> bool) -> Vec<F> {
        let Some(servers) = self.servers() else { return Vec::new() };
        let taken = servers.withdraw(now, lane, is_meant, |frame| frame.octets() + SERVED_OVERHEAD);
        for frame in &taken {
            let (octets, index) = (frame.octets(), frame.class().index());
            self.classes[index].count_out(octets);
            if self.classes[index].frames() == 0 {
                self.occupied &= !(1 << index);
            }
            if let Some(buffer) = &mut self.buffer {
                buffer.give(index, octets);
            }
        }
        taken
    }

    /// The selection of the servers at `now`, with the line free.
    pub(super) fn select_of_servers(&mut self, now: Instant) -> Selection<F> {
        let Some(Arbiter::Servers(servers)) = self.arbiter.as_deref_mut() else { return Selection::Idle };
        let wire = |octets: u32| self.octet_time.duration_ceil(Bytes::new(u64::from(octets)));
        let overhead = SERVED_OVERHEAD;
        match servers.choose(now, |frame: F| frame.octets() + overhead, wire) {
            None => Selection::Idle,
            Some(Choice::Wait(at)) => Selection::Wait(at),
            Some(Choice::Send(server)) => self.transmit_of_server(server, overhead, now),
        }
    }

    fn transmit_of_server(&mut self, server: u16, overhead: u32, now: Instant) -> Selection<F> {
        let idle = self.idle_time(now);
        let servers = self.servers().expect("a port with servers");
        let taken = servers.pop(now, server, |frame| frame.octets() + overhead, idle);
        let (octets, index) = (taken.frame.octets(), taken.frame.class().index());
        self.classes[index].count_out(octets);
        if self.classes[index].frames() == 0 {
            self.occupied &= !(1 << index);
        }
        self.octets += u64::from(octets);
        if let Some(buffer) = &mut self.buffer {
            buffer.give(index, octets);
        }
        let wire = self.octet_time.duration_ceil(Bytes::new(u64::from(octets + overhead)));
        self.busy_until = now + wire;
        self.busy += wire;
        Selection::Transmit {
            frame: taken.frame,
            held: Duration::from_ps(idle.saturating_sub(taken.idle_at_head)),
        }
    }

    fn servers(&mut self) -> Option<&mut Servers<F>> {
        match self.arbiter.as_deref_mut()? {
            Arbiter::Servers(servers) => Some(servers),
            Arbiter::Gates(_) => None,
        }
    }
}
