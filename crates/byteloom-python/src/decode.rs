//! Ids to text: the `decode` family.

use byteloom_core::stream;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::options::{Optional, batch_threads};
use crate::stream::StreamDecoder;
use crate::text;
use crate::tokenizer::NativeTokenizer;
use crate::work::run;

#[pymethods]
impl NativeTokenizer {
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
        let threads = batch_threads(py, threads)?;
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
}

impl NativeTokenizer {
    fn bytes_of(&self, ids: &Bound<'_, PyAny>, skip_special: bool) -> PyResult<Vec<u8>> {
        let py = ids.py();
        let ids = text::ids(ids)?;
        run(py, ids.len() * 4, |_| {
            // Copying writes a little beyond the end.
            let mut bytes = Vec::with_capacity(ids.len() * 5 + 32);
            self.0.decode_into(&ids, skip_special, &mut bytes)?;
            Ok(bytes)
        })
    }
}

/// `bytes` as a `str`, with Python's own handling of what is not valid.
fn to_str<'py>(py: Python<'py>, bytes: &[u8], errors: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(valid) = std::str::from_utf8(bytes) {
        return Ok(PyString::new(py, valid).into_any());
    }
    PyBytes::new(py, bytes).call_method1("decode", PyTuple::new(py, ["utf-8", errors])?)
}
