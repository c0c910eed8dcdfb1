//! What a bridge has counted, in the text format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

use tautwire_live::{BridgeFiltersObservation, BridgeStatus, ClassStatus, PortStatus};

use super::bridge_status::Named;

/// Names and values.
type Labels<'a> = Vec<(&'static str, &'a str)>;
/// A family of samples: its name behind `tautwire_bridge_`, its type, what it is, and a sample of a `T`.
type Family<T> = (&'static str, &'static str, &'static str, fn(&T) -> String);

const OF_PORTS: [Family<PortStatus>; 8] = [
    ("received_frames_total", "counter", "Frames that came.", |port| port.received.to_string()),
    ("received_octets_total", "counter", "Their octets, destination address to FCS.", |port| {
        port.received_octets.to_string()
    }),
    ("consumed_frames_total", "counter", "Frames that came for the bridge itself.", |port| {
        port.consumed.to_string()
    }),
    ("made_frames_total", "counter", "Frames that the bridge made itself.", |port| port.made.to_string()),
    ("sent_frames_total", "counter", "Frames that the interface took.", |port| port.sent.to_string()),
    ("sent_octets_total", "counter", "Their octets, destination address to FCS.", |port| {
        port.sent_octets.to_string()
    }),
    ("busy_seconds_total", "counter", "Time with the described line taken.", |port| {
        seconds(port.busy.as_ps().into())
    }),
    ("socket_lost_frames_total", "counter", "Frames that came and were not read in time.", |port| {
        port.socket_lost.to_string()
    }),
];

const OF_CLASSES: [Family<ClassStatus>; 3] = [
    ("waiting_frames", "gauge", "Frames that wait in the queue of a class.", |class| {
        class.waiting.to_string()
    }),
    ("waiting_frames_max", "gauge", "Most frames that have waited.", |class| class.waiting_max.to_string()),
    ("waiting_octets_max", "gauge", "Most octets that have waited.", |class| {
        class.waiting_octets_max.to_string()
    }),
];

/// The text of a bridge.
pub(super) fn metrics(named: Named<'_>, status: &BridgeStatus) -> String {
    let mut text = Text { bridge: named.bridge(), text: String::new() };
    text.family("uptime_seconds", "counter", "Time since the start.");
    text.sample("uptime_seconds", &[], &seconds(status.uptime.as_ps().into()));
    text.family("inside_frames", "gauge", "Frames that came and have neither gone nor been dropped.");
    text.sample("inside_frames", &[], &status.inside.to_string());
    let ports: Vec<(&PortStatus, Labels<'_>)> = status
        .ports
        .iter()
        .map(|port| {
            let (name, interface) = named.port(port);
            (port, vec![("port", name), ("interface", interface)])
        })
        .collect();
    for (name, kind, help, of) in OF_PORTS {
        text.family(name, kind, help);
        ports.iter().for_each(|(port, labels)| text.sample(name, labels, &of(port)));
    }
    let name = "dropped_frames_total";
    text.family(name, "counter", "Frames that were dropped, by reason.");
    for (port, labels) in &ports {
        for drops in &port.drops {
            let class = drops.class.map(|class| class.to_string());
            let class = class.as_deref().map(|class| ("class", class));
            let labels: Labels<'_> =
                labels.iter().copied().chain(class).chain([("reason", drops.reason)]).collect();
            text.sample(name, &labels, &drops.frames.to_string());
        }
    }
    for (name, kind, help, of) in OF_CLASSES {
        text.family(name, kind, help);
        text.classes(&ports, |text, class, labels| text.sample(name, labels, &of(class)));
    }
    text.family("residence_seconds", "summary", "From the kernel's stamp of reception to the transmission.");
    text.classes(&ports, |text, class, labels| {
        let of = class.residence;
        for (quantile, value) in [("0.5", of.p50), ("0.99", of.p99), ("1", of.max)] {
            if class.sent > 0 {
                let labels = [labels, &[("quantile", quantile)]].concat();
                text.sample("residence_seconds", &labels, &seconds(value.as_ps().into()));
            }
        }
        text.sample("residence_seconds_sum", labels, &seconds(class.residence_sum_ps));
        text.sample("residence_seconds_count", labels, &class.sent.to_string());
    });
    if let Some(time) = &status.time {
        text.family("gptp_capable", "gauge", "Whether gPTP runs over the link (asCapable).");
        for ((_, labels), port) in ports.iter().zip(&time.ports) {
            text.sample("gptp_capable", labels, &u8::from(port.is_capable).to_string());
        }
        text.family("gptp_grandmaster", "gauge", "Whether it is the grandmaster.");
        text.sample("gptp_grandmaster", &[], &u8::from(time.is_grandmaster).to_string());
    }
    if let Some(filters) = &status.filters {
        text.filters(filters);
    }
    text.family("stream_frames_total", "counter", "Frames of described streams.");
    for (stream, seen) in &status.streams {
        let name = named.network.streams[stream.index()].name.as_str();
        for (what, frames) in [("received", seen.received), ("sent", seen.sent), ("dropped", seen.dropped)] {
            text.sample("stream_frames_total", &[("stream", name), ("frames", what)], &frames.to_string());
        }
    }
    text.text
}

struct Text<'a> {
    bridge: &'a str,
    text: String,
}

impl Text<'_> {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ =
            writeln!(self.text, "# HELP tautwire_bridge_{name} {help}\n# TYPE tautwire_bridge_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&'static str, &str)], value: &str) {
        let _ = write!(self.text, "tautwire_bridge_{name}{{bridge=\"{}\"", escaped(self.bridge));
        for (label, value) in labels {
            let _ = write!(self.text, ",{label}=\"{}\"", escaped(value));
        }
        let _ = writeln!(self.text, "}} {value}");
    }

    /// What stream filters have counted, and the state of stream gates.
    fn filters(&mut self, filters: &BridgeFiltersObservation) {
        self.family("stream_filter_frames_total", "counter", "Frames that found a stream filter.");
        for (id, counters, _) in &filters.filters {
            let counts = [
                ("matching", counters.matching),
                ("passing_sdu", counters.passing_sdu),
                ("not_passing_sdu", counters.not_passing_sdu),
                ("passing", counters.passing),
                ("not_passing", counters.not_passing),
                ("red", counters.red),
            ];
            let id = id.to_string();
            for (what, frames) in counts {
                let labels = [("stream_filter", id.as_str()), ("frames", what)];
                self.sample("stream_filter_frames_total", &labels, &frames.to_string());
            }
        }
        self.family(
            "stream_filter_blocked",
            "gauge",
            "Whether an oversize frame has blocked a stream filter.",
        );
        for (id, _, is_blocked) in &filters.filters {
            let value = u8::from(*is_blocked).to_string();
            self.sample("stream_filter_blocked", &[("stream_filter", &id.to_string())], &value);
        }
        if filters.gates.is_empty() {
            return;
        }
        self.family("stream_gate_open", "gauge", "Whether a stream gate is open by its list.");
        for gate in &filters.gates {
            let value = u8::from(gate.open).to_string();
            self.sample("stream_gate_open", &[("stream_gate", &gate.id.to_string())], &value);
        }
    }

    /// Does the same for each class of each port.
    fn classes(
        &mut self,
        ports: &[(&PortStatus, Labels<'_>)],
        each: impl Fn(&mut Self, &ClassStatus, &[(&'static str, &str)]),
    ) {
        for (port, labels) in ports {
            for class in &port.classes {
                let number = class.class.to_string();
                each(self, class, &[labels, &[("class", number.as_str())][..]].concat());
            }
        }
    }
}

/// A label's value, as written between quotes.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

/// Seconds of picoseconds, exactly.
fn seconds(ps: u128) -> String {
    format!("{}.{:012}", ps / 1_000_000_000_000, ps % 1_000_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_written_exactly() {
        assert_eq!(seconds(1_500_000_000_001), "1.500000000001");
    }

    #[test]
    fn a_name_with_quotes_stays_one_value() {
        assert_eq!(escaped("a\"b\\c"), r#"a\"b\\c"#);
    }
}
