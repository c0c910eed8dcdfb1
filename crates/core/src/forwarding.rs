//! The filtering database: static and learned entries (IEEE Std 802.1Q-2022, 8.8).
//!
//! In: addresses of received frames and their reception times. Out: the port on which an address was learned, or that
//! it is unknown and the frame is flooded. Invariants: a learned entry is removed when no frame of its address came
//! for the ageing time; a full table learns no new address. Not here: VLAN membership and the active topology, which
//! determine the ports of a flooded frame.

use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};
use tautwire_wire::{MacAddress, VlanId};

/// Addresses and the ports behind which they are.
#[derive(Clone, Debug)]
pub struct FilteringDatabase {
    /// In order of address; a frame costs a binary search and no hash.
    entries: Vec<((VlanId, MacAddress), Entry)>,
    capacity: usize,
    ageing_time: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    port: u32,
    /// When a frame of the address last came; none for a static entry.
    heard: Option<Instant>,
}

impl FilteringDatabase {
    /// An empty database of at most `capacity` entries, which removes an entry without a frame for `ageing_time`.
    #[must_use]
    pub const fn new(capacity: usize, ageing_time: Duration) -> Self {
        Self { entries: Vec::new(), capacity, ageing_time }
    }

    /// Adds a static entry, which is never learned anew and never forgotten; false if the table is full.
    pub fn add_static(&mut self, vlan: VlanId, address: MacAddress, port: u32) -> bool {
        self.put((vlan, address), Entry { port, heard: None })
    }

    /// Learns that `source` is behind `port` (8.7). A group address teaches nothing.
    pub fn learn(&mut self, now: Instant, vlan: VlanId, source: MacAddress, port: u32) {
        if source.is_group() {
            return;
        }
        let key = (vlan, source);
        let entry = Entry { port, heard: Some(now) };
        match self.entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(place) => {
                if self.entries[place].1.heard.is_some() {
                    self.entries[place].1 = entry;
                }
            }
            Err(_) => {
                if self.entries.len() >= self.capacity {
                    let ageing_time = self.ageing_time;
                    self.entries.retain(|(_, entry)| !entry.is_stale(now, ageing_time));
                }
                self.put(key, entry);
            }
        }
    }

    /// The port behind which `destination` is; none if it is a group or not known (any more).
    #[must_use]
    pub fn lookup(&self, now: Instant, vlan: VlanId, destination: MacAddress) -> Option<u32> {
        let place = self.entries.binary_search_by_key(&(vlan, destination), |entry| entry.0).ok()?;
        let entry = self.entries[place].1;
        (!entry.is_stale(now, self.ageing_time)).then_some(entry.port)
    }

    /// Forgets everything that was learned.
    pub fn flush(&mut self) {
        self.entries.retain(|(_, entry)| entry.heard.is_none());
    }

    fn put(&mut self, key: (VlanId, MacAddress), entry: Entry) -> bool {
        match self.entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(place) => self.entries[place].1 = entry,
            Err(_) if self.entries.len() >= self.capacity => return false,
            Err(place) => self.entries.insert(place, (key, entry)),
        }
        true
    }
}

impl Entry {
    fn is_stale(&self, now: Instant, ageing_time: Duration) -> bool {
        self.heard.is_some_and(|heard| now.saturating_since(heard) > ageing_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VLAN: VlanId = VlanId::DEFAULT;

    fn address(last: u8) -> MacAddress {
        MacAddress([2, 0, 0, 0, 0, last])
    }

    fn s(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_s(seconds)
    }

    #[test]
    fn what_was_heard_is_known_until_it_ages() {
        let mut table = FilteringDatabase::new(2, Duration::from_s(300));
        assert_eq!(table.lookup(s(0), VLAN, address(1)), None);
        table.learn(s(0), VLAN, address(1), 3);
        assert_eq!(table.lookup(s(300), VLAN, address(1)), Some(3));
        assert_eq!(table.lookup(s(301), VLAN, address(1)), None);
        let other = VlanId::new(2).expect("an identifier");
        assert_eq!(table.lookup(s(0), other, address(1)), None, "another VLAN is another table");
        table.learn(s(1), VLAN, address(1), 4);
        assert_eq!(table.lookup(s(1), VLAN, address(1)), Some(4), "a station may move");
    }

    #[test]
    fn a_full_table_makes_room_only_by_ageing() {
        let mut table = FilteringDatabase::new(2, Duration::from_s(300));
        table.learn(s(0), VLAN, address(1), 1);
        table.learn(s(200), VLAN, address(2), 2);
        table.learn(s(250), VLAN, address(3), 3);
        assert_eq!(table.lookup(s(250), VLAN, address(3)), None);
        table.learn(s(350), VLAN, address(3), 3);
        assert_eq!(table.lookup(s(350), VLAN, address(3)), Some(3));
        assert_eq!(table.lookup(s(350), VLAN, address(2)), Some(2));
    }

    #[test]
    fn static_entries_stay() {
        let mut table = FilteringDatabase::new(1, Duration::from_s(1));
        assert!(table.add_static(VLAN, address(9), 7));
        assert!(!table.add_static(VLAN, address(8), 7));
        table.learn(s(5), VLAN, address(9), 1);
        table.flush();
        assert_eq!(table.lookup(s(1_000), VLAN, address(9)), Some(7));
        table.learn(s(5), VLAN, MacAddress::BROADCAST, 1);
        assert_eq!(table.lookup(s(5), VLAN, MacAddress::BROADCAST), None);
    }
}
