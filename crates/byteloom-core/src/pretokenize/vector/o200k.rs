//! o200k (see the scalar `o200k.rs` for its spelling).
//!
//! Where letters of both cases and caseless ones (marks are such) are not mixed, a word is upper letters, then lower
//! ones: one starts at an upper letter behind a lower one. An upper letter behind a caseless one may start or not,
//! which depends on what is far before and behind; so that is left to the scalar scanner. So is a mark that belongs
//! to punctuation.

use super::Scan;
use super::cl100k::{Digits, Lines};
use super::masks::{Ascii, Classes, Letters, Masks, Spaces, where_any};
use super::spaces::{flood, whole_characters};
use crate::pretokenize::o200k;
use crate::pretokenize::unicode::{LETTER, LOWER, NUMBER, SPACE, UPPER};
use crate::pretokenize::units::contraction_any_case;

/// `o200k`. All but the last field as in `cl100k.rs`.
#[derive(Debug, Default)]
pub(super) struct O200k {
    letter: u64,
    lower: u64,
    caseless: u64,
    other: u64,
    blank: u64,
    prefix: u64,
    /// The last byte was punctuation (its own or of a tail), and it was of a tail.
    punctuation: u64,
    tail: u64,
    lines: Lines,
    digits: Digits,
    /// Bytes of this block inside and behind a contraction that began in the one before.
    no_start: u64,
    start: u64,
}

impl Classes for O200k {
    const ASCII: Ascii = Ascii {
        letters: Letters::Cased,
        numbers: true,
        spaces: Spaces::Regex,
        blank: true,
        newline: true,
        quote: true,
        extra: Some(b'/'),
    };

    #[inline(always)]
    fn paint(masks: &mut Masks, bytes: u64, flags: u8) {
        let word = where_any(bytes, flags, UPPER | LOWER);
        masks.letter |= word;
        masks.upper |= bytes & !where_any(bytes, flags, LOWER) & word;
        masks.lower |= bytes & !where_any(bytes, flags, UPPER) & word;
        masks.mark |= bytes & !where_any(bytes, flags, LETTER) & word;
        masks.number |= where_any(bytes, flags, NUMBER);
        masks.space |= where_any(bytes, flags, SPACE);
    }
}

impl Scan for O200k {
    fn scalar(text: &[u8], start: usize) -> usize {
        o200k::next(text, start)
    }

    #[inline(always)]
    fn starts(&mut self, masks: &Masks, next: &Masks, text: &[u8], base: usize) -> Option<u64> {
        let Masks { letter, upper, lower, number, space, blank, newline, quote, extra: slash, inner, mark } =
            *masks;
        let caseless = letter & !(upper | lower);
        let any_other = !(letter | number | space);
        // Newlines behind punctuation, and slashes and newlines behind those, belong to it.
        let seeds = newline & (any_other << 1 | self.punctuation) | (newline | slash) & self.tail;
        let tail = flood(newline | slash, seeds);
        let other = any_other & !tail;
        let lines = self.lines.starts::<false>(space & !tail, newline & !tail, masks, next, text, base);
        let punctuation = other & !(other << 1 | self.other) & !(blank << 1 | self.blank);
        let numbers = self.digits.starts(number, inner);
        let prefix = space & !newline | whole_characters(punctuation | self.prefix & inner & 1, inner);
        let prefix_before = prefix << 1 | self.prefix;
        let letter_before = letter << 1 | self.letter;
        let letters = letter & !letter_before & !prefix_before;
        let words = upper & (lower << 1 | self.lower);
        let undecided =
            upper & (caseless << 1 | self.caseless) | mark & (other << 1 | self.other) & !prefix_before;
        if undecided != 0 {
            return None;
        }
        let mut starts = lines | punctuation | numbers | letters | words;
        starts = starts & !self.no_start | self.start & letter;
        let (mut no_start, mut start) = (0, 0);
        // A contraction goes with the word before it. One that has no word but a contraction before it does not.
        let mut quotes = quote & letter_before;
        let mut taken = self.start;
        while quotes != 0 {
            let lowest = quotes & quotes.wrapping_neg();
            quotes ^= lowest;
            let place = lowest.trailing_zeros() as usize;
            if taken & lowest == 0
                && let Some(end) = contraction_any_case(text, base + place)
            {
                let behind = 1_u128 << (end - base);
                let inside = behind - (1_u128 << place);
                starts = starts & !(inside as u64) | behind as u64 & letter;
                taken |= behind as u64;
                no_start |= (inside >> 64) as u64;
                start |= (behind >> 64) as u64;
            }
        }
        self.letter = letter >> 63;
        self.lower = lower >> 63;
        self.caseless = caseless >> 63;
        self.other = other >> 63;
        self.blank = blank >> 63;
        self.prefix = prefix >> 63;
        self.punctuation = any_other >> 63;
        self.tail = tail >> 63;
        self.no_start = no_start;
        self.start = start;
        Some(starts)
    }
}
