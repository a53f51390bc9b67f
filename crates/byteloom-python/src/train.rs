//! Training: documents from a Python iterator, progress and Ctrl-C to a Python callable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::spec::{Roles, SpecialPosition, TokenizerSpec};
use byteloom_core::special::{SpecialMatcher, SpecialToken, SpecialTokens};
use byteloom_core::token::{MAX_TOKEN_ID, TokenId};
use byteloom_core::tokenizer::Tokenizer;
use byteloom_core::train::{InvalidUtf8, Learned, Progress, TraceStep, TrainConfig, TrainReport, Trainer};
use byteloom_core::{Error, Result};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyIterator, PyMemoryView, PyString};

use crate::make::cache_limit;
use crate::options::threads as thread_option;
use crate::text::{self, Surrogates, Text};
use crate::tokenizer::NativeTokenizer;
use crate::work::finish;

/// Documents are counted together once they have this many bytes, or are this many.
const BATCH_BYTES: usize = 8 << 20;
const BATCH_DOCUMENTS: usize = 1 << 16;
/// A trace tells of this many pairs that came next.
const RUNNERS_UP: usize = 3;

/// Tells Python how training goes, and training whether to stop.
struct Reporter {
    callback: Option<Py<PyAny>>,
    started: Instant,
    raised: Option<PyErr>,
}

impl Reporter {
    fn report(&mut self, progress: &Progress) -> Result<()> {
        let result = Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = &self.callback else { return Ok(()) };
            let state = PyDict::new(py);
            state.set_item("stage", progress.stage.as_str())?;
            state.set_item("done", progress.done)?;
            state.set_item("total", progress.total)?;
            state.set_item("seconds", self.started.elapsed().as_secs_f64())?;
            callback.call1(py, (state,)).map(drop)
        });
        result.map_err(|error| {
            self.raised = Some(error);
            Error::Interrupted
        })
    }

    /// Runs a part of training without the GIL.
    fn run<T: Send>(
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
}

fn document(item: &Bound<'_, PyAny>, index: usize, surrogates: Surrogates) -> PyResult<Document> {
    let is_text = item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>();
    if is_text || item.is_instance_of::<PyByteArray>() || item.is_instance_of::<PyMemoryView>() {
        return text::text(item, surrogates, || format!("document {index}")).map(Document::Text);
    }
    match item.extract::<PathBuf>() {
        Ok(path) => Ok(Document::File(path)),
        Err(_) => Err(PyTypeError::new_err(format!(
            "document {index} must be str, bytes or a path, not {}",
            item.get_type().name()?
        ))),
    }
}

/// Learns a tokenizer from an iterator of documents.
#[pyfunction]
#[pyo3(signature = (
    documents, *, vocab_size, pattern, special_tokens, special_position, bos, eos, pad, min_frequency,
    max_token_length, tie_break, errors, threads, expected_bytes, progress, cache_bytes, trace
))]
pub fn train(
    py: Python<'_>,
    documents: &Bound<'_, PyIterator>,
    vocab_size: &Bound<'_, PyAny>,
    pattern: &str,
    special_tokens: Vec<String>,
    special_position: &str,
    bos: Option<&str>,
    eos: Option<&str>,
    pad: Option<&str>,
    min_frequency: &Bound<'_, PyAny>,
    max_token_length: Option<&Bound<'_, PyAny>>,
    tie_break: &str,
    errors: &str,
    threads: Option<&Bound<'_, PyAny>>,
    expected_bytes: Option<u64>,
    progress: Option<Py<PyAny>>,
    cache_bytes: Option<&Bound<'_, PyAny>>,
    trace: bool,
) -> PyResult<NativeTokenizer> {
    let cache_bytes = cache_limit(cache_bytes)?;
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
    let size = number("vocab_size", vocab_size)?;
    let min_frequency = number("min_frequency", min_frequency)?;
    let max_token_length = max_token_length.map(|length| number("max_token_length", length)).transpose()?;
    let threads = thread_option(py, threads)?;
    let mut reporter = Reporter { callback: progress, started: Instant::now(), raised: None };

    // Everything that can be wrong with the request is found before the first document is read.
    let roles = Roles { bos, eos, pad };
    let (mut trainer, position, config) = reporter.run(py, |_| {
        let position = SpecialPosition::parse(special_position)?;
        let config = TrainConfig {
            merges: merges_wanted(size, special_tokens.len())?,
            min_frequency: at_least_one("min_frequency", min_frequency)?,
            max_token_length: max_token_length
                .map(|length| at_least_one("max_token_length", length).map(|length| length as usize))
                .transpose()?,
            tie_break: tie_break.parse()?,
            threads,
            trace: trace.then_some(RUNNERS_UP),
        };
        let declared = (0..).zip(&special_tokens).map(|(id, name)| SpecialToken::new(name.clone(), id));
        let mut special = SpecialTokens::new(declared.collect())?;
        roles.assign(&mut special)?;
        let matcher = SpecialMatcher::new(special.tokens())?;
        let mut trainer = Trainer::new(PreTokenizer::new(pattern)?, matcher, config.clone())?;
        if let Some(bytes) = expected_bytes {
            trainer.expect_bytes(bytes);
        }
        Ok((trainer, position, config))
    })?;
    let pretokenizer = PreTokenizer::new(pattern).map_err(|error| crate::error::to_python(py, error))?;

    let mut batch: Vec<Text> = Vec::new();
    let mut bytes = 0;
    for (index, item) in documents.try_iter()?.enumerate() {
        match document(&item?, index, surrogates)? {
            Document::Text(text) => {
                bytes += text.len();
                batch.push(text);
            }
            Document::File(path) => {
                feed(py, &mut reporter, &mut trainer, &mut batch)?;
                bytes = 0;
                reporter.run(py, |hook| trainer.feed_file(&path, invalid, hook))?;
            }
        }
        if bytes >= BATCH_BYTES || batch.len() >= BATCH_DOCUMENTS {
            feed(py, &mut reporter, &mut trainer, &mut batch)?;
            bytes = 0;
        }
    }
    feed(py, &mut reporter, &mut trainer, &mut batch)?;

    let tokenizer = reporter.run(py, |hook| {
        let (learned, report) = trainer.finish(hook)?;
        let mut spec = TokenizerSpec::from_merges(&learned.merges, pretokenizer, &special_tokens, position)?;
        roles.assign(&mut spec.special)?;
        spec.metadata = serde_json::json!({"training": describe(&report, &config, &spec)});
        if let Some(steps) = &learned.trace {
            spec.metadata["training"]["trace"] = describe_trace(steps, &learned, &spec);
        }
        Tokenizer::new(spec, cache_bytes)
    })?;
    Ok(NativeTokenizer(tokenizer))
}

/// Counts the documents gathered so far.
fn feed(
    py: Python<'_>,
    reporter: &mut Reporter,
    trainer: &mut Trainer,
    batch: &mut Vec<Text>,
) -> PyResult<()> {
    if !batch.is_empty() {
        reporter.run(py, |hook| {
            let documents: Vec<&[u8]> = batch.iter().map(|text| &**text).collect();
            trainer.feed_documents(&documents, hook)
        })?;
        batch.clear();
    }
    Ok(())
}

fn number(option: &str, value: &Bound<'_, PyAny>) -> PyResult<i128> {
    text::index(value).map_err(|_| {
        let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("{option} must be an integer, not {name}"))
    })
}

fn at_least_one(option: &str, value: i128) -> Result<u64> {
    u64::try_from(value)
        .ok()
        .filter(|&value| value > 0)
        .ok_or_else(|| Error::Training(format!("{option} must be 1 or more, not {value}")))
}

fn merges_wanted(vocab_size: i128, specials: usize) -> Result<usize> {
    let least = 256 + specials;
    let most = MAX_TOKEN_ID as usize + 1;
    match usize::try_from(vocab_size) {
        Ok(size) if (least..=most).contains(&size) => Ok(size - least),
        _ => Err(Error::Training(format!(
            "vocab_size must be from {least} (the 256 bytes and {specials} special tokens) to {most}, not {vocab_size}"
        ))),
    }
}

/// The report as it is kept with the tokenizer.
fn describe(report: &TrainReport, config: &TrainConfig, spec: &TokenizerSpec) -> serde_json::Value {
    let vocab_size = spec.vocab.len() + spec.special.tokens().len();
    let asked: TokenId = (256 + config.merges + spec.special.tokens().len()) as TokenId;
    let (count, merge) = (report.count_time.as_secs_f64(), report.merge_time.as_secs_f64());
    serde_json::json!({
        "vocab_size": vocab_size,
        "vocab_size_asked": asked,
        "documents": report.documents,
        "bytes": report.bytes,
        "invalid_bytes": report.invalid_bytes,
        "pretokens": report.pretokens,
        "unique_pretokens": report.unique_pretokens,
        "special_tokens_seen": report.special_tokens_seen,
        "merges": report.merges,
        "stopped": report.stopped.as_str(),
        "min_frequency": config.min_frequency,
        "max_token_length": config.max_token_length,
        "tie_break": config.tie_break.as_str(),
        "threads": config.threads,
        "seconds": {"count": count, "merge": merge, "total": count + merge},
    })
}

/// The trace as it is kept with the tokenizer: for each merge its pair, its count, how many pairs had that count, and
/// the runners-up with their counts. Pairs are ids of the tokenizer.
fn describe_trace(steps: &[TraceStep], learned: &Learned, spec: &TokenizerSpec) -> serde_json::Value {
    // Ids are numbered as symbols are, behind special tokens where those come first.
    let first = spec.merges.first().zip(learned.merges.first());
    let offset = first.map_or(0, |(made, learned)| made.0 - learned.0);
    let rows = steps.iter().zip(&spec.merges).zip(&learned.counts).map(|((step, (left, right)), count)| {
        let next: Vec<_> = step
            .runners_up
            .iter()
            .map(|((left, right), count)| (left + offset, right + offset, count))
            .collect();
        serde_json::json!([left, right, count, step.tied, next])
    });
    rows.collect::<Vec<_>>().into()
}
