//! Pre-tokenizers: cut text into the pieces inside which merges happen.
//!
//! A pre-tokenizer finds boundaries in a block of bytes. The pre-tokens tile the text: joined, they are the input,
//! whatever the pattern. A byte that is not part of valid UTF-8 is one unit of class "other".

mod regex;

use crate::error::Result;

/// How many pre-tokens [`Blocks::next`] gives at most.
pub const BLOCK: usize = 1024;

/// A compiled pre-tokenizer pattern.
#[derive(Clone, Debug)]
pub struct PreTokenizer {
    name: Option<&'static str>,
    regex: String,
    engine: regex::RegexEngine,
}

impl PreTokenizer {
    /// Compiles a built-in pattern by name (`"cl100k"`), or a regex in Rust syntax.
    pub fn new(name_or_regex: &str) -> Result<Self> {
        Ok(Self { name: None, regex: name_or_regex.to_owned(), engine: regex::RegexEngine::new(name_or_regex)? })
    }

    /// The name of a built-in pattern; `None` for a custom regex.
    pub fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// The pattern as a regex.
    pub fn regex(&self) -> &str {
        &self.regex
    }

    /// The pre-tokens of `text`, a block of boundaries at a time.
    pub fn blocks<'a>(&'a self, text: &'a [u8]) -> Blocks<'a> {
        Blocks { pretokenizer: self, text, position: 0 }
    }

    /// A place near `target` where `text` may be cut so that both sides, pre-tokenized alone, give the pre-tokens
    /// of the whole. `None` where no such place is in reach, or the pattern has none.
    pub fn safe_split(&self, text: &[u8], target: usize) -> Option<usize> {
        let _ = (text, target);
        None
    }
}

/// The pre-tokens of one text, in blocks.
#[derive(Debug)]
pub struct Blocks<'a> {
    pretokenizer: &'a PreTokenizer,
    text: &'a [u8],
    position: usize,
}

impl Blocks<'_> {
    /// Replaces `ends` by the ends (byte offsets in the text) of the next pre-tokens, at most [`BLOCK`].
    ///
    /// Returns false when the text is used up. A pre-token starts where the one before it ended, the first at 0.
    pub fn next(&mut self, ends: &mut Vec<usize>) -> Result<bool> {
        ends.clear();
        if self.position < self.text.len() {
            self.pretokenizer.engine.fill(self.text, self.position, ends)?;
            self.position = ends.last().copied().unwrap_or(self.text.len());
        }
        Ok(!ends.is_empty())
    }
}
