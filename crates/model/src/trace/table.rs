//! Traces as text tables: the columns `time` and `payload`, with units in every cell.

use tautwire_units::{Bytes, Duration, Quantity};

use super::{Frame, PAYLOAD_LIMIT};
use crate::text::csv::{self, Cell};
use crate::text::faults::Faults;
use crate::text::tree::Place;
use crate::text::{codes, form};

/// The frames of a table, as far as they can be read; none if anything is wrong, and all that is, is messages.
pub(super) fn frames(source: u32, text: &str, faults: &mut Faults) -> Option<Vec<Frame>> {
    let reported = faults.errors();
    let mut of_rows = Faults::default();
    let Some(table) = csv::read(source, text, &mut of_rows) else {
        faults.append(of_rows);
        if faults.errors() == reported {
            let place = Place { source, start: 0, end: 0 };
            let message = "the trace is empty".to_owned();
            faults.error(codes::TABLE, place, message, "begin it with `time,payload`");
        }
        return None;
    };
    let column = |name: &str| table.heading.iter().position(|cell| cell.text == name);
    let (Some(time), Some(payload), 2) = (column("time"), column("payload"), table.heading.len()) else {
        let place = table.heading[0].place;
        let found: Vec<&str> = table.heading.iter().map(|cell| &*cell.text).collect();
        let message = format!("a trace has the columns `time` and `payload`, not `{}`", found.join("`, `"));
        faults.error(
            codes::TABLE,
            place,
            message,
            "name a pcap or pcapng file, or begin the table with `time,payload`",
        );
        // Rows under another heading are of another table: nothing is wrong with them.
        return None;
    };
    faults.append(of_rows);
    let mut frames = Vec::with_capacity(table.rows.len());
    for (number, row) in table.rows.iter().enumerate() {
        let at: Option<Duration> = value(&row[time], Duration::from_ps(u64::MAX), faults);
        let size: Option<Bytes> = value(&row[payload], Bytes::new(u64::MAX), faults);
        if let Some(size) = size.filter(|size| *size > PAYLOAD_LIMIT) {
            let message = format!("a frame cannot carry {size}");
            faults.error(
                codes::FRAME_SIZE,
                row[payload].place,
                message,
                "a jumbo frame carries up to 65535 B",
            );
        }
        if let (Some(at), Some(payload)) = (at, size) {
            frames.push(Frame { at, payload, header: super::Header::default(), number: number + 1 });
        }
    }
    (faults.errors() == reported).then_some(frames)
}

/// A cell's value.
fn value<Q: Quantity + PartialOrd>(cell: &Cell<'_>, max: Q, faults: &mut Faults) -> Option<Q> {
    form::quantity(&cell.text, cell.place, max, faults);
    cell.text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(Duration, Bytes)>, Vec<String>> {
        let mut faults = Faults::default();
        let frames = frames(0, text, &mut faults);
        let messages = faults.into_sorted().into_iter().map(|fault| fault.message).collect();
        frames.map(|frames| frames.iter().map(|frame| (frame.at, frame.payload)).collect()).ok_or(messages)
    }

    #[test]
    fn a_table_is_read_in_either_order_of_its_columns() {
        let frames = read("time,payload\n5 us,100 B\n\n# late\n7 us, 1500 B\n").expect("a trace");
        assert_eq!(frames[1], (Duration::from_us(7), Bytes::new(1_500)));
        assert_eq!(read("payload;time\r\n100 B;5 us\r\n1500 B;7 us\r\n"), Ok(frames));
    }

    #[test]
    fn each_fault_is_reported_once() {
        let messages = read("time,payload\n5 us,100\nsoon,100 B\n7 us,70 kB\n8 us\n").expect_err("faults");
        assert_eq!(messages.len(), 4, "{messages:#?}");
        assert!(messages[0].contains("a size in octets needs a unit"), "{messages:#?}");
        assert_eq!(read("when,payload\n1 us,1 B\n").map_err(|messages| messages.len()), Err(1));
        assert_eq!(
            read("nodes:\n  a: {b: 1, c: 2}\n  d: {e, f, g}\n").map_err(|messages| messages.len()),
            Err(1)
        );
        assert_eq!(read("").map_err(|messages| messages.len()), Err(1));
    }
}
