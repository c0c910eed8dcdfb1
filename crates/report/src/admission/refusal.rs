//! Refusals of a CNC or an ACMaster in a run: the request and the limit that was reached, in results and as a table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::{Network, StreamIndex};
use tautwire_observe::{Cell, Column, Table};
use tautwire_sim::{Limit, Observation, Refusal};
use tautwire_units::Duration;

use crate::name;
use crate::table::microseconds;

/// A request that was tested and refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusalSummary {
    /// When, true time since the start.
    pub at_ps: u64,
    /// The node that tested it.
    pub node: String,
    /// The stream that was asked for.
    pub stream: String,
    /// The listener that asked.
    pub listener: String,
    /// Why.
    pub limit: LimitSummary,
}

/// The limit that refused it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LimitSummary {
    /// A deadline that would not hold.
    Deadline {
        /// Whose.
        stream: String,
        /// At which listener.
        listener: String,
        /// Its greatest delay, a deadline that would have fitted; without it, it has no bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bound_ps: Option<u64>,
        /// Its deadline; without it, it asks for a bound alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline_ps: Option<u64>,
        /// The port at which its delay grows most by the new stream (for the new one: is the greatest).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<String>,
    },
    /// A limit at which a frame could be lost, though all deadlines would hold.
    MayBeLost {
        /// Whose.
        stream: String,
        /// On the way to which listener.
        listener: String,
        /// The port where, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<String>,
    },
    /// What the classes of a port may hold.
    Bandwidth {
        /// The port.
        port: String,
        /// What the stream asks for, bit/s.
        wanted_bps: u64,
        /// What would have fitted, bit/s.
        left_bps: u64,
    },
}

/// What was refused in a run, in order of time.
pub(crate) fn summaries(network: &Network, observation: &Observation) -> Vec<RefusalSummary> {
    let name_of = |stream: StreamIndex| network.streams[stream.index()].name.clone();
    let node_of = |node| name::node(network, node).to_owned();
    let limit = |limit: &Limit| match limit {
        Limit::Late(late) if late.may_be_lost => LimitSummary::MayBeLost {
            stream: name_of(late.stream),
            listener: node_of(late.listener),
            port: late.port.map(|port| name::port(network, port)),
        },
        Limit::Late(late) => LimitSummary::Deadline {
            stream: name_of(late.stream),
            listener: node_of(late.listener),
            bound_ps: late.delay_max.map(Duration::as_ps),
            deadline_ps: late.deadline.map(Duration::as_ps),
            port: late.port.map(|port| name::port(network, port)),
        },
        Limit::Bandwidth { port, wanted, left } => LimitSummary::Bandwidth {
            port: name::port(network, *port),
            wanted_bps: wanted.as_bps(),
            left_bps: left.as_bps(),
        },
    };
    let summary = |refusal: &Refusal| RefusalSummary {
        at_ps: refusal.at.as_ps(),
        node: node_of(refusal.node),
        stream: name_of(refusal.stream),
        listener: node_of(refusal.listener),
        limit: limit(&refusal.limit),
    };
    observation.refusals.iter().map(summary).collect()
}

/// The requests that were refused, as a table; none if there is none.
pub(crate) fn requests(network: &Network, observation: &Observation) -> Option<Table> {
    const fn column(name: &'static str, title: &'static str) -> Column {
        Column { name, title }
    }
    let row = |refusal: RefusalSummary| {
        let RefusalSummary { at_ps, node, stream, listener, limit } = refusal;
        let limit = why(&limit);
        let texts = [stream, listener, node, limit].map(Cell::Text);
        [Cell::Number(at_ps)].into_iter().chain(texts).collect()
    };
    let rows: Vec<Vec<Cell>> = summaries(network, observation).into_iter().map(row).collect();
    (!rows.is_empty()).then(|| Table {
        name: "refused_requests",
        title: "Refused requests",
        about: "A request for a stream that a CNC or an ACMaster tested and refused, and the limit that it would exceed.",
        columns: vec![
            column("at_ps", "at"),
            column("stream", "stream"),
            column("listener", "listener"),
            column("refused_by", "refused by"),
            column("limit", "limit"),
        ],
        rows,
    })
}

fn why(limit: &LimitSummary) -> String {
    let us = |ps: &u64| microseconds(i128::from(*ps));
    match limit {
        LimitSummary::Deadline { stream, listener, bound_ps: None, .. } => {
            format!("{stream} would have no bound at {listener}")
        }
        LimitSummary::Deadline { stream, listener, bound_ps: Some(bound), deadline_ps, port } => {
            let deadline = deadline_ps.as_ref().map(us).unwrap_or_default();
            let port = port.as_ref().map(|port| format!(", most of it at {port}")).unwrap_or_default();
            format!("{stream} would take up to {} us to {listener}, deadline {deadline} us{port}", us(bound))
        }
        LimitSummary::MayBeLost { stream, listener, port } => {
            let port = port.as_ref().map(|port| format!(" at {port}")).unwrap_or_default();
            format!("a frame of {stream} could be lost{port} on its way to {listener}")
        }
        LimitSummary::Bandwidth { port, wanted_bps, left_bps } => {
            format!("it needs {wanted_bps} bit/s at {port}, where {left_bps} bit/s are left")
        }
    }
}
