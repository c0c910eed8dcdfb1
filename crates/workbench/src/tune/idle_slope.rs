//! Idle slopes of credit-based classes. At a port they are no more than its line in all, as `check` holds.

use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::{PortIndex, TransmissionSelection};
use tautwire_model::settings::{Setting, SettingKey};

use super::knob::{Here, Range, Tunable, Unit};

pub(super) struct IdleSlope;

impl Tunable for IdleSlope {
    fn range(&self, network: &Network, setting: &Setting) -> Option<Range> {
        let old = slope(network, *setting.classes.first()?)?;
        let carries = |at: &(PortIndex, TrafficClass)| {
            let mut hops = network.streams.iter().flat_map(|stream| &stream.hops);
            hops.any(|hop| (hop.port, hop.class) == *at)
        };
        let is_used = setting.classes.iter().any(carries);
        let most = setting.classes.iter().map(|at| line(network, at.0)).min()?;
        is_used.then_some(Range { old, least: 1, most, unit: Unit::Rate })
    }

    fn tries(&self, at: &Here<'_>) -> Vec<u64> {
        let now = at.now();
        let left = at.setting().classes.iter().map(|(port, class)| {
            let others =
                TrafficClass::all().filter(|other| other != class).map(|other| slope_now(at, (*port, other)));
            line(at.network, *port).saturating_sub(others.sum())
        });
        let most = at.floor(left.min().unwrap_or(now));
        let mut values = Vec::new();
        if most > now {
            values.extend([
                most,
                at.between(now, most, 1, 2),
                at.between(now, most, 1, 4),
                at.between(now, most, 1, 10),
            ]);
        }
        values.extend([at.floor(now / 10 * 9), at.floor(now / 4 * 3), at.floor(now / 2)]);
        values
    }
}

fn line(network: &Network, port: PortIndex) -> u64 {
    let links = network.ports[port.index()].links;
    links.map_or(0, |links| network.links[links.egress.index()].rate.as_bps())
}

/// The idle slope of a class as described.
fn slope(network: &Network, (port, class): (PortIndex, TrafficClass)) -> Option<u64> {
    match network.ports[port.index()].classes[class.index()].selection {
        TransmissionSelection::CreditBased { idle_slope } => Some(idle_slope.as_bps()),
        _ => None,
    }
}

/// The idle slope of a class now; nothing of one that has none.
fn slope_now(at: &Here<'_>, class: (PortIndex, TrafficClass)) -> u64 {
    let sets = |knob: &usize| {
        let setting = &at.settings.list[at.knobs[*knob].setting];
        setting.key == SettingKey::IdleSlope && setting.classes.contains(&class)
    };
    let knob = at.state.keys().copied().find(sets);
    knob.map_or_else(|| slope(at.network, class).unwrap_or(0), |knob| at.value(knob))
}
