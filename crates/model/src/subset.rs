//! A network with some of its streams: what admission decides about.

use crate::network::{Network, StreamIndex, TimelineEvent};

impl Network {
    /// The network with these streams alone, in this order. Events of others are left out; a scheduler
    /// that they shared keeps the parameters of all of them.
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
            streams: streams.iter().map(|stream| self.streams[stream.index()].clone()).collect(),
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
            network_control: self.network_control,
        }
    }
}
