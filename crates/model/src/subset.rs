//! A network with some of its streams: what admission decides about.

use crate::network::{Network, Stream, StreamIndex, TimelineEvent, Traffic};

impl Network {
    /// The network with these streams alone, in this order. Events of others are left out; a scheduler
    /// that they shared keeps the parameters of all of them, and TDMA needs its synchronisation streams among them.
    /// Nobody asks for reservations there.
    ///
    /// # Panics
    /// If a stream stands twice in `streams`.
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
        Self {
            streams: streams.iter().map(|stream| answering(&self.streams[stream.index()], &place)).collect(),
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
            test: None,
            network_control: self.network_control,
            time_triggered: self.time_triggered,
            tdma: self.tdma.as_ref().and_then(|tdma| {
                let mut tdma = tdma.clone();
                tdma.synchronisation = place[tdma.synchronisation.index()]?;
                if let Some(standby) = &mut tdma.standby {
                    standby.synchronisation = place[standby.synchronisation.index()]?;
                }
                // The streams of a start-up stand or fall together.
                tdma.start_up = None;
                Some(tdma)
            }),
            synchronisation: None,
            reservation: None,
            reserved_classes: crate::reserved_class::kept(&self.reserved_classes, &place),
            gptp: None,
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
        }
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
