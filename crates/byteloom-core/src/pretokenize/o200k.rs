//! The pattern of o200k, alternatives on lines of their own:
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//! Lm, Lo and M are in both classes of the first two alternatives, and M is in the class of their prefix as well.

use super::cl100k::{punctuation, white_space};
use super::unicode::{LETTER, LOWER, NUMBER, SPACE, UPPER};
use super::units::{contraction_any_case, is_newline, run, short_run, unit};

/// The end of the pre-token that starts at `start`, inside the text.
#[inline]
pub(super) fn next(text: &[u8], start: usize) -> usize {
    let (flags, length) = unit(text, start);
    if flags & LETTER != 0 {
        // A letter is no prefix, so the word starts here, and it is never empty.
        let word = word(text, start);
        return with_contraction(text, word.lower.unwrap_or(word.upper));
    }
    if flags & NUMBER != 0 {
        return short_run(text, start + length, NUMBER, 2);
    }
    let second = start + length;
    if !is_newline(text, start) {
        let (second_flags, _) = unit(text, second);
        if second_flags & (UPPER | LOWER) != 0 {
            let word = word(text, second);
            // The first alternative: with the prefix; then without it, which leaves a mark to be a word of one
            // lower character, because nothing lower follows it. Then the second alternative, with the prefix.
            let end = match word.lower {
                Some(end) => end,
                None if flags & LOWER != 0 => second,
                None => word.upper,
            };
            return with_contraction(text, end);
        }
        if flags & LOWER != 0 {
            return with_contraction(text, second);
        }
    }
    if flags & SPACE == 0 {
        return punctuation(text, second, true);
    }
    let (second_flags, second_length) = unit(text, second);
    if text[start] == b' ' && second_length != 0 && second_flags & (LETTER | NUMBER | SPACE) == 0 {
        return punctuation(text, second + second_length, true);
    }
    white_space(text, start, false)
}

/// Where the two word alternatives end.
struct Word {
    /// The end of upper characters and then at least one lower: the first alternative, if it matches.
    lower: Option<usize>,
    /// The end of the upper characters: the second alternative, where the first does not match.
    upper: usize,
}

/// The word that starts at `start`.
///
/// The upper run is greedy. Where no lower character follows it, the regex gives back characters of the run down to
/// the last one that is lower too; the match ends behind that one. What was given back is upper only, so the next
/// word is that run, taken whole: a character is read twice at most.
#[inline]
fn word(text: &[u8], start: usize) -> Word {
    let (mut at, mut lower) = (start, None);
    loop {
        let (flags, length) = unit(text, at);
        if flags & UPPER == 0 {
            if flags & LOWER != 0 {
                lower = Some(run(text, at + length, LOWER));
            }
            return Word { lower, upper: at };
        }
        at += length;
        if flags & LOWER != 0 {
            lower = Some(at);
        }
    }
}

/// `end`, or the end of a contraction there.
#[inline]
fn with_contraction(text: &[u8], end: usize) -> usize {
    contraction_any_case(text, end).unwrap_or(end)
}
