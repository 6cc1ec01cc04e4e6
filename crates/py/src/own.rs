//! Schemes that are Python classes.
//!
//! A run asks such a scheme at every ACK, so this holds the interpreter's lock for that long and no longer. An error
//! raised in a scheme is kept, ends the run, and is raised again to whoever asked for the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use exmachina_hosts::library::Maker;
use exmachina_hosts::scheme::{self, Capabilities, Scheme};
use exmachina_net::time::{Duration, Instant};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// No window is larger, packets.
const MAX_WINDOW: f64 = 1e6;
/// No time between two sends is longer, ms.
const MAX_INTERSEND_MS: f64 = 60e3;

/// An ACK, as a scheme in Python sees it. Times are read off the sender's clock.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Ack {
    /// When it came, ms since the run began.
    now_ms: f64,
    /// When the packet that it echoes was sent, ms.
    sent_ms: f64,
    /// The RTT that it shows, ms.
    rtt_ms: f64,
    /// The smallest RTT of this connection so far, ms.
    min_rtt_ms: f64,
    /// Smoothed RTT (RFC 6298), ms.
    srtt_ms: f64,
    /// Number of the packet in the sender's stream.
    seq: u32,
    /// Number of the next new packet to be sent.
    next_seq: u32,
    /// Packets newly acknowledged, cumulatively.
    acked: u32,
    /// Packets newly known to have arrived, in order or not.
    newly_delivered: u32,
    /// Packets delivered on this connection.
    delivered: u64,
    /// Packets in flight.
    in_flight: u32,
    /// Packets declared lost on this ACK.
    lost: u32,
    /// Packets among those acknowledged that arrived with an ECN mark.
    marked: u32,
    /// Losses are being repaired.
    in_recovery: bool,
    /// The window, not the application, is what held the sender back.
    window_limited: bool,
    /// Packets delivered per second, over about the last RTT; 0 where there is no sample.
    delivery_rate: f64,
}

/// A loss, a mark or a timeout, as a scheme in Python sees it.
#[pyclass(frozen, get_all, module = "exmachina._core")]
pub struct Congestion {
    /// The present instant, ms since the run began.
    now_ms: f64,
    /// Packets in flight.
    in_flight: u32,
    /// Packets sent and not acknowledged cumulatively.
    outstanding: u32,
    /// Number of the next new packet to be sent.
    next_seq: u32,
    /// The packet that was lost or marked; for a timeout the oldest outstanding one.
    seq: u32,
    /// Packets declared lost by it.
    lost: u32,
}

impl From<&scheme::Ack> for Ack {
    fn from(ack: &scheme::Ack) -> Ack {
        let rate = ack.rate;
        Ack {
            now_ms: ack.received.as_ms(),
            sent_ms: ack.sent.as_ms(),
            rtt_ms: ack.rtt.as_ms(),
            min_rtt_ms: if ack.min_rtt == Duration::MAX { f64::NAN } else { ack.min_rtt.as_ms() },
            srtt_ms: ack.srtt.as_ms(),
            seq: ack.seq,
            next_seq: ack.next_seq,
            acked: ack.acked,
            newly_delivered: ack.newly_delivered,
            delivered: ack.delivered,
            in_flight: ack.in_flight,
            lost: ack.lost,
            marked: ack.marked,
            in_recovery: ack.in_recovery,
            window_limited: ack.window_limited,
            delivery_rate: if rate.interval > Duration::ZERO {
                f64::from(rate.delivered) / rate.interval.as_s()
            } else {
                0.0
            },
        }
    }
}

impl From<&scheme::Congestion> for Congestion {
    fn from(event: &scheme::Congestion) -> Congestion {
        Congestion {
            now_ms: event.now.as_ms(),
            in_flight: event.in_flight,
            outstanding: event.outstanding,
            next_seq: event.next_seq,
            seq: event.seq,
            lost: event.lost,
        }
    }
}

/// The first error that was raised in a scheme, and whether there was one.
#[derive(Default)]
pub struct Failure {
    /// Set when the run is to end.
    pub stop: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Failure {
    fn keep(&self, error: PyErr) {
        let mut kept = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The error, if there was one.
    pub fn check(&self) -> PyResult<()> {
        match self.error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Makes senders whose schemes come from calling `class`.
pub fn maker(class: Py<PyAny>, failure: Arc<Failure>) -> Maker {
    let class = Arc::new(class);
    Arc::new(move || {
        Box::new(PythonScheme {
            class: class.clone(),
            object: None,
            window: 1,
            intersend: Duration::ZERO,
            capabilities: Capabilities::default(),
            failure: failure.clone(),
        })
    })
}

/// A sender's scheme.
struct PythonScheme {
    class: Arc<Py<PyAny>>,
    /// The scheme of the present connection.
    object: Option<Py<PyAny>>,
    window: u32,
    intersend: Duration,
    capabilities: Capabilities,
    failure: Arc<Failure>,
}

impl PythonScheme {
    /// A new connection has a new object.
    fn make(&mut self, py: Python<'_>) -> PyResult<()> {
        let object = self.class.bind(py).call0()?;
        self.capabilities = Capabilities {
            ecn: flag(&object, intern!(py, "ecn"))?,
            owns_recovery: flag(&object, intern!(py, "owns_recovery"))?,
            ..Capabilities::default()
        };
        self.read(&object)?;
        self.object = Some(object.unbind());
        Ok(())
    }

    /// Calls a method of the scheme, then reads what it decided. After an error nothing is called any more.
    fn call<T: pyo3::PyClass + Into<pyo3::PyClassInitializer<T>>>(&mut self, method: &str, event: T, required: bool) {
        if self.failure.stop.load(Ordering::Relaxed) {
            return;
        }
        let outcome = Python::attach(|py| -> PyResult<()> {
            let Some(object) = self.object.as_ref().map(|object| object.bind(py).clone()) else { return Ok(()) };
            if required || object.hasattr(method)? {
                object.call_method1(method, (Bound::new(py, event)?,))?;
                self.read(&object)?;
            }
            Ok(())
        });
        if let Err(error) = outcome {
            self.failure.keep(error);
        }
    }

    fn read(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let window: f64 = object.getattr(intern!(py, "window"))?.extract()?;
        if window.is_nan() {
            return Err(PyValueError::new_err("window: expected packets, got nan"));
        }
        // With less than one packet in flight nothing would ever be heard of again.
        self.window = window.clamp(1.0, MAX_WINDOW) as u32;
        let intersend_ms = object.getattr_opt(intern!(py, "intersend_ms"))?;
        let intersend_ms: f64 = intersend_ms.map_or(Ok(0.0), |ms| ms.extract())?;
        if intersend_ms.is_nan() {
            return Err(PyValueError::new_err("intersend_ms: expected a time in ms, got nan"));
        }
        self.intersend = Duration::from_ms(intersend_ms.clamp(0.0, MAX_INTERSEND_MS));
        Ok(())
    }
}

/// An attribute that is true or false, and false where there is none.
fn flag(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<bool> {
    let Some(value) = object.getattr_opt(name)? else { return Ok(false) };
    value.extract().map_err(|_| PyTypeError::new_err(format!("{name}: expected True or False, got {value}")))
}

impl Clone for PythonScheme {
    /// With a deep copy of the object.
    fn clone(&self) -> PythonScheme {
        let object = self.object.as_ref().and_then(|object| {
            let copied = Python::attach(|py| {
                let copied = py.import("copy")?.call_method1("deepcopy", (object,))?;
                Ok(copied.unbind())
            });
            copied.map_err(|error| self.failure.keep(error)).ok()
        });
        PythonScheme { class: self.class.clone(), object, failure: self.failure.clone(), ..*self }
    }
}

impl Scheme for PythonScheme {
    fn start(&mut self, _now: Instant) {
        if self.failure.stop.load(Ordering::Relaxed) {
            return;
        }
        let outcome = Python::attach(|py| self.make(py));
        outcome.unwrap_or_else(|error| self.failure.keep(error));
    }

    fn on_ack(&mut self, ack: &scheme::Ack) {
        self.call("on_ack", Ack::from(ack), true);
    }

    fn on_loss(&mut self, loss: &scheme::Congestion) {
        self.call("on_loss", Congestion::from(loss), false);
    }

    fn on_ecn(&mut self, mark: &scheme::Congestion) {
        self.call("on_ecn", Congestion::from(mark), false);
    }

    fn on_rto(&mut self, timeout: &scheme::Congestion) {
        self.call("on_rto", Congestion::from(timeout), false);
    }

    fn window(&self) -> u32 {
        self.window
    }

    fn intersend(&self) -> Duration {
        self.intersend
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
}
