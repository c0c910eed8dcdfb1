//! Keys of host models that have no effect, because another key is missing or excludes them.
//!
//! Not here: keys of device models, and which models are checked (`check/without_effect.rs`).

use crate::check::without_effect::{decided, key_place};
use crate::host_stacks::codes;
use crate::resolve::layered;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Keys that the stacks of a host replace.
const REPLACED: [&str; 3] = ["transmit", "receive", "queue-limit"];
/// Keys that only stacks use.
const OF_STACKS: [&str; 3] = ["clock-read", "threads", "interfaces"];

/// Warns of the keys without effect in a chain of host models.
pub(crate) fn of_host(chain: &[&Node<'_>], faults: &mut Faults) {
    let stacks = layered(chain, "stacks").map_or(&[][..], Node::entries);
    if stacks.is_empty() {
        for (key, place) in OF_STACKS.iter().filter_map(|key| Some((key, decided(chain, key, "stacks")?))) {
            let message = format!("`{key}` has no effect in a host model without stacks");
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
        let message = format!("`{key}` has no effect in a host model with stacks, which state it themselves");
        let help = "remove it; a stack takes its times from its thread, parts and interface";
        faults.warning(codes::NO_EFFECT, place, message, help);
    }
    for (_, stack) in stacks {
        of_stack(stack, faults);
    }
    for (_, interface) in layered(chain, "interfaces").map_or(&[][..], Node::entries) {
        if let (Some(place), None) = (key_place(interface, "receive-fifo"), interface.get("receive-ring")) {
            let message = "`receive-fifo` has no effect without a `receive-ring`: no frame waits before unlimited descriptors".to_owned();
            faults.warning(codes::NO_EFFECT, place, message, "add `receive-ring`, or remove `receive-fifo`");
        }
    }
}

fn of_stack(stack: &Node<'_>, faults: &mut Faults) {
    let (has_thread, has_interface) = (stack.get("thread").is_some(), stack.get("interface").is_some());
    if let (Some(place), false) = (key_place(stack, "task-queue"), has_thread) {
        let message = "`task-queue` has no effect in a stack without a thread".to_owned();
        faults.warning(codes::NO_EFFECT, place, message, "add `thread`, or remove `task-queue`");
    }
    if let (Some(place), false) = (key_place(stack, "socket-buffer"), has_thread || has_interface) {
        let message = "`socket-buffer` has no effect in a stack without interface and thread".to_owned();
        let help = "add `interface` or `thread`, or remove `socket-buffer`";
        faults.warning(codes::NO_EFFECT, place, message, help);
    }
}
