//! Faults on purpose, to show that the tests of the bounds would find them (feature `planted-faults`).
//!
//! Without the feature nothing of them is compiled.

use tautwire_model::Network;
use tautwire_units::Duration;

use crate::accuracy::Accuracy;
use crate::answers::{self, Asked};
use crate::result::Bounds;

/// A fault in the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedFault {
    /// No lower frame blocks.
    BlockingFrameForgotten,
    /// The bursts of the other streams of the class are left out.
    SameClassBurstForgotten,
    /// Of the frames of a busy period only the first of each stream are looked at.
    LaterFramesForgotten,
    /// What higher classes send while a frame waits is not taken off the line's rate.
    HigherRateNotSubtracted,
    /// Preamble and gap are left out of every frame.
    MediaOverheadForgotten,
    /// Bursts do not grow from hop to hop.
    BurstNotGrown,
    /// All clocks are taken as perfect.
    ClockToleranceForgotten,
    /// A link is taken to deliver bits and not frames: no `L_max` in line shaping.
    LineShapingFluid,
    /// The debt of a higher credit-based class, which it pays back as a burst, is left out.
    CreditDebtForgotten,
    /// The time in the stages of devices and hosts is taken at its least.
    ProcessingMaxForgotten,
    /// ProcessingDelayMax is not added to eligibility times.
    ProcessingDelayMaxForgotten,
    /// Bursts are taken not to grow by the bursts of others.
    OthersInSpreadForgotten,
    /// A scheduler is taken not to hold what is above its bucket.
    BucketExcessForgotten,
    /// Time before time-triggered slots, in which no frame fits, is not taken off. Found by the search of
    /// these networks alone.
    GuardForgotten,
    /// Slots are taken to last no longer where a correction sets the clock back in them. Found by the adversary alone.
    SetBackForgotten,
    /// A frame is not taken to wait for the turns of other sub-virtual-links.
    TurnsForgotten,
    /// A message that comes early is not taken to wait for those of the period before, which came late.
    LateMessagesForgotten,
    /// The frames of a babbling link that policing passes are left out.
    PolicedLinkForgotten,
    /// The regulator that sub-virtual-links share is taken to let bits through and not frames: no Lmax.
    SharedLinkFluid,
    /// Two copies of a frame are taken to come at once.
    SkewForgotten,
    /// A regulated link is taken to bound what its host or what it answers takes.
    ApplicationOfLinkForgotten,
    /// What a thread receives is left out of what delays the frames that it sends.
    ReceptionsForgotten,
    /// Of what waits for a thread of a talker one frame of each stream is counted.
    FramesAtThreadForgotten,
    /// Responses are taken to come as regularly as what they answer is handed over.
    ResponseJitterForgotten,
    /// A frame over two networks is taken to be accepted once, however far its copies are apart.
    SecondCopyForgotten,
    /// A frame of TDMA counts as having the next slot, whatever is queued before it.
    SlotsBeforeForgotten,
    /// Slots are taken to begin when they should.
    SlotErrorForgotten,
    /// A window counts as usable to its end.
    GateGuardForgotten,
    /// No frame counts as in transmission when a gate opens.
    OpeningsUnblocked,
    /// The last frame that starts in a window is taken to be the largest, and to start at its end.
    LastFrameLargest,
    /// Windows that count behind a lower frame or the first cycle are taken to count at once.
    WindowsAtOnce,
    /// Where frames are bounded since the run began, the first cycle is taken to begin with it.
    FirstCycleForgotten,
    /// What goes above a class is taken to come while it waits, and not to have waited for its own window.
    WaitAboveForgotten,
    /// What of a preemptable frame is not cut counts as nothing when a gate opens.
    RestAtOpeningForgotten,
    /// Where the list of gates changes, no window is taken to lie over the change.
    ChangeForgotten,
    /// A credit-based class is taken to have the greatest of its slopes with each list.
    LeastSlopeForgotten,
    /// Of frames with known instants none is taken to meet a change of lists.
    FramesAtChangeForgotten,
    /// A stream that an event stops is taken to end sooner where lists change.
    EndOfStreamTooEarly,
    /// Gates of a clock that is corrected are taken to switch when they should.
    PrecisionForgotten,
    /// Corrections of the clock of gates are taken to take nothing.
    CorrectionsForgotten,
    /// Preemptable frames are taken never to be held.
    HoldsForgotten,
    /// Of frames with known instants no other of the class is taken to be before one.
    FramesBeforeForgotten,
    /// A frame with known instants is taken to come at the earliest of them.
    ArrivalSpreadForgotten,
    /// No lower frame is taken to be under way when a frame with known instants comes.
    FrameUnderWayForgotten,
    /// What the first round of a circle of ports finds is taken for all. Found by the search of scheduled streams in rings alone.
    CircleNotClosed,
    /// A stream that an event starts is taken to have started with the run.
    StartOfStreamForgotten,
    /// A cut is taken to cost nothing. This and the next two are found by the search of preemption alone.
    CutsForFree,
    /// A frame is taken to be cut no more once it has begun.
    CutWhileQueuedAlone,
    /// What can be cut is taken to keep an express frame off longest.
    ShortestPartBlocks,
    /// Preemption is taken to be active before the other end has responded. This and the next are found by the search of verification alone.
    UnverifiedForgotten,
    /// mPackets of verification are taken not to be sent.
    VerificationForgotten,
    /// Copies are taken to come at once. Found by the search of replicated streams alone.
    GapOfCopiesForgotten,
    /// What a stuck sender repeats is left out. Found by the search of replicated streams alone.
    RepeatsForgotten,
    /// Frames of a constant rate are taken to follow each other at once. Found by the search of replicated streams alone.
    DistanceOfRateForgotten,
    /// Of copies of a stream that share a link one is counted. Found by the search of replicated streams alone.
    CopiesOnLinkForgotten,
    /// Copies with a priority of their own are taken to have that of their stream. Found by the search of replicated streams alone.
    PriorityOfCopiesForgotten,
    /// Copies are taken to come to the flow meter behind their elimination at once. Found by the search of policed copies alone.
    MeteredGapForgotten,
    /// A queue is taken to hold one frame of each stream. No bound shows it: it is found by frames that are lost.
    WaitingFramesForgotten,
    /// A flow meter is taken to pass what keeps to its committed rate alone. This and the next two are found by the search of policed
    /// streams alone.
    MeterWithoutExcess,
    /// A flow meter is taken to pass nothing at once.
    MeterBurstForgotten,
    /// A flow meter is taken to discard nothing of a stream that keeps to the bucket alone, whatever shares it.
    SharedMeterForgotten,
    /// A cyclic frame is taken to be sent in the cycle in which it is received. This and the next four are found by the search of cyclic
    /// streams alone.
    CycleOfReceptionForgotten,
    /// The talker of a cyclic stream is taken to hand its frames over when its cycle begins.
    LateHandOverForgotten,
    /// Cyclic frames are taken to delay no others.
    CyclicFramesForgotten,
    /// The cycles of all nodes are taken to begin at once.
    PhaseErrorForgotten,
    /// What a long line brings is taken to be sent on in the next cycle.
    LongLineForgotten,
    /// No higher frame is taken to come behind a frame by its own link while it waits. This and the next are found by the search of
    /// classes that come by one link alone.
    FramesBehindForgotten,
    /// A link is taken to bring bits of all classes together and not frames.
    ClassesOfLinkFluid,
    /// On a path a frame is taken to be at the next queue when it starts. This and the next two are found by the search of paths alone.
    FrameOnPathForgotten,
    /// Of streams that join a path the bursts are left out.
    BurstOnPathForgotten,
    /// On a path no lower frame blocks, and no higher class goes first.
    LatencyOnPathForgotten,
}

impl PlantedFault {
    /// Those that any network may show.
    pub const ALL: [Self; 13] = [
        Self::BlockingFrameForgotten,
        Self::SameClassBurstForgotten,
        Self::LaterFramesForgotten,
        Self::HigherRateNotSubtracted,
        Self::MediaOverheadForgotten,
        Self::BurstNotGrown,
        Self::ClockToleranceForgotten,
        Self::LineShapingFluid,
        Self::CreditDebtForgotten,
        Self::ProcessingMaxForgotten,
        Self::ProcessingDelayMaxForgotten,
        Self::BucketExcessForgotten,
        Self::OthersInSpreadForgotten,
    ];

    /// Those of the backlog in queues.
    pub const OF_QUEUES: [Self; 1] = [Self::WaitingFramesForgotten];

    /// Those of gates.
    pub const OF_GATES: [Self; 6] = [
        Self::GateGuardForgotten,
        Self::OpeningsUnblocked,
        Self::WaitAboveForgotten,
        Self::LastFrameLargest,
        Self::WindowsAtOnce,
        Self::FirstCycleForgotten,
    ];

    /// Those of per-stream filtering and policing.
    pub const OF_FILTERING: [Self; 3] =
        [Self::MeterWithoutExcess, Self::MeterBurstForgotten, Self::SharedMeterForgotten];
    /// Those of frame preemption.
    pub const OF_PREEMPTION: [Self; 3] =
        [Self::CutsForFree, Self::CutWhileQueuedAlone, Self::ShortestPartBlocks];

    /// Those of the verification of frame preemption.
    pub const OF_VERIFICATION: [Self; 2] = [Self::UnverifiedForgotten, Self::VerificationForgotten];

    /// Those of gates whose lists change.
    pub const OF_CHANGED_GATES: [Self; 2] = [Self::ChangeForgotten, Self::LeastSlopeForgotten];

    /// Those of gates whose clocks are corrected.
    pub const OF_CORRECTED_GATES: [Self; 2] = [Self::PrecisionForgotten, Self::CorrectionsForgotten];

    /// Those of frame preemption behind gates.
    pub const OF_CUTS_BEHIND_GATES: [Self; 3] =
        [Self::RestAtOpeningForgotten, Self::HoldsForgotten, Self::CutWhileQueuedAlone];

    /// Those of frames with known instants where lists change.
    pub const OF_INSTANTS_OVER_CHANGES: [Self; 2] =
        [Self::FramesAtChangeForgotten, Self::EndOfStreamTooEarly];

    /// That of frames with known instants in rings.
    pub const OF_INSTANTS_IN_RINGS: [Self; 1] = [Self::CircleNotClosed];

    /// Those of frames with known instants.
    pub const OF_INSTANTS: [Self; 4] = [
        Self::FramesBeforeForgotten,
        Self::ArrivalSpreadForgotten,
        Self::FrameUnderWayForgotten,
        Self::StartOfStreamForgotten,
    ];

    /// Those of cyclic queuing and forwarding.
    pub const OF_CYCLES: [Self; 5] = [
        Self::CycleOfReceptionForgotten,
        Self::LateHandOverForgotten,
        Self::CyclicFramesForgotten,
        Self::PhaseErrorForgotten,
        Self::LongLineForgotten,
    ];

    /// Those of classes that come by one link.
    pub const OF_LINKS: [Self; 2] = [Self::FramesBehindForgotten, Self::ClassesOfLinkFluid];

    /// Those of linear programs of paths.
    pub const OF_PATHS: [Self; 3] =
        [Self::FrameOnPathForgotten, Self::BurstOnPathForgotten, Self::LatencyOnPathForgotten];

    /// Those of TDMA.
    pub const OF_TDMA: [Self; 3] =
        [Self::SlotsBeforeForgotten, Self::SlotErrorForgotten, Self::ReceptionsForgotten];

    /// Those of what comes back: responses, and hosts that receive and send.
    pub const OF_ANSWERS: [Self; 3] =
        [Self::ReceptionsForgotten, Self::ResponseJitterForgotten, Self::FramesAtThreadForgotten];

    /// Those of virtual links.
    pub const OF_VIRTUAL_LINKS: [Self; 7] = [
        Self::TurnsForgotten,
        Self::LateMessagesForgotten,
        Self::PolicedLinkForgotten,
        Self::SharedLinkFluid,
        Self::SkewForgotten,
        Self::ApplicationOfLinkForgotten,
        Self::SecondCopyForgotten,
    ];
}

/// The bounds with a fault in them, or without.
#[must_use]
pub fn bounds_with_fault(network: &Network, fault: Option<PlantedFault>) -> Bounds {
    if fault == Some(PlantedFault::ClockToleranceForgotten) {
        let network = network.clone().altered(|parts| {
            for node in &mut parts.nodes {
                node.clock.tolerance_ppb = 0;
                node.clock.granularity = Duration::ZERO;
            }
        });
        return answers::settle(&network, Asked::default()).1;
    }
    if fault == Some(PlantedFault::PriorityOfCopiesForgotten) {
        let network = network.clone().altered(|parts| {
            let ports = &parts.ports;
            for stream in &mut parts.streams {
                for number in 0..stream.hops.len() {
                    let hop = &stream.hops[number];
                    let port = &ports[hop.port.index()];
                    let Some(before) = hop.previous.map(|before| &stream.hops[before as usize]) else {
                        continue;
                    };
                    if before.written.is_some() && !stream.is_put_back(before, port.node) {
                        let class = port.class_table.class_of(stream.priority, before.tagged.vlan);
                        stream.hops[number].class = class;
                    }
                }
            }
        });
        return answers::settle(&network, Asked::default()).1;
    }
    let of_paths = fault.is_some_and(|fault| PlantedFault::OF_PATHS.contains(&fault));
    let accuracy = if of_paths { Accuracy::Paths } else { Accuracy::default() };
    answers::settle(network, Asked { planted: fault, accuracy }).1
}
