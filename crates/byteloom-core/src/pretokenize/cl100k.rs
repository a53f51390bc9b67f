//! The family of cl100k, which differ in digits and at the end of a text. In the spelling of Llama 3:
//! `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

use super::unicode::{LETTER, NUMBER, SPACE};
use super::units::{contraction_any_case, is_newline, run, run_without, short_run, unit};

/// cl100k as tiktoken spells it, with `\s++$` before `\s*[\r\n]`: white space that ends the text stays whole.
#[inline]
pub(super) fn next_cl100k(text: &[u8], start: usize) -> usize {
    next::<3, true>(text, start)
}

/// Llama 3, also the spelling of cl100k in Hugging Face files.
#[inline]
pub(super) fn next_llama3(text: &[u8], start: usize) -> usize {
    next::<3, false>(text, start)
}

/// Qwen 2, 2.5 and 3: every number alone.
#[inline]
pub(super) fn next_qwen2(text: &[u8], start: usize) -> usize {
    next::<1, false>(text, start)
}

/// The end of the pre-token that starts at `start`, inside the text.
#[inline]
fn next<const DIGITS: usize, const KEEP_TRAILING_SPACE: bool>(text: &[u8], start: usize) -> usize {
    let first = text[start];
    if first == b'\''
        && let Some(end) = contraction_any_case(text, start)
    {
        return end;
    }
    let (flags, length) = unit(text, start);
    if flags & LETTER != 0 {
        return run(text, start + length, LETTER);
    }
    if flags & NUMBER != 0 {
        return short_run(text, start + length, NUMBER, DIGITS - 1);
    }
    // Anything else but a newline goes with letters that follow it.
    let second = start + length;
    let (second_flags, second_length) = unit(text, second);
    if second_flags & LETTER != 0 && !is_newline(text, start) {
        return run(text, second + second_length, LETTER);
    }
    if flags & SPACE == 0 {
        return punctuation(text, second, false);
    }
    if first == b' ' && second_length != 0 && second_flags & (LETTER | NUMBER | SPACE) == 0 {
        return punctuation(text, second + second_length, false);
    }
    white_space(text, start, KEEP_TRAILING_SPACE)
}

/// The end of `[^\s\p{L}\p{N}]*[\r\n]*` at `at`, or of `[^\s\p{L}\p{N}]*[\r\n/]*` where `slashes`.
#[inline]
pub(super) fn punctuation(text: &[u8], at: usize, slashes: bool) -> usize {
    let mut end = run_without(text, at, LETTER | NUMBER | SPACE);
    while is_newline(text, end) || slashes && text.get(end) == Some(&b'/') {
        end += 1;
    }
    end
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+` at a white-space unit; where `keep_trailing`, `\s++$` comes first.
///
/// A run is cut after its last newline, and the rest of it, which has none, is read once more: linear in all.
#[inline]
pub(super) fn white_space(text: &[u8], start: usize, keep_trailing: bool) -> usize {
    let (mut at, mut last) = (start, start);
    let mut after_newline = None;
    loop {
        let (flags, length) = unit(text, at);
        if flags & SPACE == 0 {
            let at_end = length == 0;
            return match after_newline {
                _ if at_end && keep_trailing => at,
                Some(end) => end,
                None if at_end || last == start => at,
                None => last,
            };
        }
        last = at;
        at += length;
        if is_newline(text, last) {
            after_newline = Some(at);
        }
    }
}
