//! Pre-tokenizers: cut text into the pieces inside which merges happen.
//!
//! A pre-tokenizer finds boundaries in a block of bytes. The pre-tokens tile the text: joined, they are the input,
//! whatever the pattern. A byte that is not part of valid UTF-8 is one unit of class "other", like U+FFFD.
//!
//! The built-in patterns have hand-written scanners, linear in any text, whose classes come from one pinned
//! Unicode version. Any other regex runs on a general engine (see [`PreTokenizer::engine`]).

mod alternatives;
mod blocks;
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
mod vector;
mod window;

use std::sync::Arc;

use crate::error::{Error, Result};
pub use alternatives::{Alternatives, Cut};
pub use blocks::{BLOCK, Blocks};
use regex::RegexEngine;
use scheme::Scheme;
#[cfg(target_arch = "x86_64")]
pub(crate) use vector::PLACES;
pub use vector::{SimdPath, simd_path};
pub use window::{WINDOW_BYTES, Window};

/// The longest sequence of patterns.
const MAX_SEQUENCE: usize = 16;
/// What stands between the regexes of a sequence where they are shown as one string.
const SEQUENCE_SIGN: &str = " → ";

/// A compiled pre-tokenizer pattern.
///
/// A clone shares what was compiled. Threads may share one, but a clone for each thread spares a custom regex the
/// contention for its scratch memory.
#[derive(Clone, Debug)]
pub struct PreTokenizer {
    name: Option<&'static str>,
    regex: Arc<str>,
    engine: Engine,
    /// What a scanner runs on.
    path: SimdPath,
}

#[derive(Clone, Debug)]
enum Engine {
    Scanner(Scheme),
    Regex(RegexEngine),
    /// Two or more, none of them a sequence itself.
    Sequence(Arc<[PreTokenizer]>),
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
        let path = vector::chosen()?;
        Ok(match scheme::find(name_or_regex) {
            Some(known) => Self {
                name: Some(known.name),
                regex: Arc::from(known.regex),
                engine: Engine::Scanner(known.scheme),
                path,
            },
            None if looks_like_a_name(name_or_regex) => {
                return Err(Error::pattern(
                    name_or_regex,
                    format!(
                        "is no built-in pattern (there are {}); for a regex that matches these letters, write \
                         (?:{name_or_regex})",
                        Self::names().join(", ")
                    ),
                ));
            }
            None => Self {
                name: None,
                regex: Arc::from(name_or_regex),
                engine: Engine::Regex(RegexEngine::new(name_or_regex)?),
                path,
            },
        })
    }

    /// Several in a row: each one cuts the pieces of the one before it, as if each piece were a text.
    ///
    /// Members that are sequences count as their members; a sequence of one is that one, and of none is `none`.
    pub fn sequence(members: Vec<Self>) -> Result<Self> {
        let mut flat = Vec::with_capacity(members.len());
        for member in members {
            match &member.engine {
                Engine::Sequence(inner) => flat.extend(inner.iter().cloned()),
                Engine::Scanner(_) | Engine::Regex(_) => flat.push(member),
            }
        }
        if flat.len() > MAX_SEQUENCE {
            return Err(Error::Argument(format!(
                "a sequence of {} patterns; the longest has {MAX_SEQUENCE}",
                flat.len()
            )));
        }
        match flat.len() {
            0 => Self::new("none"),
            1 => Ok(flat.swap_remove(0)),
            _ => {
                let regexes: Vec<&str> = flat.iter().map(Self::regex).collect();
                let regex = Arc::from(regexes.join(SEQUENCE_SIGN));
                Ok(Self { name: None, regex, engine: Engine::Sequence(flat.into()), path: vector::chosen()? })
            }
        }
    }

    /// The members of a sequence in order, or the one pattern.
    pub fn members(&self) -> &[Self] {
        match &self.engine {
            Engine::Sequence(members) => members,
            Engine::Scanner(_) | Engine::Regex(_) => std::slice::from_ref(self),
        }
    }

    /// The names of the built-in patterns, without aliases.
    pub fn names() -> &'static [&'static str] {
        &scheme::NAMES
    }

    /// The name of a built-in pattern (`"gpt2"` where it was asked for as `"r50k"`); `None` for a custom regex.
    pub fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// The pattern as a regex; of a built-in pattern, the published spelling. Of a sequence, the regexes of its
    /// members with an arrow between, to be read by people; see [`Self::members`].
    pub fn regex(&self) -> &str {
        &self.regex
    }

    /// What finds the boundaries: `"scanner"` for a built-in pattern, `"regex"` for a custom one that the linear
    /// engine can run, `"fancy-regex"` for one that needs the backtracking engine, which has a step limit.
    pub fn engine(&self) -> &'static str {
        match &self.engine {
            Engine::Scanner(_) => "scanner",
            Engine::Regex(engine) => engine.name(),
            Engine::Sequence(_) => "sequence",
        }
    }

    /// The Unicode version of the character classes; for a custom regex, that of its engine, which is named.
    pub fn unicode_version(&self) -> &'static str {
        match &self.engine {
            Engine::Scanner(_) => unicode::VERSION,
            Engine::Regex(engine) => engine.unicode_version(),
            // The weakest promise of its members: an engine's version, where one has an engine.
            Engine::Sequence(members) => members
                .iter()
                .map(Self::unicode_version)
                .find(|version| *version != unicode::VERSION)
                .unwrap_or(unicode::VERSION),
        }
    }

    /// The pre-tokens of `text`, a block of boundaries at a time.
    pub fn blocks<'a>(&'a self, text: &'a [u8]) -> Blocks<'a> {
        Blocks::new(self, None, text)
    }

    /// [`Self::blocks`] by a given path, however short the text, to compare them.
    #[doc(hidden)]
    pub fn blocks_by<'a>(&'a self, path: SimdPath, text: &'a [u8]) -> Blocks<'a> {
        Blocks::new(self, Some(path), text)
    }

    /// Cuts a short text into the pre-tokens of one window; false where that takes [`Self::blocks`].
    #[inline]
    pub(crate) fn fill_whole(&self, text: &[u8], window: &mut Window) -> bool {
        let Engine::Scanner(scheme) = self.engine else { return false };
        window.begin(0);
        vector::fill(scheme, self.path.for_length(text.len()), text, window);
        window.end == text.len()
    }

    /// A place near `target` where `text` may be cut so that both sides, pre-tokenized alone, give the pre-tokens
    /// of the whole. It is inside the text, so neither side is empty.
    ///
    /// The nearest at or before the target is preferred; the search reaches 64 KiB to each side. `None` where no
    /// such place is in reach, and always for `none` and for a custom regex.
    pub fn safe_split(&self, text: &[u8], target: usize) -> Option<usize> {
        match &self.engine {
            Engine::Scanner(scheme) => split::safe_split(*scheme, text, target),
            Engine::Regex(_) | Engine::Sequence(_) => None,
        }
    }
}

/// Whether a pattern is a word without any sign of a regex: a name that was misspelled, or is not known here.
fn looks_like_a_name(pattern: &str) -> bool {
    (3..=40).contains(&pattern.len())
        && pattern.starts_with(|c: char| c.is_ascii_alphabetic())
        && pattern.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
