//! Transport of time: from a sync and its follow-up to the next link, or to the time here (IEEE Std 802.1AS-2020,
//! 11.2.14 and 11.2.15).
//!
//! A node adds to the correction the time since the message left its neighbour, by the grandmaster's clock: the link
//! delay and the residence time, scaled by the rate of the grandmaster to this clock.

use tautwire_units::{Duration, Instant};
use tautwire_wire::gptp::{FollowUpInformation, PtpBody, PtpMessage, PtpTimestamp, PtpTlv};

use super::peer_delay::{PeerDelay, time_ps};
use super::rate::RateOffset;

/// A sync that came in, with its follow-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyncReceived {
    /// Time of the grandmaster.
    origin: PtpTimestamp,
    correction: i64,
    information: FollowUpInformation,
    /// When it left the neighbour, by this clock, in picoseconds: it may be before the clock began.
    left_neighbor: i128,
    /// Rate of the grandmaster to this clock.
    rate: RateOffset,
}

impl SyncReceived {
    /// A sync that came in at `came` over a link whose neighbour answers. None if the follow-up is not the sync's, the
    /// domain is another one, or the link cannot be used.
    #[must_use]
    pub fn new(
        sync: &PtpMessage,
        follow_up: &PtpMessage,
        came: Instant,
        link: &PeerDelay,
        domain: u8,
    ) -> Option<Self> {
        let (one, two) = (&sync.header, &follow_up.header);
        let same = (one.source, one.sequence, one.domain) == (two.source, two.sequence, two.domain);
        let (PtpBody::Sync(_), PtpBody::FollowUp(origin)) = (&sync.body, &follow_up.body) else {
            return None;
        };
        if !same || one.domain != domain || !link.is_capable() {
            return None;
        }
        let information = follow_up.tlvs.iter().find_map(|tlv| match tlv {
            PtpTlv::FollowUpInformation(information) => Some(*information),
            _ => None,
        })?;
        let neighbor = link.neighbor_rate()?;
        let delay = neighbor.here(i128::from(link.delay()?.as_ps()));
        Some(Self {
            origin: *origin,
            correction: two.correction.checked_add(one.correction)?,
            information,
            left_neighbor: i128::from(came.as_ps()) - delay,
            rate: if planted!(CumulativeRateForgotten) {
                neighbor
            } else {
                RateOffset::from_scaled(information.cumulative_scaled_rate_offset).through(neighbor)
            },
        })
    }

    /// Rate of the grandmaster to this clock.
    #[must_use]
    pub fn grandmaster_rate(&self) -> RateOffset {
        self.rate
    }

    /// The grandmaster's time at a reading of this clock, in picoseconds since its epoch, rounded down.
    #[must_use]
    pub fn grandmaster_time(&self, reading: Instant) -> i128 {
        time_ps(self.origin, self.correction) + self.since_neighbor(reading)
    }

    /// Origin, correction and information of the follow-up to a sync that leaves at `leaves`: those of a bridge. None if
    /// the correction has no room.
    #[must_use]
    pub fn relayed(&self, leaves: Instant) -> Option<(PtpTimestamp, i64, FollowUpInformation)> {
        let mut added = (self.since_neighbor(leaves) << 16).div_euclid(1_000);
        if planted!(ResidenceForgotten) {
            added = 0;
        }
        let correction = i64::try_from(i128::from(self.correction) + added).ok()?;
        let cumulative_scaled_rate_offset = self.rate.to_scaled();
        let information = FollowUpInformation { cumulative_scaled_rate_offset, ..self.information };
        Some((self.origin, correction, information))
    }

    /// How long a sync may be without a successor: `syncReceiptTimeout` (3) intervals (10.7.3.1).
    #[must_use]
    pub fn receipt_timeout(interval: Duration) -> Duration {
        interval * 3
    }

    fn since_neighbor(&self, reading: Instant) -> i128 {
        self.rate.there(i128::from(reading.as_ps()) - self.left_neighbor)
    }
}
