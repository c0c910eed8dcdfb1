//! Network time, which schedules of time-triggered traffic follow: nodes have one, of a cluster, or have none.

use tautwire_model::network::NodeIndex;
use tautwire_units::Instant;

use crate::engine::Engine;
use crate::recorder::Recorder;

/// The actions of a mechanism on the network time of nodes.
pub trait NetworkTime {
    /// The place of the cluster whose time a node has; none without network time.
    fn follows(&self, node: NodeIndex) -> Option<u16>;

    /// The network time now at a node that has one.
    fn network_time(&self, node: NodeIndex) -> Instant;

    /// From now on a node has the time of a cluster, which is `time` now.
    fn set_network_time(&mut self, node: NodeIndex, cluster: u16, time: Instant);

    /// A node has no network time any more.
    fn lose_network_time(&mut self, node: NodeIndex);
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> NetworkTime for Engine<'_, R, PLUGGED> {
    fn follows(&self, node: NodeIndex) -> Option<u16> {
        self.timed()?.follows(node.index())
    }

    fn network_time(&self, node: NodeIndex) -> Instant {
        let timed = self.timed().expect("a time-triggered network");
        timed.network(node.index(), self.nodes[node.index()].clock, self.now)
    }

    fn set_network_time(&mut self, node: NodeIndex, cluster: u16, time: Instant) {
        let local = self.nodes[node.index()].clock.local(self.now);
        let correction = i64::try_from(i128::from(time.as_ps()) - i128::from(local.as_ps()))
            .expect("clocks that are less than 106 days apart");
        self.observe_network_time();
        self.follow(node.index(), cluster);
        self.correct_network_time(node.index(), correction);
        self.observe_network_time();
    }

    fn lose_network_time(&mut self, node: NodeIndex) {
        self.observe_network_time();
        self.forget_network_time(node.index());
    }
}
