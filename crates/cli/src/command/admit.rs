//! `tautwire admit`: a request a line in, a decision a line out, each given before the next is read.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tautwire_workbench::admission::{
    AdmissionServer, Channel, Decision, Fits, LogError, Mode, Operation, Outcome, RefusalReason, Request,
    RequestError,
};
use tautwire_workbench::{Duration, Network, grammar};

use super::admit_socket::{self, Limits};
use super::{message, scenario, text};
use crate::args::{Input, positive};
use crate::exit::Exit;
use crate::{nearest, output};

pub(super) const HELP: &str = "\
Examples:
  tautwire admit scenarios/in-vehicle.yaml --all
  echo '{\"op\": \"reserve\", \"streams\": [\"view-front\"]}' | tautwire admit scenarios/in-vehicle.yaml
  tautwire admit scenarios/in-vehicle.yaml --state reservations --json < requests.jsonl
  tautwire admit scenarios/in-vehicle.yaml --state reservations --listen admission.socket

Each line is a request: {\"op\": OP, \"streams\": [NAME, ...]}. OP is reserve, what-if, withdraw,
replace (with \"instead_of\": [NAME, ...]), modify or list. By default all streams of a request are
admitted or none; \"mode\": \"best-effort\" admits each one that fits. A repeated request with the
same \"id\" gets the first answer again. With \"suggest\": true a refusal says what would have fitted.

A request can name streams of the description or bring new ones:
{\"op\": \"reserve\", \"new\": [{\"name\": \"x\", \"talker\": ..., and the other keys of a stream}]}.
modify replaces admitted streams by those in \"new\", or changes nothing.

Exit codes: 0 all requests were granted, 1 one was refused, 2 wrong input or a wrong request,
3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Admit {
    #[command(flatten)]
    pub(super) input: Input,
    /// Admission test
    #[arg(long, value_enum, default_value_t = Test::Bounds)]
    pub(super) test: Test,
    /// Keep the admitted streams in this folder, and continue from it
    #[arg(long, value_name = "FOLDER")]
    pub(super) state: Option<PathBuf>,
    /// Accept a log with missing or changed lines as it is; a copy is kept
    #[arg(long, requires = "state")]
    pub(super) accept_log: bool,
    /// Read the requests from this file [default: stdin]
    #[arg(long, value_name = "FILE")]
    pub(super) requests: Option<PathBuf>,
    /// Serve clients on this Unix socket until stopped; decisions are JSON
    #[arg(long, value_name = "SOCKET", conflicts_with = "requests")]
    pub(super) listen: Option<PathBuf>,
    /// Most clients at a time; further ones get an error and are disconnected
    #[arg(long, value_name = "NUMBER", default_value_t = 64, requires = "listen")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) connections: u32,
    /// Longest time that a client may take to send a request or to read its answer
    #[arg(long, value_name = "TIME", default_value = "300s", requires = "listen", value_parser = positive)]
    pub(super) idle_timeout: Duration,
    /// Request all streams of the description in order, and admit each one that fits
    #[arg(long, conflicts_with_all = ["requests", "listen"])]
    pub(super) all: bool,
}

/// An admission test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Test {
    /// Proven end-to-end bounds by arrival curves: every deadline is met and no frame is lost; `tautwire bounds` also counts
    /// frame by frame and may prove more
    Bounds,
    /// Bandwidth per port and class (IEEE Std 802.1Q, 34.3); proves no deadline
    Bandwidth,
    /// Response times of HaRTES (equation 3 of its published evaluation); needs `harts`
    ResponseTime,
}

impl From<Test> for tautwire_workbench::admission::Test {
    fn from(test: Test) -> Self {
        match test {
            Test::Bounds => Self::Bounds,
            Test::Bandwidth => Self::Bandwidth,
            Test::ResponseTime => Self::ResponseTime,
        }
    }
}

pub(super) fn run(arguments: &Admit) -> Result<Exit, Exit> {
    let path = &arguments.input.path;
    let network = scenario(path)?.network;
    if arguments.test == Test::ResponseTime && network.harts.is_none() {
        message("the test `response-time` is that of HaRTES: the description has no `harts`");
        return Err(Exit::WrongInput);
    }
    let text = text(path)?;
    let name = path.display().to_string();
    if let Some(folder) = arguments.state.as_deref().filter(|_| arguments.accept_log)
        && let Some(copy) = AdmissionServer::accept_log(folder)?
    {
        message(&format!("the log is accepted as it is; a copy of it is in {}", copy.display()));
    }
    let server =
        AdmissionServer::open(grammar(), &name, &text, arguments.test.into(), arguments.state.as_deref())?;
    if let Some(reason) = server.no_longer_holds() {
        let why = why((&network, arguments.test), "", &reason);
        message(&format!(
            "the admitted streams would not be admitted now, because test or description has changed: {why}"
        ));
    }
    if let Some(socket) = &arguments.listen {
        let limits = Limits { connections: arguments.connections, idle: arguments.idle_timeout };
        return admit_socket::serve(socket, server, limits);
    }
    let requests: Box<dyn Iterator<Item = Asked>> = if arguments.all {
        let asks = network.streams.iter().filter(|stream| !stream.traffic.is_control());
        let streams = asks.map(|stream| stream.name.clone()).collect();
        let mode = Mode::BestEffort;
        Box::new(std::iter::once(Ok(Ok(Request { mode, ..Request::of(Operation::Reserve, streams) }))))
    } else {
        let lines: Box<dyn BufRead> = match &arguments.requests {
            None => Box::new(io::stdin().lock()),
            Some(path) => Box::new(BufReader::new(File::open(path).map_err(|error| {
                message(&format!("cannot read {}: {error}", path.display()));
                Exit::WrongInput
            })?)),
        };
        let lines = lines.lines().filter(|line| !line.as_ref().is_ok_and(|line| line.trim().is_empty()));
        Box::new(lines.map(|line| line.map(|line| Request::parse(&line))))
    };
    let mut console =
        Console { requests, test: arguments.test, json: arguments.input.json, worst: Exit::Holds };
    server.serve(&mut console)?;
    Ok(console.worst)
}

/// A line that was read, and its request.
type Asked = io::Result<Result<Request, RequestError>>;

/// Requests of a file or of standard input; answers on standard output.
struct Console<'a> {
    requests: Box<dyn Iterator<Item = Asked> + 'a>,
    test: Test,
    json: bool,
    worst: Exit,
}

impl Channel for Console<'_> {
    type Error = Exit;

    fn next(&mut self) -> Result<Option<Result<Request, RequestError>>, Exit> {
        self.requests.next().transpose().map_err(|error| {
            message(&format!("cannot read the requests: {error}"));
            Exit::WrongInput
        })
    }

    fn reply(&mut self, network: &Network, decision: Decision) -> Result<(), Exit> {
        output::result(&match self.json {
            true => decision.to_json() + "\n",
            false => answer_text((network, self.test), &decision),
        })?;
        let exit = match decision.outcome {
            Outcome::Granted => Exit::Holds,
            Outcome::Partly | Outcome::Refused => Exit::DeadlineMissed,
            Outcome::Wrong => Exit::WrongInput,
        };
        if exit.code() > self.worst.code() {
            self.worst = exit;
        }
        Ok(())
    }
}

/// The message that the log cannot be used.
impl From<LogError> for Exit {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Damaged { .. } | LogError::CutOff { .. } | LogError::NoAnchor { .. } => {
                message(&format!("{error}, or accept the log as it is: --accept-log"));
            }
            _ => message(&error.to_string()),
        }
        if let LogError::Io(..) = error { Self::Failure } else { Self::WrongInput }
    }
}

/// A decision for people.
fn answer_text(of: (&Network, Test), decision: &Decision) -> String {
    let mut text = String::new();
    let again = if decision.repeated { " (as before)" } else { "" };
    if let Some(error) = &decision.error {
        let _ = writeln!(text, "wrong      {error}");
    }
    for name in &decision.withdrawn {
        let _ = writeln!(text, "withdrawn  {name}{again}");
    }
    for name in &decision.admitted {
        let _ = writeln!(text, "admitted   {name}{again}");
    }
    for refusal in &decision.refused {
        let word = if decision.outcome == Outcome::Wrong { "wrong  " } else { "refused" };
        let _ = writeln!(text, "{word}    {}: {}", refusal.stream, why(of, &refusal.stream, &refusal.reason));
        if let Some(fits) = &refusal.fits {
            let _ = writeln!(text, "           {}", would_fit(fits));
        }
    }
    if text.is_empty() {
        text.push_str("nothing is admitted\n");
    }
    text
}

/// The text of what would have fitted.
fn would_fit(fits: &Fits) -> String {
    let parts = [
        fits.deadline_ps.map(|ps| format!("a deadline of {}", Duration::from_ps(ps))),
        fits.payload_bytes.map(|octets| format!("a payload of {octets} B")),
        fits.interval_ps.map(|ps| format!("an interval of {}", Duration::from_ps(ps))),
        fits.rate_bps.map(|bps| format!("a rate of {bps} bit/s")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return "it would not have fitted with another deadline, payload, interval or rate either".to_owned();
    }
    format!("would have fitted: {}", parts.join(", or "))
}

/// A reason for people.
fn why((network, test): (&Network, Test), asked: &str, reason: &RefusalReason) -> String {
    // The bound of `bounds`, frame by frame, may be smaller.
    let by = if test == Test::Bounds { " by arrival curves" } else { "" };
    match reason {
        RefusalReason::Deadline { stream, listener, port, deadline_ps, bound_ps } => {
            let (bound, deadline) = (Duration::from_ps(*bound_ps), Duration::from_ps(*deadline_ps));
            let whose = if stream == asked { String::new() } else { format!("{stream}, ") };
            format!("{whose}up to {bound} to {listener}{by}, deadline {deadline}; most at {port}")
        }
        RefusalReason::Unbounded { stream, listener, why } => {
            let whose = if stream == asked { String::new() } else { format!("{stream}, ") };
            format!("{whose}no bound to {listener}{by}: {why}")
        }
        RefusalReason::MayBeLost { stream, listener, why, .. } => {
            let whose = if stream == asked { String::new() } else { format!("{stream}, ") };
            format!("{whose}may be lost on its way to {listener}{by}: {why}")
        }
        RefusalReason::Bandwidth { port, class, wanted_bps, left_bps } => {
            format!("class {class} of port {port} has {left_bps} bit/s left, {wanted_bps} bit/s are needed")
        }
        RefusalReason::NoReservation { port, class } => {
            format!("class {class} of port {port} is not credit-based: nothing can be reserved in it")
        }
        RefusalReason::NotReserved => "it has no reservation: give it `reservation`".to_owned(),
        RefusalReason::NoArrivalCurve => "it has no arrival curve".to_owned(),
        RefusalReason::UnknownStream => {
            let asks = network.streams.iter().filter(|stream| !stream.traffic.is_control());
            let names = asks.map(|stream| stream.name.as_str());
            format!("no such stream; nearest: {}", nearest::names(asked, names, 5).join(", "))
        }
        RefusalReason::AlreadyAdmitted => "it is admitted already".to_owned(),
        RefusalReason::NotAdmitted => "it is not admitted".to_owned(),
        RefusalReason::NamedTwice => "the request names it twice".to_owned(),
    }
}
