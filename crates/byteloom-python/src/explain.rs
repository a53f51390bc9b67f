//! What `Tokenizer.explain` is built on: the records of the core as tuples, one at a time.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, TryLockError};

use byteloom_core::explain::{self, Limits, Pair, PreToken, Record};
use byteloom_core::merge::SymbolKind;
use byteloom_core::pretokenize::PreTokenizer;
use byteloom_core::token::{Rank, TokenId};
use byteloom_core::tokenizer::Tokenizer;
use byteloom_core::utf8::UnitCursor;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::encode::Request;
use crate::options::Optional;
use crate::text::{self, Text};
use crate::tokenizer::NativeTokenizer;
use crate::work::run;

/// The records of one text, as tuples.
#[pyclass(frozen, module = "byteloom._native")]
pub struct Explainer {
    core: Mutex<explain::Explainer>,
    tokenizer: Tokenizer,
    text: Text,
    /// Ids that `add_special_tokens` puts around the text.
    #[pyo3(get)]
    bos: Option<TokenId>,
    #[pyo3(get)]
    eos: Option<TokenId>,
}

#[pymethods]
impl Explainer {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        // Never waited for: who waits here has the GIL, which the other may need to go on.
        let mut guard = match self.core.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err("another thread is at work on this explanation"));
            }
        };
        let core = &mut *guard;
        let size = core.work_ahead();
        let record = run(py, size, |poll| core.next(&self.text, poll))?;
        record.map(|record| self.convert(py, record)).transpose()
    }

    /// The text as it was given, in UTF-8.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.text)
    }

    /// The length of the text in characters.
    #[getter]
    fn characters(&self, py: Python<'_>) -> PyResult<usize> {
        run(py, self.text.len(), |_| Ok(UnitCursor::default().floor(&self.text, self.text.len())))
    }
}

type Span = (usize, usize);
type Candidate = (Rank, usize, usize, TokenId, TokenId, TokenId);

fn span(range: &Range<usize>) -> Span {
    (range.start, range.end)
}

fn candidate(pair: &Pair) -> Candidate {
    (pair.rank, pair.at, pair.start, pair.left, pair.right, pair.result)
}

fn kind(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Byte => "byte",
        SymbolKind::Character => "character",
        SymbolKind::Fallback => "byte_fallback",
        SymbolKind::Unknown => "unknown",
    }
}

impl Explainer {
    fn convert<'py>(&self, py: Python<'py>, record: Record) -> PyResult<Bound<'py, PyTuple>> {
        match record {
            Record::Special { id, bytes, characters } => {
                let written = PyBytes::new(py, &self.text[bytes.clone()]);
                let special = self.tokenizer.is_special(id);
                (id, written, span(&bytes), span(&characters), special).into_pyobject(py)
            }
            Record::PreToken(record) => self.convert_pretoken(py, *record),
        }
    }

    fn convert_pretoken<'py>(&self, py: Python<'py>, record: PreToken) -> PyResult<Bound<'py, PyTuple>> {
        let piece = PyBytes::new(py, &record.piece);
        let given = &self.text[record.bytes.clone()];
        let original = if given == record.piece { piece.clone() } else { PyBytes::new(py, given) };
        let matches: Vec<_> = record.matches.iter().map(|(number, bytes)| (*number, span(bytes))).collect();
        let symbols: Vec<_> =
            record.symbols.iter().map(|&(id, length, sort)| (id, length, kind(sort))).collect();
        let steps = record.trace.steps.iter().map(|step| {
            let losers: Vec<_> = step.losers.iter().map(candidate).collect();
            (candidate(&step.pair), step.end, losers, step.losers_left_out)
        });
        let tokens: Vec<_> = record
            .tokens
            .iter()
            .map(|token| (token.id, token.length, span(&token.bytes), span(&token.characters)))
            .collect();
        let place = (record.index, record.segment.0, record.segment.1);
        let trace = (steps.collect::<Vec<_>>(), record.trace.nodes, record.trace.roots, record.trace.ids);
        (place, piece, original, span(&record.bytes), matches, record.whole, symbols, trace, tokens)
            .into_pyobject(py)
    }
}

/// A limit; `None` is none.
fn limit(option: &str, value: Optional<'_, '_>) -> PyResult<usize> {
    let Some(value) = value else { return Ok(usize::MAX) };
    let number = text::index(value)
        .map_err(|_| PyTypeError::new_err(format!("{option} must be an integer or None")))?;
    if number < 0 {
        return Err(PyValueError::new_err(format!("{option} must be 0 or more, not {number}")));
    }
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

#[pymethods]
impl NativeTokenizer {
    #[pyo3(signature = (
        text, allowed_special, disallowed_special, add_special_tokens, errors, max_steps, max_losers, /
    ))]
    fn _explain(
        &self,
        text: &Bound<'_, PyAny>,
        allowed_special: Optional<'_, '_>,
        disallowed_special: Optional<'_, '_>,
        add_special_tokens: bool,
        errors: &str,
        max_steps: Optional<'_, '_>,
        max_losers: Optional<'_, '_>,
    ) -> PyResult<Explainer> {
        let limits =
            Limits { steps: limit("max_steps", max_steps)?, losers: limit("max_losers", max_losers)? };
        let Request { text: content, policy, bos, eos } =
            self.request(text, allowed_special, disallowed_special, add_special_tokens, errors)?;
        let policy: Cow<'_, _> = policy;
        let core =
            run(text.py(), content.len(), |_| explain::Explainer::new(&self.0, &content, &policy, limits))?;
        Ok(Explainer { core: Mutex::new(core), tokenizer: self.0.clone(), text: content, bos, eos })
    }

    /// The regexes of the alternatives of the pattern, for each pattern of a sequence.
    fn _alternatives(&self) -> Vec<Vec<String>> {
        self.0.alternatives().sources().map(<[String]>::to_vec).collect()
    }

    /// The names of the patterns of a sequence; `None` for a custom one.
    fn _pattern_names(&self) -> Vec<Option<&'static str>> {
        self.0.pretokenizer().members().iter().map(PreTokenizer::name).collect()
    }
}
