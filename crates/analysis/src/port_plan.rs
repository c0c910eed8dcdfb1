//! A port as the analysis wants it: its line, its classes over the run, its clock.

use tautwire_model::central::CentralTest;
use tautwire_model::gates::GateParameters;
use tautwire_model::network::{
    AtsOrganisation, Network, NodeIndex, NodeKind, PortIndex, TieRule, TimelineAction, TransmissionSelection,
};
use tautwire_units::{BitRate, Bytes};

use crate::clock::{Deviation, PS_PER_S, slack_ps};
use crate::curve::Line;
use crate::plan::wire;
use crate::precedence::Precedence;
use crate::reserved::ReservedPort;
use crate::result::ClassBounds;
use crate::service::Served;
use crate::timeline::Timeline;
use crate::windows::Windows;

/// Order of the frames of one class from several lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassOrder {
    /// In the order in which they become eligible.
    Fifo,
    /// The lanes in turn.
    RoundRobin,
    /// The lowest lane first.
    LowestLane,
}

/// Selection of a class over the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// Strict priority.
    StrictPriority,
    /// Credit-based, with the least and the greatest idleSlope of the run.
    CreditBased { slope_min: u64, slope_max: u64 },
    /// Asynchronous traffic shaping.
    Ats,
}

/// A connected egress port.
#[derive(Clone, Debug)]
pub(crate) struct PortPlan {
    /// Rate of the line on the node's clock.
    pub(crate) rate: u64,
    /// The same less the roundings of every frame.
    pub(crate) rate_served: u64,
    /// The rate less the loss by rounding to picoseconds alone.
    pub(crate) rate_charged: u64,
    pub(crate) deviation: Deviation,
    /// How late a step by its clock may be.
    pub(crate) slack: u64,
    /// Whether the readings of its node's clock step by more than a picosecond.
    pub(crate) steps: bool,
    pub(crate) two_stage: bool,
    pub(crate) credit_charged: u64,
    pub(crate) classes: [(Selection, ClassOrder); 8],
    /// Whether a class of it uses eligibility times.
    pub(crate) has_schedulers: bool,
    /// Network control that leaves here: its class, curve and largest frame in bits of the wire.
    pub(crate) control: Option<(usize, Line, u64)>,
    /// Whether its stages behind the selection are slower than its line.
    pub(crate) stages_too_slow: bool,
    /// By how much these delay one frame more than another.
    pub(crate) stages_jitter: u64,
    /// From the last bit sent to the last bit at the next node, greatest.
    pub(crate) behind_max: u64,
    /// Whether it depends on itself over other ports.
    pub(crate) is_in_cycle: bool,
    /// Classes that reservations shape.
    pub(crate) reserved: Vec<ReservedPort>,
    /// The frames that services carry here, and the time that they take of the line.
    pub(crate) served: Option<Box<Served>>,
    #[cfg(feature = "planted-faults")]
    pub(crate) fault: Option<crate::PlantedFault>,
}

impl PortPlan {
    /// The bounds of a class whose frames a service carries.
    pub(crate) fn carries(&self, class: usize) -> Option<&ClassBounds> {
        self.served.as_deref()?.carried[class].as_ref()
    }

    /// When its classes may send, if that is not always.
    pub(crate) fn windows(&self) -> Option<&Windows> {
        self.served.as_deref()?.windows.as_deref()
    }

    /// Which classes go before which, if that is not the higher class.
    pub(crate) fn precedence(&self) -> Option<&Precedence> {
        self.served.as_deref()?.precedence.as_deref()
    }

    /// Whether services give it an order of classes that is not that of their numbers, or no bound.
    pub(crate) fn is_by_curves_alone(&self) -> bool {
        let served = self.served.as_deref();
        served.is_some_and(|served| served.precedence.is_some() || served.unbounded.is_some())
    }

    /// Whether frames of a class go before those of another.
    pub(crate) fn goes_before(&self, other: usize, own: usize) -> bool {
        self.precedence().map_or(other > own, |precedence| precedence.goes_before(other, own))
    }

    /// For how many bits of the line a frame of `wire` of another class keeps one of a class off that goes before it.
    pub(crate) fn blocks(&self, (other, wire): (usize, u64), own: usize) -> u64 {
        match self.precedence() {
            Some(precedence) => precedence.blocks((other, wire), own),
            None if other < own => wire,
            None => 0,
        }
    }

    /// The rate at which its line serves, and that of the line itself.
    pub(crate) fn rates(&self) -> (u64, u64) {
        (self.rate_served, self.rate)
    }

    /// Whether a class uses eligibility times.
    pub(crate) fn is_ats(&self, class: usize) -> bool {
        self.classes[class].0 == Selection::Ats && self.carries(class).is_none()
    }
}

/// The least and the greatest slope of a class while its gate is open, by all lists of a port; of a port without gates the slope itself.
fn open_slopes(network: &Network, (number, class): (usize, u8), (slope, rate): (u64, u64)) -> (u64, u64) {
    let Some(gates) = &network.ports[number].gates else { return (slope, slope) };
    let of_list = |list: &GateParameters| match gates.credit.slope_is_average {
        true => list.oper_idle_slope(usize::from(class), BitRate::from_bps(slope)),
        false => Some(BitRate::from_bps(slope)),
    };
    let first = of_list(&gates.parameters).map_or(0, |scaled| scaled.as_bps().min(rate));
    let lists = network.events.iter().filter_map(|event| match &event.action {
        // A list in which it never opens leaves the slope unscaled.
        TimelineAction::ChangeGates(port, list) if port.index() == number => {
            Some(of_list(list).map_or(slope, BitRate::as_bps).min(rate))
        }
        _ => None,
    });
    lists.fold((first, first), |(least, most), one| (least.min(one), most.max(one)))
}

/// A connected port, except for what depends on its entries.
pub(crate) fn port_plan(network: &Network, timeline: &Timeline, number: usize) -> Option<PortPlan> {
    let port = &network.ports[number];
    let rate = network.links[port.links?.egress.index()].rate.as_bps();
    let node = &network.nodes[port.node.index()];
    let device = network.device(port.node);
    let deviation = Deviation::of(&node.clock);
    let slack = slack_ps(&node.clock);
    let tie = |tie_rule| match tie_rule {
        TieRule::ArrivalOrder => ClassOrder::Fifo,
        TieRule::RoundRobin => ClassOrder::RoundRobin,
        TieRule::LowestPort => ClassOrder::LowestLane,
    };
    let mut classes = [(Selection::StrictPriority, ClassOrder::Fifo); 8];
    for (class, (settings, slot)) in (0_u8..8).zip(port.classes.iter().zip(&mut classes)) {
        let order = device.map_or(ClassOrder::Fifo, |device| tie(device.tie_rule));
        *slot = match settings.selection {
            TransmissionSelection::StrictPriority => (Selection::StrictPriority, order),
            TransmissionSelection::CreditBased { idle_slope } => {
                let (slope_min, slope_max) = timeline.idle_slope(PortIndex::at(number), class, idle_slope);
                let of_class = |slope| open_slopes(network, (number, class), (slope, rate));
                let (slope_min, slope_max) = (of_class(slope_min).0, of_class(slope_max).1);
                (Selection::CreditBased { slope_min, slope_max }, order)
            }
            // A talker shapes before its queues; these know no eligibility.
            TransmissionSelection::Ats => match device {
                None => (Selection::StrictPriority, ClassOrder::Fifo),
                Some(device) => {
                    let ordered = device.ats.organisation == AtsOrganisation::EligibilityOrdered;
                    (Selection::Ats, if ordered { ClassOrder::Fifo } else { order })
                }
            },
        };
    }
    let control = network.network_control.map(|control| {
        let class = port.class_table.class_of(control.priority, true).index();
        let line = Line::new(control.arrival.burst.get(), deviation.fastest(control.arrival.rate.as_bps()));
        (class, line, wire(control.frame_max.max(Bytes::new(64))))
    });
    let credit_charged = match &node.kind {
        NodeKind::Bridge { device, .. } => network.devices[device.index()].credit_charged_overhead,
        NodeKind::EndStation { host } => network.hosts[host.index()].credit_charged_overhead,
    };
    // If an octet lasts a whole number of picoseconds, by a perfect clock, nothing is lost to rounding.
    let exact = (PS_PER_S * 8).is_multiple_of(u128::from(rate));
    let rounding = if exact { 0 } else { 1 };
    let lost = slack + rounding;
    Some(PortPlan {
        rate,
        rate_served: served(rate, lost),
        rate_charged: served(rate, rounding),
        deviation,
        slack: lost,
        steps: !node.clock.step().is_zero(),
        two_stage: device.is_some_and(|device| device.two_stage),
        credit_charged: credit_charged.get(),
        classes,
        has_schedulers: classes.iter().any(|(selection, _)| *selection == Selection::Ats),
        control,
        stages_too_slow: false,
        stages_jitter: 0,
        behind_max: 0,
        is_in_cycle: false,
        reserved: reserved(network, number),
        served: None,
        #[cfg(feature = "planted-faults")]
        fault: None,
    })
}

/// The credit-based classes of a port that reservations shape.
fn reserved(network: &Network, number: usize) -> Vec<ReservedPort> {
    let is_bridge = |node: NodeIndex| matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. });
    let central = network.srp.as_ref().map(|reservation| reservation.central.as_ref());
    let by_bandwidth =
        central.is_some_and(|central| central.is_none_or(|central| central.test == CentralTest::Bandwidth));
    let tested = by_bandwidth && is_bridge(network.ports[number].node);
    let classes = network.reserved_classes_at(PortIndex::at(number));
    let reserved = classes.filter_map(|reserved| {
        Some(ReservedPort {
            class: reserved.class.index(),
            tested,
            ceiling: reserved.idle_slope_max?.as_bps(),
            slopes: reserved.streams.iter().map(|(stream, slope)| (stream.0, slope.as_bps())).collect(),
        })
    });
    reserved.collect()
}

/// The rate at which a line serves that loses `lost` picoseconds with every frame: worst for the
/// smallest frame of all.
fn served(rate: u64, lost: u64) -> u64 {
    if lost == 0 {
        return rate;
    }
    let bits = u128::from(wire(Bytes::new(64)));
    let time = (bits * PS_PER_S).div_ceil(u128::from(rate)) + u128::from(lost);
    u64::try_from(bits * PS_PER_S / time).expect("less than the line's rate")
}
