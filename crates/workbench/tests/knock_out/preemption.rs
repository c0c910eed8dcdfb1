//! Frame preemption: the scenario fails without it.

use super::answers;

/// The scenario's orders keep their deadline because large frames are cut, and only because these are preemptable and small parts of them are enough.
#[test]
fn the_cuts_of_frame_preemption() {
    let text = include_str!("../../../../scenarios/frame-preemption.yaml");
    assert_eq!(answers(text), (true, true), "proven and kept with preemption");
    for without in
        [text.replace("add-frag-size: 0", "enable-tx: false"), text.replace("preemptable", "express")]
    {
        assert_eq!(answers(&without), (false, false), "an order is late without preemption");
    }
    let larger = text.replace("add-frag-size: 0", "add-frag-size: 3");
    assert!(!answers(&larger).0, "fragments of 252 octets block for too long");
}

/// Behind gates the window of an order is shorter than an order and what of a large frame is not cut: holds keep it free, and preemption does.
#[test]
fn the_holds_of_gates() {
    let text = include_str!("../../../../scenarios/scheduled-preemption.yaml");
    assert_eq!(answers(text), (true, true), "proven and kept with preemption behind gates");
    assert_eq!(
        answers(&text.replace("preemptable", "express")),
        (false, false),
        "an order misses its window"
    );
    let unheld = text.replace("set-and-hold-mac", "set-gate-states");
    assert!(!answers(&unheld).0, "what of a frame is not cut may take the window");
}
