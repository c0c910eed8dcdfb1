//! Sources of a node, the streams that they are, and the filters of both ways.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::super::value::{Number, Unit, Value};
use super::{Decoded, Filters, Identified, Meter, Node, Reader, Source, get};

impl Reader<'_> {
    /// Streams of a talker: name, port of UDP or none for all, priority.
    pub(super) fn streams(&mut self, node: &str) -> Result<Vec<Identified>, String> {
        let layers = format!("{node}.bridging");
        self.flag(&format!("{node}.hasIncomingStreams"))?;
        let identified = self.value(&format!("{layers}.streamIdentifier.identifier.mapping"), 0)?;
        let encoded = self.value(&format!("{layers}.streamCoder.encoder.mapping"), 0)?;
        if !self.flag(&format!("{node}.hasOutgoingStreams"))? {
            return Ok(Vec::new());
        }
        let mut priorities = BTreeMap::new();
        if let Some((value, place)) = encoded {
            for one in value.list().unwrap_or(&[]) {
                let map = one.map().unwrap_or(&[]);
                if map.iter().any(|(key, _)| key == "vlan") {
                    self.converted.lacks(format!("{place}: VLANs of streams; all travel in one"));
                }
                let pcp = get(map, "pcp").and_then(|value| value.whole(Unit::None)).filter(|pcp| *pcp < 8);
                if let Some((name, pcp)) = get(map, "stream").and_then(Value::text).zip(pcp) {
                    priorities.entry(name.to_owned()).or_insert(pcp);
                }
            }
        }
        let mut found = Vec::new();
        if let Some((value, place)) = identified {
            for one in value.list().unwrap_or(&[]) {
                let map = one.map().unwrap_or(&[]);
                let Some(name) = get(map, "stream").and_then(Value::text) else { continue };
                let port = match get(map, "packetFilter") {
                    None => None,
                    Some(Value::Text(text)) if text == "*" => None,
                    Some(Value::Filter(filter)) => match filter.split_once("==") {
                        Some((field, port))
                            if ["udp.destPort", "has(udp) && udp.destPort"].contains(&field.trim()) =>
                        {
                            Some(
                                port.trim()
                                    .parse()
                                    .map_err(|_| format!("{place}: `{filter}`: one port is expected"))?,
                            )
                        }
                        _ => {
                            return Err(format!(
                                "{place}: the filter `{filter}`; `udp.destPort == number` is understood"
                            ));
                        }
                    },
                    Some(_) => {
                        return Err(format!(
                            "{place}: a filter is `\"*\"` or `expr(udp.destPort == number)`"
                        ));
                    }
                };
                found.push((name.to_owned(), port, priorities.get(name).copied()));
            }
        }
        Ok(found)
    }

    pub(super) fn sources(
        &mut self,
        talker: usize,
        node: &Node,
        names: &[String],
        streams: &[Identified],
        sources: &mut Vec<Source>,
    ) {
        let count = self.whole(&format!("{}.numApps", node.name), Unit::None);
        let count = self.converted.keep(count).flatten().unwrap_or(0);
        for number in 0..count.min(65_536) {
            let own = self.source((talker, number), node, names, streams);
            let Some(own) = self.converted.keep(own).flatten() else { continue };
            match sources.last_mut() {
                Some(last) if last.is_alike(&own) => last.burst += 1,
                _ => sources.push(own),
            }
        }
    }

    /// Groups, with the nodes that have joined them.
    pub(super) fn join(&mut self, names: &[String]) {
        for (node, name) in names.iter().enumerate() {
            let count = self.whole(&format!("{name}.numApps"), Unit::None).ok().flatten().unwrap_or(0);
            for number in 0..count.min(65_536) {
                let own = self.joined(node, &format!("{name}.app[{number}]"), number);
                self.converted.keep(own);
            }
        }
    }

    fn joined(&mut self, node: usize, path: &str, number: u64) -> Result<(), String> {
        let Some((value, place)) = self.value(&format!("{path}.io.multicastAddresses"), number)? else {
            return Ok(());
        };
        let port = self.value(&format!("{path}.io.localPort"), number)?;
        let port = port.and_then(|(value, _)| value.whole(Unit::None));
        let stated = value.list().ok_or_else(|| format!("{place}: a list of addresses is expected"))?;
        for address in stated {
            let own = address.text().and_then(|text| text.parse::<Ipv4Addr>().ok());
            let own = own.filter(Ipv4Addr::is_multicast).ok_or_else(|| {
                format!("{place}: a group has an IPv4 address from 224.0.0.0 to 239.255.255.255, in quotes")
            })?;
            self.groups.entry(own).or_default().push((node, port));
        }
        Ok(())
    }

    /// Who gets what a talker sends to an address and port: a node by its name, or those that have joined a group.
    fn listeners(
        &mut self,
        talker: usize,
        (address, place): &(Value, String),
        port: Option<u64>,
        path: &str,
        names: &[String],
    ) -> Option<(Vec<usize>, Option<Ipv4Addr>)> {
        let name = address.text().map(|text| text.split(['(', '%']).next().unwrap_or("").trim());
        let group = name.and_then(|name| name.parse::<Ipv4Addr>().ok()).filter(Ipv4Addr::is_multicast);
        let Some(group) = group else {
            let found = name.and_then(|name| names.iter().position(|own| own == name));
            if found.is_none() {
                self.converted
                    .lacks(format!("{place}: the source {path}; its destination is no node of the network"));
            }
            return found.map(|node| (vec![node], None));
        };
        let mut found: Vec<usize> = Vec::new();
        let joined = self.groups.get(&group).map_or(&[][..], Vec::as_slice);
        for (node, _) in joined.iter().filter(|(node, _)| *node != talker) {
            if found.contains(node) {
                continue;
            }
            found.push(*node);
            // All that have joined a group get its frames, whatever their ports.
            if !joined.contains(&(*node, port)) {
                self.converted.lacks(format!(
                    "{place}: {} has joined {group}, but not at the port of the source {path}: it gets the frames, and is written as a listener",
                    names[*node]
                ));
            }
        }
        if found.is_empty() {
            self.converted
                .lacks(format!("{place}: the source {path}; no other node has joined the group {group}"));
            return None;
        }
        found.sort_unstable();
        Some((found, Some(group)))
    }

    /// A source of a talker; none if an application is another one, or is left out.
    fn source(
        &mut self,
        (talker, number): (usize, u64),
        node: &Node,
        names: &[String],
        streams: &[Identified],
    ) -> Result<Option<Source>, String> {
        let path = format!("{}.app[{number}]", node.name);
        let label = self
            .value(&format!("{path}.display-name"), number)?
            .and_then(|(value, _)| value.text().map(str::to_owned));
        let Some((kind, place)) = self.value(&format!("{path}.typename"), number)? else {
            self.converted.lacks(format!("{path}: an application without a type"));
            return Ok(None);
        };
        // A sink's port counts in `expr(udp.destPort == ...)` alone; a source's says nothing.
        self.value(&format!("{path}.io.localPort"), number)?;
        match kind.text() {
            Some("UdpSourceApp") => {}
            Some("UdpSinkApp") => return Ok(None),
            _ => {
                self.converted.lacks(format!(
                    "{place}: the application {path}; UdpSourceApp and UdpSinkApp are understood"
                ));
                return Ok(None);
            }
        }
        let port = self.value(&format!("{path}.io.destPort"), number)?;
        let port = port.and_then(|(value, _)| value.whole(Unit::None));
        let address = self.value(&format!("{path}.io.destAddress"), number)?;
        let packets = self.packets(&path, number)?;
        let Some(address) = address else {
            return Err(format!("{path}.io.destAddress: it has no value"));
        };
        let listeners = self.listeners(talker, &address, port, &path, names);
        let (Some(packets), Some((listeners, group))) = (packets, listeners) else { return Ok(None) };
        let of = streams.iter().find(|(_, of, _)| of.is_none() || *of == port);
        let own = Source {
            place: packets.place,
            name: label.unwrap_or_else(|| format!("{}-{number}", node.name)),
            burst: 1,
            talker,
            listeners,
            group,
            interval: packets.interval,
            offset: packets.offset,
            is_phase_drawn: packets.is_phase_drawn,
            least: packets.least,
            octets: packets.most,
            priority: of.and_then(|(_, _, priority)| *priority),
            stream: of.map(|(name, _, _)| name.clone()),
        };
        Ok(Some(own))
    }

    pub(super) fn filters(&mut self, node: &str, way: &str, word: &str) -> Result<Filters, String> {
        let mut found = Filters::default();
        if let Some((value, place)) =
            self.value(&format!("{node}.bridging.streamCoder.decoder.mapping"), 0)?
        {
            for one in value.list().unwrap_or(&[]) {
                let map = one.map().unwrap_or(&[]);
                const KNOWN: [&str; 4] = ["stream", "pcp", "source", "destination"];
                if let Some((key, _)) = map.iter().find(|(key, _)| !KNOWN.contains(&key.as_str())) {
                    return Err(format!("{place}: `{key}` of a decoder is not supported"));
                }
                let text = |key| get(map, key).and_then(Value::text).map(str::to_owned);
                found.decoder.push(Decoded {
                    stream: text("stream").unwrap_or_default(),
                    priority: get(map, "pcp").and_then(|value| value.whole(Unit::None)),
                    source: text("source"),
                    destination: text("destination"),
                });
            }
        }
        if !self.flag(&format!("{node}.has{word}TrafficFiltering"))? {
            return Ok(found);
        }
        let path = format!("{node}.bridging.streamFilter.{way}");
        let count = self.whole(&format!("{path}.numStreams"), Unit::None)?.unwrap_or(0);
        self.bool(&format!("{path}.hasDefaultPath"))?;
        if let Some((value, place)) = self.value(&format!("{path}.classifier.mapping"), 0)? {
            for (name, meter) in value.map().unwrap_or(&[]) {
                let meter = meter
                    .whole(Unit::None)
                    .ok_or_else(|| format!("{place}: `{name}`: the number of a meter"))?;
                // INET's own networks name streams that are not there.
                if meter < count {
                    found.streams.insert(name.clone(), meter);
                }
            }
        }
        for number in 0..count.min(65_536) {
            let meter = self.meter(&path, number);
            found.meters.extend(self.converted.keep(meter).map(|meter| (number, meter)));
        }
        Ok(found)
    }

    fn meter(&self, path: &str, number: u64) -> Result<Meter, String> {
        let meter = format!("{path}.meter[{number}]");
        let kind = self.text(&format!("{meter}.typename"))?;
        let filter = self.text(&format!("{path}.filter[{number}].typename"))?;
        if kind.as_deref() != Some("EligibilityTimeMeter")
            || filter.as_deref() != Some("EligibilityTimeFilter")
        {
            return Err(format!(
                "{meter}: EligibilityTimeMeter with EligibilityTimeFilter alone is supported"
            ));
        }
        let number_of = |key: &str, unit| -> Result<(Number, String), String> {
            let found = self.value(&format!("{meter}.{key}"), 0)?;
            let (value, place) = found.ok_or_else(|| format!("{meter}: no `{key}`"))?;
            let number = value.number(unit).ok_or_else(|| format!("{place}: `{key}` has another unit"))?;
            Ok((number, place))
        };
        let (rate, place) = number_of("committedInformationRate", Unit::Rate)?;
        let (burst, _) = number_of("committedBurstSize", Unit::Size)?;
        let overhead = self.whole(&format!("{meter}.packetOverheadLength"), Unit::Size)?.unwrap_or(0);
        let residence = self.value(&format!("{meter}.maxResidenceTime"), 0)?;
        let residence = residence.and_then(|(value, _)| value.whole(Unit::Time));
        Ok(Meter { place, rate, burst, overhead, residence })
    }
}
