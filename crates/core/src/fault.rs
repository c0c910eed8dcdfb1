//! Faults that can be planted in the machines, to prove that the tests find them.
//!
//! Only behind the feature `planted-faults`, which only tests enable; without it they are not compiled.

use core::cell::Cell;

/// A deliberate fault of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PlantedFault {
    /// Selection takes the lowest class that has an eligible frame.
    LowestClassFirst = 1,
    /// The line stays taken for as long again after every frame.
    LineTakenTwice,
    /// Credit is earned at half of idleSlope.
    HalfIdleSlope,
    /// Positive credit is kept when the queue is empty.
    CreditKeptWhenEmpty,
    /// A debt is not paid while the queue is empty.
    DebtKeptWhenEmpty,
    /// The credit-based shaper charges every frame twice.
    FrameChargedTwice,
    /// ATS takes CommittedInformationRate for half of what it is.
    HalfCommittedRate,
    /// ATS takes every bucket for empty at the start and never larger than the frame.
    NoCommittedBurst,
    /// All streams of a bridge share one ATS scheduler group.
    OneSchedulerGroup,
    /// ProcessingDelayMax is added twice.
    ProcessingDelayTwice,
    /// Other traffic ignores time-triggered slots. Only the search of these networks finds it.
    GuardForgotten,
    /// A virtual link lets a frame go every half of its BAG.
    HalfBag,
    /// The first sub-virtual-link that holds a frame has every turn.
    NoTurns,
    /// An overwriting link keeps the older message.
    OlderKept,
    /// Policing passes all frames of the right length.
    PolicingOpen,
    /// Policing charges every frame twice.
    PolicedTwice,
    /// Both copies of a frame are accepted.
    CopyAccepted,
    /// Protocol control frames are permanent when they come. Found by the search of synchronised networks alone.
    PermanenceForgotten,
    /// Protocol control frames of all domains are accepted. Only the search of clusters finds this fault and the next.
    DomainIgnored,
    /// A node of a lower synchronisation priority keeps to its own cluster.
    NoWayGiven,
    /// A compression master accepts any frames of its masters. Only the search of babbling masters and of
    /// high-integrity devices finds this fault and the next.
    BabbleTaken,
    /// The monitor of a command/monitor pair lets everything pass.
    MonitorAsleep,
    /// Frames out of schedule are forgotten if they come outside of the evaluation of a cycle. Only the searches of
    /// halves and of thirds find this fault and the next two.
    CliqueForgotten,
    /// Masters of all other cliques are counted together.
    CliquesSummed,
    /// A master that stays tentative takes no acknowledgement.
    AcknowledgementIgnored,
    /// idleSlope falls as soon as a reservation is released. Only the search of reserved networks finds it.
    SlopeLoweredAtOnce,
    /// A server's frame may run over the end of its window. These are found by the search of HaRTES networks alone.
    WindowOverrun,
    /// A server gives without end.
    CapacityNotTaken,
    /// A trigger message polls all that is released.
    ScheduleOverfull,
    /// What comes from other switches is looked for in every fourth elementary cycle.
    PoolsForgotten,
    /// The ACMaster acknowledges before all switches have replied.
    AcknowledgedEarly,
    /// A released stream stays in the switches.
    NotTakenOut,
    /// A switch derives servers that hold one message of their stream.
    ServerOfOneMessage,
    /// A switch derives memory pools that do.
    PoolOfOneMessage,
    /// The ACMaster ignores reports of streams that a failed link broke.
    BrokenIgnored,
    /// A producer is notified that its stream is gone while switches still carry a grant that ends because of a failed link.
    GoneTooEarly,
    /// A TDMA station does not correct its cycle when a synchronisation frame comes.
    CorrectionForgotten,
    /// A frame's travel time counts as zero.
    TravelForgotten,
    /// The standby opens every cycle when the master does.
    StandbyTooEarly,
    /// A station sends two frames in a slot.
    SlotUsedTwice,
    /// A slot of every n-th cycle is used in all.
    PhaseIgnored,
    /// A frame waits for a slot without end.
    LifetimeForgotten,
    /// Messages of the start-up leave before real-time frames.
    ManagementFirst,
    /// A datagram counts as complete when its last fragment has come, even if others were lost.
    PieceForgotten,
    /// The first piece is taken for the datagram.
    FirstFragmentComplete,
    /// A leave-all of the neighbour is not answered with what is declared.
    LeaveAllNotAnswered,
    /// A registrar ignores that an attribute is left.
    LeaveNotHeard,
    /// Bandwidth is tested and not locked when a listener is ready.
    ReadyNotLocked,
    /// A bridge does not add to a sync's correction what it took for it.
    ResidenceForgotten,
    /// Peer delay takes the neighbour's clock for as fast as the own.
    NeighborRateIgnored,
    /// The rate of the grandmaster is taken for that of the neighbour.
    CumulativeRateForgotten,
    /// The servo of a clock has no integral part. Found by the search of corrected clocks alone.
    IntegralForgotten,
    /// What is not registered any more is still declared on other ports. This and the next are found by the search of VLANs alone.
    WithdrawalNotPassedOn,
    /// A registration is passed on to the next port alone.
    PassedOnOnce,
    /// Three MRPDUs leave a port in fifteen join times. These are found by the search for a late admission alone.
    WindowTenfold,
    /// The ACMaster looks at replies when its patience is over.
    ReplyWaits,
    /// By shuffling, frames of other classes go before a time-triggered one that waits. Only the search of
    /// time-triggered networks finds this fault and the next two.
    ShuffledBehind,
    /// Of several messages within a period the first wins.
    FirstMessageKept,
    /// A time-triggered frame is accepted whenever it comes.
    WindowIgnored,
    /// The compression function leaves no outermost point out. Found by the search of faulty masters alone.
    OutermostKept,
    /// A frame starts whenever its gate is open. This and the next two are found by the search of gates alone.
    LookAheadForgotten,
    /// Every entry of a list shuts all gates for an instant.
    EntryShutsGate,
    /// Credit rises while the gate is shut.
    CreditNotFrozen,
    /// A recovery function passes every copy. This and the next two are found by the search of replicated streams alone.
    CopyPasses,
    /// A recovery function never begins anew.
    RecoveryTimerForgotten,
    /// Missing copies are not reported.
    LatentErrorOverlooked,
    /// A repeat of the last frame passes. Found by the search of replicated streams alone.
    RepeatPasses,
    /// A flow meter finds every frame green. This and the next two are found by the search of policed streams alone.
    MeterOpen,
    /// A stream gate passes frames while it is closed.
    ClosedGatePasses,
    /// The octets of an interval are not given back when its entry is executed again.
    OctetsNotGivenBack,
    /// A frame is cut behind its first octet. This and the next two are found by the search of preemption alone.
    FragmentTooShort,
    /// It is cut whatever is left of it.
    LastFragmentTooShort,
    /// A cut costs nothing on the line.
    CutForNothing,
    /// Frames are cut before the other end has responded. Found by the search of verification alone.
    UnverifiedActive,
    /// A frame that has begun is not cut. Found by the search of cycles with preemption alone.
    NothingIsCut,
    /// IP stream identification does not look at the destination port. This and the next are found by the search of identified streams alone.
    DestinationPortIgnored,
    /// Of several identification functions that match, the last one counts.
    LastIdentificationFirst,
}

impl PlantedFault {
    /// The ten that any network may show.
    pub const ALL: [Self; 10] = [
        Self::LowestClassFirst,
        Self::LineTakenTwice,
        Self::HalfIdleSlope,
        Self::CreditKeptWhenEmpty,
        Self::DebtKeptWhenEmpty,
        Self::FrameChargedTwice,
        Self::HalfCommittedRate,
        Self::NoCommittedBurst,
        Self::OneSchedulerGroup,
        Self::ProcessingDelayTwice,
    ];

    /// Those of servers and schedules of HaRTES.
    pub const OF_HARTS: [Self; 4] =
        [Self::WindowOverrun, Self::CapacityNotTaken, Self::ScheduleOverfull, Self::PoolsForgotten];

    /// Those of its admission.
    pub const OF_HARTS_ADMISSION: [Self; 6] = [
        Self::AcknowledgedEarly,
        Self::NotTakenOut,
        Self::ServerOfOneMessage,
        Self::PoolOfOneMessage,
        Self::BrokenIgnored,
        Self::GoneTooEarly,
    ];
    /// Those of stream reservation and gPTP, found by the search of these protocols alone.
    pub const OF_PROTOCOLS: [Self; 6] = [
        Self::LeaveAllNotAnswered,
        Self::LeaveNotHeard,
        Self::ReadyNotLocked,
        Self::ResidenceForgotten,
        Self::NeighborRateIgnored,
        Self::CumulativeRateForgotten,
    ];

    /// Those of MVRP.
    pub const OF_VLANS: [Self; 2] = [Self::WithdrawalNotPassedOn, Self::PassedOnOnce];

    /// Those that make admissions late.
    pub const OF_ADMISSION_TIME: [Self; 2] = [Self::WindowTenfold, Self::ReplyWaits];

    /// Those of TDMA and of datagrams.
    pub const OF_TDMA: [Self; 9] = [
        Self::CorrectionForgotten,
        Self::TravelForgotten,
        Self::StandbyTooEarly,
        Self::SlotUsedTwice,
        Self::PhaseIgnored,
        Self::LifetimeForgotten,
        Self::ManagementFirst,
        Self::PieceForgotten,
        Self::FirstFragmentComplete,
    ];

    /// Those of time-triggered virtual links.
    pub const OF_TIME_TRIGGERED: [Self; 4] =
        [Self::GuardForgotten, Self::ShuffledBehind, Self::FirstMessageKept, Self::WindowIgnored];

    /// Those of gates.
    pub const OF_GATES: [Self; 3] = [Self::LookAheadForgotten, Self::EntryShutsGate, Self::CreditNotFrozen];

    /// Those of frame replication and elimination.
    pub const OF_FRER: [Self; 4] =
        [Self::CopyPasses, Self::RecoveryTimerForgotten, Self::LatentErrorOverlooked, Self::RepeatPasses];

    /// Those of per-stream filtering and policing.
    pub const OF_FILTERING: [Self; 3] = [Self::MeterOpen, Self::ClosedGatePasses, Self::OctetsNotGivenBack];
    /// Those of stream identification.
    pub const OF_IDENTIFICATION: [Self; 2] = [Self::DestinationPortIgnored, Self::LastIdentificationFirst];
    /// Those of frame preemption.
    pub const OF_PREEMPTION: [Self; 3] =
        [Self::FragmentTooShort, Self::LastFragmentTooShort, Self::CutForNothing];

    /// That of the verification of frame preemption.
    pub const OF_VERIFICATION: [Self; 1] = [Self::UnverifiedActive];

    /// Those of cyclic queuing with preemption.
    pub const OF_CYCLES: [Self; 1] = [Self::NothingIsCut];

    /// Those of virtual links.
    pub const OF_VIRTUAL_LINKS: [Self; 6] = [
        Self::HalfBag,
        Self::NoTurns,
        Self::OlderKept,
        Self::PolicingOpen,
        Self::PolicedTwice,
        Self::CopyAccepted,
    ];
}

std::thread_local! {
    /// The fault of this thread; 0 for none.
    static PLANTED: Cell<u8> = const { Cell::new(0) };
}

/// Plants a fault in all machines that this thread drives, or takes it out again: other tests of the process see nothing of it.
pub fn plant(fault: Option<PlantedFault>) {
    PLANTED.set(fault.map_or(0, |fault| fault as u8));
}

/// Whether a fault is planted.
pub(crate) fn is_planted(fault: PlantedFault) -> bool {
    PLANTED.get() == fault as u8
}
