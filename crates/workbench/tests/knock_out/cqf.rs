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
