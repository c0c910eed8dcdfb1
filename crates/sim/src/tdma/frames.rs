//! Frames of RTnet in a run: writes and reads their octets.
//!
//! TDMA has times in nanoseconds, and clocks of a run count picoseconds: the rest is kept outside of the octets. RTcfg
//! identifies a station that has fallen silent by its address; the recipient of a message is the frame's destination.
//! The contents of a configuration are not known here: its octets are zero. Not here: when frames are sent (`core`),
//! what a station does with them (`start_up.rs`, `mod.rs`).

use tautwire_core::tdma::start_up::{Addressee, StartUpMessage};
use tautwire_core::tdma::{CalibrationReply, CalibrationRequest, Synchronisation};
use tautwire_model::Network;
use tautwire_model::tdma::start_up::StartUp as Settings;
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::{Announcement, EtherType, RtcfgFrame, RtmacHeader, TdmaFrame};

use crate::control::contents::{Frame, Metadata};
use crate::plan::{NONE, index};

/// The content of a frame of TDMA.
pub(crate) enum TdmaMessage {
    Synchronisation(Synchronisation),
    Request(CalibrationRequest),
    Reply(CalibrationReply),
}

/// A time as nanoseconds, and the picoseconds after them.
fn parted(ps: u64) -> (u64, u16) {
    (ps / 1_000, u16::try_from(ps % 1_000).expect("below a thousand"))
}

fn joined(ns: u64, below: u16) -> u64 {
    ns.saturating_mul(1_000).saturating_add(u64::from(below))
}

/// Picoseconds of a time after its nanoseconds.
pub(crate) fn below_ns(at: Instant) -> u16 {
    parted(at.as_ps()).1
}

/// A frame leaves so much later than it was made: its stamp is that of its departure. `asked` is called for a request of the calibration.
pub(crate) fn delay_departure(octets: &mut [u8], late: Duration, asked: impl FnOnce(Duration)) {
    let Ok((RtmacHeader::Tdma, rest)) = RtmacHeader::parse(octets) else { return };
    let Ok((mut frame, _)) = TdmaFrame::parse(rest) else { return };
    let late_ns = late.as_ps() / 1_000;
    match &mut frame {
        TdmaFrame::Synchronisation { transmitted_ns, .. }
        | TdmaFrame::CalibrationRequest { transmitted_ns, .. }
        | TdmaFrame::CalibrationReply { transmitted_ns, .. } => *transmitted_ns += late_ns,
    }
    if matches!(frame, TdmaFrame::CalibrationRequest { .. }) {
        asked(Duration::from_ns(late_ns));
    }
    let mut written = Vec::with_capacity(frame.length());
    frame.emit(&mut written);
    octets[RtmacHeader::OCTETS..][..written.len()].copy_from_slice(&written);
}

/// Opens a cycle.
pub(crate) fn synchronisation(opening: Synchronisation) -> Frame {
    let (transmitted_ns, transmitted) = parted(opening.transmitted.as_ps());
    let (scheduled_ns, scheduled) = parted(opening.scheduled.as_ps());
    let frame = TdmaFrame::Synchronisation { cycle: opening.cycle, transmitted_ns, scheduled_ns };
    tdma(frame, Metadata { below_ns: [transmitted, scheduled, 0], ..Metadata::default() })
}

/// A station's request to the master to measure the travel time of frames.
pub(crate) fn calibration_request(from: u32, request: CalibrationRequest) -> Frame {
    let (transmitted_ns, transmitted) = parted(request.transmitted.as_ps());
    let (reply_offset_ns, offset) = parted(request.reply_offset.as_ps());
    let reply_cycle = request.reply_cycle;
    let frame = TdmaFrame::CalibrationRequest { transmitted_ns, reply_cycle, reply_offset_ns };
    tdma(frame, Metadata { from, to: 0, below_ns: [transmitted, offset, 0] })
}

/// The master replies.
pub(crate) fn calibration_reply(reply: CalibrationReply) -> Frame {
    let (requested_ns, requested) = parted(reply.requested.as_ps());
    let (received_ns, received) = parted(reply.received.as_ps());
    let (transmitted_ns, transmitted) = parted(reply.transmitted.as_ps());
    let frame = TdmaFrame::CalibrationReply { requested_ns, received_ns, transmitted_ns };
    tdma(frame, Metadata { from: 0, to: reply.to, below_ns: [requested, received, transmitted] })
}

fn tdma(frame: TdmaFrame, metadata: Metadata) -> Frame {
    let mut octets = Vec::with_capacity(RtmacHeader::OCTETS + frame.length());
    RtmacHeader::Tdma.emit(&mut octets);
    frame.emit(&mut octets);
    Frame { metadata, ..Frame::new(EtherType::RTMAC, octets) }
}

/// The content of a frame of TDMA; none if it is no such frame.
pub(crate) fn read_tdma(frame: &Frame) -> Option<TdmaMessage> {
    let (RtmacHeader::Tdma, octets) = RtmacHeader::parse(&frame.octets).ok()? else { return None };
    let [one, two, three] = frame.metadata.below_ns;
    let instant = |ns, below| Instant::from_ps(joined(ns, below));
    Some(match TdmaFrame::parse(octets).ok()?.0 {
        TdmaFrame::Synchronisation { cycle, transmitted_ns, scheduled_ns } => {
            TdmaMessage::Synchronisation(Synchronisation {
                cycle,
                transmitted: instant(transmitted_ns, one),
                scheduled: instant(scheduled_ns, two),
            })
        }
        TdmaFrame::CalibrationRequest { transmitted_ns, reply_cycle, reply_offset_ns } => {
            TdmaMessage::Request(CalibrationRequest {
                transmitted: instant(transmitted_ns, one),
                reply_cycle,
                reply_offset: Duration::from_ps(joined(reply_offset_ns, two)),
            })
        }
        TdmaFrame::CalibrationReply { requested_ns, received_ns, transmitted_ns } => {
            TdmaMessage::Reply(CalibrationReply {
                to: frame.metadata.to,
                requested: instant(requested_ns, one),
                received: instant(received_ns, two),
                transmitted: instant(transmitted_ns, three),
            })
        }
    })
}

/// A message of a station of the start-up.
pub(crate) fn start_up(
    network: &Network,
    settings: &Settings,
    (from, to): (usize, Addressee),
    message: StartUpMessage,
) -> Frame {
    let address = Settings::address(index(from));
    let burst_rate = settings.burst;
    let length = index(usize::try_from(settings.configuration.get()).expect("a checked number"));
    let station = |ready| Announcement {
        address: Some(address),
        stage_2: settings.configuration > Bytes::ZERO,
        ready,
        burst_rate,
    };
    let heartbeat = settings.heartbeat.map_or(0, |heartbeat| heartbeat.as_ps() / 1_000_000_000);
    let heartbeat_ms = u16::try_from(heartbeat).expect("a checked number");
    let piece = |octets: u32| vec![0; octets as usize];
    let mut octets = Vec::new();
    match message {
        StartUpMessage::Invitation => {
            RtcfgFrame::Stage1 { addresses: None, burst_rate, data: &[] }.emit(&mut octets);
        }
        StartUpMessage::Announcement { ready } => RtcfgFrame::AnnounceNew(station(ready)).emit(&mut octets),
        StartUpMessage::Reply { ready } => RtcfgFrame::AnnounceReply(station(ready)).emit(&mut octets),
        StartUpMessage::Configuration { offset: 0, length: here } => RtcfgFrame::Stage2 {
            ready: false,
            stations: index(settings.stations.len()),
            heartbeat_ms,
            length,
            data: &piece(here),
        }
        .emit(&mut octets),
        StartUpMessage::Configuration { offset, length: here } => {
            RtcfgFrame::Stage2Fragment { offset, data: &piece(here) }.emit(&mut octets);
        }
        StartUpMessage::Acknowledgement { received } => {
            RtcfgFrame::Acknowledge { length: received }.emit(&mut octets);
        }
        StartUpMessage::Ready => RtcfgFrame::Ready.emit(&mut octets),
        StartUpMessage::Heartbeat => RtcfgFrame::Heartbeat.emit(&mut octets),
        StartUpMessage::Dead { station } => {
            let to_all = settings.stations[station as usize].to_all;
            let physical = network.streams[to_all.index()].source;
            let address = Some(Settings::address(station));
            RtcfgFrame::DeadStation { address, physical }.emit(&mut octets);
        }
    }
    let to = match to {
        Addressee::All => NONE,
        Addressee::Station(station) => station,
    };
    let metadata = Metadata { from: index(from), to, ..Metadata::default() };
    Frame { metadata, ..Frame::new(EtherType::RTCFG, octets) }
}

/// The content of a message of the start-up; none if it is no such message, or of a station that does not take part.
pub(crate) fn read_start_up(settings: &Settings, frame: &Frame) -> Option<StartUpMessage> {
    let length = |data: &[u8]| u32::try_from(data.len()).unwrap_or(u32::MAX);
    // On real interfaces a short frame is padded.
    let whole = u32::try_from(settings.configuration.get()).unwrap_or(u32::MAX);
    let left = |offset: u32| whole.saturating_sub(offset);
    Some(match RtcfgFrame::parse(&frame.octets).ok()? {
        RtcfgFrame::Stage1 { .. } => StartUpMessage::Invitation,
        RtcfgFrame::AnnounceNew(Announcement { ready, .. }) => StartUpMessage::Announcement { ready },
        RtcfgFrame::AnnounceReply(Announcement { ready, .. }) => StartUpMessage::Reply { ready },
        RtcfgFrame::Stage2 { data, .. } => {
            StartUpMessage::Configuration { offset: 0, length: length(data).min(left(0)) }
        }
        RtcfgFrame::Stage2Fragment { offset, data } => {
            StartUpMessage::Configuration { offset, length: length(data).min(left(offset)) }
        }
        RtcfgFrame::Acknowledge { length } => StartUpMessage::Acknowledgement { received: length },
        RtcfgFrame::Ready => StartUpMessage::Ready,
        RtcfgFrame::Heartbeat => StartUpMessage::Heartbeat,
        RtcfgFrame::DeadStation { address, .. } => {
            let mut stations = 0..index(settings.stations.len());
            let station = stations.find(|station| Some(Settings::address(*station)) == address)?;
            StartUpMessage::Dead { station }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_start_up_are_read_as_they_are_written() {
        let text = include_str!("../../../../scenarios/tdma-start-up.yaml");
        let network = tautwire_model::load_text("start-up.yaml", text).network.expect("a network");
        let tdma = network.tdma.as_ref().expect("TDMA");
        let settings = tdma.start_up.as_ref().expect("a start-up");
        for message in [
            StartUpMessage::Invitation,
            StartUpMessage::Announcement { ready: true },
            StartUpMessage::Reply { ready: false },
            StartUpMessage::Configuration { offset: 0, length: 1_000 },
            StartUpMessage::Configuration { offset: 3_000, length: 500 },
            StartUpMessage::Acknowledgement { received: 4_000 },
            StartUpMessage::Ready,
            StartUpMessage::Heartbeat,
            StartUpMessage::Dead { station: 2 },
        ] {
            let mut frame = start_up(&network, settings, (1, Addressee::Station(2)), message);
            assert_eq!((frame.metadata.from, frame.metadata.to), (1, 2));
            assert_eq!(read_start_up(settings, &frame), Some(message));
            frame.octets[0] |= 0x20;
            assert_eq!(read_start_up(settings, &frame), None, "another version");
        }
    }

    #[test]
    fn stamps_are_read_to_the_picosecond() {
        let at = |ps| Instant::from_ps(ps);
        let reply =
            CalibrationReply { to: 3, requested: at(1_999), received: at(u64::MAX), transmitted: at(5_000) };
        let mut frame = calibration_reply(reply);
        assert!(matches!(read_tdma(&frame), Some(TdmaMessage::Reply(read)) if read == reply));
        let opening = Synchronisation { cycle: 7, transmitted: at(123_456), scheduled: at(123_001) };
        let read = read_tdma(&synchronisation(opening));
        assert!(matches!(read, Some(TdmaMessage::Synchronisation(read)) if read == opening));
        frame.octets.truncate(20);
        assert!(read_tdma(&frame).is_none(), "it is cut short");
    }
}
