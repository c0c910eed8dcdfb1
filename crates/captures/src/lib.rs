//! Captures of a real network, from talkers, listeners, mirror ports or taps, as an observation of the simulator's type.
//!
//! ```text
//!  files ─► places (which link) ─► frames (which stream, which number) ─► sightings ─► ways (seen there, here, or lost between)
//! ```
//! A frame is known by what it states of itself (those of simulated and live runs), or by its contents, which are the same at all
//! places. Stamps of two clocks are compared only if their offset is stated. Everything else counts nothing that it does not
//! know: a frame at the edge of a capture is no loss, and equal frames of which one is missing have no delay.
//!
//! Not here: the octets of pcap and pcapng (`model`), tables and files of results (`report`).

mod frames;
mod numbers;
mod observed;
mod places;
mod ways;

use tautwire_model::Network;
use tautwire_model::capture::{LINK_TYPE_ETHERNET, read_capture};
use tautwire_units::Duration;

pub use observed::{Captured, ForeignFrames, LossPlace, Point, Row};

use frames::{Frames, Is};
use places::{Places, Side};

/// A file of captured frames.
#[derive(Clone, Debug, Default)]
pub struct CaptureFile {
    /// Its name, as it was given.
    pub name: String,
    /// Its octets.
    pub octets: Vec<u8>,
    /// What is stated of its clock; none: nothing, so that its stamps are compared with those of no other file.
    pub clock: Option<StatedClock>,
}

/// What is stated of the clock of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedClock {
    /// By how many picoseconds its stamps are ahead of the common clock.
    pub ahead: i64,
    /// By how much this may be wrong.
    pub precision: Duration,
}

/// Where an interface of a file captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedPlace {
    /// `node.port`, or `node.port > node.port` for one direction; a node with one port is enough.
    pub place: String,
    /// Index of the file.
    pub file: usize,
    /// Name of the interface; none: all of the file.
    pub interface: Option<String>,
}

/// The moment of a frame that a stamp is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamps {
    /// The first bit where a port sends it, the last bit where a port receives it: as interfaces of hosts stamp.
    #[default]
    Side,
    /// The first bit, also where it is received: as most taps and network processors stamp.
    FirstBit,
    /// The last bit, also where it is sent.
    LastBit,
}

/// Captures of a network.
#[derive(Clone, Debug, Default)]
pub struct Captures {
    /// The files.
    pub files: Vec<CaptureFile>,
    /// Places of interfaces that have no name of a port.
    pub places: Vec<StatedPlace>,
    /// What stamps are of.
    pub stamps: Stamps,
}

/// A frame of a stream, as one interface saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sighting {
    /// Hop of the stream.
    hop: u32,
    /// Index of the point, and at which end of the hop's link it is.
    point: usize,
    side: Side,
    /// Number within its stream.
    number: u32,
    /// When its first bit left the sender of the hop, and when its last bit reached the receiver, in picoseconds of the file's clock
    /// less what is stated of it; none: it has no stamp.
    times: Option<(i128, i128)>,
    /// When it was created, by the same clock; none: it does not state it, or by another clock.
    created: Option<i128>,
    /// Octets, destination address to FCS.
    octets: u64,
    /// Its octets do not fit its CRC.
    is_changed: bool,
    /// Others of its stream are equal to it, and not all of them were seen.
    is_doubtful: bool,
}

/// Analyses captures of a network. `bound` gives the bound of a stream at a listener, if there is one: a frame that was sent so long before
/// the end of a capture is lost if the capture does not have it.
///
/// # Errors
/// What is wrong with the captures or their places, each one sentence.
pub fn analyse(
    network: &Network,
    captures: &Captures,
    bound: &dyn Fn(usize, usize) -> Option<Duration>,
) -> Result<Captured, Vec<String>> {
    let mut faults = Vec::new();
    let places = Places::new(network);
    let mut points: Vec<Point> = Vec::new();
    let mut frames = Frames::new(network);
    let mut remarks = Vec::new();
    let mut packets_seen = Vec::new();
    for (number, file) in captures.files.iter().enumerate() {
        let capture = match read_capture(&file.octets) {
            Ok(capture) => capture,
            Err(why) => {
                faults.push(format!("{} {why}", file.name));
                continue;
            }
        };
        if let Some(at) = capture.cut {
            remarks.push(format!(
                "{} is cut short at octet {at}: the complete frames before are counted",
                file.name
            ));
        }
        let first = points.len();
        let mut of_points = Vec::with_capacity(capture.interfaces.len());
        for (own, interface) in capture.interfaces.iter().enumerate() {
            // One that captured nothing needs no place.
            let is_used = capture.packets.iter().any(|packet| packet.interface == own);
            let stated = captures.places.iter().filter(|stated| stated.file == number).find(|stated| {
                stated.interface.is_none() || stated.interface.as_deref() == interface.name.as_deref()
            });
            let only = capture.interfaces.len() == 1;
            match places.find(stated, &file.name, interface.name.as_deref(), only) {
                Ok(place) => {
                    of_points.push(Some((points.len(), place)));
                    points.push(Point::new(
                        &file.name,
                        interface.name.as_deref(),
                        place.name(network),
                        number,
                    ));
                }
                Err(why) => {
                    of_points.push(None);
                    faults.extend(is_used.then_some(why));
                }
            }
        }
        let is_of_live_run = capture.application.as_deref() == Some(LIVE_RUN);
        let ahead = file.clock.map_or(0, |clock| i128::from(clock.ahead));
        for packet in &capture.packets {
            let Some((point, place)) = of_points.get(packet.interface).copied().flatten() else { continue };
            if packet.link != LINK_TYPE_ETHERNET {
                points[point].other_links += 1;
                continue;
            }
            let at = packet.at.map(|at| at - ahead);
            points[point].saw(at);
            packets_seen.push(Seen { point, at, ahead, is_of_live_run, is: frames.identify(packet, place) });
        }
        span_of_file(&mut points[first..]);
    }
    for stated in &captures.places {
        let is_there = |point: &Point| {
            point.file_number == stated.file
                && (stated.interface.is_none() || stated.interface == point.interface)
        };
        if faults.is_empty() && !points.iter().any(is_there) {
            let interface = stated.interface.as_deref().unwrap_or_default();
            faults.push(format!("{} has no interface `{interface}`", captures.files[stated.file].name));
        }
    }
    if points.is_empty() && faults.is_empty() {
        faults.push("no file has an interface".to_owned());
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let sightings = numbers::sightings(network, captures.stamps, &packets_seen);
    let given = observed::Given { network, captures, bound };
    Ok(observed::observe(&given, points, sightings, frames.foreign(), remarks))
}

/// What a capture of a live run names as its program: its stamps, and those in the frames, count from the start of the run.
pub const LIVE_RUN: &str = "tautwire live";

/// A packet, and what it is.
struct Seen {
    point: usize,
    at: Option<i128>,
    ahead: i128,
    is_of_live_run: bool,
    is: Is,
}

/// Gives all points of a file the span of all of them: an interface at which nothing passes captured nonetheless.
fn span_of_file(points: &mut [Point]) {
    let begin = points.iter().filter_map(|point| point.begin).min();
    let end = points.iter().filter_map(|point| point.end).max();
    for point in points {
        (point.begin, point.end) = (begin, end);
    }
}
