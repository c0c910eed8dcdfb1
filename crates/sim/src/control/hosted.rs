//! Control machines of one node on real interfaces: the runners of a run, and a plane that notes what they want of the data plane.
//!
//! The caller gives them what comes and goes, and has them act when they are due ([`Hosted::next`]); then it does what they wish, in this
//! order, before time passes. Times are readings of the one clock that all nodes have. Not here: mechanisms whose effects a [`Wish`] does
//! not have; they are refused before.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tautwire_core::TrafficClass;
use tautwire_core::control::Addresses;
use tautwire_core::gptp::{Adjustment, DisciplinedClock};
use tautwire_core::harts::servers::ServerConfig;
use tautwire_core::stream_policing::StreamPolicer;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, SchedulerIndex, ShaperSettings, StreamIndex};
use tautwire_observe::Table;
use tautwire_units::{BitRate, Bytes, Duration, Instant};
use tautwire_wire::EtherType;

use super::contents::{Arrived, Frame};
use super::runner::{Departure, Runner};
use super::{
    Cycles, Filtering, HandedDown, HandingDown, NetworkTime, Notes, Plane, PlugIn, Policing, Pooling,
    Servers, Shaping, Shut, Talkers,
};
use crate::clock::{LocalClock, SimTime};
use crate::mechanisms;
use crate::result::{DropReason, Observation};

/// What a mechanism wants of the data plane of its node.
#[derive(Debug)]
pub enum Wish {
    /// A frame goes to the port of its stream; with so many octets of payload.
    Send(StreamIndex, Frame, Bytes),
    /// The idleSlope of a class at a port becomes the first, of at most the second.
    IdleSlope(PortIndex, TrafficClass, BitRate, BitRate),
    /// An ATS scheduler has these parameters from now on, or none.
    Scheduler(SchedulerIndex, Option<ShaperSettings>),
    /// A mechanism has made a frame of a stream with so many octets of payload, which it hands on or gives up by this number.
    Make(u32, StreamIndex, Frame, Bytes),
    /// A frame that it took goes to its port: see [`Hosted::hand_down`].
    HandOn(u32),
    /// A frame that it took is lost.
    GiveUp(u32, DropReason),
    /// The application of a stream begins, as if for the first time, at this reading.
    Start(StreamIndex, Instant),
    /// It stops.
    Stop(StreamIndex),
}

/// What the machines of all nodes of a run have in common, though each node is by itself: what is observed of the network as a whole.
/// One value of each type that a mechanism asks for.
#[derive(Clone, Default)]
pub struct InCommon(Arc<Mutex<Vec<Arc<dyn Any + Send + Sync>>>>);

impl InCommon {
    /// The value of this type, which the first node makes.
    pub(crate) fn of<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.iter().find_map(|one| Arc::clone(one).downcast().ok()) {
            return known;
        }
        let made = Arc::<T>::default();
        all.push(Arc::clone(&made) as Arc<dyn Any + Send + Sync>);
        made
    }
}

impl core::fmt::Debug for InCommon {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("InCommon")
    }
}

/// From this number on frames are of a mechanism's own making.
const MADE: u32 = 1 << 31;

/// The control machines of a node.
pub struct Hosted<'n> {
    network: &'n Network,
    runners: Vec<Box<dyn Runner + 'n>>,
    /// The one that takes what the node's applications hand down.
    taker: Option<usize>,
    plane: Wishes,
}

impl core::fmt::Debug for Hosted<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} mechanisms, {:?}", self.runners.len(), self.plane)
    }
}

impl<'n> Hosted<'n> {
    /// Those of a node, all of its links up; none if the network has no mechanism that runs on real interfaces.
    #[must_use]
    pub fn new(
        network: &'n Network,
        node: NodeIndex,
        seed: u64,
        plug_ins: &[&'static dyn PlugIn],
        common: &InCommon,
    ) -> Option<Self> {
        let clocks = vec![LocalClock::Perfect; network.nodes.len()];
        let attached = mechanisms::hosted(network, seed, plug_ins);
        let made = attached.into_iter().filter_map(|one| one.0.make_one(&clocks, seed, node, common));
        let runners: Vec<_> = made.collect();
        let taker = runners.iter().position(|runner| runner.takes_from().contains(&node));
        let mut hosted = Self { network, runners, taker, plane: Wishes::default() };
        if hosted.runners.is_empty() {
            return None;
        }
        for runner in &mut hosted.runners {
            runner.begin(&mut hosted.plane);
        }
        Some(hosted)
    }

    /// The streams that carry their frames, each with a type of them; some have several.
    #[must_use]
    pub fn carried(&self) -> Vec<(StreamIndex, EtherType)> {
        let carried = self.runners.iter().flat_map(|runner| runner.carried());
        carried.map(|(stream, of_frame)| (StreamIndex(stream), of_frame)).collect()
    }

    /// The streams that they begin, instead of the run.
    #[must_use]
    pub fn begins(&self) -> Vec<StreamIndex> {
        self.runners.iter().flat_map(|runner| runner.begins()).collect()
    }

    /// Whether they take the frames that the node's applications hand down, instead of the port.
    #[must_use]
    pub const fn takes(&self) -> bool {
        self.taker.is_some()
    }

    /// An application of such a node hands a frame down, which may be sent from `ready` on; `place`, below 2^31, is what the caller
    /// knows it by.
    pub fn hand_down(
        &mut self,
        now: Instant,
        (stream, number): (StreamIndex, u32),
        (created, ready): (Instant, Instant),
        place: u32,
    ) {
        self.plane.now = time(now);
        let node = self.network.streams[stream.index()].talker;
        let frame = HandedDown::outside((stream, number), time(created), place);
        let taker = self.taker.expect("it is asked whether they take frames");
        self.runners[taker].handed_down(frame, node, time(ready), &mut self.plane);
    }

    /// An application of such a node creates the next frame of a stream, by this number, which answers the last one of `to`.
    pub fn answers(&mut self, (stream, number): (StreamIndex, u32), to: StreamIndex) {
        for runner in &mut self.runners {
            runner.answers(stream, number, to);
        }
    }

    /// A frame of theirs leaves a port so much later than it was to: stamps in it are those of its departure; `octets` follow its type.
    pub fn leaves_late(&mut self, port: PortIndex, ether_type: EtherType, octets: &mut [u8], late: Duration) {
        for runner in &mut self.runners {
            if runner.ether_types().contains(&ether_type) {
                runner.leaves_late(port, octets, late);
            }
        }
    }

    /// Whether frames of a type are theirs.
    #[must_use]
    pub fn reads(&self, ether_type: EtherType) -> bool {
        self.runners.iter().any(|runner| runner.ether_types().contains(&ether_type))
    }

    /// When they act next.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.runners.iter().filter_map(|runner| runner.next()).min().map(instant)
    }

    /// They do all that is due now.
    pub fn drive(&mut self, now: Instant) {
        self.plane.now = time(now);
        for runner in &mut self.runners {
            while runner.drive(&mut self.plane) {}
        }
    }

    /// A frame has come, of this stream if it is of a described neighbour: what follows its type, without tag.
    pub fn received(
        &mut self,
        now: Instant,
        port: PortIndex,
        (stream, ether_type): (Option<StreamIndex>, EtherType),
        (octets, addresses): (&[u8], Addresses),
    ) {
        self.plane.now = time(now);
        for runner in &mut self.runners {
            if !runner.ether_types().contains(&ether_type) {
                continue;
            }
            // Of a stream that is not known only the addresses count, and the frame has these itself.
            let any = || runner.streams().first().copied().unwrap_or_default();
            let stream = stream.map_or_else(any, |stream| stream.0);
            let mut frame = Frame { addresses: Some(addresses), ..Frame::new(ether_type, octets.to_vec()) };
            if !runner.complete(stream, &mut frame) {
                continue;
            }
            let arrived = Arrived { frame: Arc::new(frame), comes: self.plane.now };
            runner.received(stream, port, arrived, &self.plane);
        }
    }

    /// A frame of theirs begins to leave: what follows its type.
    pub fn left(
        &mut self,
        now: Instant,
        (stream, port): (StreamIndex, PortIndex),
        ether_type: EtherType,
        octets: &[u8],
    ) {
        self.plane.now = time(now);
        let frame = Arc::new(Frame::new(ether_type, octets.to_vec()));
        for runner in &mut self.runners {
            if runner.streams().contains(&stream.0) {
                let (frame, start) = (Arc::clone(&frame), self.plane.now);
                runner.left(Departure { port, stream: stream.0, frame, start, left: start }, &self.plane);
            }
        }
    }

    /// The link of a port went down or came up.
    pub fn link(&mut self, now: Instant, port: PortIndex, up: bool) {
        self.plane.now = time(now);
        let is_down = !up;
        if is_down != self.plane.down.contains(&port) {
            if up {
                self.plane.down.remove(&port);
            } else {
                self.plane.down.insert(port);
            }
            let far = self.network.ports[port.index()]
                .links
                .map_or(port, |links| self.network.links[links.egress.index()].to);
            for runner in &mut self.runners {
                runner.links([port, far], &mut self.plane);
                while runner.carry_out(&mut self.plane) {}
            }
        }
    }

    /// The next thing that they want done.
    pub fn wish(&mut self) -> Option<Wish> {
        self.plane.wishes.pop_front()
    }

    /// Whether the port of a hop takes the frames of its stream; a frame that it does not take is counted.
    pub fn lets_out(&mut self, stream: StreamIndex, hop: usize) -> bool {
        let Some(why) = self.plane.shut.get(&(stream, hop)).and_then(|why| why.first().copied()) else {
            return true;
        };
        *self.plane.filtered.entry((stream, hop, why)).or_default() += 1;
        false
    }

    /// Whether a hop is shut for want of a reservation, so that it does not matter that no scheduler takes the frame.
    #[must_use]
    pub fn is_not_reserved(&self, stream: StreamIndex, hop: usize) -> bool {
        self.plane.shut.get(&(stream, hop)).is_some_and(|why| why.contains(&Shut::NotReserved))
    }

    /// Whether the port at the far end of a hop lets the frames of its stream in.
    #[must_use]
    pub fn lets_in(&self, stream: StreamIndex, hop: usize) -> bool {
        !self.plane.shut_in.contains(&(stream, hop))
    }

    /// What they know now, as tables.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        self.runners.iter().flat_map(|runner| runner.tables()).collect()
    }

    /// What they have only observed is wanted no more: a node that runs without end does not collect it.
    pub fn forget(&mut self) {
        self.runners.iter_mut().for_each(|runner| runner.forget());
    }

    /// The run has ended: what they observed.
    pub fn finish(mut self, observation: &mut Observation) {
        for mut runner in self.runners.drain(..) {
            runner.end(&self.plane);
            runner.finish(observation);
        }
    }
}

const fn time(now: Instant) -> SimTime {
    SimTime::from_ps(now.as_ps())
}

const fn instant(time: SimTime) -> Instant {
    Instant::from_ps(time.as_ps())
}

/// What is wanted, and what holds because of earlier wishes.
#[derive(Debug, Default)]
struct Wishes {
    now: SimTime,
    wishes: VecDeque<Wish>,
    /// Ports whose links are down.
    down: BTreeSet<PortIndex>,
    sending: BTreeSet<StreamIndex>,
    shut: BTreeMap<(StreamIndex, usize), BTreeSet<Shut>>,
    shut_in: BTreeSet<(StreamIndex, usize)>,
    filtered: BTreeMap<(StreamIndex, usize, Shut), u64>,
    /// Frames that mechanisms made to hold them.
    made: u32,
}

/// No mechanism that is driven here asks for such a thing: see [`PlugIn::runs_live`].
#[track_caller]
fn not_here() -> ! {
    panic!("a mechanism that runs on real interfaces wants what these have not")
}

impl Plane for Wishes {
    fn now(&self) -> SimTime {
        self.now
    }

    fn reading(&self, _: NodeIndex, at: SimTime) -> Instant {
        instant(at)
    }

    fn true_at(&self, _: NodeIndex, reading: Instant) -> SimTime {
        time(reading)
    }

    fn is_up(&self, port: PortIndex) -> bool {
        !self.down.contains(&port)
    }

    fn send(&mut self, stream: StreamIndex, frame: Frame, payload: Bytes) {
        self.wishes.push_back(Wish::Send(stream, frame, payload));
    }

    fn correct_clock(&mut self, _: NodeIndex, _: DisciplinedClock, _: Adjustment) {
        not_here()
    }
}

impl Talkers for Wishes {
    fn talker_time(&self, _: StreamIndex) -> Instant {
        instant(self.now)
    }

    fn is_sending(&self, stream: StreamIndex) -> bool {
        self.sending.contains(&stream)
    }

    fn start_stream(&mut self, stream: StreamIndex, not_before: Option<Instant>) {
        self.sending.insert(stream);
        let now = instant(self.now);
        self.wishes.push_back(Wish::Start(stream, not_before.map_or(now, |earliest| earliest.max(now))));
    }

    fn stop_stream(&mut self, stream: StreamIndex) {
        self.sending.remove(&stream);
        self.wishes.push_back(Wish::Stop(stream));
    }

    fn send_message(&mut self, _: StreamIndex, _: SimTime) {
        not_here()
    }
}

impl Shaping for Wishes {
    fn reserve_idle_slope(&mut self, port: PortIndex, class: TrafficClass, slope: BitRate, ceiling: BitRate) {
        self.wishes.push_back(Wish::IdleSlope(port, class, slope, ceiling));
    }

    fn set_scheduler(&mut self, scheduler: SchedulerIndex, settings: Option<ShaperSettings>) {
        self.wishes.push_back(Wish::Scheduler(scheduler, settings));
    }
}

impl Filtering for Wishes {
    fn shut(&mut self, stream: StreamIndex, hop: usize, why: Shut, so: bool) {
        let reasons = self.shut.entry((stream, hop)).or_default();
        if so {
            reasons.insert(why);
        } else {
            reasons.remove(&why);
        }
    }

    fn shut_far_end(&mut self, stream: StreamIndex, hop: usize, so: bool) {
        if so {
            self.shut_in.insert((stream, hop));
        } else {
            self.shut_in.remove(&(stream, hop));
        }
    }

    fn filtered(&self, stream: StreamIndex, hop: usize, why: Shut) -> u64 {
        self.filtered.get(&(stream, hop, why)).copied().unwrap_or(0)
    }
}

impl NetworkTime for Wishes {
    fn follows(&self, _: NodeIndex) -> Option<u16> {
        not_here()
    }

    fn network_time(&self, _: NodeIndex) -> Instant {
        not_here()
    }

    fn set_network_time(&mut self, _: NodeIndex, _: u16, _: Instant) {
        not_here()
    }

    fn lose_network_time(&mut self, _: NodeIndex) {
        not_here()
    }
}

impl Policing for Wishes {
    fn police(&mut self, _: StreamIndex, _: Option<StreamPolicer>) {
        not_here()
    }
}

impl Pooling for Wishes {
    fn set_pool(&mut self, _: NodeIndex, _: StreamIndex, _: Option<u32>) {
        not_here()
    }

    fn pooled(&self, _: NodeIndex, _: StreamIndex) -> u32 {
        not_here()
    }

    fn overflowed(&self, _: NodeIndex) -> u64 {
        not_here()
    }

    fn let_go(&mut self, _: NodeIndex, _: StreamIndex) {
        not_here()
    }
}

impl Servers for Wishes {
    fn lane(&self, _: StreamIndex, _: usize) -> u16 {
        not_here()
    }

    fn set_lane(&mut self, _: StreamIndex, _: usize, _: u16) {
        not_here()
    }

    fn prune(&mut self, _: StreamIndex, _: usize, _: bool) {
        not_here()
    }

    fn install_server(&mut self, _: PortIndex, _: u16, _: ServerConfig, _: Option<u32>) {
        not_here()
    }

    fn withdraw(&mut self, _: StreamIndex, _: PortIndex, _: u16) {
        not_here()
    }
}

impl Cycles for Wishes {
    fn note_cycles(&mut self, _: Duration) {
        not_here()
    }
}

impl HandingDown for Wishes {
    fn hand_on(&mut self, frame: HandedDown) {
        self.wishes.push_back(Wish::HandOn(frame.place()));
    }

    fn give_up(&mut self, frame: HandedDown, reason: DropReason) {
        self.wishes.push_back(Wish::GiveUp(frame.place(), reason));
    }

    fn make_handed_down(&mut self, stream: StreamIndex, frame: Frame, payload: Bytes) -> Option<HandedDown> {
        let place = MADE | self.made;
        self.made = (self.made + 1) % MADE;
        self.wishes.push_back(Wish::Make(place, stream, frame, payload));
        Some(HandedDown::outside((stream, 0), self.now, place))
    }
}

impl Notes for Wishes {
    // Notes are for recorders of frames, which there are in a run alone.
    fn note(&mut self, _: StreamIndex, _: Option<u32>, _: Box<dyn Any>) {}
}
