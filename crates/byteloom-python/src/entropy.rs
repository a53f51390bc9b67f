//! `NativeEntropyModel`.

use std::sync::{Mutex, PoisonError};

use byteloom_core::entropy::{ByteSet, EntropyConfig, EntropyModel, Training};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator};

use crate::documents::{Handling, Reporter, feed_all};
use crate::error::to_python;
use crate::options::{integer, threads as thread_option};
use crate::text::{self, Surrogates, Text};
use crate::work::run;

/// Lengths of contexts, and how often each was seen.
type Contexts<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u64>>);

/// The native half of `byteloom.patching.ByteEntropyModel`: a place for a model, which itself never changes.
///
/// The lock is held for moments, attached to the interpreter: no other thread can fork meanwhile.
#[pyclass(frozen, module = "byteloom._native")]
pub struct NativeEntropyModel(Mutex<EntropyModel>);

/// Compiling takes time that does not depend on the input.
const ALWAYS_RELEASE: usize = usize::MAX;

impl NativeEntropyModel {
    /// The model as it is now.
    pub fn model(&self) -> EntropyModel {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn holding(model: EntropyModel) -> Self {
        Self(Mutex::new(model))
    }

    /// Adds `more`, whatever others do to the model meanwhile.
    fn add(&self, py: Python<'_>, more: &EntropyModel) -> PyResult<()> {
        loop {
            let before = self.model();
            let sum = run(py, ALWAYS_RELEASE, |poll| before.merged(more, poll))?;
            let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if place.is(&before) {
                *place = sum;
                return Ok(());
            }
        }
    }
}

/// The bytes or the UTF-8 of a text.
pub fn data(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Text> {
    text::text(value, Surrogates::Refuse, || what.to_owned())
}

#[pymethods]
impl NativeEntropyModel {
    #[new]
    #[pyo3(signature = (*, order, alpha, smoothing, memory_limit))]
    fn new(
        py: Python<'_>,
        order: &Bound<'_, PyAny>,
        alpha: f64,
        smoothing: &str,
        memory_limit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let order = integer("order", order)?;
        let memory_limit = memory_limit.map(|limit| integer("memory_limit", limit)).transpose()?;
        let config = smoothing
            .parse()
            .and_then(|smoothing| EntropyConfig::new(order, alpha, smoothing, memory_limit))
            .map_err(|error| to_python(py, error))?;
        Ok(Self::holding(EntropyModel::new(config)))
    }

    /// The length of the n-grams: contexts have up to `order - 1` bytes.
    #[getter]
    fn order(&self) -> usize {
        self.model().config().order()
    }

    /// What back-off adds to each of 256 counts.
    #[getter]
    fn alpha(&self) -> f64 {
        self.model().config().alpha()
    }

    /// `"backoff"` or `"witten-bell"`.
    #[getter]
    fn smoothing(&self) -> &'static str {
        self.model().config().smoothing().as_str()
    }

    /// The most bytes that training and the model may take; `None` stands for 1 GiB.
    #[getter]
    fn memory_limit(&self) -> Option<usize> {
        self.model().config().memory_limit()
    }

    /// How many documents were counted.
    #[getter]
    fn documents(&self) -> u64 {
        self.model().documents()
    }

    /// How many bytes were counted.
    #[getter]
    fn trained_bytes(&self) -> u64 {
        self.model().trained_bytes()
    }

    /// Forgets everything that was counted.
    fn reset(&self) {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *place = EntropyModel::new(*place.config());
    }

    /// Counts the documents of an iterator, each without the context of another. Where it raises, the model is as it
    /// was before.
    #[pyo3(signature = (documents, *, errors, threads, expected_bytes, progress))]
    fn update(
        &self,
        py: Python<'_>,
        documents: &Bound<'_, PyIterator>,
        errors: &str,
        threads: Option<&Bound<'_, PyAny>>,
        expected_bytes: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let handling = Handling::parse(errors)?;
        let threads = thread_option(py, threads)?;
        let mut training = Training::new(*self.model().config(), threads);
        if let Some(bytes) = expected_bytes {
            training.expect_bytes(bytes);
        }
        let mut reporter = Reporter::new(progress);
        feed_all(documents, handling, &mut reporter, &mut training)?;
        let counted = reporter.run(py, |hook| training.finish(hook))?;
        self.add(py, &counted)
    }

    /// Adds the counts of another model of the same order.
    #[pyo3(signature = (other, /))]
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        self.add(py, &other.model())
    }

    /// The entropy in bits of the prediction for every byte of one document.
    #[pyo3(signature = (data, /, *, reset_on = None))]
    fn entropies<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        reset_on: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (py, text, model) = (data.py(), self::data(data, "data")?, self.model());
        let set = reset_on.map(ByteSet::new);
        let entropies = run(py, ALWAYS_RELEASE, |poll| model.entropies(&text, set.as_ref(), poll))?;
        Ok(PyArray1::from_vec(py, entropies))
    }

    /// For every byte of one document, the length of the longest context that its prediction is made from, and how often
    /// that one was seen.
    #[pyo3(signature = (data, /, *, reset_on = None))]
    fn contexts<'py>(&self, data: &Bound<'py, PyAny>, reset_on: Option<&[u8]>) -> PyResult<Contexts<'py>> {
        let (py, text, model) = (data.py(), self::data(data, "data")?, self.model());
        let set = reset_on.map(ByteSet::new);
        let (lengths, seen) = run(py, ALWAYS_RELEASE, |poll| model.contexts(&text, set.as_ref(), poll))?;
        Ok((PyArray1::from_vec(py, lengths), PyArray1::from_vec(py, seen)))
    }

    /// The probabilities of the 256 bytes after a history that begins where its document does.
    #[pyo3(signature = (history, /))]
    fn distribution<'py>(&self, history: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (py, history, model) = (history.py(), data(history, "history")?, self.model());
        let probabilities = run(py, ALWAYS_RELEASE, |poll| model.distribution(&history, poll))?;
        Ok(PyArray1::from_vec(py, probabilities))
    }

    /// How many bits a byte of one document takes on average; 0 for an empty one.
    #[pyo3(signature = (data, /))]
    fn bits_per_byte(&self, data: &Bound<'_, PyAny>) -> PyResult<f64> {
        let (py, text, model) = (data.py(), self::data(data, "data")?, self.model());
        run(py, ALWAYS_RELEASE, |poll| model.bits_per_byte(&text, poll))
    }

    /// The model as bytes: versioned, with a checksum, the same for equal models.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let model = self.model();
        let file = run(py, ALWAYS_RELEASE, |_| Ok(model.to_bytes()))?;
        Ok(PyBytes::new(py, &file))
    }

    /// The model of such bytes.
    #[staticmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes(data: &Bound<'_, PyBytes>) -> PyResult<Self> {
        let file = data.as_bytes();
        run(data.py(), ALWAYS_RELEASE, |_| EntropyModel::from_bytes(file)).map(Self::holding)
    }

    /// A hash of everything that entropies depend on: SHA-256 in hex.
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        let model = self.model();
        run(py, ALWAYS_RELEASE, |_| Ok(model.fingerprint()))
    }

    /// Settings and figures. Compiles the model.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let model = self.model();
        let figures = run(py, ALWAYS_RELEASE, |poll| model.info(poll))?;
        let config = model.config();
        let info = PyDict::new(py);
        info.set_item("order", config.order())?;
        info.set_item("alpha", config.alpha())?;
        info.set_item("smoothing", config.smoothing().as_str())?;
        info.set_item("memory_limit", config.memory_limit())?;
        info.set_item("documents", model.documents())?;
        info.set_item("trained_bytes", model.trained_bytes())?;
        info.set_item("contexts", figures.contexts)?;
        info.set_item("dropped_contexts", figures.dropped_contexts)?;
        info.set_item("grams", figures.grams)?;
        info.set_item("count_bytes", figures.count_bytes)?;
        info.set_item("compiled_bytes", figures.compiled_bytes)?;
        info.set_item("table_bytes", figures.table_bytes)?;
        Ok(info)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let restore = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((restore, (self.to_bytes(py)?,)))
    }
}
