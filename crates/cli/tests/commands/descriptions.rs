//! Descriptions that are checked, or written for the first time.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::common::{command, folder, tautwire};
use crate::small;

#[test]
fn check_counts_what_it_read() {
    let folder = folder("check");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["check", "small.yaml"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout, "small.yaml: 4 nodes, 3 links, 2 streams; no faults\n");
    let ended = tautwire(&folder, &["check", "small.yaml", "--json"]);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &value["valid"]), (0, &Value::Bool(true)));
}

#[test]
fn faults_are_drawn_where_they_are_all_at_once() {
    let folder = folder("faults");
    let path = small(&folder, "500 parsecs");
    let text = fs::read_to_string(&path).unwrap().replace("talker: camera", "talker: camra");
    fs::write(&path, text).unwrap();
    let ended = tautwire(&folder, &["check", "small.yaml"]);
    assert_eq!(ended.code, 2);
    insta::assert_snapshot!("faults", ended.stderr);
}

#[test]
fn a_first_description_is_written_and_holds() {
    let folder = folder("new");
    let list = tautwire(&folder, &["new"]).stdout;
    assert_eq!(list.lines().count(), 4, "{list}");
    for line in list.lines() {
        let template = line.split_whitespace().next().unwrap();
        let file = format!("my {template}.yaml");
        let ended = tautwire(&folder, &["new", template, &file]);
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
        let verified = tautwire(&folder, &["verify", &file, "--duration", "50ms"]);
        assert_eq!(verified.code, 0, "{template}: {}{}", verified.stdout, verified.stderr);
        assert_eq!(verified.stderr.lines().count(), 1, "no warning: {}", verified.stderr);
        let text = fs::read_to_string(folder.join(&file)).unwrap();
        assert!(text.contains(&format!("name: \"my {template}\"\n")) && text.contains("  # "), "{text}");
        assert_eq!(tautwire(&folder, &["new", template, &file]).code, 2, "it is not overwritten");
    }
    assert_eq!(tautwire(&folder, &["new", "boat"]).code, 2);
    assert!(tautwire(&folder, &["new", "audio", "--name", "hall"]).stdout.contains("\nname: hall\n"));
}

#[test]
fn several_files_are_checked_and_stdin_is_one() {
    let folder = folder("check-several");
    small(&folder, "500 us");
    fs::write(folder.join("faulty.yaml"), "nodes: 3\n").unwrap();
    let ended = tautwire(&folder, &["check", "small.yaml", "faulty.yaml", "absent.yaml", "small.yaml"]);
    assert_eq!(ended.code, 2);
    assert_eq!(ended.stdout.matches("small.yaml: 4 nodes").count(), 2, "{}", ended.stdout);
    assert!(ended.stderr.contains("cannot read absent.yaml"), "{}", ended.stderr);
    let ended = tautwire(&folder, &["check", "small.yaml", "faulty.yaml", "--json"]);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&json[0]["valid"], &json[1]["valid"]), (&Value::from(true), &Value::from(false)));
    let quiet = tautwire(&folder, &["check", "--quiet", "small.yaml"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    let quiet = tautwire(&folder, &["verify", "-q", "small.yaml", "--out", "kept"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    let quiet = tautwire(&folder, &["check", "-q", "faulty.yaml"]);
    assert!(quiet.code == 2 && quiet.stdout.is_empty() && !quiet.stderr.is_empty());
    let described = fs::read(folder.join("small.yaml")).unwrap();
    for (arguments, words) in [
        (&["check", "-"][..], "-: 4 nodes"),
        (&["bounds", "-"], "2 streams: 2 proven"),
        (&["tune", "-", "--least"], "name: small"),
    ] {
        let mut child = command(&folder, arguments);
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &described).unwrap();
        let output = child.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(printed.contains(words), "{arguments:?}: {printed}");
    }
}
