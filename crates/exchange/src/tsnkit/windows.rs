//! Windows of a port: rows of tsnkit's gates as a list of entries.

/// The longest entry, picoseconds.
const INTERVAL_MAX: u64 = u32::MAX as u64 * 1_000;

/// Windows of all queues of a link, in a cycle. Times are picoseconds.
pub(super) struct Windows {
    pub(super) cycle: u64,
    /// Queue, opening and end of the gap behind the last frame.
    pub(super) rows: Vec<(u8, u64, u64)>,
}

impl Windows {
    /// Whether all queues that have windows are open all the time.
    pub(super) fn are_open(&self) -> bool {
        (0..8).all(|queue| {
            let mut own = self.rows.iter().filter(|row| row.0 == queue).peekable();
            own.peek().is_none() || own.any(|row| row.1 == 0 && row.2 == self.cycle)
        })
    }

    /// The list: open classes, and how long. A window ends earlier than its row, by the gap.
    pub(super) fn list(&self, gap: u64) -> Vec<(u8, u64)> {
        let mut parts: Vec<(u8, u64, u64)> = Vec::new();
        for (queue, start, end) in &self.rows {
            if (*start, *end) == (0, self.cycle) {
                parts.push((*queue, 0, self.cycle));
                continue;
            }
            let open = end.saturating_sub(*start).saturating_sub(gap).min(self.cycle);
            let start = start % self.cycle;
            let until = start + open;
            parts.push((*queue, start, until.min(self.cycle)));
            // What is beyond the end of the cycle is at its start.
            parts.push((*queue, 0, until.saturating_sub(self.cycle)));
        }
        parts.retain(|(_, from, to)| from < to);
        let mut edges: Vec<u64> =
            parts.iter().flat_map(|part| [part.1, part.2]).chain([0, self.cycle]).collect();
        edges.sort_unstable();
        edges.dedup();
        // How many windows of each queue are open: a sweep over the edges.
        let mut changes: Vec<(u64, u8, i32)> = Vec::with_capacity(2 * parts.len());
        for (queue, from, to) in parts {
            changes.extend([(from, queue, 1), (to, queue, -1)]);
        }
        changes.sort_unstable();
        let mut changes = changes.into_iter().peekable();
        let mut open = [0_i32; 8];
        let mut list: Vec<(u8, u64)> = Vec::new();
        for edge in edges.windows(2) {
            while let Some((_, queue, by)) = changes.next_if(|change| change.0 <= edge[0]) {
                open[usize::from(queue)] += by;
            }
            let states = (0..8).filter(|queue| open[*queue] > 0).fold(0, |states, queue| states | 1 << queue);
            let interval = edge[1] - edge[0];
            match list.last_mut() {
                Some((last, before)) if *last == states && *before + interval <= INTERVAL_MAX => {
                    *before += interval
                }
                _ => {
                    let mut rest = interval;
                    while rest > 0 {
                        list.push((states, rest.min(INTERVAL_MAX)));
                        rest -= rest.min(INTERVAL_MAX);
                    }
                }
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_entries() {
        let of = |rows: &[(u8, u64, u64)]| Windows { cycle: 1_000, rows: rows.to_vec() }.list(10);
        assert_eq!(
            of(&[(7, 100, 210), (7, 210, 320)]),
            [(0, 100), (128, 100), (0, 10), (128, 100), (0, 690)]
        );
        // Over the end of the cycle, and beyond it.
        assert_eq!(of(&[(0, 900, 1_060)]), [(1, 50), (0, 850), (1, 100)]);
        assert_eq!(of(&[(0, 1_900, 2_010)]), [(0, 900), (1, 100)]);
        // Two queues at once, and one that is always open.
        assert_eq!(of(&[(0, 0, 1_000), (1, 500, 610)]), [(1, 500), (3, 100), (1, 400)]);
        // No longer than the gap.
        assert_eq!(of(&[(0, 500, 510)]), [(0, 1_000)]);
        let long = Windows { cycle: 10_000_000_000_000, rows: Vec::new() }.list(0);
        assert_eq!(long.iter().map(|entry| entry.1).sum::<u64>(), 10_000_000_000_000);
    }

    #[test]
    fn ports_without_closed_gates_need_no_list() {
        let are_open = |rows: &[(u8, u64, u64)]| Windows { cycle: 1_000, rows: rows.to_vec() }.are_open();
        assert!(are_open(&[(0, 0, 1_000), (3, 0, 1_000)]));
        assert!(!are_open(&[(0, 0, 1_000), (3, 0, 999)]));
    }
}
