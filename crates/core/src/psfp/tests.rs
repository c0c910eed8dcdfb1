//! The stages of filtering and policing, one by one and together.

use super::*;
use crate::gates::CycleTime;
use crate::gates::Gates;
use alloc::vec;
use tautwire_units::{BitRate, Duration};

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_us(us)
}

fn state(open: bool, priority: Option<u8>) -> GateState {
    GateState { open, internal_priority: priority.and_then(Priority::new) }
}

fn entry(open: bool, priority: Option<u8>, octets_max: Option<u32>, us: u64) -> StreamGateEntry {
    StreamGateEntry { state: state(open, priority), time_interval: Duration::from_us(us), octets_max }
}

fn list(base: u64, entries: &[StreamGateEntry]) -> StreamGateParameters {
    let cycle: u64 = entries.iter().map(|entry| entry.time_interval.as_ps()).sum();
    StreamGateParameters {
        control_list: entries.to_vec(),
        base_time: at(base),
        cycle_time: CycleTime::new(cycle, 1).expect("a cycle"),
        cycle_time_extension: Duration::ZERO,
    }
}

fn gate(admin: GateState, parameters: Option<StreamGateParameters>) -> StreamGateConfig {
    StreamGateConfig {
        admin,
        parameters,
        tick: Duration::ZERO,
        closes_on_invalid_rx: false,
        closes_on_octets_exceeded: false,
        counts_ether_type: true,
    }
}

const OPEN: FilterConfig = FilterConfig { max_sdu: None, blocks_on_oversize: false, gate: None, meter: None };

fn frame(msdu: u32) -> Frame {
    Frame { msdu, octets: msdu + 16, drop_eligible: false }
}

fn judge(filters: &mut StreamFilters, us: u64, msdu: u32) -> Result<Option<u8>, Discard> {
    let passed = filters.judge(at(us), 0, frame(msdu))?;
    Ok(passed.internal_priority.map(Priority::number))
}

#[test]
fn a_larger_sdu_is_discarded_and_may_block_its_filter() {
    for blocks_on_oversize in [false, true] {
        let config = FilterConfig { max_sdu: Some(100), blocks_on_oversize, ..OPEN };
        let mut filters = StreamFilters::new(&[config], Vec::new(), &[]);
        assert_eq!(judge(&mut filters, 1, 100), Ok(None));
        assert_eq!(judge(&mut filters, 2, 101), Err(Discard::MaxSdu));
        let then = judge(&mut filters, 3, 10);
        assert_eq!((then.is_err(), filters.is_blocked(0)), (blocks_on_oversize, blocks_on_oversize));
        filters.set_blocked(0, false);
        assert_eq!(judge(&mut filters, 4, 10), Ok(None));
        let counters = filters.counters(0);
        let not_passing_sdu = 1 + u64::from(blocks_on_oversize);
        assert_eq!((counters.matching, counters.not_passing_sdu), (4, not_passing_sdu));
        assert_eq!((counters.passing_sdu, counters.passing), (4 - not_passing_sdu, 4 - not_passing_sdu));
    }
}

#[test]
fn a_list_opens_a_gate_and_gives_internal_priorities() {
    let parameters = list(50, &[entry(true, Some(5), None, 100), entry(false, None, None, 100)]);
    let gates = vec![gate(state(true, Some(2)), Some(parameters))];
    let mut filters = StreamFilters::new(&[FilterConfig { gate: Some(0), ..OPEN }], gates, &[]);
    // Before the first cycle the admin values hold; an edge comes before frames that arrive at its instant.
    for (us, result) in [
        (49, Ok(Some(2))),
        (50, Ok(Some(5))),
        (149, Ok(Some(5))),
        (150, Err(Discard::GateClosed)),
        (249, Err(Discard::GateClosed)),
        (250, Ok(Some(5))),
        (20_250, Ok(Some(5))),
        (20_350, Err(Discard::GateClosed)),
    ] {
        assert_eq!(judge(&mut filters, us, 64), result, "at {us} us");
    }
    let counters = filters.counters(0);
    assert_eq!((counters.passing, counters.not_passing), (5, 3));
}

#[test]
fn an_interval_has_its_octets_whenever_its_entry_is_executed() {
    let entries =
        [entry(true, None, Some(300), 100), entry(true, None, None, 50), entry(true, None, Some(10), 50)];
    let gates = vec![gate(state(true, None), Some(list(0, &entries)))];
    let mut filters = StreamFilters::new(&[FilterConfig { gate: Some(0), ..OPEN }], gates, &[]);
    for (us, msdu, passes) in [
        (0, 200, true),
        (10, 101, false), // It takes nothing,
        (20, 100, true),  // so this one finds its octets.
        (99, 1, false),
        (100, 1_500, true),
        (149, 1_500, true),
        (150, 11, false),
        (151, 10, true),
        (152, 1, false),
        (200, 300, true),
        (4_150, 10, true),
        (4_200, 300, true),
    ] {
        let expected = if passes { Ok(None) } else { Err(Discard::IntervalOctets) };
        assert_eq!(judge(&mut filters, us, msdu), expected, "at {us} us");
    }
}

#[test]
fn flags_close_a_gate_until_they_are_cleared() {
    let entries = [entry(true, None, Some(100), 100), entry(false, None, None, 100)];
    for (flag, us, msdu, discard) in [
        (GateFlag::InvalidRx, 150, 10, Discard::GateClosed),
        (GateFlag::OctetsExceeded, 50, 101, Discard::IntervalOctets),
    ] {
        for enabled in [false, true] {
            let config = StreamGateConfig {
                closes_on_invalid_rx: enabled && flag == GateFlag::InvalidRx,
                closes_on_octets_exceeded: enabled && flag == GateFlag::OctetsExceeded,
                ..gate(state(true, None), Some(list(0, &entries)))
            };
            let filter = FilterConfig { gate: Some(0), ..OPEN };
            let mut filters = StreamFilters::new(&[filter], vec![config], &[]);
            assert_eq!(judge(&mut filters, us, msdu), Err(discard));
            assert_eq!(judge(&mut filters, 210, 10).is_err(), enabled);
            assert_eq!(filters.gates()[0].is_closed_for(flag), enabled);
            filters.gate_mut(0).set_closed_for(flag, false);
            assert_eq!(judge(&mut filters, 220, 10), Ok(None));
            filters.gate_mut(0).set_closed_for(flag, true);
            assert_eq!(judge(&mut filters, 230, 10).is_err(), enabled, "a flag counts if it is enabled");
        }
    }
}

#[test]
fn a_gate_without_a_list_keeps_its_admin_values_and_may_be_given_one() {
    let mut filters = StreamFilters::new(
        &[FilterConfig { gate: Some(0), ..OPEN }],
        vec![gate(state(false, None), None)],
        &[],
    );
    assert_eq!(judge(&mut filters, 10, 64), Err(Discard::GateClosed));
    let parameters = list(0, &[entry(true, Some(7), None, 300), entry(false, None, None, 200)]);
    filters.gate_mut(0).change(at(1_100), &parameters);
    assert_eq!(judge(&mut filters, 1_499, 64), Err(Discard::GateClosed), "the first cycle begins at 1500");
    assert_eq!(judge(&mut filters, 1_500, 64), Ok(Some(7)));
    assert_eq!(filters.gates()[0].gates().map(Gates::change_errors), Some(0));
    // Another list comes at the end of the cycle, with its priorities and octets.
    filters.gate_mut(0).change(at(1_600), &list(2_000, &[entry(true, None, Some(64), 500)]));
    assert_eq!(judge(&mut filters, 1_799, 64), Ok(Some(7)));
    assert_eq!(judge(&mut filters, 2_000, 64), Ok(None));
    assert_eq!(judge(&mut filters, 2_000, 64), Err(Discard::IntervalOctets));
    filters.start(at(2_100));
    assert_eq!(judge(&mut filters, 2_100, 64), Err(Discard::GateClosed), "admin values until the next cycle");
    assert_eq!(judge(&mut filters, 2_500, 64), Ok(None));
}

#[test]
fn a_meter_comes_behind_all_else_and_may_be_shared() {
    let meter = MeterConfig {
        committed_information_rate: BitRate::from_mbps(8),
        committed_burst_size: 400,
        excess_information_rate: BitRate::ZERO,
        excess_burst_size: 100,
        coupling_flag: false,
        color_mode: ColourMode::Aware,
        drop_on_yellow: false,
        mark_all_frames_red_enable: false,
    };
    let closed = FilterConfig { gate: Some(0), meter: Some(0), ..OPEN };
    let metered = FilterConfig { gate: None, ..closed };
    let mut filters =
        StreamFilters::new(&[closed, metered, metered], vec![gate(state(false, None), None)], &[meter]);
    assert_eq!(filters.judge(at(0), 0, frame(284)), Err(Discard::GateClosed), "no token is taken");
    assert_eq!(filters.judge(at(0), 1, frame(284)), Ok(Passed::default()));
    let yellow = Ok(Passed { drop_eligible: true, ..Passed::default() });
    assert_eq!(filters.judge(at(0), 1, Frame { drop_eligible: true, ..frame(50) }), yellow);
    assert_eq!(filters.judge(at(0), 2, frame(84)), Ok(Passed::default()), "what the other left");
    assert_eq!(filters.judge(at(0), 2, frame(84)), Err(Discard::Red));
    assert_eq!((filters.counters(1).red, filters.counters(2).red, filters.counters(2).passing), (0, 1, 2));
}
