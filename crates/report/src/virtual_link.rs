//! Virtual links in results (ARINC 664 part 7): what each is granted, how much of its BAG a run used, what jitter its
//! end system has by the rule of the standard, and its bound.
//!
//! Sub-virtual-links of one link are one row. Not here: the bounds of each stream (`summarise.rs`), what is
//! wrong with a link (`tautwire-model`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_analysis::Bounds;
use tautwire_model::network::{Network, PortIndex, Stream};
use tautwire_model::virtual_link::{JITTER_LIMIT, VirtualLink, bandwidth, end_system_jitter, sub_links};
use tautwire_sim::{Observation, VirtualLinkObservation};
use tautwire_units::Duration;

use crate::grid::{TableOptions, number, render, text};
use crate::name;
use crate::summary::Summary;
use crate::table::microseconds;

/// A virtual link with all its sub-virtual-links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VirtualLinkSummary {
    /// Identifier.
    pub id: u16,
    /// Its end system.
    pub talker: String,
    /// Its streams, in order.
    pub streams: Vec<String>,
    /// Bandwidth allocation gap.
    pub bag_ps: u64,
    /// Lmin, octets from destination to frame check.
    pub frame_min: u64,
    /// Lmax.
    pub frame_max: u64,
    /// Whether it goes over both networks.
    pub redundant: bool,
    /// Bits of the wire per second that its BAG grants.
    pub granted_bps: u64,
    /// Share of the end system's line that this is, parts per million.
    pub granted_ppm: u64,
    /// Share of a run that the frames took which its end system let go, a BAG each, parts per million: above a million if it
    /// did not keep the BAG. None without a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bag_used_ppm: Option<u64>,
    /// Jitter of the end system's port by the rule of the standard; the greatest, if it goes over both networks.
    pub end_system_jitter_ps: u64,
    /// The most that the standard allows.
    pub end_system_jitter_max_ps: u64,
    /// The greatest bound of any listener; none without bounds, or if one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_max_ps: Option<u64>,
}

/// The virtual links of a network, each once, in the order of their first streams.
pub(crate) fn summaries(
    network: &Network,
    bounds: Option<&Bounds>,
    observation: Option<&Observation>,
) -> Vec<VirtualLinkSummary> {
    let mut known = Vec::new();
    let links = network.streams.iter().filter_map(|stream| Some((stream, stream.virtual_link?)));
    let mut all = Vec::new();
    for (stream, link) in links {
        if !known.contains(&link.id) {
            known.push(link.id);
            all.push(summary(network, stream, link, bounds, observation));
        }
    }
    all
}

fn summary(
    network: &Network,
    stream: &Stream,
    link: VirtualLink,
    bounds: Option<&Bounds>,
    observation: Option<&Observation>,
) -> VirtualLinkSummary {
    let parts: Vec<(usize, &Stream)> = sub_links(network, link.id).collect();
    let (_, granted) = bandwidth(&link);
    let roots = stream.hops.iter().filter(|hop| hop.previous.is_none());
    let ports: Vec<PortIndex> = roots.map(|hop| hop.port).collect();
    let line = ports.iter().filter_map(|port| network.ports[port.index()].links);
    let line = line.map(|links| network.links[links.egress.index()].rate.as_bps()).min().unwrap_or(0);
    let delay_max = bounds.and_then(|bounds| {
        let listeners = parts.iter().flat_map(|(number, _)| &bounds.streams[*number].listeners);
        let delays: Option<Vec<Duration>> = listeners.map(|one| one.delay.as_ref().ok().copied()).collect();
        delays?.into_iter().max()
    });
    let used = observation.and_then(|seen| {
        let left = seen.virtual_links.iter().find(|other| other.id == link.id)?;
        Some(bag_used(left, link.bag, seen.end))
    });
    VirtualLinkSummary {
        id: link.id,
        talker: name::node(network, stream.talker).to_owned(),
        streams: parts.iter().map(|(_, part)| part.name.clone()).collect(),
        bag_ps: link.bag.as_ps(),
        frame_min: link.frames.0.get(),
        frame_max: link.frames.1.get(),
        redundant: link.skew_max.is_some(),
        granted_bps: granted.as_bps(),
        granted_ppm: ppm(granted.as_bps().into(), line.into()),
        bag_used_ppm: used,
        end_system_jitter_ps: ports
            .iter()
            .map(|port| end_system_jitter(network, *port).as_ps())
            .max()
            .unwrap_or_default(),
        end_system_jitter_max_ps: JITTER_LIMIT.as_ps(),
        delay_max_ps: delay_max.map(Duration::as_ps),
    }
}

fn ppm(part: u128, total: u128) -> u64 {
    u64::try_from(part * 1_000_000 / total.max(1)).unwrap_or(u64::MAX)
}

/// The share of a run that frames took, a BAG each. The last one's may end after the run, so a link whose frames lie a BAG
/// apart uses all of it and no more: where they took more than the run, their distances count.
fn bag_used(left: &VirtualLinkObservation, bag: Duration, run: Duration) -> u64 {
    let taken = |frames: u64| u128::from(frames) * u128::from(bag.as_ps());
    let of_run = ppm(taken(left.frames), run.as_ps().into());
    let by_distance = match left.frames {
        0 | 1 => 0,
        _ if left.span.is_zero() => u64::MAX,
        frames => ppm(taken(frames - 1), left.span.as_ps().into()),
    };
    of_run.min(by_distance.max(1_000_000))
}

/// A table of the virtual links; empty without any.
#[must_use]
pub fn table(summary: &Summary, options: TableOptions) -> String {
    let columns = [
        number("link", 0),
        text("talker", 0),
        number("BAG ms", 0),
        number("Lmin", 4),
        number("Lmax", 3),
        text("networks", 5),
        number("of line", 2),
        number("BAG used", 1),
        number("jitter us", 6),
        number("bound us", 0),
    ];
    let percent = |ppm: u64| format!("{}.{} %", ppm / 10_000, ppm / 1_000 % 10);
    let row = |link: &VirtualLinkSummary| {
        vec![
            link.id.to_string(),
            link.talker.clone(),
            (link.bag_ps / 1_000_000_000).to_string(),
            link.frame_min.to_string(),
            link.frame_max.to_string(),
            if link.redundant { "A and B" } else { "one" }.to_owned(),
            percent(link.granted_ppm),
            link.bag_used_ppm.map_or_else(|| "-".to_owned(), percent),
            microseconds(link.end_system_jitter_ps.into()),
            link.delay_max_ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into())),
        ]
    };
    let rows: Vec<Vec<String>> = summary.virtual_links.iter().map(row).collect();
    render(&columns, &rows, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_model::load_text;

    /// The share in parts per million that a link with a BAG of a millisecond uses; its settings and traffic.
    fn used(link: &str, traffic: &str, run: &str) -> u64 {
        let text = format!(
            "name: used\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: 100 Mbit/s}}\n\
             nodes: {{a: {{type: end-station}}, b: {{type: end-station}}, s: {{type: bridge}}}}\n\
             links: [{{between: [a, s]}}, {{between: [b, s]}}]\n\
             streams:\n  - {{name: x, talker: a, listeners: b, payload: 128 B, virtual-link: {{id: 1, bag: 1 ms{link}}}, \
             traffic: {{type: periodic, {traffic}}}}}\nrun: {{duration: {run}}}\n"
        );
        let loaded = load_text("used", &text);
        let network = loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let seen = tautwire_sim::run(&network, &mut tautwire_sim::Options::default());
        summaries(&network, None, Some(&seen))[0].bag_used_ppm.expect("a run")
    }

    #[test]
    fn what_a_link_uses_of_its_bag_is_what_left() {
        for run in ["60 ms", "10500 us", "3100 us", "1 us"] {
            assert_eq!(used("", "interval: 1 ms", run), 1_000_000, "a frame a BAG, {run}");
        }
        assert_eq!(used("", "interval: 4 ms, offset: 1 ms", "60 ms"), 250_000);
        assert_eq!(used("", "interval: 4 ms, offset: 50 ms", "40 ms"), 0, "nothing left");
        let overwriting = used(", buffer: overwriting", "interval: 2 ms, burst: 3", "200 ms");
        assert_eq!(overwriting, 1_000_000, "two of three messages leave, the first and the last");
        assert_eq!(used(", buffer: overwriting", "interval: 10 us", "60 ms"), 1_000_000);
        assert_eq!(used("", "interval: 3 ms, burst: 2", "40 ms"), 700_000, "28 frames in 40 ms");
        let babbling = used(", regulated: false", "interval: 50 us", "60 ms");
        assert_eq!(babbling, 20_000_000, "20 frames a BAG");
        assert!(used(", regulated: false", "interval: 40 ms, burst: 90", "60 ms") > 2_000_000);
    }

    const AVIONICS: &str = include_str!("../../../scenarios/avionics.yaml");

    #[test]
    fn every_link_is_one_row_with_what_it_is_granted() {
        let network = load_text("avionics.yaml", AVIONICS).network.expect("no errors");
        let bounds = tautwire_analysis::bounds(&network);
        let links = summaries(&network, Some(&bounds), None);
        let ids: std::collections::BTreeSet<u16> =
            network.streams.iter().filter_map(|stream| stream.virtual_link.map(|link| link.id)).collect();
        assert_eq!(links.len(), ids.len());
        for link in &links {
            // Preamble, delimiter and gap are 20 octets; a frame a BAG, rounded up to a bit a second.
            let bits = u128::from((link.frame_max + 20) * 8) * 1_000_000_000_000;
            assert_eq!(u128::from(link.granted_bps), bits.div_ceil(u128::from(link.bag_ps)), "{}", link.id);
            assert!(link.end_system_jitter_ps > 40_000_000 && link.bag_used_ppm.is_none());
            assert_eq!(link.end_system_jitter_max_ps, 500_000_000);
        }
    }
}
