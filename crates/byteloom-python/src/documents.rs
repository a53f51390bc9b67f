//! Documents from a Python iterator, progress and Ctrl-C to a Python callable: what every kind of training shares.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use byteloom_core::change::UseCounter;
use byteloom_core::entropy::Training;
use byteloom_core::train::{Counting, Hook, InvalidUtf8, Progress, Stage, Trainer};
use byteloom_core::{Error, Result};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyIterator, PyMemoryView, PyString};

use crate::text::{self, Surrogates, Text};
use crate::work::finish;

/// Documents are counted together once they have this many bytes, or are this many.
const BATCH_BYTES: usize = 8 << 20;
const BATCH_DOCUMENTS: usize = 1 << 16;

/// Tells Python how training goes, and training whether to stop.
pub struct Reporter {
    callback: Option<Py<PyAny>>,
    started: Instant,
    /// What is going on, since when, and what was done then.
    stage: (Stage, Instant, u64),
    raised: Option<PyErr>,
    /// Time spent waiting for documents.
    pub read_time: Duration,
}

impl Reporter {
    /// A reporter to `callback`, if there is one. The clock starts now.
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        let started = Instant::now();
        Self { callback, started, stage: (Stage::Count, started, 0), raised: None, read_time: Duration::ZERO }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Bytes or merges a second in this stage so far, and the seconds left at that rate.
    fn rate_and_left(&mut self, progress: &Progress) -> (Option<f64>, Option<f64>) {
        if self.stage.0 != progress.stage {
            self.stage = (progress.stage, Instant::now(), progress.done);
        }
        let (_, since, before) = self.stage;
        let seconds = since.elapsed().as_secs_f64();
        let rate = progress.done.saturating_sub(before) as f64 / seconds;
        if !rate.is_finite() || rate <= 0.0 {
            return (None, None);
        }
        let to_do = progress.total.map(|total| total.saturating_sub(progress.done));
        (Some(rate), to_do.map(|to_do| to_do as f64 / rate))
    }

    fn report(&mut self, progress: &Progress) -> Result<()> {
        let (rate, left) = self.rate_and_left(progress);
        let result = Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = &self.callback else { return Ok(()) };
            let state = PyDict::new(py);
            state.set_item("stage", progress.stage.as_str())?;
            state.set_item("done", progress.done)?;
            state.set_item("total", progress.total)?;
            state.set_item("seconds", self.started.elapsed().as_secs_f64())?;
            state.set_item("rate", rate)?;
            state.set_item("left", left)?;
            callback.call1(py, (state,)).map(drop)
        });
        result.map_err(|error| {
            self.raised = Some(error);
            Error::Interrupted
        })
    }

    /// Runs a part of training without the GIL.
    pub fn run<T: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn FnMut(&Progress) -> Result<()>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            catch_unwind(AssertUnwindSafe(|| work(&mut |progress: &Progress| self.report(progress))))
        });
        finish(py, result.map(|outcome| outcome.map_err(as_training_error)), self.raised.take())
    }
}

/// In training, an option out of its range is an error of the training.
fn as_training_error(error: Error) -> Error {
    match error {
        Error::Argument(message) => Error::Training(message),
        other => other,
    }
}

/// One document of the iterator.
enum Document {
    Text(Text),
    File(PathBuf),
    Stream(Stream),
}

/// An open binary file of Python: a document that is read in pieces.
struct Stream {
    file: Py<PyAny>,
    name: PathBuf,
    raised: Option<PyErr>,
}

impl Stream {
    fn new(file: &Bound<'_, PyAny>, index: usize) -> PyResult<Self> {
        let name = file.getattr_opt("name")?.and_then(|name| name.extract::<PathBuf>().ok());
        let name = name.unwrap_or_else(|| PathBuf::from(format!("document {index}")));
        Ok(Self { file: file.clone().unbind(), name, raised: None })
    }

    fn read_some(&self, into: &mut [u8]) -> PyResult<usize> {
        Python::attach(|py| {
            let read = self.file.bind(py).call_method1("read", (into.len(),))?;
            let bytes = read.cast::<PyBytes>().map_err(|_| {
                PyTypeError::new_err(format!(
                    "{}: read() must give at most as many bytes as asked for; open the file in binary mode",
                    self.name.display()
                ))
            })?;
            let bytes = bytes.as_bytes();
            let Some(part) = into.get_mut(..bytes.len()) else {
                return Err(PyValueError::new_err(format!(
                    "{}: read() gave more bytes than asked for",
                    self.name.display()
                )));
            };
            part.copy_from_slice(bytes);
            Ok(bytes.len())
        })
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.read_some(into).map_err(|error| {
            self.raised = Some(error);
            io::Error::other("raised in Python")
        })
    }
}

fn document(item: &Bound<'_, PyAny>, index: usize, surrogates: Surrogates) -> PyResult<Document> {
    let is_text = item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>();
    if is_text || item.is_instance_of::<PyByteArray>() || item.is_instance_of::<PyMemoryView>() {
        return text::text(item, surrogates, || format!("document {index}")).map(Document::Text);
    }
    match item.extract::<PathBuf>() {
        Ok(path) => Ok(Document::File(path)),
        Err(_) if item.hasattr("read")? => Stream::new(item, index).map(Document::Stream),
        Err(_) => Err(PyTypeError::new_err(format!(
            "document {index} must be str, bytes or a path, not {}",
            item.get_type().name()?
        ))),
    }
}

/// What to do with lone surrogates of documents and with invalid UTF-8 of files.
#[derive(Clone, Copy)]
pub struct Handling {
    surrogates: Surrogates,
    invalid: InvalidUtf8,
}

impl Handling {
    /// The handling named `errors`.
    pub fn parse(errors: &str) -> PyResult<Self> {
        let (surrogates, invalid) = match errors {
            "strict" => (Surrogates::Strict, InvalidUtf8::Strict),
            "replace" => (Surrogates::Replace, InvalidUtf8::Replace),
            "keep" => (Surrogates::Strict, InvalidUtf8::Keep),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "errors must be \"strict\", \"replace\" or \"keep\", not {errors:?}"
                )));
            }
        };
        Ok(Self { surrogates, invalid })
    }
}

/// What documents are fed to.
pub trait Feed: Send {
    /// Takes documents, in the order given.
    fn feed_documents(&mut self, documents: &[&[u8]], hook: &mut Hook<'_>) -> Result<()>;
    /// Takes a file as one document.
    fn feed_file(&mut self, path: &Path, invalid: InvalidUtf8, hook: &mut Hook<'_>) -> Result<()>;
    /// Takes all of a reader, which messages call `path`, as one document.
    fn feed_reader(
        &mut self,
        reader: &mut (dyn Read + Send),
        path: &Path,
        invalid: InvalidUtf8,
        hook: &mut Hook<'_>,
    ) -> Result<()>;
}

/// Each of them has these methods of its own.
macro_rules! feed {
    ($($learner:ty),*) => {$(
        impl Feed for $learner {
            fn feed_documents(&mut self, documents: &[&[u8]], hook: &mut Hook<'_>) -> Result<()> {
                self.feed_documents(documents, hook)
            }

            fn feed_file(&mut self, path: &Path, invalid: InvalidUtf8, hook: &mut Hook<'_>) -> Result<()> {
                self.feed_file(path, invalid, hook)
            }

            fn feed_reader(
                &mut self,
                reader: &mut (dyn Read + Send),
                path: &Path,
                invalid: InvalidUtf8,
                hook: &mut Hook<'_>,
            ) -> Result<()> {
                self.feed_reader(reader, path, invalid, hook)
            }
        }
    )*};
}

feed!(Trainer, Training, Counting, UseCounter);

/// Feeds everything that `documents` gives, in order.
pub fn feed_all(
    documents: &Bound<'_, PyIterator>,
    handling: Handling,
    reporter: &mut Reporter,
    to: &mut impl Feed,
) -> PyResult<()> {
    let py = documents.py();
    let mut batch: Vec<Text> = Vec::new();
    let mut bytes = 0;
    let mut items = documents.try_iter()?.enumerate();
    loop {
        let waiting = Instant::now();
        let next = items.next();
        let Some((index, item)) = next else { break };
        let document = document(&item?, index, handling.surrogates)?;
        reporter.read_time += waiting.elapsed();
        match document {
            Document::Text(text) => {
                bytes += text.len();
                batch.push(text);
            }
            Document::File(path) => {
                feed(py, reporter, to, &mut batch)?;
                bytes = 0;
                reporter.run(py, |hook| to.feed_file(&path, handling.invalid, hook))?;
            }
            Document::Stream(mut stream) => {
                feed(py, reporter, to, &mut batch)?;
                bytes = 0;
                let name = stream.name.clone();
                let fed = reporter.run(py, |hook| to.feed_reader(&mut stream, &name, handling.invalid, hook));
                // What reading raised says more than that it failed.
                stream.raised.take().map_or(fed, Err)?;
            }
        }
        if bytes >= BATCH_BYTES || batch.len() >= BATCH_DOCUMENTS {
            feed(py, reporter, to, &mut batch)?;
            bytes = 0;
        }
    }
    feed(py, reporter, to, &mut batch)
}

/// Counts the documents gathered so far.
fn feed(py: Python<'_>, reporter: &mut Reporter, to: &mut impl Feed, batch: &mut Vec<Text>) -> PyResult<()> {
    if !batch.is_empty() {
        reporter.run(py, |hook| {
            let documents: Vec<&[u8]> = batch.iter().map(|text| &**text).collect();
            to.feed_documents(&documents, hook)
        })?;
        batch.clear();
    }
    Ok(())
}
