//! `tautwire analyse`: captures of a real network, next to bound and simulation.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tautwire_workbench::captured::CaptureSummary;
use tautwire_workbench::captures::{CaptureFile, Captures, Stamps, StatedClock, StatedPlace, analyse};
use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{Duration, Options, RunFolder, RunFolderWriter};

use super::run::not_written;
use super::{message, scenario};
use crate::exit::Exit;
use crate::output;
use crate::signals;
use crate::terminal::Terminal;

pub(super) const HELP: &str = "\
Examples:
  tautwire analyse all.pcapng --against scenarios/shaped-line.yaml
  tautwire analyse --at a.p1=talker.pcapng --at x.p1=listener.pcapng --one-clock --against net.yaml
  tautwire analyse a.p1.pcap x.p1.pcap --clock a.p1.pcap=0ns --clock x.p1.pcap=-12us,500ns --against net.yaml
  tautwire analyse --at s1.p2=tap.pcapng:eth1 --at s2.p1=tap.pcapng:eth2 --against net.yaml

A capture (pcap, pcapng) is of a talker, a listener, a mirror port or a tap. An interface, or a file
with one, that is named like a port of the network needs no --at. Interfaces of one file have one
clock; stamps of two files are compared only if their clocks are stated.

Delays count from the first bit that was captured, so what the talker's host took before is no part
of them.

Exit codes: 0 every frame came once, in order, in time and within its bound, 1 at least one did not,
2 wrong input, 3 failure.";

/// Captures of a real network.
#[derive(Debug, Args)]
pub(crate) struct Analyse {
    /// Captures (pcap, pcapng)
    #[arg(value_name = "CAPTURE")]
    pub(super) captures: Vec<PathBuf>,
    /// Description of the network (YAML)
    #[arg(long, value_name = "NETWORK")]
    pub(super) against: PathBuf,
    /// Where a file, or an interface of it, captured: NODE.PORT=FILE[:INTERFACE]; may be repeated
    #[arg(long, value_name = "PLACE=FILE")]
    pub(super) at: Vec<String>,
    /// By how much the clock of a file is ahead of the common one, with its unit, and how sure this is: FILE=OFFSET[,PRECISION]; may
    /// be repeated
    #[arg(long, value_name = "FILE=OFFSET")]
    pub(super) clock: Vec<String>,
    /// All files have one clock
    #[arg(long)]
    pub(super) one_clock: bool,
    /// What a stamp is of
    #[arg(long, value_enum, default_value_t = StampsOf::Side)]
    pub(super) stamps: StampsOf,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Folder for the results [default: runs/<scenario>-<seed>]
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<PathBuf>,
}

/// The moment of a frame that a stamp is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StampsOf {
    /// The first bit where a port sends, the last bit where it receives, as interfaces of hosts stamp
    Side,
    /// The first bit everywhere
    FirstBit,
    /// The last bit everywhere
    LastBit,
}

pub(super) fn run(arguments: &Analyse) -> Result<Exit, Exit> {
    let scenario = scenario(&arguments.against)?;
    let network = &scenario.network;
    let captures = captures(arguments)?;
    let place = arguments.out.clone().unwrap_or_else(|| scenario.run_folder(Path::new("")).0);
    let writer = RunFolderWriter::create(&place).map_err(|error| not_written(&place, &error))?;
    signals::remove_on_kill(writer.temporary());
    let simulated = tautwire_workbench::simulate(network, &mut Options::default());
    let bounds = tautwire_workbench::bounds_in_run(network, &simulated);
    let bound = |stream: usize, listener: usize| -> Option<Duration> {
        bounds.streams[stream].listeners[listener].delay.as_ref().ok().copied()
    };
    let captured = analyse(network, &captures, &bound).map_err(|faults| wrong(&faults))?;
    let summary = CaptureSummary::new(network, &bounds, &simulated, &captured);
    let names = captures.files.iter().map(|file| file.name.clone());
    let command: Vec<String> = std::iter::once("analyse".to_owned()).chain(names).collect();
    let seen = Some(&captured.observation);
    let kept = RunFolder::new(&scenario.manifest(&command), network, &scenario.text, None, seen);
    let document = summary.to_json();
    writer
        .file("captures.json")
        .and_then(|mut file| file.write_all(document.as_bytes()))
        .and_then(|()| writer.finish_with(&kept))
        .map_err(|error| not_written(&place, &error))?;
    message(&format!("results in {}", place.display()));
    let options = TableOptions { width: Terminal::of_stdout().columns, ..TableOptions::default() };
    output::result(&if arguments.json { document } else { summary.table(options) })?;
    Ok(if summary.faults() == 0 { Exit::Holds } else { Exit::DeadlineMissed })
}

fn wrong(faults: &[String]) -> Exit {
    for fault in faults {
        message(fault);
    }
    Exit::WrongInput
}

/// The files with what is stated of their places and clocks.
fn captures(arguments: &Analyse) -> Result<Captures, Exit> {
    let mut faults = Vec::new();
    let mut paths: Vec<PathBuf> = Vec::new();
    // A file that is named with its place needs not be named again.
    let mut number_of = |path: &Path| {
        paths.iter().position(|known| known == path).unwrap_or_else(|| {
            paths.push(path.to_owned());
            paths.len() - 1
        })
    };
    for path in &arguments.captures {
        number_of(path);
    }
    let mut places = Vec::new();
    for text in &arguments.at {
        let Some((place, of)) = text.split_once('=') else {
            faults.push(format!("--at {text}: it has the form NODE.PORT=FILE or NODE.PORT=FILE:INTERFACE"));
            continue;
        };
        let (file, interface) = match of.rsplit_once(':') {
            Some((file, interface)) if !Path::new(of).exists() => (file, Some(interface.to_owned())),
            _ => (of, None),
        };
        places.push(StatedPlace {
            place: place.trim().to_owned(),
            file: number_of(Path::new(file)),
            interface,
        });
    }
    let mut clocks = vec![arguments.one_clock.then(StatedClock::default); paths.len()];
    for text in &arguments.clock {
        let known = text
            .rsplit_once('=')
            .and_then(|(file, clock)| Some((paths.iter().position(|path| path == Path::new(file))?, clock)));
        match known.map(|(file, clock)| (file, stated_clock(clock))) {
            Some((file, Ok(clock))) => clocks[file] = Some(clock),
            Some((_, Err(why))) => faults.push(format!("--clock {text}: {why}")),
            None => faults
                .push(format!("--clock {text}: it has the form FILE=OFFSET, of a file that is analysed")),
        }
    }
    if paths.is_empty() {
        faults.push("name a capture".to_owned());
    }
    let mut files = Vec::new();
    for (path, clock) in paths.iter().zip(clocks) {
        let name = path.display().to_string();
        match tautwire_workbench::captures::octets_of(path) {
            Ok(octets) => files.push(CaptureFile { name, octets, clock }),
            Err(why) => faults.push(format!("{name} {why}")),
        }
    }
    if !faults.is_empty() {
        return Err(wrong(&faults));
    }
    let stamps = match arguments.stamps {
        StampsOf::Side => Stamps::Side,
        StampsOf::FirstBit => Stamps::FirstBit,
        StampsOf::LastBit => Stamps::LastBit,
    };
    Ok(Captures { files, places, stamps })
}

/// An offset, and behind a comma its precision.
fn stated_clock(text: &str) -> Result<StatedClock, String> {
    let (offset, precision) = text.split_once(',').unwrap_or((text, "0 ns"));
    let (is_negative, offset) = match offset.trim().strip_prefix('-') {
        Some(offset) => (true, offset),
        None => (false, offset.trim().trim_start_matches('+')),
    };
    let duration = |text: &str| {
        text.trim().parse::<Duration>().map_err(|error: tautwire_workbench::ParseUnitError| error.to_string())
    };
    let ahead = i64::try_from(duration(offset)?.as_ps()).map_err(|_| "the offset is too long".to_owned())?;
    Ok(StatedClock { ahead: if is_negative { -ahead } else { ahead }, precision: duration(precision)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_has_a_sign_and_a_precision() {
        let clock = |ahead, precision| Ok(StatedClock { ahead, precision: Duration::from_ns(precision) });
        assert_eq!(stated_clock("-12 us"), clock(-12_000_000, 0));
        assert_eq!(stated_clock("+1us,500 ns"), clock(1_000_000, 500));
        assert!(stated_clock("12").is_err_and(|why| why.contains("unit")));
        assert!(stated_clock("12 us,-1 us").is_err());
    }
}
