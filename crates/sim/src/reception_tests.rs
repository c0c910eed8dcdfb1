//! Functions at the reception of frames: their order and what they may change.

use std::cell::RefCell;
use std::rc::Rc;

use tautwire_core::Priority;

use super::*;
use crate::options::Options;
use crate::recorder::NoRecorder;

type Heard = Rc<RefCell<Vec<(u32, u32, u32)>>>;

/// Functions at all nodes: they discard every second frame at end stations, and give others an internal priority.
struct Odd {
    heard: Heard,
    bridge: NodeIndex,
}

impl AtReception for Odd {
    fn is_at(&self, _: NodeIndex) -> bool {
        true
    }

    fn judge(&mut self, frame: &mut Arrived<'_>) -> Result<(), DropReason> {
        let slot = &mut frame.slot;
        assert_eq!(slot.marks.internal_priority(), None, "what another node gave it counts here no more");
        assert_eq!(frame.client_data + 22, frame.octets);
        self.heard.borrow_mut().push((frame.node.0, slot.stream, slot.number));
        if frame.node != self.bridge {
            let passes = slot.number.is_multiple_of(2);
            return if passes { Ok(()) } else { Err(DropReason::PolicedRate) };
        }
        slot.marks.set_internal_priority(Priority::new(6));
        slot.marks.set_drop_eligible(true);
        Ok(())
    }

    fn marks(&self, network: &Network, _: StreamIndex, hop: &Hop) -> bool {
        network.ports[hop.port.index()].node == self.bridge
    }

    fn start(&mut self, _: NodeIndex, _: Instant) {}

    fn follow(&mut self, _: NodeIndex, _: Instant, _: GateTime) {}

    fn act(&mut self, _: &TimelineAction, _: &dyn Fn(NodeIndex) -> Instant) {}

    fn finish(self: Box<Self>, _: &dyn Fn(NodeIndex) -> Instant, _: &mut Observation) {}
}

/// A long frame and a short one by two ports: the short one begins later, and its last bit is in before.
#[test]
fn frames_are_judged_in_the_order_of_their_last_bits_over_all_ports() {
    let text = "vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge, device: ideal}, c: {type: end-station}}
links: [{between: [a, s]}, {between: [b, s]}, {between: [s, c]}]
streams:
  - {name: long, talker: a, listeners: c, priority: 2, frame: 1522 B, traffic: {type: periodic, interval: 10 ms}}
  - {name: short, talker: b, listeners: c, priority: 3, frame: 68 B, traffic: {type: periodic, interval: 10 ms, offset: 20 us}}
run: {duration: 39 ms}
";
    let loaded = tautwire_model::load_text("receptions", text);
    let network = loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let [bridge, listener] = ["s", "c"]
        .map(|name| NodeIndex::at(network.nodes.iter().position(|node| node.name == name).unwrap()));
    let heard = Heard::default();
    let (mut options, mut recorder) = (Options::default(), NoRecorder);
    let mut engine = Engine::<_, true>::new(&network, &mut options, &mut recorder);
    engine.plugged().receptions.0.push(Box::new(Odd { heard: Rc::clone(&heard), bridge }));
    engine.begin_receptions();
    let seen = engine.run();
    let at_bridge: Vec<(u32, u32)> = heard
        .borrow()
        .iter()
        .filter(|(node, ..)| *node == bridge.0)
        .map(|(_, stream, number)| (*stream, *number))
        .collect();
    let by_turns: Vec<(u32, u32)> = (0..4).flat_map(|number| [(1, number), (0, number)]).collect();
    assert_eq!(at_bridge, by_turns);
    for stream in &seen.streams {
        let lost = [(DropReason::PolicedRate, 2)];
        assert_eq!((stream.delivered, &stream.dropped[..]), (2, &lost[..]));
        assert_eq!(stream.listeners[0].dropped, lost);
    }
    let port = network.streams[0].hops[1].port.index();
    assert_eq!(network.ports[network.streams[0].hops[1].port.index()].node, bridge);
    let classes: Vec<u64> = seen.ports[port].classes.iter().map(|class| class.frames).collect();
    assert_eq!(classes, [0, 0, 0, 0, 0, 0, 8, 0], "all by the class of the internal priority");
    assert_eq!(heard.borrow().iter().filter(|(node, ..)| *node == listener.0).count(), 8);
}
