//! Device and host models: those of `devices/`, compiled in, and those of the description.
//!
//! A model is a chain: its own mapping, that of the model it is based on, and so on to `ideal`. The value of a key
//! comes from the first of the chain that has it; the same chain gives ports their defaults.

use std::collections::HashMap;

use tautwire_units::{Bytes, Duration};

use super::layered;
use crate::check::without_effect;
use crate::frame::FRAME_MIN;
use crate::host_stacks;
use crate::network::{
    AtsDevice, AtsOrganisation, CutThroughFrames, Delay, DeviceIndex, DeviceModel, Distribution, Grouping,
    HostIndex, HostModel, IdentificationFunction, PortPair, SelectionAlgorithm, Stage, StagePosition,
    StampPoint, Switching, TieRule, TimeStamp,
};
use crate::text::faults::{Faults, did_you_mean};
use crate::text::shape::Kind;
use crate::text::tree::{Node, Place};
use crate::text::{codes, form, language, scalar, tree};

/// The files of models, by name.
const FILES: &[&str] = &[
    include_str!("../../devices/ideal.yaml"),
    include_str!("../../devices/store-and-forward.yaml"),
    include_str!("../../devices/cut-through.yaml"),
    include_str!("../../devices/aist-ats-fpga.yaml"),
    include_str!("../../devices/tautwire-switch.yaml"),
];

static GRAMMAR: Kind = Kind::Object(&language::DEVICE_FILE);

/// The compiled-in models.
///
/// # Panics
/// If a file of `devices/` is wrong, which a test excludes.
pub(crate) fn builtin() -> Vec<Node<'static>> {
    let mut faults = Faults::default();
    let files = FILES
        .iter()
        .map(|text| {
            let mut root = tree::read(u32::MAX, text, &mut faults);
            let owner = root.anchor();
            form::check(&mut root, &GRAMMAR, owner, &mut faults);
            root
        })
        .collect();
    let wrong = faults.into_sorted();
    assert!(wrong.is_empty(), "a file of devices/ is wrong: {wrong:?}");
    files
}

/// All models, resolved when they are first used.
pub(crate) struct Models<'t, 'a> {
    devices: HashMap<&'a str, &'a Node<'t>>,
    hosts: HashMap<&'a str, &'a Node<'t>>,
    used_devices: Vec<(DeviceModel, Vec<&'a Node<'t>>)>,
    used_hosts: Vec<(HostModel, Vec<&'a Node<'t>>)>,
    device_index: HashMap<&'a str, DeviceIndex>,
    host_index: HashMap<&'a str, HostIndex>,
}

impl<'t, 'a> Models<'t, 'a> {
    /// The models of the description and the compiled-in ones; the description's own win.
    pub(crate) fn new(root: &'a Node<'t>, builtin: &'a [Node<'t>]) -> Self {
        let collect = |section: &str| {
            let mut all = HashMap::new();
            for file in builtin.iter().chain([root]) {
                let entries = file.get(section).map_or(&[][..], Node::entries);
                all.extend(entries.iter().map(|(key, node)| (&*key.text, node)));
            }
            all
        };
        Self {
            devices: collect("devices"),
            hosts: collect("hosts"),
            used_devices: Vec::new(),
            used_hosts: Vec::new(),
            device_index: HashMap::new(),
            host_index: HashMap::new(),
        }
    }

    /// The device model `name`, named at `place`.
    pub(crate) fn device(&mut self, name: &'a str, place: Place, faults: &mut Faults) -> DeviceIndex {
        if let Some(index) = self.device_index.get(name) {
            return *index;
        }
        let chain = chain(&self.devices, name, "device", codes::UNKNOWN_DEVICE, place, faults);
        let index = DeviceIndex::at(self.used_devices.len());
        self.used_devices.push((device_model(name, &chain, faults), chain));
        self.device_index.insert(name, index);
        index
    }

    /// The host model `name`, named at `place`.
    pub(crate) fn host(&mut self, name: &'a str, place: Place, faults: &mut Faults) -> HostIndex {
        if let Some(index) = self.host_index.get(name) {
            return *index;
        }
        let chain = chain(&self.hosts, name, "host", codes::UNKNOWN_HOST, place, faults);
        let index = HostIndex::at(self.used_hosts.len());
        self.used_hosts.push((host_model(name, &chain, faults), chain));
        self.host_index.insert(name, index);
        index
    }

    /// The device model at `index`.
    pub(crate) fn device_at(&self, index: DeviceIndex) -> &DeviceModel {
        &self.used_devices[index.index()].0
    }

    /// Whether a bridge has stream identification functions.
    pub(crate) fn identify(&self) -> bool {
        self.used_devices.iter().any(|(device, _)| !device.stream_identification.is_empty())
    }

    /// The host model at `index`.
    pub(crate) fn host_at(&self, index: HostIndex) -> &HostModel {
        &self.used_hosts[index.index()].0
    }

    /// The mappings with the host's values, in order of precedence.
    pub(crate) fn host_layers(&self, index: HostIndex) -> &[&'a Node<'t>] {
        &self.used_hosts[index.index()].1
    }

    /// The mappings with values of the ports of the device's bridges, in order of precedence.
    pub(crate) fn device_layers(&self, index: DeviceIndex) -> &[&'a Node<'t>] {
        &self.used_devices[index.index()].1
    }

    /// The models in use, in order of first use.
    pub(crate) fn finish(self) -> (Vec<DeviceModel>, Vec<HostModel>) {
        (
            self.used_devices.into_iter().map(|(model, _)| model).collect(),
            self.used_hosts.into_iter().map(|(model, _)| model).collect(),
        )
    }
}

/// A model and those it is based on, `ideal` last.
fn chain<'t, 'a>(
    all: &HashMap<&'a str, &'a Node<'t>>,
    name: &'a str,
    what: &str,
    code: &'static str,
    place: Place,
    faults: &mut Faults,
) -> Vec<&'a Node<'t>> {
    let mut chain: Vec<&'a Node<'t>> = Vec::new();
    let (mut name, mut place) = (name, place);
    loop {
        let Some(node) = all.get(name) else {
            let mut known: Vec<&str> = all.keys().copied().collect();
            known.sort_unstable();
            let help = did_you_mean(name, what, known.iter().copied());
            faults.error(code, place, format!("there is no {what} model `{name}`"), help);
            return chain;
        };
        if chain.iter().any(|known| std::ptr::eq(*known, *node)) {
            let help = "base it on another model, or remove `based-on`";
            faults.error(codes::CONFLICT, place, format!("`{name}` is based on itself"), help);
            return chain;
        }
        chain.push(node);
        match node.get("based-on").and_then(|base| Some((base.text()?, base.place))) {
            Some((base, at)) => (name, place) = (base, at),
            None if name == "ideal" => return chain,
            None => name = "ideal",
        }
    }
}

fn device_model(name: &str, chain: &[&Node<'_>], faults: &mut Faults) -> DeviceModel {
    without_effect::of_device(chain, faults);
    let word = |key: &str| layered(chain, key).and_then(Node::text);
    let header: Option<Bytes> = word("cut-through-header").and_then(|text| text.parse().ok());
    let switching = match word("switching") {
        Some("cut-through") => Switching::CutThrough {
            header: header.unwrap_or(Bytes::new(64)),
            frames: match word("cut-through-frames") {
                Some("strict-priority-to-one-port") => CutThroughFrames::StrictPriorityToOnePort,
                _ => CutThroughFrames::All,
            },
        },
        _ => Switching::StoreAndForward,
    };
    let tie_rule = match word("tie-rule") {
        Some("round-robin") => TieRule::RoundRobin,
        Some("lowest-port") => TieRule::LowestPort,
        _ => TieRule::ArrivalOrder,
    };
    let stages = layered(chain, "stages").map_or(&[][..], Node::items);
    for (position, stage) in stages.iter().enumerate() {
        let Some(name) = stage.get("name") else { continue };
        if stages[..position].iter().any(|other| other.get("name").and_then(Node::text) == name.text()) {
            let message = format!("another stage has the name `{}`", name.text().unwrap_or_default());
            faults.error(codes::DUPLICATE_NAME, name.place, message, "give every stage a different name");
        }
    }
    DeviceModel {
        name: name.to_owned(),
        switching,
        stages: stages.iter().filter_map(|node| stage(node, faults)).collect(),
        tie_rule,
        lane_limit: word("reception-queue-limit").and_then(|text| text.parse().ok()),
        two_stage: word("two-stage").and_then(scalar::flag).unwrap_or(false),
        credit_charged_overhead: word("credit-charged-overhead")
            .and_then(|text| text.parse().ok())
            .unwrap_or(Bytes::MEDIA_OVERHEAD),
        ats: ats(chain),
        stream_identification: stream_identification(chain),
        port_pairs: port_pairs(chain, faults),
    }
}

fn stage(node: &Node<'_>, faults: &mut Faults) -> Option<Stage> {
    let position = match node.get("position")?.text()? {
        "reception" => StagePosition::Reception,
        "processing" => StagePosition::Processing,
        _ => StagePosition::Transmission,
    };
    if let (StagePosition::Transmission, Some(only)) = (position, node.get("only-for")) {
        let message =
            "`only-for` has no effect at a stage after the transmission selection, which all frames pass"
                .to_owned();
        let help = "remove `only-for`, or put the stage at `processing`";
        faults.error(codes::CONFLICT, only.place, message, help);
    }
    Some(Stage {
        name: node.get("name")?.text()?.to_owned(),
        position,
        only_for: node.get("only-for").and_then(Node::text).map(|word| match word {
            "credit-based" => SelectionAlgorithm::CreditBased,
            "ats" => SelectionAlgorithm::Ats,
            _ => SelectionAlgorithm::StrictPriority,
        }),
        latency: node.get("latency").map_or(Delay::default(), |node| delay(node, faults)),
        occupancy: node.get("occupancy").map_or(Delay::default(), |node| delay(node, faults)),
    })
}

/// A delay: a duration, or a mapping of its parts.
pub(crate) fn delay(node: &Node<'_>, faults: &mut Faults) -> Delay {
    if let Some(constant) = node.text().and_then(|text| text.parse().ok()) {
        return Delay { constant, ..Delay::default() };
    }
    let part = |key: &str| node.parsed::<Duration>(key);
    let (mean, deviation) = (part("mean"), part("deviation"));
    let random = match (part("min"), part("max"), mean) {
        (None, None, None) => Distribution::Zero,
        (min, max, None) => {
            Distribution::Uniform { min: min.unwrap_or_default(), max: max.or(min).unwrap_or_default() }
        }
        (min, max, Some(mean)) => {
            let deviation = deviation.unwrap_or_default();
            // Six standard deviations, unless stated: the cut takes two of 10⁹ draws.
            let six = Duration::from_ps(deviation.as_ps().saturating_mul(6));
            let (below, above) = (mean.saturating_sub(six), mean.saturating_add(six));
            Distribution::Normal { mean, deviation, min: min.unwrap_or(below), max: max.unwrap_or(above) }
        }
    };
    let in_order = match random {
        Distribution::Zero => true,
        Distribution::Uniform { min, max } => min <= max,
        Distribution::Normal { mean, min, max, .. } => min <= mean && mean <= max,
    };
    if !in_order {
        let message = "`min` is above `mean` or `max`".to_owned();
        faults.error(codes::DELAY_RANGE, node.anchor(), message, "make `min` at most `mean` at most `max`");
    }
    let delay = Delay {
        constant: part("constant").unwrap_or_default(),
        less: part("less").unwrap_or_default(),
        per_octet: part("per-octet").unwrap_or_default(),
        random,
    };
    let smallest = u128::from(delay.per_octet.as_ps()) * u128::from(FRAME_MIN.get());
    if u128::from(delay.less.as_ps()) > smallest + u128::from(delay.constant.as_ps()) {
        let place = node.get("less").map_or(node.anchor(), |node| node.place);
        let message =
            format!("`less` is more than the constant and per-octet delay of a frame of {FRAME_MIN}");
        faults.error(codes::DELAY_RANGE, place, message, "lower `less`, or raise `constant`");
    }
    let largest = u128::from(delay.per_octet.as_ps()) * 65_557 + u128::from(delay.constant.as_ps());
    if largest > u128::from(DELAY_MAX.as_ps()) || delay_max(random) > DELAY_MAX {
        let message = format!("the delay may be longer than {DELAY_MAX}");
        faults.error(
            codes::DELAY_RANGE,
            node.anchor(),
            message,
            "shorten it: no device holds a frame that long",
        );
    }
    delay
}

/// The longest delay of a device or host.
const DELAY_MAX: Duration = Duration::from_s(3_600);

pub(crate) fn delay_max(random: Distribution) -> Duration {
    match random {
        Distribution::Zero => Duration::ZERO,
        Distribution::Uniform { max, .. } | Distribution::Normal { max, .. } => max,
    }
}

fn ats(chain: &[&Node<'_>]) -> AtsDevice {
    let sections: Vec<&Node<'_>> = chain.iter().filter_map(|node| node.get("ats")).collect();
    let word = |key: &str| layered(&sections, key).and_then(Node::text);
    let span = |key: &str| word(key).and_then(|text| text.parse().ok()).unwrap_or(Duration::ZERO);
    AtsDevice {
        organisation: match word("organisation") {
            Some("interleaved-regulators") => AtsOrganisation::InterleavedRegulators,
            _ => AtsOrganisation::EligibilityOrdered,
        },
        grouping: match word("grouping") {
            Some("own-class") => Grouping::OwnClass,
            _ => Grouping::UpstreamClass,
        },
        charged_overhead: word("charged-overhead")
            .and_then(|text| text.parse().ok())
            .unwrap_or(Bytes::MEDIA_OVERHEAD),
        time_quantum: word("time-quantum")
            .and_then(|text| text.parse().ok())
            .map(|tick: Duration| tick.max(Duration::from_ps(1))),
        processing_delay_max: span("processing-delay-max"),
        schedulers_per_group: word("schedulers-per-group").and_then(|text| text.parse().ok()),
        arrival_recognition_delay_max: span("arrival-recognition-delay-max"),
        clock_offset_variation_max: span("clock-offset-variation-max"),
        clock_rate_deviation_max_ppb: word("clock-rate-deviation-max")
            .and_then(|text| scalar::deviation(text).ok())
            .unwrap_or(0),
    }
}

fn stream_identification(chain: &[&Node<'_>]) -> Vec<IdentificationFunction> {
    let sections: Vec<&Node<'_>> = chain.iter().filter_map(|node| node.get("ats")).collect();
    let names = layered(&sections, "stream-identification").map_or(&[][..], Node::items);
    names.iter().filter_map(|name| IdentificationFunction::named(name.text()?)).collect()
}

/// The pairs of ports of `scheduler-timing-characteristics`.
fn port_pairs(chain: &[&Node<'_>], faults: &mut Faults) -> Vec<PortPair> {
    let sections: Vec<&Node<'_>> = chain.iter().filter_map(|node| node.get("ats")).collect();
    let listed = layered(&sections, "scheduler-timing-characteristics").map_or(&[][..], Node::items);
    let mut pairs: Vec<PortPair> = Vec::with_capacity(listed.len());
    for node in listed {
        let number = |key: &str| node.parsed::<u32>(key)?.checked_sub(1);
        let deviation = node.get("clock-rate-deviation-max").and_then(Node::text);
        let (Some(reception), Some(transmission), Some(deviation)) =
            (number("reception-port"), number("transmission-port"), deviation)
        else {
            continue;
        };
        if pairs.iter().any(|pair| (pair.reception, pair.transmission) == (reception, transmission)) {
            let message = "this pair of ports is listed twice".to_owned();
            faults.error(codes::CONFLICT, node.anchor(), message, "list every pair once");
            continue;
        }
        let clock_rate_deviation_max_ppb = scalar::deviation(deviation).unwrap_or(0);
        pairs.push(PortPair { reception, transmission, clock_rate_deviation_max_ppb });
    }
    pairs
}

fn host_model(name: &str, chain: &[&Node<'_>], faults: &mut Faults) -> HostModel {
    host_stacks::without_effect::of_host(chain, faults);
    let stacks = host_stacks::resolve::stacks(chain, faults);
    let has_stacks = !stacks.stacks.is_empty();
    let part = |key: &str, faults: &mut Faults| {
        let delay = layered(chain, key).map_or(Delay::default(), |node| delay(node, faults));
        if has_stacks { Delay::default() } else { delay }
    };
    let word = |key: &str| layered(chain, key).and_then(Node::text);
    HostModel {
        time_stamp: time_stamp(chain, faults),
        is_class_blind: word("egress-queues") == Some("fifo"),
        stacks,
        name: name.to_owned(),
        transmit: part("transmit", faults),
        receive: part("receive", faults),
        queue_limit: word("queue-limit").and_then(|text| text.parse().ok()).unwrap_or(4_096),
        reassembly_buffers: word("reassembly-buffers").and_then(|text| text.parse().ok()).unwrap_or(10),
        credit_charged_overhead: word("credit-charged-overhead")
            .and_then(|text| text.parse().ok())
            .unwrap_or(Bytes::MEDIA_OVERHEAD),
    }
}

fn time_stamp(chain: &[&Node<'_>], faults: &mut Faults) -> Option<TimeStamp> {
    let sections: Vec<&Node<'_>> = chain.iter().filter_map(|node| node.get("time-stamp")).collect();
    let word = |key: &str| layered(&sections, key).and_then(Node::text);
    (!sections.is_empty()).then(|| TimeStamp {
        point: match word("point") {
            Some("end-of-frame") => StampPoint::EndOfFrame,
            Some("software") => StampPoint::Software,
            _ => StampPoint::StartOfFrame,
        },
        quantum: word("quantum").and_then(|text| text.parse().ok()).unwrap_or(Duration::ZERO),
        jitter: layered(&sections, "jitter").map_or(Delay::default(), |node| delay(node, faults)),
    })
}
