//! gPTP of `tautwire bridge`: of two with each other, and with another implementation.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tautwire_linux::{Namespace, set_up};

use crate::common::folder;
use crate::processes::{Running, attached, namespace, started, status_of, terminate};

/// Two bridges with a cable between them; the clock of the second is ahead by three seconds and fast.
pub(crate) const TIMED: &str = "\
name: timed
defaults: {rate: 100 Mbit/s}
nodes:
  m: {type: bridge, ports: {p1: {interface: left, address: \"02:00:5e:00:00:01\"}}}
  f:
    type: bridge
    clock: {tolerance: 10000 ppm, drift: 10000 ppm, offset: 3 s}
    ports: {p1: {interface: e0, address: \"02:00:5e:00:00:02\"}}
links: [{between: [m, f]}]
gptp:
  log-sync-interval: -4
  log-announce-interval: -3
  log-pdelay-interval: -4
  bridges: {delay-max: 50 ms}
  nodes: {m: {priority1: 100}}
streams: []
run: {duration: 1 s}
";

/// The time of a bridge in its status, once it is as wanted.
fn time_of(folder: &Path, status: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    status_of(&folder.join(status), |shown| wanted(&shown["time"]))["time"].clone()
}

/// By how many parts in a million the grandmaster's clock is faster than that of a bridge, by two states of it, apart by at least so many
/// nanoseconds.
fn grandmaster_ppm(folder: &Path, status: &str, apart: i64) -> i64 {
    let state = |time: &Value| {
        (time["reading_ps"].as_i64().unwrap() / 1000, time["grandmaster_ns"].as_i64().unwrap())
    };
    let first = state(&time_of(folder, status, |time| time["grandmaster_ns"].is_i64()));
    let later = |time: &Value| time["grandmaster_ns"].is_i64() && state(time).0 - first.0 >= apart;
    let last = state(&time_of(folder, status, later));
    let (own, others) = (last.0 - first.0, last.1 - first.1);
    (others - own) * 1_000_000 / own
}

#[test]
fn bridges_agree_on_a_clock_and_follow_it() {
    let folder = folder("gptp");
    let Some(one) = namespace() else { return };
    let other = attached(&one, "left", 1);
    fs::write(folder.join("net.yaml"), TIMED).unwrap();
    let bridges = [("m", &one), ("f", &other)].map(|(node, within)| {
        let arguments = ["bridge", "net.yaml", "--node", node, "--ordinary-priority", "--status", node];
        started(within, &folder, &arguments, "forwards").0
    });
    let follows = |time: &Value| time["is_grandmaster"] == false && time["ports"][0]["role"] == "slave";
    let time = time_of(&folder, "f", follows);
    assert_eq!(
        (&time["grandmaster"], &time["ports"][0]["capable"]),
        (&"02005e.fffe.000001".into(), &true.into()),
        "{time}"
    );
    let master = time_of(&folder, "m", |time| time["ports"][0]["role"] == "master");
    assert_eq!(master["is_grandmaster"], true, "{master}");
    // The clock of the machine that both have is slower than that of `f` by what is described.
    let found = grandmaster_ppm(&folder, "f", 900_000_000);
    assert!((-15_000..-5_000).contains(&found), "{found} ppm");
    // A cable that is pulled and mended: the time comes back.
    set_up(&one, "left", false).unwrap();
    time_of(&folder, "f", |time| time["ports"][0]["capable"] == false);
    set_up(&one, "left", true).unwrap();
    let time = time_of(&folder, "f", |time| time["ports"][0]["capable"] == true && follows(time));
    assert_eq!(time["grandmaster"], "02005e.fffe.000001");
    let [mut leads, mut followed] = bridges;
    terminate(&followed);
    assert_eq!(followed.wait().unwrap().code(), Some(0));
    // With its namespace the cable goes, and with that the interface of the other, which goes on.
    drop(other);
    let gone = || !one.inside(|| fs::read_to_string("/proc/thread-self/net/dev")).unwrap().contains("left:");
    assert!((0..300).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        gone()
    }));
    std::thread::sleep(Duration::from_millis(200));
    terminate(&leads);
    assert_eq!(leads.wait().unwrap().code(), Some(0));
}

/// The configuration of `ptp4l` for 802.1AS over virtual interfaces; it measures, and sets no clock.
fn ptp4l(priority: u8) -> String {
    format!(
        "[global]\npriority1 {priority}\ngmCapable 1\nlogAnnounceInterval 0\nlogSyncInterval -3\nsyncReceiptTimeout 3\n\
         neighborPropDelayThresh 50000000\nmin_neighbor_prop_delay -20000000\nassume_two_step 1\npath_trace_enabled 1\n\
         follow_up_info 1\ntransportSpecific 0x1\nptp_dst_mac 01:80:C2:00:00:0E\nnetwork_transport L2\ndelay_mechanism P2P\n\
         time_stamping software\nfree_running 1\ntx_timestamp_timeout 50\nsummary_interval 0\n"
    )
}

/// What `ptp4l` answers of its time: a key's value.
fn time_status(folder: &Path, key: &str) -> Option<String> {
    let arguments = ["-u", "-b", "0", "-t", "1", "-s", "ptp.uds", "-i", "pmc.uds", "GET TIME_STATUS_NP"];
    let answer = Command::new("pmc").args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let line = text.lines().find(|line| line.trim_start().starts_with(key))?;
    Some(line.split_whitespace().nth(1)?.to_owned())
}

/// Against Debian's `ptp4l`, which follows and is followed. It takes half a minute, so `make test-slow` runs it.
#[test]
fn gptp_of_another_implementation_follows_and_is_followed() {
    if std::env::var("TAUTWIRE_TIMES").is_ok_and(|times| times != "1") {
        if Command::new("ptp4l").arg("-v").output().is_err() || Namespace::new().is_err() {
            std::io::stderr().write_all(b"SKIPPED: no ptp4l (package linuxptp), or no namespace\n").unwrap();
            return;
        }
        for (own, others, is_followed) in [(100, 248, true), (246, 100, false)] {
            against_ptp4l(own, others, is_followed);
        }
    }
}

fn against_ptp4l(own: u8, others: u8, is_followed: bool) {
    let folder = folder(&format!("ptp4l-{own}"));
    let one = Namespace::new().unwrap();
    let other = attached(&one, "left", 1);
    let net = TIMED
        .replace("m: {type: bridge,", "m: {type: bridge, clock: {tolerance: 500 ppm, drift: 500 ppm},")
        .replace("priority1: 100", &format!("priority1: {own}"))
        .replace("log-sync-interval: -4", "log-sync-interval: -3")
        .replace("log-announce-interval: -3", "log-announce-interval: 0")
        .replace("log-pdelay-interval: -4", "log-pdelay-interval: 0");
    fs::write(folder.join("net.yaml"), net).unwrap();
    fs::write(folder.join("ptp.cfg"), ptp4l(others)).unwrap();
    let arguments = ["bridge", "net.yaml", "--node", "m", "--ordinary-priority", "--status", "m"];
    let (mut bridge, _, _) = started(&one, &folder, &arguments, "forwards");
    let mut daemon = Command::new("ptp4l");
    daemon.args(["-f", "ptp.cfg", "-i", "e0", "--uds_address=ptp.uds"]);
    daemon.current_dir(&folder).stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = Running(other.inside(|| daemon.spawn()).unwrap());
    if is_followed {
        let follows = || {
            time_status(&folder, "gmIdentity").as_deref() == Some("02005e.fffe.000001")
                && time_status(&folder, "gmPresent").as_deref() == Some("true")
        };
        assert!(
            (0..60).any(|_| {
                std::thread::sleep(Duration::from_millis(500));
                follows()
            }),
            "it never follows"
        );
        std::thread::sleep(Duration::from_secs(3));
        // Its offset from the grandmaster falls by what our clock is faster, whatever it was.
        let offset = || -> i64 { time_status(&folder, "master_offset").unwrap().parse().unwrap() };
        let system =
            || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
        let first = (system(), offset());
        std::thread::sleep(Duration::from_secs(5));
        let last = (system(), offset());
        let found = (first.1 - last.1) * 1_000_000 / (last.0 - first.0);
        assert!((250..750).contains(&found), "{found} ppm by {first:?} and {last:?}");
    } else {
        let time = time_of(&folder, "m", |time| {
            time["is_grandmaster"] == false && time["ports"][0]["role"] == "slave"
        });
        assert_eq!(time["grandmaster"], time_status(&folder, "gmIdentity").unwrap());
        let found = grandmaster_ppm(&folder, "m", 5_000_000_000);
        assert!((-750..-250).contains(&found), "{found} ppm");
    }
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    terminate(&bridge);
    assert_eq!(bridge.wait().unwrap().code(), Some(0));
}
