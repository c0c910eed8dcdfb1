//! Streams come and go in a run as they are admitted and taken back: none is late that was admitted by its bounds. And
//! the search for sets that the other two tests admit and that miss a deadline in a run.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use crate::common::{cases, counterexamples, late, with_deadlines};
use tautwire_admission::{
    AdmissionTest, Bandwidth, Controller, EndToEndBounds, HartsResponseTime, Operation, Outcome, Request,
};
use tautwire_generate::{Dice, random_harts, random_network};
use tautwire_model::Network;
use tautwire_model::network::{StreamIndex, TimelineAction, TimelineEvent};
use tautwire_units::Duration;

/// A history of requests, and the run in which streams start when they are admitted, and stop so long before they
/// are taken back. Returns the network of the run, and how many streams were taken back and refused.
fn history(network: Network, seed: u64, drain: Duration) -> (Network, usize, usize) {
    let mut dice = Dice::new(seed);
    let (mut events, mut gone, mut refused) = (Vec::new(), 0, 0);
    let names: Vec<String> = network.streams.iter().map(|stream| stream.name.clone()).collect();
    let mut now = Duration::ZERO;
    {
        let mut controller = Controller::new(&network, Box::new(EndToEndBounds));
        let mut at = |at: Duration, action: TimelineAction| events.push(TimelineEvent { at, action });
        for (number, name) in names.iter().enumerate() {
            now += Duration::from_us(dice.between(100, 2_000));
            let admitted = controller.admitted().to_vec();
            if dice.chance(50) && !admitted.is_empty() {
                let leaver = admitted[usize::try_from(dice.between(0, admitted.len() as u64 - 1)).unwrap()];
                at(now, TimelineAction::StopStream(leaver));
                now += drain;
                let withdraw = Request::of(Operation::Withdraw, vec![names[leaver.index()].clone()]);
                assert_eq!(controller.answer(&withdraw).unwrap().outcome, Outcome::Granted);
                gone += 1;
            }
            let reserve = Request::of(Operation::Reserve, vec![name.clone()]);
            match controller.answer(&reserve).unwrap().outcome {
                Outcome::Granted => at(now, TimelineAction::StartStream(StreamIndex::at(number))),
                _ => refused += 1,
            }
        }
    }
    let network = network.altered(|parts| {
        for stream in &mut parts.streams {
            stream.started = false;
        }
        parts.events = events;
        parts.run.duration = now + Duration::from_ms(20);
        parts.run.warm_up = Duration::ZERO;
        parts.run.stop_after_frames = None;
    });
    (network, gone, refused)
}

/// The longest that a frame of an admitted stream may still be under way: its deadline, or what is proven.
fn longest(network: &Network) -> Duration {
    let bounds = tautwire_analysis::bounds_by(network, tautwire_analysis::Accuracy::Curves);
    let proven = bounds.streams.iter().flat_map(|stream| &stream.listeners);
    proven.filter_map(|listener| listener.delay.as_ref().ok().copied()).max().unwrap_or(Duration::from_ms(20))
}

#[test]
fn no_stream_is_late_while_others_come_and_go() {
    let (mut gone, mut refused) = (0, 0);
    for seed in 0..cases() {
        let network = with_deadlines(&random_network(seed), seed, (60, 120));
        let drain = longest(&network);
        let (run, left, not) = history(network, seed, drain);
        (gone, refused) = (gone + left, refused + not);
        assert_eq!(late(&run), 0, "seed {seed}");
    }
    let least = usize::try_from(cases()).unwrap() / 2;
    assert!(gone > least && refused > least, "{gone} taken back, {refused} refused");
}

/// Talkers that send at once over a line of bridges to one recorder, all in one credit-based class.
fn credit_based(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let (bridges, talkers) = (dice.between(1, 3), dice.between(2, 5));
    let mut text = "
allow: [class::overload, port::overload]
network-control: none
vlans:
  1:
    tagged: all
defaults: {rate: 100 Mbit/s, traffic-class-table: identity, classes: {5: {transmission-selection: credit-based, idle-slope: 70 Mbit/s}}}
nodes:\n  recorder: {type: end-station}\n"
        .to_owned();
    let (mut links, mut streams) =
        (format!("  - {{between: [recorder, s{}]}}\n", bridges - 1), String::new());
    for bridge in 0..bridges {
        text += &format!("  s{bridge}: {{type: bridge}}\n");
        if bridge > 0 {
            links += &format!("  - {{between: [s{}, s{bridge}]}}\n", bridge - 1);
        }
    }
    for talker in 0..talkers {
        text += &format!("  t{talker}: {{type: end-station}}\n");
        links += &format!("  - {{between: [t{talker}, s{}]}}\n", dice.between(0, bridges - 1));
        streams += &format!(
            "  - {{name: x{talker}, talker: t{talker}, listeners: recorder, priority: 5, payload: {} B, \
             traffic: {{type: periodic, interval: {} us, offset: 0 us}}}}\n",
            dice.between(50, 700),
            125 * dice.between(1, 4)
        );
    }
    text + "links:\n" + &links + "streams:\n" + &streams + "run: {duration: 20 ms}\n"
}

/// The bandwidth test knows no deadlines: of what it admits some is late.
#[test]
fn what_bandwidth_admits_may_be_late() {
    let test = || Box::new(Bandwidth::default()) as Box<dyn AdmissionTest>;
    let network = |seed| with_deadlines(&credit_based(seed), seed, (30, 120));
    let (sets, found) = counterexamples(test, network);
    println!("bandwidth: {} of {sets} admitted sets miss a deadline; seeds {found:?}", found.len());
    assert!(!found.is_empty() && found.len() < sets, "{found:?} of {sets}");
    // The proof admits none of these.
    let proof = || Box::new(EndToEndBounds) as Box<dyn AdmissionTest>;
    assert_eq!(counterexamples(proof, network).1, Vec::<u64>::new());
}

/// Equation 3 takes a frame to pass several switches in one elementary cycle, and knows no clocks.
#[test]
fn what_equation_3_admits_may_be_late() {
    let test = || Box::new(HartsResponseTime::default()) as Box<dyn AdmissionTest>;
    let network = |seed| with_deadlines(&random_harts(seed), seed, (30, 120));
    let (sets, found) = counterexamples(test, network);
    println!("equation 3: {} of {sets} admitted sets miss a deadline; seeds {found:?}", found.len());
    assert!(!found.is_empty() && found.len() < sets, "{found:?} of {sets}");
}
