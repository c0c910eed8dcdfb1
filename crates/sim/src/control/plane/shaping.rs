//! Shaping that changes in a run: idleSlopes of credit-based classes, parameters of ATS schedulers.

use tautwire_core::TrafficClass;
use tautwire_model::network::{PortIndex, SchedulerIndex, ShaperSettings};
use tautwire_units::BitRate;

use crate::control::controls::Deferred;
use crate::engine::Engine;
use crate::node::deviation_ppb;
use crate::recorder::Recorder;

/// The actions of a mechanism on shapers.
pub trait Shaping {
    /// Sets the idleSlope of a class at a port to `slope`, of at most `ceiling`: an increase at once, a decrease when
    /// no frame of the class is left. Frames that may leave because of it do so after the calling runner has acted.
    fn reserve_idle_slope(&mut self, port: PortIndex, class: TrafficClass, slope: BitRate, ceiling: BitRate);

    /// An ATS scheduler has these parameters from now on, or none.
    fn set_scheduler(&mut self, scheduler: SchedulerIndex, settings: Option<ShaperSettings>);
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Shaping for Engine<'_, R, PLUGGED> {
    fn reserve_idle_slope(&mut self, port: PortIndex, class: TrafficClass, slope: BitRate, ceiling: BitRate) {
        self.plugged().controls.deferred.push_back(Deferred::IdleSlope(port, class, slope, ceiling));
    }

    fn set_scheduler(&mut self, scheduler: SchedulerIndex, settings: Option<ShaperSettings>) {
        let network = self.network;
        let described = &network.schedulers[scheduler.index()];
        let group = &network.scheduler_groups[described.group.index()];
        let state = &mut self.nodes[network.ports[group.reception_port.index()].node.index()];
        let own = self.schedulers[scheduler.index()];
        match settings {
            Some(settings) => {
                let deviation = deviation_ppb(network, described, self.seed);
                let parameters = state.parameters(&settings, deviation);
                state.ats.set_parameters(own, parameters);
            }
            None => state.ats.remove_parameters(own),
        }
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    pub(in crate::control) fn change_reserved_slope(
        &mut self,
        port: PortIndex,
        class: TrafficClass,
        slope: BitRate,
        ceiling: BitRate,
    ) {
        if let Some(state) = &mut self.ports[port.index()] {
            let local = state.clock.local(self.now);
            state.egress.reserve_idle_slope(local, class, slope, ceiling);
            self.ask(port.0);
        }
    }
}
