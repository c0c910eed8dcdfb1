//! Servers of ports, and which of a stream's ports take its frames. A hop is a stream's, by its place among those of the stream.

use tautwire_core::harts::servers::ServerConfig;
use tautwire_model::network::{PortIndex, StreamIndex};

use crate::engine::Engine;
use crate::plan::HopFlags;
use crate::recorder::Recorder;

/// The actions of a mechanism on servers.
pub trait Servers {
    /// The server by which frames of a stream go at a hop.
    fn lane(&self, stream: StreamIndex, hop: usize) -> u16;

    /// Frames of a stream go by this one from now on.
    fn set_lane(&mut self, stream: StreamIndex, hop: usize, lane: u16);

    /// The port of a hop takes no frames of its stream, because only others are granted; or takes them again.
    fn prune(&mut self, stream: StreamIndex, hop: usize, so: bool);

    /// A server of a port is another one from now on, with a memory pool of so many octets of the wire.
    fn install_server(&mut self, port: PortIndex, lane: u16, server: ServerConfig, pool: Option<u32>);

    /// Frames of a stream that wait in a server are not sent any more.
    fn withdraw(&mut self, stream: StreamIndex, port: PortIndex, lane: u16);
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Servers for Engine<'_, R, PLUGGED> {
    fn lane(&self, stream: StreamIndex, hop: usize) -> u16 {
        self.plan.hops[self.plan.first_hop[stream.index()] as usize + hop].lane
    }

    fn set_lane(&mut self, stream: StreamIndex, hop: usize, lane: u16) {
        self.plan.hops[self.plan.first_hop[stream.index()] as usize + hop].lane = lane;
    }

    fn prune(&mut self, stream: StreamIndex, hop: usize, so: bool) {
        let hop = self.plan.first_hop[stream.index()] as usize + hop;
        self.plan.hops[hop].flags.set(HopFlags::PRUNED, so);
    }

    fn install_server(&mut self, port: PortIndex, lane: u16, server: ServerConfig, pool: Option<u32>) {
        if let Some(port) = &mut self.ports[port.index()] {
            let local = port.clock.local(self.now);
            port.egress.install_server(local, lane, server, pool);
        }
    }

    fn withdraw(&mut self, stream: StreamIndex, port: PortIndex, lane: u16) {
        let Some(state) = &mut self.ports[port.index()] else { return };
        let (local, slab) = (state.clock.local(self.now), &self.slab);
        let withdrawn = state.egress.withdraw(local, lane, |frame| slab.get(frame.slot).stream == stream.0);
        for frame in withdrawn {
            let hop = self.slab.get(frame.slot).hop;
            self.filter(frame.slot, hop);
        }
    }
}
