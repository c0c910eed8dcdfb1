//! `tautwire bridge`: one bridge of the description on interfaces of this machine, until it is stopped.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time;

use clap::Args;
use tautwire_live::{BridgeSettings, Sockets, run_bridge};
use tautwire_workbench::network::NodeIndex;
use tautwire_workbench::{Duration, in_runs};

use super::bridge_publisher::Publisher;
use super::bridge_status::Named;
use super::live::cannot;
use super::{message, remark, scenario};
use crate::args::{Input, positive};
use crate::exit::Exit;
use crate::output;
use crate::{nearest, signals};

pub(super) const HELP: &str = "\
Examples:
  tautwire bridge network.yaml --node sw1
  tautwire bridge network.yaml --node sw1 --status /run/sw1 --listen 127.0.0.1:9100

Each connected port of the node needs `interface` in the description. The interfaces are those of
the network namespace in which the command is started; it takes root, or CAP_NET_RAW and
CAP_NET_ADMIN. SIGINT, SIGTERM and SIGHUP end it; then the offloads that it turned off are put back,
and its counters go to stdout. --listen answers to GET /metrics (Prometheus) and /status.json.

Exit codes: 0 it ran until it was stopped, 2 wrong input, or a part of the description that is not
run live, 3 failure: an interface, a right or a rate is missing.";

/// A bridge on real ports.
#[derive(Debug, Args)]
pub(crate) struct Bridge {
    #[command(flatten)]
    pub(super) input: Input,
    /// The bridge of the description
    #[arg(long, value_name = "NAME")]
    pub(super) node: String,
    /// Time after which it stops, with its unit (10s) [default: it runs until it is stopped]
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(super) duration: Option<Duration>,
    /// Folder in which status.json and metrics.prom are kept, renewed every second
    #[arg(long, value_name = "FOLDER")]
    pub(super) status: Option<PathBuf>,
    /// Address of this machine alone on which it answers to HTTP (127.0.0.1:9100)
    #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
    pub(super) listen: Option<SocketAddr>,
    /// Frames by sockets of XDP, before the kernel's own stack: with tags, without stamps of reception
    #[arg(long)]
    pub(super) xdp: bool,
    /// Do not ask for real-time priority
    #[arg(long)]
    pub(super) ordinary_priority: bool,
}

/// An address that others cannot reach.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr =
        text.parse().map_err(|_| "an address and a port are needed, as 127.0.0.1:9100".to_owned())?;
    let is_own = match address.ip() {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address.is_loopback(),
    };
    if is_own { Ok(address) } else { Err("it answers on loopback alone: 127.0.0.1 or [::1]".to_owned()) }
}

pub(super) fn run(arguments: &Bridge) -> Result<Exit, Exit> {
    let scenario = scenario(&arguments.input.path)?;
    let network = &scenario.network;
    let Some(node) = network.nodes.iter().position(|node| node.name == arguments.node) else {
        let names = network.nodes.iter().map(|node| node.name.as_str());
        let nearest = nearest::names(&arguments.node, names, 5).join(", ");
        message(&format!("no node `{}`; nearest: {nearest}", arguments.node));
        return Err(Exit::WrongInput);
    };
    let named = Named { network, node: NodeIndex::at(node) };
    let publisher = Publisher::new(arguments.status.as_deref(), arguments.listen).map_err(|why| {
        message(&why);
        Exit::Failure
    })?;
    let stop = signals::stop();
    let settings = BridgeSettings {
        stop: &stop,
        duration: arguments.duration,
        is_real_time: !arguments.ordinary_priority,
        sockets: if arguments.xdp { Sockets::Xdp } else { Sockets::Packet },
        every: time::Duration::from_secs(1),
    };
    let ready = |words: &[String]| {
        for word in words {
            remark(word);
        }
        if let Some(address) = publisher.address() {
            remark(&format!("listening on http://{address}"));
        }
        remark(&format!("`{}` forwards", arguments.node));
    };
    let mut is_broken = false;
    let publish = |status: &_| {
        if let Err(error) = publisher.publish(named, status) {
            // Frames go on; a folder that is full says so once.
            if !std::mem::replace(&mut is_broken, true) {
                message(&format!("the status is not written: {error}"));
            }
        }
    };
    let status = run_bridge(network, named.node, settings, in_runs(), ready, publish)
        .map_err(|error| cannot(&error))?;
    output::result(&if arguments.input.json { named.json(&status) } else { named.table(&status) })?;
    Ok(Exit::Holds)
}
