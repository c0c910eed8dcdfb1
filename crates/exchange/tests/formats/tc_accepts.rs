//! `tc` of this machine takes the commands, in a namespace of the test's own. Where the kernel lacks a discipline, `tc` itself has understood the
//! command before the kernel refuses it; a command that it does not understand fails the test.

use std::io::Write as _;
use std::process::Command;

use tautwire_linux::{End, Namespace, add_pair};

use crate::common::{networks, written};

/// What a kernel without a discipline, classifier or action, or a device with too few queues, says to a command that `tc` understood.
const LACKS: [&str; 7] = [
    "Specified qdisc kind is unknown",
    "Failed to find specified qdisc",
    "Failed to find qdisc with specified classid",
    "TC classifier not found",
    "Failed to load TC action module",
    "Failed to load classifier module",
    "Multi-queue device is required",
];

/// The exit code of `tc` where the kernel refused; of what it does not understand itself it is another one.
const REFUSED: i32 = 2;

#[test]
fn tc_understands_every_command() {
    let has_tc = Command::new("tc").arg("-V").output().is_ok_and(|output| output.status.success());
    let Some(namespace) = Namespace::new().ok().filter(|_| has_tc) else {
        std::io::stderr().write_all(b"SKIPPED: no tc (package iproute2), or no namespace\n").unwrap();
        return;
    };
    let peer = Namespace::new().unwrap();
    let end = |namespace, name: &str, last| End {
        namespace,
        name: name.to_owned(),
        address: [2, 0xbb, 0, 0, 0, last],
        mtu: 1504,
    };
    add_pair(&end(&namespace, "e0", 1), &end(&peer, "e1", 2)).unwrap();
    let (mut taken, mut lacked) = (0, 0);
    let kinds = [
        "scheduled-traffic",
        "credit-based",
        "filtering-and-policing",
        "in-vehicle",
        "cyclic.",
        "gates-to-be",
    ];
    for (name, network) in networks(0) {
        if !kinds.iter().any(|kind| name.contains(kind)) {
            continue;
        }
        let mut texts: Vec<String> = Vec::new();
        for line in written("tc", &network).text.lines().filter(|line| line.starts_with("  tc ")) {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            let Some(device) = words.iter().position(|word| *word == "dev") else { panic!("{line}") };
            words[device + 1] = "e0";
            let text = words.join(" ");
            // Ports alike give the same commands.
            if texts.len() < 60 && !texts.contains(&text) {
                texts.push(text);
            }
        }
        for text in texts {
            // max-sdu came with iproute2 6.2.
            let text = without_max_sdu(&text);
            let output = namespace.inside(|| Command::new("sh").arg("-c").arg(&text).output()).unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() {
                taken += 1;
            } else {
                assert_eq!(output.status.code(), Some(REFUSED), "{name}: {text}\n{said}");
                assert!(LACKS.iter().any(|lack| said.contains(lack)), "{name}: {text}\n{said}");
                lacked += 1;
            }
        }
    }
    println!("{taken} taken, {lacked} understood, but lacking in this kernel");
    assert!(taken > 10 && taken + lacked > 60, "{taken} {lacked}");
}

/// The command without the sizes of `max-sdu`.
fn without_max_sdu(text: &str) -> String {
    let mut words = Vec::new();
    let mut is_sizes = false;
    for word in text.split(' ') {
        is_sizes = word == "max-sdu" || is_sizes && word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_sizes {
            words.push(word);
        }
    }
    words.join(" ")
}
