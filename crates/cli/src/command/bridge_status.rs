//! What a bridge has counted, as JSON, as text of Prometheus and as a table; files that are always whole, and answers to HTTP.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tautwire_live::{BridgeStatus, ClassStatus, Drops, PortStatus, Spread, TimePort, TimeStatus};
use tautwire_workbench::Network;
use tautwire_workbench::network::NodeIndex;

/// How long a client of HTTP may take for its request, and for the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest request that is read.
const REQUEST_MAX: usize = 4096;

/// The names of what was counted.
#[derive(Clone, Copy)]
pub(super) struct Named<'n> {
    pub(super) network: &'n Network,
    pub(super) node: NodeIndex,
}

impl Named<'_> {
    fn bridge(&self) -> &str {
        &self.network.nodes[self.node.index()].name
    }

    fn port(&self, status: &PortStatus) -> (&str, &str) {
        let port = &self.network.ports[status.port.index()];
        (&port.name, port.interface.as_deref().unwrap_or_default())
    }

    /// All of it.
    pub(super) fn json(&self, status: &BridgeStatus) -> String {
        let ports = status.ports.iter().map(|port| {
            let (name, interface) = self.port(port);
            json!({
                "port": name,
                "interface": interface,
                "received_frames": port.received,
                "received_octets": port.received_octets,
                "sent_frames": port.sent,
                "sent_octets": port.sent_octets,
                "busy_ps": port.busy.as_ps(),
                "socket_lost_frames": port.socket_lost,
                "classes": port.classes.iter().map(class).collect::<Vec<Value>>(),
                "dropped": port.drops.iter().map(drops).collect::<Vec<Value>>(),
            })
        });
        let streams = status.streams.iter().map(|(stream, seen)| {
            json!({
                "stream": self.network.streams[stream.index()].name,
                "received_frames": seen.received,
                "sent_frames": seen.sent,
                "dropped_frames": seen.dropped,
            })
        });
        let document = json!({
            "bridge": self.bridge(),
            "uptime_ps": status.uptime.as_ps(),
            "transmission_lateness": spread(status.lateness),
            "ports": ports.collect::<Vec<Value>>(),
            "streams": streams.collect::<Vec<Value>>(),
            "time": status.time.as_ref().map(time),
        });
        format!("{document:#}\n")
    }

    /// In the text format of Prometheus, version 0.0.4.
    pub(super) fn metrics(&self, status: &BridgeStatus) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, String)]| {
            let _ =
                writeln!(text, "# HELP tautwire_bridge_{name} {help}\n# TYPE tautwire_bridge_{name} {kind}");
            for (labels, value) in samples {
                let (end, labels) = labels.split_once('|').unwrap_or(("", labels));
                let _ = writeln!(
                    text,
                    "tautwire_bridge_{name}{end}{{bridge=\"{}\"{labels}}} {value}",
                    self.bridge()
                );
            }
        };
        family(
            "uptime_seconds",
            "counter",
            "Time since the start.",
            &[(String::new(), seconds(status.uptime.as_ps().into()))],
        );
        let ports = |of: &dyn Fn(&PortStatus) -> String| -> Vec<(String, String)> {
            status.ports.iter().map(|port| (self.labels(port), of(port))).collect()
        };
        family(
            "received_frames_total",
            "counter",
            "Frames that came.",
            &ports(&|port| port.received.to_string()),
        );
        family(
            "received_octets_total",
            "counter",
            "Their octets, destination address to FCS.",
            &ports(&|port| port.received_octets.to_string()),
        );
        family(
            "sent_frames_total",
            "counter",
            "Frames that the interface took.",
            &ports(&|port| port.sent.to_string()),
        );
        family(
            "sent_octets_total",
            "counter",
            "Their octets, destination address to FCS.",
            &ports(&|port| port.sent_octets.to_string()),
        );
        family(
            "busy_seconds_total",
            "counter",
            "Time with the described line taken.",
            &ports(&|port| seconds(port.busy.as_ps().into())),
        );
        family(
            "socket_lost_frames_total",
            "counter",
            "Frames that came and were not read in time.",
            &ports(&|port| port.socket_lost.to_string()),
        );
        let dropped: Vec<_> = status
            .ports
            .iter()
            .flat_map(|port| port.drops.iter().map(move |drops| (port, drops)))
            .map(|(port, drops)| {
                let class = drops.class.map(|class| format!(",class=\"{class}\"")).unwrap_or_default();
                (
                    format!("{}{class},reason=\"{}\"", self.labels(port), drops.reason),
                    drops.frames.to_string(),
                )
            })
            .collect();
        family("dropped_frames_total", "counter", "Frames that were dropped, by reason.", &dropped);
        let classes = |of: &dyn Fn(&ClassStatus) -> String| -> Vec<(String, String)> {
            let all =
                status.ports.iter().flat_map(|port| port.classes.iter().map(move |class| (port, class)));
            all.map(|(port, class)| (format!("{},class=\"{}\"", self.labels(port), class.class), of(class)))
                .collect()
        };
        family(
            "waiting_frames",
            "gauge",
            "Frames that wait in the queue of a class.",
            &classes(&|class| class.waiting.to_string()),
        );
        family(
            "waiting_frames_max",
            "gauge",
            "Most frames that have waited.",
            &classes(&|class| class.waiting_max.to_string()),
        );
        family(
            "waiting_octets_max",
            "gauge",
            "Most octets that have waited.",
            &classes(&|class| class.waiting_octets_max.to_string()),
        );
        let mut residence = Vec::new();
        for (port, class) in
            status.ports.iter().flat_map(|port| port.classes.iter().map(move |class| (port, class)))
        {
            let labels = format!("{},class=\"{}\"", self.labels(port), class.class);
            if class.sent > 0 {
                for (quantile, value) in
                    [("0.5", class.residence.p50), ("0.99", class.residence.p99), ("1", class.residence.max)]
                {
                    residence
                        .push((format!("{labels},quantile=\"{quantile}\""), seconds(value.as_ps().into())));
                }
            }
            residence.push((format!("_sum|{labels}"), seconds(class.residence_sum_ps)));
            residence.push((format!("_count|{labels}"), class.sent.to_string()));
        }
        family(
            "residence_seconds",
            "summary",
            "From the kernel's stamp of reception to the transmission.",
            &residence,
        );
        let streams: Vec<_> = status
            .streams
            .iter()
            .flat_map(|(stream, seen)| {
                let name = &self.network.streams[stream.index()].name;
                [("received", seen.received), ("sent", seen.sent), ("dropped", seen.dropped)].map(
                    |(what, frames)| (format!(",stream=\"{name}\",frames=\"{what}\""), frames.to_string()),
                )
            })
            .collect();
        if let Some(time) = &status.time {
            let capable: Vec<_> = status
                .ports
                .iter()
                .zip(&time.ports)
                .map(|(port, time)| (self.labels(port), u8::from(time.is_capable).to_string()))
                .collect();
            family("gptp_capable", "gauge", "Whether gPTP runs over the link (asCapable).", &capable);
            let is_grandmaster = u8::from(time.is_grandmaster).to_string();
            family(
                "gptp_grandmaster",
                "gauge",
                "Whether it is the grandmaster.",
                &[(String::new(), is_grandmaster)],
            );
        }
        family("stream_frames_total", "counter", "Frames of described streams.", &streams);
        text
    }

    fn labels(&self, port: &PortStatus) -> String {
        let (name, interface) = self.port(port);
        format!(",port=\"{name}\",interface=\"{interface}\"")
    }

    /// For people: a line for each port, then what was dropped.
    pub(super) fn table(&self, status: &BridgeStatus) -> String {
        let mut text = String::new();
        for port in &status.ports {
            let (name, interface) = self.port(port);
            let _ = writeln!(
                text,
                "port {name} on {interface}: {} frames received, {} sent",
                port.received, port.sent
            );
            for class in port.classes.iter().filter(|class| class.sent > 0) {
                let [p50, p99, max] =
                    [class.residence.p50, class.residence.p99, class.residence.max].map(microseconds);
                let _ = writeln!(
                    text,
                    "  class {}: {} sent, at most {} waited; residence median {p50}, 99 % {p99}, max {max} us",
                    class.class, class.sent, class.waiting_max
                );
            }
            for Drops { class, reason, frames } in &port.drops {
                let class = class.map(|class| format!(" in class {class}")).unwrap_or_default();
                let _ = writeln!(text, "  {frames} dropped{class}: {reason}");
            }
            if port.socket_lost > 0 {
                let _ = writeln!(text, "  {} not read in time", port.socket_lost);
            }
        }
        if let Some(time) = &status.time {
            let master = match time.grandmaster {
                _ if time.is_grandmaster => "itself".to_owned(),
                Some(master) => identity(master),
                None => "none".to_owned(),
            };
            let roles: Vec<&str> = time.ports.iter().map(|port| port.role).collect();
            let _ = writeln!(text, "gPTP: grandmaster {master}; ports {}", roles.join(", "));
        }
        let late = status.lateness;
        let [p50, p99, max] = [late.p50, late.p99, late.max].map(microseconds);
        let _ = writeln!(text, "transmissions late by median {p50}, 99 % {p99}, max {max} us");
        text
    }
}

fn class(class: &ClassStatus) -> Value {
    json!({
        "class": class.class,
        "waiting_frames": class.waiting,
        "waiting_frames_max": class.waiting_max,
        "waiting_octets_max": class.waiting_octets_max,
        "sent_frames": class.sent,
        "residence": spread(class.residence),
    })
}

fn time(time: &TimeStatus) -> Value {
    let port = |port: &TimePort| {
        json!({
            "role": port.role,
            "capable": port.is_capable,
            "mean_link_delay_ps": port.delay.map(|delay| delay.as_ps()),
            "neighbour_rate_ppb": port.neighbour_ppb,
        })
    };
    json!({
        "grandmaster": time.grandmaster.map(identity),
        "is_grandmaster": time.is_grandmaster,
        "reading_ps": time.reading_ps,
        // More than 64 bits since the epoch: whole nanoseconds, rounded down.
        "grandmaster_ns": time.grandmaster_ps.and_then(|ps| i64::try_from(ps.div_euclid(1000)).ok()),
        "ports": time.ports.iter().map(port).collect::<Vec<Value>>(),
    })
}

/// A clock's identity as tools of PTP show it.
fn identity(octets: [u8; 8]) -> String {
    let [a, b, c, d, e, f, g, h] = octets;
    format!("{a:02x}{b:02x}{c:02x}.{d:02x}{e:02x}.{f:02x}{g:02x}{h:02x}")
}

fn drops(drops: &Drops) -> Value {
    json!({"class": drops.class, "reason": drops.reason, "frames": drops.frames})
}

fn spread(spread: Spread) -> Value {
    json!({"p50_ps": spread.p50.as_ps(), "p99_ps": spread.p99.as_ps(), "max_ps": spread.max.as_ps()})
}

/// Seconds of picoseconds, exactly.
fn seconds(ps: u128) -> String {
    format!("{}.{:012}", ps / 1_000_000_000_000, ps % 1_000_000_000_000)
}

/// Microseconds, rounded down to a nanosecond.
fn microseconds(span: tautwire_workbench::Duration) -> String {
    let ns = span.as_ps() / 1000;
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// The last texts: metrics, and JSON.
type Texts = Arc<Mutex<[String; 2]>>;

/// Where it is shown.
pub(super) struct Shown {
    folder: Option<PathBuf>,
    address: Option<SocketAddr>,
    texts: Texts,
}

impl Shown {
    /// In a folder and on an address, if they are given; the error is a sentence.
    pub(super) fn new(folder: Option<&Path>, listen: Option<SocketAddr>) -> Result<Self, String> {
        if let Some(folder) = folder {
            fs::create_dir_all(folder)
                .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        }
        let texts = Texts::default();
        let mut address = None;
        if let Some(listen) = listen {
            let no = |error: io::Error| format!("cannot listen on {listen}: {error}");
            let listener = TcpListener::bind(listen).map_err(no)?;
            address = Some(listener.local_addr().map_err(no)?);
            let texts = Arc::clone(&texts);
            thread::Builder::new()
                .name("http".to_owned())
                .spawn(move || serve(&listener, &texts))
                .map_err(no)?;
        }
        Ok(Self { folder: folder.map(Path::to_owned), address, texts })
    }

    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Shows what was counted.
    pub(super) fn publish(&self, named: Named<'_>, status: &BridgeStatus) -> io::Result<()> {
        if self.folder.is_none() && self.address.is_none() {
            return Ok(());
        }
        let texts = [named.metrics(status), named.json(status)];
        if let Some(folder) = &self.folder {
            replace(folder, "metrics.prom", &texts[0])?;
            replace(folder, "status.json", &texts[1])?;
        }
        *self.texts.lock().unwrap_or_else(PoisonError::into_inner) = texts;
        Ok(())
    }
}

/// Replaces a file by a whole one.
fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let temporary = folder.join(format!(".{name}.new"));
    fs::write(&temporary, text)?;
    fs::rename(&temporary, folder.join(name))
}

/// Answers one client after the other: the one that is slow delays others by little.
fn serve(listener: &TcpListener, texts: &Texts) {
    for client in listener.incoming() {
        match client {
            Ok(client) => {
                // A client that has gone is no fault.
                let _ = answer(client, texts);
            }
            Err(_) => thread::sleep(PATIENCE),
        }
    }
}

fn answer(mut client: TcpStream, texts: &Texts) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 512];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST_MAX {
        match client.read(&mut part)? {
            0 => break,
            read => request.extend_from_slice(&part[..read]),
        }
    }
    let line = String::from_utf8_lossy(&request);
    let line = line.lines().next().unwrap_or_default();
    let [metrics, document] = texts.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (status, kind, body) = match line.split(' ').collect::<Vec<_>>()[..] {
        ["GET", "/metrics", _] => ("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics),
        ["GET", "/status.json", _] => ("200 OK", "application/json", document),
        ["GET", ..] => ("404 Not Found", "text/plain", "/metrics and /status.json are there\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", "only GET is answered\n".to_owned()),
    };
    let length = body.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is answered to a request.
    fn asked(address: SocketAddr, request: &str) -> String {
        let mut client = TcpStream::connect(address).expect("it listens");
        client.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it ends");
        answer
    }

    #[test]
    fn http_has_two_documents_for_those_that_ask_properly() {
        let any = "127.0.0.1:0".parse().expect("an address");
        let shown = Shown::new(None, Some(any)).expect("a port is free");
        let address = shown.address().expect("it listens");
        *shown.texts.lock().expect("no panic") = ["metrics\n".to_owned(), "{}\n".to_owned()];
        let metrics = asked(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(
            metrics.starts_with("HTTP/1.1 200 OK\r\n") && metrics.ends_with("\r\n\r\nmetrics\n"),
            "{metrics}"
        );
        assert!(asked(address, "GET /status.json HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n{}\n"));
        assert!(asked(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(asked(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        // One that sends too much, or half and goes, is no harm to the next.
        let _ = TcpStream::connect(address).and_then(|mut client| client.write_all(b"GET /met"));
        let _ = TcpStream::connect(address).and_then(|mut client| client.write_all(&[b'x'; 2 * REQUEST_MAX]));
        assert!(asked(address, "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
    }

    #[test]
    fn spans_are_written_exactly() {
        assert_eq!(seconds(1_500_000_000_001), "1.500000000001");
        assert_eq!(microseconds(tautwire_workbench::Duration::from_ns(12_345)), "12.345");
    }
}
