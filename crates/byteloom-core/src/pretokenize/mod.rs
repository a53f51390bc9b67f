//! Pre-tokenizers: cut text into the pieces inside which merges happen.
//!
//! A pre-tokenizer finds boundaries in a block of bytes. The pre-tokens tile the text: joined, they are the input,
//! whatever the pattern. A byte that is not part of valid UTF-8 is one unit of class "other", like U+FFFD.
//!
//! The built-in patterns have hand-written scanners, linear in any text, whose classes come from one pinned
//! Unicode version. Any other regex runs on a general engine (see [`PreTokenizer::engine`]).

mod cl100k;
mod course;
mod gpt2;
mod o200k;
mod regex;
mod scheme;
mod sentencepiece;
mod split;
#[cfg(test)]
mod tests;
mod unicode;
mod units;

use std::sync::Arc;

use crate::error::Result;
use regex::{Progress, RegexEngine};
use scheme::Scheme;

/// How many pre-tokens [`Blocks::next`] gives at most.
pub const BLOCK: usize = 1024;

/// A compiled pre-tokenizer pattern.
///
/// A clone shares what was compiled. Threads may share one, but a clone for each thread spares a custom regex the
/// contention for its scratch memory.
#[derive(Clone, Debug)]
pub struct PreTokenizer {
    name: Option<&'static str>,
    regex: Arc<str>,
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    Scanner(Scheme),
    Regex(RegexEngine),
}

impl PreTokenizer {
    /// Compiles a built-in pattern by name (`"cl100k"`) or alias (`"gpt4"`), or a regex in Rust syntax, which may
    /// have look-around, possessive quantifiers and back-references too.
    ///
    /// A regex that is equal to a published spelling of a built-in pattern is that pattern. The `course-*` patterns
    /// and `simple` have the classes of Python's `re`.
    ///
    /// ```
    /// use byteloom_core::pretokenize::PreTokenizer;
    ///
    /// let pretokenizer = PreTokenizer::new("gpt2")?;
    /// let mut ends = Vec::new();
    /// pretokenizer.blocks(b"it's here").next(&mut ends)?;
    /// assert_eq!(ends, [2, 4, 9]);
    /// # Ok::<(), byteloom_core::Error>(())
    /// ```
    pub fn new(name_or_regex: &str) -> Result<Self> {
        Ok(match scheme::find(name_or_regex) {
            Some(known) => Self {
                name: Some(known.name),
                regex: Arc::from(known.regex),
                engine: Engine::Scanner(known.scheme),
            },
            None => Self {
                name: None,
                regex: Arc::from(name_or_regex),
                engine: Engine::Regex(RegexEngine::new(name_or_regex)?),
            },
        })
    }

    /// The names of the built-in patterns, without aliases.
    pub fn names() -> &'static [&'static str] {
        &scheme::NAMES
    }

    /// The name of a built-in pattern (`"gpt2"` where it was asked for as `"r50k"`); `None` for a custom regex.
    pub fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// The pattern as a regex; of a built-in pattern, the published spelling.
    pub fn regex(&self) -> &str {
        &self.regex
    }

    /// What finds the boundaries: `"scanner"` for a built-in pattern, `"regex"` for a custom one that the linear
    /// engine can run, `"fancy-regex"` for one that needs the backtracking engine, which has a step limit.
    pub fn engine(&self) -> &'static str {
        match &self.engine {
            Engine::Scanner(_) => "scanner",
            Engine::Regex(engine) => engine.name(),
        }
    }

    /// The Unicode version of the character classes; for a custom regex, that of its engine, which is named.
    pub fn unicode_version(&self) -> &'static str {
        match &self.engine {
            Engine::Scanner(_) => unicode::VERSION,
            Engine::Regex(engine) => engine.unicode_version(),
        }
    }

    /// The pre-tokens of `text`, a block of boundaries at a time.
    pub fn blocks<'a>(&'a self, text: &'a [u8]) -> Blocks<'a> {
        Blocks { pretokenizer: self, text, position: 0, progress: None }
    }

    /// A place near `target` where `text` may be cut so that both sides, pre-tokenized alone, give the pre-tokens
    /// of the whole. It is inside the text, so neither side is empty.
    ///
    /// The nearest at or before the target is preferred; the search reaches 64 KiB to each side. `None` where no
    /// such place is in reach, and always for `none` and for a custom regex.
    pub fn safe_split(&self, text: &[u8], target: usize) -> Option<usize> {
        match &self.engine {
            Engine::Scanner(scheme) => split::safe_split(*scheme, text, target),
            Engine::Regex(_) => None,
        }
    }
}

/// The pre-tokens of one text, in blocks.
#[derive(Debug)]
pub struct Blocks<'a> {
    pretokenizer: &'a PreTokenizer,
    text: &'a [u8],
    position: usize,
    /// The state of a custom regex, made at the first block.
    progress: Option<Progress<'a>>,
}

impl Blocks<'_> {
    /// Replaces `ends` by the ends (byte offsets in the text) of the next pre-tokens, at most [`BLOCK`].
    ///
    /// Returns false when the text is used up. A pre-token starts where the one before it ended, the first at 0.
    /// Only a custom regex can fail: it ran out of steps.
    pub fn next(&mut self, ends: &mut Vec<usize>) -> Result<bool> {
        ends.clear();
        if self.position < self.text.len() {
            match &self.pretokenizer.engine {
                Engine::Scanner(scheme) => scheme.fill(self.text, self.position, ends),
                Engine::Regex(engine) => {
                    let progress = self.progress.get_or_insert_with(|| Progress::new(self.text));
                    engine.fill(progress, ends)?;
                }
            }
            self.position = ends.last().copied().unwrap_or(self.text.len());
        }
        Ok(!ends.is_empty())
    }
}
