//! From the keys of a port to its frame preemption: what the port does not state its node, its device and the defaults do, key by key.

use tautwire_core::preemption::{AddFragSize, VERIFY_TIME};
use tautwire_units::Duration;

use super::PortPreemption;
use crate::resolve::layered;
use crate::text::scalar;
use crate::text::tree::{Node, Place};

/// What the layers state, and where; none if they state nothing.
pub(crate) fn preemption(layers: &[&Node<'_>]) -> Option<(PortPreemption, Place)> {
    let tables: Vec<&Node<'_>> =
        layers.iter().filter_map(|layer| layer.get("frame-preemption-parameters")).collect();
    let place = tables.first()?.anchor();
    let text = |key: &str| layered(&tables, key).and_then(Node::text);
    let flag = |key: &str, default: bool| text(key).and_then(scalar::flag).unwrap_or(default);
    let span = |key: &str| text(key).and_then(|text| text.parse::<Duration>().ok());
    let statuses: Vec<&Node<'_>> =
        tables.iter().filter_map(|table| table.get("frame-preemption-status-table")).collect();
    let is_preemptable = |priority: &u8| {
        let status = layered(&statuses, &format!("priority{priority}")).and_then(Node::text);
        status == Some("preemptable")
    };
    let stated = PortPreemption {
        priorities: (0..8).filter(is_preemptable).fold(0, |all, priority| all | 1 << priority),
        enabled: flag("enable-tx", true),
        supported: flag("support", true),
        add_frag_size: text("add-frag-size")
            .and_then(|text| AddFragSize::new(text.parse().ok()?))
            .unwrap_or_default(),
        hold_advance: span("hold-advance"),
        release_advance: span("release-advance").unwrap_or_default(),
        verify_disabled: flag("verify-disable-tx", false),
        verify_time: span("verify-time").unwrap_or(VERIFY_TIME),
        verify_at_start: flag("verify-at-start", false),
    };
    Some((stated, place))
}
