//! `tautwire export`: a network in the form of another tool.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use tautwire_workbench::exchange::{self, EXPORTS, Scope};

use super::{message, remark, scenario};
use crate::exit::Exit;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  tautwire export tc scenarios/scheduled-traffic.yaml --to gates.sh
  tautwire export dot scenarios/in-vehicle.yaml | dot -Tsvg > in-vehicle.svg
  tautwire export graphml scenarios/in-vehicle.yaml --to in-vehicle.graphml
  tautwire export yang scenarios/scheduled-traffic.yaml --to configuration
  tautwire export yang-xml scenarios/in-vehicle.yaml --node front --to front.xml
  tautwire export uni scenarios/scheduled-traffic.yaml --to requests.json
  tautwire export tsnkit scheduled.yaml --to instance
  tautwire export inet scenarios/scheduled-traffic.yaml --to model

Forms:
  tc        commands of tc (iproute2), a shell script that takes the node's name: mqprio, taprio,
            cbs, etf, and filters with skbedit, gate and police
  yang      instance data of the YANG modules of IEEE 802.1Q and 802.1CB in JSON, a document for
            each bridge: VLANs, classes, gates, shapers, preemption, stream filters, replication
  yang-xml  the same in XML
  uni       the streams as a CUC requests them of a CNC (802.1Qcc), in JSON; uni-xml the same in XML
  gptp      gPTP of each node as YANG instance data (802.1AS) in JSON; gptp-xml the same in XML
  tsnkit    tables (CSV) of tsnkit: tasks and topology, and the schedule if ports have gates
  inet      network (NED) and configuration (INI) for INET 4.5 or later (OMNeT++): sources,
            priorities, classes, credit-based and asynchronous shapers, gates
  saihu     output ports and flows of Saihu (JSON), of the highest class of each port
  dot       topology for Graphviz
  graphml   topology for networkx, yEd and Gephi

What a form does not express is listed on stderr, a line each.

Exit codes: 0 written, 2 wrong input, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Form
    #[arg(value_parser = PossibleValuesParser::new(EXPORTS.map(|export| export.name)))]
    pub(super) form: String,
    /// Description of the network (YAML); `-` is stdin
    #[arg(value_name = "NETWORK")]
    pub(super) path: PathBuf,
    /// Bridge to write, of a form with a document for each [default: all]
    #[arg(long, value_name = "NAME")]
    pub(super) node: Option<String>,
    /// File to write, or folder for several [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) to: Option<PathBuf>,
}

pub(super) fn run(arguments: &Export) -> Result<Exit, Exit> {
    let scenario = scenario(&arguments.path)?;
    let export = exchange::export(&arguments.form).expect("clap takes the forms alone");
    let wrong = |why: &str| {
        message(why);
        Exit::WrongInput
    };
    let texts = export.write(&scenario.network, arguments.node.as_deref()).map_err(|why| wrong(&why))?;
    let is_of_all = arguments.node.is_none() && texts.iter().all(|text| text.file.is_some());
    match &arguments.to {
        None if texts.len() > 1 => {
            let name = export.name;
            let count = texts.len();
            return Err(wrong(&match export.scope {
                Scope::Bridge { .. } => format!(
                    "{name} has a document for each of {count} bridges: choose one with --node, or a folder with --to"
                ),
                Scope::Network(_) | Scope::Files(_) => {
                    format!("{name} has {count} files: choose a folder with --to")
                }
            }));
        }
        None => output::result(&texts[0].converted.text)?,
        Some(folder) if is_of_all => {
            std::fs::create_dir_all(folder).map_err(|error| not_written(folder, &error))?;
            for text in &texts {
                let file = text.file.as_deref().expect("all have files");
                if file.contains(['/', '\\']) {
                    return Err(wrong(&format!(
                        "{file} is no name of a file: choose the bridge with --node"
                    )));
                }
                write(&folder.join(file), &text.converted.text)?;
            }
        }
        Some(file) => write(file, &texts[0].converted.text)?,
    }
    // What several documents leave out alike is one line.
    let mut lines: Vec<&String> = Vec::new();
    for line in texts.iter().flat_map(|text| &text.converted.left_out) {
        if !lines.contains(&line) {
            lines.push(line);
            remark(&format!("not in {}: {line}", export.name));
        }
    }
    Ok(Exit::Holds)
}

fn write(file: &Path, text: &str) -> Result<(), Exit> {
    std::fs::write(file, text).map_err(|error| not_written(file, &error))
}

fn not_written(path: &Path, error: &std::io::Error) -> Exit {
    message(&format!("cannot write {}: {error}", path.display()));
    Exit::Failure
}
