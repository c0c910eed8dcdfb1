//! Limits of the queues of classes. What would be enough is known with the bounds.

use tautwire_model::Network;
use tautwire_model::settings::{Setting, SettingKey};

use super::knob::{Here, Range, Tunable, Unit};

pub(super) struct QueueLimit;

impl Tunable for QueueLimit {
    fn range(&self, network: &Network, setting: &Setting) -> Option<Range> {
        let (port, class) = setting.classes.first()?;
        let class = &network.ports[port.index()].classes[class.index()];
        Some(if setting.key == SettingKey::QueueFrames {
            Range { old: class.limit_frames.into(), least: 1, most: u32::MAX.into(), unit: Unit::Count }
        } else {
            Range { old: class.limit_octets.get(), least: 1, most: 1 << 40, unit: Unit::Octets }
        })
    }

    fn tries(&self, at: &Here<'_>) -> Vec<u64> {
        let setting = at.setting();
        let here = at.outcome.needed.iter().filter(|needed| {
            needed.key == setting.key && setting.classes.contains(&(needed.port, needed.class))
        });
        let most = here.map(|needed| needed.needed).max();
        most.filter(|most| *most > at.now()).map(|most| at.ceil(most)).into_iter().collect()
    }
}
