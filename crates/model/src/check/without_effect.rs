//! Keys of device and host models that have no effect, for want of another key or beside one.
//!
//! Only models in use are held against this. A key of a model that others are based on may be meant for these: it is told
//! only if the model that decides the matter is the same one, or one further down the chain. Not here: what the keys do.

use crate::resolve::layered;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};

/// What hosts with stacks have in their place.
const REPLACED: [&str; 3] = ["transmit", "receive", "queue-limit"];
/// What only stacks use.
const OF_STACKS: [&str; 3] = ["clock-read", "threads", "interfaces"];

/// Tells of the keys without effect of a chain of device models.
pub(crate) fn of_device(chain: &[&Node<'_>], faults: &mut Faults) {
    let by_rule = layered(chain, "tie-rule").is_some_and(|rule| rule.text() != Some("arrival-order"));
    // Interleaved regulators have a queue for each whatever the rule.
    let ats: Vec<&Node<'_>> = chain.iter().filter_map(|node| node.get("ats")).collect();
    let is_interleaved = layered(&ats, "organisation").and_then(Node::text) == Some("interleaved-regulators");
    if !by_rule
        && !is_interleaved
        && let Some(place) = decided(chain, "reception-queue-limit", "tie-rule")
    {
        let message = "no reception port has a queue of its own".to_owned();
        let help = "choose another `tie-rule` than `arrival-order`, or limit all by `queue-limit`";
        faults.warning(codes::NO_EFFECT, place, message, help);
    }
}

/// Tells of the keys without effect of a chain of host models.
pub(crate) fn of_host(chain: &[&Node<'_>], faults: &mut Faults) {
    let stacks = layered(chain, "stacks").map_or(&[][..], Node::entries);
    if stacks.is_empty() {
        for (key, place) in OF_STACKS.iter().filter_map(|key| Some((key, decided(chain, key, "stacks")?))) {
            let message = format!("`{key}` of a host without stacks");
            let help = "add `stacks`, or state the host's delays with `transmit` and `receive`";
            faults.warning(codes::NO_EFFECT, place, message, help);
        }
        if let Some(place) = chain.first().and_then(|own| key_place(own, "stacks"))
            && !chain[1..].iter().any(|base| base.get("stacks").is_some_and(|of| !of.entries().is_empty()))
        {
            let help = "name a stack, as `stacks: {udp: {}}`, or remove the key";
            faults.warning(codes::NO_EFFECT, place, "no stack is named".to_owned(), help);
        }
        return;
    }
    for (key, place) in REPLACED.iter().filter_map(|key| Some((key, decided(chain, key, "stacks")?))) {
        let message = format!("`{key}` of a host with stacks, which have it in their place");
        let help = "remove it; the times of a stack are those of its thread, parts and interface";
        faults.warning(codes::NO_EFFECT, place, message, help);
    }
    for (_, stack) in stacks {
        of_stack(stack, faults);
    }
    for (_, interface) in layered(chain, "interfaces").map_or(&[][..], Node::entries) {
        if let (Some(place), None) = (key_place(interface, "receive-fifo"), interface.get("receive-ring")) {
            let message = "nothing waits before descriptors without a limit".to_owned();
            faults.warning(codes::NO_EFFECT, place, message, "add `receive-ring`, or remove `receive-fifo`");
        }
    }
}

fn of_stack(stack: &Node<'_>, faults: &mut Faults) {
    let (has_thread, has_interface) = (stack.get("thread").is_some(), stack.get("interface").is_some());
    if let (Some(place), false) = (key_place(stack, "task-queue"), has_thread) {
        let message = "nothing waits for a thread in a stack without one".to_owned();
        faults.warning(codes::NO_EFFECT, place, message, "add `thread`, or remove `task-queue`");
    }
    if let (Some(place), false) = (key_place(stack, "socket-buffer"), has_thread || has_interface) {
        let message = "nothing waits in a stack that has neither an interface nor a thread".to_owned();
        let help = "add `interface` or `thread`, or remove `socket-buffer`";
        faults.warning(codes::NO_EFFECT, place, message, help);
    }
}

/// Where `key` stands, if the model that has it has the say on `other` too, or is based on one that has.
fn decided(chain: &[&Node<'_>], key: &str, other: &str) -> Option<Place> {
    let layer = |key: &str| chain.iter().position(|layer| layer.get(key).is_some());
    let own = layer(key)?;
    layer(other).is_none_or(|other| own <= other).then(|| key_place(chain[own], key))?
}

fn key_place(node: &Node<'_>, key: &str) -> Option<Place> {
    node.entries().iter().find(|(name, _)| name.text == key).map(|(name, _)| name.place)
}
