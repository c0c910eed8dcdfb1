//! Rates and bursts of ATS schedulers, and of a talker's own shaper.
//!
//! A rate above the talker's lets a stream pass at once, but increases the interference that others must count after
//! the scheduler; so both directions are tried.

use tautwire_model::Network;
use tautwire_model::network::{Stream, TransmissionSelection, frame_length, wire_bits};
use tautwire_model::settings::{Setting, SettingKey};

use super::knob::{Here, Range, Tunable, Unit};

pub(super) struct Ats;

impl Tunable for Ats {
    fn range(&self, network: &Network, setting: &Setting) -> Option<Range> {
        let stream = &network.streams[setting.streams.first()?.index()];
        let shaper = stream.shaper?;
        if !setting.streams.iter().any(|stream| is_shaped(network, &network.streams[stream.index()])) {
            return None;
        }
        let lines = setting.streams.iter().flat_map(|stream| &network.streams[stream.index()].hops);
        let lines = lines.filter_map(|hop| network.ports[hop.port.index()].links);
        let line = lines.map(|links| network.links[links.egress.index()].rate.as_bps()).min()?;
        Some(if setting.key == SettingKey::CommittedInformationRate {
            let old = shaper.committed_information_rate.as_bps();
            Range { old, least: 1, most: line.max(old), unit: Unit::Rate }
        } else {
            let old = shaper.committed_burst_size.get() / 8;
            Range { old, least: 1, most: 1 << 30, unit: Unit::Octets }
        })
    }

    fn tries(&self, at: &Here<'_>) -> Vec<u64> {
        let setting = at.setting();
        let streams = || setting.streams.iter().map(|stream| &at.network.streams[stream.index()]);
        let promise = streams().filter_map(|stream| stream.arrival);
        let now = at.now();
        if setting.key == SettingKey::CommittedInformationRate {
            let sent = promise.map(|curve| curve.rate.as_bps()).max().unwrap_or(now);
            return values(
                at,
                &[
                    sent,
                    sent + sent / 100,
                    sent + sent / 10,
                    2 * sent,
                    4 * sent,
                    now / 10 * 9,
                    now / 2,
                    now * 2,
                ],
            );
        }
        let frame = streams()
            .map(|stream| frame_length(stream.payload_max, stream.tagged).get() + 20)
            .max()
            .unwrap_or(now);
        let wire = streams()
            .map(|stream| wire_bits(stream.payload_max, stream.tagged).get().div_ceil(8))
            .max()
            .unwrap_or(0);
        let sent = promise.map(|curve| curve.burst.get().div_ceil(8)).max().unwrap_or(now).max(wire);
        values(at, &[frame, sent, sent + frame, 2 * sent, 4 * sent, now + frame, now * 2, now / 2])
    }
}

fn values(at: &Here<'_>, values: &[u64]) -> Vec<u64> {
    values.iter().map(|value| at.ceil(*value)).collect()
}

/// Whether anything shapes a stream by its parameters.
fn is_shaped(network: &Network, stream: &Stream) -> bool {
    let by_class = |port: &tautwire_model::network::Port, class: usize| {
        matches!(port.classes[class].selection, TransmissionSelection::Ats)
    };
    stream.shaped_at_talker
        || stream.hops.iter().any(|hop| by_class(&network.ports[hop.port.index()], hop.class.index()))
}
