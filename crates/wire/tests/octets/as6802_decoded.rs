//! An independent decoder reads protocol control frames of SAE AS6802 as they are meant: `tshark` of
//! Wireshark, which `tools/setup tshark` installs.

use crate::common;

use tautwire_wire::{EtherType, EthernetHeader, MacAddress, PcfType, ProtocolControlFrame};

/// A frame as captures have it, padded, without its FCS.
fn frame(pcf: ProtocolControlFrame) -> Vec<u8> {
    let mut octets = Vec::new();
    // The marker of critical traffic, and an identifier.
    let destination = MacAddress([0x03, 0x04, 0x05, 0x06, 0, 0x21]);
    let source = MacAddress([2, 0, 0, 0, 0, 1]);
    EthernetHeader { destination, source, tag: None, ether_type: EtherType::PCF }.emit(&mut octets);
    pcf.emit(&mut octets);
    octets.resize(60, 0);
    octets
}

#[test]
fn protocol_control_frames_are_decoded_with_their_values_and_none_is_malformed() {
    let pcf = |kind, integration_cycle, membership_new| ProtocolControlFrame {
        integration_cycle,
        membership_new,
        sync_priority: 3,
        sync_domain: 0x42,
        kind,
        transparent_clock: 0x0123_4567_89ab,
    };
    let frames = [
        frame(pcf(PcfType::ColdStart, 0, 1)),
        frame(pcf(PcfType::ColdStartAcknowledge, 0, 0x8000_0000)),
        frame(pcf(PcfType::Integration, 0xdead_beef, 7)),
    ];
    let capture = common::pcapng(&frames);
    let fields = [
        "eth.type",
        "tte_pcf.ic",
        "tte_pcf.mn",
        "tte_pcf.sp",
        "tte_pcf.sd",
        "tte_pcf.type",
        "tte_pcf.tc",
        "_ws.malformed",
        "_ws.expert.message",
    ];
    assert_eq!(
        common::fields("pcf.pcapng", &capture, &fields),
        [
            "0x891d|0x00000000|0x00000001|0x03|0x42|0x04|0x00000123456789ab||",
            "0x891d|0x00000000|0x80000000|0x03|0x42|0x08|0x00000123456789ab||",
            "0x891d|0xdeadbeef|0x00000007|0x03|0x42|0x02|0x00000123456789ab||",
        ]
    );
}
