//! Walks by seed through larger networks, with more faults.

use crate::exploration::Exploration;
use crate::network::{BACK, DECIDED, FAULTS, LATE, Network, Next, Verdict, at};

/// A number of a seeded stream (SplitMix64).
pub(crate) fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// One walk: lines of up to five switches and seven stations; one message in seven fails while faults happen, and in every
/// third walk the ACMaster dies; in half of these it comes back, and the other one may die.
pub(crate) fn walk(seed: u64) {
    let mut random = seed;
    let switches = 1 + draw(&mut random) % 5;
    let stations: Vec<u16> = (0..2 + draw(&mut random) % 6)
        .map(|_| u16::try_from(draw(&mut random) % switches).expect("a few"))
        .collect();
    let mut deaths = if seed.is_multiple_of(6) { 2 } else { u8::from(seed.is_multiple_of(3)) };
    let (dies, comes_back) = (deaths > 0, deaths > 1);
    // One that took over does not know earlier refusals.
    let last = u16::try_from(stations.len() - 1).expect("a few");
    let verdict = match seed % 4 {
        _ if dies => Verdict::Admits,
        0 => Verdict::Refuses,
        1 if last > 1 => Verdict::RefusesOne(last),
        _ => Verdict::Admits,
    };
    // In half of the others some consumers leave, and some of these come back.
    let mut agenda = Vec::new();
    if verdict == Verdict::Admits && seed.is_multiple_of(2) {
        for node in 1..stations.len() {
            if draw(&mut random).is_multiple_of(2) {
                let gone = 180 + draw(&mut random) % 20;
                agenda.push((gone, node, false));
                if draw(&mut random).is_multiple_of(2) {
                    agenda.push((gone + 30 + draw(&mut random) % 40, node, true));
                }
            }
        }
        agenda.sort_unstable();
    }
    // In some there is one ACMaster, which comes back whenever it dies.
    let alone = seed % 5 == 1;
    let comes_back = comes_back || alone;
    let switches = u16::try_from(switches).expect("a few");
    let mut network = Network::new(switches, &stations, verdict, &agenda, alone, None);
    let mut checks = Exploration::new(&stations);
    checks.faults.push(format!("seed {seed}"));
    checks.strict = false;
    loop {
        let next = network.next();
        checks.check(&network);
        match next {
            Next::End => return checks.gone(&network),
            Next::Timer => {}
            Next::Arrival(place) => {
                let mut flying = network.flying.remove(place);
                let fails = |(from, to): &(u64, u64)| (at(*from)..at(*to)).contains(&network.now);
                let fails = FAULTS.iter().any(fails);
                // A standby that was given up does not know all: only one that answers survives a second failure.
                let active = network.may_die().filter(|active| network.masters[*active].is_confirmed());
                if let Some(active) = active.filter(|_| deaths > 0 && fails)
                    && draw(&mut random).is_multiple_of(40)
                {
                    let back = BACK[usize::try_from(draw(&mut random) % 2).expect("one of two")];
                    network.kill(active, comes_back.then_some(back));
                    deaths -= 1;
                }
                match draw(&mut random) % 21 {
                    0 if fails => continue,
                    1 if fails => network.deliver(&flying),
                    2 if fails => {
                        flying.at += LATE[usize::try_from(draw(&mut random) % 2).expect("one of two")];
                        network.flying.push(flying);
                        continue;
                    }
                    _ => {}
                }
                network.deliver(&flying);
            }
        }
        if !network.given_back && network.now < at(DECIDED) && network.now >= at(DECIDED - 30) {
            checks.decided(&network);
        }
    }
}
