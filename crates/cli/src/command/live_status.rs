//! What a run of `live` has counted, about each second, as a file in its folder while it goes on: for `serve` and for others that look on.
//!
//! `status.json` is always whole, and `network.json` is there from the start. When the run is over the first goes, and the second is
//! that of the results. Bounds are those of the description, as `bounds` gives them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tautwire_live::{ClockNow, ListenerNow, LiveStatus, PortNow};
use tautwire_workbench::network::{NodeIndex, PortIndex};
use tautwire_workbench::{Network, NetworkDocument, Scenario, port_name};

use super::bridge_publisher::replace;
use super::message;

/// Name of the file.
pub(super) const STATUS: &str = "status.json";
const NETWORK: &str = "network.json";

/// Where a run writes what it has counted.
pub(super) struct StatusFile {
    folder: PathBuf,
    /// Name and length of the run, and when it began.
    begun: Map<String, Value>,
    /// By stream and listener.
    bounds: BTreeMap<(String, String), u64>,
    is_broken: AtomicBool,
}

impl StatusFile {
    /// In the folder of a run.
    pub(super) fn new(scenario: &Scenario, folder: PathBuf) -> io::Result<Self> {
        let network = &scenario.network;
        let document = NetworkDocument::new(network, &scenario.text);
        replace(&folder, NETWORK, &format!("{}\n", json!(document)))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut begun = Map::new();
        begun.insert("format".to_owned(), 1.into());
        begun.insert("run".to_owned(), network.name.clone().into());
        begun.insert("begun_s".to_owned(), now.into());
        begun.insert("duration_ps".to_owned(), network.run.duration.as_ps().into());
        let bounds = tautwire_workbench::bounds(network);
        let mut known = BTreeMap::new();
        for (stream, proven) in network.streams.iter().zip(&bounds.streams) {
            for (listener, proven) in stream.listeners.iter().zip(&proven.listeners) {
                let listener = network.nodes[listener.index()].name.clone();
                known.extend(
                    proven.delay.as_ref().map(|delay| ((stream.name.clone(), listener), delay.as_ps())).ok(),
                );
            }
        }
        Ok(Self { folder, begun, bounds: known, is_broken: AtomicBool::new(false) })
    }

    /// Writes what was counted. A disk that is full says so once, and is no fault of the run.
    pub(super) fn write(&self, counted: Value) {
        let mut document = self.begun.clone();
        if let Value::Object(counted) = counted {
            document.extend(counted);
        }
        for row in document.get_mut("streams").and_then(Value::as_array_mut).into_iter().flatten() {
            let name = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let bound = self.bounds.get(&(name("stream"), name("listener"))).copied();
            if let Some(row) = row.as_object_mut() {
                row.insert("bound_ps".to_owned(), bound.into());
            }
        }
        if let Err(error) = replace(&self.folder, STATUS, &format!("{}\n", Value::Object(document)))
            && !self.is_broken.swap(true, Ordering::Relaxed)
        {
            message(&format!("what the run has counted is not written: {error}"));
        }
    }

    /// Takes it away: the run is over.
    pub(super) fn end(self) {
        let _ = fs::remove_file(self.folder.join(STATUS));
    }
}

/// What was counted, with names.
pub(super) fn counted(network: &Network, status: &LiveStatus) -> Value {
    let created: BTreeMap<u32, u64> = status.created.iter().copied().collect();
    let seen: BTreeMap<(u32, u32), &ListenerNow> =
        status.listeners.iter().map(|one| ((one.stream, one.listener), one)).collect();
    let mut streams = Vec::new();
    for (number, stream) in (0..).zip(&network.streams) {
        // Frames of gPTP are counted nowhere.
        if stream.traffic.is_control() && !created.contains_key(&number) {
            continue;
        }
        for (place, listener) in (0..).zip(&stream.listeners) {
            let seen = seen.get(&(number, place));
            let delays = seen.and_then(|seen| seen.delays);
            streams.push(json!({
                "stream": stream.name,
                "talker": network.nodes[stream.talker.index()].name,
                "listener": network.nodes[listener.index()].name,
                "sent_frames": created.get(&number).copied().unwrap_or(0),
                "received_frames": seen.map_or(0, |seen| seen.received),
                "missing_frames": seen.map_or(0, |seen| seen.missing),
                "late_frames": seen.map_or(0, |seen| seen.late),
                "delay_mean_ps": delays.map(|delays| delays.mean.as_ps()),
                "delay_p99_ps": delays.map(|delays| delays.p99.as_ps()),
                "delay_max_ps": delays.map(|delays| delays.max.as_ps()),
                "deadline_ps": stream.deadline.map(|deadline| deadline.as_ps()),
            }));
        }
    }
    let dropped = status.drops.iter().map(|((stream, hop, reason), frames)| {
        let stream = &network.streams[*stream as usize];
        let port = stream.hops.get(*hop as usize).map(|hop| port_name(network, hop.port));
        json!({"stream": stream.name, "port": port, "reason": reason.name(), "frames": frames})
    });
    json!({
        "elapsed_ps": status.elapsed.as_ps(),
        "ports": status.ports.iter().map(|now| port(network, now)).collect::<Vec<_>>(),
        "streams": streams,
        "dropped": dropped.collect::<Vec<_>>(),
        "clocks": status.clocks.iter().map(|now| clock(network, now)).collect::<Vec<_>>(),
        "out_of_order_frames": status.out_of_order,
        "duplicate_frames": status.duplicates,
        "foreign_frames": status.foreign,
    })
}

/// What the nodes of one run have counted, each by itself, together.
pub(super) fn together<'v>(nodes: impl Iterator<Item = &'v Value>) -> Value {
    let mut all = json!({"elapsed_ps": 0, "ports": [], "streams": [], "dropped": [], "clocks": []});
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    let sum = |to: &mut Value, from: &Value, key: &str| {
        to[key] = (to[key].as_u64().unwrap_or(0) + from[key].as_u64().unwrap_or(0)).into();
    };
    for node in nodes.filter(|node| node.is_object()) {
        all["elapsed_ps"] = all["elapsed_ps"].as_u64().max(node["elapsed_ps"].as_u64()).into();
        for key in ["out_of_order_frames", "duplicate_frames", "foreign_frames"] {
            sum(&mut all, node, key);
        }
        for key in ["ports", "dropped", "clocks"] {
            let rows = node[key].as_array().cloned().unwrap_or_default();
            all[key].as_array_mut().expect("a list from the start").extend(rows);
        }
        for row in node["streams"].as_array().into_iter().flatten().filter(|row| row.is_object()) {
            let name = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let streams = all["streams"].as_array_mut().expect("a list from the start");
            let place = *places.entry((name("stream"), name("listener"))).or_insert(streams.len());
            let Some(known) = streams.get_mut(place) else {
                streams.push(row.clone());
                continue;
            };
            for key in ["sent_frames", "received_frames", "missing_frames", "late_frames"] {
                sum(known, row, key);
            }
            // One node alone has received frames of the stream at this listener.
            for key in ["delay_mean_ps", "delay_p99_ps", "delay_max_ps"] {
                if known[key].is_null() {
                    known[key] = row[key].clone();
                }
            }
        }
    }
    all
}

fn port(network: &Network, port: &PortNow) -> Value {
    let index: PortIndex = port.port;
    let link = network.ports[index.index()].links.map(|links| &network.links[links.egress.index()]);
    let to = link.map(|link| &network.nodes[network.ports[link.to.index()].node.index()].name);
    let dropped: u64 = port.seen.classes.iter().map(|class| class.dropped).sum();
    json!({
        "port": port_name(network, index),
        "to": to,
        "rate_bps": link.map(|link| link.rate.as_bps()),
        "sent_frames": port.seen.frames,
        "sent_octets": port.seen.octets.get(),
        "busy_ps": port.seen.busy.as_ps(),
        "dropped_frames": dropped,
        "waiting_frames": port.waiting,
        "waiting_frames_max": port.seen.classes.map(|class| class.backlog_frames_max),
    })
}

fn clock(network: &Network, clock: &ClockNow) -> Value {
    let name = |node: NodeIndex| &network.nodes[node.index()].name;
    json!({
        "node": name(clock.seen.node),
        "grandmaster": clock.seen.grandmaster.map(name),
        "offset_ps": clock.last_ps,
        "offset_min_ps": clock.seen.offset.min_ps(),
        "offset_max_ps": clock.seen.offset.max_ps(),
        "without": clock.seen.without,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nodes_have_counted_is_put_together() {
        let row = |sent: u64, received: u64, mean: Option<u64>| {
            json!({"stream": "s", "listener": "x", "sent_frames": sent, "received_frames": received,
                "missing_frames": 0, "late_frames": received, "delay_mean_ps": mean, "delay_p99_ps": mean, "delay_max_ps": mean})
        };
        let talker = json!({"elapsed_ps": 7, "ports": ["a.p1"], "streams": [row(5, 0, None)], "dropped": [], "clocks": [], "foreign_frames": 2});
        let listener = json!({"elapsed_ps": 9, "ports": ["x.p1"], "streams": [row(0, 4, Some(3)), {"stream": "t", "listener": "x"}],
            "dropped": ["d"], "clocks": ["c"], "foreign_frames": 1});
        // What is none is left out, as is what another process has in another form.
        let none = json!([]);
        let all = together([&talker, &none, &listener].into_iter());
        assert_eq!(all["streams"][0], row(5, 4, Some(3)), "{all}");
        assert_eq!((&all["streams"][1]["stream"], &all["elapsed_ps"]), (&"t".into(), &9.into()));
        assert_eq!((&all["ports"], &all["foreign_frames"]), (&json!(["a.p1", "x.p1"]), &3.into()));
        assert_eq!((&all["dropped"], &all["clocks"]), (&json!(["d"]), &json!(["c"])));
        assert_eq!(together(std::iter::empty())["streams"], json!([]));
    }
}
