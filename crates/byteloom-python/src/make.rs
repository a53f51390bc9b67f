//! Functions that make tokenizers: readers here, the trainer in `train.rs`.

use std::path::PathBuf;

use byteloom_core::cache::DEFAULT_CACHE_BYTES;
use byteloom_core::format::{self, gpt2_files, hf_json, minbpe, native, sentencepiece, tiktoken};
use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::spec::{Roles, SpecialPosition, TokenizerSpec};
use byteloom_core::special::SpecialToken;
use byteloom_core::token::{MAX_TOKEN_ID, TokenId};
use byteloom_core::tokenizer::Tokenizer;
use byteloom_core::{Error, Result, files};
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMapping};

use crate::error::{raise, to_python};
use crate::text;
use crate::tokenizer::NativeTokenizer;
use crate::work::run;

/// `cache_bytes`, or the default.
pub fn cache_limit(cache_bytes: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let Some(value) = cache_bytes else { return Ok(DEFAULT_CACHE_BYTES) };
    let number = text::index(value).map_err(|_| PyTypeError::new_err("cache_bytes must be an integer"))?;
    usize::try_from(number)
        .map_err(|_| PyValueError::new_err(format!("cache_bytes must be 0 or more, not {number}")))
}

/// An id that a caller wants a token to have.
pub fn token_id(value: &Bound<'_, PyAny>) -> PyResult<TokenId> {
    let py = value.py();
    let number = text::index(value).map_err(|_| {
        let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("ids must be integers, not {name}"))
    })?;
    match TokenId::try_from(number) {
        Ok(id) if id <= MAX_TOKEN_ID => Ok(id),
        _ => Err(raise(py, "VocabularyError", format!("{number} is no id: ids go from 0 to {MAX_TOKEN_ID}"))),
    }
}

fn build(
    py: Python<'_>,
    size: usize,
    cache_bytes: usize,
    read: impl FnOnce() -> Result<TokenizerSpec> + Send,
) -> PyResult<NativeTokenizer> {
    run(py, size, |_| Tokenizer::new(read()?, cache_bytes)).map(|built| NativeTokenizer(built, None))
}

/// A tokenizer from the bytes of a native file.
#[pyfunction]
#[pyo3(signature = (data, /, *, cache_bytes))]
pub fn from_json(
    py: Python<'_>,
    data: &[u8],
    cache_bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeTokenizer> {
    let limit = cache_limit(cache_bytes)?;
    build(py, data.len(), limit, || native::read(data))
}

/// A tokenizer from its merges.
#[pyfunction]
#[pyo3(signature = (
    merges, /, *, characters, unk, pattern, special_tokens, special_position, bos, eos, pad, cache_bytes
))]
pub fn from_merges(
    py: Python<'_>,
    merges: &Bound<'_, PyAny>,
    characters: Option<Vec<String>>,
    unk: Option<&str>,
    pattern: &str,
    special_tokens: Vec<String>,
    special_position: &str,
    bos: Option<&str>,
    eos: Option<&str>,
    pad: Option<&str>,
    cache_bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeTokenizer> {
    let limit = cache_limit(cache_bytes)?;
    let position = SpecialPosition::parse(special_position).map_err(|error| to_python(py, error))?;
    let base = if position == SpecialPosition::First { special_tokens.len() as TokenId } else { 0 };
    let characters = characters.map(|all| single_characters(py, &all)).transpose()?;
    let pairs = merge_pairs(merges, base)?;
    let roles = Roles { bos, eos, pad };
    build(py, pairs.len(), limit, || {
        check_unk(characters.is_some(), unk)?;
        let pretokenizer = PreTokenizer::new(pattern)?;
        let mut spec = match (&characters, unk) {
            (Some(characters), Some(unk)) => TokenizerSpec::from_character_merges(
                characters,
                unk,
                &pairs,
                pretokenizer,
                &special_tokens,
                position,
            ),
            _ => TokenizerSpec::from_merges(&pairs, pretokenizer, &special_tokens, position),
        }
        .map_err(|error| match error {
            // There is no file that could be faulty.
            Error::Format { place, message } => Error::Vocabulary(format!("{place}: {message}")),
            other => other,
        })?;
        roles.assign(&mut spec.special)?;
        Ok(spec)
    })
}

/// That `unk` is there for an alphabet of characters, and only then.
pub fn check_unk(characters: bool, unk: Option<&str>) -> Result<()> {
    let message = match (characters, unk) {
        (true, None) => {
            "an alphabet of characters needs unk: the special token that every other character becomes"
        }
        (false, Some(_)) => {
            "unk is for alphabets of characters; with bytes there is no unknown text, so leave it out"
        }
        _ => return Ok(()),
    };
    Err(Error::SpecialToken(message.to_owned()))
}

fn single_characters(py: Python<'_>, all: &[String]) -> PyResult<Vec<char>> {
    all.iter()
        .enumerate()
        .map(|(index, text)| match *text.chars().collect::<Vec<_>>() {
            [character] => Ok(character),
            _ => Err(raise(
                py,
                "VocabularyError",
                format!("characters[{index}] must be one character, not {text:?}"),
            )),
        })
        .collect()
}

/// Pairs of ids, counted from `base`.
fn merge_pairs(merges: &Bound<'_, PyAny>, base: TokenId) -> PyResult<Vec<(TokenId, TokenId)>> {
    let py = merges.py();
    let no_pair = |index: usize, item: &Bound<'_, PyAny>| -> PyErr {
        match item.get_type().name() {
            Ok(name) => PyTypeError::new_err(format!("merges[{index}] must be a pair of ids, not {name}")),
            Err(error) => error,
        }
    };
    let id = |index: usize, value: &Bound<'_, PyAny>| -> PyResult<TokenId> {
        let number = text::index(value).map_err(|_| no_pair(index, value))?;
        number.checked_sub(base.into()).and_then(|relative| relative.try_into().ok()).ok_or_else(|| {
            let message = if (0..i128::from(base)).contains(&number) {
                format!("merges[{index}]: id {number} is a special token, and no merge joins one")
            } else {
                format!("merges[{index}]: {number} is no id: ids go from 0 to {MAX_TOKEN_ID}")
            };
            raise(py, "VocabularyError", message)
        })
    };
    let mut pairs = Vec::with_capacity(merges.len().unwrap_or(0));
    for (index, item) in merges.try_iter()?.enumerate() {
        let item = item?;
        let parts: Vec<Bound<'_, PyAny>> = item.extract().map_err(|_| no_pair(index, &item))?;
        match parts.as_slice() {
            [left, right] => pairs.push((id(index, left)?, id(index, right)?)),
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "merges[{index}] must be a pair of ids, not {} of them",
                    parts.len()
                )));
            }
        }
    }
    Ok(pairs)
}

/// A tokenizer from tiktoken's ranks: the bytes of a file, or a mapping of token bytes to ids.
#[pyfunction]
#[pyo3(signature = (source, /, *, pattern, special_tokens, cache_bytes))]
pub fn from_tiktoken(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    pattern: Option<&str>,
    special_tokens: Option<&Bound<'_, PyMapping>>,
    cache_bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeTokenizer> {
    let limit = cache_limit(cache_bytes)?;
    let special = special_tokens.map(special_list).transpose()?;
    if let Ok(file) = source.cast::<PyBytes>() {
        let data = file.as_bytes();
        return build(py, data.len(), limit, || tiktoken::read(data, pattern, special));
    }
    let mut ranks = Vec::new();
    for item in source.cast::<PyMapping>()?.items()?.iter() {
        let (token, id): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let bytes =
            token.cast::<PyBytes>().map_err(|_| PyTypeError::new_err("tokens of ranks must be bytes"))?;
        ranks.push((token_id(&id)?, bytes.as_bytes().to_vec()));
    }
    let Some(pattern) = pattern else {
        return Err(raise(
            py,
            "FormatError",
            "ranks hold no pattern; say which they were made with (pattern=\"cl100k\", for instance)"
                .to_owned(),
        ));
    };
    build(py, usize::MAX, limit, || tiktoken::from_ranks(ranks, pattern, special.unwrap_or_default()))
}

/// A tokenizer from a `tokenizer.json`, with the `tokenizer_config.json` beside it if there is one.
#[pyfunction]
#[pyo3(signature = (data, config, /, *, cache_bytes))]
pub fn from_huggingface(
    py: Python<'_>,
    data: &[u8],
    config: Option<&[u8]>,
    cache_bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeTokenizer> {
    build(py, data.len(), cache_limit(cache_bytes)?, || hf_json::read(data, config))
}

/// A tokenizer from a file that is certain to be a `tokenizer.json`, which is found while it is read; `None` of any
/// other, and at any fault: the ordinary way names it. `config` gives the bytes of the `tokenizer_config.json` beside
/// the file if there is one, and is called for such a file only.
#[pyfunction]
#[pyo3(signature = (data, config, /, *, cache_bytes))]
pub fn from_plain_huggingface(
    py: Python<'_>,
    data: &[u8],
    config: &Bound<'_, PyAny>,
    cache_bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<NativeTokenizer>> {
    let Some(spec) = run(py, data.len(), |_| Ok(hf_json::read_plain(data)))? else { return Ok(None) };
    let finish = || {
        let config = config.call0()?;
        let config: Option<&[u8]> = config.extract()?;
        build(py, data.len(), cache_limit(cache_bytes)?, || hf_json::with_config(spec, config))
    };
    match finish() {
        Ok(tokenizer) => Ok(Some(tokenizer)),
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A tokenizer from `vocab.json` and `merges.txt`.
#[pyfunction]
#[pyo3(signature = (vocab, merges, /, *, pattern, special_tokens, cache_bytes))]
pub fn from_gpt2_files(
    py: Python<'_>,
    vocab: &[u8],
    merges: &[u8],
    pattern: &str,
    special_tokens: Vec<(String, Option<Bound<'_, PyAny>>)>,
    cache_bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeTokenizer> {
    let special = special_tokens
        .into_iter()
        .map(|(content, id)| Ok((content, id.map(|id| token_id(&id)).transpose()?)))
        .collect::<PyResult<Vec<_>>>()?;
    build(py, vocab.len(), cache_limit(cache_bytes)?, || gpt2_files::read(vocab, merges, pattern, &special))
}

/// A tokenizer from a SentencePiece model.
#[pyfunction]
#[pyo3(signature = (data, /, *, cache_bytes))]
pub fn from_sentencepiece(
    py: Python<'_>,
    data: &[u8],
    cache_bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeTokenizer> {
    build(py, data.len(), cache_limit(cache_bytes)?, || sentencepiece::read(data))
}

/// A tokenizer from a model of minbpe.
#[pyfunction]
#[pyo3(signature = (data, /, *, cache_bytes))]
pub fn from_minbpe(
    py: Python<'_>,
    data: &[u8],
    cache_bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<NativeTokenizer> {
    build(py, data.len(), cache_limit(cache_bytes)?, || minbpe::read(data))
}

/// The format of a file, by its content: `"byteloom"`, `"huggingface"`, `"tiktoken"`, `"gpt2-vocab"`, `"gpt2-merges"`,
/// `"minbpe"`, `"sentencepiece"` or `"unknown"`.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub fn sniff(data: &[u8]) -> &'static str {
    format::sniff::sniff(data).as_str()
}

fn special_list(special_tokens: &Bound<'_, PyMapping>) -> PyResult<Vec<SpecialToken>> {
    special_tokens
        .items()?
        .iter()
        .map(|item| {
            let (content, id): (String, Bound<'_, PyAny>) = item.extract()?;
            Ok(SpecialToken::new(content, token_id(&id)?))
        })
        .collect()
}

/// The names of the built-in patterns.
///
/// >>> import byteloom as bl
/// >>> "cl100k" in bl.pattern_names()
/// True
#[pyfunction]
pub fn pattern_names() -> Vec<&'static str> {
    byteloom_core::pretokenize::PreTokenizer::names().to_vec()
}

/// Which code scans text: `"avx2"`, `"portable"` or `"scalar"`; `BYTELOOM_SIMD` forces one.
///
/// >>> from byteloom import _native
/// >>> _native.simd_path() in {"avx2", "portable", "scalar"}
/// True
#[pyfunction]
pub fn simd_path() -> &'static str {
    byteloom_core::pretokenize::simd_path()
}

/// Writes a file beside its place, syncs it and renames it.
#[pyfunction]
#[pyo3(signature = (path, data, /))]
pub fn write_atomically(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    run(py, usize::MAX, |_| files::write_atomically(&path, data))
}
