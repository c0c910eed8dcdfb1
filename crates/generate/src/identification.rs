//! Stream identification of drawn streams (IEEE Std 802.1CB-2017 and 802.1CBdb-2021, clause 6): functions that match all of their own frames,
//! and sometimes those of others; IPv4 addresses, of which several streams have the same.

use std::fmt::Write as _;

use crate::Dice;

/// All functions.
pub(crate) const FUNCTIONS: [&str; 4] =
    ["null-stream", "smac-vlan-stream", "ip-stream", "mask-and-match-stream"];

/// Octets of the headers of IPv4 and UDP.
const HEADERS: u64 = 28;

/// Keys of a stream whose frames have so much MAC client data at least: addresses of IPv4 or none, and functions, or none.
pub(crate) fn keys(dice: &mut Dice, payload_min: u64, known: &[&str]) -> String {
    let mut text = String::new();
    let has_ip = payload_min >= HEADERS && dice.chance(70);
    if has_ip {
        let port = dice.between(1, 3);
        let _ = write!(text, ", {}", udp(dice, port));
    }
    if dice.chance(60) {
        let count = *dice.one_of(&[1, 1, 2]);
        let all: Vec<String> = (0..count).filter_map(|_| function(dice, has_ip, known)).collect();
        match &all[..] {
            [] => {}
            [one] => {
                let _ = write!(text, ", identification: {one}");
            }
            several => {
                let _ = write!(text, ", identification: [{}]", several.join(", "));
            }
        }
    }
    text
}

/// Addresses with this destination port.
pub(crate) fn udp(dice: &mut Dice, port: u64) -> String {
    let dscp = *dice.one_of(&["", "", ", dscp: 46"]);
    format!(
        "udp: {{source: 10.0.0.1, destination: 10.0.0.2, source-port: 9, destination-port: {port}{dscp}}}"
    )
}

/// A function that matches frames with IPv4 or without; none if it would not be known.
fn function(dice: &mut Dice, has_ip: bool, known: &[&str]) -> Option<String> {
    let function = *dice.one_of(&FUNCTIONS);
    if !known.contains(&function) || function == "ip-stream" && !has_ip {
        return None;
    }
    let mut text = format!("{{type: {function}-identification");
    match function {
        "null-stream" | "smac-vlan-stream" => {
            let tags = ["", ", tagged: all", ", tagged: all, vlan: any", ", vlan: any"];
            let drawn: &&str = dice.one_of(&tags);
            text.push_str(drawn);
        }
        "ip-stream" => {
            let all = [
                "destination-mac",
                "vlan",
                "ip-source",
                "ip-destination",
                "dscp",
                "next-protocol",
                "source-port",
                "destination-port",
            ];
            let fields: Vec<&str> = all.into_iter().filter(|_| dice.chance(30)).collect();
            if !fields.is_empty() {
                let _ = write!(text, ", fields: [{}]", fields.join(", "));
            }
        }
        _ => {
            let addresses = [
                ", destination-mac-mask: \"ff:ff:ff:ff:ff:ff\"",
                ", source-mac-mask: \"00:00:00:00:00:ff\"",
                ", destination-mac-mask: \"01:00:00:00:00:00\"",
                ", source-mac-mask: \"01:00:00:00:00:00\", source-mac-match: \"00:00:00:00:00:00\"",
            ];
            let drawn: &&str = dice.one_of(&addresses);
            text.push_str(drawn);
            // EtherType, DSCP, destination port.
            let data = if has_ip {
                [
                    ", msdu-mask: \"ffff\"",
                    ", msdu-mask: \"ffff\", msdu-match: \"0800\"",
                    ", msdu-mask: \"ffff00fc\"",
                    ", msdu-mask: \"ffff00000000000000000000000000000000000000000000ffff\"",
                ]
            } else {
                ["", "", ", msdu-mask: \"ffff\"", ", msdu-mask: \"ff\", msdu-match: \"88\""]
            };
            let drawn: &&str = dice.one_of(&data);
            text.push_str(drawn);
        }
    }
    Some(text + "}")
}

/// Streams with copies by functions of which no other stream's frames match one: a part of them has a destination of its own and, if frames are
/// large enough, addresses of IPv4, which a sequence tag may hide.
pub(crate) fn of_copies(text: &str, dice: &mut Dice) -> String {
    let mut parts = text.split("  - name: s");
    let mut with = parts.next().unwrap_or_default().to_owned();
    for (number, part) in parts.enumerate() {
        with.push_str("  - name: s");
        if !dice.chance(50) {
            with.push_str(part);
            continue;
        }
        let least =
            part.split("payload: {min: ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
        let has_ip = least.is_some_and(|least: u64| least >= HEADERS) && dice.chance(75);
        let mut keys = String::new();
        if !part.contains("    destination: ") {
            let _ = writeln!(keys, "    destination: \"03:00:00:02:{number:02x}:00\"");
        }
        let address = *dice.one_of(&[
            "{type: null-stream-identification}",
            "{type: mask-and-match-stream-identification, destination-mac-mask: \"ff:ff:ff:ff:ff:ff\"}",
            "{type: mask-and-match-stream-identification, destination-mac-mask: \"ff:ff:ff:ff:ff:ff\", msdu-mask: \"ffff\"}",
        ]);
        if has_ip {
            let _ = writeln!(keys, "    {}", udp(dice, 1_000 + number as u64));
            let _ = writeln!(keys, "    identification: [{{type: ip-stream-identification}}, {address}]");
        } else {
            let _ = writeln!(keys, "    identification: {address}");
        }
        let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
        let _ = write!(with, "{name}\n{keys}{rest}");
    }
    with
}
