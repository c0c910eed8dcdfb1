//! A run of virtual links, watched for what overwriting promises: only an older message is lost to a newer one; and for what
//! acceptance windows do: no time-triggered frame is taken outside of its own.

use tautwire_sim::{DropReason, Observation, Recorder, SimTime};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Options};

/// The newest message of each stream, each that was overwritten though it was the newest, and what was taken at a wrong time.
struct Newest<'network> {
    network: &'network Network,
    created: Vec<u32>,
    found: Vec<String>,
}

impl Recorder for Newest<'_> {
    fn takes_transmissions(&self) -> bool {
        false
    }

    fn created(&mut self, _: SimTime, stream: u32, number: u32, _: u32) {
        self.created[stream as usize] = number;
    }

    fn dropped(&mut self, _: SimTime, stream: u32, number: u32, _: u32, reason: DropReason) {
        if reason == DropReason::Overwritten && number == self.created[stream as usize] {
            let name = &self.network.streams[stream as usize].name;
            self.found.push(format!("{name}: its newest message, {number}, was overwritten"));
        }
    }

    fn delivered(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, _: Duration) {
        if !is_within_window(self.network, (stream, listener), time) {
            let name = &self.network.streams[stream as usize].name;
            self.found.push(format!("{name}: frame {number} was taken outside of its window"));
        }
    }
}

/// Whether a time is within the window of a link at a listener, or so near that clocks within the precision may take
/// it to be: network time is true time within that, where no protocol keeps it.
fn is_within_window(network: &Network, (stream, listener): (u32, u32), time: SimTime) -> bool {
    let stream = &network.streams[stream as usize];
    let (Some(link), Some(settings)) = (&stream.time_triggered, &network.time_triggered) else { return true };
    if network.as6802.is_some() {
        return true;
    }
    let leads = |hop: &tautwire_workbench::network::Hop| hop.listener == Some(listener);
    let points = stream.hops.iter().zip(&link.points).filter(|(hop, _)| leads(hop));
    let (period, precision) = (u128::from(link.period.as_ps()), u128::from(settings.precision.as_ps()));
    let mut windows = points.map(|(_, point)| point.window);
    windows.any(|window| {
        let since = u128::from(time.as_ps()) + period - u128::from(window.opens.as_ps()) % period;
        let since = since % period;
        since <= u128::from(window.length.as_ps()) + precision || since + precision >= period
    })
}

/// A run by the network's own settings; the newest messages that it overwrote and the frames that it took outside of their windows, each a
/// sentence.
pub(crate) fn run_links(network: &Network) -> (Observation, Vec<String>) {
    let mut newest = Newest { network, created: vec![0; network.streams.len()], found: Vec::new() };
    let observation = tautwire_sim::run_with(network, &mut Options::default(), &mut newest);
    (observation, newest.found)
}
