//! Training a tokenizer.

use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::spec::{Roles, SpecialPosition, TokenizerSpec};
use byteloom_core::special::{SpecialMatcher, SpecialToken, SpecialTokens};
use byteloom_core::token::{MAX_TOKEN_ID, TokenId};
use byteloom_core::tokenizer::Tokenizer;
use byteloom_core::train::{TrainConfig, TrainReport, Trainer};
use byteloom_core::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::documents::{Handling, Reporter, feed_all};
use crate::make::cache_limit;
use crate::options::{integer, threads as thread_option};
use crate::tokenizer::NativeTokenizer;

/// Learns a tokenizer from an iterator of documents.
#[pyfunction]
#[pyo3(signature = (
    documents, *, vocab_size, pattern, special_tokens, special_position, bos, eos, pad, min_frequency,
    max_token_length, tie_break, errors, threads, expected_bytes, progress, cache_bytes
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

    feed_all(documents, handling, &mut reporter, &mut trainer)?;

    let tokenizer = reporter.run(py, |hook| {
        let (learned, report) = trainer.finish(hook)?;
        let mut spec = TokenizerSpec::from_merges(&learned.merges, pretokenizer, &special_tokens, position)?;
        roles.assign(&mut spec.special)?;
        spec.metadata = serde_json::json!({"training": describe(&report, &config, &spec)});
        Tokenizer::new(spec, cache_bytes)
    })?;
    Ok(NativeTokenizer(tokenizer))
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
