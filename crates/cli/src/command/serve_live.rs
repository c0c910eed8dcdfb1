//! What `serve` shows of a run that goes on, and of a bridge: their `status.json`, which its writer replaces as a whole each second.
//!
//! A page asks for the counts again and again; when the run is over it gets where the report is. Counts of a bridge (`bridge --status`)
//! take the form of those of a run.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tautwire_workbench::FolderList;

/// Larger files are none of ours.
const LENGTH_MAX: u64 = 64 << 20;
/// Seconds within which a bridge renews its counts, which it does each second.
const RECENT: u64 = 5;
const STATUS: &str = "status.json";
const NETWORK: &str = "network.json";

/// A page, and where it asks for counts; none if nothing of this name goes on.
pub(super) fn page(list: &FolderList, name: &str, address: &str) -> Option<Value> {
    let (path, becomes, is_bridge) = place(list, name)?;
    let mut network = document(path, NETWORK).ok().filter(Value::is_object);
    if let Some(network) = network.as_mut().and_then(Value::as_object_mut) {
        // The page of a run that goes on does not show it.
        network.insert("description".to_owned(), "".into());
    }
    Some(json!({
        "name": becomes,
        "address": format!("{address}/status.json"),
        "bridge": is_bridge,
        "network": network,
        "now": now(list, name, None, address),
    }))
}

/// The counts of this name, or that it is over; `begun`: when the run began of which a page has shown counts.
pub(super) fn now(list: &FolderList, name: &str, begun: Option<u64>, address: &str) -> Value {
    let found = place(list, name).and_then(|(path, _, is_bridge)| {
        let status = document(path, STATUS).ok()?;
        let age_s = age(&path.join(STATUS));
        Some(json!({"status": if is_bridge { of_bridge(&status) } else { status }, "age_s": age_s}))
    });
    found.unwrap_or_else(|| over(list, name, begun, address))
}

/// Where the report is of a run that is over. An earlier run of the same name is not meant.
fn over(list: &FolderList, name: &str, begun: Option<u64>, address: &str) -> Value {
    if place(list, name).is_some() {
        // It has not counted anything yet, or is being put together.
        return json!({"waits": true});
    }
    let becomes = name.rsplit_once(".partial-").map_or(name, |(becomes, _)| becomes);
    let run = list.runs.iter().find(|run| run.name == becomes);
    let is_its =
        run.is_some_and(|run| run.fault.is_none() && begun.is_none_or(|begun| run.written_s >= begun));
    let parent = address
        .strip_prefix("/live/")
        .and_then(|rest| rest.split_once('/'))
        .map_or("0", |(folder, _)| folder);
    let report = is_its.then(|| format!("/run/{parent}/{}", crate::http::encoded(becomes)));
    json!({"over": true, "report": report})
}

/// Where the counts of this name are, its name when it is over, and whether it is a bridge.
fn place<'l>(list: &'l FolderList, name: &str) -> Option<(&'l Path, &'l str, bool)> {
    let run = list.running.iter().find(|run| run.name == name).map(|run| (&*run.path, &*run.becomes, false));
    let bridge = || list.bridges.iter().find(|bridge| bridge.name == name);
    run.or_else(|| bridge().map(|bridge| (&*bridge.path, &*bridge.name, true)))
}

fn document(folder: &Path, name: &str) -> io::Result<Value> {
    let path = folder.join(name);
    if fs::metadata(&path)?.len() > LENGTH_MAX {
        return Err(io::Error::other("it is too long"));
    }
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

/// Seconds since a file was written.
fn age(path: &Path) -> Option<u64> {
    let written = fs::metadata(path).ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(written).map_or(0, |age| age.as_secs()))
}

/// Whether counts of this second of 1970 are those of something that goes on.
pub(super) fn is_recent(written_s: u64) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    now.saturating_sub(written_s) <= RECENT
}

/// Counts of a bridge in the form of those of a run.
fn of_bridge(status: &Value) -> Value {
    let name = status["bridge"].as_str().unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let full = |port: &Value| format!("{name}.{}", port["port"].as_str().unwrap_or_default());
    let ports = list(&status["ports"]).into_iter().map(|port| {
        let of =
            |key: &str| list(&port["classes"]).iter().map(|class| class[key].clone()).collect::<Vec<_>>();
        let dropped: u64 = list(&port["dropped"]).iter().filter_map(|drops| drops["frames"].as_u64()).sum();
        json!({
            "port": full(&port),
            "to": port["interface"],
            "received_frames": port["received_frames"],
            "sent_frames": port["sent_frames"],
            "sent_octets": port["sent_octets"],
            "busy_ps": port["busy_ps"],
            "dropped_frames": dropped,
            "waiting_frames": of("waiting_frames"),
            "waiting_frames_max": of("waiting_frames_max"),
        })
    });
    let streams = list(&status["streams"]).into_iter().map(|stream| {
        json!({
            "stream": stream["stream"],
            "received_frames": stream["received_frames"],
            "sent_frames": stream["sent_frames"],
            "missing_frames": stream["dropped_frames"],
        })
    });
    let dropped = list(&status["ports"]).into_iter().flat_map(|port| {
        let port_name = full(&port);
        list(&port["dropped"]).into_iter().map(move |drops| {
            json!({"port": port_name, "class": drops["class"], "reason": drops["reason"], "frames": drops["frames"]})
        })
    });
    let mut shown = Map::new();
    shown.insert("run".to_owned(), name.into());
    shown.insert("elapsed_ps".to_owned(), status["uptime_ps"].clone());
    shown.insert("ports".to_owned(), ports.collect());
    shown.insert("streams".to_owned(), streams.collect());
    shown.insert("dropped".to_owned(), dropped.collect());
    shown.insert("clocks".to_owned(), json!([]));
    shown.insert("time".to_owned(), status["time"].clone());
    Value::Object(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_workbench::{ListedBridge, ListedRun, RunningRun};

    #[test]
    fn a_run_that_is_over_leads_to_its_report_and_to_no_earlier_one() {
        let folder = std::env::temp_dir().join(format!("tautwire-serve-live-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        let (name, address) = ("net-1.partial-7-0", "/live/2/net-1.partial-7-0");
        let running = RunningRun {
            name: name.to_owned(),
            path: folder.clone(),
            becomes: "net-1".to_owned(),
            live: true,
        };
        let mut list = FolderList { running: vec![running], ..FolderList::default() };
        assert_eq!(now(&list, name, None, address), json!({"waits": true}));
        fs::write(folder.join(STATUS), "{\"begun_s\": 100}").unwrap();
        assert_eq!(now(&list, name, None, address)["status"]["begun_s"], 100);
        fs::write(folder.join(STATUS), "{\"begun_s\":").unwrap();
        assert_eq!(now(&list, name, None, address), json!({"waits": true}));
        assert_eq!(page(&list, name, address).unwrap()["name"], "net-1");
        list.running.clear();
        assert_eq!(now(&list, name, Some(100), address), json!({"over": true, "report": null}));
        assert_eq!(page(&list, name, address), None);
        let run = ListedRun {
            name: "net-1".to_owned(),
            path: folder.clone(),
            written_s: 99,
            manifest: None,
            brief: tautwire_workbench::Brief::default(),
            fault: None,
        };
        list.runs.push(run);
        assert_eq!(now(&list, name, Some(100), address)["report"], Value::Null);
        list.runs[0].written_s = 100;
        assert_eq!(now(&list, name, Some(100), address)["report"], "/run/2/net-1");
        list.runs[0].fault = Some("damaged".to_owned());
        assert_eq!(now(&list, name, Some(100), address)["report"], Value::Null);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn counts_of_a_bridge_are_shown_as_those_of_a_run() {
        let folder = std::env::temp_dir().join(format!("tautwire-serve-bridge-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        let status = json!({
            "bridge": "sw1", "uptime_ps": 5,
            "ports": [{
                "port": "p1", "interface": "eth0", "received_frames": 3, "sent_frames": 2, "sent_octets": 200, "busy_ps": 9,
                "classes": [{"class": 0, "waiting_frames": 1, "waiting_frames_max": 4}],
                "dropped": [{"class": 0, "reason": "queue-full", "frames": 6}],
            }],
            "streams": [{"stream": "s", "received_frames": 3, "sent_frames": 2, "dropped_frames": 1}],
        });
        fs::write(folder.join(STATUS), status.to_string()).unwrap();
        let bridge = ListedBridge { name: "sw1".to_owned(), path: folder.clone(), written_s: 0 };
        let list = FolderList { bridges: vec![bridge], ..FolderList::default() };
        let shown = page(&list, "sw1", "/live/0/sw1").unwrap();
        let now = &shown["now"]["status"];
        assert_eq!(
            (&shown["bridge"], &shown["network"], &now["elapsed_ps"]),
            (&true.into(), &Value::Null, &5.into())
        );
        let port = &now["ports"][0];
        assert_eq!((&port["port"], &port["dropped_frames"]), (&"sw1.p1".into(), &6.into()));
        assert_eq!((&port["waiting_frames"], &port["waiting_frames_max"]), (&json!([1]), &json!([4])));
        assert_eq!(
            now["dropped"],
            json!([{"port": "sw1.p1", "class": 0, "reason": "queue-full", "frames": 6}])
        );
        assert_eq!(now["streams"][0]["missing_frames"], 1);
        // A file that is not what it should be is shown as far as it goes.
        fs::write(folder.join(STATUS), "[]").unwrap();
        assert_eq!(page(&list, "sw1", "/live/0/sw1").unwrap()["now"]["status"]["ports"], json!([]));
        fs::remove_dir_all(&folder).unwrap();
    }
}
