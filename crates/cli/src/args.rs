//! Arguments of the command, and those that several subcommands take. Each subcommand has its own, with examples and exit codes, in its file.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};
use tautwire_workbench::{Accuracy, Duration};

use crate::command::Command;

/// Workbench for deterministic Ethernet: proves bounds and simulates frame by frame from one
/// description, and compares the two.
#[derive(Debug, Parser)]
#[command(name = "tautwire", bin_name = "tautwire", version, arg_required_else_help = true)]
#[command(subcommand_required = true, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print nothing but faults; the exit code gives the result
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  every requirement is met
  1  a deadline is missed or not proven, frames may be lost, or a request is refused;
     of `diff`: something differs
  2  wrong input or usage
  3  failure: a file cannot be written, or a fault of the program
  4  an observation exceeds a bound: a fault of the program

Results go to stdout, everything else to stderr. Colours and the progress bar appear only on a
terminal; NO_COLOR=1 turns colours off.";

/// What every subcommand on a network takes.
#[derive(Debug, Args)]
pub(crate) struct Input {
    /// Description of the network (YAML); `-` is stdin
    #[arg(value_name = "NETWORK")]
    pub(crate) path: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whether the command goes on.
#[derive(Debug, Args)]
pub(crate) struct Again {
    /// Run again whenever the description or a file that it names changes, until Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
}

/// How bounds are found.
#[derive(Debug, Args)]
pub(crate) struct By {
    /// How bounds are found; the tightest of all methods holds
    #[arg(long, value_enum, default_value_t = BoundsMethod::Fast)]
    pub(crate) method: BoundsMethod,
}

/// Methods of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BoundsMethod {
    /// Port by port: arrival curves, and frame by frame
    Fast,
    /// In addition linear programs of paths, in which a burst counts once; takes longer
    Tight,
}

impl From<BoundsMethod> for Accuracy {
    fn from(method: BoundsMethod) -> Self {
        match method {
            BoundsMethod::Fast => Self::Frames,
            BoundsMethod::Tight => Self::Paths,
        }
    }
}

/// A duration with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|error: tautwire_workbench::ParseUnitError| error.to_string())
}

/// A duration that is not zero.
pub(crate) fn positive(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|span| {
        if span.is_zero() { Err("the time must be above zero".to_owned()) } else { Ok(span) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_subcommand_has_examples_and_exit_codes() {
        for command in Arguments::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:") && help.contains("Exit codes:"), "{}", command.get_name());
            assert!(help.contains(&format!("tautwire {}", command.get_name())), "{}", command.get_name());
        }
    }

    #[test]
    fn a_duration_needs_its_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_ms(250)));
        assert!(duration("250").unwrap_err().contains("unit"));
        assert!(positive("0s").is_err());
    }
}
