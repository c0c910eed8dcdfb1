//! The same search with settings that the drawn descriptions leave as they are: stages that take their
//! time, hosts that do, coarse clocks, other charges, MaxResidenceTime, late recognition of arrivals,
//! clock rates between pairs of ports, network control, and a timeline.
//!
//! The settings are drawn into the resolved network. `TAUTWIRE_CASES` sets how many are drawn.

use tautwire_generate::Dice;
use tautwire_model::network::{
    ArrivalCurve, Delay, Distribution, NetworkControl, Parts, StreamIndex, TimelineAction, TimelineEvent,
};
use tautwire_units::{BitRate, Bits, Bytes, Duration};

fn delay(dice: &mut Dice, most_ns: u64, per_octet_ns: u64) -> Delay {
    let least = dice.between(0, most_ns);
    Delay {
        constant: Duration::from_ns(dice.between(0, most_ns)),
        less: Duration::ZERO,
        per_octet: Duration::from_ns(dice.between(0, per_octet_ns)),
        random: if dice.chance(50) {
            Distribution::Uniform {
                min: Duration::from_ns(least),
                max: Duration::from_ns(least + dice.between(0, most_ns)),
            }
        } else {
            Distribution::Zero
        },
    }
}

fn vary_devices(network: &mut Parts, dice: &mut Dice) {
    for device in &mut network.devices {
        if dice.chance(50) {
            device.credit_charged_overhead = Bytes::new(*dice.one_of(&[0, 4, 20, 42]));
        }
        if dice.chance(50) {
            device.ats.charged_overhead = Bytes::new(*dice.one_of(&[0, 4, 20, 24]));
        }
        if dice.chance(30) {
            device.ats.arrival_recognition_delay_max = Duration::from_ns(dice.between(0, 2_000));
        }
        if dice.chance(30) {
            device.ats.clock_offset_variation_max = Duration::from_ns(dice.between(0, 500));
        }
        if dice.chance(20) {
            device.ats.processing_delay_max = Duration::from_ns(dice.between(0, 5_000));
        }
        let slow = dice.chance(20);
        for stage in &mut device.stages {
            if dice.chance(60) {
                // Now and then slower than the line.
                let most = if slow { 20_000 } else { 600 };
                stage.occupancy = delay(dice, most, if slow { 20 } else { 6 });
                stage.latency = delay(dice, 3_000, 8);
            }
        }
    }
    for host in &mut network.hosts {
        if dice.chance(50) {
            host.transmit = delay(dice, 5_000, 8);
        }
        if dice.chance(50) {
            host.credit_charged_overhead = Bytes::new(*dice.one_of(&[0, 20, 42]));
        }
    }
}

fn vary(network: &mut Parts, dice: &mut Dice) {
    vary_devices(network, dice);
    if dice.chance(30) {
        let steps = [1, 1_000, 8_000, 40_000].map(Duration::from_ps);
        for node in &mut network.nodes {
            node.clock.granularity = *dice.one_of(&steps);
        }
    }
    if dice.chance(30) {
        let most = Duration::from_us(dice.between(20, 2_000));
        for group in &mut network.scheduler_groups {
            group.max_residence_time = Some(most);
        }
    }
    if dice.chance(30) {
        let most = dice.between(1, 5_000) * 1_000;
        for scheduler in &mut network.schedulers {
            let deviation = if dice.chance(70) { dice.between(0, most) } else { 0 };
            scheduler.clock_rate_deviation_max_ppb = u32::try_from(deviation).expect("small");
        }
    }
    if dice.chance(30) {
        let arrival = ArrivalCurve { rate: BitRate::from_bps(100_000), burst: Bits::new(5_000) };
        let priority = network.streams[0].priority;
        network.network_control = Some(NetworkControl { priority, arrival, frame_max: Bytes::new(300) });
    }
    if dice.chance(30) {
        let count = network.streams.len() as u64;
        for _ in 0..dice.between(1, 4) {
            let stream = StreamIndex::at(usize::try_from(dice.between(0, count - 1)).expect("few"));
            let at = Duration::from_us(dice.between(0, 7_000));
            let cable = u32::try_from(dice.between(0, network.links.len() as u64 / 2 - 1)).expect("few");
            let shaper = network.streams[stream.index()].shaper;
            let action = match (dice.between(0, 4), shaper) {
                (0, _) => TimelineAction::StartStream(stream),
                (1, _) => TimelineAction::StopStream(stream),
                (2, _) => TimelineAction::CutCable(cable),
                (3, Some(mut shaper)) => {
                    shaper.committed_burst_size += Bits::new(8 * dice.between(0, 1_000));
                    TimelineAction::ChangeShaper(stream, shaper)
                }
                _ => TimelineAction::MendCable(cable),
            };
            network.events.push(TimelineEvent { at, action });
        }
        network.events.sort_by_key(|event| event.at);
    }
}

#[test]
fn no_frame_is_later_than_its_bound_with_other_settings() {
    let seeds = tautwire_generate::seeds(300);
    let (mut all, mut proven) = (0, 0);
    for seed in &seeds {
        let network = crate::common::network(*seed);
        let network = network.altered(|network| vary(network, &mut Dice::new(seed ^ 0x5eed)));
        let bounds = tautwire_analysis::bounds(&network);
        let found = crate::common::contradictions(&network, &bounds, &crate::common::run(&network));
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        let (listeners, with) = crate::common::bounded(&bounds);
        (all, proven) = (all + listeners, proven + with);
    }
    assert!(seeds.len() == 1 || proven * 2 > all, "{proven} of {all} have a bound");
}
