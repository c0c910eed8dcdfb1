//! The changes that a search makes between two runs: by the record of the run before, or by chance.

use tautwire_model::Network;
use tautwire_model::network::{StreamIndex, Traffic, TransmissionSelection};
use tautwire_units::{Bytes, Duration};

use super::choices::Chosen;
use super::dice::Dice;
use super::freedom::{Freedom, Phase, StreamFreedom};
use super::record::Record;
use super::rows::{Met, Rank, Victim};

/// The input of moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) network: &'a Network,
    pub(crate) freedom: &'a Freedom,
    pub(crate) victim: &'a Victim,
    /// What all moves come behind: so that what takes longest on its way can be there in time.
    pub(crate) lead: Duration,
}

impl Ground<'_> {
    /// All begin together, as far as they may, late enough to be brought forward.
    pub(crate) fn base(&self, duration: Duration) -> Chosen {
        let mut chosen = Chosen::none(self.network);
        chosen.duration = duration;
        for (clock, open) in chosen.clocks.iter_mut().zip(&self.freedom.clocks) {
            *clock = if *open { self.lead } else { Duration::ZERO };
        }
        for (stream, open) in chosen.streams.iter_mut().zip(&self.freedom.streams) {
            stream.later = match open.phase {
                Some(Phase::Any) => self.lead,
                _ => Duration::ZERO,
            };
            stream.late_until = (!open.jitter.is_zero()).then_some(duration);
        }
        let own = &mut chosen.streams[self.victim.stream];
        if let Some(phase) = self.freedom.streams[self.victim.stream].phase {
            own.later = wrapped(phase, i128::from(self.lead.as_ps()));
        }
        own.late_until = None;
        chosen
    }

    /// Lets the streams that first meet the victim at a place of its path arrive with it: those above it or in its
    /// class at once, the largest below it just before all of them. Where its class waits for credit, only those in
    /// its class: see [`Self::delay_start`].
    pub(crate) fn align(&self, chosen: &mut Chosen, record: &Record, place: usize, frame: u32) {
        let victim = self.victim;
        let Some(at) = record.arrived(victim.stream, victim.way[place], frame) else { return };
        let credit = self.waits_for_credit(place);
        self.bring(chosen, record, place, at, |rank| rank == Rank::Same || !credit);
    }

    /// Lets frames above and below arrive when the victim is about to start. Frames above that come earlier would be
    /// gone by then, because the class leaves the line free while it waits for credit.
    pub(crate) fn delay_start(&self, chosen: &mut Chosen, record: &Record, place: usize, frame: u32) {
        let victim = self.victim;
        let Some(at) = record.selected(victim.stream, victim.way[place], frame) else { return };
        self.bring(chosen, record, place, at, |rank| rank != Rank::Same);
    }

    /// Whether the victim's class at a place is credit-based.
    pub(crate) fn waits_for_credit(&self, place: usize) -> bool {
        let hop = &self.network.streams[self.victim.stream].hops[self.victim.way[place]];
        let port = &self.network.ports[hop.port.index()];
        matches!(port.classes[hop.class.index()].selection, TransmissionSelection::CreditBased { .. })
    }

    /// Lets the streams of these ranks that first meet the victim at a place arrive just before an instant.
    fn bring(
        &self,
        chosen: &mut Chosen,
        record: &Record,
        place: usize,
        at: u64,
        comes: impl Fn(Rank) -> bool,
    ) {
        let mut moved = vec![false; chosen.clocks.len()];
        let here = || self.victim.met.iter().filter(|met| met.place == place && met.moves && comes(met.rank));
        let mut earliest = at;
        for met in here().filter(|met| met.rank != Rank::Lower) {
            let Some(bunch) = record.nearest(met.stream, met.hop, at) else { continue };
            let reference = match met.rank {
                Rank::Same => self.last_by_line(record, met, at).unwrap_or(bunch.last),
                _ => bunch.first,
            };
            let by = i128::from(at) - 1 - i128::from(reference);
            if self.shift(chosen, met.stream, by, &mut moved) {
                earliest = earliest.min(moved_by(bunch.first, by));
                self.tie_jitter(chosen, met.stream, moved_by(bunch.created, by));
            }
        }
        let size = |met: &&Met| self.network.streams[met.stream].payload_max;
        let lower = here().filter(|met| met.rank == Rank::Lower).max_by_key(size);
        if let Some(met) = lower
            && let Some(bunch) = record.nearest(met.stream, met.hop, earliest)
        {
            let by = i128::from(earliest) - 1 - i128::from(bunch.last);
            if self.shift(chosen, met.stream, by, &mut moved) {
                self.tie_jitter(chosen, met.stream, moved_by(bunch.created, by));
            }
        }
    }

    /// When the last of those arrives that come by the same line as one, and are of the victim's class.
    fn last_by_line(&self, record: &Record, one: &Met, at: u64) -> Option<u64> {
        one.line?;
        let same = |met: &&Met| {
            met.place == one.place && met.line == one.line && met.rank == Rank::Same && met.moves
        };
        let near = self.victim.met.iter().filter(same);
        let near = near.filter_map(|met| record.nearest(met.stream, met.hop, at)).map(|bunch| bunch.last);
        // Only of those that already come together: else each is moved on its own.
        let own = record.nearest(one.stream, one.hop, at)?.last;
        let span = self.victim.bound.as_ps();
        near.filter(|last| last.abs_diff(at) <= span && last.abs_diff(own) <= span).max()
    }

    /// Frames of a stream up to the one that is created then come as late as they may, those behind as early.
    fn tie_jitter(&self, chosen: &mut Chosen, stream: usize, created: u64) {
        let jitter = self.freedom.streams[stream].jitter;
        if jitter.is_zero() {
            return;
        }
        let half = match &self.network.streams[stream].traffic {
            Traffic::Periodic { interval, .. } => interval.as_ps() / 2,
            _ => 0,
        };
        let until = created.saturating_sub(jitter.as_ps()).saturating_add(half);
        chosen.streams[stream].late_until = Some(Duration::from_ps(until));
    }

    /// Moves a stream, by its own phase or by the clock of its talker; false if neither is open, or the clock has been moved.
    pub(crate) fn shift(&self, chosen: &mut Chosen, stream: usize, by: i128, moved: &mut [bool]) -> bool {
        let own = &mut chosen.streams[stream];
        if let Some(phase) = self.freedom.streams[stream].phase {
            own.later = wrapped(phase, i128::from(own.later.as_ps()) + by);
            return true;
        }
        let node = self.network.streams[stream].talker.index();
        if !self.freedom.clocks[node] || moved[node] {
            return false;
        }
        moved[node] = true;
        let later = (i128::from(chosen.clocks[node].as_ps()) + by).max(0);
        chosen.clocks[node] = Duration::from_ps(u64::try_from(later).unwrap_or(0));
        true
    }

    /// A change by chance; false if there was nothing to change.
    pub(crate) fn vary(&self, chosen: &mut Chosen, record: &Record, frame: u32, dice: &mut Dice) -> bool {
        match dice.below(16) {
            0..=5 => self.meet(chosen, record, frame, dice),
            6..=7 => self.meet_half(chosen, dice),
            8..=9 => self.draw_phase(chosen, dice),
            10 => self.come_to(chosen, record, frame, dice),
            11 => self.draw_payload(chosen, dice),
            12..=13 => self.draw_jitter(chosen, record, frame, dice),
            14 if self.freedom.seed => {
                chosen.seed = dice.next();
                true
            }
            15 if self.freedom.delays => {
                chosen.longest = !chosen.longest;
                true
            }
            _ => self.meet(chosen, record, frame, dice),
        }
    }

    /// One that meets the victim arrives just before it, with it, or just behind it.
    fn meet(&self, chosen: &mut Chosen, record: &Record, frame: u32, dice: &mut Dice) -> bool {
        let movable: Vec<&Met> = self.victim.met.iter().filter(|met| met.moves).collect();
        let Some(met) = dice.one_of(&movable) else { return false };
        let Some(at) = record.arrived(self.victim.stream, self.victim.way[met.place], frame) else {
            return false;
        };
        let Some(bunch) = record.nearest(met.stream, met.hop, at) else { return false };
        let reference = if dice.below(2) == 0 { bunch.first } else { bunch.last };
        let bias = [-1, -2, 0, 1][usize::try_from(dice.below(4)).unwrap_or(0)];
        let by = i128::from(at) + bias - i128::from(reference);
        if !self.shift(chosen, met.stream, by, &mut vec![false; chosen.clocks.len()]) {
            return false;
        }
        self.tie_jitter(chosen, met.stream, moved_by(bunch.created, by));
        true
    }

    /// One that meets the victim comes a little earlier or later: by up to what frames take on a line.
    fn meet_half(&self, chosen: &mut Chosen, dice: &mut Dice) -> bool {
        let movable: Vec<usize> =
            self.victim.met.iter().filter(|met| met.moves).map(|met| met.stream).collect();
        let Some(stream) = dice.one_of(&movable) else { return false };
        let most = (self.victim.bound.as_ps() >> dice.below(12)).max(1);
        let by = i128::from(dice.below(2 * most + 1)) - i128::from(most);
        self.shift(chosen, *stream, by, &mut vec![false; chosen.clocks.len()])
    }

    fn draw_phase(&self, chosen: &mut Chosen, dice: &mut Dice) -> bool {
        let own = self.victim.stream;
        let all: Vec<usize> =
            self.victim.met.iter().filter(|met| met.moves).map(|met| met.stream).chain([own]).collect();
        let Some(stream) = dice.one_of(&all) else { return false };
        let span = match self.freedom.streams[*stream].phase {
            Some(Phase::Within(span)) => span,
            _ => self.lead,
        };
        let by = i128::from(dice.below(span.as_ps()));
        self.shift(chosen, *stream, by, &mut vec![false; chosen.clocks.len()])
    }

    /// The victim comes to one that meets it.
    fn come_to(&self, chosen: &mut Chosen, record: &Record, frame: u32, dice: &mut Dice) -> bool {
        let victim = self.victim;
        if !self.freedom.moves(self.network, StreamIndex::at(victim.stream)) {
            return false;
        }
        let Some(met) = dice.one_of(&victim.met) else { return false };
        let Some(at) = record.arrived(victim.stream, victim.way[met.place], frame) else { return false };
        let Some(bunch) = record.nearest(met.stream, met.hop, at) else { return false };
        let by = i128::from(bunch.last) + 1 - i128::from(at);
        self.shift(chosen, victim.stream, by, &mut vec![false; chosen.clocks.len()])
    }

    fn draw_payload(&self, chosen: &mut Chosen, dice: &mut Dice) -> bool {
        let open = |stream: &usize| self.freedom.streams[*stream].payload.is_some();
        let all: Vec<usize> = self.all().filter(open).collect();
        let Some(stream) = dice.one_of(&all) else { return false };
        let StreamFreedom { payload: Some((least, most)), .. } = self.freedom.streams[*stream] else {
            return false;
        };
        let size = match dice.below(3) {
            0 => least,
            1 => most,
            _ => Bytes::new(least.get() + dice.below(most.get() - least.get() + 1)),
        };
        chosen.streams[*stream].payload = Some(size);
        true
    }

    fn draw_jitter(&self, chosen: &mut Chosen, record: &Record, frame: u32, dice: &mut Dice) -> bool {
        let open = |stream: &usize| !self.freedom.streams[*stream].jitter.is_zero();
        let all: Vec<usize> = self.all().filter(open).collect();
        let Some(stream) = dice.one_of(&all) else { return false };
        let at = record.arrived(self.victim.stream, self.victim.way[0], frame).unwrap_or(0);
        chosen.streams[*stream].late_until = match dice.below(4) {
            0 => None,
            1 => Some(chosen.duration),
            _ => {
                let back = dice.below(self.victim.bound.as_ps().max(1));
                Some(Duration::from_ps(at.saturating_sub(back)))
            }
        };
        true
    }

    fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.victim.met.iter().map(|met| met.stream).chain([self.victim.stream])
    }

    /// Phases of all that meet the victim by chance.
    pub(crate) fn scatter(&self, chosen: &mut Chosen, dice: &mut Dice) {
        for met in self.victim.met.iter().filter(|met| met.moves) {
            if let Some(Phase::Within(span)) = self.freedom.streams[met.stream].phase {
                chosen.streams[met.stream].later = Duration::from_ps(dice.below(span.as_ps()));
            }
        }
    }
}

/// A phase that is moved, held within what is open.
fn wrapped(phase: Phase, later: i128) -> Duration {
    let later = match phase {
        Phase::Within(span) => later.rem_euclid(i128::from(span.as_ps())),
        Phase::Any => later.max(0),
    };
    Duration::from_ps(u64::try_from(later).unwrap_or(0))
}

fn moved_by(time: u64, by: i128) -> u64 {
    u64::try_from((i128::from(time) + by).max(0)).unwrap_or(u64::MAX)
}
