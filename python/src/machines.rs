//! The data-plane machines, in bulk: arrays of arrivals in, arrays of decisions out.
//!
//! Python tests of hardware and the worked examples of publications hold these machines against
//! something else, so they are given as they are: nothing is decided here.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tautwire_core::ats::{AtsDiscard, AtsParameters, AtsSchedulers};
use tautwire_core::cbs::CreditBasedShaper;
use tautwire_core::gates::{CycleTime, Entry, Fit, GateParameters, Gates, HoldAdvances, Operation};
use tautwire_core::gptp::{Adjustment, Servo};
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
        let schedulers = AtsSchedulers::new(Some(quantum), charged_overhead_octets, later);
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
        let quantum = Some(self.quantum);
        let parameters = AtsParameters::new(BitRate::from_bps(rate_bps), Bits::new(burst_bits), quantum)
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

/// One credit-based shaper.
#[pyclass(module = "tautwire._core")]
pub(crate) struct CreditShaper {
    shaper: CreditBasedShaper,
    rate_bps: u64,
    settled: u64,
}

#[pymethods]
impl CreditShaper {
    #[new]
    #[pyo3(signature = (*, idle_slope_bps, rate_bps))]
    fn new(idle_slope_bps: u64, rate_bps: u64) -> PyResult<Self> {
        if idle_slope_bps == 0 || idle_slope_bps > rate_bps {
            return Err(PyValueError::new_err("idle_slope_bps must be above 0 and at most rate_bps"));
        }
        let shaper = CreditBasedShaper::new(BitRate::from_bps(idle_slope_bps), BitRate::from_bps(rate_bps));
        Ok(Self { shaper, rate_bps, settled: 0 })
    }

    /// Credit in 1e-12 bit at each time. `waiting` says of the span before a time whether frames waited;
    /// a transmission that starts at a time is charged until `transmit_until_ps`, 0 where none starts.
    fn replay(
        &mut self,
        times_ps: Vec<u64>,
        waiting: Vec<bool>,
        transmit_until_ps: Vec<u64>,
    ) -> PyResult<Vec<i128>> {
        if waiting.len() != times_ps.len() || transmit_until_ps.len() != times_ps.len() {
            return Err(PyValueError::new_err("times, waiting and transmissions must be of one length"));
        }
        let mut credits = Vec::with_capacity(times_ps.len());
        for ((time, waiting), until) in times_ps.iter().zip(&waiting).zip(&transmit_until_ps) {
            credits.push(self.settle(*time, *waiting)?);
            if *until > *time {
                self.transmit(*time, *until)?;
            }
        }
        Ok(credits)
    }

    /// Credit in 1e-12 bit at a time; `waiting` says of the span before it whether frames waited.
    fn settle(&mut self, time_ps: u64, waiting: bool) -> PyResult<i128> {
        if time_ps < self.settled {
            return Err(PyValueError::new_err("times must not go back"));
        }
        self.settled = time_ps;
        self.shaper.settle(Instant::from_ps(time_ps), waiting);
        Ok(self.shaper.credit().as_pico_bits())
    }

    /// A frame starts at the time that was settled last, and is charged until another one.
    fn transmit(&mut self, time_ps: u64, until_ps: u64) -> PyResult<()> {
        if time_ps != self.settled {
            return Err(PyValueError::new_err("settle the time of a start before it"));
        }
        if self.shaper.credit().as_pico_bits() < 0 {
            return Err(PyValueError::new_err(format!("a frame starts at {time_ps} ps in debt")));
        }
        let until = Instant::from_ps(until_ps);
        self.shaper.transmit(Instant::from_ps(time_ps), until, until);
        Ok(())
    }

    /// Changes idleSlope at a time; `waiting` as for `settle`.
    fn set_idle_slope(&mut self, time_ps: u64, waiting: bool, idle_slope_bps: u64) -> PyResult<()> {
        if idle_slope_bps == 0 || idle_slope_bps > self.rate_bps {
            return Err(PyValueError::new_err("idle_slope_bps must be above 0 and at most rate_bps"));
        }
        self.settle(time_ps, waiting)?;
        self.shaper.set_idle_slope(Instant::from_ps(time_ps), waiting, BitRate::from_bps(idle_slope_bps));
        Ok(())
    }

    /// When a frame that goes on waiting from the time settled last may start.
    fn eligible_at(&self) -> u64 {
        self.shaper.eligible_at(Instant::from_ps(self.settled)).as_ps()
    }
}

/// The gates of a port.
#[pyclass(module = "tautwire._core")]
pub(crate) struct PortGates {
    gates: Gates,
    tick_ps: u64,
    settled: Instant,
}

impl PortGates {
    /// Crosses all edges up to a time.
    fn settle(&mut self, time_ps: u64) -> PyResult<()> {
        let time = Instant::from_ps(time_ps);
        if time < self.settled {
            return Err(PyValueError::new_err("times must not go back"));
        }
        self.settled = time;
        while self.gates.edge() <= time {
            self.gates.cross();
        }
        Ok(())
    }
}

#[pymethods]
impl PortGates {
    #[new]
    #[pyo3(signature = (*, admin_gate_states=0xff, tick_ps=1))]
    fn new(admin_gate_states: u8, tick_ps: u64) -> PyResult<Self> {
        if tick_ps == 0 {
            return Err(PyValueError::new_err("tick_ps must be above 0"));
        }
        let gates = Gates::without_list(admin_gate_states).with_tick(Duration::from_ps(tick_ps));
        Ok(Self { gates, tick_ps, settled: Instant::ZERO })
    }

    /// Sets a list at a time. Entries are operation (0: set, 1: set and hold, 2: set and release), states and interval.
    #[pyo3(signature = (time_ps, entries, *, base_time_ps, cycle_time_ps, cycle_time_extension_ps))]
    fn change(
        &mut self,
        time_ps: u64,
        entries: Vec<(u8, u8, u64)>,
        base_time_ps: u64,
        cycle_time_ps: u64,
        cycle_time_extension_ps: u64,
    ) -> PyResult<()> {
        let cycle_time = CycleTime::new(cycle_time_ps, 1).filter(|_| cycle_time_ps >= self.tick_ps);
        let cycle_time = cycle_time.ok_or_else(|| {
            PyValueError::new_err(format!("cycle_time_ps must be at least {}", self.tick_ps))
        })?;
        if entries.is_empty() {
            return Err(PyValueError::new_err("a list has an entry"));
        }
        let entry = |(operation, gate_states, interval_ps): (u8, u8, u64)| {
            let operation = match operation {
                0 => Operation::SetGateStates,
                1 => Operation::SetAndHoldMac,
                2 => Operation::SetAndReleaseMac,
                other => return Err(PyValueError::new_err(format!("no operation {other}"))),
            };
            if interval_ps == 0 {
                return Err(PyValueError::new_err("an interval must be above 0"));
            }
            Ok(Entry { operation, gate_states, time_interval: Duration::from_ps(interval_ps) })
        };
        let control_list = entries.into_iter().map(entry).collect::<PyResult<Vec<_>>>()?;
        self.settle(time_ps)?;
        let base_time = Instant::from_ps(base_time_ps);
        let cycle_time_extension = Duration::from_ps(cycle_time_extension_ps);
        let parameters = GateParameters { control_list, base_time, cycle_time, cycle_time_extension };
        self.gates.change(self.settled, parameters);
        Ok(())
    }

    /// Of each edge up to a time: when it is, the states behind it, and whether preemptable frames are held.
    fn edges(&mut self, until_ps: u64) -> PyResult<Vec<(u64, u8, bool)>> {
        let mut edges: Vec<(u64, u8, bool)> = Vec::new();
        while self.gates.edge().as_ps() <= until_ps {
            let time = self.gates.edge();
            self.settle(time.as_ps())?;
            let held = self.gates.hold(time, HoldAdvances::default()).0;
            edges.push((time.as_ps(), self.gates.states(), held));
        }
        self.settle(until_ps)?;
        Ok(edges)
    }

    /// Of each frame whether it may start: its class, when, and for how long it needs its gate open.
    fn fits(&mut self, classes: Vec<usize>, times_ps: Vec<u64>, needs_ps: Vec<u64>) -> PyResult<Vec<bool>> {
        if classes.len() != times_ps.len() || needs_ps.len() != times_ps.len() {
            return Err(PyValueError::new_err("classes, times and needs must be of one length"));
        }
        let mut fits = Vec::with_capacity(classes.len());
        for ((class, time_ps), need_ps) in classes.iter().zip(&times_ps).zip(&needs_ps) {
            if *class > 7 {
                return Err(PyValueError::new_err(format!("no class {class}")));
            }
            self.settle(*time_ps)?;
            fits.push(self.gates.fit(*class, self.settled, Duration::from_ps(*need_ps)) == Fit::Now);
        }
        Ok(fits)
    }

    /// How many lists were set with a base time in the past while another one ran, and when the one that runs began.
    fn changes(&self) -> (u64, Option<u64>) {
        (self.gates.change_errors(), self.gates.change_time().map(Instant::as_ps))
    }
}

/// A servo that follows another clock.
#[pyclass(module = "tautwire._core")]
pub(crate) struct ClockServo {
    servo: Servo,
}

#[pymethods]
impl ClockServo {
    #[new]
    #[pyo3(signature = (*, step_min_ps, rate_max_ppb, proportional_per_mille, integral_per_mille))]
    fn new(
        step_min_ps: u64,
        rate_max_ppb: u32,
        proportional_per_mille: u16,
        integral_per_mille: u16,
    ) -> Self {
        let servo = Servo::new(Duration::from_ps(step_min_ps), rate_max_ppb);
        Self { servo: servo.with_weights(proportional_per_mille, integral_per_mille) }
    }

    /// What to do to a clock that was `offset_ps` behind, `interval_ps` after the last sample: a step in picoseconds, and
    /// the rate to run at from now on, in parts in 10¹² of its own; none: as before.
    fn sample(&mut self, offset_ps: i128, interval_ps: u64) -> (i128, Option<i64>) {
        match self.servo.sample(offset_ps, Duration::from_ps(interval_ps)) {
            Adjustment::Step(step) => (step, None),
            Adjustment::StepAndRate(step, rate) => (step, Some(rate)),
            Adjustment::Rate(rate) => (0, Some(rate)),
        }
    }
}
