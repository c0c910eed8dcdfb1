//! Device and host models that are based on others: which of their keys have an effect.

use tautwire_model::{Network, load_text};

/// The models `models`, used by all end stations and bridges, and the codes of what is doubtful about them.
fn with_models(models: &str) -> (Network, Vec<(&'static str, String)>) {
    let text = format!(
        "{models}defaults: {{rate: 100 Mbit/s, host: used, device: used}}\n\
         nodes: {{a: {{type: end-station}}, b: {{type: end-station}}, s: {{type: bridge}}}}\n\
         links: [{{between: [a, s]}}, {{between: [b, s]}}]\n\
         streams: [{{name: x, talker: a, listeners: b, payload: 128 B, traffic: {{type: periodic, interval: 10 ms}}}}]\n"
    );
    let loaded = load_text("models", &text);
    let faults = loaded.diagnostics.iter().map(|fault| (fault.code, fault.message.clone())).collect();
    (loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)), faults)
}

/// A model may be based on one whose keys it makes void: these are meant for others.
#[test]
fn keys_of_a_base_that_its_user_replaces_are_no_fault() {
    for hosts in [
        "base: {transmit: 5 us, receive: 6 us, queue-limit: 1}\n  used: {based-on: base, stacks: {udp: {}}}",
        "base: {clock-read: 1 us, threads: {t: {}}, stacks: {udp: {thread: t}}}\n  used: {based-on: base, stacks: {}, transmit: 5 us}",
        "base: {threads: {t: {}}, interfaces: {i: {}}}\n  used: {based-on: base, stacks: {udp: {thread: t, interface: i}}}",
        "used: {}",
    ] {
        let (_, faults) = with_models(&format!("hosts:\n  {hosts}\ndevices: {{used: {{}}}}\n"));
        assert_eq!(faults, [], "{hosts}");
    }
    for devices in [
        "base: {tie-rule: round-robin, reception-queue-limit: 3}\n  used: {based-on: base, tie-rule: arrival-order}",
        "base: {reception-queue-limit: 3}\n  used: {based-on: base, tie-rule: lowest-port}",
        "used: {reception-queue-limit: 3, ats: {organisation: interleaved-regulators}}",
    ] {
        let (_, faults) = with_models(&format!("devices:\n  {devices}\nhosts: {{used: {{}}}}\n"));
        assert_eq!(faults, [], "{devices}");
    }
    let (_, faults) = with_models(
        "hosts:\n  base: {stacks: {udp: {}}}\n  used: {based-on: base, receive: 6 us}\ndevices: {used: {}}\n",
    );
    assert_eq!(faults.iter().map(|(code, _)| *code).collect::<Vec<_>>(), ["form::no-effect"]);
}

#[test]
fn a_tail_that_never_comes_and_delays_of_ports_with_stacks_are_ignored() {
    let (network, _) = with_models(
        "hosts:\n  used:\n    transmit: 50 us\n    receive: 60 us\n    \
         threads: {never: {tail: {chance: 0, delay: 1 s}}, rarely: {tail: {chance: 1e-9, delay: 1 s}}}\n    \
         interfaces: {card: {tail: {chance: 0, delay: 1 s}}}\n    stacks: {udp: {thread: never}}\n\
         devices: {used: {}}\n",
    );
    let host = &network.hosts[0];
    assert_eq!((host.transmit, host.receive), <_>::default());
    let tails: Vec<bool> = host.stacks.threads.iter().map(|thread| thread.tail.is_some()).collect();
    assert_eq!((tails, host.stacks.interfaces[0].tail), (vec![false, true], None));
}
