//! A queue of a path: the class of a port, its service in true time, and what its links bring.

use crate::analysis::Analysis;
use crate::contribution::offered;
use crate::curve::{Line, scaled, span, volume};
use crate::plan::OWN_LANE;
use crate::port_state::PortState;

/// A class of a port that serves in the order of arrival. Bits are those of the wire.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// Latencies in micro-bits and rates in true time, as in `FifoService`.
    pub(super) lines: Vec<(u128, u64)>,
    /// How late a start may be in addition, true time.
    pub(super) slack: u64,
    /// The longest time from an instant at which none was waiting to a start behind it.
    pub(super) busy_max: u64,
    /// Per lane, what its link lets through: all within a time.
    pub(super) links: Vec<(u16, Vec<Line>)>,
    /// Network control that the node sends in the class.
    pub(super) control: Option<Line>,
}

impl Queue {
    /// None if the class does not serve in that order, or an entry of it counts for others.
    pub(super) fn of(analysis: &Analysis<'_>, state: &PortState, port: u32, class: u8) -> Option<Self> {
        let index = usize::from(class);
        let fifo = state.terms(index).fifo.as_ref()?;
        let plan = analysis.plan.port(port);
        let entries = analysis.plan.of_class(port, index);
        let shares = |entry: &u32| {
            let arriving = &analysis.arrivals[*entry as usize];
            arriving.is_represented || arriving.comes_by_others || arriving.share.is_some()
        };
        if entries.iter().any(shares) {
            return None;
        }
        let members = state.members(index);
        let offered = offered(plan, members, false).shaped;
        let (num, den) = fifo.ratio;
        // A latency in more bits of the wire, and a rate in fewer, than those that are served.
        let wire = |(latency, rate): &(u128, u64)| {
            let rate = u128::from(*rate) * u128::from(den) / u128::from(num);
            (scaled(*latency, den, num), u64::try_from(rate).unwrap_or(u64::MAX))
        };
        let local: Vec<(u128, u64)> = fifo.lines.iter().map(wire).filter(|(_, rate)| *rate > 0).collect();
        let busy = local.iter().flat_map(|(latency, rate)| {
            let left = |line: &Line| rate.checked_sub(line.rate).filter(|left| *left > 0);
            let bits = latency + volume(*rate, fifo.slack);
            let spans: Vec<u64> =
                offered.lines().iter().filter_map(|line| span(bits + line.burst, left(line)?)).collect();
            spans
        });
        let busy_max = plan.deviation.stretch(busy.min()?);
        let lines = local.iter().map(|(latency, rate)| (*latency, plan.deviation.shrink(*rate)));
        let lines: Vec<(u128, u64)> = lines.filter(|(_, rate)| *rate > 0).collect();
        let of_node = members.iter().find(|member| member.lane == OWN_LANE);
        let by_links = members.iter().filter(|member| member.lane != OWN_LANE);
        Some(Self {
            lines,
            slack: plan.deviation.stretch(fifo.slack),
            busy_max,
            links: by_links.map(|member| (member.lane, member.by_line(plan).collect())).collect(),
            control: of_node.and(plan.control.as_ref()).map(|(_, line, _)| *line),
        })
    }
}
