//! The master of a switch: relays requests to the ACMaster and keeps the streams that go through its switch.

use alloc::collections::{BTreeMap, VecDeque};

use tautwire_wire::ftt::{FttMessage, FttStream};

/// The master of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SwitchMaster {
    switch: u16,
    acmaster: u16,
    /// What is carried: memory pools and servers are made from this.
    streams: BTreeMap<u16, FttStream>,
    out: VecDeque<(u16, FttMessage)>,
}

impl SwitchMaster {
    /// The master of `switch`; requests go to `acmaster`, a parameter of the whole network.
    #[must_use]
    pub fn new(switch: u16, acmaster: u16) -> Self {
        Self { switch, acmaster, streams: BTreeMap::new(), out: VecDeque::new() }
    }

    /// A message comes in.
    pub fn receive(&mut self, message: &FttMessage) {
        match message {
            FttMessage::Add { .. } | FttMessage::Remove { .. } => {
                self.out.push_back((self.acmaster, message.clone()));
            }
            FttMessage::Config { stream, installed } => {
                // The same message twice changes nothing and is answered twice.
                if *installed {
                    self.streams.insert(stream.id, *stream);
                } else {
                    self.streams.remove(&stream.id);
                }
                let (stream, switch, installed) = (stream.id, self.switch, *installed);
                self.out.push_back((self.acmaster, FttMessage::Reply { stream, switch, installed }));
            }
            FttMessage::Alive { master, .. } => self.acmaster = *master,
            _ => {}
        }
    }

    /// What it sends next, and to whom.
    pub fn poll(&mut self) -> Option<(u16, FttMessage)> {
        self.out.pop_front()
    }

    /// The streams that its switch carries.
    #[must_use]
    pub const fn streams(&self) -> &BTreeMap<u16, FttStream> {
        &self.streams
    }
}
