//! What of a description a live run does not have: refusals, each one sentence, and differences that are stated.

use tautwire_model::network::{
    Clock, Delay, Distribution, NodeIndex, NodeKind, StagePosition, StreamIndex, Switching, Traffic,
};
use tautwire_model::{Network, building_blocks};
use tautwire_sim::{Hosted, InCommon};

use crate::control::PlugIns;

/// Building blocks of the data plane that are run live, by their names in the model.
const RUN: [&str; 3] = ["gates", FILTERS, "cyclic queuing and forwarding"];
const FILTERS: &str = "stream filters, gates and meters of bridges";

/// What the description asks for that cannot be run live; nothing if all of it can.
#[must_use]
pub fn refusals(network: &Network) -> Vec<String> {
    refusals_but(network, None)
}

/// The same of nodes that can have control machines with these plug-ins.
#[must_use]
pub fn refusals_but(network: &Network, plug_ins: Option<PlugIns>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut refuse = |is_so: bool, what: &str| {
        if is_so {
            found.push(format!("a live run has no {what} yet"));
        }
    };
    refuse(network.tdma.is_some() && plug_ins.is_none(), "TDMA (`tdma`)");
    refuse(network.time_triggered.is_some(), "time-triggered traffic (`time-triggered`)");
    refuse(network.as6802.is_some(), "synchronisation of AS6802 (`as6802`)");
    refuse(network.srp.is_some() && plug_ins.is_none(), "stream reservation");
    let is_central = network.srp.as_ref().is_some_and(|srp| srp.central.is_some());
    refuse(is_central && plug_ins.is_some(), "central configuration of reservations");
    refuse(network.harts.is_some(), "HaRTES (`harts`)");
    refuse(network.test_bed.is_some(), "tasks of a test bed");
    // A block that is new is refused until it is run.
    for block in building_blocks(network) {
        // The record that an agent gives back does not have what filters count.
        refuse(!RUN.contains(&block) || block == FILTERS && plug_ins.is_none(), block);
    }
    refuse(!network.events.is_empty(), "timeline (`events`)");
    refuse(network.streams.iter().any(|stream| stream.learned), "forwarding by learned addresses");
    refuse(network.streams.iter().any(|stream| stream.virtual_link.is_some()), "virtual links of ARINC 664");
    refuse(network.streams.iter().any(|stream| stream.datagrams.is_some()), "datagrams of several frames");
    refuse(network.hosts.iter().any(|host| !host.stacks.stacks.is_empty()), "protocol stacks of hosts");
    refuse(network.links.iter().any(|link| !link.up), "links that are down");
    refuse(network.links.iter().any(|link| link.bit_error_rate > 0), "bit errors of links");
    let cuts = network.devices.iter().any(|device| matches!(device.switching, Switching::CutThrough { .. }));
    refuse(cuts, "cut-through");
    let filters =
        |stream: usize| network.streams[stream].hops.iter().any(|hop| is_filtered(network, stream, hop.port));
    refuse((0..network.streams.len()).any(filters), "VLANs that a bridge filters on reception");
    let made = |traffic: &Traffic| matches!(traffic, Traffic::Polled) || traffic.is_control();
    let mut messages: Vec<StreamIndex> =
        network.gptp.iter().flat_map(|gptp| &gptp.messages).flatten().copied().collect();
    let hosted =
        plug_ins.and_then(|plug_ins| Hosted::new(network, NodeIndex(0), 0, plug_ins, &InCommon::default()));
    messages.extend(hosted.iter().flat_map(Hosted::carried).map(|(stream, _)| stream));
    let others = || (0..network.streams.len()).map(StreamIndex::at).filter(|one| !messages.contains(one));
    refuse(
        others().any(|stream| made(&network.streams[stream.index()].traffic)),
        "traffic that a machine causes",
    );
    // A way that two hops of a stream share would be a redundant one.
    let twice = network.streams.iter().find(|stream| {
        let ports = stream.hops.iter().map(|hop| hop.port).collect::<std::collections::BTreeSet<_>>();
        let listeners = stream.hops.iter().filter(|hop| hop.listener.is_some()).count();
        ports.len() != stream.hops.len() || listeners > stream.listeners.len()
    });
    refuse(twice.is_some(), "streams over several ways");
    let runs = |key: &str| {
        let mut known = plug_ins.into_iter().flatten();
        known.any(|plug_in| plug_in.section() == key && plug_in.runs_live())
    };
    let others = network.sections.keys().filter(|key| !runs(key));
    found.extend(others.map(|key| format!("a live run has no `{key}` yet")));
    found
}

/// Whether the port at the far end of a hop's link drops what comes of the stream (802.1Q-2022, 8.6.2).
fn is_filtered(network: &Network, stream: usize, port: tautwire_model::network::PortIndex) -> bool {
    let stream = &network.streams[StreamIndex::at(stream).index()];
    let link = network.ports[port.index()].links.expect("a hop's port is connected").egress;
    let to = network.links[link.index()].to;
    let at = &network.ports[to.index()];
    let vlan = network.vlans.iter().find(|vlan| vlan.id == stream.vlan);
    let is_member = vlan.is_some_and(|vlan| vlan.members.iter().any(|member| member.port == to));
    network.device(at.node).is_some() && at.ingress_filtering && !is_member
}

/// In what a live run differs from the described network, each one sentence.
#[must_use]
pub fn differences(network: &Network) -> Vec<String> {
    let mut found = Vec::new();
    let mut state = |is_so: bool, what: &str| {
        if is_so {
            found.push(what.to_owned());
        }
    };
    let clocks = || network.nodes.iter().map(|node| &node.clock);
    let drifts = |clock: &Clock| clock.drift_ppb.map_or(clock.tolerance_ppb != 0, |drift| drift != 0);
    state(
        clocks().any(|clock| drifts(clock) || clock.offset.as_ps() != 0),
        "all nodes read the clock of this machine: described offsets and drifts are left out",
    );
    state(
        network.gptp.is_some(),
        "gPTP measures alone, by clocks of its own that have the described drifts and offsets: talkers, gates and time stamps follow none",
    );
    state(
        clocks().any(|clock| !clock.step().is_zero()),
        "clocks have no steps: the described `granularity` is left out",
    );
    let stages = || network.devices.iter().flat_map(|device| &device.stages);
    let varies = |delay: &Delay| delay.random != Distribution::Zero;
    state(
        stages().any(|stage| varies(&stage.latency))
            || network.hosts.iter().any(|host| varies(&host.transmit))
            || network.links.iter().any(|link| link.phy_delay.min != link.phy_delay.max),
        "delays that are described as random have their least value",
    );
    state(
        stages().any(|stage| stage.occupancy != Delay::default()),
        "stages of devices take any number of frames at a time: their occupancy is left out",
    );
    state(
        stages().any(|stage| stage.position == StagePosition::Transmission),
        "stages of devices behind the selection are left out",
    );
    state(
        network.hosts.iter().any(|host| host.transmit != Delay::default()),
        "hosts hold any number of frames before their ports: the limits of host queues are left out",
    );
    state(
        network.hosts.iter().any(|host| host.receive != Delay::default() || host.time_stamp.is_some()),
        "delays end at the listener's interface: what hosts take behind it and their time stamps are left out",
    );
    state(
        network.streams.iter().any(|stream| stream.udp.is_some()),
        "frames that no program sends have their described lengths, without IP and UDP headers",
    );
    let learns = |kind: &NodeKind| matches!(kind, NodeKind::Bridge { learning: Some(_), .. });
    state(
        network.nodes.iter().any(|node| learns(&node.kind)),
        "bridges do not learn addresses: the streams have static ways",
    );
    found
}
