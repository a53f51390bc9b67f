//! `NativeCounts`.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::train::{CountConfig, CountStore, Hook};
use byteloom_core::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator};

use crate::documents::{Handling, Reporter, feed_all};
use crate::error::to_python;
use crate::options::{integer, threads as thread_option};
use crate::train::said_by_readers;

/// The native half of `byteloom.PretokenCounts`: a place for counts, which themselves never change.
#[pyclass(frozen, module = "byteloom._native")]
pub struct NativeCounts(Mutex<CountStore>);

impl NativeCounts {
    /// The counts as they are now.
    pub fn store(&self) -> CountStore {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn holding(store: CountStore) -> Self {
        Self(Mutex::new(store))
    }

    /// Works on the counts without the GIL, with an eye on Ctrl-C.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&CountStore, &mut Hook<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let store = self.store();
        Reporter::new(None).run(py, |hook| work(&store, hook))
    }

    fn replace(&self, store: CountStore) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = store;
    }
}

fn config(
    py: Python<'_>,
    pattern: &str,
    special_tokens: Vec<String>,
    memory_limit: Option<u64>,
    folder: Option<PathBuf>,
) -> PyResult<CountConfig> {
    let pretokenizer = PreTokenizer::new(pattern).map_err(|error| to_python(py, error))?;
    Ok(CountConfig { pretokenizer, special_tokens, memory_limit, folder })
}

#[pymethods]
impl NativeCounts {
    #[new]
    #[pyo3(signature = (*, pattern, special_tokens, memory_limit, folder))]
    fn new(
        py: Python<'_>,
        pattern: &str,
        special_tokens: Vec<String>,
        memory_limit: Option<u64>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let config = config(py, pattern, special_tokens, memory_limit, folder)?;
        CountStore::new(config).map(Self::holding).map_err(|error| to_python(py, error))
    }

    /// The pattern by name, or as a regex.
    #[getter]
    fn pattern(&self) -> String {
        let pretokenizer = self.store().config().pretokenizer.clone();
        pretokenizer.name().unwrap_or(pretokenizer.regex()).to_owned()
    }

    /// The strings that end and begin documents.
    #[getter]
    fn special_tokens(&self) -> Vec<String> {
        self.store().config().special_tokens.clone()
    }

    /// The limit of memory in bytes.
    #[getter]
    fn memory_limit(&self) -> Option<u64> {
        self.store().config().memory_limit
    }

    /// Counts the documents of an iterator as text that follows. Where it raises, the counts are as before.
    #[pyo3(signature = (documents, *, errors, threads, expected_bytes, reading, progress))]
    fn update(
        &self,
        py: Python<'_>,
        documents: &Bound<'_, PyIterator>,
        errors: &str,
        threads: Option<&Bound<'_, PyAny>>,
        expected_bytes: Option<u64>,
        reading: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let handling = Handling::parse(errors)?;
        let threads = thread_option(py, threads)?;
        let before = self.store();
        let mut counting = before.counting(threads).map_err(|error| to_python(py, error))?;
        if let Some(bytes) = expected_bytes {
            counting.expect_bytes(bytes);
        }
        let mut reporter = Reporter::new(progress);
        feed_all(documents, handling, &mut reporter, &mut counting)?;
        let reading = said_by_readers(reading)?;
        let after = reporter.run(py, |hook| {
            let counted = counting.finish(hook)?.with_reading(reading);
            before.merged(&counted, hook)
        })?;
        self.replace(after);
        Ok(())
    }

    /// Adds other counts as those of text that follows.
    #[pyo3(signature = (other, /))]
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let later = other.store();
        let merged = self.run(py, |store, hook| store.merged(&later, hook))?;
        self.replace(merged);
        Ok(())
    }

    /// Drops the pre-tokens that occur less often.
    #[pyo3(signature = (min_count, /))]
    fn prune(&self, py: Python<'_>, min_count: &Bound<'_, PyAny>) -> PyResult<()> {
        let least = integer("min_count", min_count)?;
        let pruned = self.run(py, |store, hook| {
            let least = u64::try_from(least).map_err(|_| {
                Error::Training(format!("min_count must be at least 0 and below 2^64, not {least}"))
            })?;
            store.pruned(least, hook)
        })?;
        self.replace(pruned);
        Ok(())
    }

    /// How many distinct pre-tokens there are, and the sum of their counts.
    fn sums(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.run(py, CountStore::sums)
    }

    /// The most frequent pre-tokens with their counts.
    #[pyo3(signature = (number, /))]
    fn most_common<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Vec<(Bound<'py, PyBytes>, u64)>> {
        let found = self.run(py, |store, hook| store.most_common(number, hook))?;
        Ok(found.into_iter().map(|(bytes, count)| (PyBytes::new(py, &bytes), count)).collect())
    }

    /// Writes the counts to a file that is not there yet.
    #[pyo3(signature = (path, /))]
    fn write_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.run(py, |store, hook| store.write_file(&path, hook))
    }

    /// Reads such a file.
    #[staticmethod]
    #[pyo3(signature = (path, /, *, memory_limit, folder))]
    fn read_file(
        py: Python<'_>,
        path: PathBuf,
        memory_limit: Option<u64>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        Reporter::new(None)
            .run(py, |hook| CountStore::read_file(&path, memory_limit, folder.as_deref(), hook))
            .map(Self::holding)
    }

    /// Writes a table; gives the number of pre-tokens that are escaped in it.
    #[pyo3(signature = (path, /))]
    fn write_table(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        self.run(py, |store, hook| store.write_table(&path, hook))
    }

    /// Reads a table.
    #[staticmethod]
    #[pyo3(signature = (path, /, *, pattern, special_tokens, memory_limit, folder))]
    fn read_table(
        py: Python<'_>,
        path: PathBuf,
        pattern: &str,
        special_tokens: Vec<String>,
        memory_limit: Option<u64>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let config = config(py, pattern, special_tokens, memory_limit, folder)?;
        Reporter::new(None).run(py, |hook| CountStore::read_table(&path, config, hook)).map(Self::holding)
    }

    fn _reading(&self) -> String {
        self.store().reading().to_string()
    }

    /// Figures as plain data.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (distinct, total) = self.sums(py)?;
        let store = self.store();
        let figures = store.figures();
        let info = PyDict::new(py);
        info.set_item("documents", figures.documents)?;
        info.set_item("bytes", figures.bytes)?;
        info.set_item("invalid_bytes", figures.invalid_bytes)?;
        info.set_item("pretokens", total)?;
        info.set_item("unique_pretokens", distinct)?;
        info.set_item("dropped_pretokens", figures.dropped)?;
        info.set_item("special_tokens_seen", figures.special_tokens_seen)?;
        info.set_item("ordered", store.is_ordered())?;
        info.set_item("spilled_bytes", store.spilled_bytes())?;
        Ok(info)
    }
}
