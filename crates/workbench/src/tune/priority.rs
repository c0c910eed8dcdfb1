//! Priorities of streams, from which their traffic classes follow.

use tautwire_model::Network;
use tautwire_model::settings::Setting;

use super::knob::{Here, Range, Tunable, Unit};

pub(super) struct Priority;

impl Tunable for Priority {
    fn range(&self, network: &Network, setting: &Setting) -> Option<Range> {
        let stream = &network.streams[setting.streams.first()?.index()];
        Some(Range { old: stream.priority.number().into(), least: 0, most: 7, unit: Unit::Count })
    }

    fn tries(&self, at: &Here<'_>) -> Vec<u64> {
        let mut values: Vec<u64> = (0..8).collect();
        values.sort_by_key(|value| value.abs_diff(at.now()));
        values
    }
}
