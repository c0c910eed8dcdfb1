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
    };
    let mut all: Vec<StartUp> = (0..stations).map(|own| StartUp::new(config(own), Instant::ZERO)).collect();
    let mut sent = 0;
    for us in 0..most_ms * 1_000 {
        let now = Instant::from_ps(us * 1_000_000);
        let mut said = Vec::new();
        for (from, station) in all.iter_mut().enumerate() {
            station.act(now);
            if station.phase() == StartUpPhase::Calibrating {
                station.calibrated(now);
            }
            while let Some((to, message)) = station.poll() {
                said.push((u32::try_from(from).unwrap(), to, message));
            }
        }
        for (from, to, message) in said {
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
    all[1].hear(Instant::ZERO, 7, StartUpMessage::Announcement);
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
