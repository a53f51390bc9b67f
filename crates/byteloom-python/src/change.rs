//! Another vocabulary from one that is there.

use byteloom_core::change::{Change, UseCounter};
use byteloom_core::tokenizer::Tokenizer;
use byteloom_core::train::{Symbols, TrainConfig, Trainer};
use byteloom_core::{Error, Result};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::counts::NativeCounts;
use crate::documents::{Handling, Reporter, feed_all};
use crate::options::{integer, threads as thread_option};
use crate::tokenizer::{MergeFigures, NativeTokenizer};
use crate::train::{Data, RUNNERS_UP, at_least_one, describe, describe_trace, special_text_is_ordinary};
use crate::work::run;

/// A tokenizer, the new id of each old one (-1 for none), and how many tokens stay for others only.
type Changed<'py> = (NativeTokenizer, Bound<'py, PyArray1<i64>>, usize);

impl NativeTokenizer {
    fn change<'py>(
        &self,
        py: Python<'py>,
        changed: impl FnOnce(&Tokenizer) -> Result<Change> + Send,
    ) -> PyResult<Changed<'py>> {
        let (tokenizer, new_ids, builders, first_merges) = run(py, usize::MAX, |_| {
            let Change { spec, new_ids, builders, first_merges } = changed(&self.0)?;
            Ok((Tokenizer::new(spec, self.0.cache_bytes())?, new_ids, builders, first_merges))
        })?;
        // Of the figures of merges those that are left, as long as these are the first ones.
        let dropped = first_merges.map(|first| self.0.spec().merges.len() - first);
        let figures =
            self.1.as_deref().zip(dropped).and_then(|(figures, dropped)| figures.without_last(dropped));
        let new_ids = new_ids.iter().map(|id| id.map_or(-1, i64::from)).collect();
        Ok((Self(tokenizer, figures.map(Into::into)), PyArray1::from_vec(py, new_ids), builders))
    }
}

#[pymethods]
impl NativeTokenizer {
    #[pyo3(signature = (vocab_size, /))]
    fn _resized<'py>(&self, py: Python<'py>, vocab_size: &Bound<'py, PyAny>) -> PyResult<Changed<'py>> {
        let size = size(integer("vocab_size", vocab_size)?);
        self.change(py, |tokenizer| tokenizer.resized(size))
    }

    /// Keeps the tokens that are used; with a size as many as that, least used ones gone first.
    #[pyo3(signature = (uses, vocab_size, /))]
    fn _pruned<'py>(
        &self,
        py: Python<'py>,
        uses: PyReadonlyArray1<'_, u64>,
        vocab_size: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Changed<'py>> {
        let uses = uses.as_slice()?.to_vec();
        let size = vocab_size.map(|value| integer("vocab_size", value)).transpose()?.map(size);
        self.change(py, |tokenizer| match size {
            Some(size) => tokenizer.pruned_to(&uses, size),
            None => tokenizer.pruned(&uses.iter().map(|&count| count > 0).collect::<Vec<_>>()),
        })
    }

    /// How often each token is used in documents, by id.
    #[pyo3(signature = (documents, *, counts, errors, threads, expected_bytes, progress))]
    fn _uses<'py>(
        &self,
        py: Python<'py>,
        documents: &Bound<'_, PyIterator>,
        counts: Option<&NativeCounts>,
        errors: &str,
        threads: Option<&Bound<'_, PyAny>>,
        expected_bytes: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let handling = Handling::parse(errors)?;
        let threads = thread_option(py, threads)?;
        let mut reporter = Reporter::new(progress);
        let mut counter = reporter.run(py, |_| {
            let mut counter = UseCounter::new(&self.0, threads)?;
            if let Some(bytes) = expected_bytes {
                counter.expect_bytes(bytes);
            }
            Ok(counter)
        })?;
        if let Some(counts) = counts {
            let store = counts.store();
            reporter.run(py, |hook| counter.feed_store(&store, hook))?;
        }
        feed_all(documents, handling, &mut reporter, &mut counter)?;
        let uses = reporter.run(py, |hook| counter.finish(hook))?;
        Ok(PyArray1::from_vec(py, uses))
    }
}

/// A size that no vocabulary has, for one that is no size at all: the core says what there may be.
fn size(asked: i128) -> usize {
    usize::try_from(asked).unwrap_or(if asked < 0 { 0 } else { usize::MAX })
}

/// Learns more tokens for a tokenizer from counts, if there are any, and from an iterator of documents.
#[pyfunction]
#[pyo3(signature = (
    tokenizer, documents, *, counts, vocab_size, special_text, min_frequency, max_token_length, tie_break, errors, threads,
    expected_bytes, reading, progress, cache_bytes, trace
))]
pub fn extend(
    py: Python<'_>,
    tokenizer: &NativeTokenizer,
    documents: &Bound<'_, PyIterator>,
    counts: Option<&NativeCounts>,
    vocab_size: &Bound<'_, PyAny>,
    special_text: &str,
    min_frequency: &Bound<'_, PyAny>,
    max_token_length: Option<&Bound<'_, PyAny>>,
    tie_break: &str,
    errors: &str,
    threads: Option<&Bound<'_, PyAny>>,
    expected_bytes: Option<u64>,
    reading: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
    cache_bytes: Option<&Bound<'_, PyAny>>,
    trace: bool,
) -> PyResult<NativeTokenizer> {
    let cache_bytes = match cache_bytes {
        Some(_) => crate::make::cache_limit(cache_bytes)?,
        None => tokenizer.0.cache_bytes(),
    };
    let handling = Handling::parse(errors)?;
    let size = integer("vocab_size", vocab_size)?;
    let min_frequency = integer("min_frequency", min_frequency)?;
    let max_token_length = max_token_length.map(|length| integer("max_token_length", length)).transpose()?;
    let threads = thread_option(py, threads)?;
    let mut reporter = Reporter::new(progress);
    let old = tokenizer.0.spec();
    let names: Vec<String> = old.special.tokens().iter().map(|token| token.content.clone()).collect();

    // Everything that can be wrong with the request is found before the first document is read.
    let (mut trainer, config) = reporter.run(py, |_| {
        let ordinary = special_text_is_ordinary(special_text)?;
        let config = TrainConfig {
            symbols: if old.alphabet == byteloom_core::spec::Alphabet::Bytes {
                Symbols::Bytes
            } else {
                Symbols::Characters
            },
            merges: more_wanted(&tokenizer.0, size)?,
            min_frequency: at_least_one("min_frequency", min_frequency)?,
            max_token_length: max_token_length
                .map(|length| at_least_one("max_token_length", length).map(|length| length as usize))
                .transpose()?,
            tie_break: tie_break.parse()?,
            taken: if ordinary { names.clone() } else { Vec::new() },
            threads,
            trace: trace.then_some(RUNNERS_UP),
            seeds: Vec::new(),
        };
        let mut trainer = Trainer::continuing(old, config.clone())?;
        if let Some(bytes) = expected_bytes {
            trainer.expect_bytes(bytes);
        }
        Ok((trainer, config))
    })?;
    let boundaries: &[String] = if config.taken.is_empty() { &names } else { &[] };
    let data = Data { counts, documents, reading };
    let fed = data.feed(&mut trainer, boundaries, handling, &mut reporter)?;
    let (made, figures) = reporter.run(py, |hook| {
        let (learned, report) = trainer.finish(hook)?;
        let mut spec = old.extended(&learned.merges)?;
        let mut training = describe(&report, &learned, &config, &spec, fed);
        training["extended_from"] = tokenizer.0.vocab_size().into();
        if let Some(steps) = &learned.trace {
            training["trace"] = describe_trace(steps, &learned.merges, &learned.counts, 0);
        }
        if let Some(facts) = spec.metadata.as_object_mut() {
            facts.insert("training".to_owned(), training);
        }
        let figures = MergeFigures { counts: learned.counts, tied: learned.tied };
        Ok((Tokenizer::new(spec, cache_bytes)?, figures))
    })?;
    Ok(NativeTokenizer(made, Some(figures.into())))
}

fn more_wanted(tokenizer: &Tokenizer, size: i128) -> Result<usize> {
    let now = tokenizer.vocab_size();
    let free = byteloom_core::token::MAX_TOKEN_ID - tokenizer.spec().max_token_id();
    let most = now + free as usize;
    match usize::try_from(size) {
        Ok(size) if (now..=most).contains(&size) => Ok(size - now),
        asked => {
            let advice = match asked {
                Ok(asked) if asked < now => "resized and prune make a vocabulary smaller".to_owned(),
                _ => format!(
                    "new ids come behind the largest, and {} is the last",
                    byteloom_core::token::MAX_TOKEN_ID
                ),
            };
            Err(Error::Training(format!(
                "vocab_size must be from {now} (the tokens that are there) to {most}, not {size}; {advice}"
            )))
        }
    }
}
