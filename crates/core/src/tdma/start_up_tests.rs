//! Start-up with messages that arrive at once, are lost, or never come.

use super::*;
use alloc::vec;

/// Stations whose messages take a microsecond; `lost` names by number those that do not arrive.
fn run(stations: u32, configuration: u32, lost: impl Fn(u32) -> bool, most_ms: u64) -> Vec<StartUp> {
    let config = |own| StartUpConfig {
        stations,
        own,
        server: 0,
        interval: Duration::from_ms(5),
        configuration,
        piece: 100,
        burst: 3,
        heartbeat: None,
        silent_heartbeats: 2,
    };
    let mut all: Vec<StartUp> = (0..stations).map(|own| StartUp::new(config(own), Instant::ZERO)).collect();
    let mut sent = 0;
    for us in 0..most_ms * 1_000 {
        let now = Instant::from_ps(us * 1_000_000);
        let mut messages = Vec::new();
        for (from, station) in all.iter_mut().enumerate() {
            station.act(now);
            if station.phase() == StartUpPhase::Calibrating {
                station.calibrated(now);
            }
            while let Some((to, message)) = station.poll() {
                messages.push((u32::try_from(from).unwrap(), to, message));
            }
        }
        for (from, to, message) in messages {
            for (number, station) in all.iter_mut().enumerate() {
                let number = u32::try_from(number).unwrap();
                let meant = number != from && (to == Addressee::All || to == Addressee::Station(number));
                sent += u32::from(meant);
                if meant && !lost(sent) {
                    station.hear(now, from, message);
                }
            }
        }
        if all.iter().all(|station| station.phase() == StartUpPhase::Running) {
            break;
        }
    }
    all
}

#[test]
fn all_know_all_before_any_application_runs() {
    for (stations, configuration) in [(1, 0), (2, 0), (2, 1), (4, 1_234), (9, 299)] {
        let all = run(stations, configuration, |_| false, 20);
        for station in &all {
            assert_eq!(station.phase(), StartUpPhase::Running, "{stations} stations");
            assert_eq!(station.known(), stations as usize);
        }
    }
}

#[test]
fn lost_messages_delay_and_never_hinder() {
    for step in 2..9 {
        // In no rhythm, which repetitions could fall into.
        let all = run(4, 1_000, |number| (number.wrapping_mul(2_654_435_769) >> 16) % step == 0, 2_000);
        assert!(all.iter().all(|station| station.phase() == StartUpPhase::Running), "one of {step} is lost");
    }
    for first in 1..60 {
        let all = run(3, 350, |number| number == first, 100);
        assert!(all.iter().all(|station| station.phase() == StartUpPhase::Running), "the {first}th is lost");
    }
}

#[test]
fn nobody_runs_while_one_is_missing_and_who_was_not_invited_is_silent() {
    let mut all = run(3, 100, |_| true, 30);
    assert!(all.iter().all(|station| station.phase() < StartUpPhase::Ready));
    assert_eq!(all[1].phase(), StartUpPhase::Silent);
    assert_eq!(all[1].deadline(), None);
    all[1].hear(Instant::ZERO, 2, StartUpMessage::Invitation);
    assert_eq!(all[1].phase(), StartUpPhase::Silent, "only the server invites");
    all[1].hear(Instant::ZERO, 7, StartUpMessage::Announcement { ready: false });
    assert_eq!(all[1].known(), 1, "no station of the network");
}

#[test]
fn pieces_behind_a_lost_one_are_not_taken_and_what_is_there_is_acknowledged() {
    let config = StartUpConfig {
        stations: 2,
        own: 1,
        server: 0,
        interval: Duration::from_ms(1),
        configuration: 500,
        piece: 100,
        burst: 4,
        heartbeat: None,
        silent_heartbeats: 2,
    };
    let mut client = StartUp::new(config, Instant::ZERO);
    let mut heard = vec![];
    for offset in [0, 200, 300] {
        client.hear(Instant::ZERO, 0, StartUpMessage::Configuration { offset, length: 100 });
        heard.extend(client.poll());
    }
    let missed = (Addressee::Station(0), StartUpMessage::Acknowledgement { received: 100 });
    assert_eq!(heard, [missed, missed]);
}

/// Stations with heartbeats of 4 ms that live while `is_up` is true; one that comes back starts anew. Gives them, and
/// the messages as (millisecond, from, message).
fn live(
    stations: u32,
    is_up: impl Fn(u32, u64) -> bool,
    lost: impl Fn(u32) -> bool,
    most_ms: u64,
) -> (Vec<StartUp>, Vec<(u64, u32, StartUpMessage)>) {
    let config = |own| StartUpConfig {
        stations,
        own,
        server: 0,
        interval: Duration::from_ms(5),
        configuration: 250,
        piece: 100,
        burst: 3,
        heartbeat: Some(Duration::from_ms(4)),
        silent_heartbeats: 2,
    };
    let mut all: Vec<StartUp> = (0..stations).map(|own| StartUp::new(config(own), Instant::ZERO)).collect();
    let (mut logged, mut sent) = (vec![], 0);
    for step in 0..most_ms * 10 {
        let (now, ms) = (Instant::from_ps(step * 100_000_000), step / 10);
        let mut messages = Vec::new();
        for (from, station) in (0_u32..).zip(all.iter_mut()) {
            if is_up(from, ms) && step % 10 == 0 && ms > 0 && !is_up(from, ms - 1) {
                station.restart(now);
            }
            if !is_up(from, ms) {
                continue;
            }
            station.act(now);
            if station.phase() == StartUpPhase::Calibrating {
                station.calibrated(now);
            }
            while let Some((to, message)) = station.poll() {
                logged.push((ms, from, message));
                messages.push((from, to, message));
            }
        }
        for (from, to, message) in messages {
            for (number, station) in (0_u32..).zip(all.iter_mut()) {
                let meant = number != from && (to == Addressee::All || to == Addressee::Station(number));
                sent += u32::from(meant);
                if meant && is_up(number, ms) && !lost(sent) {
                    station.hear(now, from, message);
                }
            }
        }
    }
    (all, logged)
}

#[test]
fn a_silent_station_is_reported_dead_and_starts_up_anew_while_the_others_run_on() {
    let up = |station: u32, ms: u64| station != 2 || !(40..60).contains(&ms);
    let (all, logged) = live(4, up, |_| false, 100);
    assert!(all.iter().all(|station| station.phase() == StartUpPhase::Running && station.known() == 4));
    let dead: Vec<_> =
        logged.iter().filter(|(_, _, messages)| matches!(messages, StartUpMessage::Dead { .. })).collect();
    let [(at, 0, StartUpMessage::Dead { station: 2 })] = dead[..] else { panic!("{dead:?}") };
    assert!((48..=53).contains(at), "two heartbeats of silence: {at} ms");
    let again = |message: StartUpMessage, from: u32| {
        logged.iter().filter(|(ms, who, messages)| *ms >= 60 && *who == from && *messages == message).count()
    };
    assert!(again(StartUpMessage::Announcement { ready: false }, 2) > 0, "it announces itself anew");
    assert!(
        again(StartUpMessage::Configuration { offset: 200, length: 50 }, 0) > 0,
        "and is configured anew"
    );
    for other in [1, 3] {
        assert_eq!(again(StartUpMessage::Announcement { ready: false }, other), 0, "others run on");
        assert!(again(StartUpMessage::Heartbeat, other) > 5);
    }
}

#[test]
fn without_heartbeats_nobody_is_missed_and_running_stations_fall_silent() {
    let all = run(3, 100, |_| false, 20);
    assert!(all.iter().all(|station| station.deadline().is_none()), "a quiet network");
}

#[test]
fn a_server_that_comes_back_learns_who_runs() {
    let up = |station: u32, ms: u64| station != 0 || !(40..60).contains(&ms);
    let (all, logged) = live(3, up, |_| false, 120);
    assert!(all.iter().all(|station| station.phase() == StartUpPhase::Running && station.known() == 3));
    assert!(logged.iter().any(|(ms, who, messages)| {
        *ms >= 60 && *who != 0 && *messages == StartUpMessage::Announcement { ready: true }
    }));
}

#[test]
fn a_station_that_comes_back_does_not_wait_for_one_that_is_dead() {
    // The third never comes back.
    let up = |station: u32, ms: u64| match station {
        2 => ms < 40,
        1 => !(60..80).contains(&ms),
        _ => true,
    };
    let (all, _) = live(3, up, |_| false, 140);
    assert_eq!(all[1].phase(), StartUpPhase::Running);
    assert_eq!((all[0].known(), all[1].known()), (2, 2));
}

#[test]
fn lost_heartbeats_bury_the_living_who_come_back_by_themselves() {
    for step in 2..7 {
        let lost = |number: u32| (number.wrapping_mul(2_654_435_769) >> 16).is_multiple_of(step);
        let (all, logged) = live(3, |_, _| true, lost, 600);
        assert!(all.iter().all(|station| station.phase() == StartUpPhase::Running), "one of {step} is lost");
        let buried = logged.iter().any(|(_, _, messages)| matches!(messages, StartUpMessage::Dead { .. }));
        assert!(buried || step > 3, "one of {step} is lost");
        let after = logged.iter().filter(|(ms, ..)| *ms > 500).count();
        assert!(after < 1_500, "no flood: {after} messages in 100 ms");
    }
}
