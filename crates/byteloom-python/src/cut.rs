//! Texts cut to a budget of tokens.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::encode::Request;
use crate::options::Optional;
use crate::text;
use crate::tokenizer::NativeTokenizer;
use crate::work::run;

#[pymethods]
impl NativeTokenizer {
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
