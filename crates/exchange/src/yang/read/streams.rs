//! What streams are needed for: stream identification, schedulers, replication, and static ways.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_core::identification::{StreamIdentification, Tagged};
use tautwire_wire::{Ipv4Address, MacAddress, VlanId};

use super::object::Object;
use super::ports::Port;
use super::settings::Settings;
use crate::{Converted, valid};

/// The module of schedulers' filters; that of stream filters has tables of the same names.
const MODULE: &str = "ieee802-dot1q-ats-bridge";

/// No mask of an IPv4 address.
const ALL_BITS: Ipv4Address = Ipv4Address::new(255, 255, 255, 255);

/// The parts of a document that are of streams, by their handles.
#[derive(Debug, Default)]
pub(in crate::yang) struct StreamParts {
    pub(in crate::yang) identities: Vec<Identity>,
    pub(in crate::yang) schedulers: Vec<Scheduler>,
    /// Streams whose frames are numbered.
    pub(in crate::yang) generation: BTreeSet<u64>,
    /// Recovery functions.
    pub(in crate::yang) functions: Vec<Function>,
    /// How frames carry numbers: handle, port, whether out-facing, whether it writes them, the word.
    pub(in crate::yang) encodings: BTreeSet<(u64, String, bool, bool, String)>,
    /// Ports to which frames go, by address and VLAN.
    pub(in crate::yang) ways: BTreeMap<Way, BTreeSet<String>>,
}

/// An address with its VLANs.
pub(in crate::yang) type Way = (String, String);

/// The side of a port at which a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::yang) enum Side {
    In,
    Out,
}

/// A row of the functions that identify streams.
#[derive(Clone, Debug)]
pub(in crate::yang) struct Identity {
    pub(in crate::yang) handle: u64,
    pub(in crate::yang) side: Side,
    pub(in crate::yang) ports: Vec<String>,
    pub(in crate::yang) function: StreamIdentification,
    pub(in crate::yang) place: String,
}

/// The scheduler of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::yang) struct Scheduler {
    pub(in crate::yang) handle: u64,
    pub(in crate::yang) number: u64,
    pub(in crate::yang) rate: u64,
    pub(in crate::yang) burst: u64,
    pub(in crate::yang) group: u64,
    /// Most nanoseconds of its group.
    pub(in crate::yang) residence: u64,
    pub(in crate::yang) place: String,
}

/// A recovery function.
#[derive(Clone, Debug)]
pub(in crate::yang) struct Function {
    pub(in crate::yang) handle: u64,
    pub(in crate::yang) is_individual: bool,
    pub(in crate::yang) side: Side,
    pub(in crate::yang) ports: BTreeSet<String>,
    /// By the keys of a description.
    pub(in crate::yang) settings: Settings,
    pub(in crate::yang) place: String,
}

impl StreamParts {
    /// Takes what is not of interfaces and bridges.
    pub(super) fn read_document(&mut self, document: &mut Object, converted: &mut Converted) {
        for row in document.list("stream-identity") {
            self.identities.extend(identities(row, converted));
        }
        let Some(mut all) = document.object("frer") else { return };
        for mut row in all.list("sequence-generation") {
            row.take("index");
            row.take("direction-out-facing");
            self.generation.extend(handles(&mut row));
            row.end(converted);
        }
        for row in all.list("sequence-recovery") {
            self.functions.extend(functions(row, converted));
        }
        for mut row in all.list("sequence-identification") {
            let port = valid(&row.words("port").unwrap_or_default());
            let is_out = row.bool("direction-out-facing").unwrap_or(false);
            let is_active = row.bool("active").unwrap_or(false);
            let mut word = String::new();
            if let Some(encapsulation) = row.object("encapsulation") {
                let named = encapsulation.names();
                word = named.first().and_then(|name| name.rsplit(':').next()).unwrap_or_default().to_owned();
                if named.len() != 1 {
                    row.fault(": one encapsulation is expected");
                }
            }
            for handle in handles(&mut row) {
                self.encodings.insert((handle, port.clone(), is_out, is_active, word.clone()));
            }
            row.end(converted);
        }
        all.end(converted);
    }

    /// Takes the schedulers of a component, which are in filters of their own.
    pub(super) fn read_schedulers(&mut self, component: &mut Object, converted: &mut Converted) {
        if let Some(mut outer) = component.object_of(MODULE, "stream-gates") {
            for mut row in outer.list("stream-gate-instance-table") {
                row.take("stream-gate-instance-id");
                if row.bool("gate-enable") == Some(true) {
                    converted.lacks(format!("{}: a gate of filters that have schedulers", row.place));
                }
                row.end(converted);
            }
            outer.end(converted);
        }
        let Some(mut outer) = component.object_of(MODULE, "stream-filters") else { return };
        for row in outer.list("stream-filter-instance-table") {
            self.schedulers.extend(scheduler(row, converted));
        }
        outer.end(converted);
    }

    /// Takes the static entries of a filtering database.
    pub(super) fn read_ways(&mut self, database: &mut Object, ports: &[Port], converted: &mut Converted) {
        for mut entry in database.list("filtering-entry") {
            entry.take("database-id");
            let is_static = entry.word("entry-type", &["static", "dynamic"]) != Some("dynamic");
            let vids = entry.words("vids").unwrap_or_default();
            let address = entry.words("address").unwrap_or_default().to_uppercase().replace(':', "-");
            let mut own = BTreeSet::new();
            for mut map in entry.list("port-map") {
                let port = super::port_of(&mut map, ports);
                if let (Some(port), Some(mut entries)) = (port, map.object("static-filtering-entries")) {
                    let element = entries.word("control-element", &["forward", "filter", "forward-filter"]);
                    match element {
                        Some("forward") => {
                            own.insert(port.to_owned());
                        }
                        Some("forward-filter") => converted
                            .lacks(format!("{}: a port to which learned frames alone are to go", map.place)),
                        _ => {}
                    }
                    entries.end(converted);
                }
                map.end(converted);
            }
            // What was learned says where a talker is now.
            if is_static {
                self.ways.entry((vids, address)).or_default().extend(own);
            } else {
                converted.lacks(format!("{}: an entry that was learned", entry.place));
            }
            entry.end(converted);
        }
    }
}

/// The handles of a row.
fn handles(row: &mut Object) -> Vec<u64> {
    let texts = row.leaves("stream");
    let found: Vec<u64> = texts.iter().filter_map(|text| text.parse().ok()).collect();
    if found.is_empty() || found.len() < texts.len() {
        row.fault("/stream: handles are expected");
    }
    found
}

fn scheduler(mut row: Object, converted: &mut Converted) -> Option<Scheduler> {
    row.take("stream-filter-instance-id");
    row.take("wildcard");
    row.take("stream-gate-ref");
    let handle = row.number("stream-handle");
    let place = row.place.clone();
    if let Some(priority) = row.text("priority-spec").filter(|word| word != "wildcard") {
        converted.lacks(format!("{place}: that frames of priority {priority} alone have a scheduler"));
    }
    if let Some(octets) = row.number("max-sdu-size").filter(|octets| *octets > 0) {
        converted.lacks(format!("{place}: a greatest size of {octets} octets"));
    }
    let mut used = None;
    if let Some(mut reference) = row.object("scheduler") {
        used = reference.number("scheduler-ref");
        if reference.bool("scheduler-enable") == Some(false) {
            used = None;
            converted.lacks(format!("{place}: a scheduler that is not enabled"));
        }
        reference.end(converted);
    }
    let mut groups = BTreeMap::new();
    if let Some(mut outer) = row.object("scheduler-groups") {
        for mut group in outer.list("scheduler-group-instance-table") {
            let number = group.number("scheduler-group-instance-id").unwrap_or(0);
            let residence = group.at_most("max-residence-time", u64::from(u32::MAX));
            groups.extend(residence.map(|residence| (number, residence)));
            group.end(converted);
        }
        outer.end(converted);
    }
    let mut found = None;
    if let Some(mut outer) = row.object("schedulers") {
        for mut own in outer.list("scheduler-instance-table") {
            let number = own.number("scheduler-instance-id");
            let rate = own.number("committed-information-rate");
            let burst = own.number("committed-burst-size");
            let group = own.number("scheduler-group-ref");
            let is_used = number.is_some() && number == used;
            let residence = group.and_then(|group| groups.get(&group)).copied();
            if is_used && residence.is_none() {
                own.fault(": its group has no `max-residence-time`");
            }
            if let (true, Some(number), Some(rate), Some(burst), Some(group), Some(residence), Some(handle)) =
                (is_used, number, rate, burst, group, residence, handle)
            {
                let place = own.place.clone();
                found = Some(Scheduler { handle, number, rate, burst, group, residence, place });
            }
            own.end(converted);
        }
        outer.end(converted);
    }
    if used.is_some() && handle.is_none() {
        converted.lacks(format!("{place}: a scheduler of all frames"));
    } else if used.is_some() && found.is_none() {
        row.fault(": the scheduler that it names is not there, or lacks rate, burst size or group");
    }
    row.end(converted);
    found
}

fn functions(mut row: Object, converted: &mut Converted) -> Vec<Function> {
    row.take("index");
    let place = row.place.clone();
    let ports: BTreeSet<String> = row.leaves("port").iter().map(|port| valid(port)).collect();
    let side = if row.bool("direction-out-facing") == Some(true) { Side::Out } else { Side::In };
    let is_individual = row.bool("individual-recovery").unwrap_or(false);
    let mut settings = Settings::default();
    let mut is_match = false;
    if let Some(algorithm) = row.object("algorithm") {
        let names = algorithm.names();
        is_match = names.iter().any(|name| name.rsplit(':').next() == Some("match"));
    }
    settings.add("algorithm", if is_match { "match" } else { "vector" });
    let history = row.at_most("history-length", 32_768);
    if !is_match {
        settings.add("history-length", history.unwrap_or(2));
    }
    match row.number("reset-timeout") {
        Some(timeout) => settings.add("reset-timeout", format_args!("{timeout} ms")),
        None => row.fault(": no `reset-timeout`"),
    }
    settings.add("take-no-sequence", row.bool("take-no-sequence").unwrap_or(false));
    let looks = row.bool("latent-error-detection").unwrap_or(false);
    if let Some(mut latent) = row.object("latent-error-detection-parameters") {
        if looks {
            settings.add("latent-error-detection", true);
            for (key, unit) in [("difference", ""), ("period", " ms"), ("paths", ""), ("reset-period", " ms")]
            {
                let value = latent.number(key).map(|value| format!("{value}{unit}"));
                settings.maybe(format!("latent-error-detection-parameters.{key}"), value);
            }
        }
        latent.end(converted);
    } else if looks {
        settings.add("latent-error-detection", true);
    }
    let found = handles(&mut row);
    row.end(converted);
    let one = |handle| Function {
        handle,
        is_individual,
        side,
        ports: ports.clone(),
        settings: settings.clone(),
        place: place.clone(),
    };
    found.into_iter().map(one).collect()
}

/// The functions of a row: one at each side.
fn identities(mut row: Object, converted: &mut Converted) -> Vec<Identity> {
    row.take("index");
    let place = row.place.clone();
    let handle = row.number("handle");
    let mut facing = Vec::new();
    for (name, side) in [("in-facing", Side::In), ("out-facing", Side::Out)] {
        let Some(mut own) = row.object(name) else { continue };
        facing.push((side, own.leaves("input-port").iter().map(|port| valid(port)).collect::<Vec<_>>()));
        own.end(converted);
    }
    let function = function(&mut row, converted);
    row.end(converted);
    let (Some(handle), Some(function)) = (handle, function) else { return Vec::new() };
    let one =
        |(side, ports)| Identity { handle, side, ports, function: function.clone(), place: place.clone() };
    facing.into_iter().map(one).collect()
}

fn function(row: &mut Object, converted: &mut Converted) -> Option<StreamIdentification> {
    let mut found = None;
    if let Some(mut own) = row.object("null-stream-identification") {
        let (tagged, vlan) = (tagged(&mut own), vlan(&mut own));
        let destination = address(&mut own, "destination-mac");
        found = destination.map(|destination| StreamIdentification::Null { destination, tagged, vlan });
        own.end(converted);
    } else if let Some(mut own) = row.object("smac-vlan-stream-identification") {
        let (tagged, vlan) = (tagged(&mut own), vlan(&mut own));
        let source = address(&mut own, "source-mac");
        found = source.map(|source| StreamIdentification::Source { source, tagged, vlan });
        own.end(converted);
    } else if let Some(mut own) = row.object("ip-stream-identification") {
        found = Some(ip(&mut own));
        own.end(converted);
    } else if let Some(mut own) = row.object("mask-and-match-stream-identification") {
        found = mask(&mut own);
        own.end(converted);
    } else {
        converted
            .lacks(format!("{}: a function that is none of null, source, IP, and mask and match", row.place));
    }
    found
}

fn tagged(row: &mut Object) -> Tagged {
    match row.word("tagged", &["tagged", "priority", "all"]) {
        Some("tagged") => Tagged::Tagged,
        Some("priority") => Tagged::Priority,
        _ => Tagged::All,
    }
}

/// Zero is any.
fn vlan(row: &mut Object) -> Option<VlanId> {
    row.at_most("vlan", super::VLANS).and_then(|number| VlanId::new(u16::try_from(number).ok()?))
}

fn address(row: &mut Object, name: &str) -> Option<MacAddress> {
    let text = row.words(name);
    let found = text.as_deref().and_then(|text| text.replace('-', ":").parse().ok());
    if found.is_none() {
        row.fault(format_args!("/{name}: an address with hyphens is expected"));
    }
    found
}

/// An IPv4 address, of which zero is any.
fn ip_address(row: &mut Object, name: &str) -> Option<(Ipv4Address, Ipv4Address)> {
    let text = row.words(name)?;
    match text.parse::<Ipv4Address>() {
        Ok(address) => (address.to_bits() != 0).then_some((address, ALL_BITS)),
        Err(_) => {
            row.fault(format_args!("/{name}: `{text}`: an IPv4 address is expected"));
            None
        }
    }
}

fn ip(own: &mut Object) -> StreamIdentification {
    if own.word("tagged", &["tagged", "priority", "all"]) == Some("priority") {
        own.fault("/tagged: IP stream identification of frames without a tag alone is not known here");
    }
    let destination = match own.names().iter().any(|name| name.ends_with("destination-mac")) {
        true => address(own, "destination-mac"),
        false => None,
    };
    let protocol = own.text("next-protocol").filter(|word| word != "none");
    let number = match protocol.as_deref() {
        None => None,
        Some("udp") => Some(17),
        Some(other) => {
            own.fault(format_args!("/next-protocol: `{other}`; `udp` or `none` is known here"));
            None
        }
    };
    let most = u64::from(u16::MAX);
    let mut port = |name: &str| {
        own.at_most(name, most).filter(|port| *port > 0).and_then(|port| u16::try_from(port).ok())
    };
    let (source_port, destination_port) = (port("source-port"), port("destination-port"));
    StreamIdentification::Ip {
        destination,
        vlan: vlan(own),
        ip_source: ip_address(own, "ip-source"),
        ip_destination: ip_address(own, "ip-destination"),
        // 64 is any.
        dscp: own.at_most("dscp", 64).filter(|dscp| *dscp < 64).and_then(|dscp| u8::try_from(dscp).ok()),
        protocol: number,
        source_port,
        destination_port,
    }
}

fn mask(own: &mut Object) -> Option<StreamIdentification> {
    let has = |own: &Object, name: &str| own.names().iter().any(|key| key.rsplit(':').next() == Some(name));
    let mut pair = |name: &str| {
        let mut leaf = |what: &str| {
            let name = format!("{name}-mac-{what}");
            if has(own, &name) { address(own, &name).map(|address| address.0) } else { Some([0; 6]) }
        };
        Some((leaf("mask")?, leaf("match")?))
    };
    let (destination, source) = (pair("destination"), pair("source"));
    let length = own.number("msdu-mask-length");
    let mut octets = |name: &str| -> Option<Vec<u8>> {
        let Some(text) = own.words(name) else { return Some(Vec::new()) };
        let found: Option<Vec<u8>> = text
            .split('-')
            .map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2))
            .collect();
        if found.is_none() {
            own.fault(format_args!("/{name}: octets as two hexadecimal digits with hyphens are expected"));
        }
        found
    };
    let (masks, values) = (octets("msdu-mask")?, octets("msdu-match")?);
    if masks.len() != values.len() || length.is_some_and(|length| length != masks.len() as u64) {
        own.fault(": `msdu-mask-length`, and the octets of `msdu-mask` and `msdu-match`, are not as many");
        return None;
    }
    Some(StreamIdentification::MaskAndMatch {
        destination: destination?,
        source: source?,
        data: masks.into_iter().zip(values).collect(),
    })
}
