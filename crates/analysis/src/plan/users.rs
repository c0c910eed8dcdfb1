//! The entries that pass a port: their numbers, the highest class first, within a class in their order.

/// The list.
#[derive(Clone, Debug, Default)]
pub(super) struct Users {
    entries: Vec<u32>,
    /// Where class `7 - n` begins, and the end.
    first: [u32; 9],
}

impl Users {
    /// All of them.
    pub(super) fn all(&self) -> &[u32] {
        &self.entries
    }

    /// Those of a class.
    pub(super) fn of_class(&self, class: usize) -> &[u32] {
        &self.entries[self.first[7 - class] as usize..self.first[8 - class] as usize]
    }

    /// Room for so many more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.entries.reserve_exact(more);
    }

    /// Adds an entry.
    pub(super) fn insert(&mut self, class: usize, entry: u32) {
        let begin = self.first[7 - class] as usize;
        let place = begin + self.of_class(class).partition_point(|known| *known < entry);
        debug_assert!(self.of_class(class).get(place - begin) != Some(&entry), "it stands once");
        self.entries.insert(place, entry);
        for end in &mut self.first[8 - class..] {
            *end += 1;
        }
    }

    /// Takes an entry off.
    pub(super) fn remove(&mut self, class: usize, entry: u32) {
        let begin = self.first[7 - class] as usize;
        let place = self.of_class(class).binary_search(&entry).expect("it is listed");
        self.entries.remove(begin + place);
        for end in &mut self.first[8 - class..] {
            *end -= 1;
        }
    }
}

/// Adds a number to a list in order.
pub(super) fn insert(list: &mut Vec<u32>, number: u32) {
    let place = list.partition_point(|known| *known < number);
    list.insert(place, number);
}

/// Takes a number off a list in order.
pub(super) fn remove(list: &mut Vec<u32>, number: u32) {
    let place = list.binary_search(&number).expect("it is listed");
    list.remove(place);
}
