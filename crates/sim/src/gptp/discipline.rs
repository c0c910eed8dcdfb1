//! Clocks that gPTP corrects: what an end station's applications send and stamp by (IEEE Std 802.1AS-2020, 10.1 and Annex B).
//!
//! Once in a sync interval the servo receives the offset of the corrected clock from the grandmaster's time; while
//! that is unknown, the clock runs on with its last rate. Ports and shapers follow the oscillator. Invariant: a stream
//! keeps within its arrival curve: a rate is within the tolerance that bounds assume, and after a step its talker
//! waits until its promise has room for a full burst, and a periodic one restarts.

use tautwire_core::gptp::{Adjustment, DisciplinedClock, Servo};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex, Traffic};
use tautwire_units::{BitRate, Duration, Instant};

use crate::engine::Engine;
use crate::gptp::CorrectedObservation;
use crate::plan::index;
use crate::recorder::Recorder;

/// The corrected clock of an end station.
pub(crate) struct Discipline {
    pub(crate) clock: DisciplinedClock,
    servo: Servo,
    interval: Duration,
    /// The oscillator's reading at the last correction.
    last: Option<Instant>,
    pub(crate) observed: CorrectedObservation,
}

impl Discipline {
    /// None of a bridge without gates, or without a servo.
    pub(crate) fn new(network: &Network, node: NodeIndex, now: Instant) -> Option<Self> {
        let gptp = network.gptp.as_ref()?;
        let servo = gptp.servo?;
        let described = &network.nodes[node.index()];
        let is_station = matches!(described.kind, NodeKind::EndStation { .. });
        let has_gates = || described.ports.clone().any(|port| network.gates(PortIndex(port)).is_some());
        (is_station || has_gates()).then(|| Self {
            clock: DisciplinedClock::new(now),
            servo: Servo::new(servo.step_min, servo.rate_max_ppb)
                .with_weights(servo.proportional, servo.integral),
            interval: tautwire_core::gptp::peer_delay::interval(gptp.log_sync),
            last: None,
            observed: CorrectedObservation::default(),
        })
    }

    /// The grandmaster's clock reads `time` when the oscillator reads `local`; what is done, if it is time.
    pub(crate) fn correct(&mut self, local: Instant, time: i128) -> Option<Adjustment> {
        let since = self.last.map(|last| local.since(last));
        // Clocks of neighbours: nine tenths of an interval are one.
        if since.is_some_and(|since| since * 10 < self.interval * 9) {
            return None;
        }
        self.last = Some(local);
        let behind = time - self.clock.reading(local);
        let adjustment = self.servo.sample(behind, since.unwrap_or(self.interval).max(self.interval));
        self.observed.steps += u64::from(!matches!(adjustment, Adjustment::Rate(_)));
        self.clock.adjust(local, adjustment);
        Some(adjustment)
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A node's corrected clock was adjusted: what it sends gets the new instants.
    pub(crate) fn offer_by_corrected_clock(
        &mut self,
        node: NodeIndex,
        clock: DisciplinedClock,
        adjustment: Adjustment,
    ) {
        let number = node.index();
        let local = self.nodes[number].clock.local(self.now);
        let network = self.network;
        for (stream, described) in network.streams.iter().enumerate() {
            if described.talker.index() != number || !self.talkers[stream].running {
                continue;
            }
            let talker = &mut self.talkers[stream];
            if let Adjustment::Step(by) | Adjustment::StepAndRate(by, _) = adjustment {
                let refill = described.arrival.filter(|promise| promise.rate > BitRate::ZERO);
                let refill =
                    refill.map_or(Duration::ZERO, |promise| promise.rate.duration_ceil(promise.burst));
                let reading = Instant::from_ps(u64::try_from(clock.reading(local)).unwrap_or(0));
                let earliest = reading + refill;
                match described.traffic {
                    // On the grid of the grandmaster's time, as all that send in this period.
                    Traffic::Periodic { interval, .. } => {
                        let periods = earliest.as_ps().div_ceil(interval.as_ps().max(1));
                        talker.source.restart(Instant::ZERO + interval * periods);
                    }
                    _ if by > 0 => talker.source.skip_to(earliest),
                    _ => {}
                }
            }
            talker.epoch += 1;
            self.offer_source(index(stream));
        }
        self.arm_sources(index(number));
    }
}
