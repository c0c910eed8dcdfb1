//! Tables of tsnkit: what is read is what they say, and what is written says the same again, for drawn instances and drawn networks.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tautwire_exchange::{Converted, Input};
use tautwire_generate::{Dice, random_time_aware, seeds};
use tautwire_model::network::{Hop, Traffic};
use tautwire_workbench::{GateOptions, Network, Options, ScheduleVerdict, ScheduledGates};

use crate::common::{network, networks};

type Files = Vec<(String, String)>;

fn read(files: &[(String, String)]) -> Result<Converted, String> {
    let inputs: Vec<Input> =
        files.iter().map(|(name, text)| Input { name: name.clone(), text: text.clone() }).collect();
    tautwire_exchange::import("tsnkit").unwrap().read(&inputs, None).map_err(|faults| faults.join("\n"))
}

fn written(network: &Network) -> (Files, Vec<String>) {
    let texts = tautwire_exchange::export("tsnkit").unwrap().write(network, None).unwrap();
    let left_out = texts.iter().flat_map(|text| text.converted.left_out.clone()).collect();
    let files = texts.into_iter().map(|text| (text.file.unwrap(), text.converted.text));
    (files.collect(), left_out)
}

fn file(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

/// A tree of bridges with stations, in the order of tsnkit's own: bridges first.
fn drawn_instance(seed: u64) -> Files {
    let mut dice = Dice::new(seed ^ 0x7473_6e6b_6974);
    // Three bridges at least have two cables each, whatever the tree is.
    let bridges = dice.between(2, 5);
    let mut cables: Vec<(u64, u64)> =
        (1..bridges).map(|bridge| (dice.between(0, bridge - 1), bridge)).collect();
    let stations = bridges + dice.between(1, 3);
    cables.extend((0..stations).map(|station| (station % bridges, bridges + station)));
    let rate = *dice.one_of(&["1", "1", "1", "0.1", "10"]);
    let processing = dice.between(10, 40) * 100;
    let mut topology = "link,q_num,rate,t_proc,t_prop\n".to_owned();
    for (a, b) in cables {
        let propagation = if dice.chance(30) { dice.between(1, 5) * 100 } else { 0 };
        for (from, to) in [(a, b), (b, a)] {
            let _ = writeln!(topology, "\"({from}, {to})\",8,{rate},{processing},{propagation}");
        }
    }
    let mut tasks = "stream,src,dst,size,period,deadline,jitter\n".to_owned();
    for stream in 0..dice.between(1, 12) {
        let talker = dice.between(0, stations - 1);
        let listener = (talker + dice.between(1, stations - 1)) % stations;
        let period = *dice.one_of(&[500_000, 1_000_000, 2_000_000]);
        let (size, deadline) = (dice.between(1, 20) * 100, period - dice.between(0, 3) * 1_000);
        let (talker, listener) = (bridges + talker, bridges + listener);
        let _ = writeln!(tasks, "{stream},{talker},[{listener}],{size},{period},{deadline},{deadline}");
    }
    vec![file("topo", &topology), file("task", &tasks)]
}

/// The lines of a table, in no order.
fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

/// What a run sees of each stream: frames, and the least and the greatest delay of each listener.
fn seen(network: &Network) -> Vec<(String, String)> {
    let mut network = network.clone();
    network.set_duration(tautwire_workbench::Duration::from_ms(8));
    let found = tautwire_workbench::simulate(&network, &mut Options::default());
    let delays = found.streams.iter().map(|stream| {
        let of = stream.listeners.iter().map(|listener| {
            let delay = &listener.delay;
            format!("{} {:?} {:?}", delay.count(), delay.min(), delay.max())
        });
        of.collect::<Vec<_>>().join(", ")
    });
    network.streams.iter().map(|stream| stream.name.clone()).zip(delays).collect()
}

/// A hop by the names of its ends, with its class.
fn hop(network: &Network, hop: &Hop) -> (String, String, usize) {
    let port = &network.ports[hop.port.index()];
    let link = &network.links[port.links.unwrap().egress.index()];
    let name = |port: tautwire_model::network::PortIndex| {
        network.nodes[network.ports[port.index()].node.index()].name.clone()
    };
    (name(link.from), name(link.to), hop.class.index())
}

/// Instances come back as they are, are scheduled, and a schedule that is written and read again is the same in a run.
#[test]
fn instances_and_their_schedules_come_back() {
    let mut scheduled = 0;
    for seed in seeds(40) {
        let files = drawn_instance(seed);
        let found = read(&files).unwrap_or_else(|why| panic!("{seed}: {why}"));
        let instance = network(&found.text);
        let (again, left_out) = written(&instance);
        for (name, text) in &files {
            let (_, own) = again.iter().find(|(file, _)| *file == format!("{name}.csv")).unwrap();
            assert_eq!(lines(own), lines(text), "TAUTWIRE_SEED={seed}\n{}", found.text);
        }
        // Rates below 1 Gbit/s are in the form, and tsnkit does not take them.
        assert!(left_out.iter().all(|line| line.contains("whole Gbit/s")), "{left_out:?}");
        let planned = ScheduledGates::find(&instance, &GateOptions::default()).unwrap().unwrap();
        if planned.verdict != ScheduleVerdict::Scheduled {
            continue;
        }
        scheduled += 1;
        let (files, _) = written(&planned.network);
        let back = read(&files).unwrap_or_else(|why| panic!("{seed}: {why}"));
        let back = network(&back.text);
        assert_eq!(seen(&back), seen(&planned.network), "TAUTWIRE_SEED={seed}");
        let hops = |network: &Network| -> Vec<Vec<_>> {
            let of = |hops: &[Hop]| hops.iter().map(|own| hop(network, own)).collect();
            network.streams.iter().map(|stream| of(&stream.hops)).collect()
        };
        assert_eq!(hops(&back), hops(&planned.network), "TAUTWIRE_SEED={seed}");
        // Once written, a schedule does not change any more.
        assert_eq!(written(&back).0, files, "TAUTWIRE_SEED={seed}");
    }
    assert!(scheduled > 25 || scheduled == 1, "{scheduled}");
}

/// Networks with clocks of any reading, short lists and ticks: what they have comes back, and what does not is listed.
#[test]
fn drawn_schedules_come_back() {
    let (mut alike, mut count) = (0, 0);
    for seed in seeds(60) {
        // In some networks all streams can be expressed.
        let text = random_time_aware(seed);
        let others = |line: &&str| {
            seed % 3 > 0 && ["burst: ", "jitter: ", "phase: "].iter().any(|key| line.contains(key))
        };
        let text: String = text.lines().filter(|line| !others(line)).flat_map(|line| [line, "\n"]).collect();
        let loaded = tautwire_workbench::load_text("net.yaml", &text);
        let Some(loaded) = loaded.network else { continue };
        let Some(Ok(found)) = ScheduledGates::find(&loaded, &GateOptions::default()) else { continue };
        let network = found.network;
        let (files, left_out) = written(&network);
        let back = crate::common::network(&read(&files).unwrap_or_else(|why| panic!("{seed}: {why}")).text);
        count += 1;
        let own = &network.streams;
        let kept = own.iter().filter(|stream| matches!(stream.traffic, Traffic::Periodic { burst: 1, .. }));
        for (stream, back) in kept.zip(&back.streams) {
            assert_eq!(stream.name, back.name, "TAUTWIRE_SEED={seed}");
            let Traffic::Periodic { interval, offset, .. } = stream.traffic else { unreachable!() };
            assert!(
                matches!(back.traffic, Traffic::Periodic { interval: i, offset: o, jitter, burst: 1, .. }
                if (i, o.as_ps()) == (interval, offset.as_ps() / 1_000 * 1_000) && jitter.is_zero())
            );
        }
        // Where nothing is listed that a run would show, runs are alike.
        let shown = ["stream", "device", "host", "parts of nanoseconds"];
        if left_out.iter().all(|line| shown.iter().all(|word| !line.starts_with(word)))
            && own.len() == back.streams.len()
        {
            assert_eq!(seen(&back), seen(&network), "TAUTWIRE_SEED={seed}");
            alike += 1;
        }
    }
    assert!(count < 2 || (count > 30 && alike > 5), "{count} {alike}");
}

/// Whatever network is written can be read, unless it lists a node that tsnkit would take for another kind.
#[test]
fn all_networks_are_written() {
    let mut back = 0;
    for (name, network) in networks(1) {
        let (files, left_out) = written(&network);
        match read(&files) {
            Ok(found) => {
                let read = tautwire_workbench::load_text("net.yaml", &found.text);
                assert!(read.network.is_some(), "{name}: {:?}\n{}", read.diagnostics, found.text);
                back += 1;
            }
            Err(why) => {
                let listed = left_out
                    .iter()
                    .any(|line| line.contains(": that it is ") || line.contains("cable between"));
                assert!(listed, "{name}: {why}\n{left_out:#?}");
            }
        }
    }
    assert!(back > 60, "{back}");
}

const TOPOLOGY: &str = "link,q_num,rate,t_proc,t_prop
\"(0, 1)\",8,1,2000,0
\"(1, 0)\",8,1,2000,0
\"(0, 2)\",8,1,2000,0
\"(2, 0)\",8,1,1500,300
\"(0, 3)\",4,1,2000,0
";

#[test]
fn a_schedule_is_read() {
    let tasks = "stream,src,dst,size,period,deadline,jitter
0,1,[3],200,100000,50000,50000
1,2,\"[1, 3]\",50,50000,50000,100
";
    let gates = "link,queue,start,end,cycle
\"(1, 0)\",0,0,1600,100000
\"(0, 3)\",3,3600,5200,100000
\"(2, 0)\",1,1000,1800,100000
\"(2, 0)\",1,61000,61800,100000
\"(0, 1)\",1,3600,4400,100000
\"(0, 1)\",1,99900,100700,100000
\"(0, 3)\",2,5200,100000,100000
";
    let offsets = "stream,frame,offset\n0,0,0\n1,0,1000\n1,1,11000\n";
    let routes =
        "stream,link\n0,\"(1, 0)\"\n0,\"(0, 3)\"\n1,\"(0, 3)\"\n1,\"(2, 0)\"\n1,\"(0, 1)\"\n0,\"(0, 2)\"\n";
    let queues = "stream,frame,link,queue
0,0,\"(1, 0)\",0
0,0,\"(0, 3)\",3
1,0,\"(2, 0)\",1
1,0,\"(0, 1)\",1
1,0,\"(0, 3)\",2
1,1,\"(2, 0)\",1
1,1,\"(0, 1)\",1
1,1,\"(0, 3)\",2
";
    let names = "kind,number,name\nnode,3,motor\nstream,0,order\n";
    let files = [
        file("topo", TOPOLOGY),
        file("task", tasks),
        file("s-GCL", gates),
        file("s-OFFSET", offsets),
        file("s-ROUTE", routes),
        file("s-QUEUE", queues),
        file("names", names),
        file("s-DELAY", "stream,frame,delay\n0,0,5200\n"),
    ];
    let found = read(&files).unwrap();
    insta::assert_snapshot!("schedule", found.text);
    assert_eq!(
        found.left_out,
        [
            "link (0, 3): its 4 queues; a port has 8",
            "link (0, 3) has no link back; a cable has both directions",
            "stream 0: link (0, 2) of its route, which leads to no listener",
            "delays of 1 frames: bounds and runs have their own",
            "stream 1: its 50 octets; the shortest frame takes 84 of the line",
            "stream 1: its delays may differ by 100 ns",
            "stream 1: its 2 frames have different offsets or queues; they are 2 streams",
        ]
    );
    let network = network(&found.text);
    // 200 octets of the line are 160 of frame and 20 around it: 1.6 us, its gap included, then 2 us in the bridge.
    let seen = seen(&network);
    assert_eq!(seen[0], ("order".to_owned(), "80 Some(5.104 us) Some(5.104 us)".to_owned()));
}

#[test]
fn tables_that_are_wrong_are_refused() {
    let tasks = |row: &str| format!("stream,src,dst,size,period,deadline,jitter\n{row}\n");
    let why = |files: &[(&str, &str)]| {
        let files: Files = files.iter().map(|(name, text)| file(name, text)).collect();
        read(&files).unwrap_err()
    };
    assert_eq!(why(&[]), "there is no topology: a table with `link,q_num,rate,t_proc,t_prop`");
    assert!(
        why(&[("a", "x,y\n1,2")]).starts_with("a: its heading is `x,y`: tables have one of stream,src,dst")
    );
    assert_eq!(why(&[("a", "stream,link\n1\n")]), "a, line 2: 1 values for 2 columns");
    assert_eq!(why(&[("a", TOPOLOGY), ("b", TOPOLOGY)]), "b: there is another table with this heading");
    for (row, expected) in [
        ("0,1,[x],100,1000,1000,0", "task, line 2: `dst` is `[x]`: it must be numbers of nodes, such as [3]"),
        ("0,1,[1],100,1000,1000,0", "task, line 2: `dst` has a node twice, or the talker"),
        ("0,1,[3],-1,1000,1000,0", "task, line 2: `size` is `-1`: it must be a whole number"),
        ("0,1,[3],100,0,1000,0", "task, line 2: `period` is 0"),
        ("0,1,[3],70000,1000,1000,0", "task, line 2: `size`: a frame takes at most 65555 octets of the line"),
        (
            "0,0,[3],100,1000,1000,0",
            "stream 0: node 0 has 3 cables: talkers and listeners are end stations, with one",
        ),
        (
            "0,9,[3],100,1000,1000,0",
            "stream 0: node 9 has 0 cables: talkers and listeners are end stations, with one",
        ),
    ] {
        assert_eq!(why(&[("topo", TOPOLOGY), ("task", &tasks(row))]), expected);
    }
    // All at once: of every row the first.
    let rows = tasks("0,1,[x],100,1000,1000,0\n1,1,[3],100,0,1000,0\n2,1\n3,1,[3],1.5,9,9,0");
    let topology = TOPOLOGY.replacen("(1, 0)", "(1 0)", 1);
    let faults = why(&[("topo", &topology), ("task", &rows), ("x", "y\n1")]);
    assert_eq!(faults.lines().count(), 6, "{faults}");
    for (line, part) in faults.lines().zip([
        "task, line 4",
        "x: its heading",
        "topo, line",
        "task, line 2",
        "task, line 3",
        "task, line 5",
    ]) {
        assert!(line.starts_with(part), "{part}: {faults}");
    }
    let task = tasks("0,1,[3],100,10000,10000,10000");
    let routes = ("r", "stream,link\n0,\"(1, 0)\"\n");
    assert_eq!(
        why(&[("topo", TOPOLOGY), ("task", &task), routes]),
        "a schedule has four tables: gates, offsets, routes and queues"
    );
    let gates = ("g", "link,queue,start,end,cycle\n\"(1, 0)\",0,0,900,10000\n");
    let offsets = ("o", "stream,frame,offset\n0,0,0\n");
    let queues = ("q", "stream,frame,link,queue\n0,0,\"(1, 0)\",0\n");
    let twice = ("q", "stream,frame,link,queue\n0,0,\"(1, 0)\",0\n0,0,\"(1, 0)\",1\n");
    assert_eq!(
        why(&[("topo", TOPOLOGY), ("task", &task), gates, offsets, routes, twice]),
        "q, line 3: this frame has a queue at this link already"
    );
    let all = [("topo", TOPOLOGY), ("task", &*task), gates, offsets, routes, queues];
    assert_eq!(why(&all), "stream 0: its route is no tree from 1 to [3]");
}

/// Any tables give a description or an error, and what they give can be loaded.
#[test]
fn any_tables_are_read_or_refused() {
    let mut loaded = 0;
    for seed in 0..120 {
        let mut dice = Dice::new(seed);
        let mut files = drawn_instance(seed);
        if let Some(Ok(found)) =
            ScheduledGates::find(&network(&read(&files).unwrap().text), &GateOptions::default())
            && dice.chance(70)
        {
            files = written(&found.network).0;
        }
        // Numbers of some cells become others.
        for (_, text) in &mut files {
            let mut changed: Vec<String> = text.lines().map(str::to_owned).collect();
            let last = changed.len() as u64 - 1;
            for _ in 0..dice.between(0, 3) / 2 {
                let row = &mut changed[dice.between(last.min(1), last) as usize];
                let places: Vec<usize> =
                    row.match_indices(|letter: char| letter.is_ascii_digit()).map(|found| found.0).collect();
                if let Some(at) = (!places.is_empty()).then(|| *dice.one_of(&places)) {
                    let with = *dice.one_of(&["0", "1", "2", "7", "9", "33", "-", "x", ".5", ""]);
                    row.replace_range(at..=at, with);
                }
            }
            *text = changed.join("\n");
        }
        if let Ok(found) = read(&files) {
            let read = tautwire_workbench::load_text("net.yaml", &found.text);
            assert!(read.network.is_some(), "{seed}: {:?}\n{}", read.diagnostics, found.text);
            loaded += 1;
        }
    }
    assert!(loaded > 20, "{loaded}");
}
