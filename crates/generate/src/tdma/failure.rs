//! What fails in random TDMA networks, and the events of it.

use crate::Dice;

/// What fails in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TdmaFailure {
    /// Nothing.
    Nothing,
    /// The master stops, and the standby takes over.
    MasterStops,
    /// The cable of a slave is cut, and repaired later.
    SlaveCut,
    /// Without a standby: the master's cable, or that between two bridges, is cut, and repaired later.
    MasterCut,
    /// Without a standby: a bridge stops, and comes back.
    BridgeStops,
    /// Without a standby: bits are received wrong on all cables, so that synchronisation frames are lost.
    BitErrors,
    /// The same with a standby, which then opens cycles simultaneously with the master, some in a row.
    BitErrorsWithStandby,
    /// A talker makes frames as fast as it can.
    Babbling,
    /// A slave stops and comes back: with a start-up and heartbeats it starts up anew while the others run on.
    SlaveReturns,
    /// With a standby, permanently: the master's or the standby's cable is cut, or that between two bridges, or a bridge stops.
    DividedForGood,
    /// As bit errors, with a lifetime that is derived.
    BitErrorsDerivedLifetime,
    /// With a standby: the master's or the standby's cable is cut, or that between two bridges, or a bridge stops, and comes back.
    ReturnsWithStandby,
    /// The master stops and comes back as a slave of its standby; with a start-up it invites all anew.
    MasterReturns,
    /// Without a standby: the master stops, no station opens cycles, and it comes back.
    MasterReturnsAlone,
}

impl TdmaFailure {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Nothing,
        Self::MasterStops,
        Self::SlaveCut,
        Self::MasterCut,
        Self::BridgeStops,
        Self::BitErrors,
        Self::BitErrorsWithStandby,
        Self::Babbling,
        Self::SlaveReturns,
        Self::DividedForGood,
        Self::BitErrorsDerivedLifetime,
        Self::ReturnsWithStandby,
        Self::MasterReturns,
        Self::MasterReturnsAlone,
    ];

    pub(super) const fn has_standby(self) -> bool {
        !matches!(
            self,
            Self::MasterCut
                | Self::BridgeStops
                | Self::BitErrors
                | Self::BitErrorsDerivedLifetime
                | Self::MasterReturnsAlone
        )
    }

    /// Whether frames may be lost for want of synchronisation, and so have a lifetime.
    pub(super) const fn loses_synchronisation(self) -> bool {
        matches!(self, Self::SlaveCut | Self::BitErrorsWithStandby) || !self.has_standby()
    }

    /// Whether a node comes back, that may start up anew.
    pub(super) const fn starts_up(self) -> bool {
        matches!(self, Self::SlaveReturns | Self::MasterReturns)
    }

    /// Microseconds by which slots are longer, for their starts are less sure.
    pub(super) const fn air(self) -> u64 {
        if matches!(self, Self::BitErrorsWithStandby | Self::ReturnsWithStandby) { 80 } else { 0 }
    }

    pub(super) fn events(self, dice: &mut Dice, two: bool) -> String {
        let at = dice.between(20_000, 23_000);
        let back = at + dice.between(500, 15_000);
        let there_and_back = |gone: &str, comes: &str| {
            format!("events:\n  - {{at: {at} us, {gone}}}\n  - {{at: {back} us, {comes}}}\n")
        };
        match self {
            Self::Nothing | Self::BitErrors | Self::BitErrorsWithStandby | Self::BitErrorsDerivedLifetime => {
                String::new()
            }
            Self::DividedForGood => {
                let all = ["cut-link: to-master", "cut-link: to-standby", "stop-node: s", BRIDGES_CUT];
                let gone = *dice.one_of(&all[..if two { 4 } else { 3 }]);
                format!("events:\n  - {{at: {at} us, {gone}}}\n")
            }
            Self::ReturnsWithStandby => match dice.between(0, if two { 3 } else { 2 }) {
                0 => there_and_back("cut-link: to-master", "mend-link: to-master"),
                1 => there_and_back("cut-link: to-standby", "mend-link: to-standby"),
                3 => there_and_back(BRIDGES_CUT, BRIDGES_MENDED),
                _ => there_and_back("stop-node: s", "start-node: s"),
            },
            Self::MasterReturns => {
                let (at, back) = (at + 80_000, back + 80_000);
                format!(
                    "events:\n  - {{at: {at} us, stop-node: master}}\n  - {{at: {back} us, start-node: master}}\n"
                )
            }
            Self::MasterReturnsAlone => there_and_back("stop-node: master", "start-node: master"),
            Self::MasterStops => format!("events:\n  - {{at: {at} us, stop-node: master}}\n"),
            Self::SlaveCut => there_and_back("cut-link: to-slave-0", "mend-link: to-slave-0"),
            Self::MasterCut if two && dice.chance(40) => there_and_back(BRIDGES_CUT, BRIDGES_MENDED),
            Self::MasterCut => there_and_back("cut-link: to-master", "mend-link: to-master"),
            Self::BridgeStops => there_and_back("stop-node: s", "start-node: s"),
            Self::SlaveReturns => {
                let (at, back) = (at + 80_000, back + 80_000);
                format!(
                    "events:\n  - {{at: {at} us, stop-node: slave-0}}\n  \
                     - {{at: {back} us, start-node: slave-0}}\n"
                )
            }
            Self::Babbling => format!(
                "events:\n  - {{at: {at} us, change-traffic: {{stream: of-standby, traffic: {{type: periodic, \
                 interval: {} us}}}}}}\n",
                dice.between(10, 400)
            ),
        }
    }
}

const BRIDGES_CUT: &str = "cut-link: bridges";
const BRIDGES_MENDED: &str = "mend-link: bridges";
