//! Keys of device models that have no effect, because another key is missing or excludes them.
//!
//! Only models in use are checked. A key of a model that others are based on may be meant for these, so there is a
//! warning only if the deciding key is in the same model, or in one further down the chain. Not here: the effects of
//! keys, and keys of host models (`host_stacks/without_effect.rs`).

use crate::resolve::layered;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};

/// Warns of the keys without effect in a chain of device models.
pub(crate) fn of_device(chain: &[&Node<'_>], faults: &mut Faults) {
    let by_rule = layered(chain, "tie-rule").is_some_and(|rule| rule.text() != Some("arrival-order"));
    // Interleaved regulators have a queue for each whatever the rule.
    let ats: Vec<&Node<'_>> = chain.iter().filter_map(|node| node.get("ats")).collect();
    let is_interleaved = layered(&ats, "organisation").and_then(Node::text) == Some("interleaved-regulators");
    if !by_rule
        && !is_interleaved
        && let Some(place) = decided(chain, "reception-queue-limit", "tie-rule")
    {
        let message =
            "`reception-queue-limit` has no effect where reception ports have no separate queues".to_owned();
        let help =
            "choose another `tie-rule` than `arrival-order`, or limit the common queue by `queue-limit`";
        faults.warning(codes::NO_EFFECT, place, message, help);
    }
}

/// The place of `key`, if the model that has it also decides on `other`, or is based on one that does.
pub(crate) fn decided(chain: &[&Node<'_>], key: &str, other: &str) -> Option<Place> {
    let layer = |key: &str| chain.iter().position(|layer| layer.get(key).is_some());
    let own = layer(key)?;
    layer(other).is_none_or(|other| own <= other).then(|| key_place(chain[own], key))?
}

/// The place of `key` in a mapping.
pub(crate) fn key_place(node: &Node<'_>, key: &str) -> Option<Place> {
    node.entries().iter().find(|(name, _)| name.text == key).map(|(name, _)| name.place)
}
