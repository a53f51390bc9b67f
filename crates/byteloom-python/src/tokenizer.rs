//! `NativeTokenizer`: the methods that must cost nothing to call.

use std::ops::Range;

use byteloom_core::letters;
use byteloom_core::stream;
use byteloom_core::token::TokenId;
use byteloom_core::tokenizer::{SpecialPolicy, Tokenizer};
use numpy::{PyArray1, PyArrayMethods, PyReadwriteArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple, PyType};

use crate::error::{to_python, unknown_token};
use crate::options::{policy, threads as thread_option};
use crate::stream::StreamDecoder;
use crate::text::{self, Surrogates, Text};
use crate::work::{guarded, run};

/// A value that keyword arguments may leave out.
type Optional<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Ids and the span of each.
type Offsets = (Vec<TokenId>, Vec<(usize, usize)>);

/// The native half of `byteloom.Tokenizer`.
#[pyclass(frozen, subclass, module = "byteloom._native")]
pub struct NativeTokenizer(pub Tokenizer);

/// What `encode` and its relatives take, resolved.
struct Request<'t> {
    text: Text,
    policy: std::borrow::Cow<'t, SpecialPolicy>,
    bos: Option<TokenId>,
    eos: Option<TokenId>,
}

impl NativeTokenizer {
    fn request<'t>(
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
            let mut ids = Vec::with_capacity(request.text.len() / 4 + 2);
            ids.extend(request.bos);
            self.0.encode_into(&request.text, &request.policy, &mut ids, poll)?;
            ids.extend(request.eos);
            Ok(ids)
        })
    }

    /// A whole batch: flat ids and where each row ends.
    fn encode_rows(
        &self,
        py: Python<'_>,
        texts: &[Text],
        policy: &SpecialPolicy,
        add_special_tokens: bool,
        threads: usize,
    ) -> PyResult<byteloom_core::parallel::FlatBatch> {
        let frame = self.frame(py, add_special_tokens)?;
        let size = texts.iter().map(|text| text.len()).sum();
        let batch = run(py, size, |poll| self.0.encode_batch(texts, policy, threads, poll))?;
        Ok(batch.framed(frame.0, frame.1))
    }

    fn known(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<TokenId> {
        let id = text::id(id, 0)?;
        if self.0.token_bytes(id).is_some() { Ok(id) } else { Err(unknown_token_alone(py, id)) }
    }
}

/// The error for an id that was given alone, not in a sequence.
fn unknown_token_alone(py: Python<'_>, id: TokenId) -> PyErr {
    let error = unknown_token(py, id, 0, None);
    // Without a sequence there is no position to name.
    match error.value(py).setattr("position", py.None()) {
        Ok(()) => error,
        Err(other) => other,
    }
}

fn pairs(spans: Vec<Range<usize>>) -> Vec<(usize, usize)> {
    spans.into_iter().map(|span| (span.start, span.end)).collect()
}

/// The two integer types that ids come in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dtype {
    U16,
    U32,
}

impl Dtype {
    fn parse(tokenizer: &Tokenizer, dtype: Optional<'_, '_>) -> PyResult<Self> {
        let Some(dtype) = dtype else { return Ok(Self::U32) };
        let name = dtype.py().import("numpy")?.getattr("dtype")?.call1((dtype,))?.getattr("name")?;
        match name.extract::<String>()?.as_str() {
            "uint32" => Ok(Self::U32),
            "uint16" if tokenizer.spec().max_token_id() <= TokenId::from(u16::MAX) => Ok(Self::U16),
            "uint16" => Err(PyValueError::new_err(format!(
                "dtype uint16 holds ids up to 65535, but this tokenizer has ids up to {}; use uint32",
                tokenizer.spec().max_token_id()
            ))),
            other => Err(PyValueError::new_err(format!("dtype must be uint16 or uint32, not {other}"))),
        }
    }

    fn array(self, py: Python<'_>, ids: Vec<TokenId>) -> Bound<'_, PyAny> {
        match self {
            Self::U32 => PyArray1::from_vec(py, ids).into_any(),
            Self::U16 => PyArray1::from_vec(py, narrow(&ids)).into_any(),
        }
    }
}

/// Ids as u16; the caller has checked that the vocabulary fits.
fn narrow(ids: &[TokenId]) -> Vec<u16> {
    ids.iter().map(|&id| id as u16).collect()
}

fn fill_out<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    out: &Bound<'py, PyAny>,
    ids: &[TokenId],
) -> PyResult<Bound<'py, PyAny>> {
    fn fill<T: numpy::Element + Copy>(mut out: PyReadwriteArray1<'_, T>, ids: &[T]) -> PyResult<()> {
        let room = out.as_slice_mut().map_err(|_| PyValueError::new_err("out must be contiguous"))?;
        match room.get_mut(..ids.len()) {
            Some(room) => room.copy_from_slice(ids),
            None => {
                return Err(PyValueError::new_err(format!(
                    "out has room for {} ids, but the text has {}",
                    room.len(),
                    ids.len()
                )));
            }
        }
        Ok(())
    }
    let locked = || PyValueError::new_err("out must be writable and not in use elsewhere");
    if let Ok(array) = out.cast::<PyArray1<TokenId>>() {
        fill(array.try_readwrite().map_err(|_| locked())?, ids)?;
    } else if let Ok(array) = out.cast::<PyArray1<u16>>() {
        Dtype::parse(tokenizer, Some(PyString::new(py, "uint16").as_any()))?;
        fill(array.try_readwrite().map_err(|_| locked())?, &narrow(ids))?;
    } else {
        return Err(PyTypeError::new_err("out must be a one-dimensional numpy array of uint32 or uint16"));
    }
    out.get_item(pyo3::types::PySlice::new(py, 0, ids.len().cast_signed(), 1))
}

#[pymethods]
impl NativeTokenizer {
    #[new]
    #[pyo3(signature = (native, /))]
    fn new(native: &Bound<'_, PyAny>) -> PyResult<Self> {
        match native.cast::<Self>() {
            Ok(native) => Ok(Self(native.get().0.clone())),
            Err(_) => Err(PyTypeError::new_err(
                "a Tokenizer is made by Tokenizer.train(…), Tokenizer.load(…) or Tokenizer.from_tiktoken(…)",
            )),
        }
    }

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
        let request = self.request(text, allowed_special, disallowed_special, add_special_tokens, errors)?;
        PyList::new(text.py(), self.encode_request(text.py(), &request)?)
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
        let text = text::text(text, Surrogates::parse(errors)?, || "text".to_owned())?;
        let policy = std::borrow::Cow::Borrowed(self.0.ordinary());
        PyList::new(py, self.encode_request(py, &Request { text, policy, bos: None, eos: None })?)
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
        let threads = thread_option(py, threads)?;
        let policy = policy(&self.0, allowed_special, disallowed_special, py)?;
        let texts = text::texts(texts, Surrogates::parse(errors)?)?;
        let batch = self.encode_rows(py, &texts, &policy, add_special_tokens, threads)?;
        let mut start = 0;
        let rows = PyList::empty(py);
        for &end in &batch.ends {
            rows.append(PyList::new(py, &batch.ids[start..end])?)?;
            start = end;
        }
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
        let request = self.request(text, allowed_special, disallowed_special, add_special_tokens, errors)?;
        let ids = self.encode_request(py, &request)?;
        match out {
            Some(out) => fill_out(py, &self.0, out, &ids),
            None => Ok(dtype.array(py, ids)),
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
        let threads = thread_option(py, threads)?;
        let policy = policy(&self.0, allowed_special, disallowed_special, py)?;
        let texts = text::texts(texts, Surrogates::parse(errors)?)?;
        let batch = self.encode_rows(py, &texts, &policy, add_special_tokens, threads)?;
        let mut offsets = Vec::with_capacity(batch.ends.len() + 1);
        offsets.push(0);
        offsets.extend(batch.ends.iter().map(|&end| end.cast_signed() as i64));
        let arrays = (dtype.array(py, batch.ids), PyArray1::from_vec(py, offsets));
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
            let mut ids = Vec::new();
            self.0.encode_into(content, policy, &mut ids, poll)?;
            let mut spans = self.0.byte_spans(&ids);
            if in_chars {
                spans = Tokenizer::char_spans(content, &spans);
            }
            let end = spans.last().map_or(0, |span| span.end);
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
        let Request { text: content, policy, bos, eos } =
            self.request(text, allowed_special, disallowed_special, add_special_tokens, errors)?;
        let framing = usize::from(bos.is_some()) + usize::from(eos.is_some());
        run(text.py(), content.len(), |poll| Ok(self.0.count(&content, &policy, poll)? + framing))
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
        let threads = thread_option(py, threads)?;
        let policy = policy(&self.0, allowed_special, disallowed_special, py)?;
        let (bos, eos) = self.frame(py, add_special_tokens)?;
        let framing = usize::from(bos.is_some()) + usize::from(eos.is_some());
        let texts = text::texts(texts, Surrogates::parse(errors)?)?;
        let size = texts.iter().map(|text| text.len()).sum();
        let counts = run(py, size, |poll| self.0.count_batch(&texts, &policy, threads, poll))?;
        Ok(counts.into_iter().map(|count| count + framing).collect())
    }

    /// The beginning of a text that fits into a budget of tokens.
    ///
    /// That is the text of its first `max_tokens` tokens, cut back to whole characters, and a little further where
    /// that beginning, encoded by itself, would need more tokens than the budget has. So
    /// `count(truncate(text, n)) <= n` always holds.
    ///
    /// Args:
    ///     max_tokens: The budget, 0 or more.
    ///     text, allowed_special, disallowed_special, errors: As for `encode`. A special token is never cut.
    ///
    /// Returns:
    ///     A prefix of `text`, of the type it came in.
    ///
    /// >>> import byteloom as bl
    /// >>> tok = bl.Tokenizer.train("low lower", vocab_size=258)
    /// >>> tok.truncate("low é low", 3)
    /// 'low '
    #[pyo3(
        signature = (text, max_tokens, *, allowed_special=None, disallowed_special=None, errors="strict"),
        text_signature = "($self, text, max_tokens, *, allowed_special=(), disallowed_special='all', errors='strict')"
    )]
    fn truncate<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        max_tokens: &Bound<'py, PyAny>,
        allowed_special: Optional<'_, 'py>,
        disallowed_special: Optional<'_, 'py>,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let max_tokens = budget(max_tokens, 0)?;
        let request = self.request(text, allowed_special, disallowed_special, false, errors)?;
        let Request { text: content, policy, .. } = &request;
        let end = run(text.py(), content.len(), |poll| self.0.truncate(content, max_tokens, policy, poll))?;
        Ok(content.slice(text.py(), 0, end))
    }

    /// A text in pieces that each fit into a budget of tokens.
    ///
    /// Each piece, encoded by itself, has at most `max_tokens` tokens and ends between characters. Joined, the
    /// pieces are the text.
    ///
    /// Args:
    ///     max_tokens: The budget of a piece, 1 or more.
    ///     text, allowed_special, disallowed_special, errors: As for `encode`. A special token is never cut.
    ///
    /// Returns:
    ///     A list of pieces, of the type the text came in; empty for an empty text.
    ///
    /// Raises:
    ///     ValueError: a single character needs more than `max_tokens`; the message names its index.
    ///
    /// >>> import byteloom as bl
    /// >>> tok = bl.Tokenizer.train("low lower", vocab_size=258)
    /// >>> tok.chunk("low é low", 3)
    /// ['low ', 'é ', 'low']
    #[pyo3(
        signature = (text, max_tokens, *, allowed_special=None, disallowed_special=None, errors="strict"),
        text_signature = "($self, text, max_tokens, *, allowed_special=(), disallowed_special='all', errors='strict')"
    )]
    fn chunk<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        max_tokens: &Bound<'py, PyAny>,
        allowed_special: Optional<'_, 'py>,
        disallowed_special: Optional<'_, 'py>,
        errors: &str,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let max_tokens = budget(max_tokens, 1)?;
        let request = self.request(text, allowed_special, disallowed_special, false, errors)?;
        let Request { text: content, policy, .. } = &request;
        let chunks = run(text.py(), content.len(), |poll| self.0.chunk(content, max_tokens, policy, poll))?;
        Ok(chunks.into_iter().map(|span| content.slice(text.py(), span.start, span.end)).collect())
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

    /// The text of ids.
    ///
    /// Args:
    ///     ids: A list, array or other iterable of integers.
    ///     errors: What to do with bytes that are not valid UTF-8, as in `bytes.decode`: ids may begin or end
    ///         inside a character.
    ///     skip_special_tokens: Leave special tokens out; by default they show as they are spelled.
    ///
    /// Raises:
    ///     UnknownTokenError: an id that stands for no token, with its position.
    ///     TypeError: an item that is no integer, with its position.
    ///
    /// >>> import byteloom as bl
    /// >>> tok = bl.Tokenizer.train("low lower", vocab_size=258)
    /// >>> tok.decode([257, 32, 0xC3])
    /// 'low \ufffd'
    #[pyo3(signature = (ids, *, errors="replace", skip_special_tokens=false))]
    fn decode<'py>(
        &self,
        ids: &Bound<'py, PyAny>,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_str(ids.py(), &self.bytes_of(ids, skip_special_tokens)?, errors)
    }

    /// The bytes of ids, exactly: `decode_bytes(encode(x))` is `x` for every text.
    ///
    /// Args: as for `decode`.
    ///
    /// >>> import byteloom as bl
    /// >>> bl.Tokenizer.train("low lower", vocab_size=258).decode_bytes([257, 0xC3])
    /// b'low\xc3'
    #[pyo3(signature = (ids, *, skip_special_tokens=false))]
    fn decode_bytes<'py>(
        &self,
        ids: &Bound<'py, PyAny>,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(ids.py(), &self.bytes_of(ids, skip_special_tokens)?))
    }

    /// The text of each of several sequences of ids, such as the rows of a `Ragged`.
    ///
    /// Args:
    ///     batch: An iterable of what `decode` takes.
    ///     threads: As for `encode_batch`.
    ///     errors, skip_special_tokens: As for `decode`.
    ///
    /// >>> import byteloom as bl
    /// >>> bl.Tokenizer.train("low lower", vocab_size=258).decode_batch([[257], [], [104, 105]])
    /// ['low', '', 'hi']
    #[pyo3(signature = (batch, *, errors="replace", skip_special_tokens=false, threads=None))]
    fn decode_batch<'py>(
        &self,
        batch: &Bound<'py, PyAny>,
        errors: &str,
        skip_special_tokens: bool,
        threads: Optional<'_, 'py>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = batch.py();
        let threads = thread_option(py, threads)?;
        let mut rows = Vec::with_capacity(batch.len().unwrap_or(0));
        for (index, row) in batch.try_iter()?.enumerate() {
            rows.push(text::ids(&row?).map_err(|error| text::in_row(py, error, index))?);
        }
        let size = rows.iter().map(Vec::len).sum::<usize>() * 4;
        let texts = run(py, size, |poll| self.0.decode_batch(&rows, skip_special_tokens, threads, poll))?;
        texts.iter().map(|bytes| to_str(py, bytes, errors)).collect()
    }

    /// The text of ids, and the character at which each id begins.
    ///
    /// A token that begins inside a character has the index of that character. Bytes that are no character show as
    /// U+FFFD and count as such.
    ///
    /// Args: as for `decode`.
    ///
    /// Returns:
    ///     `(text, starts)`, with one start for each id; with `skip_special_tokens`, a special token that is left
    ///     out has the index of what follows it.
    ///
    /// >>> import byteloom as bl
    /// >>> tok = bl.Tokenizer.train("low lower", vocab_size=258)
    /// >>> tok.decode_with_offsets([0xC3, 0xA9, 257, 33])
    /// ('élow!', [0, 0, 1, 4])
    #[pyo3(signature = (ids, *, skip_special_tokens=false))]
    fn decode_with_offsets(
        &self,
        ids: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
    ) -> PyResult<(String, Vec<usize>)> {
        let py = ids.py();
        let ids = text::ids(ids)?;
        run(py, ids.len() * 4, |_| self.0.decode_with_starts(&ids, skip_special_tokens))
    }

    /// A decoder for ids that arrive one at a time.
    ///
    /// Args:
    ///     skip_special_tokens: Leave special tokens out.
    ///
    /// >>> import byteloom as bl
    /// >>> decoder = bl.Tokenizer.train("low lower", vocab_size=258).stream_decoder()
    /// >>> [decoder.feed(id) for id in [0xC3, 0xA9, 257]]
    /// ['', 'é', 'low']
    #[pyo3(signature = (*, skip_special_tokens=false))]
    fn stream_decoder(&self, skip_special_tokens: bool) -> StreamDecoder {
        StreamDecoder::new(stream::StreamDecoder::new(self.0.clone(), skip_special_tokens))
    }

    /// The number of tokens, special ones included.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.0.vocab_size()
    }

    /// The same as `vocab_size`, under tiktoken's name.
    #[getter]
    fn n_vocab(&self) -> usize {
        self.0.vocab_size()
    }

    fn __len__(&self) -> usize {
        self.0.vocab_size()
    }

    /// The largest id. Where ids have holes it is not `vocab_size - 1`.
    #[getter]
    fn max_token_id(&self) -> TokenId {
        self.0.spec().max_token_id()
    }

    /// The bytes of a token; for a special token, its spelling.
    ///
    /// Raises:
    ///     UnknownTokenError: the id stands for no token.
    ///
    /// >>> import byteloom as bl
    /// >>> bl.Tokenizer.train("low lower", vocab_size=258).id_to_bytes(257)
    /// b'low'
    #[pyo3(signature = (id, /))]
    fn id_to_bytes<'py>(&self, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let id = self.known(id.py(), id).map(|known| (id.py(), known))?;
        Ok(PyBytes::new(id.0, self.0.token_bytes(id.1).unwrap_or_default()))
    }

    /// A token as a printable string: GPT-2's letter for each byte, as Hugging Face spells tokens. A special token
    /// is spelled as it is.
    ///
    /// >>> import byteloom as bl
    /// >>> tok = bl.Tokenizer.train("a lot a lot", vocab_size=260)
    /// >>> tok.id_to_token(tok.encode(" lot")[0])
    /// 'Ġlot'
    #[pyo3(signature = (id, /))]
    fn id_to_token(&self, id: &Bound<'_, PyAny>) -> PyResult<String> {
        let id = self.known(id.py(), id)?;
        Ok(match self.0.spec().special.by_id(id) {
            Some(token) => token.content.clone(),
            None => letters::spell(self.0.token_bytes(id).unwrap_or_default()),
        })
    }

    /// The id of a token, or `None`.
    ///
    /// Args:
    ///     token: A string as `id_to_token` gives it, a special token included; or the bytes of an ordinary token.
    ///
    /// >>> import byteloom as bl
    /// >>> tok = bl.Tokenizer.train("a lot a lot", vocab_size=260)
    /// >>> tok.token_to_id("Ġlot") == tok.token_to_id(b" lot") == 259
    /// True
    #[pyo3(signature = (token, /))]
    fn token_to_id(&self, token: &Bound<'_, PyAny>) -> PyResult<Option<TokenId>> {
        let spec = self.0.spec();
        if let Ok(bytes) = token.cast::<PyBytes>() {
            return Ok(spec.vocab.id(bytes.as_bytes()));
        }
        let Ok(string) = token.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!(
                "token must be str or bytes, not {}",
                token.get_type().name()?
            )));
        };
        let Ok(string) = string.to_cow() else { return Ok(None) };
        let ordinary = || spec.vocab.id(&letters::unspell(&string)?);
        Ok(spec.special.id_of(&string).or_else(ordinary))
    }

    /// The merges, in the order in which they apply: pairs of ids.
    #[getter]
    fn merges(&self) -> Vec<(TokenId, TokenId)> {
        self.0.spec().merges.clone()
    }

    /// The special tokens and their ids, ascending by id: a new dict.
    #[getter]
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for token in self.0.spec().special.tokens() {
            dict.set_item(&token.content, token.id)?;
        }
        Ok(dict)
    }

    /// The id of the special token that begins a sequence, or `None`.
    #[getter]
    fn bos_id(&self) -> Option<TokenId> {
        self.0.spec().special.bos
    }

    /// The id of the special token that ends a sequence, or `None`.
    #[getter]
    fn eos_id(&self) -> Option<TokenId> {
        self.0.spec().special.eos
    }

    /// The id of the special token that fills up padded rows, or `None`.
    #[getter]
    fn pad_id(&self) -> Option<TokenId> {
        self.0.spec().special.pad
    }

    /// The pre-tokenizer pattern as a regex.
    #[getter]
    fn pattern(&self) -> &str {
        self.0.pretokenizer().regex()
    }

    /// The name of a built-in pattern; `None` for a custom one.
    #[getter]
    fn pattern_name(&self) -> Option<&'static str> {
        self.0.pretokenizer().name()
    }

    /// A hash of everything that ids depend on: SHA-256 in hex. Equal fingerprints mean equal ids.
    #[getter]
    fn fingerprint(&self) -> String {
        self.0.fingerprint().to_owned()
    }

    fn _info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let spec = self.0.spec();
        let pretokenizer = self.0.pretokenizer();
        let info = PyDict::new(py);
        info.set_item("vocab_size", self.0.vocab_size())?;
        info.set_item("max_token_id", spec.max_token_id())?;
        info.set_item("merges", spec.merges.len())?;
        info.set_item("longest_token_bytes", spec.vocab.iter().map(|(_, bytes)| bytes.len()).max())?;
        info.set_item("special_tokens", self.special_tokens(py)?)?;
        let roles = PyDict::new(py);
        roles.set_item("bos", spec.special.bos)?;
        roles.set_item("eos", spec.special.eos)?;
        roles.set_item("pad", spec.special.pad)?;
        info.set_item("roles", roles)?;
        info.set_item("special_position", spec.special_position.as_str())?;
        info.set_item("alphabet", spec.alphabet.as_str())?;
        info.set_item("whole_tokens", spec.whole_tokens)?;
        info.set_item("pattern_name", pretokenizer.name())?;
        info.set_item("pattern", pretokenizer.regex())?;
        info.set_item("pattern_engine", pretokenizer.engine())?;
        info.set_item("unicode", pretokenizer.unicode_version())?;
        info.set_item("cache_bytes", self.0.cache_bytes())?;
        info.set_item("fingerprint", self.0.fingerprint())?;
        Ok(info)
    }

    fn _metadata(&self) -> String {
        self.0.spec().metadata.to_string()
    }

    fn _to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let file = guarded(py, || Ok(byteloom_core::format::native::write(self.0.spec())), None)?;
        Ok(PyBytes::new(py, &file))
    }

    #[pyo3(signature = (cache_bytes, /))]
    fn _with_cache_bytes(&self, cache_bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(self.0.with_cache_bytes(crate::make::cache_limit(Some(cache_bytes))?)))
    }

    #[pyo3(signature = (added, bos, eos, pad, /))]
    fn _with_special_tokens(
        &self,
        py: Python<'_>,
        added: Vec<(String, Option<Bound<'_, PyAny>>)>,
        bos: Option<&str>,
        eos: Option<&str>,
        pad: Option<&str>,
    ) -> PyResult<Self> {
        let added = added
            .into_iter()
            .map(|(name, id)| Ok((name, id.map(|id| crate::make::token_id(&id)).transpose()?)))
            .collect::<PyResult<Vec<_>>>()?;
        let roles = byteloom_core::spec::Roles { bos, eos, pad };
        let spec = self.0.spec().with_special_tokens(&added, roles);
        let built = spec.and_then(|spec| Tokenizer::new(spec, self.0.cache_bytes()));
        built.map(Self).map_err(|error| to_python(py, error))
    }
}

impl NativeTokenizer {
    fn bytes_of(&self, ids: &Bound<'_, PyAny>, skip_special: bool) -> PyResult<Vec<u8>> {
        let py = ids.py();
        let ids = text::ids(ids)?;
        run(py, ids.len() * 4, |_| {
            let mut bytes = Vec::with_capacity(ids.len() * 4);
            self.0.decode_into(&ids, skip_special, &mut bytes)?;
            Ok(bytes)
        })
    }
}

/// A number of tokens, at least `least`.
fn budget(max_tokens: &Bound<'_, PyAny>, least: i128) -> PyResult<usize> {
    let number =
        text::index(max_tokens).map_err(|_| PyTypeError::new_err("max_tokens must be an integer"))?;
    if number < least {
        return Err(PyValueError::new_err(format!("max_tokens must be {least} or more, not {number}")));
    }
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

/// `bytes` as a `str`, with Python's own handling of what is not valid.
fn to_str<'py>(py: Python<'py>, bytes: &[u8], errors: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(valid) = std::str::from_utf8(bytes) {
        return Ok(PyString::new(py, valid).into_any());
    }
    PyBytes::new(py, bytes).call_method1("decode", PyTuple::new(py, ["utf-8", errors])?)
}
