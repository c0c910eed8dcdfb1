//! What a bridge has counted, as JSON and as a table.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tautwire_live::{BridgeStatus, ClassStatus, Drops, PortStatus, Spread, TimePort, TimeStatus};
use tautwire_workbench::Network;
use tautwire_workbench::mechanism_tables::{self, MechanismTable};
use tautwire_workbench::network::NodeIndex;
use tautwire_workbench::table::TableOptions;

/// The names of what was counted.
#[derive(Clone, Copy)]
pub(super) struct Named<'n> {
    pub(super) network: &'n Network,
    pub(super) node: NodeIndex,
}

impl Named<'_> {
    pub(super) fn bridge(&self) -> &str {
        &self.network.nodes[self.node.index()].name
    }

    /// The name of a port, and of its interface.
    pub(super) fn port(&self, status: &PortStatus) -> (&str, &str) {
        let port = &self.network.ports[status.port.index()];
        (&port.name, port.interface.as_deref().unwrap_or_default())
    }

    /// All of it.
    pub(super) fn json(&self, status: &BridgeStatus) -> String {
        let ports = status.ports.iter().map(|port| {
            let (name, interface) = self.port(port);
            json!({
                "port": name,
                "interface": interface,
                "received_frames": port.received,
                "received_octets": port.received_octets,
                "consumed_frames": port.consumed,
                "made_frames": port.made,
                "sent_frames": port.sent,
                "sent_octets": port.sent_octets,
                "busy_ps": port.busy.as_ps(),
                "socket_lost_frames": port.socket_lost,
                "classes": port.classes.iter().map(class).collect::<Vec<Value>>(),
                "dropped": port.drops.iter().map(drops).collect::<Vec<Value>>(),
            })
        });
        let streams = status.streams.iter().map(|(stream, seen)| {
            json!({
                "stream": self.network.streams[stream.index()].name,
                "received_frames": seen.received,
                "sent_frames": seen.sent,
                "dropped_frames": seen.dropped,
            })
        });
        let document = json!({
            "bridge": self.bridge(),
            "uptime_ps": status.uptime.as_ps(),
            "inside_frames": status.inside,
            "transmission_lateness": spread(status.lateness),
            "ports": ports.collect::<Vec<Value>>(),
            "streams": streams.collect::<Vec<Value>>(),
            "time": status.time.as_ref().map(time),
            "mechanisms": mechanisms(status),
        });
        format!("{document:#}\n")
    }

    /// For people: a line for each port, then what was dropped.
    pub(super) fn table(&self, status: &BridgeStatus) -> String {
        let mut text = String::new();
        for port in &status.ports {
            let (name, interface) = self.port(port);
            let _ = writeln!(
                text,
                "port {name} on {interface}: {} frames received, {} sent",
                port.received, port.sent
            );
            for class in port.classes.iter().filter(|class| class.sent > 0) {
                let [p50, p99, max] =
                    [class.residence.p50, class.residence.p99, class.residence.max].map(microseconds);
                let _ = writeln!(
                    text,
                    "  class {}: {} sent, at most {} waited; residence median {p50}, 99 % {p99}, max {max} us",
                    class.class, class.sent, class.waiting_max
                );
            }
            for Drops { class, reason, frames } in &port.drops {
                let class = class.map(|class| format!(" in class {class}")).unwrap_or_default();
                let _ = writeln!(text, "  {frames} dropped{class}: {reason}");
            }
            if port.socket_lost > 0 {
                let _ = writeln!(text, "  {} not read in time", port.socket_lost);
            }
        }
        if status.inside > 0 {
            let _ = writeln!(text, "{} frames had not gone on", status.inside);
        }
        if let Some(time) = &status.time {
            let master = match time.grandmaster {
                _ if time.is_grandmaster => "itself".to_owned(),
                Some(master) => identity(master),
                None => "none".to_owned(),
            };
            let roles: Vec<&str> = time.ports.iter().map(|port| port.role).collect();
            let _ = writeln!(text, "gPTP: grandmaster {master}; ports {}", roles.join(", "));
        }
        text.push_str(&mechanism_tables::shown(&mechanisms(status), TableOptions::default()));
        let late = status.lateness;
        let [p50, p99, max] = [late.p50, late.p99, late.max].map(microseconds);
        let _ = writeln!(text, "transmissions late by median {p50}, 99 % {p99}, max {max} us");
        text
    }
}

/// What its control machines know.
fn mechanisms(status: &BridgeStatus) -> Vec<MechanismTable> {
    status.tables.iter().cloned().map(MechanismTable::from).collect()
}

fn class(class: &ClassStatus) -> Value {
    json!({
        "class": class.class,
        "waiting_frames": class.waiting,
        "waiting_frames_max": class.waiting_max,
        "waiting_octets_max": class.waiting_octets_max,
        "sent_frames": class.sent,
        "residence": spread(class.residence),
    })
}

fn time(time: &TimeStatus) -> Value {
    let port = |port: &TimePort| {
        json!({
            "role": port.role,
            "capable": port.is_capable,
            "mean_link_delay_ps": port.delay.map(|delay| delay.as_ps()),
            "neighbour_rate_ppb": port.neighbour_ppb,
        })
    };
    json!({
        "grandmaster": time.grandmaster.map(identity),
        "is_grandmaster": time.is_grandmaster,
        "reading_ps": time.reading_ps,
        // More than 64 bits since the epoch: whole nanoseconds, rounded down.
        "grandmaster_ns": time.grandmaster_ps.and_then(|ps| i64::try_from(ps.div_euclid(1000)).ok()),
        "ports": time.ports.iter().map(port).collect::<Vec<Value>>(),
    })
}

/// A clock's identity as tools of PTP show it.
fn identity(octets: [u8; 8]) -> String {
    let [a, b, c, d, e, f, g, h] = octets;
    format!("{a:02x}{b:02x}{c:02x}.{d:02x}{e:02x}.{f:02x}{g:02x}{h:02x}")
}

fn drops(drops: &Drops) -> Value {
    json!({"class": drops.class, "reason": drops.reason, "frames": drops.frames})
}

fn spread(spread: Spread) -> Value {
    json!({"p50_ps": spread.p50.as_ps(), "p99_ps": spread.p99.as_ps(), "max_ps": spread.max.as_ps()})
}

/// Microseconds, rounded down to a nanosecond.
fn microseconds(span: tautwire_workbench::Duration) -> String {
    let ns = span.as_ps() / 1000;
    format!("{}.{:03}", ns / 1000, ns % 1000)
}
