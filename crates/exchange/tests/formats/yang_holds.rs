//! Documents of YANG, read back, hold what the bridges of the network have, whatever wrote them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tautwire_core::Priority;
use tautwire_core::frer::RecoveryAlgorithm;
use tautwire_model::network::{Network, NodeIndex, NodeKind, Port, PortIndex, TransmissionSelection};
use tautwire_model::psfp::BridgeFilters;

use crate::common::networks;
use crate::yang::{documents, list, number};

#[test]
fn documents_read_back_hold_what_bridges_have() {
    let mut seen = BTreeMap::<&str, usize>::new();
    for (name, network) in networks(6) {
        let bridges = network.nodes.iter().enumerate();
        let bridges: Vec<_> =
            bridges.filter(|(_, node)| matches!(node.kind, NodeKind::Bridge { .. })).collect();
        let documents = documents("yang", &network);
        assert_eq!(documents.len(), bridges.len(), "{name}");
        for ((index, node), text) in bridges.into_iter().zip(documents) {
            let document: Value = serde_json::from_str(&text.converted.text).unwrap();
            let interfaces = list(&document["ietf-interfaces:interfaces"]["interface"]);
            assert_eq!(interfaces.len(), node.ports.len(), "{name}");
            for (interface, own) in interfaces.iter().zip(node.ports.clone()) {
                let port = &network.ports[own as usize];
                let place = format!("{name}: {}.{}", node.name, port.name);
                let settings = &interface["ieee802-dot1q-bridge:bridge-port"];
                holds_classes(port, settings, &mut seen, &place);
                holds_gates(&network, PortIndex(own), settings, &mut seen, &place);
            }
            let component = &document["ieee802-dot1q-bridge:bridges"]["bridge"][0]["component"][0];
            holds_ways(&network, NodeIndex::at(index), component, &mut seen, &name);
            if let Some(filters) = network.filters_of(NodeIndex::at(index)) {
                holds_filters(&network, filters, component, &mut seen, &name);
            }
            holds_schedulers(&network, NodeIndex::at(index), &document, component, &mut seen, &name);
            holds_replication(
                &network,
                NodeIndex::at(index),
                &document,
                &text.converted.left_out,
                &mut seen,
                &name,
            );
        }
    }
    let often =
        ["credit-based", "preemption", "gates", "ways", "filters", "stream gates", "meters", "schedulers"];
    let at_times = ["generation", "recovery", "individual recovery", "latent errors"];
    let least = often.map(|what| (what, 10)).into_iter().chain(at_times.map(|what| (what, 2)));
    for (what, least) in least {
        assert!(seen.get(what).is_some_and(|count| *count > least), "{what}: {seen:?}");
    }
}

fn holds_classes(port: &Port, settings: &Value, seen: &mut BTreeMap<&str, usize>, place: &str) {
    let classes = &settings["traffic-class"]["traffic-class-table"];
    let status = &settings["ieee802-dot1q-preemption-bridge:frame-preemption-parameters"]["frame-preemption-status-table"];
    for priority in Priority::all() {
        let leaf = format!("priority{}", priority.number());
        assert_eq!(
            number(&classes[&leaf]),
            port.class_table.class_of(priority, true).index() as u64,
            "{place}"
        );
        let regenerated = port.priority_regeneration[priority.index()].index() as u64;
        assert_eq!(number(&settings["priority-regeneration"][&leaf]), regenerated, "{place}");
        if let Some(stated) = port.preemption.filter(|stated| stated.enabled && stated.supported) {
            let is_preemptable = stated.priorities >> priority.number() & 1 == 1;
            assert_eq!(status[&leaf] == "preemptable", is_preemptable, "{place}");
            *seen.entry("preemption").or_default() += 1;
        } else {
            assert!(status.is_null(), "{place}");
        }
    }
    let slopes = list(&settings["ieee802-dot1q-cbsa-bridge:cbsa"]["cbsa-parameter-table"]);
    let of = |class: usize| slopes.iter().find(|slope| number(&slope["traffic-class"]) == class as u64);
    for (class, own) in port.classes.iter().enumerate() {
        let slope = of(class).map(|slope| number(&slope["admin-idle-slope"]));
        match own.selection {
            TransmissionSelection::CreditBased { idle_slope } => {
                assert_eq!(slope, Some(idle_slope.as_bps()), "{place}");
                *seen.entry("credit-based").or_default() += 1;
            }
            TransmissionSelection::StrictPriority | TransmissionSelection::Ats => {
                assert_eq!(slope, None, "{place}")
            }
        }
    }
}

/// The list against that of the network, at many times of the cycle, and what the module demands.
fn holds_gates(
    network: &Network,
    port: PortIndex,
    settings: &Value,
    seen: &mut BTreeMap<&str, usize>,
    place: &str,
) {
    let table = &settings["ieee802-dot1q-sched-bridge:gate-parameter-table"];
    let Some(gates) = network.gates(port) else {
        assert!(table.is_null() || table["gate-enabled"] == false, "{place}");
        return;
    };
    assert_eq!(table["gate-enabled"], true, "{place}");
    let entries = list(&table["admin-control-list"]["gate-control-entry"]);
    assert!(entries.len() as u64 <= number(&table["supported-list-max"]), "{place}");
    let mut at = 0;
    for entry in entries {
        let interval = number(&entry["time-interval-value"]);
        assert!(interval > 0 && interval <= number(&table["supported-interval-max"]), "{place}");
        // Within, but for the nanoseconds at the ends that may be rounded.
        let ns = at + interval / 2;
        if ns > at && ns + 1 < at + interval {
            let mut end = 0;
            let own = gates.parameters.control_list.iter().find(|own| {
                end += own.time_interval.as_ps();
                ns * 1_000 < end
            });
            let own = own.unwrap_or_else(|| gates.parameters.control_list.last().unwrap());
            assert_eq!(number(&entry["gate-states-value"]), u64::from(own.gate_states), "{place}: {ns} ns");
        }
        at += interval;
    }
    assert_eq!(at, gates.parameters.cycle_time.floor().as_ps() / 1_000, "{place}: entries fill the cycle");
    let part = |cycle: &str, leaf: &str| u128::from(number(&table[cycle][leaf]));
    let cycle = &gates.parameters.cycle_time;
    let stated = (part("admin-cycle-time", "numerator"), part("admin-cycle-time", "denominator"));
    let difference = u128::from(cycle.numerator()) * stated.1
        - stated.0 * 1_000_000_000_000 * u128::from(cycle.denominator());
    // Less than a nanosecond too short.
    assert!(difference < 1_000 * stated.1 * u128::from(cycle.denominator()), "{place}");
    let most = (part("supported-cycle-max", "numerator"), part("supported-cycle-max", "denominator"));
    assert!(stated.0 * most.1 <= most.0 * stated.1, "{place}");
    *seen.entry("gates").or_default() += 1;
}

/// Where frames of each stream go that is not learned.
fn holds_ways(
    network: &Network,
    node: NodeIndex,
    component: &Value,
    seen: &mut BTreeMap<&str, usize>,
    name: &str,
) {
    let ports = &network.nodes[node.index()].ports;
    let entries = list(&component["filtering-database"]["filtering-entry"]);
    for stream in network.streams.iter().filter(|stream| !stream.learned && stream.replication.is_none()) {
        for hop in stream.hops.iter().filter(|hop| hop.previous.is_some() && ports.contains(&hop.port.0)) {
            if stream.traffic == tautwire_model::network::Traffic::Protocol {
                continue;
            }
            let address = stream.destination.to_string().replace(':', "-");
            let vids = stream.vlan.number().to_string();
            let entry = entries
                .iter()
                .find(|entry| entry["address"] == address.as_str() && entry["vids"] == vids.as_str());
            let number_of_port = u64::from(hop.port.0 - ports.start + 1);
            let is_there = |entry: &Value| {
                list(&entry["port-map"]).iter().any(|port| number(&port["port-ref"]) == number_of_port)
            };
            assert!(entry.is_some_and(is_there), "{name}: {}", stream.name);
            *seen.entry("ways").or_default() += 1;
        }
    }
}

/// Each stream at the bridge matches the filter that it matches in the network, with its gate and meter.
fn holds_filters(
    network: &Network,
    filters: &BridgeFilters,
    component: &Value,
    seen: &mut BTreeMap<&str, usize>,
    name: &str,
) {
    const WORDS: [&str; 8] = ["zero", "one", "two", "three", "four", "five", "six", "seven"];
    let of = |what: &str, list_name: &str| {
        list(&component[format!("ieee802-dot1q-psfp-bridge:{what}")][list_name])
    };
    let entries = of("stream-filters", "stream-filter-instance-table");
    let gates = of("stream-gates", "stream-gate-instance-table");
    let meters = of("flow-meters", "flow-meter-instance-table");
    let mut ids: Vec<u64> = entries.iter().map(|entry| number(&entry["stream-filter-instance-id"])).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{name}: each filter has its number");
    for (index, stream) in network.streams.iter().enumerate() {
        let handle = index as u64 + 1;
        let is_here = stream.hops.iter().any(|hop| network.far_end(hop).0 == filters.node);
        if !is_here || stream.traffic == tautwire_model::network::Traffic::Protocol {
            continue;
        }
        for priority in Priority::all() {
            let own = filters.filter_of(Some(tautwire_model::network::StreamIndex::at(index)), priority);
            let own = own.map(|own| &filters.filters[own]);
            let entry = entries.iter().find(|entry| {
                (!entry["wildcard"].is_null() || entry["stream-handle"] == handle)
                    && (entry["priority-spec"] == "wildcard"
                        || entry["priority-spec"] == WORDS[priority.index()])
            });
            assert_eq!(own.is_some(), entry.is_some(), "{name}: {}", stream.name);
            let (Some(own), Some(entry)) = (own, entry) else { continue };
            *seen.entry("filters").or_default() += 1;
            assert_eq!(number(&entry["max-sdu-size"]), u64::from(own.config.max_sdu.unwrap_or(0)), "{name}");
            let gate = gates.iter().find(|gate| gate["stream-gate-instance-id"] == entry["stream-gate-ref"]);
            let gate = gate.unwrap_or_else(|| panic!("{name}: a filter has a gate"));
            match own.config.gate.map(|gate| &filters.gates[gate]) {
                None => assert_eq!(gate["gate-enable"], false, "{name}"),
                Some(own) => {
                    assert_eq!(number(&gate["stream-gate-instance-id"]), u64::from(own.id), "{name}");
                    let intervals = list(&gate["admin-control-list"]["gate-control-entry"]);
                    let all: u64 = intervals.iter().map(|entry| number(&entry["time-interval-value"])).sum();
                    let cycle =
                        own.config.parameters.as_ref().map(|list| list.cycle_time.floor().as_ps() / 1_000);
                    assert_eq!(all, cycle.unwrap_or(0), "{name}");
                    *seen.entry("stream gates").or_default() += 1;
                }
            }
            let meter =
                meters.iter().find(|meter| meter["flow-meter-instance-id"] == entry["flow-meter-ref"]);
            assert_eq!(meter.is_some(), own.config.meter.is_some(), "{name}");
            if let (Some(meter), Some(own)) = (meter, own.config.meter) {
                let config = &filters.meters[own].config;
                let rate = config.committed_information_rate.as_bps();
                assert_eq!(number(&meter["committed-information-rate"]), rate, "{name}");
                assert_eq!(
                    number(&meter["committed-burst-size"]),
                    u64::from(config.committed_burst_size),
                    "{name}"
                );
                *seen.entry("meters").or_default() += 1;
            }
        }
    }
}

/// The scheduler of each stream, by its handle, and the handle by its frames.
fn holds_schedulers(
    network: &Network,
    node: NodeIndex,
    document: &Value,
    component: &Value,
    seen: &mut BTreeMap<&str, usize>,
    name: &str,
) {
    let ports = &network.nodes[node.index()].ports;
    let filters = list(&component["ieee802-dot1q-ats-bridge:stream-filters"]["stream-filter-instance-table"]);
    for (index, stream) in network.streams.iter().enumerate() {
        let handle = index as u64 + 1;
        let own = stream.hops.iter().filter(|hop| hop.previous.is_some() && ports.contains(&hop.port.0));
        let own = own.filter_map(|hop| hop.scheduler).next();
        let found = filters.iter().find(|filter| filter["stream-handle"] == handle);
        assert_eq!(own.is_some(), found.is_some(), "{name}: {}", stream.name);
        let (Some(own), Some(found)) = (own, found) else { continue };
        let own = &network.schedulers[own.index()];
        let scheduler = &found["schedulers"]["scheduler-instance-table"][0];
        assert_eq!(number(&scheduler["committed-information-rate"]), own.committed_information_rate.as_bps());
        assert_eq!(
            number(&scheduler["committed-burst-size"]),
            own.committed_burst_size.get(),
            "{name}: bits"
        );
        let identities = list(&document["ieee802-dot1cb-stream-identification:stream-identity"]);
        let own = identities.iter().filter(|identity| identity["handle"] == handle);
        let null =
            own.filter_map(|identity| identity["null-stream-identification"]["destination-mac"].as_str());
        let addresses: Vec<&str> = null.collect();
        // Other functions are written where filters need them.
        assert!(
            !addresses.is_empty() || network.identities.iter().any(|of| ports.contains(&of.port.0)),
            "{name}"
        );
        if stream.replication.is_none() {
            let destination = stream.destination.to_string();
            assert!(addresses.iter().all(|address| address.replace('-', ":") == destination), "{name}");
        }
        *seen.entry("schedulers").or_default() += 1;
    }
}

/// The functions of replication at a node, each where it is and with what it has.
fn holds_replication(
    network: &Network,
    node: NodeIndex,
    document: &Value,
    left_out: &[String],
    seen: &mut BTreeMap<&str, usize>,
    name: &str,
) {
    let frer = &document["ieee802-dot1cb-frer:frer"];
    let recoveries = list(&frer["sequence-recovery"]);
    let names = |ports: BTreeSet<PortIndex>| -> Vec<&str> {
        ports.into_iter().map(|port| network.ports[port.index()].name.as_str()).collect()
    };
    let (mut generated, mut count) = (Vec::new(), 0);
    for (index, stream) in network.streams.iter().enumerate() {
        let (handle, unchanged) = (index as u64 + 1, stream.hops.iter().all(|hop| hop.written.is_none()));
        let listed = format!("stream {}: its replication", stream.name);
        let is_listed = left_out.iter().any(|line| line.starts_with(&listed));
        let Some(own) = stream.replication.as_deref().filter(|_| unchanged && !is_listed) else { continue };
        if own.generation == node {
            generated.push(handle);
            *seen.entry("generation").or_default() += 1;
        }
        let of = |entry: &&Value| number(&entry["stream"][0]) == handle;
        for (place, recovery) in own.recoveries.iter().enumerate().filter(|(_, one)| one.node == node) {
            let here = stream.hops.iter().zip(&own.recovered).filter(|(_, at)| **at == Some(place as u32));
            let incoming = names(here.map(|(hop, _)| network.far_end(hop).1).collect());
            let outgoing = stream.hops.iter().map(|hop| hop.port);
            let outgoing = names(outgoing.filter(|port| network.ports[port.index()].node == node).collect());
            let (individual, merged): (Vec<&Value>, Vec<&Value>) =
                recoveries.iter().filter(of).partition(|entry| entry["individual-recovery"] == true);
            count += individual.len() + merged.len();
            let ports = |entry: &Value| entry["port"].clone();
            if let Some(parameters) = &recovery.individual {
                assert_eq!(
                    individual.iter().map(|entry| ports(entry)).collect::<Vec<_>>(),
                    incoming.iter().map(|port| serde_json::json!([port])).collect::<Vec<_>>(),
                    "{name}"
                );
                assert_eq!(
                    number(&individual[0]["reset-timeout"]) * 1_000_000_000,
                    parameters.reset_timeout.unwrap().as_ps()
                );
                *seen.entry("individual recovery").or_default() += 1;
            }
            if let Some(parameters) = &recovery.sequence {
                let [entry] = merged[..] else { panic!("{name}: {merged:?}") };
                assert_eq!(ports(entry), serde_json::json!(outgoing), "{name}");
                assert_eq!(entry["take-no-sequence"], parameters.take_no_sequence, "{name}");
                let length = entry.get("history-length").map(number);
                match parameters.algorithm {
                    RecoveryAlgorithm::Vector { history_length } => {
                        assert_eq!(length, Some(history_length.into()))
                    }
                    RecoveryAlgorithm::Match => {
                        assert_eq!((length, entry["algorithm"]["vector"].is_null()), (None, true))
                    }
                }
                let latent = &entry["latent-error-detection-parameters"];
                assert_eq!(
                    latent.get("paths").map(number),
                    recovery.latent.map(|latent| latent.paths.into()),
                    "{name}"
                );
                *seen.entry("recovery").or_default() += 1;
                *seen.entry("latent errors").or_default() += usize::from(recovery.latent.is_some());
            }
        }
    }
    let of: Vec<u64> =
        list(&frer["sequence-generation"]).iter().map(|entry| number(&entry["stream"][0])).collect();
    assert_eq!((of, recoveries.len()), (generated, count), "{name}");
    let identities = list(&document["ieee802-dot1cb-stream-identification:stream-identity"]);
    for entry in ["sequence-generation", "sequence-recovery", "sequence-identification"]
        .iter()
        .flat_map(|key| list(&frer[*key]))
    {
        for handle in list(&entry["stream"]) {
            assert!(identities.iter().any(|identity| identity["handle"] == *handle), "{name}: {handle}");
        }
    }
}
