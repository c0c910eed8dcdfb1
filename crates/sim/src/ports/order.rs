//! Which networks run port by port, and in which order of ports.

use tautwire_model::Network;
use tautwire_model::network::{NodeKind, Stream};

use crate::plan::index;
use crate::plugged;
use crate::statistics::is_redundant;

/// The ports in an order in which each comes before those that its frames reach; none for a network that must run
/// instant by instant, because
///
/// - a machine makes frames or holds them, or is asked what becomes of one (`plugged.rs`);
/// - the run ends with a certain number of delivered frames: that is one order of all ports;
/// - a bridge learns addresses, from frames of all its ports in their order;
/// - copies of a frame come to a listener over several ports;
/// - frames go round in a circle of ports, each behind others of the circle.
pub(crate) fn order(network: &Network) -> Option<Vec<u32>> {
    let learns = |kind: &NodeKind| matches!(kind, NodeKind::Bridge { learning: Some(_), .. });
    let has_order = !plugged::is_wanted(network)
        && network.run.stop_after_frames.is_none()
        && !(network.streams.iter().any(|stream| stream.learned)
            && network.nodes.iter().any(|node| learns(&node.kind)))
        && network.streams.iter().all(has_one_way_to_each);
    if has_order { topological(network) } else { None }
}

/// Whether each listener of a stream takes its frames from one port.
fn has_one_way_to_each(stream: &Stream) -> bool {
    let mut listeners: Vec<u32> = stream.hops.iter().filter_map(|hop| hop.listener).collect();
    let count = listeners.len();
    listeners.sort_unstable();
    listeners.dedup();
    !is_redundant(stream) && listeners.len() == count
}

/// The connected ports in topological order, the lowest number first of those that may come next; none if there is a cycle.
fn topological(network: &Network) -> Option<Vec<u32>> {
    let mut behind: Vec<Vec<u32>> = vec![Vec::new(); network.ports.len()];
    for stream in &network.streams {
        for hop in &stream.hops {
            if let Some(previous) = hop.previous {
                behind[stream.hops[previous as usize].port.index()].push(hop.port.0);
            }
        }
    }
    let mut before = vec![0_u32; network.ports.len()];
    for ports in &mut behind {
        ports.sort_unstable();
        ports.dedup();
        for port in ports {
            before[*port as usize] += 1;
        }
    }
    let connected = |port: &usize| network.ports[*port].links.is_some();
    let ports: Vec<usize> = (0..network.ports.len()).filter(connected).collect();
    let mut order: Vec<u32> =
        ports.iter().filter(|port| before[**port] == 0).map(|port| index(*port)).collect();
    let mut next = 0;
    while let Some(port) = order.get(next).copied() {
        next += 1;
        for port in &behind[port as usize] {
            before[*port as usize] -= 1;
            if before[*port as usize] == 0 {
                order.push(*port);
            }
        }
    }
    (order.len() == ports.len()).then_some(order)
}
