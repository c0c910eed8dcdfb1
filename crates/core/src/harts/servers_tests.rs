//! Servers on a port, by hand.

use alloc::vec;

use tautwire_units::BitRate;

use super::*;
use crate::TrafficClass;
use crate::port::{EgressPort, PortConfig, QueuedFrame, Selection};

/// A frame: its name, and its octets from destination to FCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame(u32, u32);

impl QueuedFrame for Frame {
    fn octets(self) -> u32 {
        self.1
    }
    fn class(self) -> TrafficClass {
        TrafficClass::default()
    }
}

const EC: u64 = 100;

fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_us(us)
}

fn server(parent: Option<u16>, capacity: u32, period: u32, priority: u8) -> ServerConfig {
    let window = ServerWindow::Asynchronous;
    ServerConfig { parent, kind: ServerKind::Deferrable, capacity: Some(capacity), period, priority, window }
}

/// 100 Mbit/s; EC of 100 us, open from 20 to 100.
fn port(servers: Vec<ServerConfig>) -> EgressPort<Frame> {
    let cycle = Duration::from_us(EC);
    let (trigger, synchronous) = (Duration::from_us(8), Duration::from_us(10));
    let open = Duration::from_us(20);
    let config = ServersConfig { cycle, trigger, synchronous, open, close: cycle, servers };
    EgressPort::new(PortConfig { servers: Some(config), ..PortConfig::plain(BitRate::from_mbps(100)) })
}

/// Puts a frame of `wire` octets on the wire into a server.
fn put(port: &mut EgressPort<Frame>, at: u64, server: u16, name: u32, wire: u32) {
    port.enqueue(us(at), server, Instant::ZERO, Frame(name, wire - 20)).expect("there is room");
}

/// What a port sends until a time, with the start of each frame in microseconds, rounded down.
fn sent(port: &mut EgressPort<Frame>, from: u64, until: u64) -> Vec<(u64, u32)> {
    let mut sent = Vec::new();
    let mut now = us(from);
    while now <= us(until) {
        match port.select(now) {
            Selection::Idle => break,
            Selection::Wait(at) => {
                assert!(at > now, "a wake-up is in the future");
                now = at;
            }
            Selection::Transmit { frame, .. } => {
                sent.push((now.as_ps() / 1_000_000, frame.0));
                now = port.busy_until();
            }
        }
    }
    sent
}

#[test]
fn nothing_is_sent_before_the_window_opens_nor_over_its_end() {
    let mut port = port(vec![server(None, 2_000, 1, 0)]);
    put(&mut port, 0, 0, 1, 250);
    assert_eq!(sent(&mut port, 0, 99), [(20, 1)], "20 us of trigger message and turn-around");
    // 250 octets take 20 us: at 81 us one would end at 101.
    put(&mut port, 81, 0, 2, 250);
    assert_eq!(sent(&mut port, 81, 199), [(120, 2)], "postponed to the next cycle");
    put(&mut port, 280, 0, 3, 250);
    assert_eq!(sent(&mut port, 280, 299), [(280, 3)], "just through");
}

#[test]
fn capacity_is_spent_and_filled_up() {
    let mut port = port(vec![server(None, 250, 2, 5), server(None, 2_000, 1, 0)]);
    for name in [1, 2] {
        put(&mut port, 0, 0, name, 250);
    }
    put(&mut port, 0, 1, 10, 250);
    // The first server has one frame every second cycle; the second goes in its place.
    assert_eq!(sent(&mut port, 0, 399), [(20, 1), (40, 10), (220, 2)]);
}

#[test]
fn every_server_above_must_have_the_capacity() {
    let above = server(None, 250, 2, 5);
    let mut port = port(vec![above, server(Some(0), 250, 1, 1), server(Some(0), 250, 1, 2)]);
    put(&mut port, 0, 1, 1, 250);
    put(&mut port, 0, 2, 2, 250);
    assert_eq!(
        sent(&mut port, 0, 399),
        [(20, 2), (220, 1)],
        "the higher priority first, the other a period later"
    );
}

#[test]
fn priorities_are_those_of_the_way_from_the_root() {
    let mut port = port(vec![
        server(None, 2_000, 1, 3),
        server(None, 2_000, 1, 5),
        server(Some(0), 2_000, 1, 7),
        server(Some(1), 2_000, 1, 1),
    ]);
    put(&mut port, 0, 2, 2, 250);
    put(&mut port, 0, 3, 3, 250);
    assert_eq!(sent(&mut port, 0, 99), [(20, 3), (40, 2)]);
}

#[test]
fn the_published_example_of_servers() {
    // S11 above all; S21 with S31 (period of 2 cycles: G41) and S32 (G42); S22 with G31 and G33.
    let mut port = port(vec![
        server(None, 1_000, 1, 7),
        server(Some(0), 500, 1, 2),
        server(Some(0), 500, 1, 3),
        server(Some(1), 125, 2, 2),
        server(Some(1), 250, 1, 1),
        server(Some(2), 500, 1, 1),
    ]);
    put(&mut port, 0, 3, 41, 125);
    assert_eq!(sent(&mut port, 0, 29), [(20, 41)]);
    put(&mut port, 30, 4, 42, 250);
    put(&mut port, 30, 5, 31, 250);
    assert_eq!(sent(&mut port, 30, 89), [(30, 31), (50, 42)], "G31 is of higher priority than G42");
    put(&mut port, 89, 5, 33, 250);
    put(&mut port, 101, 3, 41, 125);
    assert_eq!(
        sent(&mut port, 89, 299),
        [(120, 33), (220, 41)],
        "postponed; S31 is filled up after two cycles"
    );
}

#[test]
fn a_polling_server_loses_what_it_does_not_use() {
    let polling = ServerConfig { kind: ServerKind::Polling, ..server(None, 250, 1, 5) };
    let mut polled = port(vec![polling]);
    put(&mut polled, 105, 0, 1, 250);
    assert_eq!(sent(&mut polled, 105, 299), [(220, 1)], "nothing waited when it was filled up at 100 us");
    let mut deferred = port(vec![server(None, 250, 1, 5)]);
    put(&mut deferred, 105, 0, 1, 250);
    assert_eq!(sent(&mut deferred, 105, 299), [(120, 1)]);
}

#[test]
fn a_sporadic_server_gets_back_a_period_after_it_was_taken() {
    let mut deferred = port(vec![server(None, 250, 2, 5)]);
    let sporadic = ServerConfig { kind: ServerKind::Sporadic, ..server(None, 250, 2, 5) };
    let mut back = port(vec![sporadic]);
    for port in [&mut deferred, &mut back] {
        put(port, 130, 0, 1, 250);
        put(port, 130, 0, 2, 250);
    }
    assert_eq!(sent(&mut deferred, 130, 599), [(130, 1), (220, 2)], "filled up at 200 us");
    assert_eq!(sent(&mut back, 130, 599), [(130, 1), (320, 2)], "taken in cycle 1, back in cycle 3");
}

#[test]
fn a_server_never_gives_more_than_its_capacity_in_a_period() {
    for kind in [ServerKind::Deferrable, ServerKind::Polling, ServerKind::Sporadic] {
        let config = ServerConfig { kind, ..server(None, 300, 3, 5) };
        let mut port = port(vec![config, server(None, 2_000, 1, 0)]);
        for name in 0..200_u32 {
            put(&mut port, 0, u16::from(name % 2 == 1), name, 100);
        }
        let mut octets = [0; 30];
        for (at, name) in sent(&mut port, 0, 2_999) {
            octets[usize::try_from(at / EC).expect("small")] += if name % 2 == 0 { 100 } else { 0 };
        }
        let first = if kind == ServerKind::Sporadic { 1 } else { 3 };
        for period in octets.windows(3).step_by(first) {
            assert!(period.iter().sum::<u32>() <= 300, "{kind:?}: {octets:?}");
        }
        assert!(octets.iter().sum::<u32>() >= 2_700, "{kind:?} gives what it may: {octets:?}");
    }
}

#[test]
fn a_flush_empties_the_servers() {
    let mut port = port(vec![server(None, 250, 1, 5)]);
    put(&mut port, 0, 0, 1, 250);
    assert_eq!(port.flush(us(1)), [Frame(1, 230)]);
    assert!(port.is_empty());
    assert_eq!(port.select(us(2)), Selection::Idle);
}

#[test]
fn each_window_has_frames_of_its_own() {
    let lane = |window| ServerConfig { capacity: None, window, ..server(None, 1, 1, 0) };
    let mut port = port(vec![
        lane(ServerWindow::Asynchronous),
        lane(ServerWindow::Trigger),
        lane(ServerWindow::Synchronous),
    ]);
    // 84 octets of the wire take 6.72 us: one fits each of the first two windows, and not two.
    for name in [1, 2] {
        put(&mut port, 0, 0, name, 84);
        put(&mut port, 0, 1, 10 + name, 84);
        put(&mut port, 0, 2, 20 + name, 84);
    }
    assert_eq!(sent(&mut port, 0, 200), [(0, 11), (10, 21), (20, 1), (26, 2), (100, 12), (110, 22)]);
}

/// A server that is installed during a run has its full capacity, and as much as its memory pool holds waits in it.
#[test]
fn a_server_is_installed_with_others() {
    let closed = ServerConfig { capacity: Some(0), ..server(None, 0, 1, 0) };
    let mut port = port(vec![server(None, 1_000, 1, 3), closed, server(None, 500, 1, 1)]);
    put(&mut port, 0, 1, 1, 100);
    put(&mut port, 0, 2, 2, 100);
    assert_eq!(sent(&mut port, 0, 100), [(20, 2)], "it has nothing before it is installed");
    port.install_server(us(110), 1, server(Some(0), 200, 2, 5), Some(300));
    put(&mut port, 110, 1, 3, 100);
    put(&mut port, 110, 1, 4, 100);
    let full = port.enqueue(us(110), 1, Instant::ZERO, Frame(5, 80));
    assert_eq!(full, Err(crate::port::Discard::QueueFull), "300 octets wait");
    put(&mut port, 110, 2, 6, 100);
    assert_eq!(sent(&mut port, 120, 200), [(120, 1), (128, 3), (136, 6)]);
    // Unchanged: nothing is replenished, and waiting frames continue.
    port.install_server(us(150), 1, server(Some(0), 200, 2, 5), Some(300));
    assert_eq!(sent(&mut port, 200, 300), [(220, 4)], "its period began at 200 us");
}

#[test]
fn what_is_withdrawn_leaves_room_and_the_others_in_their_order() {
    let mut port = port(vec![server(None, 1_000, 1, 3)]);
    port.install_server(us(0), 0, server(None, 500, 1, 3), Some(300));
    for name in [1, 2, 3] {
        put(&mut port, 0, 0, name, 100);
    }
    assert_eq!(port.withdraw(us(5), 0, |frame| frame.0 == 2), [Frame(2, 80)]);
    put(&mut port, 10, 0, 4, 100);
    assert_eq!(sent(&mut port, 10, 100), [(20, 1), (28, 3), (36, 4)]);
    put(&mut port, 110, 0, 5, 100);
    assert_eq!(port.withdraw(us(115), 0, |_| true), [Frame(5, 80)]);
    assert!(port.is_empty());
    assert_eq!(port.select(us(120)), Selection::Idle);
}
