//! Classes of a port: `mqprio` or `taprio` at the root, below it `cbs`, `etf` and limits of queues.

use std::fmt::Write as _;

use tautwire_core::Priority;
use tautwire_model::gates::{GuardPolicy, Operation, PortGates};
use tautwire_model::network::{ClassSettings, Network, NodeKind, Port, TransmissionSelection};
use tautwire_model::wire_bits;
use tautwire_units::BitRate;

use super::Place;
use crate::{Converted, times};

/// Most frames in a queue where the description states nothing.
const FRAMES: u32 = 1_024;

/// Most octets there.
const OCTETS: u64 = 2 << 20;

/// How much earlier than its launch time `etf` hands a frame to the device, nanoseconds.
const ETF_DELTA: u64 = 200_000;

/// Sizes of frames as they are on the wire: preamble, gap and FCS are 24 octets that Linux does not count, and no frame is shorter than 84.
const WIRE: &str = "stab overhead 24 mpu 84 ";

/// Shortest time that `taprio` takes: 60 octets of the line.
const ENTRY_BITS: u64 = 480;

/// What a class has below the root.
enum Child {
    None,
    Command(String),
}

/// Adds the commands of a port.
pub(super) fn write(
    network: &Network,
    number: usize,
    place: &Place<'_>,
    commands: &mut Vec<String>,
    written: &mut Converted,
) {
    let port = &network.ports[number];
    let rate = network.links[port.links.expect("it has a cable").egress.index()].rate;
    let classes = classes(port);
    let mut children = Vec::with_capacity(classes.len());
    for class in &classes {
        children.push(child(network, number, *class, &classes, rate, place, written));
    }
    lacks(port, place, written);
    let has_children = children.iter().any(|child| matches!(child, Child::Command(_)));
    let map = map(port, &classes);
    let count = classes.len();
    let queues = (0..count).fold(String::new(), |text, queue| text + &format!(" 1@{queue}"));
    if let Some(gates) = &port.gates {
        let schedule = schedule(gates, &classes, rate, place, written);
        commands.push(format!(
            "tc qdisc replace dev {} parent root handle 100: {WIRE}taprio num_tc {count} map {map} queues{queues}{schedule} clockid CLOCK_TAI",
            place.device
        ));
    } else if count > 1 || has_children {
        commands.push(format!(
            "tc qdisc replace dev {} parent root handle 100: mqprio num_tc {count} map {map} queues{queues} hw 0",
            place.device
        ));
    }
    for (queue, child) in children.into_iter().enumerate() {
        if let Child::Command(command) = child {
            let queue = queue + 1;
            let device = place.device;
            commands.push(format!(
                "tc qdisc replace dev {device} parent 100:{queue} handle 20{queue}: {command}"
            ));
        }
    }
}

/// The classes to which priorities lead, from below.
pub(super) fn classes(port: &Port) -> Vec<usize> {
    let mut found: Vec<usize> =
        Priority::all().map(|priority| port.class_table.class_of(priority, true).index()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The traffic class of Linux for its 16 priorities; those beyond 7 are no priorities of 802.1Q and count as 0.
fn map(port: &Port, classes: &[usize]) -> String {
    let of = |number: u8| {
        let priority = Priority::new(number).unwrap_or_else(|| Priority::new(0).expect("a priority"));
        let class = port.class_table.class_of(priority, true).index();
        classes.iter().position(|known| *known == class).expect("its class is among them").to_string()
    };
    (0..16).map(of).collect::<Vec<_>>().join(" ")
}

/// What is below a class.
fn child(
    network: &Network,
    number: usize,
    class: usize,
    classes: &[usize],
    rate: BitRate,
    place: &Place<'_>,
    written: &mut Converted,
) -> Child {
    let port = &network.ports[number];
    let settings = &port.classes[class];
    match settings.selection {
        TransmissionSelection::Ats => {
            written.lacks(format!("port {} class {class}: asynchronous traffic shaping", place.text));
            limit(settings, class, place, written)
        }
        TransmissionSelection::CreditBased { idle_slope } => {
            if is_limited(settings) {
                written
                    .lacks(format!("port {} class {class}: the limit of its queue, below cbs", place.text));
            }
            let above = above(network, number, class, classes);
            Child::Command(credit_based(port, class, &above, idle_slope, rate, place, written))
        }
        TransmissionSelection::StrictPriority if is_launched(network, number, class) => {
            if is_limited(settings) {
                written.lacks(format!(
                    "port {} class {class}: the limit of its queue, in place of etf",
                    place.text
                ));
            }
            Child::Command(format!("etf clockid CLOCK_TAI delta {ETF_DELTA}"))
        }
        TransmissionSelection::StrictPriority => limit(settings, class, place, written),
    }
}

/// Whether all streams that a talker sends in a class have offsets, for which its application states launch times.
fn is_launched(network: &Network, number: usize, class: usize) -> bool {
    let node = network.ports[number].node;
    if !matches!(network.nodes[node.index()].kind, NodeKind::EndStation { .. }) {
        return false;
    }
    let first = |stream: &&tautwire_model::network::Stream| {
        let hops = stream.hops.iter().filter(|hop| hop.previous.is_none());
        hops.into_iter().any(|hop| hop.port.index() == number && hop.class.index() == class)
    };
    let mut sent = network.streams.iter().filter(first).peekable();
    sent.peek().is_some() && sent.all(|stream| stream.time_aware.is_some())
}

/// The classes above that have streams at the port.
fn above(network: &Network, number: usize, class: usize, classes: &[usize]) -> Vec<usize> {
    let hops = || network.streams.iter().flat_map(|stream| &stream.hops);
    let is_used = |other: usize| hops().any(|hop| hop.port.index() == number && hop.class.index() == other);
    classes.iter().copied().filter(|other| *other > class && is_used(*other)).collect()
}

/// The parameters of `cbs`: slopes in kbit/s, credits in octets. The send slope is that of the line; a device of another speed, such as a
/// virtual one, needs that speed in its place.
fn credit_based(
    port: &Port,
    class: usize,
    above: &[usize],
    idle_slope: BitRate,
    rate: BitRate,
    place: &Place<'_>,
    written: &mut Converted,
) -> String {
    let of_class = format!("port {} class {class}", place.text);
    let (idle, line) = (idle_slope.as_bps().div_ceil(1_000), rate.as_bps() / 1_000);
    if !idle_slope.as_bps().is_multiple_of(1_000) {
        written
            .lacks(format!("{of_class}: idle slope {idle_slope}, as cbs counts in kbit/s and gets {idle}"));
    }
    if port.gates.is_some() {
        written.lacks(format!("{of_class}: credit at a closed gate; cbs earns it there, too"));
    }
    let frame = u128::from(wire_bits(port.mtu, true).get().div_ceil(8));
    let slopes = above.iter().map(|other| match port.classes[*other].selection {
        TransmissionSelection::CreditBased { idle_slope } => Some(u128::from(idle_slope.as_bps())),
        _ => None,
    });
    let slopes: Option<Vec<u128>> = slopes.collect();
    let left = slopes.as_ref().and_then(|slopes| u128::from(rate.as_bps()).checked_sub(slopes.iter().sum()));
    // What a class waits for: a frame of those below, and a frame of each credit-based one above, at the rate that these leave.
    let high = match (left.filter(|left| *left > 0), slopes) {
        (Some(left), Some(slopes)) if port.gates.is_none() => {
            let waits = frame * (1 + slopes.len() as u128);
            (waits * u128::from(idle_slope.as_bps())).div_ceil(left).min(i32::MAX as u128)
        }
        _ => {
            written.lacks(format!(
                "{of_class}: its greatest credit, as gates or other classes hold it up; cbs gets no limit"
            ));
            i32::MAX as u128
        }
    };
    let sent = u128::from(rate.as_bps().saturating_sub(idle_slope.as_bps()));
    let low = (frame * sent).div_ceil(u128::from(rate.as_bps()));
    let send = i128::from(idle) - i128::from(line);
    // Below taprio its sizes hold.
    let sizes = if port.gates.is_some() { "" } else { WIRE };
    format!("{sizes}cbs idleslope {idle} sendslope {send} hicredit {high} locredit -{low} offload 0")
}

fn is_limited(settings: &ClassSettings) -> bool {
    settings.limit_frames != FRAMES || settings.limit_octets.get() != OCTETS || settings.discards_oldest
}

/// The limit of a queue, if it is stated: of frames or of octets.
fn limit(settings: &ClassSettings, class: usize, place: &Place<'_>, written: &mut Converted) -> Child {
    let (frames, octets) = (settings.limit_frames, settings.limit_octets.get());
    if !is_limited(settings) {
        return Child::None;
    }
    if settings.discards_oldest {
        if octets != OCTETS {
            written.lacks(format!("port {} class {class}: its limit of {octets} octets", place.text));
        }
        return Child::Command(format!("pfifo_head_drop limit {frames}"));
    }
    if octets == OCTETS {
        return Child::Command(format!("pfifo limit {frames}"));
    }
    if frames != FRAMES {
        written.lacks(format!("port {} class {class}: its limit of {frames} frames", place.text));
    }
    Child::Command(format!("bfifo limit {octets}"))
}

/// What a port has and `tc` does not say.
fn lacks(port: &Port, place: &Place<'_>, written: &mut Converted) {
    let place = &place.text;
    if port.shared_buffer.is_some() {
        written.lacks(format!("port {place}: its shared buffer"));
    }
    if port.preemption.is_some() {
        written.lacks(format!("port {place}: frame preemption is set up by `ethtool --set-mm`"));
    }
    let is_apart =
        |priority| port.class_table.class_of(priority, true) != port.class_table.class_of(priority, false);
    if Priority::all().any(is_apart) {
        written.lacks(format!(
            "port {place}: the class of untagged frames; Linux selects by the priority alone"
        ));
    }
}

/// Base time, cycle and entries of `taprio`.
fn schedule(
    gates: &PortGates,
    classes: &[usize],
    rate: BitRate,
    place: &Place<'_>,
    written: &mut Converted,
) -> String {
    let place = &place.text;
    let parameters = &gates.parameters;
    let masked = |states: u8| {
        let open = classes.iter().enumerate().filter(|(_, class)| states >> **class & 1 == 1);
        open.fold(0_u8, |mask, (number, _)| mask | 1 << number)
    };
    let entries =
        parameters.control_list.iter().map(|entry| (masked(entry.gate_states), entry.time_interval));
    let list = times::list(entries, parameters.cycle_time);
    let base = parameters.base_time.as_ps();
    if list.is_rounded || !base.is_multiple_of(1_000) {
        written.lacks(format!("port {place}: times of gates below a nanosecond"));
    }
    let least = u128::from(ENTRY_BITS) * 1_000_000_000;
    let is_short = |(_, ns): &(u8, u64)| u128::from(*ns) * u128::from(rate.as_bps()) < least;
    if list.entries.iter().any(is_short) {
        written.lacks(format!(
            "port {place}: an interval shorter than a frame of 60 octets, which taprio refuses"
        ));
    }
    if parameters.control_list.iter().any(|entry| entry.operation != Operation::SetGateStates) {
        written.lacks(format!("port {place}: hold and release of preemptable frames"));
    }
    if gates.guard != GuardPolicy::LookAhead {
        written
            .lacks(format!("port {place}: its guard band; taprio sends a frame if it ends within its entry"));
    }
    if gates.admin_gate_states != u8::MAX {
        written.lacks(format!(
            "port {place}: gates that are closed before the first cycle; with taprio all are open"
        ));
    }
    let mut text = String::new();
    if gates.payload_max.iter().any(Option::is_some) {
        text.push_str(" max-sdu");
        for class in classes {
            // Linux counts the tag to the data, and 0 is no limit.
            let most = gates.payload_max[*class].map_or(0, |most| most.get() + 4);
            let _ = write!(text, " {most}");
        }
    }
    let _ = write!(text, " base-time {} cycle-time {}", base / 1_000, list.cycle);
    let extension = parameters.cycle_time_extension.as_ps() / 1_000;
    if extension > 0 {
        let _ = write!(text, " cycle-time-extension {extension}");
    }
    for (mask, ns) in &list.entries {
        let _ = write!(text, " sched-entry S {mask:02x} {ns}");
    }
    text
}
