//! TDMA between nodes in virtual time: slots, cycles, start-up and delays as in the simulator.

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, TimelineAction};
use tautwire_sim::Observation;
use tautwire_units::{Duration, Instant};
use tautwire_wire::{EtherType, EthernetHeader, MacAddress};

use crate::node::together::{Together, does_as_in_a_run, scenario, without_chance};
use crate::plan::Plan;

/// The scenario as it is run live: without timeline and bit errors, by the clock of one machine.
fn of_stations(name: &str) -> Network {
    without_chance(scenario(name)).altered(|parts| {
        parts.events.clear();
        parts.links.iter_mut().for_each(|link| link.bit_error_rate = 0);
    })
}

fn refusals(network: &Network) -> Vec<String> {
    crate::support::refusals_but(network, Some(tautwire_workbench::in_runs()))
}

#[test]
fn slots_are_used_as_in_a_run() {
    for name in ["tdma.yaml", "tdma-failures.yaml", "tdma-start-up.yaml", "tdma-node-returns.yaml"] {
        let network = of_stations(name);
        assert_eq!(refusals(&network), [""; 0], "{name}");
        let simulated = does_as_in_a_run(name, &network);
        assert!(simulated.slots.iter().all(|slot| slot.opened > 20), "{name}: {:?}", simulated.slots);
        assert!(simulated.slots.iter().filter(|slot| slot.used > 5).count() > 2, "{name}");
    }
}

/// The standby opens cycles when the master is silent, and every station finds its slots by them.
#[test]
fn a_standby_takes_over_as_in_a_run() {
    let at = Duration::from_us(60_200);
    let network = of_stations("tdma.yaml");
    let master = NodeIndex(0);
    assert_eq!(network.nodes[0].name, "master");
    let plan = Plan::new(&network);
    let mut together = Together::new(&network, &plan);
    together.stopped = Some((master, Instant::ZERO + at));
    together.run_until(Instant::ZERO + network.run.duration);
    let control = together.control();
    let (_, streams, _) = together.observed();
    let stopping = without_chance(scenario("tdma.yaml"))
        .altered(|parts| parts.events.retain(|event| matches!(event.action, TimelineAction::StopNode(_))));
    assert_eq!(stopping.events.iter().map(|event| event.at).collect::<Vec<_>>(), [at]);
    let simulated: Observation =
        tautwire_workbench::simulate(&stopping, &mut tautwire_workbench::Options::default());
    assert!(simulated.takeover.is_some());
    assert_eq!(control.takeover, simulated.takeover);
    assert_eq!(control.slots, simulated.slots);
    assert_eq!(control.cycles, simulated.cycles);
    for ((live, simulated), stream) in streams.iter().zip(&simulated.streams).zip(&network.streams) {
        if stream.talker != master && stream.name != "answer" {
            assert_eq!(
                (live.created, live.delivered),
                (simulated.created, simulated.delivered),
                "{}",
                stream.name
            );
        }
    }
}

/// A message to one other station goes to its address, and octets alone carry all that the stations need.
#[test]
fn messages_of_the_start_up_are_for_whom_they_are_addressed() {
    let network = of_stations("tdma-start-up.yaml");
    let plan = Plan::new(&network);
    let mut together = Together::new(&network, &plan);
    let (mut to_one, mut tunnelled, mut tdma) = (0, 0, 0);
    let mut now = Instant::ZERO;
    while let Some(next) = together.nodes.iter().filter_map(crate::node::Node::deadline).min() {
        now = next.max(now);
        if now > Instant::ZERO + network.run.duration {
            break;
        }
        for (_, frame) in together.at(now) {
            let (header, data) = EthernetHeader::parse(&frame).expect("a header");
            // Of RTmac: TDMA, or the tunnel of ordinary frames.
            tunnelled +=
                usize::from(header.ether_type == EtherType::RTMAC && data[..4] == [0x88, 0xb5, 2, 1]);
            tdma += usize::from(header.ether_type == EtherType::RTMAC && data[..4] == [0, 1, 2, 0]);
            to_one += usize::from(
                header.ether_type == EtherType::RTCFG && header.destination != MacAddress::BROADCAST,
            );
        }
    }
    assert!(to_one > 10 && tunnelled > 10 && tdma > 500, "{to_one} {tunnelled} {tdma}");
}

/// A frame that leaves late says when it left, so a station that receives it late finds its slots where they are.
#[test]
fn an_opening_that_leaves_late_moves_no_slot() {
    let network = of_stations("tdma.yaml");
    let plan = Plan::new(&network);
    let late = Duration::from_us(70);
    let mut stamped = Vec::new();
    for by in [Duration::ZERO, late] {
        let mut together = Together::new(&network, &plan);
        let first = together.nodes[0].deadline().expect("it opens a cycle");
        let master = &mut together.nodes[0];
        master.settle(first);
        let mut frames = Vec::new();
        let due = master.deadline().expect("it leaves");
        master.emit(due + by, |_, frame| {
            frames.push(frame.to_vec());
            None
        });
        let [frame] = &frames[..] else { panic!("{frames:?}") };
        let (_, data) = EthernetHeader::parse(frame).expect("a header");
        let (opening, _) =
            tautwire_wire::TdmaFrame::parse(&data[tautwire_wire::RtmacHeader::OCTETS..]).expect("TDMA");
        let tautwire_wire::TdmaFrame::Synchronisation { transmitted_ns, scheduled_ns, .. } = opening else {
            panic!("{opening:?}")
        };
        stamped.push(transmitted_ns - scheduled_ns);
        // The slave that receives it: its slot is 350 us behind the start of the cycle.
        let slave = network.nodes.iter().position(|node| node.name == "slave-a").expect("a slave");
        let to = network.nodes[slave].ports.start;
        let travel = network.tdma.as_ref().expect("TDMA").travel[slave];
        let heard = Instant::ZERO + travel + by;
        together.nodes[slave].receive(heard, tautwire_model::network::PortIndex(to), frame);
        together.nodes[slave].settle(heard);
        let slot = together.nodes[slave].acts_next().expect("a slot");
        assert_eq!(slot, Instant::ZERO + Duration::from_us(350), "late by {by}");
    }
    assert_eq!(stamped, [0, 70_000]);
}
