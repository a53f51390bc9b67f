//! Places where a text may be cut without moving a boundary of any built-in pattern but `none`.

use super::scheme::Scheme;
use super::unicode::{LETTER, NUMBER, flags};
use crate::utf8::scalar;

/// How far from the target a cut is looked for, in bytes, on each side.
const REACH: usize = 64 << 10;

/// The safe place nearest before `target`, or else the nearest after it.
pub(super) fn safe_split(scheme: Scheme, text: &[u8], target: usize) -> Option<usize> {
    if scheme == Scheme::Whole || text.is_empty() {
        return None;
    }
    let target = target.clamp(1, text.len());
    let safe = |at: &usize| is_safe(scheme, text, *at);
    let before = target.saturating_sub(REACH).max(1)..target.saturating_add(1).min(text.len());
    let after = target..target.saturating_add(REACH).min(text.len());
    before.rev().find(safe).or_else(|| { after }.find(safe))
}

/// Whether a pre-token starts at `at` in every text that goes on so from `at`, whatever is before the character
/// that is before it; and whether that character's pre-token is the same where the text ends at `at`.
///
/// White space is only ever the first of a pre-token's characters or follows white space in it, except newlines
/// behind punctuation. So a blank behind a visible character is safe, and a newline behind a letter or number. Where
/// `sentencepiece` knows no white space but U+0020. Where
/// punctuation does not join letters (in all but `simple`), the ideographic comma and full stop behind a letter are
/// safe too; they serve texts that have no blanks. None of these characters is looked at by what ends before it:
/// to the scanners each is as good as the end of the text.
fn is_safe(scheme: Scheme, text: &[u8], at: usize) -> bool {
    match text[at..] {
        [first, ..] if scheme == Scheme::SentencePiece && first != b' ' => false,
        [b' ' | b'\t', ..] => matches!(text[at - 1], b'!'..=b'~') || is_letter_or_number(text, at),
        [b'\n', ..] => is_letter_or_number(text, at),
        [0xE3, 0x80, 0x81 | 0x82, ..] | [0xEF, 0xBC, 0x8C, ..] => {
            scheme != Scheme::Simple && is_letter_or_number(text, at)
        }
        _ => false,
    }
}

/// Whether a letter or number ends at `at`.
fn is_letter_or_number(text: &[u8], at: usize) -> bool {
    // The character starts at the nearest byte that is no continuation byte.
    let start = (at.saturating_sub(4)..at).rev().find(|&start| text[start] & 0xC0 != 0x80);
    start.is_some_and(|start| {
        let (scalar, length) = scalar(text, start);
        start + length == at && flags(scalar) & (LETTER | NUMBER) != 0
    })
}
