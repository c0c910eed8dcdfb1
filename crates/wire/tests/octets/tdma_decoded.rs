//! An independent decoder reads the frames of RTnet as they are meant: `tshark` of Wireshark, which
//! `tools/setup tshark` installs. The capture is a pcapng of one interface.

use std::path::PathBuf;
use std::process::Command;

use tautwire_wire::{
    Announcement, EtherType, EthernetHeader, Ipv4Address, Ipv4Header, MacAddress, RtcfgFrame, RtmacHeader,
    TdmaFrame, UdpHeader,
};

const MASTER: MacAddress = MacAddress([2, 0, 0, 0, 0, 0x20]);
const SLAVE: MacAddress = MacAddress([2, 0, 0, 0, 0, 0x21]);

/// A frame as captures have it, padded, without its FCS.
fn frame(destination: MacAddress, ether_type: EtherType, contents: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    EthernetHeader { destination, source: MASTER, tag: None, ether_type }.emit(&mut octets);
    octets.extend_from_slice(contents);
    octets.resize(octets.len().max(60), 0);
    octets
}

fn tdma(destination: MacAddress, contents: TdmaFrame) -> Vec<u8> {
    let mut octets = Vec::new();
    RtmacHeader::Tdma.emit(&mut octets);
    contents.emit(&mut octets);
    frame(destination, EtherType::RTMAC, &octets)
}

fn rtcfg(contents: RtcfgFrame<'_>) -> Vec<u8> {
    let mut octets = Vec::new();
    contents.emit(&mut octets);
    frame(MacAddress::BROADCAST, EtherType::RTCFG, &octets)
}

/// An IPv4 datagram in a slot for what is not real-time.
fn tunnelled() -> Vec<u8> {
    let (source, destination) = (Ipv4Address::new(10, 0, 0, 1), Ipv4Address::new(10, 0, 0, 2));
    let mut udp = Vec::new();
    UdpHeader { source_port: 4_001, destination_port: 4_002 }.emit(source, destination, &[7; 40], &mut udp);
    let mut octets = Vec::new();
    RtmacHeader::Tunnelled(EtherType::IPV4).emit(&mut octets);
    let header = Ipv4Header {
        traffic_class: 0,
        payload_length: u16::try_from(udp.len()).expect("a short datagram"),
        identification: 0,
        fragment: 0,
        time_to_live: 64,
        protocol: Ipv4Header::UDP,
        source,
        destination,
    };
    header.emit(&mut octets);
    octets.extend_from_slice(&udp);
    frame(SLAVE, EtherType::RTMAC, &octets)
}

/// Writes a little-endian pcapng: a section, an Ethernet interface, and the frames 1 ms apart.
fn capture(name: &str, frames: &[Vec<u8>]) -> PathBuf {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let padded = body.len().next_multiple_of(4);
        let length = u32::try_from(padded + 12).expect("a short block");
        file.extend_from_slice(&kind.to_le_bytes());
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(body);
        file.resize(file.len() + padded - body.len(), 0);
        file.extend_from_slice(&length.to_le_bytes());
    };
    let mut section = vec![0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0];
    section.extend_from_slice(&[0xff; 8]);
    block(0x0a0d_0d0a, &section);
    block(1, &[1, 0, 0, 0, 0, 0, 0, 0]);
    for (number, frame) in (0_u32..).zip(frames) {
        let octets = u32::try_from(frame.len()).expect("a short frame");
        let mut body = Vec::new();
        for word in [0, 0, number * 1_000, octets, octets] {
            body.extend_from_slice(&word.to_le_bytes());
        }
        body.extend_from_slice(frame);
        block(6, &body);
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, file).expect("the test's folder can be written");
    path
}

/// The fields that `tshark` finds in each frame, joined by `|`.
fn decoded(path: &PathBuf, fields: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-T", "fields", "-E", "separator=|"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("`tshark` can be run: `tools/setup tshark` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn tdma_frames_are_decoded_with_their_values_and_none_is_malformed() {
    let frames = [
        tdma(
            MacAddress::BROADCAST,
            TdmaFrame::Synchronisation { cycle: 77, transmitted_ns: 77_000_123, scheduled_ns: 77_000_000 },
        ),
        tdma(
            SLAVE,
            TdmaFrame::CalibrationRequest { transmitted_ns: 5, reply_cycle: 80, reply_offset_ns: 300_000 },
        ),
        tdma(
            SLAVE,
            TdmaFrame::CalibrationReply { requested_ns: 5, received_ns: 1 << 40, transmitted_ns: u64::MAX },
        ),
        tunnelled(),
    ];
    let path = capture("tdma.pcapng", &frames);
    let fields = [
        "frame.protocols",
        "rtmac.header.ver",
        "rtmac.header.flags.tunnel",
        "tdma.ver",
        "tdma.id",
        "tdma.sync.cycle",
        "tdma.sync.xmit_stamp",
        "tdma.sync.sched_xmit",
        "tdma.req_cal.xmit_stamp",
        "tdma.req_cal.rpl_cycle",
        "tdma.req_cal.rpl_slot",
        "tdma.rpl_cal.req_stamp",
        "tdma.rpl_cal.rcv_stamp",
        "tdma.rpl_cal.xmit_stamp",
        "udp.dstport",
        "_ws.malformed",
        "_ws.expert.message",
    ];
    assert_eq!(
        decoded(&path, &fields),
        [
            "eth:ethertype:rtmac|2|0|0x0201|0x0000|77|77000123|77000000|||||||||",
            "eth:ethertype:rtmac|2|0|0x0201|0x0010||||5|80|300000||||||",
            "eth:ethertype:rtmac|2|0|0x0201|0x0011|||||||5|1099511627776|18446744073709551615|||",
            "eth:ethertype:rtmac:ip:udp:data|2|1||||||||||||4002||",
        ]
    );
}

#[test]
fn rtcfg_frames_are_decoded_with_their_values_and_none_is_malformed() {
    let (client, server) = (Ipv4Address::new(136, 137, 138, 21), Ipv4Address::new(136, 137, 138, 20));
    let station = Announcement { address: Some(client), stage_2: true, ready: false, burst_rate: 4 };
    let data = [1, 2, 3, 4];
    let frames = [
        rtcfg(RtcfgFrame::Stage1 { addresses: Some((client, server)), burst_rate: 4, data: &data }),
        rtcfg(RtcfgFrame::Stage1 { addresses: None, burst_rate: 4, data: &data }),
        rtcfg(RtcfgFrame::AnnounceNew(station)),
        rtcfg(RtcfgFrame::AnnounceReply(Announcement { stage_2: false, ready: true, ..station })),
        rtcfg(RtcfgFrame::Stage2 { ready: true, stations: 3, heartbeat_ms: 100, length: 8, data: &data }),
        rtcfg(RtcfgFrame::Stage2Fragment { offset: 4, data: &data }),
        rtcfg(RtcfgFrame::Acknowledge { length: 8 }),
        rtcfg(RtcfgFrame::Ready),
        rtcfg(RtcfgFrame::Heartbeat),
        rtcfg(RtcfgFrame::DeadStation { address: Some(client), physical: SLAVE }),
    ];
    let path = capture("rtcfg.pcapng", &frames);
    let fields = [
        "rtcfg.vers",
        "rtcfg.id",
        "rtcfg.client_ip_address",
        "rtcfg.server_ip_address",
        "rtcfg.burst_rate",
        "rtcfg.s1_config_length",
        "rtcfg.client_flags",
        "rtcfg.server_flags",
        "rtcfg.active_stations",
        "rtcfg.hearbeat_period",
        "rtcfg.s2_config_length",
        "rtcfg.config_offset",
        "rtcfg.ack_length",
        "rtcfg.client_hw_address",
        "_ws.malformed",
    ];
    let hardware = "020000000021".to_owned() + &"00".repeat(26);
    assert_eq!(
        decoded(&path, &fields),
        [
            "0|0x00|136.137.138.21|136.137.138.20|4|4|||||||||",
            "0|0x00|||4|4|||||||||",
            "0|0x01|136.137.138.21||4||0x01||||||||",
            "0|0x02|136.137.138.21||||0x02||||||||",
            "0|0x03||||||0x02|3|100|8||||",
            "0|0x04||||||||||4|||",
            "0|0x05|||||||||||8||",
            "0|0x06|||||||||||||",
            "0|0x07|||||||||||||",
            &format!("0|0x08|136.137.138.21|||||||||||{hardware}|"),
        ]
    );
}
