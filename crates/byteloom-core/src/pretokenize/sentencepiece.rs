//! `sentencepiece`: ` *[^ ]+| +`, a word with all the spaces before it.
//!
//! SentencePiece has no pre-tokenizer. But where no piece has a space behind another character, no merge crosses a
//! place where a run of spaces begins, so cutting there changes nothing and makes words that a cache can keep.

/// The end of the pre-token that starts at `start`, inside the text.
#[inline]
pub(super) fn next(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
    start + spaces + rest[spaces..].iter().take_while(|&&byte| byte != b' ').count()
}
