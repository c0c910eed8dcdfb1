//! `tautwire live`: the network in real time on interfaces of this machine, next to bound and simulation.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use tautwire_live::{
    Attachment, Cannot, LiveRun, LiveStatus, Onlooker, ProgramStream, Settings, Spread, StationPrograms,
};
use tautwire_workbench::live::{
    LiveSummary, MachineSummary, ProgramStreamSummary, ProgramsSummary, SpreadSummary,
};
use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{
    Duration, Network, Options, PcapngWriter, RunFolder, RunFolderWriter, Scenario, gptp, in_runs,
    mechanism_tables, srp, tdma,
};

use super::live_status::{StatusFile, counted};
use super::run::{not_written, with_length};
use super::{message, scenario};
use crate::args::{Input, duration};
use crate::exit::Exit;
use crate::output;
use crate::signals;
use crate::terminal::Terminal;

pub(super) const HELP: &str = "\
Examples:
  tautwire live scenarios/shaped-line.yaml
  tautwire live scenarios/shaped-line.yaml --duration 2s --out runs/live
  tautwire live NET.yaml --attach plc=a --attach drive=b --duration 1min

Each node gets a network namespace, each cable a pair of virtual interfaces; all of it goes with the
process. That takes root (or unshare --map-root-user --net). Delays contain what the machine adds,
which is shown below the table: no verdict rests on them.

While it runs `tautwire serve` shows it in the browser.

Programs in the namespace of an attached station feed its streams that have addresses (udp), through
the interface `tautwire` there. It is there when stderr says that the run is ready.

Exit codes: 0 every frame arrived once and in order, 1 at least one did not, 2 wrong input, or a
part of the description that is not run live, 3 failure.";

/// A run in real time.
#[derive(Debug, Args)]
pub(crate) struct Live {
    #[command(flatten)]
    pub(super) input: Input,
    /// Seed of the random numbers, instead of the description's
    #[arg(long, value_name = "NUMBER")]
    pub(super) seed: Option<u64>,
    /// Time of the run, with its unit (250ms, 10s), instead of the description's
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) duration: Option<Duration>,
    /// Threads that run the nodes [default: one for each processor]
    #[arg(long, value_name = "NUMBER")]
    pub(super) threads: Option<usize>,
    /// Do not ask for real-time priority
    #[arg(long)]
    pub(super) ordinary_priority: bool,
    /// Also write the frames that every port received (frames.pcapng), for Wireshark and `analyse`
    #[arg(long)]
    pub(super) capture: bool,
    /// Have programs of a network namespace (of `ip netns`, or its file) use an end station
    #[arg(long, value_name = "STATION=NAMESPACE", value_parser = attachment)]
    pub(super) attach: Vec<Attachment>,
    /// Folder for the results [default: runs/<scenario>-<seed>]
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<PathBuf>,
}

fn attachment(text: &str) -> Result<Attachment, String> {
    match text.split_once('=') {
        Some((station, namespace)) if !station.is_empty() && !namespace.is_empty() => {
            Ok(Attachment { station: station.to_owned(), namespace: namespace.to_owned() })
        }
        _ => Err("write a station and a namespace, such as `plc=a`".to_owned()),
    }
}

pub(super) fn run(arguments: &Live) -> Result<Exit, Exit> {
    let scenario = with_length(scenario(&arguments.input.path)?, arguments.seed, arguments.duration)?;
    let network = &scenario.network;
    let (place, _) = match &arguments.out {
        Some(place) => (place.clone(), None),
        None => scenario.run_folder(Path::new("")),
    };
    let writer = RunFolderWriter::create(&place).map_err(|error| not_written(&place, &error))?;
    signals::remove_on_kill(writer.temporary());
    let settings = Settings {
        threads: arguments.threads,
        is_real_time: !arguments.ordinary_priority,
        captures: arguments.capture,
        attached: arguments.attach.clone(),
    };
    let refused = tautwire_live::refusals_but(network, Some(in_runs()));
    if !refused.is_empty() {
        return Err(cannot(&Cannot::Refused(refused)));
    }
    let status = StatusFile::new(&scenario, writer.temporary().to_owned())
        .map_err(|error| not_written(&place, &error))?;
    let onlooker = Onlooker {
        ready: Some(&|| message("ready, the run begins")),
        publish: Some(&|now: &LiveStatus| status.write(counted(network, now))),
    };
    let lived =
        tautwire_live::run_watched(network, settings, in_runs(), onlooker).map_err(|error| cannot(&error))?;
    status.end();
    let differences = tautwire_live::differences(network);
    let command = ("live", arguments.input.json);
    conclude(&scenario, command, &lived, differences, (writer, &place), arguments.capture)
}

/// Puts a run next to bound and simulation, writes its results, and prints the table; `command`: its name, and whether it prints JSON.
pub(super) fn conclude(
    scenario: &Scenario,
    (command, is_json): (&str, bool),
    lived: &LiveRun,
    differences: Vec<String>,
    (writer, place): (RunFolderWriter, &Path),
    is_captured: bool,
) -> Result<Exit, Exit> {
    let network = &scenario.network;
    let simulated = tautwire_workbench::simulate(network, &mut Options::default());
    let bounds = tautwire_workbench::bounds_in_run(network, &simulated);
    let live = &lived.observation;
    let summary = LiveSummary::new(network, &bounds, &simulated, live, machine(network, lived, differences));
    let kept =
        RunFolder::new(&scenario.manifest(&[command.to_owned()]), network, &scenario.text, None, Some(live));
    if is_captured {
        capture(network, lived, &writer).map_err(|error| not_written(place, &error))?;
    }
    let document = summary.to_json();
    writer
        .file("live.json")
        .and_then(|mut file| file.write_all(document.as_bytes()))
        .and_then(|()| writer.finish_with(&kept))
        .map_err(|error| not_written(place, &error))?;
    message(&format!("results in {}", place.display()));
    let options = TableOptions { width: Terminal::of_stdout().columns, ..TableOptions::default() };
    let shown = [
        srp::reservation::table(&kept.summary),
        srp::vlan_registration::table(&kept.summary, options),
        gptp::table(&kept.summary),
        tdma::slots::table(&kept.summary),
        tdma::takeover::table(&kept.summary),
        tdma::start_up::table(&kept.summary),
        mechanism_tables::tables(&kept.summary, options),
    ];
    let shown: Vec<_> = shown.into_iter().filter(|table| !table.is_empty()).collect();
    let text = || [summary.table(options)].into_iter().chain(shown).collect::<Vec<_>>().join("\n");
    output::result(&if is_json { document } else { text() })?;
    Ok(if summary.faults() == 0 { Exit::Holds } else { Exit::DeadlineMissed })
}

/// Writes the frames that ports received.
fn capture(network: &Network, lived: &LiveRun, writer: &RunFolderWriter) -> io::Result<()> {
    let mut capture = PcapngWriter::of_live_run(writer.file("frames.pcapng")?, network)?;
    for frame in &lived.received {
        capture.received(frame.port, frame.at, &frame.octets)?;
    }
    if lived.not_kept > 0 {
        message(&format!("{} frames are not in frames.pcapng: there was no room", lived.not_kept));
    }
    capture.finish()
}

/// Why there is no run. What a description asks for in vain is wrong input.
pub(super) fn cannot(error: &Cannot) -> Exit {
    match error {
        Cannot::Refused(reasons) => {
            for reason in reasons {
                message(reason);
            }
            Exit::WrongInput
        }
        Cannot::Machine(why) => {
            message(why);
            Exit::Failure
        }
    }
}

fn machine(network: &Network, lived: &LiveRun, differences: Vec<String>) -> MachineSummary {
    let spread = |spread: Spread| SpreadSummary {
        p50_ps: spread.p50.as_ps(),
        p99_ps: spread.p99.as_ps(),
        max_ps: spread.max.as_ps(),
    };
    MachineSummary {
        clock_read_ps: lived.floor.clock_read.as_ps(),
        timer_lateness: spread(lived.floor.timer_lateness),
        idle_round_trip: spread(lived.floor.round_trip),
        transmission_lateness: spread(lived.lateness),
        threads: lived.floor.threads as u64,
        priority: lived.floor.priority.words().to_owned(),
        out_of_order: lived.out_of_order,
        duplicates: lived.duplicates,
        foreign: lived.foreign,
        programs: lived.programs.iter().map(|own| programs(network, own)).collect(),
        differences,
    }
}

fn programs(network: &Network, own: &StationPrograms) -> ProgramsSummary {
    let of_stream = |counted: &ProgramStream| ProgramStreamSummary {
        stream: network.streams[counted.stream.index()].name.clone(),
        packets: counted.packets,
        waited: counted.waited,
        wait_max_ps: counted.wait_max.as_ps(),
        unsent: counted.unsent,
        too_long: counted.too_long,
        too_many: counted.too_many,
    };
    ProgramsSummary {
        station: network.nodes[own.node.index()].name.clone(),
        streams: own.streams.iter().map(of_stream).collect(),
        unmatched: own.unmatched,
        given: own.given,
        not_given: own.not_given,
    }
}
