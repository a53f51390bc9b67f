//! Training a tokenizer.

use std::time::{Duration, Instant};

use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::spec::{Roles, SpecialPosition, TokenizerSpec};
use byteloom_core::special::{SpecialMatcher, SpecialToken, SpecialTokens};
use byteloom_core::token::MAX_TOKEN_ID;
use byteloom_core::tokenizer::Tokenizer;
use byteloom_core::train::{Learned, Symbols, TraceStep, TrainConfig, TrainReport, Trainer, joined};
use byteloom_core::{Error, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use serde_json::Value;

use crate::counts::NativeCounts;
use crate::documents::{Handling, Reporter, feed_all};
use crate::make::{cache_limit, check_unk};
use crate::options::{integer, threads as thread_option};
use crate::tokenizer::{MergeFigures, NativeTokenizer};

/// A trace tells of this many pairs that came next.
pub const RUNNERS_UP: usize = 3;

/// Learns a tokenizer from counts, if there are any, and from an iterator of documents.
#[pyfunction]
#[pyo3(signature = (
    documents, *, counts, vocab_size, pattern, alphabet, unk, special_tokens, special_position, special_text, bos, eos, pad,
    min_frequency, max_token_length, tie_break, errors, threads, expected_bytes, reading, progress, cache_bytes, trace,
    seed_tokens
))]
pub fn train(
    py: Python<'_>,
    documents: &Bound<'_, PyIterator>,
    counts: Option<&NativeCounts>,
    vocab_size: &Bound<'_, PyAny>,
    pattern: &str,
    alphabet: &str,
    unk: Option<&str>,
    special_tokens: Vec<String>,
    special_position: &str,
    special_text: &str,
    bos: Option<&str>,
    eos: Option<&str>,
    pad: Option<&str>,
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
    seed_tokens: Vec<Vec<u8>>,
) -> PyResult<NativeTokenizer> {
    let cache_bytes = cache_limit(cache_bytes)?;
    let handling = Handling::parse(errors)?;
    let size = integer("vocab_size", vocab_size)?;
    let min_frequency = integer("min_frequency", min_frequency)?;
    let max_token_length = max_token_length.map(|length| integer("max_token_length", length)).transpose()?;
    let threads = thread_option(py, threads)?;
    let mut reporter = Reporter::new(progress);

    // Everything that can be wrong with the request is found before the first document is read.
    let roles = Roles { bos, eos, pad };
    let (mut trainer, position, mut config) = reporter.run(py, |_| {
        let position = SpecialPosition::parse(special_position)?;
        let symbols = Symbols::parse(alphabet)?;
        check_unk(symbols == Symbols::Characters, unk)?;
        let ordinary = special_text_is_ordinary(special_text)?;
        let config = TrainConfig {
            symbols,
            merges: match symbols {
                Symbols::Bytes => merges_wanted(size, 256, "bytes", special_tokens.len())?,
                Symbols::Characters => 0, // known once the characters are
            },
            min_frequency: at_least_one("min_frequency", min_frequency)?,
            max_token_length: max_token_length
                .map(|length| at_least_one("max_token_length", length).map(|length| length as usize))
                .transpose()?,
            tie_break: tie_break.parse()?,
            taken: if ordinary { special_tokens.clone() } else { Vec::new() },
            threads,
            trace: trace.then_some(RUNNERS_UP),
            seeds: seed_tokens,
        };
        let declared = (0..).zip(&special_tokens).map(|(id, name)| SpecialToken::new(name.clone(), id));
        let mut special = SpecialTokens::new(declared.collect())?;
        roles.assign(&mut special)?;
        if let Some(unk) = unk
            && special.id_of(unk).is_none()
        {
            return Err(Error::SpecialToken(format!(
                "unk names {unk:?}, which is not a special token; declare it among the special tokens"
            )));
        }
        let matcher = SpecialMatcher::new(if ordinary { &[] } else { special.tokens() })?;
        let mut trainer = Trainer::new(PreTokenizer::new(pattern)?, matcher, config.clone())?;
        if let Some(bytes) = expected_bytes {
            trainer.expect_bytes(bytes);
        }
        Ok((trainer, position, config))
    })?;
    let pretokenizer = PreTokenizer::new(pattern).map_err(|error| crate::error::to_python(py, error))?;

    let boundaries: &[String] = if config.taken.is_empty() { &special_tokens } else { &[] };
    let data = Data { counts, documents, reading };
    let fed = data.feed(&mut trainer, boundaries, handling, &mut reporter)?;

    let (tokenizer, steps) = reporter.run(py, |hook| {
        let mut characters = None;
        if config.symbols == Symbols::Characters {
            let found = trainer.characters()?;
            config.merges = merges_wanted(size, found.len(), "characters of the text", special_tokens.len())?;
            trainer.set_merges(config.merges);
            characters = Some(found);
        }
        let (learned, report) = trainer.finish(hook)?;
        let (merges, names) = (&learned.merges, &special_tokens);
        let mut spec = match (&characters, unk) {
            (Some(characters), Some(unk)) => {
                TokenizerSpec::from_character_merges(characters, unk, merges, pretokenizer, names, position)
            }
            _ => TokenizerSpec::from_merges(merges, pretokenizer, names, position),
        }?;
        roles.assign(&mut spec.special)?;
        spec.metadata = serde_json::json!({"training": describe(&report, &learned, &config, &spec, fed)});
        // Ids are numbered as symbols are, behind special tokens where those come first.
        let first = spec.merges.first().zip(learned.merges.first());
        let offset = first.map_or(0, |(made, learned)| made.0 - learned.0);
        if let Some(steps) = &learned.trace {
            spec.metadata["training"]["trace"] =
                describe_trace(steps, &learned.merges, &learned.counts, offset);
        }
        if !config.seeds.is_empty() {
            let id = |merge: usize| offset + learned.base + merge as u32;
            spec.metadata["training"]["seed_tokens"] = serde_json::json!({
                "asked": config.seeds.len(),
                "added": report.seeded.clone().map(id).collect::<Vec<_>>(),
            });
        }
        let steps = MergeFigures { counts: learned.counts, tied: learned.tied };
        Ok((Tokenizer::new(spec, cache_bytes)?, steps))
    })?;
    Ok(NativeTokenizer(tokenizer, Some(steps.into())))
}

pub fn at_least_one(option: &str, value: i128) -> Result<u64> {
    u64::try_from(value)
        .ok()
        .filter(|&value| value > 0)
        .ok_or_else(|| Error::Training(format!("{option} must be at least 1 and below 2^64, not {value}")))
}

pub fn special_text_is_ordinary(special_text: &str) -> Result<bool> {
    match special_text {
        "boundary" => Ok(false),
        "ordinary" => Ok(true),
        _ => Err(Error::Argument(format!(
            "special_text must be \"boundary\" or \"ordinary\", not {special_text:?}"
        ))),
    }
}

fn merges_wanted(vocab_size: i128, symbols: usize, named: &str, specials: usize) -> Result<usize> {
    let least = symbols + specials;
    let most = MAX_TOKEN_ID as usize + 1;
    match usize::try_from(vocab_size) {
        Ok(size) if (least..=most).contains(&size) => Ok(size - least),
        _ => Err(Error::Training(format!(
            "vocab_size must be from {least} (the {symbols} {named} and {specials} special tokens) to {most}, not \
             {vocab_size}"
        ))),
    }
}

/// What a training is given.
pub struct Data<'a, 'py> {
    pub counts: Option<&'a NativeCounts>,
    pub documents: &'a Bound<'py, PyIterator>,
    /// Tells what readers of files left out, once all is read.
    pub reading: &'a Bound<'py, PyAny>,
}

/// What feeding a trainer told.
pub struct Fed {
    reading: Value,
    /// What waiting for documents took, when everything was there, and how long it was then since the start.
    times: (Duration, Instant, Duration),
}

impl Data<'_, '_> {
    /// Feeds counts first, of a text that had `boundaries` for special tokens, then documents.
    pub fn feed(
        &self,
        trainer: &mut Trainer,
        boundaries: &[String],
        handling: Handling,
        reporter: &mut Reporter,
    ) -> PyResult<Fed> {
        let mut before = Value::Null;
        if let Some(counts) = self.counts {
            let store = counts.store();
            before = store.reading().clone();
            reporter.run(self.documents.py(), |hook| {
                store.check_special_tokens(boundaries)?;
                trainer.feed_store(&store, hook)
            })?;
        }
        feed_all(self.documents, handling, reporter, trainer)?;
        let reading = joined(before, said_by_readers(self.reading)?);
        Ok(Fed { reading, times: (reporter.read_time, Instant::now(), reporter.elapsed()) })
    }
}

/// What the Python half says of the files it read: JSON from a callable, or `None`.
pub fn said_by_readers(reading: &Bound<'_, PyAny>) -> PyResult<Value> {
    let said: Option<String> = reading.call0()?.extract()?;
    said.map_or(Ok(Value::Null), |json| {
        serde_json::from_str(&json).map_err(|error| PyValueError::new_err(error.to_string()))
    })
}

/// The report as it is kept with the tokenizer.
pub fn describe(
    report: &TrainReport,
    learned: &Learned,
    config: &TrainConfig,
    spec: &TokenizerSpec,
    fed: Fed,
) -> Value {
    let vocab_size = spec.vocab_size();
    let asked = vocab_size + config.merges - report.merges;
    let Fed { reading, times: (read, all_read, before) } = fed;
    let coverage = learned.unfinished.map(|left| {
        // A pre-token is one token, and one more for each pair left in it.
        let tokens = report.pretokens.saturating_add(left.pairs);
        serde_json::json!({
            "tokens": tokens,
            "bytes_per_token": (tokens > 0).then(|| report.pretoken_bytes as f64 / tokens as f64),
            "whole_pretokens": report.pretokens - left.weight,
            "whole_unique_pretokens": report.unique_pretokens as u64 - left.words,
        })
    });
    serde_json::json!({
        "vocab_size": vocab_size,
        "vocab_size_asked": asked,
        "alphabet": config.symbols.as_str(),
        "documents": report.documents,
        "bytes": report.bytes,
        "invalid_bytes": report.invalid_bytes,
        "pretokens": report.pretokens,
        "unique_pretokens": report.unique_pretokens,
        "pretoken_bytes": report.pretoken_bytes,
        "special_tokens_seen": report.special_tokens_seen,
        "reading": reading,
        "merges": report.merges,
        "ties": learned.tied.iter().filter(|&&tied| tied).count(),
        "coverage": coverage,
        "stopped": report.stopped.as_str(),
        "min_frequency": config.min_frequency,
        "max_token_length": config.max_token_length,
        "tie_break": config.tie_break.as_str(),
        "threads": config.threads,
        "seconds": {
            "read": read.as_secs_f64(),
            "count": report.count_time.as_secs_f64(),
            "merge": report.merge_time.as_secs_f64(),
            "total": (before + all_read.elapsed()).as_secs_f64(),
        },
    })
}

/// The trace as it is kept with the tokenizer: for each merge its pair, its count, how many pairs had that count, and
/// the runners-up with their counts. Pairs are ids of the tokenizer, which begin `offset` behind those learned.
pub fn describe_trace(steps: &[TraceStep], merges: &[(u32, u32)], counts: &[u64], offset: u32) -> Value {
    let rows = steps.iter().zip(merges).zip(counts).map(|((step, (left, right)), count)| {
        let next: Vec<_> = step
            .runners_up
            .iter()
            .map(|((left, right), count)| (left + offset, right + offset, count))
            .collect();
        serde_json::json!([left + offset, right + offset, count, step.tied, next])
    });
    rows.collect::<Vec<_>>().into()
}
