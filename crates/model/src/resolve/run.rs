//! `run:` of a description.

use tautwire_units::Duration;

use crate::network::RunSettings;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// How a run is made.
pub(crate) fn run_settings(root: &Node<'_>, faults: &mut Faults) -> RunSettings {
    let default = RunSettings {
        duration: Duration::from_s(1),
        warm_up: Duration::ZERO,
        stop_after_frames: None,
        seed: 1,
    };
    let Some(node) = root.get("run") else { return default };
    let settings = RunSettings {
        duration: node.parsed("duration").unwrap_or(default.duration),
        warm_up: node.parsed("warm-up").unwrap_or(default.warm_up),
        stop_after_frames: node.parsed("stop-after-frames"),
        seed: node.parsed("seed").unwrap_or(default.seed),
    };
    let is_readable =
        ["duration", "warm-up"].iter().all(|key| node.get(key).is_none_or(|node| node.text().is_some()));
    if is_readable && settings.warm_up >= settings.duration {
        let place = node.get("duration").or(node.get("warm-up")).map_or(node.anchor(), |node| node.place);
        let message =
            format!("a run of {} ends before its warm-up of {}", settings.duration, settings.warm_up);
        faults.error(codes::RUN, place, message, "make `duration` longer than `warm-up`");
    }
    settings
}
