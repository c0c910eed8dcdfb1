//! Traces that are replayed: captures (pcap, pcapng) and text tables with the columns `time` and `payload`.
//!
//! * A captured frame becomes the frame that was on the wire ([`link_type`]): of its original length, whatever was cut off,
//!   without an FCS that was captured, padded to the least size. Its MAC client data count.
//! * Times count from the earliest frame, in picoseconds; frames are put in order of time.
//! * What stands whole in a file that was cut short is replayed, and the cut is told.
//!
//! Readers are total: any octets give frames or a reason, never a panic, and no length that a file states is allocated.

mod link_type;
mod packet;
mod pcap;
mod pcapng;
mod table;
mod taken;
#[cfg(test)]
mod test;

use std::path::Path;

use tautwire_units::{Bytes, Duration};

use crate::text::csv;
use crate::text::faults::Faults;
use crate::text::tree::Place;
use link_type::Header;
use packet::{Collector, Cut};
pub(crate) use taken::put as take;

/// Most MAC client data of a jumbo frame.
const PAYLOAD_LIMIT: Bytes = crate::frame::PAYLOAD_MAX;

/// A frame of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Since the earliest.
    pub(crate) at: Duration,
    /// MAC client data.
    pub(crate) payload: Bytes,
    /// What its header said; none in a table.
    pub(crate) header: Header,
    /// Its place in the file, from 1.
    pub(crate) number: usize,
}

/// A trace: its frames in order of time, and what is to be said of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) frames: Vec<Frame>,
    /// The file ends within a frame or block.
    pub(crate) cut: Option<Cut>,
    /// Frames without a time stamp: each comes with the frame before it.
    pub(crate) unstamped: usize,
    /// Whether it is a table, in which frames have no headers.
    pub(crate) is_table: bool,
}

/// Why a trace cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// For this reason, to be told where the file is named.
    Because(String),
    /// All is told.
    Told,
}

impl From<String> for Unfit {
    fn from(reason: String) -> Self {
        Self::Because(reason)
    }
}

impl From<&str> for Unfit {
    fn from(reason: &str) -> Self {
        Self::Because(reason.to_owned())
    }
}

/// Reads the trace at `path`; faults of a table are told at their lines.
pub(crate) fn read(path: &Path, faults: &mut Faults) -> Result<Trace, Unfit> {
    let mut trace = parsed(octets_of(path)?, &path.display().to_string(), faults)?;
    if let Some(large) = trace.frames.iter().find(|frame| frame.payload > PAYLOAD_LIMIT) {
        return Err(format!("frame {} has {}, which no frame carries", large.number, large.payload).into());
    }
    if trace.frames.is_empty() {
        return Err(
            if trace.cut.is_some() { "ends before its first whole frame" } else { "has no frame" }.into()
        );
    }
    trace.frames.sort_by_key(|frame| frame.at);
    let first = trace.frames[0].at;
    for frame in &mut trace.frames {
        frame.at = frame.at.saturating_sub(first);
    }
    Ok(trace)
}

/// A file's octets. A device has no end, and is none.
pub(crate) fn octets_of(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let kind = std::fs::metadata(path).map_err(unreadable)?.file_type();
    if kind.is_dir() {
        return Err("is a folder".to_owned());
    }
    let is_device = {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt;
            kind.is_char_device() || kind.is_block_device() || kind.is_socket()
        }
        #[cfg(not(unix))]
        false
    };
    if is_device {
        return Err("is no file, but a device".to_owned());
    }
    std::fs::read(path).map_err(unreadable)
}

/// Frames with their times since any moment.
fn parsed(octets: Vec<u8>, name: &str, faults: &mut Faults) -> Result<Trace, Unfit> {
    match octets.get(..4) {
        Some([0x0a, 0x0d, 0x0d, 0x0a]) => Ok(collected(pcapng::read(&octets)?)?),
        Some([0xa1, 0xb2, 0xc3, 0xd4] | [0xa1, 0xb2, 0x3c, 0x4d]) => Ok(collected(pcap::read(&octets)?)?),
        Some([0xd4, 0xc3, 0xb2, 0xa1] | [0x4d, 0x3c, 0xb2, 0xa1]) => Ok(collected(pcap::read(&octets)?)?),
        Some([0xa1, 0xb2, 0xcd, 0x34] | [0x34, 0xcd, 0xb2, 0xa1]) => {
            Err("is a pcap with records of another form (magic number a1b2cd34); save it as pcap or pcapng"
                .into())
        }
        Some([0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd] | [0x04, 0x22, 0x4d, 0x18]) => {
            Err("is compressed: unpack it first".into())
        }
        Some(b"snoo" | b"GMBU" | b"RTSS" | b"TRSN") => {
            Err("is a capture of another kind; save it as pcap or pcapng".into())
        }
        _ => {
            let binary = octets.contains(&0)
                && !octets.starts_with(&[0xff, 0xfe])
                && !octets.starts_with(&[0xfe, 0xff]);
            if binary {
                return Err("is neither a capture (pcap, pcapng) nor a text".into());
            }
            let text = csv::decoded(octets)?;
            let frames = faults.of_file(name, &text, |source, faults| table::frames(source, &text, faults));
            let frames = frames.ok_or(Unfit::Told)?;
            Ok(Trace { frames, is_table: true, ..Trace::default() })
        }
    }
}

/// Frames with their times since the earliest.
fn collected(packets: Collector) -> Result<Trace, String> {
    let earliest = packets.frames.iter().map(|(at, ..)| *at).min().unwrap_or_default();
    let mut frames = Vec::with_capacity(packets.frames.len());
    for (number, (at, payload, header)) in packets.frames.iter().enumerate() {
        let since = at.checked_sub(earliest).and_then(|span| u64::try_from(span).ok());
        let at = since.map(Duration::from_ps).ok_or("is longer than 213 days")?;
        frames.push(Frame { at, payload: *payload, header: *header, number: number + 1 });
    }
    Ok(Trace { frames, cut: packets.cut, unstamped: packets.unstamped, is_table: false })
}

/// Tells, where the file is named, what is to be said of its trace.
pub(crate) fn tell(trace: &Trace, name: &str, place: Place, faults: &mut Faults) {
    use crate::text::codes;
    if let Some(cut) = trace.cut {
        let message = format!(
            "`{name}` is cut short at octet {}: {} whole frames are replayed",
            cut.at,
            trace.frames.len()
        );
        let help = "take the capture again, or go on without what is missing";
        faults.warning(codes::TRACE_CUT, place, message, help);
    }
    if trace.unstamped > 0 {
        let message = format!(
            "{} of {} frames of `{name}` have no time (simple packet blocks)",
            trace.unstamped,
            trace.frames.len()
        );
        let help = "each comes with the frame before it; save the capture with times";
        faults.warning(codes::TRACE_TIMES, place, message, help);
    }
}
