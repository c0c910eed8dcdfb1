//! Traces that are replayed: pcap, pcapng, and CSV with the columns `time` and `payload`.
//!
//! Of a captured frame the MAC client data count: its original length without destination, source,
//! type and VLAN tag (captures have no FCS). Times count from the first frame.

use std::path::Path;

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use tautwire_units::{Bytes, Duration};

/// Frames of a trace, in order of time: since the first, and MAC client data.
pub(crate) type Frames = Vec<(Duration, Bytes)>;

/// Most MAC client data of a jumbo frame.
const PAYLOAD_LIMIT: Bytes = crate::frame::PAYLOAD_MAX;

/// Reads the trace at `path`.
pub(crate) fn read(path: &Path) -> Result<Frames, String> {
    let octets = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut frames = match octets.get(..4) {
        Some([0x0a, 0x0d, 0x0d, 0x0a]) => pcapng(&octets)?,
        Some([0xa1, 0xb2, 0xc3 | 0x3c, 0xd4 | 0x4d] | [0xd4 | 0x4d, 0xc3 | 0x3c, 0xb2, 0xa1]) => {
            pcap(&octets)?
        }
        _ => csv(&String::from_utf8(octets).map_err(|_| "is neither a capture nor UTF-8".to_owned())?)?,
    };
    frames.sort_by_key(|(at, _)| *at);
    if let Some((_, size)) = frames.iter().find(|(_, size)| *size > PAYLOAD_LIMIT) {
        return Err(format!("has a frame of {size}, which no frame carries"));
    }
    let first = frames.first().map(|(at, _)| *at).ok_or("has no frame")?;
    for (at, _) in &mut frames {
        *at = at.saturating_sub(first);
    }
    Ok(frames)
}

/// MAC client data of a captured frame.
fn client_data(original: u32, data: &[u8]) -> Bytes {
    let tagged = data.get(12..14) == Some(&[0x81, 0x00]);
    Bytes::new(u64::from(original).saturating_sub(if tagged { 18 } else { 14 }))
}

/// A time of day as picoseconds would not fit: seconds count from the first of the trace.
fn since(first: &mut Option<std::time::Duration>, at: std::time::Duration) -> Result<Duration, String> {
    let first = *first.get_or_insert(at);
    // Frames of several interfaces may be a little out of order: a second's room before the first.
    let span = (at + std::time::Duration::from_secs(1)).saturating_sub(first);
    let ps = span.as_nanos().checked_mul(1_000).and_then(|ps| u64::try_from(ps).ok());
    ps.map(Duration::from_ps).ok_or_else(|| "is longer than 213 days".to_owned())
}

fn pcap(octets: &[u8]) -> Result<Frames, String> {
    let wrong = |error: pcap_file::PcapError| format!("is no pcap: {error}");
    let mut reader = PcapReader::new(octets).map_err(wrong)?;
    let (mut frames, mut first) = (Frames::new(), None);
    while let Some(packet) = reader.next_packet() {
        let packet = packet.map_err(wrong)?;
        frames.push((since(&mut first, packet.timestamp)?, client_data(packet.orig_len, &packet.data)));
    }
    Ok(frames)
}

fn pcapng(octets: &[u8]) -> Result<Frames, String> {
    let wrong = |error: pcap_file::PcapError| format!("is no pcapng: {error}");
    let mut reader = PcapNgReader::new(octets).map_err(wrong)?;
    let (mut frames, mut first) = (Frames::new(), None);
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.map_err(wrong)? {
            frames
                .push((since(&mut first, packet.timestamp)?, client_data(packet.original_len, &packet.data)));
        }
    }
    Ok(frames)
}

/// `time,payload` with units in every cell.
fn csv(text: &str) -> Result<Frames, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let heading = lines.next().ok_or("is empty")?.1;
    if heading.split(',').map(str::trim).collect::<Vec<_>>() != ["time", "payload"] {
        return Err("has no heading `time,payload`".to_owned());
    }
    lines
        .map(|(number, line)| {
            let place = number + 1;
            let (at, size) = line.split_once(',').ok_or_else(|| format!("line {place} has one cell"))?;
            let at = at.parse().map_err(|error| format!("line {place}: {error}"))?;
            let size: Bytes = size.parse().map_err(|error| format!("line {place}: {error}"))?;
            if size > PAYLOAD_LIMIT {
                return Err(format!("line {place}: no frame carries {size}"));
            }
            Ok((at, size))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_and_its_first_frame_comes_at_the_start() {
        let frames = csv("time,payload\n5 us,100 B\n\n# late\n7 us, 1500 B\n").expect("a trace");
        assert_eq!(frames[1], (Duration::from_us(7), Bytes::new(1_500)));
        assert_eq!(
            csv("time,payload\n5 us,100"),
            Err("line 2: a size in octets needs a unit: one of B, kB, MB, GB, KiB, MiB, GiB".to_owned())
        );
        assert!(csv("when,payload\n").is_err());
    }
}
