//! The links database by itself.

use super::*;
use alloc::collections::BTreeMap;
use tautwire_wire::harts::{FttStream, FttTerms};

use crate::harts::{FttLink, SwitchConfig};

const STREAM: FttStream = FttStream {
    id: 7,
    size: 100,
    period_ns: 250_000,
    deadline_ns: 2_000_000,
    priority: 3,
    producer: 1,
    offset_ns: None,
    terms: FttTerms::NONE,
};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(ms)
}

/// A switch with nodes 1 to 3.
fn switch() -> SwitchMaster {
    let link = |to: u16| (to, FttLink { rate: BitRate::from_mbps(100) });
    SwitchMaster::new(SwitchConfig {
        switch: 11,
        acmaster: 20,
        cycle: Duration::from_us(125),
        tolerance_ppb: 0,
        step: Duration::ZERO,
        patience: Duration::from_ms(20),
        links: BTreeMap::from([1, 2, 3].map(link)),
    })
}

fn messages(switch: &mut SwitchMaster) -> Vec<FttMessage> {
    core::iter::from_fn(|| switch.poll()).map(|(_, message)| message).collect()
}

fn config(stream: FttStream, consumer: u16, number: u32) -> FttMessage {
    FttMessage::Config { stream, consumer, between: Some([1, consumer]), number }
}

fn reserved(switch: &SwitchMaster) -> [u64; 3] {
    let all: Vec<u64> = switch.links().map(|link| link.reserved.as_bps()).collect();
    all.try_into().expect("three links")
}

#[test]
fn what_streams_reserve_of_a_link_is_known() {
    let mut switch = switch();
    assert_eq!(reserved(&switch), [0; 3]);
    switch.receive(at(0), &config(STREAM, 2, 1));
    // 800 bits in two cycles of 125 us.
    assert_eq!(reserved(&switch), [0, 3_200_000, 0]);
    switch.receive(at(0), &config(STREAM, 3, 2));
    let synchronous = FttStream { id: 8, offset_ns: Some(0), period_ns: 500_000, ..STREAM };
    switch.receive(at(0), &config(synchronous, 3, 3));
    assert_eq!(reserved(&switch), [0, 3_200_000, 4_800_000], "and 800 bits in four");
    let gone = FttMessage::Config { stream: STREAM, consumer: 1, between: None, number: 4 };
    switch.receive(at(0), &gone);
    assert_eq!(reserved(&switch), [0, 0, 1_600_000]);
}

#[test]
fn a_change_is_repeated_until_it_is_acknowledged() {
    let mut switch = switch();
    let link = |up, number| FttMessage::Link { switch: 11, neighbour: 2, up, number };
    switch.link(at(0), 2, true);
    switch.link(at(0), 9, false);
    assert_eq!(messages(&mut switch), [], "nothing changed");
    switch.link(at(0), 2, false);
    assert_eq!(messages(&mut switch), [link(false, 1)]);
    assert!(switch.links().all(|link| link.up == (link.neighbour != 2)));
    switch.advance(at(20));
    assert_eq!(messages(&mut switch), [link(false, 1)]);
    switch.link(at(21), 2, true);
    switch.receive(at(21), &FttMessage::Linked { neighbour: 2, number: 1 });
    assert_eq!(switch.deadline(), Some(at(41)), "of the change before");
    switch.receive(at(22), &FttMessage::Linked { neighbour: 2, number: 2 });
    assert_eq!((messages(&mut switch), switch.deadline()), (Vec::from([link(true, 2)]), None));
    switch.receive(at(30), &FttMessage::Alive { master: 20, life: 0, number: 0 });
    assert_eq!(messages(&mut switch), [], "it knows");
    switch.receive(at(30), &FttMessage::Alive { master: 21, life: 0, number: 0 });
    assert_eq!(messages(&mut switch), [link(true, 2)], "another one does not");
}

#[test]
fn what_went_over_a_link_that_failed_is_broken_until_it_is_gone() {
    let mut switch = switch();
    switch.receive(at(0), &config(STREAM, 2, 1));
    switch.receive(at(0), &config(STREAM, 3, 2));
    messages(&mut switch);
    switch.link(at(1), 2, false);
    let broken = FttMessage::Broken { switch: 11, neighbour: 2, stream: STREAM, consumer: 2, number: 1 };
    assert_eq!(messages(&mut switch).last(), Some(&broken));
    switch.link(at(2), 2, true);
    messages(&mut switch);
    switch.advance(at(21));
    assert_eq!(messages(&mut switch), [broken], "although it is back");
    assert!(switch.is_broken(7, 2) && !switch.is_broken(7, 3));
    switch.receive(at(22), &FttMessage::Config { stream: STREAM, consumer: 2, between: None, number: 3 });
    assert!(!switch.is_broken(7, 2));
    // The line from the producer takes all.
    switch.receive(at(23), &config(STREAM, 2, 4));
    switch.link(at(24), 1, false);
    assert!(switch.is_broken(7, 2) && switch.is_broken(7, 3));
    switch.receive(at(25), &FttMessage::Config { stream: STREAM, consumer: 1, between: None, number: 5 });
    assert!(!switch.is_broken(7, 2) && !switch.is_broken(7, 3));
}

#[test]
fn what_goes_over_no_link_that_is_up_is_refused() {
    let mut switch = switch();
    let unable = |neighbour, link, number| FttMessage::Unable {
        stream: 7,
        consumer: 2,
        switch: 11,
        neighbour,
        link,
        number,
    };
    let config =
        |to, number| FttMessage::Config { stream: STREAM, consumer: 2, between: Some([1, to]), number };
    switch.receive(at(0), &config(9, 1));
    assert_eq!(messages(&mut switch), [unable(9, 0, 1)], "it has none");
    switch.link(at(0), 2, false);
    switch.receive(at(0), &config(2, 2));
    assert_eq!(messages(&mut switch).last(), Some(&unable(2, 1, 2)));
    assert!(switch.streams().is_empty());
    switch.link(at(0), 2, true);
    switch.receive(at(0), &config(2, 1));
    assert!(switch.streams().is_empty(), "what comes late is older than the refusal");
    switch.receive(at(0), &config(2, 3));
    assert!(switch.streams().contains_key(&7));
}
