//! The one error type of the core.
//!
//! Each variant says what was given, where, and what to do. The Python binding maps a variant to an exception
//! class in one place; nothing else in the core knows about Python.

use std::fmt;
use std::path::PathBuf;

use crate::token::TokenId;

/// Everything that can go wrong in the core.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A vocabulary that no tokenizer can be built from: a byte missing, a shared id, a merge without a token.
    Vocabulary(String),
    /// A file or string that is not what its format asks for. `place` is a line, a key or a byte offset.
    Format {
        /// Where in the input the fault lies, such as `line 3` or `merges[17]`.
        place: String,
        /// What is wrong and what was expected.
        message: String,
    },
    /// A pre-tokenizer pattern that cannot be compiled, or that ran out of its step limit on a text.
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// A special token that cannot be declared, or that a text spells without leave.
    SpecialToken(String),
    /// A text that is not well-formed: a lone surrogate, or invalid UTF-8 where it was not allowed.
    Text(String),
    /// A training request that cannot be met.
    Training(String),
    /// An id that stands for no token.
    UnknownToken {
        /// The id as given; wider than an id so that bad input can be named.
        id: i128,
        /// Its place in the sequence, counted from 0.
        position: usize,
        /// Which item of a batch held it, such as `("sequence", 3)`.
        item: Option<(String, usize)>,
    },
    /// An entropy model or a patcher that was asked for something impossible.
    Patching(String),
    /// An option outside its range.
    Argument(String),
    /// A file that could not be read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The caller's progress hook asked to stop, such as after Ctrl-C.
    Interrupted,
}

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A format error at `place`.
    pub(crate) fn format(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Format { place: place.into(), message: message.into() }
    }

    /// A pattern error.
    pub(crate) fn pattern(pattern: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Pattern { pattern: pattern.into(), message: message.into() }
    }

    /// An error that names the file it came from.
    pub(crate) fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }

    /// The same error, its message beginning with the place of the item in its batch.
    #[must_use]
    pub fn in_item(self, what: &str, index: usize) -> Self {
        let named = |message: String| format!("{what} {index}: {message}");
        match self {
            Self::SpecialToken(message) => Self::SpecialToken(named(message)),
            Self::Text(message) => Self::Text(named(message)),
            Self::Pattern { pattern, message } => Self::Pattern { pattern, message: named(message) },
            Self::UnknownToken { id, position, .. } => {
                Self::UnknownToken { id, position, item: Some((what.to_owned(), index)) }
            }
            other => other,
        }
    }

    /// An id that stands for no token.
    pub(crate) fn unknown_token(id: TokenId, position: usize) -> Self {
        Self::UnknownToken { id: i128::from(id), position, item: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vocabulary(message)
            | Self::SpecialToken(message)
            | Self::Text(message)
            | Self::Training(message)
            | Self::Patching(message)
            | Self::Argument(message) => f.write_str(message),
            Self::Format { place, message } => write!(f, "{place}: {message}"),
            Self::Pattern { pattern, message } => write!(f, "pattern {}: {message}", excerpt(pattern)),
            Self::UnknownToken { id, position, item } => {
                write!(f, "id {id} at position {position}")?;
                if let Some((what, index)) = item {
                    write!(f, " of {what} {index}")?;
                }
                f.write_str(" is not in the vocabulary")
            }
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// `text` quoted and cut to a length that fits in a message.
pub(crate) fn excerpt(text: &str) -> String {
    const LIMIT: usize = 80;
    match text.char_indices().nth(LIMIT) {
        None => format!("{text:?}"),
        Some((cut, _)) => format!("{:?}… ({} characters)", &text[..cut], text.chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_place() {
        assert_eq!(Error::format("line 3", "not base64").to_string(), "line 3: not base64");
        assert_eq!(Error::unknown_token(7, 2).to_string(), "id 7 at position 2 is not in the vocabulary");
    }

    #[test]
    fn excerpts_are_short() {
        assert_eq!(excerpt("a\n"), "\"a\\n\"");
        assert!(excerpt(&"é".repeat(1000)).ends_with("… (1000 characters)"));
    }
}
