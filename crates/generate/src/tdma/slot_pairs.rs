//! Random TDMA networks of a master that sends requests to some slaves, with slots that are far from good: for the planner.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// The description of a seed.
#[must_use]
pub fn random_tdma_slot_pairs(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut stations = vec!["master".to_owned(), "standby".to_owned()];
    stations.extend((0..dice.between(1, 3)).map(|slave| format!("slave-{slave}")));
    let (transmit, receive, tolerance) = (dice.between(3, 33), dice.between(2, 32), dice.between(0, 100));
    let mut text = format!(
        "name: drawn\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts:\n  h:\n    transmit: {{min: 3 us, max: {transmit} us}}\n    \
         receive: {{min: 2 us, max: {receive} us}}\n\
         defaults: {{rate: 100 Mbit/s, host: h, clock: {{tolerance: {tolerance} ppm}}}}\nnodes:\n"
    );
    let two = dice.chance(33);
    let (mut links, mut slots, mut streams) = (String::new(), String::new(), String::new());
    for (place, station) in stations.iter().enumerate() {
        let bridge = if two && place % 2 == 1 { "t" } else { "s" };
        let _ = writeln!(text, "  {station}: {{type: end-station}}");
        let _ = writeln!(links, "  - {{between: [{station}, {bridge}], length: {} m}}", dice.between(0, 90));
        if station == "standby" {
            continue;
        }
        let offset = 500 + 400 * place;
        let _ = writeln!(slots, "    - {{owner: {station}, offset: {offset} us, length: 300 us}}");
        if station != "master" {
            write_pair(&mut streams, &mut dice, station);
        }
    }
    // Stations that report with a deadline, in slots of their own.
    for report in 0..dice.between(0, 4) {
        let _ = writeln!(text, "  report-{report}: {{type: end-station}}");
        let _ = writeln!(links, "  - {{between: [report-{report}, s], length: {} m}}", dice.between(0, 90));
        let _ = writeln!(
            slots,
            "    - {{owner: report-{report}, offset: 2500 us, length: 150 us, every: 4, phase: {report}}}"
        );
        let _ = writeln!(
            streams,
            "  - {{name: report-{report}, talker: report-{report}, listeners: master, priority: 5, tagged: false, \
             payload: {} B, deadline: {} ms, traffic: {{type: periodic, interval: 60 ms}}}}",
            dice.between(46, 1_046),
            dice.between(4, 50)
        );
    }
    let (bridges, between) =
        if two { ("  t: {type: bridge}\n", "  - {between: [s, t]}\n") } else { ("", "") };
    let _ = writeln!(
        text,
        "  s: {{type: bridge}}\n{bridges}links:\n{links}{between}tdma:\n  cycle: 3 ms\n  \
         synchronisation: opening\n  standby: {{synchronisation: watching, offset: 100 us}}\n  \
         slots:\n{slots}streams:\n{streams}  \
         - {{name: opening, talker: master, listeners: all, priority: 7, tagged: false, payload: 46 B, \
         traffic: {{type: synchronisation}}}}\n  \
         - {{name: watching, talker: standby, listeners: all, priority: 7, tagged: false, payload: 46 B, \
         traffic: {{type: synchronisation}}}}\nrun: {{duration: 100 ms}}"
    );
    grain::drawn(&text, seed, &grain::FINE)
}

/// The request of the master to a slave, and the answer.
fn write_pair(streams: &mut String, dice: &mut Dice, slave: &str) {
    let (request, response) = (dice.between(46, 1_446), dice.between(46, 1_446));
    // Some slaves take long: the time between is others'.
    let turn_around = if dice.chance(30) { dice.between(300, 700) } else { dice.between(0, 30) };
    let (interval, jitter) = (dice.between(16_000, 20_000), dice.between(0, 500));
    let _ = writeln!(
        streams,
        "  - {{name: ask-{slave}, talker: master, listeners: {slave}, priority: 6, tagged: false, \
         payload: {request} B, traffic: {{type: periodic, interval: {interval} us, jitter: {jitter} us}}}}\n  \
         - {{name: tell-{slave}, talker: {slave}, listeners: master, priority: 6, tagged: false, \
         payload: {response} B, traffic: {{type: response, to: ask-{slave}, turn-around: {turn_around} us}}}}"
    );
}
