//! The patterns of the courses. They mean what Python's `re` means: its `\w` holds no combining marks, its `\s`
//! takes U+001C to U+001F too.

use super::unicode::{DECIMAL, PY_SPACE, PY_WORD};
use super::units::{contraction, run, run_without, spaces_before_word, unit};

/// `simple`: `\s+|\S+`
#[inline]
pub(super) fn next_simple(text: &[u8], start: usize) -> usize {
    let (flags, length) = unit(text, start);
    if flags & PY_SPACE != 0 {
        run(text, start + length, PY_SPACE)
    } else {
        run_without(text, start + length, PY_SPACE)
    }
}

/// `course-words`: ` ?\w+| ?[^\w\s]+|\s+`
#[inline]
pub(super) fn next_words(text: &[u8], start: usize) -> usize {
    let prefix = usize::from(text[start] == b' ');
    word_or_spaces(text, start, start + prefix)
}

/// `course-ws`: `\s?\w+|\s?[^\w\s]+|\s+`
#[inline]
pub(super) fn next_ws(text: &[u8], start: usize) -> usize {
    let (flags, length) = unit(text, start);
    let prefix = if flags & PY_SPACE != 0 { length } else { 0 };
    word_or_spaces(text, start, start + prefix)
}

/// `\w+|[^\w\s]+` at `body`, or else `\s+` at `start`.
#[inline]
fn word_or_spaces(text: &[u8], start: usize, body: usize) -> usize {
    let (flags, length) = unit(text, body);
    if flags & PY_WORD != 0 {
        run(text, body + length, PY_WORD)
    } else if flags & PY_SPACE != 0 || length == 0 {
        run(text, start, PY_SPACE)
    } else {
        run_without(text, body + length, PY_WORD | PY_SPACE)
    }
}

/// `course-gpt2`, GPT-2's pattern spelled for the standard library:
/// `'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?[^\s\w]+| ?_+|\s+(?!\S)|\s+`
///
/// A letter is a word character that is neither a decimal digit nor `_`: `²` and `Ⅷ` are letters here.
#[inline]
pub(super) fn next_gpt2(text: &[u8], start: usize) -> usize {
    if let Some(end) = contraction(text, start) {
        return end;
    }
    let body = start + usize::from(text[start] == b' ');
    let (flags, length) = unit(text, body);
    if flags & DECIMAL != 0 {
        run(text, body + length, DECIMAL)
    } else if text.get(body) == Some(&b'_') {
        let underscores = text[body..].iter().take_while(|&&byte| byte == b'_').count();
        body + underscores
    } else if flags & PY_WORD != 0 {
        letters(text, body + length)
    } else if flags & PY_SPACE != 0 || length == 0 {
        spaces_before_word(text, start, PY_SPACE)
    } else {
        run_without(text, body + length, PY_WORD | PY_SPACE)
    }
}

/// The end of `[^\W\d_]*` at `at`.
#[inline]
fn letters(text: &[u8], mut at: usize) -> usize {
    loop {
        let (flags, length) = unit(text, at);
        if flags & (PY_WORD | DECIMAL) != PY_WORD || text.get(at) == Some(&b'_') {
            return at;
        }
        at += length;
    }
}
