//! The data-plane machines, in bulk: arrays of arrivals in, arrays of decisions out.
//!
//! Python tests of hardware and the worked examples of publications hold these machines against
//! something else, so they are given as they are: nothing is decided here.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tautwire_core::ats::{AtsDiscard, AtsParameters, AtsSchedulers};
use tautwire_units::{BitRate, Bits, Duration, Instant};

/// ATS schedulers of a bridge.
#[pyclass(module = "tautwire._core")]
pub(crate) struct AtsBank {
    schedulers: AtsSchedulers,
    quantum: Duration,
    groups: u32,
    count: u32,
}

#[pymethods]
impl AtsBank {
    #[new]
    #[pyo3(signature = (*, quantum_ps=1, charged_overhead_octets=20, processing_delay_max_ps=0))]
    fn new(quantum_ps: u64, charged_overhead_octets: u64, processing_delay_max_ps: u64) -> PyResult<Self> {
        if quantum_ps == 0 {
            return Err(PyValueError::new_err("quantum_ps must be above 0"));
        }
        let quantum = Duration::from_ps(quantum_ps);
        let later = Duration::from_ps(processing_delay_max_ps);
        let schedulers = AtsSchedulers::new(quantum, charged_overhead_octets, later);
        Ok(Self { schedulers, quantum, groups: 0, count: 0 })
    }

    #[pyo3(signature = (*, max_residence_time_ps=None))]
    fn add_group(&mut self, max_residence_time_ps: Option<u64>) -> u32 {
        self.groups += 1;
        self.schedulers.add_group(max_residence_time_ps.map(Duration::from_ps))
    }

    #[pyo3(signature = (group, *, rate_bps, burst_bits))]
    fn add_scheduler(&mut self, group: u32, rate_bps: u64, burst_bits: u64) -> PyResult<u32> {
        if group >= self.groups {
            return Err(PyValueError::new_err(format!("no group {group}")));
        }
        let parameters = AtsParameters::new(BitRate::from_bps(rate_bps), Bits::new(burst_bits), self.quantum)
            .ok_or_else(|| PyValueError::new_err(format!("no scheduler keeps to {rate_bps} bit/s")))?;
        self.count += 1;
        Ok(self.schedulers.add_scheduler(group, parameters))
    }

    fn process(
        &mut self,
        py: Python<'_>,
        schedulers: Vec<u32>,
        arrivals_ps: Vec<u64>,
        octets: Vec<u64>,
    ) -> PyResult<Vec<Option<u64>>> {
        if schedulers.len() != arrivals_ps.len() || octets.len() != arrivals_ps.len() {
            return Err(PyValueError::new_err("schedulers, arrivals and octets must be of one length"));
        }
        if let Some(unknown) = schedulers.iter().find(|one| **one >= self.count) {
            return Err(PyValueError::new_err(format!("no scheduler {unknown}")));
        }
        let bank = &mut self.schedulers;
        Ok(py.detach(|| {
            let frames = schedulers.iter().zip(&arrivals_ps).zip(&octets);
            frames
                .map(|((scheduler, arrival), octets)| {
                    match bank.process(*scheduler, Instant::from_ps(*arrival), *octets) {
                        Ok(time) => Some(time.as_ps()),
                        Err(AtsDiscard::ResidenceTime | AtsDiscard::ExceedsBurstSize) => None,
                    }
                })
                .collect()
        }))
    }
}
