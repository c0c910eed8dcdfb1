//! Registration of VLANs in results: where each was registered and when, and what did not get out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::Network;
use tautwire_sim::{Observation, VlanObservation};

use crate::grid::{TableOptions, number, render, text};
use crate::name;
use crate::summary::Summary;

/// A VLAN at a port of a bridge. Times are true ones since the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VlanRegistrationSummary {
    /// The bridge.
    pub bridge: String,
    /// Its port.
    pub port: String,
    /// The VLAN.
    pub vlan: u16,
    /// Times in which it was registered.
    pub registered: Vec<RegisteredSpan>,
    /// Copies that would have left there while it was not registered.
    pub filtered: u64,
}

/// A time in which a VLAN was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredSpan {
    /// From when on.
    pub from_ps: u64,
    /// Until when; absent: to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ps: Option<u64>,
}

/// The VLANs of a run.
pub(crate) fn summaries(network: &Network, observation: &Observation) -> Vec<VlanRegistrationSummary> {
    observation.vlan_registrations.iter().map(|seen| summary(network, seen)).collect()
}

fn summary(network: &Network, seen: &VlanObservation) -> VlanRegistrationSummary {
    let mut registered: Vec<RegisteredSpan> = Vec::new();
    for (at, begins) in &seen.changes {
        match registered.last_mut() {
            Some(last) if !begins => last.until_ps = Some(at.as_ps()),
            _ => registered.push(RegisteredSpan { from_ps: at.as_ps(), until_ps: None }),
        }
    }
    let port = &network.ports[seen.port.index()];
    VlanRegistrationSummary {
        bridge: name::node(network, port.node).to_owned(),
        port: port.name.clone(),
        vlan: seen.vlan.number(),
        registered,
        filtered: seen.filtered,
    }
}

/// A table of the registrations, a row for each time; empty if there are none.
#[must_use]
pub fn table(summary: &Summary, options: TableOptions) -> String {
    let columns = [
        text("VLAN at port", 0),
        number("VLAN", 0),
        number("registered ms", 0),
        number("left ms", 0),
        number("held back", 1),
    ];
    let ms = |ps: u64| format!("{}.{:03}", ps / 1_000_000_000, ps / 1_000_000 % 1_000);
    let mut rows = Vec::new();
    for seen in &summary.vlan_registrations {
        let name = format!("{}.{}", seen.bridge, seen.port);
        let row = |from: String, until: String| {
            vec![name.clone(), seen.vlan.to_string(), from, until, seen.filtered.to_string()]
        };
        if seen.registered.is_empty() {
            rows.push(row("-".to_owned(), "-".to_owned()));
        }
        for span in &seen.registered {
            rows.push(row(ms(span.from_ps), span.until_ps.map_or_else(|| "-".to_owned(), ms)));
        }
    }
    render(&columns, &rows, options)
}
