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
