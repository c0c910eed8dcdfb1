//! `tautwire live`: the network in real time on interfaces of this machine, next to bound and simulation.

use std::io::{self, Write as _};
use std::path::Path;

use tautwire_live::{Cannot, LiveRun, Settings, Spread};
use tautwire_workbench::live::{LiveSummary, MachineSummary, SpreadSummary};
use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{Network, Options, PcapngWriter, RunFolder, RunFolderWriter};

use super::run::{not_written, with_length};
use super::{message, scenario};
use crate::args::Live;
use crate::exit::Exit;
use crate::output;
use crate::signals;
use crate::terminal::Terminal;

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
    };
    let lived = tautwire_live::run(network, settings).map_err(|error| cannot(&error))?;
    let simulated = tautwire_workbench::simulate(network, &mut Options::default());
    let bounds = tautwire_workbench::bounds_in_run(network, &simulated);
    let live = &lived.observation;
    let summary = LiveSummary::new(
        network,
        &bounds,
        &simulated,
        live,
        machine(&lived, tautwire_live::differences(network)),
    );
    let kept =
        RunFolder::new(&scenario.manifest(&["live".to_owned()]), network, &scenario.text, None, Some(live));
    if arguments.capture {
        capture(network, &lived, &writer).map_err(|error| not_written(&place, &error))?;
    }
    let document = summary.to_json();
    writer
        .file("live.json")
        .and_then(|mut file| file.write_all(document.as_bytes()))
        .and_then(|()| writer.finish_with(&kept))
        .map_err(|error| not_written(&place, &error))?;
    message(&format!("results in {}", place.display()));
    let options = TableOptions { width: Terminal::of_stdout().columns, ..TableOptions::default() };
    output::result(&if arguments.input.json { document } else { summary.table(options) })?;
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
fn cannot(error: &Cannot) -> Exit {
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

fn machine(lived: &LiveRun, differences: Vec<String>) -> MachineSummary {
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
        differences,
    }
}
