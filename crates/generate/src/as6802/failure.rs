//! What fails in random networks with synchronisation of SAE AS6802.

use std::fmt::Write as _;

use crate::Dice;

/// The failure in a network with synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As6802Failures {
    /// Nothing.
    None,
    /// A synchronisation master makes protocol control frames without end, from 110 ms to 300 ms.
    Babble,
    /// A master of either kind babbles or is at the wrong time, from 110 ms to 300 ms: a command/monitor pair, or a
    /// synchronisation master that averages leave out.
    Integrity,
    /// Masters and links fail and come back, bits are wrong, and a station babbles, all until 330 ms.
    Some,
}

/// Writes the events of a faulty master of either kind; gives the further settings of the synchronisation.
pub(crate) fn fail_masters(
    text: &mut String,
    dice: &mut Dice,
    (masters, compressors): (u64, u64),
    precision: u64,
) -> String {
    // Averages leave out a standard-integrity master if there are three.
    let pair = masters < 3 || dice.chance(70);
    let faulty = match pair && dice.chance(50) {
        true => format!("s{}", dice.between(0, compressors - 1)),
        false => format!("e{}", dice.between(0, masters - 1)),
    };
    text.push_str("events:\n");
    if dice.chance(50) {
        let interval = dice.between(8, 400);
        let _ = writeln!(
            text,
            "  - {{at: 110 ms, babble: {{node: {faulty}, interval: {interval} us}}}}\n  - {{at: 300 ms, stop-babbling: {faulty}}}"
        );
    } else {
        let most = if dice.chance(50) { 2 * precision } else { 500_000 };
        let by = dice.between(100, most);
        let _ = writeln!(
            text,
            "  - {{at: 110 ms, mistime: {{node: {faulty}, by: {by} ns}}}}\n  - {{at: 300 ms, mistime: {{node: {faulty}, by: 0 s}}}}"
        );
    }
    let left_out = if masters > 2 { ", faulty-masters: 1" } else { "" };
    let pairs = if pair { format!(", high-integrity: {faulty}") } else { String::new() };
    format!("{left_out}{pairs}")
}

/// A babbling station, a master's link that is cut, a compression master that stops, a link with wrong bits.
pub(crate) fn fail(
    text: &mut String,
    dice: &mut Dice,
    (masters, compressors, stations): (u64, u64, u64),
    at: &[u64],
) {
    let babbler = dice.between(0, stations - 1);
    let heard = (babbler + dice.between(1, stations - 1)) % stations;
    let _ = writeln!(
        text,
        "  - {{name: babble, talker: e{babbler}, listeners: e{heard}, payload: 46 B, priority: 0, tagged: false, \
         traffic: {{type: periodic, interval: 12 us, offset: 110 ms}}}}\nevents:\n  - {{at: 200 ms, stop-stream: babble}}"
    );
    let master = dice.between(0, masters - 1);
    let link = format!("e{master}-s{}", at[usize::try_from(master).expect("few")]);
    let cut = dice.between(120, 160);
    let _ = writeln!(
        text,
        "  - {{at: {cut} ms, cut-link: {link}}}\n  - {{at: {} ms, mend-link: {link}}}",
        cut + 30
    );
    let stopped = match dice.between(0, 2) {
        0 => format!("e{}", dice.between(0, masters - 1)),
        _ => format!("s{}", dice.between(0, compressors - 1)),
    };
    let stop = dice.between(200, 240);
    let _ = writeln!(
        text,
        "  - {{at: {stop} ms, stop-node: {stopped}}}\n  - {{at: {} ms, start-node: {stopped}}}",
        stop + dice.between(1, 40)
    );
    let noisy = dice.between(0, stations - 1);
    let link = format!("e{noisy}-s{}", at[usize::try_from(noisy).expect("few")]);
    let _ = writeln!(
        text,
        "  - {{at: 290 ms, change-bit-error-rate: {{link: {link}, bit-error-rate: 1e-4}}}}\n  - {{at: 330 ms, change-bit-error-rate: {{link: {link}, bit-error-rate: 0}}}}"
    );
}
