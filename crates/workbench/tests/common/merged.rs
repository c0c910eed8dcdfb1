//! What is wrong with the mPackets of a run, by the rules of IEEE Std 802.3-2022, clause 99, that share no code with the machine.
//!
//! Of nodes whose clock is true: one mPacket at a time on a line, each as long as its octets with head, check and gap; fragments that are not too short;
//! no preemptable frame between parts of another; the parts of a frame are the frame; counts and numbers as they must be; nothing by the preemptable service
//! before the other end has responded, where a port verifies when the run begins.

use std::collections::BTreeMap;

use tautwire_core::preemption::MPacket;
use tautwire_sim::{Recorder, SentPart, SentVerification, Transmission};
use tautwire_workbench::network::PortIndex;
use tautwire_workbench::{Network, Options, simulate_with};

/// mPackets of each port, and frames by their last part.
#[derive(Default)]
struct Seen {
    parts: BTreeMap<u32, Vec<SentPart>>,
    octets: BTreeMap<(u32, u32, u32), u32>,
    verifications: BTreeMap<u32, Vec<SentVerification>>,
}

impl Recorder for Seen {
    fn part_sent(&mut self, part: &SentPart) {
        self.parts.entry(part.port).or_default().push(*part);
    }

    fn verification_sent(&mut self, sent: &SentVerification) {
        self.verifications.entry(sent.port).or_default().push(*sent);
    }

    fn transmitted(&mut self, sent: &Transmission) {
        self.octets.insert((sent.stream, sent.number, sent.hop), sent.octets);
    }
}

/// What breaks the rules, each a sentence; how many fragments were looked at.
pub(crate) fn broken_parts(network: &Network) -> (Vec<String>, usize) {
    let mut seen = Seen::default();
    let _ = simulate_with(network, &mut Options::default(), &mut seen);
    let (mut found, mut fragments) = (Vec::new(), 0);
    for (port, parts) in &mut seen.parts {
        parts.sort_by_key(|part| part.start);
        let settings = &network.ports[*port as usize];
        let clock = &network.nodes[settings.node.index()].clock;
        let is_true = clock.tolerance_ppb == 0 && clock.granularity.as_ps() <= 1;
        let bps = network.links[settings.links.expect("it sends").egress.index()].rate.as_bps();
        let line = Line { network, port: PortIndex(*port), bps: is_true.then_some(bps) };
        let sent = seen.verifications.get(port).map_or(&[][..], Vec::as_slice);
        found.extend(line.overlaps(parts, sent));
        let links = settings.links.expect("it sends");
        let other = network.links[links.egress.index()].to.0;
        let responses = seen.verifications.get(&other).map_or(&[][..], Vec::as_slice);
        found.extend(line.unverified(parts, responses));
        fragments += parts.iter().filter(|part| !part.is_last).count();
        found.extend(line.broken(parts, &seen.octets));
    }
    (found, fragments)
}

struct Line<'a> {
    network: &'a Network,
    port: PortIndex,
    /// Rate, of a node whose clock is true.
    bps: Option<u64>,
}

/// A preemptable frame that has begun: stream, number and hop, its number on the line, octets so far, parts behind the first.
type Begun = ((u32, u32, u32), u8, u32, u32);

impl Line<'_> {
    /// mPackets of verification that are not alone on the line, or not as long as they are.
    fn overlaps(&self, parts: &[SentPart], sent: &[SentVerification]) -> Vec<String> {
        let meets = |one: &SentVerification| {
            parts.iter().any(|part| part.start < one.end && one.start < part.end)
                || sent.iter().any(|other| other != one && other.start < one.end && one.start < other.end)
        };
        let length = |bps: u64| (84 * 8_000_000_000_000_u128).div_ceil(u128::from(bps));
        let is_long = |one: &SentVerification| {
            self.bps.is_some_and(|bps| u128::from(one.end.since(one.start).as_ps()) != length(bps))
        };
        sent.iter()
            .filter(|one| meets(one) || is_long(one))
            .map(|one| format!("{one:?} is not alone on the line"))
            .collect()
    }

    /// Parts of preemptable frames before the other end has responded.
    fn unverified(&self, parts: &[SentPart], responses: &[SentVerification]) -> Option<String> {
        let at_start = self.network.verification(self.port)?.at_start;
        if !at_start || !self.network.events.is_empty() {
            return None;
        }
        let first = responses.iter().find(|one| one.mpacket == MPacket::Respond).map(|one| one.start);
        let early = |part: &&SentPart| {
            part.mpacket != MPacket::Express && first.is_none_or(|first| part.start < first)
        };
        parts.iter().find(early).map(|part| format!("{part:?} begins before the other end has responded"))
    }

    fn broken(&self, parts: &[SentPart], frames: &BTreeMap<(u32, u32, u32), u32>) -> Vec<String> {
        let mut found = Vec::new();
        let stated = self.network.ports[self.port.index()].preemption;
        let least = 64 * (1 + stated.map_or(0, |stated| u32::from(stated.add_frag_size.get()))) - 4;
        let is_lost = !self.network.events.is_empty();
        let mut open: Option<Begun> = None;
        let (mut free, mut next) = (0, 0);
        for part in parts {
            let frame = (part.stream, part.number, part.hop);
            let mut fault = |text: &str| found.push(format!("{part:?} {text}"));
            if part.start.as_ps() < free {
                fault("begins on a line that is taken");
            }
            free = part.end.as_ps();
            let octets = u64::from(part.octets) + if part.is_last { 20 } else { 24 };
            if let Some(bps) = self.bps {
                let ps = (u128::from(octets) * 8_000_000_000_000).div_ceil(u128::from(bps));
                if u128::from(part.end.since(part.start).as_ps()) != ps {
                    fault("is not as long as its octets");
                }
            }
            match part.mpacket {
                MPacket::Express if part.is_last && part.offset == 0 => {}
                // A link that fails loses the frame that has begun, and parts of it.
                MPacket::Start(number)
                    if part.offset == 0 && (is_lost || open.is_none() && number == next) =>
                {
                    open = Some((frame, number, 0, 0));
                    next = (number + 1) % 4;
                }
                MPacket::Continuation(number, count)
                    if open.is_some_and(|(of, own, sent, parts)| {
                        (of, own, sent, (parts - 1) % 4) == (frame, number, part.offset, u32::from(count))
                    }) => {}
                _ => fault("does not follow what has begun"),
            }
            if part.mpacket == MPacket::Express {
                continue;
            }
            if !part.is_last && part.octets < least {
                fault("is too short");
            }
            let is_fragment = part.is_last && matches!(part.mpacket, MPacket::Continuation(..));
            if is_fragment && part.octets < 64 {
                fault("leaves too little");
            }
            if part.is_last && frames.get(&frame) != Some(&(part.offset + part.octets)) {
                fault("is not what is left of its frame");
            }
            open = match open {
                Some((of, number, _, parts)) if !part.is_last => {
                    Some((of, number, part.offset + part.octets, parts + 1))
                }
                _ => None,
            };
        }
        found
    }
}
