//! Bounds of a port with gates against runs of it: a port of its own in the test, in exact time, under many phases of streams.
//!
//! `TAUTWIRE_CASES` sets how many ports are drawn, `TAUTWIRE_SEED` draws one. Clause: IEEE Std 802.1Q-2022, 8.6.8.4. The model of the port
//! shares nothing with bound or simulator: it looks at the list entry by entry.

use std::collections::VecDeque;
use std::fmt::Write;

use tautwire_model::load_text;

const US: u64 = 1_000_000;
const RATE: u64 = 100_000_000;

/// A stream: class, octets of its frames on the wire without preamble and gap, period.
#[derive(Clone, Copy, Debug)]
struct Stream {
    class: usize,
    octets: u64,
    period: u64,
}

/// A port: its list (states, length), streams, and idleSlopes while the gate is open.
#[derive(Clone, Debug)]
struct Port {
    list: Vec<(u8, u64)>,
    streams: Vec<Stream>,
    slopes: [Option<u64>; 8],
    is_frozen_in_guard: bool,
}

/// Arrivals and streams of the frames that wait in each class.
type Queues = [VecDeque<(u64, usize)>; 8];

fn ps(octets: u64) -> u64 {
    octets * 8 * 1_000_000_000_000 / RATE
}

impl Port {
    fn cycle(&self) -> u64 {
        self.list.iter().map(|(_, length)| length).sum()
    }

    /// States at an instant, and when the entry ends.
    fn entry(&self, at: u64) -> (u8, u64) {
        let cycle = self.cycle();
        let (begin, mut inside) = (at - at % cycle, at % cycle);
        let mut end = begin;
        for (states, length) in &self.list {
            end += length;
            if inside < *length {
                return (*states, end);
            }
            inside -= length;
        }
        unreachable!("within the cycle")
    }

    /// Until when the gate of a class stays open, looked at no further than `until`.
    fn open_until(&self, class: usize, at: u64, until: u64) -> u64 {
        let mut now = at;
        while now < until {
            let (states, end) = self.entry(now);
            if states & (1 << class) == 0 {
                return now;
            }
            now = end;
        }
        now
    }

    /// The longest delay of each stream's frames, with these phases, over so long.
    fn run(&self, phases: &[u64], horizon: u64) -> Vec<u64> {
        let mut arrivals: Vec<(u64, usize)> = Vec::new();
        for (number, (stream, phase)) in self.streams.iter().zip(phases).enumerate() {
            arrivals.extend(
                (0..)
                    .map(|k| phase + k * stream.period)
                    .take_while(|at| *at < horizon)
                    .map(|at| (at, number)),
            );
        }
        arrivals.sort_unstable();
        let mut arrivals = arrivals.into_iter().peekable();
        let mut queues = Queues::default();
        let mut worst = vec![0; self.streams.len()];
        let (mut now, mut credits, mut sending) = (0_u64, [0_i128; 8], None::<(usize, u64)>);
        loop {
            while let Some((_, number)) = arrivals.next_if(|(at, _)| *at <= now) {
                queues[self.streams[number].class].push_back((now, number));
            }
            if sending.is_some_and(|(_, end)| end <= now) {
                sending = None;
            }
            // Credit without a waiting frame is lost while the gate is open.
            for class in 0..8 {
                let is_open = self.entry(now).0 & (1 << class) != 0;
                if is_open && queues[class].is_empty() && sending.is_none_or(|(one, _)| one != class) {
                    credits[class] = credits[class].min(0);
                }
            }
            if sending.is_none() {
                let fits = |class: usize| {
                    let Some((_, number)) = queues[class].front() else { return false };
                    let end = now + ps(self.streams[*number].octets + 8);
                    self.entry(now).0 & (1 << class) != 0 && self.open_until(class, now, end) >= end
                };
                let chosen = (0..8).rev().find(|class| credits[*class] >= 0 && fits(*class));
                if let Some(class) = chosen {
                    let (came, number) = queues[class].pop_front().expect("it waits");
                    let octets = self.streams[number].octets;
                    worst[number] = worst[number].max(now + ps(octets + 8) - came);
                    sending = Some((class, now + ps(octets + 20)));
                }
            }
            let Some(next) = self.next(now, arrivals.peek().map(|(at, _)| *at), sending, &credits, &queues)
            else {
                return worst;
            };
            self.earn(&mut credits, now, next, sending, &queues);
            now = next;
        }
    }

    /// When something happens next; none if nothing waits and nothing comes.
    fn next(
        &self,
        now: u64,
        arrival: Option<u64>,
        sending: Option<(usize, u64)>,
        credits: &[i128; 8],
        queues: &Queues,
    ) -> Option<u64> {
        if arrival.is_none() && sending.is_none() && queues.iter().all(|queue| queue.is_empty()) {
            return None;
        }
        let mut next = self.entry(now).1.min(arrival.unwrap_or(u64::MAX));
        next = next.min(sending.map_or(u64::MAX, |(_, end)| end));
        for class in 0..8 {
            let Some(slope) = self.slopes[class] else { continue };
            let is_open = self.entry(now).0 & (1 << class) != 0;
            if is_open
                && credits[class] < 0
                && !self.is_in_guard(class, now, queues)
                && sending.is_none_or(|(one, _)| one != class)
            {
                next = next.min(
                    now + u64::try_from((-credits[class] + i128::from(slope) - 1) / i128::from(slope))
                        .expect("a time")
                        .max(1),
                );
            }
            if let (true, Some((_, number))) = (self.is_frozen_in_guard, queues[class].front()) {
                // The begin of the guard band is an event.
                let need = ps(self.streams[*number].octets + 8);
                let close = self.open_until(class, now, now + self.cycle());
                if close > now + need {
                    next = next.min(close - need + 1);
                }
            }
        }
        Some(next)
    }

    /// Whether credit is constant while the head of the queue does not fit.
    fn is_in_guard(&self, class: usize, now: u64, queues: &Queues) -> bool {
        self.is_frozen_in_guard
            && queues[class].front().is_some_and(|(_, number)| {
                let need = now + ps(self.streams[*number].octets + 8);
                self.open_until(class, now, need) < need
            })
    }

    fn earn(
        &self,
        credits: &mut [i128; 8],
        now: u64,
        next: u64,
        sending: Option<(usize, u64)>,
        queues: &Queues,
    ) {
        for class in 0..8 {
            let Some(slope) = self.slopes[class] else { continue };
            let span = i128::from(next - now);
            let is_open = self.entry(now).0 & (1 << class) != 0;
            if sending.is_some_and(|(one, _)| one == class) {
                credits[class] -= span * i128::from(RATE - slope);
                continue;
            }
            let in_guard = self.is_in_guard(class, now, queues);
            if is_open && !in_guard && (credits[class] < 0 || !queues[class].is_empty()) {
                credits[class] += span * i128::from(slope);
                if queues[class].is_empty() {
                    credits[class] = credits[class].min(0);
                }
            }
        }
    }

    /// The greatest bound of a hop over the port, of each stream; none without a bound.
    fn bounds(&self) -> Vec<Option<u64>> {
        let text = self.text();
        let loaded = load_text("gates", &text);
        let network = loaded.network.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics));
        let bounds = tautwire_analysis::bounds(&network);
        let of = |number: usize| {
            let stream = bounds.streams.get(number)?;
            stream.hops[1].delay.as_ref().ok().map(|delay| delay.as_ps())
        };
        (0..self.streams.len()).map(of).collect()
    }

    fn text(&self) -> String {
        let (mut nodes, mut links, mut streams, mut list) =
            (String::new(), String::new(), String::new(), String::new());
        for (number, stream) in self.streams.iter().enumerate() {
            let Stream { class, octets, period } = *stream;
            let _ = writeln!(nodes, "  t{number}: {{type: end-station}}");
            let _ = writeln!(links, "  - {{between: [t{number}, b], rate: 1 Gbit/s}}");
            let payload = octets - 22;
            let _ = writeln!(
                streams,
                "  - {{name: s{number}, talker: t{number}, listeners: z, priority: {class}, payload: {payload} B, traffic: {{type: periodic, interval: {period} ps}}}}"
            );
        }
        for (states, length) in &self.list {
            let _ = writeln!(list, "        - {{gate-states: {states}, time-interval: {length} ps}}");
        }
        let slopes = self.slopes.iter().enumerate().filter_map(|(class, slope)| Some((class, (*slope)?)));
        let classes = slopes.fold(String::new(), |all, (class, slope)| {
            format!(
                "{all}      {class}: {{transmission-selection: credit-based, idle-slope: {slope} bit/s}}\n"
            )
        });
        let classes = if classes.is_empty() { classes } else { format!("    classes:\n{classes}") };
        let guard = if self.is_frozen_in_guard { "frozen" } else { "rises" };
        format!(
            "network-control: none
allow: [class::overload]
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity, queue-limit: {{frames: 1000}}}}
vlans: {{1: {{tagged: all}}}}
nodes:
  z: {{type: end-station}}
  b:
    type: bridge
{classes}    gate-parameter-table:
      gate-enabled: true
      idle-slope-is: while-open
      credit-in-guard-band: {guard}
      admin-control-list:
{list}{nodes}links:
  - {{between: [b, z]}}
{links}streams:
{streams}"
        )
    }
}

/// A burst of six frames in 6 ms that meets one window of 400 us in each millisecond: worst 1842.88 us, and by a curve 1849.92 us.
#[test]
fn a_burst_and_one_window() {
    let streams = vec![Stream { class: 5, octets: 1_000, period: 6_000 * US }; 6];
    let port = Port {
        list: vec![(0xff, 400 * US), (0xdf, 600 * US)],
        streams,
        slopes: [None; 8],
        is_frozen_in_guard: false,
    };
    let last = 400 * US - ps(1_008);
    let worst = port.run(&[last + 1; 6], 12_000 * US).into_iter().max().unwrap();
    assert_eq!(worst, 1_842_880_000 - 1);
    let bound = port.bounds()[0].expect("a bound");
    assert!((1_842_880_000..=1_849_920_000).contains(&bound), "{bound}");
}

/// Six frames that come when the last of them could just start no more, and a window that takes one of them in each millisecond: each waits a cycle more,
/// although of the window less than a quarter of a frame is before the guard.
#[test]
fn a_window_for_one_frame_takes_one() {
    let streams = vec![Stream { class: 5, octets: 1_000, period: 8_000 * US }; 6];
    let port = Port {
        list: vec![(0xff, 100 * US), (0xdf, 900 * US)],
        streams,
        slopes: [None; 8],
        is_frozen_in_guard: false,
    };
    let last = 100 * US - ps(1_008);
    let worst = port.run(&[last + 1; 6], 16_000 * US).into_iter().max().unwrap();
    assert_eq!(worst, 6_000 * US - last - 1 + ps(1_008));
    let bound = port.bounds()[0].expect("a bound");
    assert!((worst..worst + 10).contains(&bound), "{bound} of {worst}");
}

struct Draw(u64);

impl Draw {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn drawn(seed: u64, credit: bool) -> (Port, Draw) {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let entries = 1 + draw.below(5);
    let list: Vec<(u8, u64)> =
        (0..entries).map(|_| (draw.below(256) as u8, (20 + draw.below(300)) * US)).collect();
    let cycle: u64 = list.iter().map(|(_, length)| length).sum();
    let classes = [1, 3, 5, 6];
    let mut streams = Vec::new();
    let mut load = 0;
    for _ in 0..1 + draw.below(6) {
        let class = classes[draw.below(4) as usize];
        let octets = 68 + draw.below(400) + draw.below(2) * draw.below(1_000);
        let period = cycle * (1 + draw.below(6));
        load += (octets + 20) * 8_000_000 / (period / 1_000);
        if load > 70_000 / 1_000 * 1_000 {
            break;
        }
        streams.push(Stream { class, octets, period });
    }
    let mut slopes = [None; 8];
    if credit {
        for class in [5, 6] {
            if draw.below(3) > 0 {
                slopes[class] = Some((5 + draw.below(45)) * 1_000_000);
            }
        }
    }
    let is_frozen_in_guard = credit && draw.below(3) == 0;
    (Port { list, streams, slopes, is_frozen_in_guard }, draw)
}

/// The worst of many phases: at random, and where gates open and shut.
fn searched(port: &Port, draw: &mut Draw, runs: u64) -> Vec<u64> {
    let mut worst = vec![0; port.streams.len()];
    let cycle = port.cycle();
    let mut edges: Vec<u64> = vec![0];
    for (_, length) in &port.list {
        edges.push(edges[edges.len() - 1] + length);
    }
    let horizon = 2 * cycle * 60;
    for _ in 0..runs {
        let common = draw.below(2) == 0;
        let instant = |draw: &mut Draw| {
            let edge = edges[draw.below(edges.len() as u64) as usize];
            let frame = port.streams[draw.below(port.streams.len() as u64) as usize].octets;
            match draw.below(4) {
                0 => draw.below(6 * cycle / 1_000) * 1_000,
                1 => edge,
                2 => (edge + 60 * cycle - ps(frame + 8)) % (60 * cycle) + 1,
                _ => edge + cycle - draw.below(2) * 1_000 - 1,
            }
        };
        let at = instant(draw);
        let phases: Vec<u64> = port
            .streams
            .iter()
            .map(|stream| {
                let at = if common && draw.below(4) > 0 { at + draw.below(3) } else { instant(draw) };
                (at + draw.below(6) * cycle) % stream.period
            })
            .collect();
        for (worst, seen) in worst.iter_mut().zip(port.run(&phases, horizon)) {
            *worst = (*worst).max(seen);
        }
    }
    worst
}

fn cases() -> Vec<u64> {
    if let Some(seed) = std::env::var("TAUTWIRE_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return vec![seed];
    }
    let cases = std::env::var("TAUTWIRE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    (0..cases).collect()
}

/// How many streams have a bound and how many have none; the ratios of bound and worst, in parts of 1000.
fn held(credit: bool) -> (usize, usize, Vec<u64>) {
    let (mut bounded, mut unbounded, mut ratios) = (0, 0, Vec::new());
    for seed in cases() {
        let (port, mut draw) = drawn(seed, credit);
        let is_ever = |class: usize| port.list.iter().any(|(states, _)| states & (1 << class) != 0);
        let fits = |stream: &Stream| {
            let need = ps(stream.octets + 8);
            is_ever(stream.class)
                && (0..port.list.len()).any(|place| {
                    let from: u64 = port.list[..place].iter().map(|(_, length)| length).sum();
                    port.open_until(stream.class, from, from + need) >= from + need
                })
        };
        if port.streams.is_empty() || !port.streams.iter().all(fits) {
            continue;
        }
        let bounds = port.bounds();
        let worst = searched(&port, &mut draw, 100);
        for ((bound, worst), stream) in bounds.iter().zip(&worst).zip(&port.streams) {
            match bound {
                Some(bound) => {
                    assert!(
                        worst <= bound,
                        "TAUTWIRE_SEED={seed}: {stream:?} {worst} beyond {bound}: {port:?}"
                    );
                    bounded += 1;
                    ratios.push(bound * 1_000 / worst.max(&1));
                }
                None => unbounded += 1,
            }
        }
    }
    ratios.sort_unstable();
    (bounded, unbounded, ratios)
}

/// Of streams with a bound, in order of how close a run comes to it: that of so many tenths.
fn at(ratios: &[u64], tenths: usize) -> u64 {
    ratios[(ratios.len() * tenths / 10).min(ratios.len() - 1)]
}

#[test]
fn no_frame_waits_longer_under_strict_priority() {
    let (bounded, unbounded, ratios) = held(false);
    let is_close = ratios[0] <= 1_001 && at(&ratios, 3) < 1_060 && at(&ratios, 5) < 1_200;
    assert!(cases().len() == 1 || is_close && bounded > 8 * unbounded, "{bounded}, {unbounded}: {ratios:?}");
}

#[test]
fn no_frame_waits_longer_with_credit() {
    let (bounded, unbounded, ratios) = held(true);
    let is_close = ratios[0] <= 1_001 && at(&ratios, 3) < 1_100 && at(&ratios, 5) < 1_300;
    assert!(cases().len() == 1 || is_close && bounded > 4 * unbounded, "{bounded}, {unbounded}: {ratios:?}");
}

/// A port whose only class has one window of 50 us in 200 us, and frames of so many octets; `more` are keys of its gates.
fn one_window(octets: u64, more: &str) -> tautwire_model::Network {
    let text = format!(
        "network-control: none
allow: [gates::window]
defaults: {{rate: 100 Mbit/s}}
vlans: {{1: {{tagged: all}}}}
nodes:
  a: {{type: end-station}}
  z: {{type: end-station}}
  b:
    type: bridge
    gate-parameter-table:
      gate-enabled: true
      admin-control-list: [{{gate-states: [5], time-interval: 50 us}}, {{gate-states: [], time-interval: 150 us}}]
      {more}
links: [{{between: [a, b]}}, {{between: [b, z]}}]
streams:
  - {{name: s, talker: a, listeners: z, priority: 5, payload: {{min: 46 B, max: {} B}}, traffic: {{type: periodic, interval: 10 ms}}}}
",
        octets - 22
    );
    let loaded = load_text("one window", &text);
    loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

#[test]
fn frames_above_queue_max_sdu_are_lost_and_the_others_are_bounded() {
    let network = one_window(1_000, "queue-max-sdu-table: {5: 400 B}");
    let bounds = tautwire_analysis::bounds(&network);
    let losses = tautwire_analysis::losses(&network, &bounds);
    let limits = losses.at(tautwire_model::network::StreamIndex(0), 0);
    let names: Vec<_> = limits.iter().map(|limit| limit.kind.name).collect();
    assert_eq!(names, ["queue-max-sdu"], "{}", limits[0].text(&network));
    // The guard is that of the largest frame that comes to be queued: 420 octets.
    let delay = bounds.streams[0].hops[1].delay.as_ref().expect("a bound").as_ps();
    // A burst of 1020 octets before the smallest frame, in windows of 50 us less that.
    let windows = ps(1_020 - 88).div_ceil(50 * US - ps(428));
    assert!((windows * 200 * US - 50 * US..=windows * 200 * US + 50 * US).contains(&delay), "{delay}");
}

#[test]
fn a_class_that_is_closed_at_first_waits_for_the_first_cycle() {
    let later = "admin-gate-states: []\n      admin-base-time: 30 ms";
    let bound = |more: &str| {
        let bounds = tautwire_analysis::bounds(&one_window(200, more));
        bounds.streams[0].hops[1].delay.as_ref().expect("a bound").as_ps()
    };
    let more = bound(later) - bound("");
    assert!((29_000 * US..=31_000 * US).contains(&more), "{more}");
    assert_eq!(bound("admin-base-time: 30 ms"), bound(""), "it is open at first");
}

#[test]
fn a_class_whose_frame_fits_into_no_interval_has_no_bound() {
    let bounds = tautwire_analysis::bounds(&one_window(1_000, ""));
    let reason = bounds.streams[0].hops[1].delay.as_ref().expect_err("it never starts");
    assert_eq!(reason.name(), "no-window");
}
