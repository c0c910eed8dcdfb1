//! A network with some of its streams: what admission decides about.

use crate::as6802::Synchronisation;
use crate::gptp::Gptp;
use crate::identification;
use crate::network::{
    Hop, Identified, Network, NodeIndex, Parts, Stream, StreamIndex, TimelineEvent, Traffic,
};
use crate::srp::{ReservedStream, StreamReservation};

impl Network {
    /// The network with these streams alone, in this order. Events of others are left out; a scheduler
    /// that they shared keeps the parameters of all of them. A protocol (TDMA, AS6802, gPTP, stream reservation) stays if all its
    /// own streams are among them.
    ///
    /// # Panics
    /// If a stream occurs twice in `streams`.
    #[must_use]
    pub fn with_only(&self, streams: &[StreamIndex]) -> Self {
        let mut place = vec![None; self.streams.len()];
        for (number, stream) in streams.iter().enumerate() {
            let before = place[stream.index()].replace(StreamIndex::at(number));
            assert!(before.is_none(), "a stream stands once");
        }
        let kept = |event: &TimelineEvent| {
            let mut event = event.clone();
            if let Some(stream) = event.action.stream_mut() {
                *stream = place[stream.index()]?;
            }
            Some(event)
        };
        let parts = Parts {
            streams: streams
                .iter()
                .map(|stream| identified(answering(&self.streams[stream.index()], &place), &place))
                .collect(),
            events: self.events.iter().filter_map(kept).collect(),
            name: self.name.clone(),
            nodes: self.nodes.clone(),
            ports: self.ports.clone(),
            links: self.links.clone(),
            vlans: self.vlans.clone(),
            devices: self.devices.clone(),
            hosts: self.hosts.clone(),
            schedulers: self.schedulers.clone(),
            scheduler_groups: self.scheduler_groups.clone(),
            run: self.run,
            test_bed: None,
            network_control: self.network_control,
            time_triggered: self.time_triggered,
            tdma: self.tdma.as_ref().and_then(|tdma| {
                let mut tdma = tdma.clone();
                tdma.synchronisation = place[tdma.synchronisation.index()]?;
                if let Some(standby) = &mut tdma.standby {
                    standby.synchronisation = place[standby.synchronisation.index()]?;
                }
                tdma.start_up = tdma.start_up.and_then(|start_up| start_up.moved(&place));
                Some(tdma)
            }),
            as6802: self.as6802.as_ref().and_then(|synchronisation| {
                let frames = moved(&synchronisation.frames, &place)?;
                Some(Synchronisation { frames, ..synchronisation.clone() })
            }),
            srp: self.srp.as_ref().and_then(|reservation| reservation.moved(&place)),
            reserved_classes: crate::srp::reserved_class::kept(&self.reserved_classes, &place),
            gptp: self.gptp.as_ref().and_then(|gptp| {
                let messages = moved(&gptp.messages, &place)?;
                Some(Gptp { messages, ..gptp.clone() })
            }),
            harts: self.harts.as_ref().map(|harts| {
                let mut harts = harts.clone();
                harts.reservations.retain_mut(|reservation| match place[reservation.stream.index()] {
                    Some(stream) => {
                        reservation.stream = stream;
                        true
                    }
                    None => false,
                });
                harts.ftt.keep(&place);
                if let Some(admission) = &mut harts.admission {
                    admission.keep(&place);
                }
                harts
            }),
            stream_filters: self.stream_filters.iter().map(|filters| filters.moved(&place)).collect(),
            identities: self.identities.iter().map(|one| one.moved(&place)).collect(),
            repeats: self.repeats.iter().filter_map(|repeats| repeats.moved(&place)).collect(),
            cyclic: self.cyclic.as_ref().map(|cyclic| cyclic.moved(&place)),
            sections: self.sections.moved(&place),
        };
        Self { parts }
    }
}

/// A stream whose frames may be taken for those of others, by their new indices.
fn identified(mut stream: Stream, place: &[Option<StreamIndex>]) -> Stream {
    for hop in &mut stream.hops {
        if let Identified::Other(other) = hop.identified {
            hop.identified = Identified::Other(identification::moved(other, place));
        }
    }
    stream
}

impl Network {
    /// The network in which these streams, with a way each, go to some of their listeners alone; an empty list is all of them.
    #[must_use]
    pub fn with_listeners(&self, parts: &[(StreamIndex, Vec<NodeIndex>)]) -> Self {
        let mut network = self.clone();
        for (stream, listeners) in parts {
            let described = &mut network.parts.streams[stream.index()];
            if listeners.is_empty() || described.listeners.iter().all(|node| listeners.contains(node)) {
                continue;
            }
            prune(described, listeners);
            let stays: Vec<NodeIndex> =
                described.hops.iter().map(|hop| self.ports[hop.port.index()].node).collect();
            if let Some(harts) = &mut network.parts.harts {
                let is_there = |switch| stays.contains(&switch);
                harts.ftt.relayed.retain(|relayed| relayed.stream != *stream || is_there(relayed.switch));
            }
        }
        network
    }
}

/// Leaves a stream's way to these listeners.
fn prune(stream: &mut Stream, listeners: &[NodeIndex]) {
    let wanted =
        |hop: &Hop| hop.listener.is_some_and(|number| listeners.contains(&stream.listeners[number as usize]));
    let mut needed = vec![false; stream.hops.len()];
    for place in 0..stream.hops.len() {
        let mut next = wanted(&stream.hops[place]).then_some(place);
        while let Some(here) = next {
            needed[here] = true;
            next = stream.hops[here].previous.map(|before| before as usize);
        }
    }
    let number = |kept: &dyn Fn(usize) -> bool, of: u32| {
        u32::try_from((0..of as usize).filter(|place| kept(*place)).count()).expect("fewer than before")
    };
    let is_kept = |place: usize| listeners.contains(&stream.listeners[place]);
    let mut hops = Vec::new();
    for (hop, _) in stream.hops.iter().zip(&needed).filter(|(_, needed)| **needed) {
        let previous = hop.previous.map(|before| number(&|place| needed[place], before));
        let listener = hop.listener.filter(|of| is_kept(*of as usize)).map(|of| number(&is_kept, of));
        hops.push(Hop { previous, listener, ..*hop });
    }
    stream.hops = hops;
    stream.listeners.retain(|listener| listeners.contains(listener));
}

/// A protocol's streams at their new indices; none if one of them is not there: the protocol needs all of them.
fn moved(streams: &[Option<StreamIndex>], place: &[Option<StreamIndex>]) -> Option<Vec<Option<StreamIndex>>> {
    streams.iter().map(|stream| stream.map_or(Some(None), |stream| place[stream.index()].map(Some))).collect()
}

impl StreamReservation {
    fn moved(&self, place: &[Option<StreamIndex>]) -> Option<Self> {
        let mut reservation = self.clone();
        reservation.pdus = moved(&self.pdus, place)?;
        if let Some(vlans) = &mut reservation.vlan_registration {
            vlans.pdus = moved(&vlans.pdus, place)?;
        }
        for channel in reservation.central.iter_mut().flat_map(|central| &mut central.channels) {
            channel.stream = place[channel.stream.index()]?;
        }
        let to_its_place = |mut reserved: ReservedStream| {
            reserved.stream = place[reserved.stream.index()]?;
            Some(reserved)
        };
        let streams = std::mem::take(&mut reservation.streams);
        reservation.streams = streams.into_iter().filter_map(to_its_place).collect();
        reservation.streams.sort_unstable_by_key(|reserved| reserved.stream);
        Some(reservation)
    }
}

/// A stream that answers what is still there; a response to what is not never comes.
fn answering(stream: &Stream, place: &[Option<StreamIndex>]) -> Stream {
    let mut stream = stream.clone();
    if let Traffic::Response { to, turn_around } = stream.traffic {
        stream.traffic = match place[to.index()] {
            Some(to) => Traffic::Response { to, turn_around },
            None => Traffic::Replay { frames: Vec::new() },
        };
    }
    stream
}
