//! Small random networks with responses: stations send requests, and others answer, over rate-constrained links, best
//! effort and datagrams. Hosts have one thread for all that they receive and send, or two, or two delays; some are
//! flooded.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// A random network of questions and answers: the same text for the same seed. Some overload a port, which is an error of the
/// description.
#[must_use]
pub fn random_responses(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let tolerance = dice.one_of(&[0, 100]);
    let rate = dice.one_of(&["100 Mbit/s", "100 Mbit/s", "1 Gbit/s"]);
    let device = dice.one_of(&["ideal", "store-and-forward"]);
    let mut text =
        format!("name: answers-{seed}\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts:\n");
    write_hosts(&mut text, &mut dice);
    let _ = writeln!(
        text,
        "defaults: {{rate: {rate}, device: {device}, clock: {{tolerance: {tolerance} ppm}}}}\nnodes:"
    );
    let (switches, stations) = (dice.between(1, 2), dice.between(2, 5));
    for switch in 0..switches {
        let _ = writeln!(text, "  s{switch}: {{type: bridge}}");
    }
    let hosts: Vec<&str> = (0..stations).map(|_| *dice.one_of(&["one", "one", "two", "plain"])).collect();
    for (station, host) in hosts.iter().enumerate() {
        let _ = writeln!(text, "  e{station}: {{type: end-station, host: {host}}}");
    }
    text.push_str("links:\n");
    if switches == 2 {
        text.push_str("  - {name: middle, between: [s0, s1]}\n");
    }
    for station in 0..stations {
        let _ = writeln!(text, "  - {{between: [e{station}, s{}]}}", dice.between(0, switches - 1));
    }
    text.push_str("streams:\n");
    let mut names = Vec::new();
    for number in 0..dice.between(1, 4) {
        write_pair(&mut text, &mut dice, number, &hosts, &mut names);
    }
    if dice.chance(50) {
        write_flood(&mut text, &mut dice, &hosts);
    }
    write_events(&mut text, &mut dice, switches, &names);
    let _ = writeln!(text, "run: {{duration: 120 ms, seed: {}}}", seed + 1);
    grain::drawn(&text, seed, &grain::COARSE)
}

fn write_hosts(text: &mut String, dice: &mut Dice) {
    for (name, threads) in [("one", 1), ("two", 2)] {
        let service = dice.between(1, 30);
        let tail = if dice.chance(50) {
            let most = dice.between(20, 900);
            format!(", tail: {{chance: 0.02, delay: {{min: 5 us, max: {most} us}}}}")
        } else {
            String::new()
        };
        let moderation = dice.one_of(&[
            "{type: none}",
            "{type: throttled, interval: 50 us}",
            "{type: delayed, interval: 30 us}",
        ]);
        let order = dice.one_of(&["fifo", "class-queues"]);
        let of_other = if threads == 1 { "first" } else { "other" };
        let _ = write!(
            text,
            "  {name}:
    clock-read: {{min: 100 ns, max: {} ns}}
    threads:
      first: {{service: {service} us, wake-up: {{min: 1 us, max: {} us}}{tail}}}
      other: {{service: {{min: 1 us, max: {} us}}}}
    interfaces:
      card: {{receive: {{per-octet: {} ns}}, reception-order: {order}, moderation: {moderation}}}
    stacks:
      links: {{interface: card, thread: first}}
      udp: {{interface: card, thread: {of_other}, receive: [{{name: protocols, latency: {{min: 1 us, max: {} us}}, occupancy: {} us}}]}}
",
            dice.between(100, 900),
            dice.between(1, 30),
            dice.between(1, 20),
            dice.between(0, 12),
            dice.between(1, 9),
            dice.between(0, 3),
        );
    }
    let most = *dice.one_of(&[200, 2_500]);
    let (sent, taken) = (dice.between(1, 60), dice.between(1, most));
    let _ = writeln!(
        text,
        "  plain: {{transmit: {{min: 1 us, max: {sent} us}}, receive: {{min: 1 us, max: {taken} us}}}}"
    );
}

/// A question, and mostly an answer.
fn write_pair(text: &mut String, dice: &mut Dice, number: u64, hosts: &[&str], names: &mut Vec<String>) {
    let stations = hosts.len() as u64;
    let from = dice.between(0, stations - 1);
    let to = (from + dice.between(1, stations - 1)) % stations;
    let interval = dice.between(300, 4_000);
    let traffic = match dice.between(0, 9) {
        0 => "{type: greedy}, arrival-curve: {rate: 1 Mbit/s, burst: 3000 B}".to_owned(),
        1 => format!("{{type: on-off, on: 1 ms, off: {} us, interval: 300 us}}", dice.between(2_000, 5_000)),
        _ => format!(
            "{{type: periodic, interval: {interval} us, jitter: {} us, burst: {}}}",
            if dice.chance(40) { dice.between(0, interval) } else { 0 },
            dice.between(1, 2)
        ),
    };
    let periodic = traffic.contains("periodic");
    let asked = Kind::draw(dice, periodic, interval);
    let _ = writeln!(
        text,
        "  - {{name: ask-{number}, talker: e{from}, listeners: e{to}, {}{}, traffic: {traffic}{}}}",
        asked.frames(dice, 60, 500),
        stack(hosts, (from, to), asked.stack(dice)),
        asked.link(dice, 2 * number + 1)
    );
    names.push(format!("ask-{number}"));
    if dice.chance(85) {
        let response = Kind::draw(dice, true, interval);
        let turn = dice.between(0, 100);
        let back = if dice.chance(80) { from } else { (to + dice.between(1, stations - 1)) % stations };
        let _ = writeln!(
            text,
            "  - {{name: tell-{number}, talker: e{to}, listeners: e{back}, {}{}, traffic: {{type: response, to: ask-{number}, \
             turn-around: {turn} us}}{}}}",
            response.frames(dice, 60, 1_200),
            stack(hosts, (to, back), response.stack(dice)),
            response.link(dice, 2 * number + 2)
        );
        names.push(format!("tell-{number}"));
    }
}

fn write_flood(text: &mut String, dice: &mut Dice, hosts: &[&str]) {
    let stations = hosts.len() as u64;
    let from = dice.between(0, stations - 1);
    let to = (from + dice.between(1, stations - 1)) % stations;
    let (burst, least) = (dice.between(1, 10), dice.between(60, 200));
    let _ = writeln!(
        text,
        "  - {{name: flood, talker: e{from}, listeners: e{to}, tagged: false, priority: {}, payload: {} B{}, traffic: \
         {{type: periodic, interval: {} us, burst: {burst}}}}}",
        dice.between(0, 6),
        dice.between(46, 800),
        stack(hosts, (from, to), if dice.chance(50) { "links" } else { "udp" }),
        burst * least,
    );
}

fn write_events(text: &mut String, dice: &mut Dice, switches: u64, names: &[String]) {
    if switches == 2 && dice.chance(30) {
        let at = dice.between(10, 60);
        let _ = writeln!(
            text,
            "events:\n  - {{at: {at} ms, cut-link: middle}}\n  - {{at: {} ms, mend-link: middle}}",
            at + dice.between(1, 30)
        );
    } else if dice.chance(20) {
        let name = &names[0];
        let at = dice.between(10, 60);
        let _ = writeln!(
            text,
            "events:\n  - {{at: {at} ms, stop-stream: {name}}}\n  - {{at: {} ms, start-stream: {name}}}",
            at + dice.between(1, 30)
        );
    } else if dice.chance(10) {
        let at = dice.between(10, 60);
        let _ = writeln!(
            text,
            "events:\n  - {{at: {at} ms, stop-node: e0}}\n  - {{at: {} ms, start-node: e0}}",
            at + dice.between(1, 30)
        );
    }
}

/// The key of a stream that names its stack, if one of its stations has any.
fn stack(hosts: &[&str], (from, to): (u64, u64), name: &str) -> String {
    let is_plain = |station: u64| hosts.get(usize::try_from(station).unwrap_or(0)) == Some(&"plain");
    if is_plain(from) && is_plain(to) { String::new() } else { format!(", stack: {name}") }
}

/// How a stream's frames are sent.
#[derive(Clone, Copy)]
enum Kind {
    /// A virtual link, with its BAG in milliseconds.
    Constrained(u64, bool),
    BestEffort,
    /// In frames of its own size, or cut.
    Datagram(bool),
}

impl Kind {
    fn draw(dice: &mut Dice, periodic: bool, interval: u64) -> Self {
        match dice.between(0, 3) {
            0 | 1 => {
                let overwriting = dice.chance(50);
                // A queue wants a BAG that its messages keep.
                let bag =
                    [1, 2, 4].into_iter().filter(|bag| overwriting || 2 * bag * 1_000 <= interval).max();
                Self::Constrained(bag.unwrap_or(1), overwriting || interval < 2_000)
            }
            2 => Self::BestEffort,
            _ => Self::Datagram(periodic && dice.chance(50)),
        }
    }

    fn frames(self, dice: &mut Dice, least: u64, more: u64) -> String {
        let payload = least + dice.between(0, more);
        match self {
            Self::Constrained(..) => format!("priority: {}, payload: {payload} B", dice.between(1, 5)),
            Self::BestEffort => format!(
                "tagged: false, priority: {}, payload: {{min: {least} B, max: {payload} B}}",
                dice.between(0, 6)
            ),
            Self::Datagram(false) => format!("tagged: false, payload: {payload} B"),
            Self::Datagram(true) => format!("tagged: false, datagram: {} B", dice.between(1_600, 4_000)),
        }
    }

    fn stack(self, dice: &mut Dice) -> &'static str {
        match self {
            Self::Constrained(..) => "links",
            Self::BestEffort if dice.chance(50) => "links",
            Self::BestEffort => "udp",
            Self::Datagram(_) => "udp",
        }
    }

    fn link(self, dice: &mut Dice, id: u64) -> String {
        match self {
            Self::Constrained(bag, overwriting) => {
                let buffer = if overwriting { ", buffer: overwriting" } else { "" };
                format!(
                    ", virtual-link: {{id: {id}, bag: {bag} ms, policing: {}{buffer}}}",
                    dice.one_of(&["frames", "octets"])
                )
            }
            Self::BestEffort | Self::Datagram(_) => String::new(),
        }
    }
}
