//! Traces that are replayed: captures (pcap, pcapng) and text tables with the columns `time` and `payload`.
//!
//! * A captured frame becomes the frame that was on the wire ([`link_type`]): of its original length, whatever was cut off,
//!   without an FCS that was captured, padded to the least size. Its MAC client data count.
//! * Times count from the earliest frame, in picoseconds; frames are put in order of time.
//! * The complete frames of a file that was cut short are replayed, and the cut is reported.
//! * Records that are no frames are skipped and reported; a capture of which times or structure are in doubt is refused.
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
pub use packet::{Capture, CaptureInterface, LINK_TYPE_ETHERNET, Packet};
use packet::{Collector, Cut, Skipped};
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
    /// Its header; none in a table.
    pub(crate) header: Header,
    /// Its place in the file, from 1; records that are skipped count.
    pub(crate) number: usize,
}

/// A trace: its frames in order of time, and what `check` reports of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) frames: Vec<Frame>,
    /// The file ends within a frame or block.
    pub(crate) cut: Option<Cut>,
    /// Frames without a time stamp: each comes with the frame before it.
    pub(crate) unstamped: usize,
    /// Records that are no frames, in the order of the file.
    pub(crate) skipped: Vec<Skipped>,
    /// Whether it is a table, in which frames have no headers.
    pub(crate) is_table: bool,
}

/// Why a trace cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// For this reason, to be reported where the file is named, with this remedy.
    Because { reason: String, help: &'static str },
    /// The faults are reported already.
    Reported,
}

impl Unfit {
    /// For this reason: a file that is none of those that are read.
    fn file(reason: impl Into<String>) -> Self {
        let help = "name a pcap, pcapng or CSV (`time,payload`) file, relative to the description";
        Self::Because { reason: reason.into(), help }
    }

    /// For this reason: a capture of which no frames can be made.
    fn capture(reason: impl Into<String>) -> Self {
        let help = "capture again, or save the file anew (Wireshark, `editcap`)";
        Self::Because { reason: reason.into(), help }
    }
}

/// Reads the trace at `path`; faults of a table are reported at their lines.
pub(crate) fn read(path: &Path, faults: &mut Faults) -> Result<Trace, Unfit> {
    let octets = octets_of(path).map_err(Unfit::file)?;
    let mut trace = parsed(octets, &path.display().to_string(), faults)?;
    if let Some(large) = trace.frames.iter().find(|frame| frame.payload > PAYLOAD_LIMIT) {
        return Err(Unfit::capture(format!(
            "states a frame {} of {} of MAC client data, and no frame carries more than {PAYLOAD_LIMIT}",
            large.number, large.payload
        )));
    }
    if trace.frames.is_empty() {
        return Err(without_frames(&trace));
    }
    trace.frames.sort_by_key(|frame| frame.at);
    let first = trace.frames[0].at;
    for frame in &mut trace.frames {
        frame.at = frame.at.saturating_sub(first);
    }
    Ok(trace)
}

/// Why a trace without frames is none.
fn without_frames(trace: &Trace) -> Unfit {
    if !trace.skipped.is_empty() {
        return Unfit::capture(format!("is a capture without valid frames: {}", reasons(&trace.skipped)));
    }
    if trace.cut.is_some() {
        return Unfit::capture("ends within its first frame");
    }
    let (reason, help) = if trace.is_table {
        ("is a table without rows", "give it a row for each frame, such as `125 us,100 B`")
    } else {
        ("is a capture without frames", "capture again, while frames pass")
    };
    Unfit::Because { reason: reason.to_owned(), help }
}

/// Why records are no frames: the first ones, and how many more there are.
fn reasons(skipped: &[Skipped]) -> String {
    const SHOWN: usize = 3;
    let one = |record: &Skipped| format!("record {} at octet {} {}", record.number, record.at, record.why);
    let mut text = skipped.iter().take(SHOWN).map(one).collect::<Vec<_>>().join("; ");
    if skipped.len() > SHOWN {
        text += &format!("; and {} more", skipped.len() - SHOWN);
    }
    text
}

/// A file's octets. What is no regular file is none: a device has no end, and a pipe may never be written to.
///
/// # Errors
/// A reason that ends a sentence which begins with the name of the file.
pub fn octets_of(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let kind = std::fs::metadata(path).map_err(unreadable)?.file_type();
    if kind.is_dir() {
        return Err("is a folder".to_owned());
    }
    if !kind.is_file() {
        return Err("is a device, a pipe or a socket and not a regular file".to_owned());
    }
    std::fs::read(path).map_err(unreadable)
}

/// Reads the octets of a pcap or pcapng; none if they are neither.
fn capture_of(octets: &[u8]) -> Option<Result<Capture<'_>, String>> {
    match octets.get(..4)? {
        [0x0a, 0x0d, 0x0d, 0x0a] => Some(pcapng::read(octets)),
        [0xa1, 0xb2, 0xc3, 0xd4] | [0xa1, 0xb2, 0x3c, 0x4d] => Some(pcap::read(octets)),
        [0xd4, 0xc3, 0xb2, 0xa1] | [0x4d, 0x3c, 0xb2, 0xa1] => Some(pcap::read(octets)),
        _ => None,
    }
}

/// Reads a file of captured frames with their octets. The error ends a sentence that begins with the name of the file.
///
/// # Errors
/// If they are neither pcap nor pcapng, or of a form in which times or structure are in doubt.
pub fn read_capture(octets: &[u8]) -> Result<Capture<'_>, String> {
    capture_of(octets).unwrap_or_else(|| Err("is neither a pcap nor a pcapng file".to_owned()))
}

/// Frames with their times since any moment.
fn parsed(octets: Vec<u8>, name: &str, faults: &mut Faults) -> Result<Trace, Unfit> {
    if let Some(capture) = capture_of(&octets) {
        return capture.and_then(|capture| collected(Collector::of(&capture)?)).map_err(Unfit::capture);
    }
    match octets.get(..4) {
        Some([0xa1, 0xb2, 0xcd, 0x34] | [0x34, 0xcd, 0xb2, 0xa1]) => {
            Err(Unfit::capture("is a modified pcap (magic number a1b2cd34); save it as pcap or pcapng"))
        }
        Some([0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd] | [0x04, 0x22, 0x4d, 0x18]) => {
            Err(Unfit::file("is compressed; decompress it first"))
        }
        Some(b"snoo" | b"GMBU" | b"RTSS" | b"TRSN") => {
            Err(Unfit::capture("is a capture of another format; save it as pcap or pcapng"))
        }
        _ if octets.is_empty() => Err(Unfit::file("is empty")),
        _ => {
            let binary = octets.contains(&0)
                && !octets.starts_with(&[0xff, 0xfe])
                && !octets.starts_with(&[0xfe, 0xff]);
            if binary {
                return Err(Unfit::file("is neither a capture (pcap, pcapng) nor text"));
            }
            let text = csv::decoded(octets).map_err(Unfit::file)?;
            let frames = faults.of_file(name, &text, |source, faults| table::frames(source, &text, faults));
            let frames = frames.ok_or(Unfit::Reported)?;
            Ok(Trace { frames, is_table: true, ..Trace::default() })
        }
    }
}

/// Frames with their times since the earliest.
fn collected(packets: Collector) -> Result<Trace, String> {
    let earliest = packets.frames.iter().map(|(at, ..)| *at).min().unwrap_or_default();
    let mut frames = Vec::with_capacity(packets.frames.len());
    for (at, payload, header, number) in packets.frames {
        let since = at.checked_sub(earliest).and_then(|span| u64::try_from(span).ok());
        let at = since.map(Duration::from_ps).ok_or("is longer than 213 days")?;
        frames.push(Frame { at, payload, header, number });
    }
    let (cut, unstamped, skipped) = (packets.cut, packets.unstamped, packets.skipped);
    Ok(Trace { frames, cut, unstamped, skipped, is_table: false })
}

/// Reports the remarks about a trace at the place that names its file.
pub(crate) fn warn(trace: &Trace, name: &str, place: Place, faults: &mut Faults) {
    use crate::text::codes;
    if let Some(cut) = trace.cut {
        let message = format!(
            "`{name}` is cut short at octet {}: the {} complete frames before are replayed",
            cut.at,
            trace.frames.len()
        );
        let help = "capture again, or go on without the missing frames";
        faults.warning(codes::TRACE_CUT, place, message, help);
    }
    if !trace.skipped.is_empty() {
        let message = format!(
            "`{name}` has {} of {} records that are not valid frames and are skipped: {}",
            trace.skipped.len(),
            trace.skipped.len() + trace.frames.len(),
            reasons(&trace.skipped)
        );
        let help = "capture again, or go on without them";
        faults.warning(codes::TRACE_SKIPPED, place, message, help);
    }
    if trace.unstamped > 0 {
        let message = format!(
            "{} of {} frames of `{name}` have no time stamp (simple packet blocks)",
            trace.unstamped,
            trace.frames.len()
        );
        let help =
            "save the capture with time stamps; without one, a frame is replayed with the frame before it";
        faults.warning(codes::TRACE_TIMES, place, message, help);
    }
}
