//! Text to ids: the `encode` family, counts and pre-tokens.

use std::borrow::Cow;
use std::ops::Range;

use byteloom_core::parallel::FlatBatch;
use byteloom_core::token::TokenId;
use byteloom_core::tokenizer::{SHORT, SpecialPolicy, Tokenizer};
use byteloom_core::utf8::UnitIndex;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyType};

use crate::arrays::{Dtype, fill_out};
use crate::error::to_python;
use crate::lists;
use crate::options::{Optional, batch_threads, policy};
use crate::pool;
use crate::text::{self, Surrogates, Text};
use crate::tokenizer::NativeTokenizer;
use crate::work::{guarded, run};

/// Ids and the span of each.
type Offsets = (Vec<TokenId>, Vec<(usize, usize)>);

/// What `encode` and its relatives take, resolved.
pub struct Request<'t> {
    pub text: Text,
    pub policy: Cow<'t, SpecialPolicy>,
    pub bos: Option<TokenId>,
    pub eos: Option<TokenId>,
}

impl NativeTokenizer {
    pub fn request<'t>(
        &'t self,
        text: &Bound<'_, PyAny>,
        allowed: Optional<'_, '_>,
        disallowed: Optional<'_, '_>,
        add_special_tokens: bool,
        errors: &str,
    ) -> PyResult<Request<'t>> {
        let py = text.py();
        let text = text::text(text, Surrogates::parse(errors)?, || "text".to_owned())?;
        let policy = policy(&self.0, allowed, disallowed, py)?;
        let (bos, eos) = self.frame(py, add_special_tokens)?;
        Ok(Request { text, policy, bos, eos })
    }

    fn frame(&self, py: Python<'_>, wanted: bool) -> PyResult<(Option<TokenId>, Option<TokenId>)> {
        if wanted { self.0.frame().map_err(|error| to_python(py, error)) } else { Ok((None, None)) }
    }

    fn encode_request(&self, py: Python<'_>, request: &Request<'_>) -> PyResult<Vec<TokenId>> {
        run(py, request.text.len(), |poll| {
            let mut ids = pool::take(request.text.len() / 3 + 2);
            ids.extend(request.bos);
            self.0.encode_into(&request.text, &request.policy, &mut ids, poll)?;
            ids.extend(request.eos);
            Ok(ids)
        })
    }

    fn encode_list<'py>(&self, py: Python<'py>, request: &Request<'_>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.encode_request(py, request)?;
        let list = lists::list(py, &ids);
        pool::give_back(ids);
        list
    }

    /// Gives the ids of a short text to `take` in one step, without what a long one needs; `None` of any other text, and
    /// of one that is faulty.
    fn short<'t, T>(
        &'t self,
        text: &Bound<'_, PyAny>,
        policy: impl FnOnce() -> PyResult<Cow<'t, SpecialPolicy>>,
        take: impl FnOnce(&[TokenId]) -> T,
    ) -> PyResult<Option<T>> {
        let Some(content) = text::short(text, SHORT) else { return Ok(None) };
        let policy = policy()?;
        guarded(text.py(), || Ok(self.0.with_short_ids(&content, &policy, take)), None)
    }

    /// A whole batch: flat ids and where each row ends.
    fn encode_rows(
        &self,
        texts: &Bound<'_, PyAny>,
        surrogates: Surrogates,
        policy: &SpecialPolicy,
        add_special_tokens: bool,
        threads: usize,
    ) -> PyResult<FlatBatch> {
        let py = texts.py();
        text::with_sources(texts, surrogates, |texts, size| {
            let (bos, eos) = self.frame(py, add_special_tokens)?;
            let batch = run(py, size, |poll| {
                self.0.encode_batch(texts, policy, threads, pool::take(size / 3), poll)
            })?;
            Ok(batch.framed(bos, eos))
        })
    }
}

fn pairs(spans: Vec<Range<usize>>) -> Vec<(usize, usize)> {
    spans.into_iter().map(|span| (span.start, span.end)).collect()
}

#[pymethods]
impl NativeTokenizer {
    /// The ids of a text.
    ///
    /// Args:
    ///     text: `str`, or bytes, which need not be valid UTF-8: every byte has a token.
    ///     allowed_special: Special tokens that the text may spell, and that then become their id: a collection
    ///         of names, or `"all"`.
    ///     disallowed_special: Special tokens whose spelling is an error: a collection of names, or `"all"`, which
    ///         means all that are not allowed. `()` reads them as ordinary text.
    ///     add_special_tokens: Put the `bos` id before and the `eos` id after, as far as the tokenizer has them.
    ///     errors: `"strict"` raises at a lone surrogate, `"replace"` puts U+FFFD in its place.
    ///
    /// Returns:
    ///     A list of ids.
    ///
    /// Raises:
    ///     SpecialTokenError: the text spells a special token that is neither allowed nor declared ordinary.
    ///     TextError: a lone surrogate, with its index.
    ///
    /// Allow and deny sets are those of tiktoken.
    ///
    /// >>> import byteloom as bl
    /// >>> tok = bl.Tokenizer.train("low lower", vocab_size=259, special_tokens=["<|end|>"])
    /// >>> tok.encode("low<|end|>", allowed_special={"<|end|>"})
    /// [257, 258]
    /// >>> tok.encode("low<|end|>")
    /// Traceback (most recent call last):
    ///     ...
    /// byteloom.errors.SpecialTokenError: the text spells the special token "<|end|>" at character 3 (byte 3). ...
    #[pyo3(
        signature = (text, *, allowed_special=None, disallowed_special=None, add_special_tokens=false, errors="strict"),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special='all', add_special_tokens=False, errors='strict')"
    )]
    fn encode<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Optional<'_, 'py>,
        disallowed_special: Optional<'_, 'py>,
        add_special_tokens: bool,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        Surrogates::parse(errors)?;
        let policy = || policy(&self.0, allowed_special, disallowed_special, py);
        if !add_special_tokens && let Some(list) = self.short(text, policy, |ids| lists::list(py, ids))? {
            return list;
        }
        let request = self.request(text, allowed_special, disallowed_special, add_special_tokens, errors)?;
        self.encode_list(py, &request)
    }

    /// The ids of a text in which special tokens are ordinary text.
    ///
    /// Args:
    ///     text: `str` or bytes.
    ///     errors: As for `encode`.
    ///
    /// >>> import byteloom as bl
    /// >>> tok = bl.Tokenizer.train("low lower", vocab_size=257, special_tokens=["<s>"])
    /// >>> tok.encode_ordinary("<s>")
    /// [60, 115, 62]
    #[pyo3(signature = (text, *, errors="strict"))]
    fn encode_ordinary<'py>(&self, text: &Bound<'py, PyAny>, errors: &str) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let surrogates = Surrogates::parse(errors)?;
        let ordinary = || Ok(Cow::Borrowed(self.0.ordinary()));
        if let Some(list) = self.short(text, ordinary, |ids| lists::list(py, ids))? {
            return list;
        }
        let text = text::text(text, surrogates, || "text".to_owned())?;
        let policy = Cow::Borrowed(self.0.ordinary());
        self.encode_list(py, &Request { text, policy, bos: None, eos: None })
    }

    /// The ids of each of several texts.
    ///
    /// Args:
    ///     texts: An iterable of `str` or bytes.
    ///     threads: Threads to use; by default `BYTELOOM_THREADS`, or all processors. Ids do not depend on it.
    ///     allowed_special, disallowed_special, add_special_tokens, errors: As for `encode`.
    ///
    /// Returns:
    ///     A list of ids for each text.
    ///
    /// Raises:
    ///     TypeError: a text of another type, with its index; nothing is encoded then.
    ///     SpecialTokenError, TextError: as for `encode`, with the index of the text.
    ///
    /// >>> import byteloom as bl
    /// >>> bl.Tokenizer.train("low lower", vocab_size=258).encode_batch(["low", "", b"we"])
    /// [[257], [], [119, 101]]
    #[pyo3(
        signature = (
            texts, *, allowed_special=None, disallowed_special=None, add_special_tokens=false, errors="strict",
            threads=None
        ),
        text_signature = "($self, texts, *, allowed_special=(), disallowed_special='all', add_special_tokens=False, errors='strict', threads=None)"
    )]
    fn encode_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        allowed_special: Optional<'_, 'py>,
        disallowed_special: Optional<'_, 'py>,
        add_special_tokens: bool,
        errors: &str,
        threads: Optional<'_, 'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = texts.py();
        let threads = batch_threads(py, threads)?;
        let policy = policy(&self.0, allowed_special, disallowed_special, py)?;
        let surrogates = Surrogates::parse(errors)?;
        let batch = self.encode_rows(texts, surrogates, &policy, add_special_tokens, threads)?;
        let rows = PyList::empty(py);
        let mut start = 0;
        for &end in &batch.ends {
            rows.append(lists::list(py, &batch.ids[start..end])?)?;
            start = end;
        }
        pool::give_back(batch.ids);
        Ok(rows)
    }

    /// The ids of a text as a numpy array.
    ///
    /// Args:
    ///     dtype: `"uint32"`, or `"uint16"` where all ids fit.
    ///     out: A one-dimensional array of uint32 or uint16 that the ids are written into.
    ///     text, allowed_special, disallowed_special, add_special_tokens, errors: As for `encode`.
    ///
    /// Returns:
    ///     An array of shape `(tokens,)`; with `out`, the part of it that was written.
    ///
    /// Raises:
    ///     ValueError: ids that do not fit `dtype`, or an `out` that is too small, of which nothing is written.
    ///
    /// >>> import byteloom as bl
    /// >>> bl.Tokenizer.train("low lower", vocab_size=258).encode_array("low", dtype="uint16")
    /// array([257], dtype=uint16)
    #[pyo3(
        signature = (
            text, *, allowed_special=None, disallowed_special=None, add_special_tokens=false, errors="strict",
            dtype=None, out=None
        ),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special='all', add_special_tokens=False, errors='strict', dtype=None, out=None)"
    )]
    fn encode_array<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Optional<'_, 'py>,
        disallowed_special: Optional<'_, 'py>,
        add_special_tokens: bool,
        errors: &str,
        dtype: Optional<'_, 'py>,
        out: Optional<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = text.py();
        if dtype.is_some() && out.is_some() {
            return Err(PyValueError::new_err("give dtype or out, not both: out has a dtype of its own"));
        }
        let dtype = Dtype::parse(&self.0, dtype)?;
        Surrogates::parse(errors)?;
        let policy = || policy(&self.0, allowed_special, disallowed_special, py);
        if out.is_none()
            && !add_special_tokens
            && let Some(array) = self.short(text, policy, |ids| dtype.copied(py, ids))?
        {
            return Ok(array);
        }
        let request = self.request(text, allowed_special, disallowed_special, add_special_tokens, errors)?;
        let ids = self.encode_request(py, &request)?;
        match out {
            Some(out) => {
                let written = fill_out(py, &self.0, out, &ids);
                pool::give_back(ids);
                written
            }
            None => dtype.array(py, ids),
        }
    }

    /// The ids of several texts as one flat array with row offsets.
    ///
    /// Args:
    ///     dtype: `"uint32"`, or `"uint16"` where all ids fit.
    ///     texts, threads and the rest: As for `encode_batch`.
    ///
    /// Returns:
    ///     A `Ragged`: `ids` of shape `(tokens,)` and int64 `offsets` of shape `(texts + 1,)`.
    ///
    /// >>> import byteloom as bl
    /// >>> bl.Tokenizer.train("low lower", vocab_size=258).encode_batch_array(["low", "we"])
    /// <byteloom.Ragged rows=2 tokens=3 dtype=uint32>
    #[pyo3(
        signature = (
            texts, *, allowed_special=None, disallowed_special=None, add_special_tokens=false, errors="strict",
            threads=None, dtype=None
        ),
        text_signature = "($self, texts, *, allowed_special=(), disallowed_special='all', add_special_tokens=False, errors='strict', threads=None, dtype=None)"
    )]
    fn encode_batch_array<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        allowed_special: Optional<'_, 'py>,
        disallowed_special: Optional<'_, 'py>,
        add_special_tokens: bool,
        errors: &str,
        threads: Optional<'_, 'py>,
        dtype: Optional<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static RAGGED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let py = texts.py();
        let dtype = Dtype::parse(&self.0, dtype)?;
        let threads = batch_threads(py, threads)?;
        let policy = policy(&self.0, allowed_special, disallowed_special, py)?;
        let surrogates = Surrogates::parse(errors)?;
        let batch = self.encode_rows(texts, surrogates, &policy, add_special_tokens, threads)?;
        let mut offsets = Vec::with_capacity(batch.ends.len() + 1);
        offsets.push(0);
        offsets.extend(batch.ends.iter().map(|&end| end.cast_signed() as i64));
        let arrays = (dtype.array(py, batch.ids)?, PyArray1::from_vec(py, offsets));
        RAGGED.import(py, "byteloom._ragged", "Ragged")?.call1(arrays)
    }

    /// The ids of a text and where each stands in it.
    ///
    /// Args:
    ///     unit: Offsets in characters (`"char"`, an index into the `str`) or in bytes of its UTF-8 form (`"byte"`).
    ///         In bytes that are not valid UTF-8, each invalid byte counts as one character.
    ///     text, allowed_special, disallowed_special, add_special_tokens, errors: As for `encode`.
    ///
    /// Returns:
    ///     `(ids, offsets)`: a list of ids and a list of `(start, end)`. In bytes they tile the text. In
    ///     characters a token that holds a part of one covers all of it, so that neighbours may overlap. Tokens
    ///     that `add_special_tokens` adds have empty offsets.
    ///
    /// >>> import byteloom as bl
    /// >>> tok = bl.Tokenizer.train("low lower", vocab_size=258)
    /// >>> tok.encode_with_offsets("é low")
    /// ([195, 169, 32, 257], [(0, 1), (0, 1), (1, 2), (2, 5)])
    /// >>> tok.encode_with_offsets("é low", unit="byte")[1]
    /// [(0, 1), (1, 2), (2, 3), (3, 6)]
    #[pyo3(
        signature = (
            text, *, unit="char", allowed_special=None, disallowed_special=None, add_special_tokens=false,
            errors="strict"
        ),
        text_signature = "($self, text, *, unit='char', allowed_special=(), disallowed_special='all', add_special_tokens=False, errors='strict')"
    )]
    fn encode_with_offsets<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        unit: &str,
        allowed_special: Optional<'_, 'py>,
        disallowed_special: Optional<'_, 'py>,
        add_special_tokens: bool,
        errors: &str,
    ) -> PyResult<Offsets> {
        let in_chars = match unit {
            "char" => true,
            "byte" => false,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "unit must be \"char\" or \"byte\", not {unit:?}"
                )));
            }
        };
        let request = self.request(text, allowed_special, disallowed_special, add_special_tokens, errors)?;
        let Request { text: content, policy, bos, eos } = &request;
        run(text.py(), content.len(), |poll| {
            let (mut ids, mut spans) = self.0.encode_spans(content, policy, poll)?;
            if in_chars {
                spans = Tokenizer::char_spans(content, &spans);
            }
            let end = if in_chars { UnitIndex::new(content).floor(content.len()) } else { content.len() };
            if let Some(bos) = bos {
                ids.insert(0, *bos);
                spans.insert(0, 0..0);
            }
            if let Some(eos) = eos {
                ids.push(*eos);
                spans.push(end..end);
            }
            Ok((ids, pairs(spans)))
        })
    }

    /// The number of tokens of a text, without building the list.
    ///
    /// Args: as for `encode`.
    ///
    /// >>> import byteloom as bl
    /// >>> bl.Tokenizer.train("low lower", vocab_size=258).count("low low")
    /// 3
    #[pyo3(
        signature = (text, *, allowed_special=None, disallowed_special=None, add_special_tokens=false, errors="strict"),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special='all', add_special_tokens=False, errors='strict')"
    )]
    fn count<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        allowed_special: Optional<'_, 'py>,
        disallowed_special: Optional<'_, 'py>,
        add_special_tokens: bool,
        errors: &str,
    ) -> PyResult<usize> {
        let py = text.py();
        Surrogates::parse(errors)?;
        let policy = || policy(&self.0, allowed_special, disallowed_special, py);
        if !add_special_tokens && let Some(count) = self.short(text, policy, <[TokenId]>::len)? {
            return Ok(count);
        }
        let Request { text: content, policy, bos, eos } =
            self.request(text, allowed_special, disallowed_special, add_special_tokens, errors)?;
        let framing = usize::from(bos.is_some()) + usize::from(eos.is_some());
        run(py, content.len(), |poll| Ok(self.0.count(&content, &policy, poll)? + framing))
    }

    /// The number of tokens of each of several texts.
    ///
    /// Args: as for `encode_batch`.
    ///
    /// >>> import byteloom as bl
    /// >>> bl.Tokenizer.train("low lower", vocab_size=258).count_batch(["low low", ""])
    /// [3, 0]
    #[pyo3(
        signature = (
            texts, *, allowed_special=None, disallowed_special=None, add_special_tokens=false, errors="strict",
            threads=None
        ),
        text_signature = "($self, texts, *, allowed_special=(), disallowed_special='all', add_special_tokens=False, errors='strict', threads=None)"
    )]
    fn count_batch<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        allowed_special: Optional<'_, 'py>,
        disallowed_special: Optional<'_, 'py>,
        add_special_tokens: bool,
        errors: &str,
        threads: Optional<'_, 'py>,
    ) -> PyResult<Vec<usize>> {
        let py = texts.py();
        let threads = batch_threads(py, threads)?;
        let policy = policy(&self.0, allowed_special, disallowed_special, py)?;
        let (bos, eos) = self.frame(py, add_special_tokens)?;
        let framing = usize::from(bos.is_some()) + usize::from(eos.is_some());
        let counts = text::with_sources(texts, Surrogates::parse(errors)?, |texts, size| {
            run(py, size, |poll| self.0.count_batch(texts, &policy, threads, poll))
        })?;
        Ok(counts.into_iter().map(|count| count + framing).collect())
    }

    /// The pre-tokens of a text: the pieces inside which merges happen. Special tokens are read as text.
    ///
    /// Args:
    ///     text: `str` or bytes.
    ///     errors: As for `encode`.
    ///
    /// Returns:
    ///     A list of pieces, of the type the text came in. Joined, they are the text, whatever the pattern.
    ///
    /// >>> import byteloom as bl
    /// >>> bl.Tokenizer.train("x", vocab_size=256, pattern="gpt2").pretokens("I don't know  why")
    /// ['I', ' don', "'t", ' know', ' ', ' why']
    #[pyo3(signature = (text, *, errors="strict"))]
    fn pretokens<'py>(&self, text: &Bound<'py, PyAny>, errors: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = text.py();
        let content = text::text(text, Surrogates::parse(errors)?, || "text".to_owned())?;
        let ends = run(py, content.len(), |_| self.0.pretoken_ends(&content))?;
        let starts = std::iter::once(0).chain(ends.iter().copied());
        Ok(starts.zip(&ends).map(|(start, &end)| content.slice(py, start, end)).collect())
    }
}
