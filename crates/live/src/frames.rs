//! Frames in a node: slots with the octets of their data, handles in the queues.

use tautwire_core::{Priority, QueuedFrame, TrafficClass};
use tautwire_model::network::Port;
use tautwire_units::{Duration, Instant};
use tautwire_wire::MacAddress;

/// Marks of a frame in a node: whether it is drop-eligible, and the priority that selects its class, if that is not its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) drop_eligible: bool,
    pub(crate) internal_priority: Option<Priority>,
}

impl Marks {
    /// The class of a port in which the frame waits; `usual`: without marks. A scheduler comes before the class for which it was made.
    pub(crate) fn class(self, port: &Port, usual: TrafficClass, is_scheduled: bool) -> TrafficClass {
        let internal = self.internal_priority.filter(|_| !is_scheduled);
        internal.map_or(usual, |priority| port.class_table.of_priority[priority.index()])
    }
}

/// A frame, or a copy of it, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Slot<M> {
    pub(crate) message: M,
    /// When its last bit reached this node; at the talker, its creation.
    pub(crate) received: Instant,
    /// When it reached the queue.
    pub(crate) queued: Instant,
    /// How long a scheduler holds it, whatever waits before it.
    pub(crate) held: Duration,
    /// The hop that it is about to pass, or by which it came, as an index of the stream's.
    pub(crate) hop: u32,
    pub(crate) marks: Marks,
    /// Its destination, if that is not its stream's.
    pub(crate) to: Option<MacAddress>,
    pub(crate) data: Vec<u8>,
}

/// The frames of a node.
#[derive(Debug)]
pub(crate) struct Slab<M> {
    slots: Vec<Option<Slot<M>>>,
    free: Vec<u32>,
    /// Rooms for data that are free.
    rooms: Vec<Vec<u8>>,
}

impl<M> Default for Slab<M> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), rooms: Vec::new() }
    }
}

impl<M: Copy> Slab<M> {
    pub(crate) fn room(&mut self) -> Vec<u8> {
        self.rooms.pop().unwrap_or_default()
    }

    pub(crate) fn insert(&mut self, slot: Slot<M>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.slots[place as usize] = Some(slot);
            return place;
        }
        self.slots.push(Some(slot));
        u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 frames wait in a node")
    }

    /// Another copy of a frame.
    pub(crate) fn copy(&mut self, place: u32) -> u32 {
        let mut data = self.room();
        let slot = self.get(place);
        data.extend_from_slice(&slot.data);
        let copy = Slot { data, ..slot.without_data() };
        self.insert(copy)
    }

    pub(crate) fn get(&self, place: u32) -> &Slot<M> {
        self.slots[place as usize].as_ref().expect("a handle of a frame that is here")
    }

    pub(crate) fn get_mut(&mut self, place: u32) -> &mut Slot<M> {
        self.slots[place as usize].as_mut().expect("a handle of a frame that is here")
    }

    /// Takes a frame out, without its data.
    pub(crate) fn remove(&mut self, place: u32) -> Slot<M> {
        let mut slot = self.slots[place as usize].take().expect("a handle of a frame that is here");
        self.free.push(place);
        let mut room = std::mem::take(&mut slot.data);
        room.clear();
        self.rooms.push(room);
        slot
    }

    /// The frames that are here.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot<M>> {
        self.slots.iter().flatten()
    }

    /// How many frames are here.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl<M: Copy> Slot<M> {
    fn without_data(&self) -> Self {
        let Self { message, received, queued, held, hop, marks, to, data: _ } = *self;
        Self { message, received, queued, held, hop, marks, to, data: Vec::new() }
    }
}

/// A frame in a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    pub(crate) slot: u32,
    pub(crate) octets: u16,
    pub(crate) class: TrafficClass,
}

impl QueuedFrame for Handle {
    fn octets(self) -> u32 {
        u32::from(self.octets)
    }

    fn class(self) -> TrafficClass {
        self.class
    }
}
