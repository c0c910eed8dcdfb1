//! How a bound, or the worst frame of a run, came about.

use crate::common::{folder, tautwire};
use crate::small;

#[test]
fn a_bound_is_explained_hop_by_hop() {
    let folder = folder("explain-bound");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["bounds", "small.yaml", "--explain", "video"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    insta::assert_snapshot!("explain_bound", ended.stdout);
}

#[test]
fn a_program_that_gave_a_bound_is_named() {
    let folder = folder("explain-path");
    let crafted = include_str!("../../../workbench/tests/cases/inputs/paths/long-bursts.yaml");
    std::fs::write(folder.join("long.yaml"), crafted).expect("a file");
    let explained = |method: &str| {
        tautwire(&folder, &["bounds", "long.yaml", "--method", method, "--explain", "own"]).stdout
    };
    let (fast, tight) = (explained("fast"), explained("tight"));
    assert!(tight.contains("by the linear program of its path"), "{tight}");
    assert!(!fast.contains("linear program"), "{fast}");
    let listed = tautwire(&folder, &["bounds", "long.yaml", "--method", "tight", "--json"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(listed.stdout.contains(r#""method": "path-program""#), "{}", listed.stdout);
}

#[test]
fn the_story_of_the_worst_frame_adds_up() {
    let folder = folder("explain-run");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["simulate", "small.yaml", "--explain", "loop"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    insta::assert_snapshot!("explain_run", ended.stdout);
}

#[test]
fn an_unknown_stream_gets_similar_names() {
    let folder = folder("unknown-stream");
    small(&folder, "500 us");
    for command in ["bounds", "simulate"] {
        let ended = tautwire(&folder, &[command, "small.yaml", "--explain", "vidio"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
        assert_eq!(ended.stderr, "tautwire: no stream `vidio`; nearest: video, loop\n");
    }
}
