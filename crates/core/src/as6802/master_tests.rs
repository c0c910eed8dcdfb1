//! Courses of one master or client, by hand: every state and what leads out of it.

use super::*;

const CONFIG: MasterConfig = MasterConfig {
    member: Some(1),
    domain: 7,
    priority: 1,
    delay_max: Duration::from_us(100),
    compression_delay: Duration::from_us(20),
    integration_cycle: Duration::from_ms(5),
    cycles: 4,
    acceptance: Duration::from_us(15),
    listen_timeout: Duration::from_ms(50),
    cold_start_timeout: Duration::from_ms(40),
    cold_start_offset: Duration::from_ms(2),
    acknowledge_offset: Duration::from_ms(3),
    faulty: 1,
    high_integrity: false,
    thresholds: Thresholds { to_sync: 2, to_tentative: 1, stay: 2, stable_cycles: 3, unstable_cycles: 2 },
};

fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_us(us)
}

fn frame(kind: PcfType, cycle: u32, members: u32) -> ProtocolControlFrame {
    ProtocolControlFrame {
        integration_cycle: cycle,
        membership_new: members,
        sync_priority: 1,
        sync_domain: 7,
        kind,
        transparent_clock: super::super::to_transparent_clock(Duration::from_us(100)),
    }
}

/// Frames sent until a time, as kinds and cycles.
fn sent_until(master: &mut SynchronisationMaster, until: u64) -> Vec<(PcfType, u32)> {
    master.advance(us(until));
    let all = core::iter::from_fn(|| master.poll());
    all.filter_map(|outcome| match outcome {
        Outcome::Send(frame) => Some((frame.kind, frame.integration_cycle)),
        _ => None,
    })
    .collect()
}

/// A master that has joined a network whose cycle 2 began at 10 ms.
fn joined() -> SynchronisationMaster {
    let mut master = SynchronisationMaster::new(CONFIG, us(0));
    master.receive(us(10_220), 0, frame(PcfType::Integration, 2, 0b110));
    master.advance(us(10_220));
    assert_eq!(master.state(), MasterState::Sync);
    assert_eq!(master.poll(), Some(Outcome::Synchronised { cycle: 2, start: us(10_000) }));
    master
}

#[test]
fn who_hears_nobody_starts_the_network() {
    let mut master = SynchronisationMaster::new(CONFIG, us(0));
    assert_eq!(sent_until(&mut master, 49_999), []);
    assert_eq!(sent_until(&mut master, 50_000), [(PcfType::ColdStart, 0)]);
    assert_eq!(master.state(), MasterState::Unsync);
    master.receive(us(50_200), 0, frame(PcfType::ColdStart, 0, 1));
    assert_eq!(sent_until(&mut master, 89_999), [], "its own cold start");
    assert_eq!(sent_until(&mut master, 90_000), [(PcfType::ColdStart, 0)]);
    master.receive(us(91_000), 0, frame(PcfType::ColdStart, 0, 2));
    assert_eq!(sent_until(&mut master, 92_999), []);
    assert_eq!(master.state(), MasterState::Flood);
    assert_eq!(sent_until(&mut master, 93_000), [(PcfType::ColdStartAcknowledge, 0)]);
    master.receive(us(93_220), 0, frame(PcfType::ColdStartAcknowledge, 0, 3));
    assert_eq!(sent_until(&mut master, 96_219), []);
    assert_eq!(master.state(), MasterState::WaitForCycleStart);
    assert_eq!(sent_until(&mut master, 96_220), [(PcfType::Integration, 0)]);
    assert_eq!((master.state(), master.cycle()), (MasterState::TentativeSync, None));
    master.receive(us(96_440), 0, frame(PcfType::Integration, 0, 3));
    master.advance(us(96_470));
    assert_eq!((master.state(), master.cycle()), (MasterState::Sync, Some((us(96_220), 0))));
    assert_eq!(master.poll(), Some(Outcome::Synchronised { cycle: 0, start: us(96_220) }));
}

#[test]
fn an_acknowledgement_that_does_not_come_is_not_waited_for_longer() {
    let mut master = SynchronisationMaster::new(CONFIG, us(0));
    sent_until(&mut master, 50_000);
    master.receive(us(50_500), 0, frame(PcfType::ColdStart, 0, 2));
    assert_eq!(sent_until(&mut master, 52_500), [(PcfType::ColdStartAcknowledge, 0)]);
    assert_eq!(sent_until(&mut master, 52_749), []);
    assert_eq!(sent_until(&mut master, 52_750), [(PcfType::ColdStart, 0)], "it tries itself");
    assert_eq!(master.state(), MasterState::Unsync);
    assert_eq!(sent_until(&mut master, 92_750), [(PcfType::ColdStart, 0)]);
}

#[test]
fn alone_in_its_cycles_it_listens_again() {
    let mut master = SynchronisationMaster::new(CONFIG, us(0));
    master.receive(us(1_000), 0, frame(PcfType::ColdStartAcknowledge, 0, 2));
    assert_eq!(sent_until(&mut master, 4_000), [(PcfType::Integration, 0)]);
    assert_eq!(sent_until(&mut master, 4_250), []);
    assert_eq!(master.state(), MasterState::Integrate, "not even its own frame came back");
    let mut master = SynchronisationMaster::new(CONFIG, us(0));
    master.receive(us(1_000), 0, frame(PcfType::ColdStartAcknowledge, 0, 2));
    sent_until(&mut master, 4_000);
    master.receive(us(4_220), 0, frame(PcfType::Integration, 0, 1));
    assert_eq!(sent_until(&mut master, 9_000), [(PcfType::Integration, 1)], "one is enough to go on");
    assert_eq!(master.state(), MasterState::TentativeSync);
}

#[test]
fn it_joins_a_network_and_sends_in_the_next_cycle() {
    let mut master = joined();
    assert_eq!(sent_until(&mut master, 14_999), []);
    master.advance(us(15_000));
    let Some(Outcome::Send(sent)) = master.poll() else { panic!("a frame") };
    assert_eq!((sent.kind, sent.integration_cycle, sent.membership_new), (PcfType::Integration, 3, 1));
    assert_eq!(master.poll(), Some(Outcome::Cycle { cycle: 3, start: us(15_000) }));
    let mut few = SynchronisationMaster::new(CONFIG, us(0));
    few.receive(us(10_220), 0, frame(PcfType::Integration, 2, 0b100));
    few.advance(us(10_220));
    assert_eq!(few.state(), MasterState::Integrate, "one member is no network");
    sent_until(&mut few, 50_000);
    few.receive(us(50_220), 0, frame(PcfType::Integration, 2, 0b100));
    few.advance(us(50_220));
    assert_eq!(few.state(), MasterState::TentativeSync, "but one to try");
}

#[test]
fn its_clock_is_set_once_a_cycle_by_all_channels() {
    let mut master = joined();
    sent_until(&mut master, 15_000);
    master.receive(us(15_224), 0, frame(PcfType::Integration, 3, 3));
    master.receive(us(15_212), 0, frame(PcfType::Integration, 3, 1));
    master.receive(us(15_226), 1, frame(PcfType::Integration, 3, 3));
    assert_eq!(master.cycle(), Some((us(15_000), 3)));
    master.advance(us(15_250));
    assert_eq!(
        master.cycle(),
        Some((us(15_005), 3)),
        "the mean of 4 and 6 us, of the frames with most members"
    );
    assert_eq!(sent_until(&mut master, 20_004), []);
    assert_eq!(sent_until(&mut master, 20_005), [(PcfType::Integration, 0)]);
}

#[test]
fn with_too_few_members_it_lasts_as_long_as_its_state() {
    let mut master = joined();
    sent_until(&mut master, 15_000);
    master.receive(us(15_220), 0, frame(PcfType::Integration, 3, 1));
    assert_eq!(sent_until(&mut master, 15_250), []);
    assert_eq!(master.state(), MasterState::Integrate, "newly synchronised");
    let mut master = joined();
    for cycle in 0..3 {
        let start = 15_000 + cycle * 5_000;
        sent_until(&mut master, start);
        let number = u32::try_from((3 + cycle) % 4).expect("small");
        master.receive(us(start + 220), 0, frame(PcfType::Integration, number, 3));
        master.advance(us(start + 250));
    }
    assert_eq!(master.state(), MasterState::Stable);
    while master.poll().is_some() {}
    master.advance(us(30_250));
    assert_eq!(master.state(), MasterState::Stable, "one bad cycle");
    master.advance(us(35_250));
    assert_eq!(master.state(), MasterState::Integrate, "two");
    let all: Vec<Outcome> = core::iter::from_fn(|| master.poll()).collect();
    assert_eq!(all.last(), Some(&Outcome::Lost));
    assert_eq!((master.cycle(), master.is_synchronised()), (None, false));
}

/// The state of a master whose cycle had these members in schedule, and those out of it at a time.
fn with_a_clique(own: u32, others: u32, at: u64) -> SynchronisationMaster {
    let mut master = joined();
    sent_until(&mut master, 15_000);
    master.receive(us(15_220), 0, frame(PcfType::Integration, 3, own));
    master.receive(us(at), 0, frame(PcfType::Integration, 1, others));
    // The next cycle's members, and the look at them.
    sent_until(&mut master, 20_000);
    if master.is_synchronised() {
        master.receive(us(20_220), 0, frame(PcfType::Integration, 0, own));
        master.advance(us(20_250));
    }
    master
}

#[test]
fn a_larger_clique_out_of_schedule_is_followed() {
    for at in [15_010, 15_240, 15_400, 18_000, 20_100] {
        let state = |own, others| with_a_clique(own, others, at).state();
        assert_eq!(state(0b11, 0b11100), MasterState::Integrate, "more there than here, {at}");
        assert_eq!(state(0b110, 0b1001), MasterState::Integrate, "as many, and one numbered lower, {at}");
        assert_eq!(state(0b11, 0b1100), MasterState::Sync, "as many: they give way, {at}");
        assert_eq!(state(0b111, 0b11000), MasterState::Sync, "fewer, {at}");
        assert_eq!(state(0b11, 0b1111), MasterState::Sync, "as many beside its own: they give way, {at}");
        assert_eq!(state(0b1100, 0b1111), MasterState::Integrate, "and those see them, {at}");
    }
    let detected = with_a_clique(0b11, 0b11100, 15_400).detected();
    assert_eq!(detected, CliquesDetected { synchronous: 0, asynchronous: 1 });
}

#[test]
fn cliques_count_each_for_itself_and_the_joining_cycle_as_none() {
    let state = |own: u32, others: [u32; 2]| {
        let mut master = joined();
        // The other channel's frame of the cycle in which it joined.
        master.receive(us(10_222), 1, frame(PcfType::Integration, 2, 0b110));
        sent_until(&mut master, 15_000);
        master.receive(us(15_220), 0, frame(PcfType::Integration, 3, own));
        master.receive(us(15_300), 0, frame(PcfType::Integration, 1, others[0]));
        master.advance(us(15_310));
        if !master.is_synchronised() {
            return master.state();
        }
        master.receive(us(16_300), 0, frame(PcfType::Integration, 2, others[1]));
        sent_until(&mut master, 20_000);
        master.receive(us(20_220), 0, frame(PcfType::Integration, 0, own));
        master.advance(us(20_250));
        master.state()
    };
    assert_eq!(state(0b11, [0b100, 0b11000]), MasterState::Sync, "neither is before it");
    assert_eq!(state(0b11, [0b100, 0b111000]), MasterState::Integrate, "one is larger");
}

/// Of any three cliques that receive each other's frames one stays and the others integrate anew.
#[test]
fn of_three_cliques_one_stays() {
    let (mut cases, mut summed) = (0, 0);
    for assignment in 0..3_u32.pow(6) {
        let mut cliques = [0_u32; 3];
        for member in 0..6 {
            cliques[usize::try_from(assignment / 3_u32.pow(member) % 3).expect("of three")] |= 1 << member;
        }
        if cliques.iter().any(|clique| clique.count_ones() < 2) {
            continue;
        }
        let others = |own: usize| {
            cliques.iter().enumerate().filter(move |(other, _)| *other != own).map(|(_, set)| *set)
        };
        let stays = |own: usize| !others(own).any(|other| super::is_before(other, cliques[own]));
        assert_eq!((0..3).filter(|own| stays(*own)).count(), 1, "{cliques:?}");
        let is_apart_from_all =
            |own: usize| !super::is_before(others(own).fold(0, |all, one| all | one), cliques[own]);
        summed += u32::from(!(0..3).any(is_apart_from_all));
        cases += 1;
    }
    assert_eq!((cases, summed), (90, 90), "counted together, all of them would give way");
}

#[test]
fn who_stays_tentative_starts_again_with_the_others() {
    let mut master = SynchronisationMaster::new(CONFIG, us(0));
    master.receive(us(1_000), 0, frame(PcfType::ColdStartAcknowledge, 0, 2));
    sent_until(&mut master, 4_000);
    master.receive(us(4_100), 0, frame(PcfType::ColdStartAcknowledge, 0, 2));
    assert_eq!(sent_until(&mut master, 4_150), []);
    assert_eq!(master.state(), MasterState::TentativeSync, "another one of the same start");
    master.receive(us(4_220), 0, frame(PcfType::Integration, 0, 1));
    assert_eq!(sent_until(&mut master, 9_000), [(PcfType::Integration, 1)]);
    let mut enough = master.clone();
    enough.receive(us(9_220), 0, frame(PcfType::Integration, 1, 3));
    enough.receive(us(9_230), 0, frame(PcfType::ColdStartAcknowledge, 0, 4));
    enough.advance(us(9_250));
    assert_eq!(enough.state(), MasterState::Sync, "members enough");
    master.receive(us(9_230), 0, frame(PcfType::ColdStartAcknowledge, 0, 4));
    assert_eq!(sent_until(&mut master, 12_229), []);
    assert_eq!(master.state(), MasterState::WaitForCycleStart);
    assert_eq!(sent_until(&mut master, 12_230), [(PcfType::Integration, 0)]);
}

#[test]
fn a_client_joins_and_sends_nothing() {
    let mut client = SynchronisationMaster::new(MasterConfig { member: None, ..CONFIG }, us(0));
    assert_eq!(sent_until(&mut client, 200_000), []);
    assert_eq!(client.state(), MasterState::Integrate);
    client.receive(us(210_220), 0, frame(PcfType::Integration, 1, 3));
    client.advance(us(215_000));
    let all: Vec<Outcome> = core::iter::from_fn(|| client.poll()).collect();
    let start = us(210_000);
    let next = us(215_000);
    assert_eq!(all, [Outcome::Synchronised { cycle: 1, start }, Outcome::Cycle { cycle: 2, start: next }]);
}

#[test]
fn other_domains_and_priorities_and_slow_frames_are_not_heard() {
    let mut master = SynchronisationMaster::new(CONFIG, us(0));
    let good = frame(PcfType::Integration, 1, 3);
    master.receive(us(100), 0, ProtocolControlFrame { sync_domain: 8, ..good });
    master.receive(us(100), 0, ProtocolControlFrame { sync_priority: 0, ..good });
    let slow = super::super::to_transparent_clock(Duration::from_us(101));
    master.receive(us(100), 0, ProtocolControlFrame { transparent_clock: slow, ..good });
    master.advance(us(1_000));
    assert_eq!(master.state(), MasterState::Integrate);
    for _ in 0..1_000 {
        let late = ProtocolControlFrame { transparent_clock: 0, ..frame(PcfType::ColdStart, 0, 2) };
        master.receive(us(1_000), 0, late);
    }
    assert_eq!(master.pending.len(), PENDING_MAX);
}
