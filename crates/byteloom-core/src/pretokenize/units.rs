//! Reading text by units: a character of valid UTF-8, or a single byte that is part of none.
//!
//! A byte that is part of no valid character carries no class flags, like U+FFFD: it is class "other". UTF-8
//! synchronizes itself, so a walk from any unit boundary finds the same units.

use super::unicode::{BYTES, flags};
use crate::utf8::scalar;

/// The class flags and the length of the unit at `at`; no flags and a length of 0 at the end.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the ASCII branch must be part of the caller's loop")]
pub(super) fn unit(text: &[u8], at: usize) -> (u8, usize) {
    match text.get(at) {
        None => (0, 0),
        Some(&byte) if byte < 0x80 => (BYTES[byte as usize], 1),
        Some(_) => {
            let (scalar, length) = scalar(text, at);
            (flags(scalar), length)
        }
    }
}

/// The end of the run, from `at`, of units that carry a flag of `mask`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the mask must be a constant of the loop")]
pub(super) fn run(text: &[u8], mut at: usize, mask: u8) -> usize {
    loop {
        // The flags of a byte from 0x80 are none, so only the end of an ASCII stretch takes the slow turn.
        while text.get(at).is_some_and(|&byte| BYTES[byte as usize] & mask != 0) {
            at += 1;
        }
        if text.get(at).is_none_or(|&byte| byte < 0x80) {
            return at;
        }
        let (found, length) = unit(text, at);
        if found & mask == 0 {
            return at;
        }
        at += length;
    }
}

/// The end of the run, from `at`, of units that carry no flag of `mask`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the mask must be a constant of the loop")]
pub(super) fn run_without(text: &[u8], mut at: usize, mask: u8) -> usize {
    loop {
        let (found, length) = unit(text, at);
        if length == 0 || found & mask != 0 {
            return at;
        }
        at += length;
    }
}

/// The end of the run, from `at`, of at most `limit` units that carry a flag of `mask`.
#[inline]
pub(super) fn short_run(text: &[u8], mut at: usize, mask: u8, limit: usize) -> usize {
    for _ in 0..limit {
        let (found, length) = unit(text, at);
        if found & mask == 0 {
            break;
        }
        at += length;
    }
    at
}

/// `\s+(?!\S)|\s+` at a white-space unit, where `space` is the flag of `\s`: the whole run at the end of the text,
/// otherwise all of it but its last unit, which is left to the word that follows; a single unit is taken.
#[inline]
pub(super) fn spaces_before_word(text: &[u8], start: usize, space: u8) -> usize {
    let (mut at, mut last) = (start, start);
    loop {
        let (found, length) = unit(text, at);
        if length == 0 {
            return at;
        }
        if found & space == 0 {
            return if last > start { last } else { at };
        }
        last = at;
        at += length;
    }
}

/// Whether the byte at `at` is a carriage return or a line feed.
#[inline]
pub(super) fn is_newline(text: &[u8], at: usize) -> bool {
    matches!(text.get(at), Some(b'\r' | b'\n'))
}

/// The end of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` at `at`, in lower case.
#[inline]
pub(super) fn contraction(text: &[u8], at: usize) -> Option<usize> {
    match *text.get(at..).unwrap_or_default() {
        [b'\'', b's' | b't' | b'm' | b'd', ..] => Some(at + 2),
        [b'\'', b'r' | b'v', b'e', ..] | [b'\'', b'l', b'l', ..] => Some(at + 3),
        _ => None,
    }
}

/// The same in any case. Simple case folding joins one more letter to these: `ſ` (U+017F) to `s`.
#[inline]
pub(super) fn contraction_any_case(text: &[u8], at: usize) -> Option<usize> {
    match *text.get(at..).unwrap_or_default() {
        [b'\'', b's' | b't' | b'm' | b'd' | b'S' | b'T' | b'M' | b'D', ..] => Some(at + 2),
        [b'\'', b'r' | b'v' | b'R' | b'V', b'e' | b'E', ..] | [b'\'', b'l' | b'L', b'l' | b'L', ..] => {
            Some(at + 3)
        }
        [b'\'', 0xC5, 0xBF, ..] => Some(at + 3),
        _ => None,
    }
}
