//! `StreamDecoder`.

use std::sync::{Mutex, PoisonError};

use byteloom_core::stream;
use pyo3::prelude::*;

use crate::text;
use crate::work::guarded;

/// Decodes a token at a time and never shows half a character.
///
/// Made by `Tokenizer.stream_decoder`. The texts that `feed` and `flush` return, joined, are what `decode` gives for
/// all ids together.
///
/// >>> import byteloom as bl
/// >>> tok = bl.Tokenizer.train("low", vocab_size=256)
/// >>> decoder = tok.stream_decoder()
/// >>> [decoder.feed(id) for id in "é!".encode()]
/// ['', 'é', '!']
/// >>> decoder.feed([0xF0, 0x9F]), decoder.flush()
/// ('', '\ufffd')
#[pyclass(frozen, module = "byteloom")]
pub struct StreamDecoder(Mutex<stream::StreamDecoder>);

impl StreamDecoder {
    /// A decoder around the core's.
    pub fn new(decoder: stream::StreamDecoder) -> Self {
        Self(Mutex::new(decoder))
    }
}

#[pymethods]
impl StreamDecoder {
    /// The text that an id, or several, complete.
    ///
    /// Bytes that can never become a character show as U+FFFD; those that still may are held back.
    ///
    /// Raises:
    ///     UnknownTokenError: an id that stands for no token; the decoder is then as it was before the call.
    #[pyo3(signature = (ids, /))]
    fn feed(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<String> {
        let ids = match text::index(ids) {
            Ok(_) => vec![text::id(ids, 0)?],
            Err(_) => text::ids(ids)?,
        };
        guarded(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).feed(&ids), None)
    }

    /// Ends the stream: an unfinished character shows as one U+FFFD. The decoder may be used again.
    fn flush(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}
