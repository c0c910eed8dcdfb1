//! Messages of central configuration are octets: recorders get what leaves a port at every hop, and can read it.

use std::collections::BTreeSet;

use tautwire_model::central::CentralTest;
use tautwire_sim::{Contents, DropReason, Options, Recorder, RungEvent, SimTime, Transmission, run_with};
use tautwire_units::Duration;
use tautwire_wire::central::ControlFrame;

const SCENARIO: &str = include_str!("../../../../scenarios/central-configuration.yaml");

/// Frames of channels that were transmitted, and those of them whose octets were recorded before.
#[derive(Default)]
struct Channels {
    streams: BTreeSet<u32>,
    transmitted: u64,
    read: u64,
    messages: u64,
}

impl Recorder for Channels {
    fn created(&mut self, _time: SimTime, _stream: u32, _number: u32, _octets: u32) {}

    fn contents(&mut self, stream: u32, _number: u32, contents: Contents<'_>) {
        let Contents { ether_type, octets, .. } = contents;
        if !self.streams.contains(&stream) {
            return;
        }
        assert_eq!(ether_type, ControlFrame::ETHER_TYPE);
        assert!(octets.len() <= 46, "within the least payload");
        let (frame, behind) = ControlFrame::parse(octets).expect("a frame of central configuration");
        assert!(behind.is_empty());
        self.read += 1;
        self.messages += u64::from(frame.message.is_some());
    }

    fn transmitted(&mut self, transmission: &Transmission) {
        self.transmitted += u64::from(self.streams.contains(&transmission.stream));
    }

    fn delivered(&mut self, _time: SimTime, _stream: u32, _listener: u32, _number: u32, _delay: Duration) {}

    fn dropped(&mut self, _time: SimTime, _stream: u32, _number: u32, _hop: u32, _reason: DropReason) {}
}

#[test]
fn every_transmission_of_a_channel_has_its_octets() {
    let loaded = tautwire_model::load_text("central.yaml", SCENARIO);
    let mut network = loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    network.set_duration(Duration::from_ms(2_000));
    // The test of bounds is not part of this crate.
    let network = network.altered(|parts| {
        let central = parts.srp.as_mut().and_then(|held| held.central.as_mut());
        central.expect("central configuration").test = CentralTest::Bandwidth;
    });
    let central = network.srp.as_ref().and_then(|held| held.central.as_ref()).expect("central configuration");
    let streams = central.channels.iter().map(|channel| channel.stream.0).collect();
    let mut channels = Channels { streams, ..Channels::default() };
    let seen = run_with(&network, &mut Options::default(), &mut channels);
    assert!(channels.transmitted > 20, "{}", channels.transmitted);
    assert_eq!(channels.read, channels.transmitted);
    assert!(channels.messages > 10, "{}", channels.messages);
    let starts = |rung: &tautwire_sim::Rung| rung.event == RungEvent::Started;
    assert!(seen.reservations.iter().any(|reserved| reserved.ladder.iter().any(starts)), "by these messages");
}
