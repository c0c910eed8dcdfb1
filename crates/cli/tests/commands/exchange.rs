//! Networks in the forms of other tools.

use std::fs;

use crate::common::{command, folder, root, tautwire};
use crate::small;

#[test]
fn a_network_is_written_in_other_forms_and_what_they_lack_is_listed() {
    let folder = folder("export");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["export", "tc", "small.yaml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.starts_with("#!/bin/sh\n") && ended.stdout.contains("\n'bridge')\n  tc qdisc"));
    assert_eq!(ended.stderr, "tautwire: not in tc: VLAN 1: its members are set up by `bridge vlan`\n");
    let ended = tautwire(&folder, &["export", "dot", "small.yaml", "--to", "small.dot", "--quiet"]);
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, "", ""));
    let text = fs::read_to_string(folder.join("small.dot")).unwrap();
    assert!(text.contains("\"sensor\" -- \"bridge\""), "{text}");
    let ended = tautwire(&folder, &["export", "graphml", "small.yaml", "--to", "nowhere/small.graphml"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert_eq!(tautwire(&folder, &["export", "svg", "small.yaml"]).code, 2);
    // A document for each bridge.
    let ended = tautwire(&folder, &["export", "yang", "small.yaml", "--to", "yang"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let document = fs::read_to_string(folder.join("yang/bridge.json")).unwrap();
    assert!(
        ended.stderr.contains("tautwire: not in yang: cables: rates, lengths and delays\n"),
        "{}",
        ended.stderr
    );
    assert_eq!(tautwire(&folder, &["export", "yang", "small.yaml"]).stdout, document);
    let ended =
        tautwire(&folder, &["export", "yang-xml", "small.yaml", "--node", "bridge", "--to", "one.xml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(fs::read_to_string(folder.join("one.xml")).unwrap().starts_with("<interfaces xmlns="));
    let ended = tautwire(&folder, &["export", "yang", "small.yaml", "--node", "sensor"]);
    assert_eq!((ended.code, &*ended.stderr), (2, "tautwire: yang is of bridges, and `sensor` is none\n"));
}

#[test]
fn neighbours_of_hosts_become_a_description() {
    let folder = folder("import");
    let file = |name: &str, own: &str, far: &str, port: &str| {
        let text = format!(
            r#"{{"lldp": {{"interface": {{"{own}": {{"chassis": {{"{far}": {{"id": {{"type": "mac", "value": "x"}},
                "capability": [{{"type": "Bridge", "enabled": {}}}]}}}},
                "port": {{"id": {{"type": "ifname", "value": "{port}"}},
                "auto-negotiation": {{"current": "100BaseTXFD - full duplex mode"}}}}}}}}}}}}"#,
            far == "bridge"
        );
        fs::write(folder.join(name), text).unwrap();
    };
    file("sensor.json", "eth0", "bridge", "swp1");
    file("bridge.json", "swp1", "sensor", "eth0");
    let ended = tautwire(&folder, &["import", "lldp", "sensor.json", "bridge.json", "--to", "lab.yaml"]);
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, "", ""));
    assert_eq!(
        tautwire(&folder, &["check", "lab.yaml"]).stdout,
        "lab.yaml: 2 nodes, 1 link, 0 streams; no faults\n"
    );
    let text = fs::read_to_string(folder.join("lab.yaml")).unwrap();
    assert!(text.contains("between: [\"sensor:eth0\", \"bridge:swp1\"], rate: 100 Mbit/s"), "{text}");
    let again = tautwire(&folder, &["import", "lldp", "sensor.json", "--to", "lab.yaml"]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    let one = tautwire(&folder, &["import", "lldp", "sensor.json"]);
    assert!(one.stderr.starts_with("tautwire: not from lldp: sensor: whether it bridges"), "{}", one.stderr);
    fs::write(folder.join("none.json"), "{}").unwrap();
    assert_eq!(tautwire(&folder, &["import", "lldp", "none.json"]).code, 2);
    assert_eq!(tautwire(&folder, &["import", "lldp", "missing.json"]).code, 2);
    // Every fault in one run.
    std::fs::write(folder.join("broken.json"), "{").unwrap();
    let ended = tautwire(&folder, &["import", "lldp", "broken.json", "none.json"]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (2, 2), "{}", ended.stderr);
}

#[test]
fn a_schedule_goes_to_tsnkit_and_back() {
    let folder = folder("tsnkit");
    let scenario = root().join("scenarios/gates-to-be-scheduled.yaml");
    let ended = tautwire(&folder, &["schedule", scenario.to_str().unwrap(), "--out", "scheduled.yaml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let ended = tautwire(&folder, &["export", "tsnkit", "scheduled.yaml"]);
    assert_eq!(
        (ended.code, &*ended.stderr),
        (2, "tautwire: tsnkit has 7 files: choose a folder with --to\n")
    );
    let ended = tautwire(&folder, &["export", "tsnkit", "scheduled.yaml", "--to", "tables"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let files =
        ["task", "topo", "names", "schedule-GCL", "schedule-OFFSET", "schedule-ROUTE", "schedule-QUEUE"];
    let mut arguments = vec!["import".to_owned(), "tsnkit".to_owned()];
    arguments.extend(files.map(|file| format!("tables/{file}.csv")));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = tautwire(&folder, &arguments);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    fs::write(folder.join("back.yaml"), &ended.stdout).unwrap();
    let shown = tautwire(&folder, &["check", "back.yaml"]).stdout;
    assert!(shown.contains("11 nodes, 10 links"), "{shown}");
    // One of the files may be stdin.
    let tables = fs::File::open(folder.join("tables/topo.csv")).unwrap();
    let ended =
        command(&folder, &["import", "tsnkit", "-", "tables/task.csv"]).stdin(tables).output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert!(String::from_utf8(ended.stdout).unwrap().contains("time-aware: {}"));
}

#[test]
fn documents_of_bridges_are_read_into_their_description() {
    let folder = folder("base");
    let scenario = root().join("scenarios/asynchronous.yaml");
    let text = fs::read_to_string(&scenario).unwrap();
    fs::write(folder.join("net.yaml"), &text).unwrap();
    let ended = tautwire(&folder, &["export", "yang", "net.yaml", "--to", "yang"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let import = |more: &[&str]| {
        let files = ["yang/first.json", "yang/second.json", "yang/third.json", "--base", "net.yaml"];
        tautwire(&folder, &[&["import", "yang"], &files[..], more].concat())
    };
    let ended = import(&[]);
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, &*text, ""));
    // Management lets frames of the third bridge wait for a shorter time.
    let document = fs::read_to_string(folder.join("yang/third.json")).unwrap();
    fs::write(folder.join("yang/third.json"), document.replace(": 20000000", ": 15000000")).unwrap();
    let ended = import(&["--to", "configured.yaml"]);
    assert_eq!((ended.code, &*ended.stderr), (0, ""));
    let ended = tautwire(&folder, &["diff", "net.yaml", "configured.yaml"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains("max-residence-time") && ended.stdout.contains("15"), "{}", ended.stdout);
    fs::write(folder.join("net.yaml"), text.replace("type: bridge", "type: brigde")).unwrap();
    let ended = import(&[]);
    assert_eq!((ended.code, &*ended.stdout), (2, ""));
    assert!(ended.stderr.contains("bridge"), "{}", ended.stderr);
    let ended = tautwire(&folder, &["import", "tc", "yang/first.json", "--base", scenario.to_str().unwrap()]);
    assert_eq!(
        (ended.code, &*ended.stderr),
        (2, "tautwire: files of tc take no base: those of yang, uni, gptp do\n")
    );
}

#[test]
fn traces_are_written_beside_a_description() {
    let folder = folder("traces");
    let ned = "network Pair { submodules: a: TsnDevice; b: TsnDevice; connections: a.ethg++ <--> Eth100M <--> b.ethg++; }";
    fs::write(folder.join("Pair.ned"), ned).unwrap();
    let ini = "[General]\nsim-time-limit = 20ms\n*.*.numApps = 1\n*.b.app[0].typename = \"UdpSinkApp\"\n*.a.app[0].typename = \"UdpSourceApp\"\n\
        *.a.app[0].display-name = \"wave\"\n*.a.app[0].io.destAddress = \"b\"\n*.a.app[0].source.packetLength = 972B\n\
        *.a.app[0].source.productionInterval = replaceUnit(sin(dropUnit(simTime() * 100)) + 1, \"ms\")\n";
    fs::write(folder.join("omnetpp.ini"), ini).unwrap();
    let import = ["import", "inet", "Pair.ned", "omnetpp.ini"];
    let ended = tautwire(&folder, &import);
    assert_eq!((ended.code, &*ended.stdout), (2, ""));
    assert!(
        ended.stderr.starts_with("tautwire: the description names other files, wave.csv: say with --to"),
        "{}",
        ended.stderr
    );
    fs::create_dir(folder.join("out")).unwrap();
    let into = [&import[..], &["--to", "out/pair.yaml"]].concat();
    let ended = tautwire(&folder, &into);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("omnetpp.ini:9: the formulas of a.app[0]"), "{}", ended.stderr);
    assert!(
        fs::read_to_string(folder.join("out/wave.csv")).unwrap().starts_with("time,payload\n0 ps,1000 B\n")
    );
    let shown = tautwire(&folder, &["verify", "out/pair.yaml", "--out", "run"]).stdout;
    assert!(shown.contains("wave"), "{shown}");
    // None is overwritten, and none is written then.
    fs::remove_file(folder.join("out/pair.yaml")).unwrap();
    let ended = tautwire(&folder, &into);
    assert_eq!(
        (ended.code, &*ended.stderr),
        (2, "tautwire: out/wave.csv is there: no file is overwritten\n")
    );
    assert!(!folder.join("out/pair.yaml").exists());
}

#[test]
fn a_capture_becomes_traffic_and_runs() {
    let folder = folder("capture");
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        file.extend(word.to_le_bytes());
    }
    for number in 0..20_u32 {
        for word in [0, 1_000 * number, 114, 114] {
            file.extend(word.to_le_bytes());
        }
        file.extend([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
        file.extend([7; 100]);
    }
    fs::write(folder.join("bus.pcap"), &file).unwrap();
    let ended = tautwire(&folder, &["import", "capture", "bus.pcap", "--to", "bus.yaml"]);
    assert_eq!(
        (ended.code, &*ended.stderr),
        (
            0,
            "tautwire: not from capture: bus: cables, bridges and rates: one bridge joins all stations by 1 Gbit/s\n"
        )
    );
    let ended = tautwire(&folder, &["verify", "bus.yaml", "--out", "run"]);
    assert!(ended.stdout.contains("c1") && ended.code <= 1, "{} {}", ended.stdout, ended.stderr);
    fs::write(folder.join("none.pcap"), "time,payload\n").unwrap();
    let ended = tautwire(&folder, &["import", "capture", "none.pcap"]);
    assert_eq!((ended.code, &*ended.stderr), (2, "tautwire: none is neither a pcap nor a pcapng file\n"));
    assert_eq!(tautwire(&folder, &["import", "capture", "missing.pcap"]).code, 2);
}
