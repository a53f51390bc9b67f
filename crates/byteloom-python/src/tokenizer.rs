//! `NativeTokenizer`: the class, its look-ups, and what the Python half is built on. Encoding, cutting and decoding
//! are in files of their own.

use std::sync::Arc;

use byteloom_core::letters;
use byteloom_core::token::TokenId;
use byteloom_core::tokenizer::Tokenizer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::error::{to_python, unknown_token};
use crate::text;
use crate::work::guarded;

/// Figures of each merge: how often its pair occurred, and whether another pair occurred as often.
pub struct MergeFigures {
    pub counts: Vec<u64>,
    pub tied: Vec<bool>,
}

impl MergeFigures {
    /// The same without those of the last merges, if there are so many.
    pub fn without_last(&self, dropped: usize) -> Option<Self> {
        let left = self.counts.len().checked_sub(dropped)?;
        Some(Self { counts: self.counts[..left].to_vec(), tied: self.tied[..left].to_vec() })
    }
}

/// The native half of `byteloom.Tokenizer`, and the figures of its merges if it was trained just now. Files would grow
/// by a third with these, so they do not hold them.
#[pyclass(frozen, subclass, module = "byteloom._native")]
pub struct NativeTokenizer(pub Tokenizer, pub Option<Arc<MergeFigures>>);

impl NativeTokenizer {
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

#[pymethods]
impl NativeTokenizer {
    #[new]
    #[pyo3(signature = (native = None, /))]
    fn new(native: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        match native.map(|native| native.cast::<Self>()) {
            Some(Ok(native)) => Ok(Self(native.get().0.clone(), native.get().1.clone())),
            _ => Err(PyTypeError::new_err(
                "a Tokenizer is made by Tokenizer.train(…), Tokenizer.load(…) or one of the Tokenizer.from_ methods",
            )),
        }
    }

    /// The number of tokens, special ones included.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.0.vocab_size()
    }

    /// The same as `vocab_size`. Where ids have holes, a table of embeddings needs `max_token_id + 1` rows, which is
    /// what tiktoken's `n_vocab` is.
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
        for token in self.0.spec().special.tokens().iter().filter(|token| token.flags.special) {
            dict.set_item(&token.content, token.id)?;
        }
        Ok(dict)
    }

    /// Added tokens that are not special, and their ids: they are matched in every text. A new dict.
    #[getter]
    fn added_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for token in self.0.spec().special.tokens().iter().filter(|token| !token.flags.special) {
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
        info.set_item("added_tokens", self.added_tokens(py)?)?;
        let roles = PyDict::new(py);
        roles.set_item("bos", spec.special.bos)?;
        roles.set_item("eos", spec.special.eos)?;
        roles.set_item("pad", spec.special.pad)?;
        info.set_item("roles", roles)?;
        info.set_item("special_position", spec.special_position.as_str())?;
        info.set_item("alphabet", spec.alphabet.as_str())?;
        info.set_item("whole_tokens", spec.whole_tokens)?;
        info.set_item("normalizer", spec.normalizer.names())?;
        info.set_item("lossless", spec.is_lossless())?;
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

    fn _merge_figures(&self) -> Option<(&[u64], &[bool])> {
        self.1.as_deref().map(|merges| (&merges.counts[..], &merges.tied[..]))
    }

    fn _to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let file = guarded(py, || Ok(byteloom_core::format::native::write(self.0.spec())), None)?;
        Ok(PyBytes::new(py, &file))
    }

    #[pyo3(signature = (cache_bytes, /))]
    fn _with_cache_bytes(&self, cache_bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let limit = crate::make::cache_limit(Some(cache_bytes))?;
        Ok(Self(self.0.with_cache_bytes(limit), self.1.clone()))
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
        built.map(|built| Self(built, self.1.clone())).map_err(|error| to_python(py, error))
    }
}
