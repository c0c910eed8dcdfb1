//! Limits of queues and of a port's shared buffer.
//!
//! A class has a limit in frames and in octets. A port may have a buffer in cells, some of which are
//! reserved for a class and the rest shared: a frame takes whole cells, of its class's reservation
//! first.

/// Limits of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimit {
    /// Most frames that wait.
    pub frames: u32,
    /// Most octets (destination to FCS) that wait.
    pub octets: u64,
}

impl QueueLimit {
    /// No limit but the memory's.
    pub const NONE: Self = Self { frames: u32::MAX, octets: u64::MAX };
}

/// A port's buffer in cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedBuffer {
    cell_octets: u32,
    reserved: [u32; 8],
    used: [u32; 8],
    shared_left: u32,
}

impl SharedBuffer {
    /// A buffer of `cells` cells of `cell_octets`, of which `reserved` are set aside for each class;
    /// none if a cell is empty or more is reserved than there is.
    #[must_use]
    pub fn new(cell_octets: u32, cells: u32, reserved: [u32; 8]) -> Option<Self> {
        let set_aside = reserved.iter().try_fold(0_u32, |sum, cells| sum.checked_add(*cells))?;
        let shared_left = cells.checked_sub(set_aside)?;
        (cell_octets > 0).then_some(Self { cell_octets, reserved, used: [0; 8], shared_left })
    }

    /// Takes the cells of a frame, if there are enough.
    pub(crate) fn take(&mut self, class: usize, octets: u32) -> bool {
        let cells = octets.div_ceil(self.cell_octets);
        let own_left = self.reserved[class].saturating_sub(self.used[class]);
        let shared = cells.saturating_sub(own_left);
        if shared > self.shared_left {
            return false;
        }
        self.shared_left -= shared;
        self.used[class] += cells;
        true
    }

    /// Gives the cells of a frame back.
    pub(crate) fn give(&mut self, class: usize, octets: u32) {
        let cells = octets.div_ceil(self.cell_octets);
        let shared = self.used[class].saturating_sub(self.reserved[class]).min(cells);
        self.used[class] -= cells;
        self.shared_left += shared;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_is_kept_for_its_class() {
        let mut reserved = [0; 8];
        reserved[7] = 2;
        let mut buffer = SharedBuffer::new(100, 4, reserved).expect("it fits");
        assert!(buffer.take(0, 101), "two shared cells");
        assert!(!buffer.take(0, 1), "the rest is reserved");
        assert!(buffer.take(7, 200));
        assert!(!buffer.take(7, 1));
        buffer.give(0, 101);
        assert!(buffer.take(7, 1), "a class may use shared cells above its own");
        buffer.give(7, 200);
        buffer.give(7, 1);
        assert!(buffer.take(0, 200));
        assert!(!buffer.take(0, 1));
        assert_eq!(SharedBuffer::new(100, 1, reserved), None);
    }
}
