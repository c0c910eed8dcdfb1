//! Online admission: a thread that decides, and the questions that are put to it.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use tautwire_model::Network;
use tautwire_workbench::admission::{
    AdmissionServer, Channel, Decision, LogError, Request, RequestError, Test,
};
use tautwire_workbench::grammar;

use crate::network::CoreNetwork;

/// A line, and where its answer goes.
type Asked = (String, Sender<String>);

/// The channel for its requests, and its result.
type Thread = (Sender<Asked>, JoinHandle<Result<(), Failed>>);

/// An admission server and its thread.
#[pyclass(frozen, module = "tautwire._core")]
pub(crate) struct CoreAdmission {
    server: Mutex<Option<Thread>>,
}

/// Why no more decisions are made.
struct Failed(String);

impl From<LogError> for Failed {
    fn from(error: LogError) -> Self {
        Self(error.to_string())
    }
}

/// Lines from Python.
struct Lines {
    asked: Receiver<Asked>,
    reply: Option<Sender<String>>,
}

impl Channel for Lines {
    type Error = Failed;

    fn next(&mut self) -> Result<Option<Result<Request, RequestError>>, Failed> {
        let Ok((line, reply)) = self.asked.recv() else { return Ok(None) };
        self.reply = Some(reply);
        Ok(Some(Request::parse(&line)))
    }

    fn reply(&mut self, _network: &Network, decision: Decision) -> Result<(), Failed> {
        // The caller may have been interrupted: the request is decided and logged.
        let _ = self.reply.take().map(|reply| reply.send(decision.to_json()));
        Ok(())
    }
}

#[pymethods]
impl CoreAdmission {
    #[new]
    #[pyo3(signature = (network, *, test="bounds", state=None))]
    fn new(py: Python<'_>, network: &CoreNetwork, test: &str, state: Option<PathBuf>) -> PyResult<Self> {
        let Some(chosen) = Test::from_name(test) else {
            let known = Test::NAMES.join(", ");
            return Err(PyValueError::new_err(format!("no test `{test}`; there are: {known}")));
        };
        if chosen == Test::ResponseTime && network.network.harts.is_none() {
            return Err(PyValueError::new_err("the test `response-time` needs `harts` in the description"));
        }
        let (name, text) = &*network.source;
        let server = py
            .detach(|| AdmissionServer::open(grammar(), name, text, chosen, state.as_deref()))
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        let (sender, asked) = channel();
        let decide = move || server.serve(&mut Lines { asked, reply: None });
        let thread = std::thread::Builder::new().name("admission".to_owned()).spawn(decide)?;
        Ok(Self { server: Mutex::new(Some((sender, thread))) })
    }

    /// The decision on a request; both are JSON.
    fn ask(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let answered = py.detach(|| {
            let (reply, answer) = channel();
            {
                let server = self.server.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let (sender, _) = server.as_ref().ok_or(())?;
                sender.send((request.to_owned(), reply)).map_err(|_| ())?;
            }
            answer.recv().map_err(|_| ())
        });
        answered.map_err(|()| match self.end(py) {
            Some(Failed(why)) => PyOSError::new_err(why),
            None => PyValueError::new_err("it is closed"),
        })
    }

    /// Ends it; what is kept in a folder stays there.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py).map_or(Ok(()), |Failed(why)| Err(PyOSError::new_err(why)))
    }
}

impl CoreAdmission {
    /// Ends the thread; why it ended early.
    fn end(&self, py: Python<'_>) -> Option<Failed> {
        py.detach(|| {
            let server = self.server.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            let (sender, thread) = server?;
            drop(sender);
            match thread.join() {
                Ok(ended) => ended.err(),
                Err(_) => Some(Failed("a fault of the program: see standard error".to_owned())),
            }
        })
    }
}
