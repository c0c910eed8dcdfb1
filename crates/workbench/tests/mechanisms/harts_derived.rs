//! The resources that switches derive from a request are those of the description: servers, policing, memory pools and
//! places in schedules.
//!
//! The model reads the description by rules of its own (`tautwire-model`, `harts/resolve`); a switch's master knows
//! its cables and the request (`tautwire-core`, `harts/resources.rs`). Bounds are those of the description.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::described;
use tautwire_core::harts::{Resources, Scheduled, SynchronousStream};
use tautwire_generate::{random_harts, random_harts_admission, seeds};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, StreamIndex};

/// What was compared.
#[derive(Debug, Default)]
struct Seen {
    servers: usize,
    /// Servers of which the request states neither capacity nor period.
    by_rule: usize,
    several: usize,
    policed: usize,
    polled: usize,
    relayed: usize,
    pools: usize,
}

/// By switch of a stream's way: the neighbour before it, and those behind it.
fn way(network: &Network, stream: StreamIndex) -> BTreeMap<NodeIndex, (u16, BTreeSet<u16>)> {
    let short = |node: NodeIndex| u16::try_from(node.index()).expect("a few nodes");
    let hops = &network.streams[stream.index()].hops;
    let mut way = BTreeMap::new();
    for hop in hops {
        let node = network.ports[hop.port.index()].node;
        let (NodeKind::Bridge { .. }, Some(before)) = (&network.nodes[node.index()].kind, hop.previous)
        else {
            continue;
        };
        let from = network.ports[hops[before as usize].port.index()].node;
        let links = network.ports[hop.port.index()].links.expect("a cable");
        let to = network.ports[network.links[links.egress.index()].to.index()].node;
        let (_, all) = way.entry(node).or_insert((short(from), BTreeSet::new()));
        all.insert(short(to));
    }
    way
}

fn compare(network: &Network, context: &str, seen: &mut Seen) {
    let harts = network.harts.as_ref().expect("HaRTES");
    for number in 0..network.streams.len() {
        let number = StreamIndex::at(number);
        let Some(request) = network.harts_request(number) else { continue };
        let reservation = harts.reservations.iter().find(|known| known.stream == number);
        for (switch, (from, to)) in way(network, number) {
            let config = network.switch_config(switch, 0xfff0).expect("HaRTES");
            let derived = Resources::derive(&request, from, &to, &config).expect("it has these cables");
            let polled = harts.ftt.polled(number).filter(|polled| polled.switch == switch);
            let offset =
                |known: SynchronousStream| SynchronousStream { offset: known.offset % known.period, ..known };
            if let Some(polled) = polled {
                let expected = Some(Scheduled::Polled(offset(polled.config)));
                assert_eq!((derived.schedule, derived.servers.len()), (expected, 0), "{context}");
                seen.polled += 1;
                continue;
            }
            if let Some(relayed) = harts.ftt.relayed(number, switch) {
                let expected = Some(Scheduled::Relayed(offset(relayed.config), relayed.pool));
                assert_eq!((derived.schedule, derived.servers.len()), (expected, 0), "{context}");
                assert_eq!(derived.pool, Some(relayed.pool * u32::from(request.size)), "{context}");
                seen.relayed += 1;
                continue;
            }
            assert_eq!(derived.schedule, None, "{context}");
            let Some(reservation) = reservation else {
                assert!(derived.servers.is_empty(), "{context}");
                continue;
            };
            let expected = to.iter().map(|neighbour| (*neighbour, reservation.server)).collect();
            assert_eq!(derived.servers, expected, "{request:?} of {context}");
            let enters = usize::from(from) == network.streams[number.index()].talker.index();
            let police = reservation.police.filter(|_| enters);
            let policer = derived.policing.map(|policing| policing.policer());
            assert_eq!(policer, police.map(|police| police.policer()), "{request:?} of {context}");
            if let Some(pool) = derived.pool {
                let server = reservation.server.capacity.expect("a capacity");
                assert!(pool > u32::from(request.size) && server > 0, "{context}");
                seen.pools += 1;
            }
            seen.servers += 1;
            seen.by_rule += usize::from(request.terms.server.is_none());
            let is_several = reservation.server.capacity > Some(u32::from(request.size));
            seen.several += usize::from(request.terms.server.is_none() && is_several);
            seen.policed += usize::from(police.is_some());
        }
    }
}

#[test]
fn what_is_derived_is_what_is_reserved() {
    let mut seen = Seen::default();
    for file in [
        "harts",
        "harts-admission",
        "harts-consumers",
        "harts-synchronous",
        "harts-synchronous-admission",
        "harts-multi-switch",
    ] {
        let path = format!("../../scenarios/{file}.yaml");
        let text = std::fs::read_to_string(&path).expect("a scenario");
        compare(&described(&text), file, &mut seen);
    }
    for seed in seeds(200) {
        compare(&described(&random_harts(seed)), &format!("TAUTWIRE_SEED={seed}"), &mut seen);
        compare(&described(&random_harts_admission(seed)), &format!("TAUTWIRE_SEED={seed}"), &mut seen);
    }
    let Seen { servers, by_rule, several, policed, polled, relayed, pools } = seen;
    let enough = [servers, by_rule, policed, polled, relayed, pools].into_iter().all(|found| found > 50);
    assert!(
        std::env::var("TAUTWIRE_SEED").is_ok() || (enough && several > 20),
        "there is something to compare: {seen:?}"
    );
}
