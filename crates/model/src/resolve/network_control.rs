//! `network-control:` of a description.

use tautwire_core::Priority;
use tautwire_units::{BitRate, Bits, Bytes};

use super::priority;
use crate::network::{ArrivalCurve, NetworkControl};
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Of protocols that the description does not have; those that it has are streams of their own. None unless stated. An
/// empty mapping covers: gPTP (802.1AS-2020: Sync and Follow_Up every 125 ms, Pdelay and Announce every second), MRP
/// (every 200 ms) and link layer discovery (every 30 s), one frame of each at once, with PDUs of the latter two up to
/// 300 octets; 9 824 bits on the wire at once and 100 kbit/s of them cover that.
pub(crate) fn network_control(root: &Node<'_>, faults: &mut Faults) -> Option<NetworkControl> {
    let node = root.get("network-control").filter(|node| node.text() != Some("none"))?;
    // Time-triggered frames have a class of their own above all others.
    let usual = if root.get("time-triggered").is_some() { 6 } else { 7 };
    let usual = Priority::new(usual).expect("below eight");
    let mut control = NetworkControl {
        priority: usual,
        arrival: ArrivalCurve { rate: BitRate::from_bps(100_000), burst: Bytes::new(1228).bits() },
        frame_max: Bytes::new(300),
    };
    control.priority = priority(node, "priority").unwrap_or(usual);
    control.arrival.rate = node.parsed("rate").unwrap_or(control.arrival.rate);
    control.arrival.burst = node.parsed("burst").unwrap_or(control.arrival.burst);
    control.frame_max = node.parsed("frame-max").unwrap_or(control.frame_max);
    let wire: Bits = (control.frame_max + Bytes::MEDIA_OVERHEAD).bits();
    if wire > control.arrival.burst {
        let place = node.get("frame-max").or(node.get("burst")).map_or(node.anchor(), |node| node.place);
        let message = format!(
            "the largest frame of {} ({wire} on the wire) does not fit into the burst of {}",
            control.frame_max, control.arrival.burst
        );
        let help = "raise `burst` to `frame-max` and its 20 B of media overhead at least";
        faults.error(codes::ARRIVAL_CURVE, place, message, help);
    }
    Some(control)
}
