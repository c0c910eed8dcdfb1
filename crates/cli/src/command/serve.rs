//! `tautwire serve`: runs in the browser, until it is stopped.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::serve_door::Door;
use super::serve_pages::Pages;
use super::{message, remark};
use crate::exit::Exit;
use crate::http::{self, Limits};
use crate::{output, signals};

pub(super) const HELP: &str = "\
Examples:
  tautwire serve
  tautwire serve runs /srv/lab/runs --listen 127.0.0.1:9000
  tautwire serve runs --listen 192.0.2.7:8640 --token-file token

It prints an address with a token, for a browser; whoever has it may read the runs. Nothing can be
changed. It answers this machine alone unless --listen names an address that others reach; what is
sent is not encrypted: over a network use `ssh -L 8640:localhost:8640 host`.

A folder is one of run folders, or a run folder itself. Runs that go on are shown live.
SIGINT, SIGTERM and SIGHUP end it.

Exit codes: 0 it ran until it was stopped, 2 wrong input, 3 failure: the address is not free.";

/// Where it listens by default.
const LISTEN: &str = "127.0.0.1:8640";
/// A browser opens six connections at once.
const LIMITS: Limits =
    Limits { clients: 32, request: Duration::from_secs(5), answer: Duration::from_secs(120) };

/// Runs in the browser.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Folders of runs [default: runs]
    #[arg(value_name = "FOLDER")]
    pub(super) folders: Vec<PathBuf>,
    /// Address and port on which it answers; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = LISTEN, value_parser = address)]
    pub(super) listen: SocketAddr,
    /// File with the token, for the same one at every start [default: a new one]
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    /// Print the address as JSON
    #[arg(long)]
    pub(super) json: bool,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("an address and a port are needed, as {LISTEN} or [::1]:8640"))
}

pub(super) fn run(arguments: &Serve) -> Result<Exit, Exit> {
    let mut is_wrong = false;
    for folder in arguments.folders.iter().filter(|folder| !folder.is_dir()) {
        message(&format!(
            "{} is no folder: name one with runs, or make a run (`tautwire verify`)",
            folder.display()
        ));
        is_wrong = true;
    }
    let door = Door::new(arguments.token_file.as_deref()).map_err(|why| message(&why));
    let (Ok(door), false) = (door, is_wrong) else { return Err(Exit::WrongInput) };
    let (listener, bound) = http::listen(arguments.listen).map_err(|why| {
        message(&why);
        Exit::Failure
    })?;
    let stop = signals::stop();
    let door = door.on_port(bound.port());
    let url = format!("http://{}/?token={}", reached(bound), door.token());
    if !bound.ip().is_loopback() {
        remark("others reach this address, and what is sent is not encrypted");
    }
    output::result(&if arguments.json {
        format!("{:#}\n", json!({"url": url, "listen": bound.to_string(), "token": door.token()}))
    } else {
        format!("{url}\n")
    })?;
    // Where runs go by default there may be none yet.
    let folders =
        if arguments.folders.is_empty() { &[PathBuf::from("runs")] } else { &arguments.folders[..] };
    let pages = Pages::new(folders);
    thread::Builder::new()
        .name("http".to_owned())
        .spawn(move || {
            http::serve(&listener, LIMITS, move |request| {
                door.refuses(request).unwrap_or_else(|| pages.answer(request))
            });
        })
        .map_err(|error| {
            message(&format!("no thread: {error}"));
            Exit::Failure
        })?;
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
    }
    Ok(Exit::Holds)
}

/// The address by which a browser of this machine reaches it.
fn reached(bound: SocketAddr) -> SocketAddr {
    let own: IpAddr = match bound.ip() {
        IpAddr::V4(address) if address.is_unspecified() => [127, 0, 0, 1].into(),
        IpAddr::V6(address) if address.is_unspecified() => std::net::Ipv6Addr::LOCALHOST.into(),
        other => other,
    };
    SocketAddr::new(own, bound.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_listens_to_all_is_reached_by_loopback() {
        for (bound, own) in [
            ("0.0.0.0:1", "127.0.0.1:1"),
            ("[::]:1", "[::1]:1"),
            ("10.0.0.1:1", "10.0.0.1:1"),
            ("127.0.0.1:1", "127.0.0.1:1"),
        ] {
            assert_eq!(reached(bound.parse().unwrap()), own.parse().unwrap());
        }
        assert_eq!(LISTEN.parse::<SocketAddr>().unwrap(), address(LISTEN).unwrap());
        assert!(address("localhost:1").unwrap_err().contains("127.0.0.1:8640"));
    }
}
