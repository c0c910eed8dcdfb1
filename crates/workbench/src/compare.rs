//! Two results side by side: kept ones, or those that a description gives.

use tautwire_report::{Difference, RunFolder};
use tautwire_sim::Options;
use tautwire_units::Duration;

use crate::{Scenario, bounds, bounds_in_run, simulate};

/// One of two things to compare.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// Results that are there.
    Run(Box<RunFolder>),
    /// A description, whose results are computed: the same parts as the other side has, with the seed and the simulated
    /// time of its run. Next to another description: bounds and a run, as it says.
    Scenario(Box<Scenario>),
}

/// What differs.
#[must_use]
pub fn difference(before: &Compared, after: &Compared) -> Difference {
    let [one, other] = [before.results(after), after.results(before)];
    Difference::of(&one, &other)
}

impl Compared {
    /// Its results, comparable with those of `other`.
    fn results(&self, other: &Self) -> RunFolder {
        let scenario = match self {
            Self::Run(run) => return (**run).clone(),
            Self::Scenario(scenario) => scenario,
        };
        let like = match other {
            Self::Run(run) => Some(&run.summary),
            Self::Scenario(_) => None,
        };
        let mut network = scenario.network.clone();
        if let Some(run) = like.and_then(|like| like.run.as_ref()) {
            network.set_seed(run.seed);
            let duration = Duration::from_ps(run.duration_ps);
            // A run is longer than its warm-up.
            if duration > network.run.warm_up {
                network.set_duration(duration);
            }
        }
        let observation =
            like.is_none_or(|like| like.run.is_some()).then(|| simulate(&network, &mut Options::default()));
        let proven = like.is_none_or(|like| like.verification.is_some()).then(|| match &observation {
            Some(seen) => bounds_in_run(&network, seen),
            None => bounds(&network),
        });
        let manifest = scenario.manifest(&["diff".to_owned()]);
        RunFolder::new(&manifest, &network, &scenario.text, proven.as_ref(), observation.as_ref())
    }
}
