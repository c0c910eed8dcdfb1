//! Captures of runs give back the delays of the runs; what is missing, doubled, cut or foreign in them is counted as such.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tautwire_captures::{CaptureFile, Captured, Captures, Stamps, StatedClock, StatedPlace, analyse};
use tautwire_model::Network;
use tautwire_model::capture::read_capture;
use tautwire_observe::Moments;
use tautwire_sim::{DropReason, Recorder, Transmission};
use tautwire_units::Duration;
use tautwire_workbench::{Options, TraceRecorder, bounds, simulate_with};

fn drifting(name: &str) -> Network {
    let path = Path::new("../../scenarios").join(name);
    tautwire_workbench::load(&path).unwrap().network.unwrap()
}

/// A scenario whose ports send at exactly the described rate.
fn scenario(name: &str) -> Network {
    drifting(name).altered(|parts| parts.nodes.iter_mut().for_each(|node| node.clock.drift_ppb = Some(0)))
}

/// First bit at the talker, and last bit at each listener, by stream and number.
#[derive(Default)]
struct Ends {
    first: BTreeMap<(u32, u32), u64>,
    last: BTreeMap<(u32, u32, u32), u64>,
    hops: Vec<Vec<(Option<u32>, Option<u32>)>>,
}

impl Recorder for Ends {
    fn transmitted(&mut self, sent: &Transmission) {
        let (previous, listener) = self.hops[sent.stream as usize][sent.hop as usize];
        if previous.is_none() {
            self.first.insert((sent.stream, sent.number), sent.start.as_ps());
        }
        if let Some(listener) = listener {
            self.last.insert((sent.stream, listener, sent.number), sent.received.as_ps());
        }
    }
}

/// A run: its capture, and the delays from first bit to last.
fn run(network: &Network) -> (Vec<u8>, BTreeMap<(usize, usize), Moments>) {
    let mut file = Vec::new();
    let mut recorder = TraceRecorder::new(network, None, Some(&mut file)).unwrap();
    let _ = simulate_with(network, &mut Options::default(), &mut recorder);
    recorder.finish().unwrap();
    let hops = network
        .streams
        .iter()
        .map(|stream| stream.hops.iter().map(|hop| (hop.previous, hop.listener)).collect());
    let mut ends = Ends { hops: hops.collect(), ..Ends::default() };
    let _ = simulate_with(network, &mut Options::default(), &mut ends);
    let mut delays: BTreeMap<(usize, usize), Moments> = BTreeMap::new();
    for ((stream, listener, number), received) in &ends.last {
        let delay = Duration::from_ps(received - ends.first[&(*stream, *number)]);
        delays.entry((*stream as usize, *listener as usize)).or_default().add(delay);
    }
    (file, delays)
}

fn analysed(network: &Network, captures: &Captures) -> Captured {
    let bounds = bounds(network);
    let bound = |stream: usize, listener: usize| {
        bounds.streams[stream].listeners[listener].delay.as_ref().ok().copied()
    };
    analyse(network, captures, &bound).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// One file without a statement about its clock.
fn one(name: &str, octets: Vec<u8>) -> Captures {
    Captures { files: vec![CaptureFile { name: name.into(), octets, clock: None }], ..Captures::default() }
}

/// That delays are those of a run to the resolution of two stamps: a nanosecond each, rounded down.
fn agree(captured: &Captured, expected: &BTreeMap<(usize, usize), Moments>) {
    agree_within(captured, expected, 1_000);
}

/// The same, with so many picoseconds for each frame.
fn agree_within(captured: &Captured, expected: &BTreeMap<(usize, usize), Moments>, within: u64) {
    for row in &captured.rows {
        let seen = &captured.observation.streams[row.stream].listeners[row.listener];
        let expected = &expected[&(row.stream, row.listener)];
        let at = (row.stream, row.listener);
        assert_eq!((seen.delay.count(), seen.delivered), (expected.count(), expected.count()), "{at:?}");
        assert!(expected.count() > 10, "{at:?}: {}", expected.count());
        let off = seen.delay.sum_ps().abs_diff(expected.sum_ps());
        assert!(off < u128::from(expected.count() * within), "{at:?}: {off} ps off");
        for of in [Moments::min, Moments::max] {
            let [seen, expected] = [&seen.delay, expected].map(|delays| of(delays).unwrap().as_ps());
            assert!(seen.abs_diff(expected) < within, "{at:?}: {seen} and {expected} ps");
        }
    }
}

#[test]
fn a_capture_of_a_run_gives_its_delays() {
    for name in ["shaped-line.yaml", "in-vehicle.yaml"] {
        let network = scenario(name);
        let (file, expected) = run(&network);
        let captured = analysed(&network, &one("frames.pcapng", file));
        assert_eq!(captured.rows.len(), network.streams.iter().map(|one| one.listeners.len()).sum::<usize>());
        agree(&captured, &expected);
        for row in &captured.rows {
            let stream = &captured.observation.streams[row.stream];
            let seen = &stream.listeners[row.listener];
            assert_eq!((&seen.dropped, &row.losses), (&vec![], &vec![]), "{name}");
            assert_eq!(seen.delivered + seen.in_flight, stream.created, "{name}: frames are conserved");
            assert_eq!(
                [row.repeated, row.misordered, row.changed, row.doubtful, row.early],
                [0; 5],
                "{name}"
            );
        }
        assert!(captured.foreign.is_empty() && captured.remarks.is_empty(), "{name}: {:?}", captured.remarks);
        assert_eq!([captured.undecided, captured.too_short, captured.astray, captured.unmatched], [0; 4]);
    }
}

/// Between two stations one stamp is all that there is: a delay would be that of the description, and not of the frames.
#[test]
fn one_stamp_gives_no_delay() {
    let network = scenario("two-stations.yaml");
    let (file, expected) = run(&network);
    let captured = analysed(&network, &one("frames.pcapng", file));
    let seen = &captured.observation.streams[0].listeners[0];
    assert_eq!((seen.delay.count(), seen.delivered), (0, expected[&(0, 0)].count()));
    assert_eq!((&captured.rows[0].from, &captured.rows[0].losses), (&None, &vec![]));
}

#[test]
fn the_last_bit_is_known_to_the_tolerance_of_the_senders_clock() {
    let network = drifting("shaped-line.yaml");
    let (file, expected) = run(&network);
    // The longest frame takes 123.04 us, and clocks deviate by 100 ppm at most.
    agree_within(&analysed(&network, &one("frames.pcapng", file)), &expected, 1_000 + 12_304);
}

/// A packet: interface, nanoseconds, octets that were there, captured octets.
type Packet = (usize, u64, u32, Vec<u8>);

/// The packets of a capture, and names of its interfaces.
fn packets(file: &[u8]) -> (Vec<String>, Vec<Packet>) {
    let capture = read_capture(file).unwrap();
    let names = capture.interfaces.iter().map(|interface| interface.name.clone().unwrap()).collect();
    let of = |packet: &tautwire_model::capture::Packet<'_>| {
        let ns = u64::try_from(packet.at.unwrap() / 1_000).unwrap();
        (packet.interface, ns, packet.original, packet.octets.to_vec())
    };
    (names, capture.packets.iter().map(of).collect())
}

/// A pcap with stamps in nanoseconds.
fn pcap(packets: &[Packet]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 262_144, 1]);
    for (_, ns, original, octets) in packets {
        let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
        let head = [seconds as u32, rest as u32, octets.len() as u32, *original];
        file.extend(words(&head));
        file.extend(octets);
    }
    file
}

/// What a talker's and a listener's interface captured of a run: `loop` and `lidar` from `a` to `x`.
struct Both {
    network: Network,
    talker: Vec<Packet>,
    listener: Vec<Packet>,
    expected: BTreeMap<(usize, usize), Moments>,
}

const LOOP: usize = 0;
const LIDAR: usize = 1;

impl Both {
    fn new() -> Self {
        let network = scenario("shaped-line.yaml");
        let (file, mut expected) = run(&network);
        expected.retain(|(stream, _), _| [LOOP, LIDAR].contains(stream));
        let (names, all) = packets(&file);
        let at = |begin: &str| {
            let interface = names.iter().position(|name| name.starts_with(begin)).unwrap();
            all.iter().filter(|packet| packet.0 == interface).cloned().collect::<Vec<_>>()
        };
        // The interface of the listener stamps when it has a frame: its last bit came so long behind the first one.
        let mut listener: Vec<Packet> =
            all.iter().filter(|packet| names[packet.0].ends_with("> x.p1")).cloned().collect();
        let to_x = &network.links[names.iter().position(|name| name.ends_with("> x.p1")).unwrap()];
        for (_, ns, original, _) in &mut listener {
            let octets = (u64::from(*original) + 4).max(64) + 8;
            *ns += (octets * 80_000 + to_x.propagation.as_ps()) / 1_000;
        }
        Self { talker: at("a.p1 >"), listener, network, expected }
    }

    fn captures(&self, clocks: [Option<StatedClock>; 2]) -> Captures {
        let file = |name: &str, packets: &[Packet], clock| CaptureFile {
            name: name.into(),
            octets: pcap(packets),
            clock,
        };
        let stated = |place: &str, file| StatedPlace { place: place.into(), file, interface: None };
        Captures {
            files: vec![
                file("talker.pcap", &self.talker, clocks[0]),
                file("listener.pcap", &self.listener, clocks[1]),
            ],
            places: vec![stated("a", 0), stated("x.p1", 1)],
            stamps: Stamps::Side,
        }
    }

    fn analysed(&self, clocks: [Option<StatedClock>; 2]) -> Captured {
        let mut captured = analysed(&self.network, &self.captures(clocks));
        captured.rows.retain(|row| [LOOP, LIDAR].contains(&row.stream));
        captured
    }

    /// Frames of the stream among the packets, by their places.
    fn of(&self, packets: &[Packet], stream: u32) -> Vec<usize> {
        let is_of = |packet: &Packet| {
            let at = packet.3.windows(8).position(|octets| octets == b"tautwire");
            at.is_some_and(|at| packet.3[at + 8..at + 12] == stream.to_be_bytes())
        };
        (0..packets.len()).filter(|place| is_of(&packets[*place])).collect()
    }
}

const COMMON: [Option<StatedClock>; 2] = [Some(StatedClock { ahead: 0, precision: Duration::ZERO }); 2];

#[test]
fn two_files_have_delays_only_if_their_clocks_are_stated() {
    let mut both = Both::new();
    agree(&both.analysed(COMMON), &both.expected);
    let row = &both.analysed(COMMON).rows[0];
    assert_eq!((row.from.as_deref(), row.to.as_deref()), (Some("a.p1"), Some("x.p1")));
    // Nothing is stated: losses and order are known, delays are not.
    let unstated = both.analysed([None, None]);
    for row in &unstated.rows {
        let seen = &unstated.observation.streams[row.stream].listeners[row.listener];
        assert_eq!((row.from.as_deref(), seen.delay.count(), &row.losses), (None, 0, &vec![]));
        assert_eq!(seen.delivered, both.expected[&(row.stream, row.listener)].count());
        assert!(seen.interval.count() > 10);
    }
    // The listener's clock is 7 ms ahead.
    both.listener.iter_mut().for_each(|packet| packet.1 += 7_000_000);
    let precision = Duration::from_ns(300);
    let clock = |ahead| Some(StatedClock { ahead, precision });
    let stated = both.analysed([clock(0), clock(7_000_000_000)]);
    agree(&stated, &both.expected);
    assert!(stated.rows.iter().all(|row| row.precision == precision * 2));
    // Stated wrongly, frames come before they are sent.
    let wrong = both.analysed([clock(0), clock(9_000_000_000)]);
    assert!(wrong.rows.iter().all(|row| row.early > 10));
}

#[test]
fn frames_without_a_mark_are_known_by_their_contents_and_also_if_they_are_cut() {
    let mut both = Both::new();
    for (_, _, _, octets) in both.talker.iter_mut().chain(&mut both.listener) {
        let at = octets.windows(8).position(|octets| octets == b"tautwire").unwrap();
        octets[at..at + 8].fill(0x55);
    }
    let whole = both.analysed(COMMON);
    agree(&whole, &both.expected);
    assert!(whole.rows.iter().all(|row| row.doubtful == 0));
    // The listener has the first 40 octets of each frame alone.
    both.listener.iter_mut().for_each(|packet| packet.3.truncate(40));
    agree(&both.analysed(COMMON), &both.expected);
    // All are equal; as many came as were sent, or one less.
    for (_, _, _, octets) in both.talker.iter_mut().chain(&mut both.listener) {
        octets[18..].fill(0x55);
    }
    let row = |captured: &Captured| captured.rows.iter().find(|row| row.stream == LOOP).unwrap().clone();
    let equal = both.analysed(COMMON);
    let [sent, came] = [&both.talker, &both.listener].map(|packets| packets.len());
    if sent == came {
        agree(&equal, &both.expected);
    }
    both.listener.remove(20);
    let doubtful = both.analysed(COMMON);
    let delays = |row: &tautwire_captures::Row| {
        doubtful.observation.streams[row.stream].listeners[row.listener].delay.count()
    };
    assert!(doubtful.rows.iter().any(|row| row.doubtful > 10 && delays(row) == 0), "{:?}", row(&doubtful));
}

#[test]
fn what_is_lost_doubled_overtaken_or_foreign_is_counted() {
    let mut both = Both::new();
    let own = both.of(&both.listener, u32::try_from(LOOP).unwrap());
    // Two are lost, one comes twice, two change their order, and three are foreign.
    let [lost, other, again, late] = [own[10], own[20], own[30], own[40]];
    let copy = both.listener[again].clone();
    let next = own[41];
    let moved = both.listener[late].1;
    both.listener[late].1 = both.listener[next].1;
    both.listener[next].1 = moved;
    let mut foreign = both.listener[0].clone();
    foreign.3[..6].copy_from_slice(&[2, 0, 0, 0, 9, 9]);
    let mut changed: Vec<Packet> = Vec::new();
    for (place, packet) in both.listener.iter().enumerate() {
        if place != lost && place != other {
            changed.push(packet.clone());
        }
        if place == again {
            changed.push(copy.clone());
        }
    }
    changed.extend([foreign.clone(), foreign.clone(), (0, foreign.1, 7, vec![0; 7])]);
    both.listener = changed;
    let captured = both.analysed(COMMON);
    let row = captured.rows.iter().find(|row| row.stream == LOOP).unwrap();
    let seen = &captured.observation.streams[LOOP].listeners[0];
    assert_eq!(seen.dropped, [(DropReason::Unknown, 2)]);
    let [place] = &row.losses[..] else { panic!("{:?}", row.losses) };
    assert_eq!((place.behind.as_deref(), place.before.as_str(), place.frames), (Some("a.p1"), "x.p1", 2));
    // The stamp of the one that overtook is that of the other, a millisecond earlier.
    assert_eq!([row.repeated, row.misordered, row.changed, row.early], [1, 1, 0, 1]);
    assert_eq!(captured.foreign.iter().map(|foreign| foreign.frames).sum::<u64>(), 3);
    let stream = &captured.observation.streams[LOOP];
    assert_eq!(seen.delivered + seen.in_flight + 2, stream.created);
    // The other stream is as it was.
    let other = captured.rows.iter().find(|row| row.stream == LIDAR).unwrap();
    assert_eq!((other.repeated, other.misordered, &other.losses), (0, 0, &vec![]));
}

#[test]
fn a_frame_at_the_edge_of_a_capture_is_no_loss() {
    let both = Both::new();
    for clocks in [COMMON, [None, None]] {
        // The listener's capture begins late and ends early, within a frame.
        let mut captures = both.captures(clocks);
        let some = &both.listener[both.listener.len() / 4..both.listener.len() / 2];
        captures.files[1].octets = pcap(some);
        let octets = captures.files[1].octets.len();
        captures.files[1].octets.truncate(octets - 10);
        let captured = analysed(&both.network, &captures);
        assert!(captured.remarks.iter().any(|remark| remark.contains("cut short")), "{:?}", captured.remarks);
        let kept: BTreeSet<usize> = [LOOP, LIDAR].into();
        for row in captured.rows.iter().filter(|row| kept.contains(&row.stream)) {
            let stream = &captured.observation.streams[row.stream];
            assert_eq!(row.losses, [], "stream {}", row.stream);
            assert_eq!(stream.listeners[0].delivered + row.at_the_edge, stream.created);
            assert!(row.at_the_edge > 50);
        }
    }
    // A capture of the talker alone: nothing is known of the listener.
    let mut captures = both.captures(COMMON);
    captures.files.truncate(1);
    captures.places.truncate(1);
    let captured = analysed(&both.network, &captures);
    let row = &captured.rows[LOOP];
    assert_eq!((&row.to, row.losses.len()), (&None, 0));
    assert!(row.at_the_edge > 100);
}

#[test]
fn what_is_wrong_with_captures_is_named() {
    let both = Both::new();
    let faults = |change: fn(&mut Captures)| {
        let mut captures = both.captures(COMMON);
        change(&mut captures);
        analyse(&both.network, &captures, &|_, _| None).unwrap_err().join("\n")
    };
    for (change, expected) in [
        (
            (|captures| captures.files[0].octets = b"no capture".to_vec()) as fn(&mut Captures),
            "talker.pcap is neither",
        ),
        (|captures| captures.places.clear(), "state where it captured by `--at NODE.PORT=talker.pcap`"),
        (|captures| captures.places[0].place = "a.p9".into(), "no port `a.p9` has a cable; there are a.p1, "),
        (|captures| captures.places[0].interface = Some("eth7".into()), "state where it captured"),
        (|captures| captures.files[1].octets.truncate(0), "listener.pcap is neither"),
    ] {
        let found = faults(change);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn octets_that_were_changed_never_stop_it() {
    let both = Both::new();
    let file = both.captures(COMMON).files[1].octets.clone();
    let mut state = 1_u64;
    for _ in 0..200 {
        let mut octets = file[..6_000.min(file.len())].to_vec();
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = (state >> 33) as usize % octets.len();
            octets[place] = state.to_be_bytes()[0];
        }
        let mut captures = both.captures(COMMON);
        captures.files[1].octets = octets;
        // A value or faults, and frames are conserved.
        if let Ok(captured) = analyse(&both.network, &captures, &|_, _| None) {
            for stream in &captured.observation.streams {
                let lost: u64 = stream.dropped.iter().map(|(_, count)| count).sum();
                assert_eq!(stream.created + stream.replicated, stream.delivered + stream.in_flight + lost);
            }
        }
    }
}
