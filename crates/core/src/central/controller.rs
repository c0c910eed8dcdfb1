//! The central network configuration (CNC): talkers, listeners, admitted reservations, and the bridges that are configured.
//!
//! A reservation is made for one listener of one stream at a time. The driver tests it, then every bridge on the path
//! is configured, and when all have confirmed, the users are notified. A withdrawn reservation counts as held until
//! all bridges have confirmed its removal; then refused requests are tested again, in the order in which they came. A
//! link that goes down removes the reservations over it; there is no alternative path.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use tautwire_wire::srp::{FailureCode, ListenerDeclaration};

use super::{Message, Pair, Share};

/// The resources that a stream needs at a bridge's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathShare {
    /// The bridge.
    pub bridge: u32,
    /// Where there, and what.
    pub share: Share,
}

/// The way of a stream to one listener.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    /// The resources that it needs at the bridges.
    pub shares: Vec<PathShare>,
    /// The cables it passes.
    pub cables: Vec<u32>,
}

/// The ways of a stream, per listener.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StreamPaths {
    /// In the order of the listeners.
    pub listeners: Vec<Path>,
}

/// The entity that acts for the users.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UserSide {
    /// A central user configuration, at this node.
    Configuration(u32),
    /// Edge bridges: of the talker of each stream, and of each of its listeners.
    Edges(Vec<(u32, Vec<u32>)>),
}

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ControllerAction {
    /// Send a message to a node.
    Send(u32, Message),
    /// Test whether a listener can be served, and call [`Controller::tested`]; if it can, the reservation is held.
    Test(Pair),
    /// The resources of a listener are free.
    Free(Pair),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum State {
    #[default]
    Idle,
    Testing,
    Refused(FailureCode),
    /// Bridges that have not confirmed yet.
    Configuring(BTreeSet<u32>),
    Ready,
    Releasing(BTreeSet<u32>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Listener {
    asked: bool,
    /// Position in the order of requests.
    arrived: u64,
    state: State,
}

/// The central network configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Controller {
    paths: Vec<StreamPaths>,
    users: UserSide,
    offered: BTreeSet<u32>,
    listeners: BTreeMap<Pair, Listener>,
    /// Cables that do not work.
    broken: BTreeSet<u32>,
    arrivals: u64,
    /// What the talkers' edge bridges were last configured to declare.
    declared: BTreeMap<u32, Option<ListenerDeclaration>>,
    actions: VecDeque<ControllerAction>,
}

impl Controller {
    /// A controller of these streams that knows of no request.
    #[must_use]
    pub fn new(paths: Vec<StreamPaths>, users: UserSide) -> Self {
        let mut listeners = BTreeMap::new();
        for (stream, paths) in (0..).zip(&paths) {
            for (listener, _) in (0..).zip(&paths.listeners) {
                listeners.insert(Pair { stream, listener }, Listener::default());
            }
        }
        Self {
            paths,
            users,
            offered: BTreeSet::new(),
            listeners,
            broken: BTreeSet::new(),
            arrivals: 0,
            declared: BTreeMap::new(),
            actions: VecDeque::new(),
        }
    }

    /// A message comes from a node.
    pub fn hear(&mut self, from: u32, message: &Message) {
        match message {
            Message::Offer(stream) => self.offer(*stream, true),
            Message::Withdraw(stream) => self.offer(*stream, false),
            Message::Ask(pair) => self.ask(*pair, true),
            Message::Detach(pair) => self.ask(*pair, false),
            Message::Configured { pair, reserve } => self.confirmed(from, *pair, *reserve),
            Message::Cable(cable, works) => self.cable(*cable, *works),
            _ => {}
        }
    }

    /// The result of a requested test.
    pub fn tested(&mut self, pair: Pair, verdict: Result<(), FailureCode>) {
        let wanted = self.is_wanted(pair);
        let Some(listener) = self.listeners.get_mut(&pair) else { return };
        match verdict {
            Ok(()) if wanted => self.configure(pair),
            Ok(()) => {
                listener.state = State::Idle;
                self.actions.push_back(ControllerAction::Free(pair));
                self.retry();
            }
            Err(_) if !wanted => listener.state = State::Idle,
            Err(code) => {
                listener.state = State::Refused(code);
                self.notify_users(pair, Err(code));
            }
        }
    }

    /// A node has restarted: what it received and what it requested is void.
    pub fn restarted(&mut self, node: u32) {
        let pairs: Vec<Pair> = self.listeners.keys().copied().collect();
        for pair in &pairs {
            if self.shares_at(*pair, node).is_empty() {
                continue;
            }
            match self.listeners.get_mut(pair).map(|listener| &mut listener.state) {
                Some(State::Ready) => {
                    self.notify_users(*pair, Err(FailureCode(0)));
                    self.set(*pair, State::Configuring(BTreeSet::from([node])));
                    self.configure_bridge(*pair, node, true);
                    self.notify_listeners(pair.stream);
                }
                Some(State::Configuring(bridges)) => {
                    bridges.insert(node);
                    self.configure_bridge(*pair, node, true);
                }
                Some(State::Releasing(_)) => self.confirmed(node, *pair, false),
                _ => {}
            }
        }
        match self.users.clone() {
            UserSide::Configuration(users) if users == node => {
                for stream in core::mem::take(&mut self.offered) {
                    self.settle_stream(stream);
                }
                for pair in pairs {
                    self.ask(pair, false);
                }
            }
            UserSide::Configuration(_) => {}
            UserSide::Edges(edges) => {
                for (stream, (talker, listeners)) in (0..).zip(edges) {
                    if talker == node {
                        self.declared.remove(&stream);
                        self.offer(stream, false);
                    }
                    for (listener, edge) in (0..).zip(listeners) {
                        let pair = Pair { stream, listener };
                        if edge == node {
                            self.ask(pair, false);
                            if self.offered.contains(&stream) {
                                self.send(node, Message::Available(pair, true));
                            }
                        }
                    }
                }
            }
        }
    }

    /// What the driver is to do next.
    pub fn poll(&mut self) -> Option<ControllerAction> {
        self.actions.pop_front()
    }

    /// Whether a listener is served.
    #[must_use]
    pub fn is_ready(&self, pair: Pair) -> bool {
        self.listeners.get(&pair).is_some_and(|listener| listener.state == State::Ready)
    }

    /// Whether nothing is under way.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let settled =
            |listener: &Listener| matches!(listener.state, State::Idle | State::Ready | State::Refused(_));
        self.actions.is_empty() && self.listeners.values().all(settled)
    }

    fn send(&mut self, to: u32, message: Message) {
        self.actions.push_back(ControllerAction::Send(to, message));
    }

    fn offer(&mut self, stream: u32, offers: bool) {
        let changed = if offers { self.offered.insert(stream) } else { self.offered.remove(&stream) };
        if changed {
            if let UserSide::Edges(edges) = &self.users {
                let edges = edges.get(stream as usize).map_or(Vec::new(), |(_, listeners)| listeners.clone());
                for (listener, edge) in (0..).zip(edges) {
                    self.send(edge, Message::Available(Pair { stream, listener }, offers));
                }
            }
            self.settle_stream(stream);
        }
    }

    fn ask(&mut self, pair: Pair, asks: bool) {
        let arrived = self.arrivals;
        if let Some(listener) = self.listeners.get_mut(&pair)
            && listener.asked != asks
        {
            listener.asked = asks;
            listener.arrived = arrived;
            self.arrivals += 1;
            self.settle(pair);
        }
    }

    fn cable(&mut self, cable: u32, works: bool) {
        let changed = if works { self.broken.remove(&cable) } else { self.broken.insert(cable) };
        if changed {
            for pair in self.pairs(|_| true) {
                self.settle(pair);
            }
        }
    }

    fn confirmed(&mut self, bridge: u32, pair: Pair, reserved: bool) {
        let Some(listener) = self.listeners.get_mut(&pair) else { return };
        match &mut listener.state {
            State::Configuring(bridges) if reserved => {
                bridges.remove(&bridge);
                if bridges.is_empty() {
                    listener.state = State::Ready;
                    self.notify_users(pair, Ok(()));
                }
            }
            State::Releasing(bridges) if !reserved => {
                bridges.remove(&bridge);
                if bridges.is_empty() {
                    self.freed(pair);
                }
            }
            _ => {}
        }
    }

    fn freed(&mut self, pair: Pair) {
        self.set(pair, State::Idle);
        self.actions.push_back(ControllerAction::Free(pair));
        self.retry();
        self.settle(pair);
    }

    /// Refused requests are tested again, in the order in which they came.
    fn retry(&mut self) {
        let refused = |listener: &Listener| matches!(listener.state, State::Refused(_));
        for pair in self.pairs(refused) {
            self.set(pair, State::Idle);
            self.settle(pair);
        }
    }

    /// Listeners that fulfil a condition, in the order of their requests.
    fn pairs(&self, holds: impl Fn(&Listener) -> bool) -> Vec<Pair> {
        let mut found: Vec<(u64, Pair)> = self
            .listeners
            .iter()
            .filter(|(_, listener)| holds(listener))
            .map(|(pair, listener)| (listener.arrived, *pair))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, pair)| pair).collect()
    }

    fn settle_stream(&mut self, stream: u32) {
        for pair in self.pairs(|_| true).into_iter().filter(|pair| pair.stream == stream) {
            self.settle(pair);
        }
        self.notify_listeners(stream);
    }

    fn is_wanted(&self, pair: Pair) -> bool {
        self.listeners.get(&pair).is_some_and(|listener| listener.asked)
            && self.offered.contains(&pair.stream)
            && self
                .path(pair)
                .is_some_and(|path| !path.cables.iter().any(|cable| self.broken.contains(cable)))
    }

    fn path(&self, pair: Pair) -> Option<&Path> {
        self.paths.get(pair.stream as usize)?.listeners.get(pair.listener as usize)
    }

    fn set(&mut self, pair: Pair, state: State) {
        if let Some(listener) = self.listeners.get_mut(&pair) {
            listener.state = state;
        }
    }

    /// Adapts a listener's reservation to its request.
    fn settle(&mut self, pair: Pair) {
        let wanted = self.is_wanted(pair);
        let Some(listener) = self.listeners.get_mut(&pair) else { return };
        match (&listener.state, wanted) {
            (State::Idle, true) => {
                listener.state = State::Testing;
                self.actions.push_back(ControllerAction::Test(pair));
            }
            (State::Refused(_), false) => {
                listener.state = State::Idle;
                self.notify_listeners(pair.stream);
            }
            (State::Configuring(_) | State::Ready, false) => self.release(pair),
            _ => {}
        }
    }

    fn bridges(&self, pair: Pair) -> BTreeSet<u32> {
        self.path(pair).map_or(BTreeSet::new(), |path| path.shares.iter().map(|share| share.bridge).collect())
    }

    fn shares_at(&self, pair: Pair, bridge: u32) -> Vec<Share> {
        let shares = self.path(pair).map_or(&[][..], |path| &path.shares);
        let own = shares.iter().filter(|share| share.bridge == bridge);
        own.map(|share| share.share).collect()
    }

    fn configure_bridge(&mut self, pair: Pair, bridge: u32, reserve: bool) {
        let shares = self.shares_at(pair, bridge);
        self.send(bridge, Message::Configure { pair, reserve, shares });
    }

    fn configure(&mut self, pair: Pair) {
        let bridges = self.bridges(pair);
        self.set(pair, State::Configuring(bridges.clone()));
        for bridge in &bridges {
            self.configure_bridge(pair, *bridge, true);
        }
        if bridges.is_empty() {
            self.set(pair, State::Ready);
            self.notify_users(pair, Ok(()));
        }
    }

    fn release(&mut self, pair: Pair) {
        let bridges = self.bridges(pair);
        let was_ready = self.is_ready(pair);
        self.set(pair, State::Releasing(bridges.clone()));
        if was_ready {
            self.notify_users(pair, Err(FailureCode(0)));
        }
        for bridge in &bridges {
            self.configure_bridge(pair, *bridge, false);
        }
        if bridges.is_empty() {
            self.freed(pair);
        }
    }

    fn notify_users(&mut self, pair: Pair, verdict: Result<(), FailureCode>) {
        match &self.users {
            UserSide::Configuration(users) => {
                let users = *users;
                self.send(users, Message::Verdict(pair, verdict));
            }
            UserSide::Edges(edges) => {
                let edge = edges.get(pair.stream as usize);
                let edge = edge.and_then(|(_, listeners)| listeners.get(pair.listener as usize)).copied();
                // A listener with MSRP learns from its talker's declaration alone that it is not served any more.
                if let Some(edge) = edge.filter(|_| verdict != Err(FailureCode(0))) {
                    self.send(edge, Message::Verdict(pair, verdict));
                }
                self.notify_listeners(pair.stream);
            }
        }
    }

    /// Sends the talker's edge bridge the merged declaration of its listeners, if it has changed.
    fn notify_listeners(&mut self, stream: u32) {
        let UserSide::Edges(edges) = &self.users else { return };
        let Some((edge, _)) = edges.get(stream as usize) else { return };
        let edge = *edge;
        let (mut ready, mut failed) = (false, false);
        for (pair, listener) in &self.listeners {
            if pair.stream == stream && self.offered.contains(&stream) {
                ready |= listener.state == State::Ready;
                failed |= matches!(listener.state, State::Refused(_));
            }
        }
        let merged = match (ready, failed) {
            (true, false) => Some(ListenerDeclaration::Ready),
            (true, true) => Some(ListenerDeclaration::ReadyFailed),
            (false, true) => Some(ListenerDeclaration::AskingFailed),
            (false, false) => None,
        };
        if self.declared.get(&stream).copied().flatten() != merged {
            self.declared.insert(stream, merged);
            self.send(edge, Message::Listeners(stream, merged));
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    const PAIR: Pair = Pair { stream: 0, listener: 0 };
    const OTHER: Pair = Pair { stream: 1, listener: 0 };

    fn path() -> StreamPaths {
        let share = |bridge| PathShare { bridge, share: Share { port: 1, class: 0, slope: 1 } };
        StreamPaths { listeners: vec![Path { shares: vec![share(10), share(11)], cables: vec![0, 1, 2] }] }
    }

    fn controller() -> Controller {
        Controller::new(vec![path(), path()], UserSide::Configuration(20))
    }

    fn all(controller: &mut Controller) -> Vec<ControllerAction> {
        core::iter::from_fn(|| controller.poll()).collect()
    }

    fn serve(controller: &mut Controller, pair: Pair) {
        controller.hear(20, &Message::Offer(pair.stream));
        controller.hear(20, &Message::Ask(pair));
        controller.tested(pair, Ok(()));
        for bridge in [10, 11] {
            controller.hear(bridge, &Message::Configured { pair, reserve: true });
        }
    }

    #[test]
    fn users_are_notified_when_all_bridges_have_confirmed() {
        let mut controller = controller();
        controller.hear(20, &Message::Ask(PAIR));
        assert!(all(&mut controller).is_empty(), "nobody offers it");
        controller.hear(20, &Message::Offer(0));
        assert_eq!(all(&mut controller), [ControllerAction::Test(PAIR)]);
        controller.tested(PAIR, Ok(()));
        assert_eq!(all(&mut controller).len(), 2, "two bridges");
        controller.hear(10, &Message::Configured { pair: PAIR, reserve: true });
        assert!(all(&mut controller).is_empty() && !controller.is_ready(PAIR));
        controller.hear(11, &Message::Configured { pair: PAIR, reserve: true });
        let declared = ControllerAction::Send(20, Message::Verdict(PAIR, Ok(())));
        assert_eq!(all(&mut controller), [declared]);
        assert!(controller.is_ready(PAIR) && controller.is_settled());
    }

    #[test]
    fn what_is_given_back_is_free_when_all_have_confirmed() {
        let mut controller = controller();
        serve(&mut controller, PAIR);
        controller.hear(20, &Message::Offer(1));
        controller.hear(20, &Message::Ask(OTHER));
        controller.tested(OTHER, Err(FailureCode::CLASS_BANDWIDTH));
        all(&mut controller);
        controller.hear(20, &Message::Withdraw(0));
        controller.hear(10, &Message::Configured { pair: PAIR, reserve: false });
        assert!(!all(&mut controller).contains(&ControllerAction::Free(PAIR)));
        controller.hear(11, &Message::Configured { pair: PAIR, reserve: false });
        assert_eq!(
            all(&mut controller),
            [ControllerAction::Free(PAIR), ControllerAction::Test(OTHER)],
            "who was refused is tested again"
        );
    }

    #[test]
    fn a_lost_cable_takes_what_passes_it() {
        let mut controller = controller();
        serve(&mut controller, PAIR);
        all(&mut controller);
        controller.hear(10, &Message::Cable(1, false));
        controller.hear(11, &Message::Cable(1, false));
        assert!(
            all(&mut controller)
                .contains(&ControllerAction::Send(20, Message::Verdict(PAIR, Err(FailureCode(0)))))
        );
        for bridge in [10, 11] {
            controller.hear(bridge, &Message::Configured { pair: PAIR, reserve: false });
        }
        assert_eq!(all(&mut controller), [ControllerAction::Free(PAIR)]);
        controller.hear(10, &Message::Cable(1, true));
        assert_eq!(all(&mut controller), [ControllerAction::Test(PAIR)]);
    }

    #[test]
    fn a_bridge_that_comes_back_is_configured_again() {
        let mut controller = controller();
        serve(&mut controller, PAIR);
        all(&mut controller);
        controller.restarted(11);
        let again = all(&mut controller);
        assert!(matches!(again[1], ControllerAction::Send(11, Message::Configure { reserve: true, .. })));
        assert!(!controller.is_ready(PAIR));
        controller.hear(11, &Message::Configured { pair: PAIR, reserve: true });
        assert!(controller.is_ready(PAIR));
    }
}
