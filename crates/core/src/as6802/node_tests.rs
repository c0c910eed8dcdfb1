//! Single nodes that follow clusters of higher priority.

use super::super::{PcfType, Thresholds};
use super::*;

const CYCLE: Duration = Duration::from_ms(2);

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(ms)
}

fn config(domain: u8, priority: u8, member: Option<u32>) -> MasterConfig {
    MasterConfig {
        member,
        domain,
        priority,
        delay_max: Duration::from_us(100),
        compression_delay: Duration::from_us(10),
        integration_cycle: CYCLE,
        cycles: 4,
        acceptance: Duration::from_us(10),
        listen_timeout: Duration::from_ms(6),
        cold_start_timeout: Duration::from_ms(10),
        cold_start_offset: Duration::from_ms(2),
        acknowledge_offset: Duration::from_us(100),
        faulty: 0,
        high_integrity: false,
        thresholds: Thresholds {
            to_sync: 2,
            to_tentative: 1,
            stay: 2,
            stable_cycles: 10,
            unstable_cycles: 1,
        },
    }
}

/// Compressed integration frames of a cluster from `from` to `to` (cycles), of two members.
fn hear(node: &mut SyncNode, (domain, priority): (u8, u8), from: u64, to: u64) {
    for cycle in from..to {
        let frame = ProtocolControlFrame {
            integration_cycle: u32::try_from(cycle % 4).expect("small"),
            membership_new: 3,
            sync_priority: priority,
            sync_domain: domain,
            kind: PcfType::Integration,
            transparent_clock: super::super::to_transparent_clock(Duration::from_us(40)),
        };
        node.receive(Instant::ZERO + CYCLE * cycle + Duration::from_us(150), Maker::Compression(0), frame);
    }
}

fn sent(node: &mut SyncNode) -> usize {
    core::iter::from_fn(|| node.poll()).count()
}

fn master() -> SyncNode {
    SyncNode::new(PartConfig::Master(config(1, 2, Some(1))), &[config(1, 5, None)], Instant::ZERO)
}

#[test]
fn a_lower_priority_gives_way_and_comes_back() {
    let mut node = master();
    node.advance(ms(7));
    assert_eq!(sent(&mut node), 1, "a cold start of its own");
    hear(&mut node, (1, 5), 4, 6);
    assert!(node.gives_way());
    // Two cycles behind the first frame, which is permanent at 8.21 ms.
    assert_eq!(node.time(ms(12)), None);
    hear(&mut node, (1, 5), 6, 10);
    let time = node.time(ms(19)).expect("it follows");
    assert_eq!((time.above, time.start, time.cycle), (Some(0), ms(18), 1));
    assert_eq!(sent(&mut node), 0, "who follows another sends nothing");
    // Without frames it loses the other cluster, listens, and starts its own.
    node.advance(ms(30));
    assert!(!node.gives_way() && node.time(ms(30)).is_none());
    assert_eq!(sent(&mut node), 1);
}

#[test]
fn other_domains_and_lower_priorities_are_not_heard() {
    for other in [(2, 5), (1, 1), (0, 255)] {
        let mut node = master();
        hear(&mut node, other, 0, 3);
        assert!(!node.gives_way());
        node.advance(ms(7));
        assert_eq!(sent(&mut node), 1, "{other:?}");
    }
}

#[test]
fn a_compression_master_follows_too() {
    let own = CompressionConfig {
        domain: 1,
        priority: 2,
        delay_max: Duration::from_us(100),
        window: Duration::from_us(10),
        faulty: 0,
        integration_cycle: CYCLE,
        cycles: 4,
        members_min: 2,
    };
    let mut node = SyncNode::new(PartConfig::Compression(own), &[config(1, 5, None)], Instant::ZERO);
    hear(&mut node, (1, 5), 0, 4);
    assert_eq!(node.time(ms(7)).map(|time| (time.above, time.cycle)), Some((Some(0), 3)));
    let frame = ProtocolControlFrame {
        integration_cycle: 1,
        membership_new: 1,
        sync_priority: 2,
        sync_domain: 1,
        kind: PcfType::Integration,
        transparent_clock: 0,
    };
    node.receive(ms(7), Maker::Master(1), frame);
    node.advance(ms(8));
    assert_eq!(sent(&mut node), 0, "it compresses nothing for its own cluster");
}
