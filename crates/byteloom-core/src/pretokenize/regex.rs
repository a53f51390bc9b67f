//! The general engine, for a regex that is no built-in pattern.
//!
//! The `regex` crate runs what it can compile, without backtracking. The rest (look-around, back-references, atomic
//! groups, possessive quantifiers) runs on `fancy-regex`, which backtracks; a limit on its steps makes it end in an
//! error where it would go astray. Both read `str`: in a text that is not valid UTF-8 each invalid byte becomes
//! U+FFFD first, and offsets are mapped back.

use std::borrow::Cow;

use fancy_regex::{RegexInput, RuntimeError};

use super::BLOCK;
use crate::error::{Error, Result};
use crate::utf8::scalar;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1 << 16;
/// The largest compiled pattern, in bytes; of `fancy-regex`, the largest part that it hands to the linear engine.
const MAX_COMPILED: usize = 10 << 20;
/// The largest program of `fancy-regex`, in instructions.
const MAX_PROGRAM: usize = 1 << 16;
/// Backtracking steps of a match attempt at first. An ordinary pre-token needs a few.
const LIGHT_STEPS: usize = 1 << 10;
/// Steps of a second attempt, for a long pre-token. There is one such for each [`LIGHT_STEPS`] bytes of a text and
/// [`SPARE_ATTEMPTS`] on top, so the steps in all are linear in the text.
const HEAVY_STEPS: usize = 1_000_000;
const SPARE_ATTEMPTS: usize = 32;

/// A compiled regex of either engine.
#[derive(Clone, Debug)]
pub(super) enum RegexEngine {
    Linear(::regex::Regex),
    Bounded(Box<Bounded>),
}

/// A regex that needs backtracking, with two step limits.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    light: fancy_regex::Regex,
    heavy: fancy_regex::Regex,
}

/// How far the pre-tokens of a text have got.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    /// The text as the engine sees it.
    text: Cow<'a, str>,
    /// The text as given.
    original: &'a [u8],
    /// The end of the last pre-token, in `text`.
    at: usize,
    /// The same place, in `original`.
    original_at: usize,
    /// How many attempts with the higher step limit are left.
    heavy_attempts: usize,
}

impl<'a> Progress<'a> {
    pub(super) fn new(original: &'a [u8]) -> Self {
        let heavy_attempts = original.len() / LIGHT_STEPS + SPARE_ATTEMPTS;
        Self { text: repaired(original), original, at: 0, original_at: 0, heavy_attempts }
    }

    /// The state for the piece of a sequence after `former`: the spare attempts are those of the whole text.
    pub(super) fn after(former: Option<Self>, original: &'a [u8]) -> Self {
        let left = former.map_or(SPARE_ATTEMPTS, |former| former.heavy_attempts);
        Self { heavy_attempts: original.len() / LIGHT_STEPS + left, ..Self::new(original) }
    }

    /// The place in the original text of `place` in the repaired one, which is not before `at`.
    fn original_place(&self, place: usize) -> usize {
        let Cow::Owned(_) = self.text else { return place };
        let (mut at, mut original_at) = (self.at, self.original_at);
        while at < place {
            let (scalar, length) = scalar(self.original, original_at);
            // Both an invalid byte and a true U+FFFD are three bytes in the repaired text.
            at += if scalar == 0xFFFD { 3 } else { length };
            original_at += length.max(1);
        }
        original_at
    }

    /// Ends a pre-token at `place` in the repaired text.
    fn end_at(&mut self, place: usize, ends: &mut Vec<usize>) {
        self.original_at = self.original_place(place);
        self.at = place;
        ends.push(self.original_at);
    }

    /// The place behind the character at `place`.
    fn behind(&self, place: usize) -> Option<usize> {
        self.text.get(place..)?.chars().next().map(|character| place + character.len_utf8())
    }
}

/// `text` with each byte that is part of no valid character replaced by U+FFFD.
pub(super) fn repaired(text: &[u8]) -> Cow<'_, str> {
    if let Ok(valid) = std::str::from_utf8(text) {
        return Cow::Borrowed(valid);
    }
    let mut repaired = String::with_capacity(text.len() + text.len() / 2);
    for chunk in text.utf8_chunks() {
        repaired.push_str(chunk.valid());
        repaired.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(repaired)
}

impl RegexEngine {
    pub(super) fn new(pattern: &str) -> Result<Self> {
        if pattern.len() > MAX_PATTERN {
            return Err(Error::pattern(
                pattern,
                format!("it has {} bytes; the longest pattern has {MAX_PATTERN}", pattern.len()),
            ));
        }
        // To the `regex` crate `a++` is `(?:a+)+`; to everybody else, and to patterns in use, it is possessive.
        let linear_error = if has_possessive_quantifier(pattern) {
            None
        } else {
            match ::regex::RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build() {
                Ok(regex) => return Ok(Self::Linear(regex)),
                Err(::regex::Error::CompiledTooBig(_)) => {
                    let message = format!(
                        "compiled, it is larger than {MAX_COMPILED} bytes; use smaller repetition counts or classes"
                    );
                    return Err(Error::pattern(pattern, message));
                }
                // A pattern that needs nothing of the other engine is simply wrong; that engine reads `a{2,1}` as text.
                Err(error) if !needs_backtracking(pattern) => {
                    let message = error.to_string();
                    return Err(Error::pattern(pattern, explain(Some(&message), &message)));
                }
                Err(error) => Some(error.to_string()),
            }
        };
        let bounded = |steps| {
            fancy_regex::RegexBuilder::new(pattern)
                .backtrack_limit(steps)
                .delegate_size_limit(MAX_COMPILED)
                .max_prog_size(MAX_PROGRAM)
                .build()
        };
        match (bounded(LIGHT_STEPS), bounded(HEAVY_STEPS)) {
            (Ok(light), Ok(heavy)) => Ok(Self::Bounded(Box::new(Bounded { light, heavy }))),
            (Err(error), _) | (_, Err(error)) => {
                Err(Error::pattern(pattern, explain(linear_error.as_deref(), &error.to_string())))
            }
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Linear(_) => "regex",
            Self::Bounded(_) => "fancy-regex",
        }
    }

    /// Held true by a test, which reads the lock file and asks the engines.
    pub(super) fn unicode_version(&self) -> &'static str {
        match self {
            Self::Linear(_) => "regex 1.13, Unicode 16.0",
            Self::Bounded(_) => "fancy-regex 0.20, Unicode 16.0",
        }
    }

    /// Appends the next ends until `ends` is nearly [`BLOCK`] long or the text is used up.
    ///
    /// A match that is not empty is a pre-token; so is what lies between two such matches, or after the last.
    pub(super) fn fill(&self, progress: &mut Progress<'_>, ends: &mut Vec<usize>) -> Result<()> {
        // A gap and the match behind it go into the same block, so that no search starts inside a gap.
        while progress.at < progress.text.len() && ends.len() + 2 <= BLOCK {
            let start = progress.at;
            let mut from = start;
            let found = loop {
                match self.find(progress, from)? {
                    None => break None,
                    // `\K` can put the start of a match before the place where the search began.
                    Some((found, end)) if end > found.max(start) => break Some((found.max(start), end)),
                    Some((_, end)) => match progress.behind(end.max(from)) {
                        None => break None,
                        Some(next) => from = next,
                    },
                }
            };
            let length = progress.text.len();
            let (gap_end, end) = found.unwrap_or((length, length));
            if start < gap_end {
                progress.end_at(gap_end, ends);
            }
            if gap_end < end {
                progress.end_at(end, ends);
            }
        }
        Ok(())
    }

    /// The first match from `from` on, as start and end.
    fn find(&self, progress: &mut Progress<'_>, from: usize) -> Result<Option<(usize, usize)>> {
        match self {
            Self::Linear(regex) => {
                Ok(regex.find_at(&progress.text, from).map(|found| (found.start(), found.end())))
            }
            Self::Bounded(bounded) => {
                // One place after the other, so that the step limit is that of a match, not of the gap before it.
                let mut place = Some(from);
                while let Some(at) = place {
                    let found = bounded.match_at(progress, at)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                    place = progress.behind(at);
                }
                Ok(None)
            }
        }
    }
}

impl Bounded {
    /// The match that begins at `at`, as start and end.
    fn match_at(&self, progress: &mut Progress<'_>, at: usize) -> Result<Option<(usize, usize)>> {
        let attempt = |regex: &fancy_regex::Regex| {
            let found = regex.find_input(RegexInput::new(&*progress.text).from_pos(at).anchored(true))?;
            Ok(found.map(|found| (found.start(), found.end())))
        };
        let mut outcome = attempt(&self.light);
        if is_out_of_steps(&outcome) && progress.heavy_attempts > 0 {
            outcome = attempt(&self.heavy);
            progress.heavy_attempts -= 1;
        }
        outcome.map_err(|error: fancy_regex::Error| {
            let place = progress.original_place(at);
            let reason = match error {
                fancy_regex::Error::RuntimeError(RuntimeError::BacktrackLimitExceeded) => {
                    "it takes too many backtracking steps".to_owned()
                }
                fancy_regex::Error::RuntimeError(RuntimeError::StackOverflow) => {
                    "it keeps too many choices open".to_owned()
                }
                other => other.to_string(),
            };
            let advice =
                "use possessive quantifiers, spell it without look-around, or choose a built-in pattern";
            Error::pattern(self.light.as_str(), format!("at byte {place} of the text {reason}; {advice}"))
        })
    }
}

fn is_out_of_steps<T>(outcome: &std::result::Result<T, fancy_regex::Error>) -> bool {
    matches!(outcome, Err(fancy_regex::Error::RuntimeError(RuntimeError::BacktrackLimitExceeded)))
}

/// The message for a pattern that no engine compiles: of the two, the one that is to the point.
fn explain(linear: Option<&str>, bounded: &str) -> String {
    match linear {
        // "look-around … is not supported" and the like are no fault here: the other engine has them.
        Some(message) if !message.contains("not supported") => {
            let last = message.lines().last().unwrap_or(message).trim();
            format!("not a valid regex: {}", last.strip_prefix("error: ").unwrap_or(last))
        }
        _ => format!("not a valid regex: {bounded}"),
    }
}

/// Whether a pattern has a construct that only the backtracking engine knows.
fn needs_backtracking(pattern: &str) -> bool {
    const GROUPS: [&str; 6] = ["(?=", "(?!", "(?<=", "(?<!", "(?>", "(?("];
    const ESCAPES: &[u8] = b"123456789kghHGKOZeRX";
    let escaped = pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && ESCAPES.contains(&pair[1]));
    escaped || GROUPS.iter().any(|group| pattern.contains(group))
}

/// Whether a quantifier seems to be followed by `+`.
///
/// Classes and comments are not told apart, so this says yes too often, as for `[*+]`, never too rarely. No harm: a
/// pattern that needs no backtracking means the same to both engines, and is linear in both.
fn has_possessive_quantifier(pattern: &str) -> bool {
    let mut bytes = pattern.bytes().peekable();
    let mut after_quantifier = false;
    while let Some(byte) = bytes.next() {
        if byte == b'+' && after_quantifier {
            return true;
        }
        after_quantifier = matches!(byte, b'*' | b'+' | b'?' | b'}');
        if byte == b'\\' {
            let escaped = bytes.next();
            // `\p{L}`, `\x{..}`, `\k{..}`: their brace closes no quantifier.
            if escaped.is_some_and(|byte| byte.is_ascii_alphabetic()) && bytes.peek() == Some(&b'{') {
                bytes.by_ref().find(|&byte| byte == b'}');
            }
        }
    }
    false
}
