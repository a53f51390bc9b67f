//! Running core work: without the GIL where it is long, stopped by Ctrl-C, and never ending in a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use byteloom_core::tokenizer::Poll;
use byteloom_core::{Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::to_python;

/// From this many bytes of input on the GIL is released. Below, letting go costs more than the work.
const RELEASE_FROM: usize = 4096;
/// How often signals are looked for.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `work` over `size` bytes of input.
pub fn run<T: Send>(
    py: Python<'_>,
    size: usize,
    work: impl FnOnce(Poll<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    if size < RELEASE_FROM {
        return guarded(py, || work(&mut || Ok(())), None);
    }
    let mut raised = None;
    let mut next = Instant::now() + SIGNAL_INTERVAL;
    let mut poll = || {
        if Instant::now() < next {
            return Ok(());
        }
        next = Instant::now() + SIGNAL_INTERVAL;
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is not general in its lifetime"
        )]
        Python::attach(|py| py.check_signals()).map_err(|error| {
            raised = Some(error);
            Error::Interrupted
        })
    };
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(|| work(&mut poll))));
    finish(py, result, raised)
}

/// Runs `work` holding the GIL; `raised` is the Python error behind an interrupt.
pub fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> Result<T>, raised: Option<PyErr>) -> PyResult<T> {
    finish(py, catch_unwind(AssertUnwindSafe(work)), raised)
}

/// The outcome of work as Python sees it. A panic is a fault of ours, and still an ordinary exception.
pub fn finish<T>(
    py: Python<'_>,
    result: std::thread::Result<Result<T>>,
    raised: Option<PyErr>,
) -> PyResult<T> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(raised.unwrap_or_else(|| to_python(py, error))),
        Err(_) => Err(PyRuntimeError::new_err(
            "byteloom failed inside; this is a fault of byteloom, please report it with the input that caused it",
        )),
    }
}
