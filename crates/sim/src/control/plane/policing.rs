//! Policing of streams where they enter a bridge, behind their first hop.
//!
//! A policed frame is checked when its last bit is in; a reshaped one reaches the device's stages later by its delay.
//! Not here: the policing of virtual links (`virtual_links.rs`).

use std::collections::BTreeMap;

use tautwire_core::stream_policing::{Policed, StreamPolicer};
use tautwire_model::network::StreamIndex;

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::frame::octets_of;
use crate::plan::HopFlags;
use crate::recorder::Recorder;
use crate::result::DropReason;

/// The actions of a mechanism on policers of bridges.
pub trait Policing {
    /// The bridge where a stream enters starts or stops policing it; an existing policer continues unchanged.
    fn police(&mut self, stream: StreamIndex, policer: Option<StreamPolicer>);
}

/// The policers of a run, by hop.
#[derive(Debug, Default)]
pub(crate) struct Policers(BTreeMap<u32, StreamPolicer>);

impl<R: Recorder + ?Sized, const PLUGGED: bool> Policing for Engine<'_, R, PLUGGED> {
    fn police(&mut self, stream: StreamIndex, policer: Option<StreamPolicer>) {
        let first = self.plan.first_hop[stream.index()];
        let Some(hop) = self.plan.hops.get_mut(first as usize) else { return };
        hop.flags.add(HopFlags::INSPECTED, policer.is_some());
        let policers = &mut self.plugged().policers.0;
        match policer {
            Some(policer) => {
                policers.entry(first).or_insert(policer);
            }
            None => {
                policers.remove(&first);
            }
        }
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// When a frame of a policed stream goes on behind the link that it will have passed at `received`, or why it does not.
    #[cold]
    pub(crate) fn police_stream(
        &mut self,
        hop: u32,
        place: u32,
        received: SimTime,
        ring: u32,
    ) -> Result<SimTime, DropReason> {
        let slot = *self.slab.get(place);
        let octets = octets_of(slot.payload, self.plan.hops[hop as usize].overhead);
        let clock = self.nodes[self.links[ring as usize].to_node as usize].clock;
        let policers = self.plugged.as_mut().map(|plugged| &mut plugged.policers.0);
        let Some(policer) = policers.and_then(|policers| policers.get_mut(&hop)) else {
            return Ok(received);
        };
        // A damaged frame is discarded before, and charges nothing.
        if slot.marks.is_corrupted() {
            return Ok(received);
        }
        match policer.police(clock.local(received), u32::from(octets.get())) {
            Policed::Pass => Ok(received),
            Policed::At(at) => Ok(clock.true_at(at).max(received)),
            Policed::TooLarge => Err(DropReason::PolicedLength),
            Policed::TooEarly => Err(DropReason::PolicedRate),
            Policed::PoolFull => Err(DropReason::QueueFull),
        }
    }
}
