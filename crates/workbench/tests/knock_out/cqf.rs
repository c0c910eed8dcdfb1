//! Cyclic queuing and forwarding: the scenario fails without it.

use super::answers;

/// Cycles prove the deadlines of the scenario, and that no frame is early. Without cycles frames are early.
#[test]
fn the_cycles_of_the_sensors() {
    let text = include_str!("../../../../scenarios/cyclic.yaml");
    let (proven, kept) = answers(text);
    assert!(proven && kept, "cycles bound every delay");
    let section = text.find("cyclic-queuing-and-forwarding:").expect("the section");
    let end = text.find("nodes:").expect("the nodes");
    let least = |text: &str| {
        let network = super::load_text("cycles", text).network.expect("no errors");
        let observation = super::simulate(&network, &mut super::Options::default());
        observation.streams[0].listeners[0].delay.min().expect("a frame")
    };
    let without = format!("{}{}", &text[..section], &text[end..]);
    assert!(least(&without) * 2 < least(text), "without cycles a frame may come early");
}

/// Two buffers have no dead time for lines that are longer than a cycle.
#[test]
fn the_third_buffer_of_long_lines() {
    let text = include_str!("../../../../scenarios/cyclic-long-lines.yaml");
    assert_eq!(answers(text), (true, true), "three buffers bound every delay");
    let two = super::load_text("two", &text.replace("priorities: [5, 6, 7]", "priorities: [6, 7]"));
    let refused = two.diagnostics.iter().any(|one| one.code == "cyclic::dead-time");
    assert!(refused && two.network.is_none(), "{:#?}", two.diagnostics);
}

/// With frames that cannot be cut a cycle has no room for the others.
#[test]
fn the_cut_frames_behind_which_cycles_fit() {
    let text = include_str!("../../../../scenarios/cyclic-preemption.yaml");
    assert_eq!(answers(text), (true, true), "what of a picture is not cut leaves room");
    let whole = super::load_text("whole", &text.replace("priority1: preemptable", "priority1: express"));
    let refused = whole.diagnostics.iter().any(|one| one.code == "cyclic::load");
    assert!(refused && whole.network.is_none(), "{:#?}", whole.diagnostics);
}
