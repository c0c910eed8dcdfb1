//! `tautwire admit`: a request a line in, a decision a line out, each given before the next is read.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use tautwire_workbench::admission::{
    AdmissionTest, Bandwidth, Controller, Decision, EndToEndBounds, LogError, Mode, Operation, Outcome,
    RefusalReason, Request,
};
use tautwire_workbench::{Duration, Network};

use super::{admit_socket, say, scenario};
use crate::args::{Admit, Test};
use crate::exit::Exit;
use crate::{nearest, output};

pub(super) fn run(arguments: &Admit) -> Result<Exit, Exit> {
    let scenario = scenario(&arguments.input.path)?;
    let network = &scenario.network;
    let test: Box<dyn AdmissionTest> = match arguments.test {
        Test::Bounds => Box::new(EndToEndBounds),
        Test::Bandwidth => Box::new(Bandwidth::default()),
    };
    let mut controller = match &arguments.state {
        Some(folder) => Controller::with_log(network, test, folder).map_err(|error| unusable(&error))?,
        None => Controller::new(network, test),
    };
    if let Some(socket) = &arguments.listen {
        return admit_socket::serve(socket, |line| {
            let decision = match Request::parse(line) {
                Ok(request) => controller.answer(&request).map_err(|error| unusable(&error))?,
                Err(error) => Decision::wrong(&error),
            };
            Ok(decision.to_json() + "\n")
        });
    }
    let mut worst = Exit::Holds;
    let mut answer = |request: Result<Request, _>| {
        let decision = match &request {
            Ok(request) => controller.answer(request).map_err(|error| unusable(&error))?,
            Err(error) => Decision::wrong(error),
        };
        output::result(&match arguments.input.json {
            true => decision.to_json() + "\n",
            false => told(network, &decision),
        })?;
        let exit = match decision.outcome {
            Outcome::Granted => Exit::Holds,
            Outcome::Partly | Outcome::Refused => Exit::DeadlineMissed,
            Outcome::Wrong => Exit::WrongInput,
        };
        if exit.code() > worst.code() {
            worst = exit;
        }
        Ok(())
    };
    if arguments.all {
        let streams = network.streams.iter().map(|stream| stream.name.clone()).collect();
        let (op, mode) = (Operation::Reserve, Mode::BestEffort);
        answer(Ok(Request { op, id: None, streams, instead_of: Vec::new(), mode }))?;
        return Ok(worst);
    }
    let lines: Box<dyn BufRead> = match &arguments.requests {
        None => Box::new(io::stdin().lock()),
        Some(path) => Box::new(BufReader::new(File::open(path).map_err(|error| {
            say(&format!("cannot read {}: {error}", path.display()));
            Exit::WrongInput
        })?)),
    };
    for line in lines.lines() {
        let line = line.map_err(|error| {
            say(&format!("cannot read the requests: {error}"));
            Exit::WrongInput
        })?;
        if !line.trim().is_empty() {
            answer(Request::parse(&line))?;
        }
    }
    Ok(worst)
}

/// Says why the log cannot be used.
fn unusable(error: &LogError) -> Exit {
    say(&error.to_string());
    match error {
        LogError::Io(..) => Exit::Failure,
        LogError::InUse(_) | LogError::Damaged { .. } | LogError::UnknownStream(_) => Exit::WrongInput,
    }
}

/// A decision for people.
fn told(network: &Network, decision: &Decision) -> String {
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
        let _ = writeln!(
            text,
            "{word}    {}: {}",
            refusal.stream,
            why(network, &refusal.stream, &refusal.reason)
        );
    }
    if text.is_empty() {
        text.push_str("nothing is admitted\n");
    }
    text
}

/// A reason for people.
fn why(network: &Network, asked: &str, reason: &RefusalReason) -> String {
    match reason {
        RefusalReason::Deadline { stream, listener, port, deadline_ps, bound_ps } => {
            let (bound, deadline) = (Duration::from_ps(*bound_ps), Duration::from_ps(*deadline_ps));
            let whose = if stream == asked { String::new() } else { format!("{stream}, ") };
            format!("{whose}up to {bound} to {listener}, deadline {deadline}; most at {port}")
        }
        RefusalReason::Unbounded { stream, listener, why } => {
            let whose = if stream == asked { String::new() } else { format!("{stream}, ") };
            format!("{whose}no bound to {listener}: {why}")
        }
        RefusalReason::Bandwidth { port, class, wanted_bps, left_bps } => {
            format!("class {class} of port {port} has {left_bps} bit/s left, {wanted_bps} bit/s are needed")
        }
        RefusalReason::NoReservation { port, class } => {
            format!("class {class} of port {port} is not credit-based: nothing can be reserved in it")
        }
        RefusalReason::NoArrivalCurve => "it promises no arrival curve".to_owned(),
        RefusalReason::UnknownStream => {
            let names = network.streams.iter().map(|stream| stream.name.as_str());
            format!("no such stream; nearest: {}", nearest::names(asked, names, 5).join(", "))
        }
        RefusalReason::AlreadyAdmitted => "it is admitted already".to_owned(),
        RefusalReason::NotAdmitted => "it is not admitted".to_owned(),
        RefusalReason::NamedTwice => "it stands twice in the request".to_owned(),
    }
}
