//! GPT-2's pattern:
//! `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

use super::unicode::{LETTER, NUMBER, SPACE};
use super::units::{contraction, run, run_without, spaces_before_word, unit};

/// The end of the pre-token that starts at `start`, inside the text.
#[inline]
pub(super) fn next(text: &[u8], start: usize) -> usize {
    let first = text[start];
    if let Some(end) = contraction(text, start) {
        return end;
    }
    // One space belongs to what follows it, unless that is white space or the end.
    let body = start + usize::from(first == b' ');
    let (flags, length) = unit(text, body);
    if flags & LETTER != 0 {
        run(text, body + length, LETTER)
    } else if flags & NUMBER != 0 {
        run(text, body + length, NUMBER)
    } else if flags & SPACE != 0 || length == 0 {
        spaces_before_word(text, start, SPACE)
    } else {
        run_without(text, body + length, LETTER | NUMBER | SPACE)
    }
}
