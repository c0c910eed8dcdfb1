//! Small random networks of virtual links (ARINC 664 part 7): two networks of switches, redundant and
//! single links, sub-virtual-links, applications faster than their BAG, an end system that babbles, and
//! a cable of one network that fails. In some, hosts have protocol stacks, and links answer other ones; in some the second
//! network is slower, so that copies come apart, and answers queue. Some links have few places, and some of those too many messages
//! for them; some talkers keep the BAG without a regulator.
//!
//! All applications stop half way, so that every frame has come or is lost at the end.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// A random network of virtual links: the same text for the same seed.
#[must_use]
pub fn random_virtual_links(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    // Of its own, so that the rest of a seed is the same with and without.
    let mut hosts = Hosts::draw(&mut Dice::new(seed ^ 0x5eed_0f05));
    let mut uneven = Uneven::draw(seed);
    let mut few = Dice::new(seed ^ 0xfe3_91ace);
    let switches = dice.between(1, 3);
    let stations = dice.between(3, 6);
    let tolerance = *dice.one_of(&[0, 100]);
    let mut text = format!(
        "name: avionics-{seed}\nallow: [port::overload]\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\n{}defaults:\n  rate: 100 Mbit/s\n  device: {}\n  \
         clock: {{tolerance: {tolerance} ppm}}\n{}nodes:\n",
        hosts.hosts(),
        dice.one_of(&["ideal", "store-and-forward"]),
        hosts.default()
    );
    let mut add = |line: String| text.push_str(&line);
    for network in ["a", "b"] {
        (0..switches).for_each(|switch| add(format!("  {network}{switch}: {{type: bridge}}\n")));
    }
    // The last station babbles, if any does.
    (0..=stations).for_each(|station| add(format!("  e{station}: {{type: end-station}}\n")));
    add("links:\n".to_owned());
    let at: Vec<u64> = (0..=stations).map(|_| dice.between(0, switches - 1)).collect();
    let mut cables = 0;
    for network in ["a", "b"] {
        let rate = if network == "b" { uneven.rate() } else { "" };
        for switch in 1..switches {
            add(format!(
                "  - {{name: {network}-{cables}, between: [{network}{}, {network}{switch}]{rate}}}\n",
                switch - 1
            ));
            cables += 1;
        }
        for (station, switch) in at.iter().enumerate() {
            add(format!(
                "  - {{name: {network}-{cables}, between: [e{station}, {network}{switch}]{rate}}}\n"
            ));
            cables += 1;
        }
    }
    add("streams:\n".to_owned());
    let mut names = Vec::new();
    for id in 1..=dice.between(3, 9) {
        let mut link = Link::draw(&mut dice, stations);
        link.draw_places(&mut few);
        for sub_link in 1..=link.sub_links {
            names.push(format!("v{id}-{sub_link}"));
            add(link.stream(&mut dice, id, sub_link, hosts.stack()));
        }
        if let Some(answer) = hosts.answer(&link, id) {
            names.push(format!("answer-{id}"));
            add(answer);
        }
        if let Some(answer) = uneven.answer(&link, id, hosts.stack()) {
            names.push(format!("queued-{id}"));
            add(answer);
        }
    }
    if dice.chance(60) {
        let listener = dice.between(0, stations - 1);
        names.push("babble".to_owned());
        add(format!(
            "  - {{name: babble, talker: e{stations}, listeners: e{listener}, priority: {}, payload: {} B, \
             traffic: {{type: periodic, interval: {} us}}, virtual-link: {{id: 999, bag: {} ms, regulated: false, \
             redundancy: {}, policing: {}}}}}\n",
            dice.one_of(&[1, 2]),
            dice.between(46, 1_400),
            dice.between(50, 900),
            dice.one_of(&[2, 4, 8]),
            dice.one_of(&["true", "false"]),
            dice.one_of(&["frames", "octets"]),
        ));
    }
    add("events:\n".to_owned());
    if dice.chance(60) {
        let cable = dice.between(0, cables - 1);
        let network = if cable < cables / 2 { "a" } else { "b" };
        let cut = dice.between(1_000, 60_000);
        add(format!("  - {{at: {cut} us, cut-link: {network}-{cable}}}\n"));
        if dice.chance(50) {
            let mended = cut + dice.between(100, 30_000);
            add(format!("  - {{at: {mended} us, mend-link: {network}-{cable}}}\n"));
        }
    }
    for name in names {
        add(format!("  - {{at: 100 ms, stop-stream: {name}}}\n"));
    }
    let _ = writeln!(text, "run: {{duration: {}, seed: {}}}", uneven.duration(), seed + 1);
    grain::drawn(&text, seed, &grain::COARSE)
}

/// Protocol stacks of all end systems, and whether some links answer others.
struct Hosts {
    dice: Dice,
    /// Whether there are stacks: one thread of a host both sends and receives.
    stacks: bool,
}

impl Hosts {
    fn draw(dice: &mut Dice) -> Self {
        let stacks = dice.chance(20);
        Self { dice: Dice::new(dice.between(0, u64::from(u32::MAX))), stacks }
    }

    fn hosts(&mut self) -> String {
        if !self.stacks {
            return String::new();
        }
        let (service, tail) = (self.dice.between(1, 20), self.dice.between(10, 900));
        format!(
            "hosts:\n  pc:\n    threads:\n      links: {{service: {service} us, wake-up: {{min: 1 us, max: 9 us}}, \
             tail: {{chance: 0.02, delay: {{min: 5 us, max: {tail} us}}}}}}\n    interfaces:\n      \
             card: {{receive: {{per-octet: 8 ns}}}}\n    stacks:\n      links: {{interface: card, thread: links}}\n"
        )
    }

    fn default(&self) -> &'static str {
        if self.stacks { "  host: pc\n" } else { "" }
    }

    fn stack(&self) -> &'static str {
        if self.stacks { ", stack: links" } else { "" }
    }

    /// An answer of the first listener, as fast as it may be.
    fn answer(&mut self, link: &Link, id: u64) -> Option<String> {
        if !self.dice.chance(10) {
            return None;
        }
        let (bag, number) = (self.dice.one_of(&[4, 8]), 500 + id);
        Some(format!(
            "  - {{name: answer-{id}, talker: e{}, listeners: e{}, priority: {}, payload: {} B, traffic: {{type: response, \
             to: v{id}-1}}{}, virtual-link: {{id: {number}, bag: {bag} ms, buffer: overwriting}}}}\n",
            link.listeners[0],
            link.talker,
            link.priority,
            self.dice.between(20, 400),
            self.stack(),
        ))
    }
}

/// A second network that is slower than the first, and answers that queue.
struct Uneven {
    dice: Dice,
    is_slow: bool,
}

impl Uneven {
    fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0x0c0f_1e55);
        let is_slow = dice.chance(15);
        Self { dice, is_slow }
    }

    /// The key of the links' rate in the second network.
    fn rate(&self) -> &'static str {
        if self.is_slow { ", rate: 10 Mbit/s" } else { "" }
    }

    /// How long a run is: what babbles for 100 ms takes a slow network longer.
    fn duration(&self) -> &'static str {
        if self.is_slow { "3 s" } else { "500 ms" }
    }

    /// An answer of the first listener that waits for the answers before it.
    fn answer(&mut self, link: &Link, id: u64, stack: &str) -> Option<String> {
        if !self.is_slow || !self.dice.chance(40) {
            return None;
        }
        let (bag, number) = (self.dice.one_of(&[1, 2, 4, 8]), 600 + id);
        Some(format!(
            "  - {{name: queued-{id}, talker: e{}, listeners: e{}, priority: {}, payload: {} B, traffic: {{type: response, \
             to: v{id}-1}}{stack}, virtual-link: {{id: {number}, bag: {bag} ms}}}}\n",
            link.listeners[0],
            link.talker,
            link.priority,
            self.dice.between(20, 200),
        ))
    }
}

/// A virtual link that keeps its BAG.
struct Link {
    talker: u64,
    listeners: Vec<u64>,
    priority: u64,
    bag: u64,
    sub_links: u64,
    /// All that its sub-virtual-links have in common.
    settings: String,
    overwriting: bool,
    /// Whether its applications make more messages than one a BAG.
    hasty: bool,
}

impl Link {
    fn draw(dice: &mut Dice, stations: u64) -> Self {
        let talker = dice.between(0, stations - 1);
        let mut listeners = Vec::new();
        for _ in 0..dice.between(1, 3) {
            let listener = (talker + dice.between(1, stations - 1)) % stations;
            if !listeners.contains(&listener) {
                listeners.push(listener);
            }
        }
        let bag = *dice.one_of(&[4, 8, 16]);
        let overwriting = dice.chance(30);
        let mut settings = format!("bag: {bag} ms, policing: {}", dice.one_of(&["frames", "octets"]));
        if dice.chance(30) {
            // Little enough that other links may make up more.
            let _ = write!(settings, ", policing-jitter: {} us", dice.between(1, 60) * 5);
        }
        if overwriting {
            settings += ", buffer: overwriting";
        }
        if dice.chance(70) {
            let _ = write!(settings, ", redundancy: true, skew-max: {} us", dice.between(0, 3) * 500 + 60);
        }
        let sub_links = if dice.chance(25) { dice.between(2, 4) } else { 1 };
        Self {
            talker,
            listeners,
            priority: dice.between(1, 2),
            bag,
            sub_links,
            settings,
            overwriting,
            hasty: false,
        }
    }

    /// Its place in the end system: few messages, from a hasty application, or no regulator.
    fn draw_places(&mut self, dice: &mut Dice) {
        if self.overwriting || !dice.chance(40) {
            return;
        }
        let places = dice.between(1, 5);
        if places <= 3 {
            let _ = write!(self.settings, ", buffer-frames: {places}");
            self.hasty = dice.chance(25);
        } else if self.sub_links == 1 {
            self.settings += ", regulated: false";
        }
    }

    fn stream(&self, dice: &mut Dice, id: u64, sub_link: u64, stack: &str) -> String {
        let listeners: Vec<String> = self.listeners.iter().map(|listener| format!("e{listener}")).collect();
        let burst = dice.between(1, 2);
        let least = self.bag * 1_000 * self.sub_links * burst;
        let interval = if self.overwriting {
            dice.between(500, 2 * least)
        } else if self.sub_links == 1 && dice.chance(40) {
            least
        } else {
            dice.between(least + 1_000, 3 * least)
        };
        let interval = if self.hasty { interval / 4 } else { interval };
        let jitter = if dice.chance(40) { dice.between(0, interval / 2) } else { 0 };
        let (small, more) = (dice.between(20, 400), dice.between(0, 300));
        format!(
            "  - {{name: v{id}-{sub_link}, talker: e{}, listeners: [{}], priority: {}, payload: {{min: {small} B, \
             max: {} B}}, traffic: {{type: periodic, interval: {interval} us, offset: {} us, jitter: {jitter} us, \
             burst: {burst}}}{stack}, virtual-link: {{id: {id}, sub-link: {sub_link}, {}}}}}\n",
            self.talker,
            listeners.join(", "),
            self.priority,
            small + more,
            dice.between(0, 3_000),
            self.settings,
        )
    }
}
