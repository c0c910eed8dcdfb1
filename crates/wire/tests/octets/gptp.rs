//! gPTP messages compared with a capture of another implementation, and with what tshark reads in ours.

use crate::common;

use std::collections::BTreeMap;

use proptest::prelude::*;
use tautwire_wire::gptp::{
    AnnounceBody, ClockIdentity, ClockQuality, FollowUpInformation, GPTP_ADDRESS, PTP_ETHER_TYPE,
    PortIdentity, PtpBody, PtpHeader, PtpMessage, PtpTimestamp, PtpTlv, RespBody, flags,
};
use tautwire_wire::{EthernetHeader, MacAddress};

const ADDRESSES: [MacAddress; 2] = [MacAddress([2, 0, 0, 0, 0, 1]), MacAddress([2, 0, 0, 0, 0, 2])];

fn port(number: usize) -> PortIdentity {
    PortIdentity { clock: ClockIdentity::of(ADDRESSES[number]), port: 1 }
}

fn time(seconds: u64, nanoseconds: u32) -> PtpTimestamp {
    PtpTimestamp::new(seconds, nanoseconds).expect("a time")
}

fn header(sender: usize, sequence: u16, flags: u16, log_interval: i8) -> PtpHeader {
    PtpHeader {
        major_sdo: 1,
        minor_version: 1,
        domain: 0,
        minor_sdo: 0,
        flags,
        correction: 0,
        specific: 0,
        source: port(sender),
        sequence,
        control: 0,
        log_interval,
    }
}

/// The messages of a link in which the first station is grandmaster; with their senders.
fn ours() -> Vec<(usize, PtpMessage)> {
    let message = |sender, header, body, tlvs| (sender, PtpMessage { header, body, tlvs });
    let resp = |seconds, nanoseconds| RespBody { time: time(seconds, nanoseconds), requester: port(1) };
    let information = FollowUpInformation {
        cumulative_scaled_rate_offset: -219_902,
        time_base_indicator: 3,
        last_phase_change: -1 << 70,
        last_frequency_change: 7,
    };
    let announce = AnnounceBody {
        origin: time(0, 0),
        utc_offset: 37,
        priority1: 246,
        quality: ClockQuality { class: 248, accuracy: 0xfe, variance: 0x436a },
        priority2: 247,
        grandmaster: port(0).clock,
        steps_removed: 2,
        time_source: 0xa0,
    };
    let correction = 1_234 << 16 | 0x8000;
    let request = PtpTlv::MessageIntervalRequest { link_delay: 1, time_sync: -4, announce: 2, flags: 3 };
    let path = PtpTlv::PathTrace(vec![port(0).clock, port(1).clock]);
    vec![
        message(1, header(1, 7, 0, 0), PtpBody::PdelayReq(time(0, 0)), vec![]),
        message(
            0,
            header(0, 7, flags::TWO_STEP, 127),
            PtpBody::PdelayResp(resp(1_795_287_320, 284_120_934)),
            vec![],
        ),
        message(
            0,
            header(0, 7, 0, 127),
            PtpBody::PdelayRespFollowUp(resp(1_795_287_320, 284_185_034)),
            vec![],
        ),
        message(0, header(0, 9, flags::TWO_STEP, -3), PtpBody::Sync(time(0, 0)), vec![]),
        message(
            0,
            PtpHeader { correction, ..header(0, 9, 0, -3) },
            PtpBody::FollowUp(time(0x1234_5678_9abc, 999_999_999)),
            vec![PtpTlv::FollowUpInformation(information)],
        ),
        message(0, header(0, 1, flags::PTP_TIMESCALE, 0), PtpBody::Announce(announce), vec![path]),
        message(1, header(1, 2, 0, 127), PtpBody::Signaling(port(0)), vec![request]),
    ]
}

fn frame(sender: usize, message: &PtpMessage) -> Vec<u8> {
    let source = ADDRESSES[sender];
    let header = EthernetHeader { destination: GPTP_ADDRESS, source, tag: None, ether_type: PTP_ETHER_TYPE };
    let mut octets = Vec::new();
    header.emit(&mut octets);
    message.emit(&mut octets);
    octets
}

#[test]
fn the_capture_is_read_to_the_last_octet_and_written_again() {
    let mut kinds = BTreeMap::new();
    for frame in common::captured("gptp-two-stations.pcapng") {
        let (ethernet, body) = EthernetHeader::parse(&frame.octets).expect("a header");
        if ethernet.ether_type != PTP_ETHER_TYPE {
            continue;
        }
        let (message, rest) = PtpMessage::parse(body).expect("a message");
        assert_eq!(rest, &[0_u8; 0]);
        let mut again = Vec::new();
        message.emit(&mut again);
        assert_eq!(again, body);
        assert!(message.tlvs.iter().all(|tlv| !matches!(tlv, PtpTlv::Other { .. })), "{message:?}");
        *kinds.entry(message.body.message_type()).or_insert(0) += 1;
    }
    // Sync, request, answer, follow-up, its follow-up, announce, and the two management messages of a tool.
    assert_eq!(
        kinds.into_iter().collect::<Vec<_>>(),
        [(0, 155), (2, 40), (3, 40), (8, 155), (10, 40), (11, 21), (13, 2)]
    );
}

#[test]
fn lengths_versions_and_times_that_cannot_be() {
    let (_, sync) = &ours()[3];
    let mut octets = Vec::new();
    sync.emit(&mut octets);
    assert_eq!(octets.len(), 44);
    assert_eq!(
        PtpMessage::parse(&octets).map(|(message, rest)| (message, rest.len())),
        Ok((sync.clone(), 0))
    );
    let mut padded = octets.clone();
    padded.extend([0; 16]);
    assert_eq!(PtpMessage::parse(&padded).map(|(_, rest)| rest.len()), Ok(16));
    for (place, value) in [(1, 0x11), (3, 45), (3, 33), (40, 0xff)] {
        let mut wrong = octets.clone();
        wrong[place] = value;
        assert!(PtpMessage::parse(&wrong).is_err(), "{value} at {place}");
    }
    assert_eq!(PtpTimestamp::new(1 << 48, 0), None);
    assert_eq!(PtpTimestamp::new(0, 1_000_000_000), None);
}

#[test]
fn tshark_reads_what_we_write() {
    let mut frames: Vec<_> = ours().iter().map(|(sender, message)| frame(*sender, message)).collect();
    let complete = common::pcapng(&frames);
    assert_eq!(common::complaints("gptp-complaints", &complete), [""; 0]);
    let expected = [
        ("ptp.v2.majorsdoid", 0, "1"),
        ("ptp.v2.minorversionptp", 0, "1"),
        ("ptp.v2.messagetype", 1, "3"),
        ("ptp.v2.messagelength", 4, "76"),
        ("ptp.v2.messagelength", 5, "84"),
        ("ptp.v2.correction.ns", 4, "1234"),
        ("ptp.v2.correction.subns", 4, "0.5"),
        ("ptp.v2.sequenceid", 4, "9"),
        ("ptp.v2.logmessageperiod", 4, "-3"),
        ("ptp.v2.flags.twostep", 3, "1"),
        ("ptp.v2.flags.timescale", 5, "1"),
        ("ptp.v2.clockidentity", 0, "0x020000fffe000002"),
        ("ptp.v2.pdrs.requestreceipttimestamp.seconds", 1, "1795287320"),
        ("ptp.v2.pdrs.requestreceipttimestamp.nanoseconds", 1, "284120934"),
        ("ptp.v2.pdrs.requestingportidentity", 1, "0x020000fffe000002"),
        ("ptp.v2.pdfu.responseorigintimestamp.nanoseconds", 2, "284185034"),
        ("ptp.v2.fu.preciseorigintimestamp.seconds", 4, "20015998343868"),
        ("ptp.v2.fu.preciseorigintimestamp.nanoseconds", 4, "999999999"),
        // -219902, which is shown without its sign.
        ("ptp.as.fu.cumulativeScaledRateOffset", 4, "4294747394"),
        ("ptp.as.fu.gmTimeBaseIndicator", 4, "3"),
        ("ptp.as.fu.scaledLastGmFreqChange", 4, "7"),
        ("ptp.v2.an.priority1", 5, "246"),
        ("ptp.v2.an.priority2", 5, "247"),
        ("ptp.v2.an.grandmasterclockclass", 5, "248"),
        ("ptp.v2.an.grandmasterclockvariance", 5, "17258"),
        ("ptp.v2.an.grandmasterclockidentity", 5, "0x020000fffe000001"),
        ("ptp.v2.an.localstepsremoved", 5, "2"),
        ("ptp.v2.an.pathsequence", 5, "0x020000fffe000001,0x020000fffe000002"),
        ("ptp.v2.sig.targetportidentity", 6, "0x020000fffe000001"),
        ("ptp.as.sig.tlv.linkdelayinterval", 6, "1"),
        ("ptp.as.sig.tlv.timesyncinterval", 6, "-4"),
        ("ptp.as.sig.tlv.announceinterval", 6, "2"),
    ];
    let mut names: Vec<_> = expected.iter().map(|(field, ..)| *field).collect();
    names.dedup();
    let read = common::fields("gptp-fields", &complete, &names);
    let found = |field: &str, frame: usize| {
        let column = names.iter().position(|name| *name == field).expect("asked for");
        read[frame].split('|').nth(column).unwrap_or("nothing")
    };
    let number = |text: &str| text.strip_prefix("0x").and_then(|text| u64::from_str_radix(text, 16).ok());
    let differing: Vec<_> = expected
        .iter()
        .map(|(field, frame, expected)| (*field, *frame, *expected, found(field, *frame)))
        .filter(|(_, _, expected, found)| {
            expected != found
                && number(found).map(|number| number.to_string()) != Some((*expected).to_owned())
        })
        .collect();
    assert_eq!(differing, []);
    // What is cut is complained of: the test above could fail.
    frames[4].truncate(70);
    assert_ne!(common::complaints("gptp-cut", &common::pcapng(&frames)), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_octets_give_a_message_or_an_error(octets: Vec<u8>, which in 0_usize..7, place: usize, octet: u8, end: usize) {
        let (sender, message) = ours().swap_remove(which);
        let mut near = frame(sender, &message)[14..].to_vec();
        let length = near.len();
        near[place % length] = octet;
        near.truncate(end % (2 * length));
        for octets in [octets, near] {
            if let Ok((message, _)) = PtpMessage::parse(&octets) {
                let mut again = Vec::new();
                message.emit(&mut again);
                prop_assert_eq!(PtpMessage::parse(&again).map(|(read, rest)| (read, rest.len())), Ok((message, 0)));
            }
        }
    }
}
