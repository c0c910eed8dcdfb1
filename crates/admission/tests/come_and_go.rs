//! Streams come and go in a run as they are admitted and taken back: none is late that was admitted by its bounds. And
//! the search for sets that the other two tests admit and that miss a deadline in a run.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use tautwire_admission::{
    AdmissionTest, Bandwidth, Controller, EndToEndBounds, HartsResponseTime, Operation, Outcome, Request,
};
use tautwire_generate::{Dice, random_harts, random_network};
use tautwire_model::Network;
use tautwire_model::network::{StreamIndex, TimelineAction, TimelineEvent};
use tautwire_sim::{NoRecorder, Options};
use tautwire_units::Duration;

fn cases() -> u64 {
    tautwire_generate::cases(2_000) / 25
}

/// A network whose streams ask for `percent` of what is proven of all together.
fn with_deadlines(text: &str, seed: u64, percent: (u64, u64)) -> Network {
    let mut network = tautwire_model::load_text("random", text).network.unwrap();
    let mut dice = Dice::new(seed);
    let bounds = tautwire_analysis::bounds(&network);
    for (stream, proven) in network.streams.iter_mut().zip(&bounds.streams) {
        let worst = proven.listeners.iter().filter_map(|listener| listener.delay.as_ref().ok()).max();
        let part = dice.between(percent.0, percent.1);
        stream.deadline = worst.map(|worst| Duration::from_ps(worst.as_ps() / 100 * part));
    }
    network.events.clear();
    network
}

/// Frames that come later than their deadlines in a run.
fn late(network: &Network) -> u64 {
    let observation = if tautwire_sim::is_plain(network) {
        tautwire_sim::run(network, &mut Options::default())
    } else {
        tautwire_sim::run_with(network, &mut Options::default(), &mut NoRecorder)
    };
    observation.streams.iter().flat_map(|stream| &stream.listeners).map(|listener| listener.late).sum()
}

/// A history of requests, and the run in which streams start when they are admitted, and stop so long before they
/// are taken back. Returns the network of the run, and how many streams were taken back and refused.
fn history(mut network: Network, seed: u64, drain: Duration) -> (Network, usize, usize) {
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
    for stream in &mut network.streams {
        stream.started = false;
    }
    network.events = events;
    network.run.duration = now + Duration::from_ms(20);
    network.run.warm_up = Duration::ZERO;
    network.run.stop_after_frames = None;
    (network, gone, refused)
}

/// The longest that a frame of an admitted stream may still be under way: its deadline, or what is proven.
fn longest(network: &Network) -> Duration {
    let bounds = tautwire_analysis::bounds(network);
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

/// Sets that a test admits one stream after the other, and of them those that miss a deadline in a run.
fn counterexamples(
    test: impl Fn() -> Box<dyn AdmissionTest>,
    network: impl Fn(u64) -> Network,
) -> (usize, Vec<u64>) {
    let (mut sets, mut found) = (0, Vec::new());
    for seed in 0..cases() {
        let network = network(seed);
        let mut controller = Controller::new(&network, test());
        for stream in &network.streams {
            controller.answer(&Request::of(Operation::Reserve, vec![stream.name.clone()])).unwrap();
        }
        if controller.admitted().is_empty() {
            continue;
        }
        sets += 1;
        if late(&network.with_only(controller.admitted())) > 0 {
            found.push(seed);
        }
    }
    (sets, found)
}

/// Talkers that send at once over a line of bridges to one recorder, all in one credit-based class.
fn credit_based(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let (bridges, talkers) = (dice.between(1, 3), dice.between(2, 5));
    let mut text = "
allow: [class::overload, port::overload]
network-control: none
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

/// What equation 3 reckons with, and nothing else: exact clocks, elementary cycles that begin together, hosts and switches that take no
/// time of their own, frames exactly a period apart, and a deferrable server for each stream with a frame in each of its periods.
fn as_equation_3_has_it(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x4551_3300);
    let (bridges, stations, streams) = (dice.between(1, 3), dice.between(2, 4), dice.between(2, 6));
    let mut text = "network-control: none\nallow: [port::overload]\n\
        defaults: {rate: 100 Mbit/s, clock: {tolerance: 0 ppm}}\nnodes:\n"
        .to_owned();
    let mut links = String::new();
    for bridge in 0..bridges {
        text += &format!("  s{bridge}: {{type: bridge}}\n");
        if bridge > 0 {
            links += &format!("  - {{between: [s{}, s{bridge}]}}\n", bridge - 1);
        }
    }
    for station in 0..stations {
        let at = if station == 0 { 0 } else { dice.between(0, bridges - 1) };
        text += &format!("  n{station}: {{type: end-station}}\n");
        links += &format!("  - {{between: [n{station}, s{at}]}}\n");
    }
    text += &format!(
        "links:\n{links}harts:\n  elementary-cycle: 125 us\n  trigger: 10 us\n  turn-around: 10 us\n  reserve:\n"
    );
    let mut described = String::new();
    for stream in 0..streams {
        let talker = dice.between(0, stations - 1);
        let listener = (talker + dice.between(1, stations - 1)) % stations;
        let (every, payload, priority) = (dice.between(1, 4), dice.between(46, 400), dice.between(1, 6));
        let (interval, offset) = (125 * every, dice.between(0, 125 * every));
        text += &format!("    - {{stream: r{stream}}}\n");
        described += &format!(
            "  - {{name: r{stream}, talker: n{talker}, listeners: n{listener}, priority: {priority}, payload: {payload} B, \
             traffic: {{type: periodic, interval: {interval} us, offset: {offset} us}}}}\n"
        );
    }
    text + "streams:\n" + &described + "run: {duration: 20 ms}\n"
}

/// Within its own assumptions, too, it is no proof: of deadlines that are as tight as it allows some are missed.
#[test]
fn what_equation_3_admits_within_its_assumptions_may_be_late() {
    let test = || Box::new(HartsResponseTime::default()) as Box<dyn AdmissionTest>;
    let network = |seed| with_deadlines(&as_equation_3_has_it(seed), seed, (4, 60));
    let (sets, found) = counterexamples(test, network);
    println!(
        "equation 3, as it is: {} of {sets} admitted sets miss a deadline; seeds {found:?}",
        found.len()
    );
    assert!(!found.is_empty() && found.len() < sets / 4, "{found:?} of {sets}");
}
