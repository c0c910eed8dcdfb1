//! The network control traffic that bounds count, as a line of text.
//!
//! Protocols that a description has send frames of their own, which are streams `protocol:port`. Frames of others count only
//! where the description states them.

use std::collections::BTreeSet;

use tautwire_model::Network;

/// What the bounds of a network count in addition to its streams: `network control: gptp as described`.
#[must_use]
pub fn line(network: &Network) -> String {
    let protocols: BTreeSet<&str> = network
        .streams
        .iter()
        .filter(|stream| stream.traffic.is_control())
        .filter_map(|stream| Some(stream.name.split_once(':')?.0))
        .collect();
    let described = protocols.into_iter().collect::<Vec<_>>().join(", ");
    let stated = network.network_control.map(|control| {
        let (burst, rate) = (control.arrival.burst, control.arrival.rate);
        format!("{burst} at {rate} leave every port, as `network-control` states")
    });
    match (described.is_empty(), stated) {
        (true, None) => "network control: none; `network-control` adds frames of protocols".to_owned(),
        (true, Some(stated)) => format!("network control: {stated}"),
        (false, None) => {
            format!("network control: {described}; `network-control` adds frames of other protocols")
        }
        (false, Some(stated)) => format!("network control: {described}; {stated}"),
    }
}
