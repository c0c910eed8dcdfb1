//! CPU time of a hop in real time: our bridge with both kinds of sockets, and the kernel's, in the same run.
//!
//! A thread sends frames into a pair of interfaces and takes them at the end of the chain: the pair alone, with the kernel's bridge, or with ours
//! in a thread of this process. The hop is the chain less the pair. CPU time is that of the process: the kernel forwards in the
//! sender's context.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tautwire_linux::{
    Clock, End, FramePort, Namespace, PacketSocket, Waiter, add_kernel_bridge, add_pair, why_no_namespaces,
};
use tautwire_live::{BridgeSettings, Sockets, run_bridge};
use tautwire_model::Network;
use tautwire_model::network::NodeIndex;

use crate::cpu;

/// Frames on their way at a time: a bridge that wakes has many to do.
const BATCH: usize = 256;
const BATCHES: usize = 100;
const RUNS: usize = 7;

/// The bridge of ours. The rate is that of the pairs, as the kernel states it: nothing is held back but by it.
const BRIDGE: &str = "\
name: hop
defaults: {rate: 10 Gbit/s}
nodes:
  a: {type: end-station}
  s: {type: bridge, ports: {p1: {interface: left}, p2: {interface: right}}}
  x: {type: end-station}
links: [{between: [a, \"s:p1\"]}, {between: [\"s:p2\", x]}]
streams: []
run: {duration: 1 s}
";

/// Frames for each second of CPU time that a hop takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hops {
    pub(crate) ours: f64,
    /// Ours with sockets of XDP.
    pub(crate) xdp: f64,
    pub(crate) kernel: f64,
}

/// Ends of a chain, and what keeps its middle.
struct Chain {
    from: PacketSocket,
    to: PacketSocket,
    middle: Option<Namespace>,
}

impl Chain {
    fn middle(&self) -> &Namespace {
        self.middle.as_ref().expect("a chain with a bridge")
    }
}

fn end<'n>(namespace: &'n Namespace, name: &str, number: u8) -> End<'n> {
    End { namespace, name: name.to_owned(), address: [2, 0xbe, 0, 0, 0, number], mtu: 1504 }
}

/// A chain with nothing in its middle, or with a namespace in which two interfaces are.
fn chain(has_middle: bool) -> std::io::Result<Chain> {
    let [one, other] = [Namespace::new()?, Namespace::new()?];
    let middle = if has_middle { Some(Namespace::new()?) } else { None };
    match &middle {
        Some(middle) => {
            add_pair(&end(&one, "e0", 1), &end(middle, "left", 2))?;
            add_pair(&end(middle, "right", 3), &end(&other, "e0", 4))?;
        }
        None => add_pair(&end(&one, "e0", 1), &end(&other, "e0", 4))?,
    }
    let open = |namespace: &Namespace| namespace.inside(|| PacketSocket::open("e0"));
    Ok(Chain { from: open(&one)?, to: open(&other)?, middle })
}

/// CPU time of a frame, in seconds.
fn cost(chain: &Chain, octets: usize) -> std::io::Result<f64> {
    let mut frame = vec![2, 0xbe, 0, 0, 0, 4, 2, 0xbe, 0, 0, 0, 1, 0x88, 0xb5];
    frame.resize(octets, 0);
    let (clock, mut buffer) = (Clock::starting_in(0), vec![0; 2048]);
    let mut waiter = Waiter::new([chain.to.descriptor()]);
    let start = cpu();
    let mut taken = 0_usize;
    for _ in 0..BATCHES {
        for _ in 0..BATCH {
            chain.from.send(&frame)?;
        }
        // What was lost does not come, and is not waited for long.
        let (until, wanted) = (clock.now() + 200_000_000, taken + BATCH);
        while taken < wanted && clock.now() < until {
            waiter.wait(clock, until)?;
            while chain.to.receive(&mut buffer)?.is_some() {
                taken += 1;
            }
        }
    }
    let spent = (cpu() - start).as_secs_f64();
    assert!(taken * 100 >= BATCH * BATCHES * 99, "{taken} of {} frames came", BATCH * BATCHES);
    Ok(spent / taken as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The cost of a hop with frames of so many octets without FCS; none where namespaces cannot be made.
pub(crate) fn hops(octets: usize) -> Option<Hops> {
    if let Some(why) = why_no_namespaces() {
        println!("left out: {why}");
        return None;
    }
    let measured = measured(octets).unwrap_or_else(|error| panic!("interfaces of the bench's own: {error}"));
    Some(measured)
}

fn measured(octets: usize) -> std::io::Result<Hops> {
    let network = tautwire_model::load_text("hop", BRIDGE).network.expect("no errors");
    let [direct, kernel, ours, xdp] = [chain(false)?, chain(true)?, chain(true)?, chain(true)?];
    add_kernel_bridge(kernel.middle(), "br0", &["left", "right"])?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (chain, sockets) in [(&ours, Sockets::Packet), (&xdp, Sockets::Xdp)] {
            let (sender, ready) = std::sync::mpsc::channel();
            let (network, stop, within): (&Network, _, _) = (&network, &stop, chain.middle());
            scope.spawn(move || {
                within.inside(|| {
                    let settings = BridgeSettings {
                        stop,
                        duration: None,
                        is_real_time: false,
                        sockets,
                        every: Duration::from_secs(3600),
                    };
                    let ready = |_: &[String]| sender.send(()).expect("it is waited for");
                    run_bridge(network, NodeIndex(1), settings, tautwire_workbench::in_runs(), ready, |_| {})
                        .map_err(|why| std::io::Error::other(why.to_string()))
                })
            });
            ready.recv().map_err(std::io::Error::other)?;
        }
        let mut costs = [const { Vec::new() }; 4];
        for _ in 0..RUNS {
            for (costs, chain) in costs.iter_mut().zip([&direct, &kernel, &ours, &xdp]) {
                costs.push(cost(chain, octets)?);
            }
        }
        stop.store(true, Ordering::Relaxed);
        let [direct, kernel, ours, xdp] = costs.map(median);
        let hop = |chain: f64| 1.0 / (chain - direct);
        Ok(Hops { ours: hop(ours), xdp: hop(xdp), kernel: hop(kernel) })
    })
}
