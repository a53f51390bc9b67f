//! The family of cl100k (see the scalar `cl100k.rs` for the spelling).

use super::Scan;
use super::masks::{Ascii, Classes, Letters, Masks, Spaces, where_any};
use super::spaces::{flood, last_of_run, whole_characters};
use crate::pretokenize::cl100k;
use crate::pretokenize::unicode::{LETTER, NUMBER, SPACE};
use crate::pretokenize::units::{contraction_any_case, unit};

/// The bit of the last byte.
const TOP: u64 = 1 << 63;

/// What these patterns carry from block to block, each but the phase in bit 0.
#[derive(Debug, Default)]
struct Carry {
    letter: u64,
    other: u64,
    blank: u64,
    /// The last byte was of a character that goes with letters behind it.
    prefix: u64,
    /// It was punctuation, or a newline that goes with it.
    tail: u64,
    lines: Lines,
    digits: Digits,
    /// The byte of this block behind a contraction that began in the one before.
    start: u64,
}

/// The starts. `THREES`: digits by threes, else one by one.
#[inline(always)]
fn starts<const THREES: bool, const KEEP_TRAILING_SPACE: bool>(
    carry: &mut Carry,
    masks: &Masks,
    next: &Masks,
    text: &[u8],
    base: usize,
) -> u64 {
    let Masks { letter, number, space, blank, newline, quote, inner, .. } = *masks;
    let other = !(letter | number | space);
    let other_before = other << 1 | carry.other;
    // Newlines behind punctuation belong to it; to the rest of the algebra they are no white space.
    let tail = flood(newline, newline & (other << 1 | carry.tail));
    let lines =
        carry.lines.starts::<KEEP_TRAILING_SPACE>(space & !tail, newline & !tail, masks, next, text, base);
    let punctuation = other & !other_before & !(blank << 1 | carry.blank);
    let numbers = if THREES { carry.digits.starts(number, inner) } else { number & !inner };
    // A character before letters goes with them if it starts: the first of punctuation, the last white space.
    let prefix = space & !newline | whole_characters(punctuation | carry.prefix & inner & 1, inner);
    let letters = letter & !(letter << 1 | carry.letter) & !(prefix << 1 | carry.prefix);
    let mut starts = lines | punctuation | numbers | letters | carry.start & letter;
    let mut start = 0;
    let mut quotes = quote & punctuation;
    while quotes != 0 {
        let place = quotes.trailing_zeros() as usize;
        quotes &= quotes - 1;
        if let Some(end) = contraction_any_case(text, base + place) {
            // Letters behind it are a word of their own. All else starts there anyway.
            let behind = 1_u128 << (end - base);
            starts |= behind as u64 & letter;
            start |= (behind >> 64) as u64;
        }
    }
    carry.letter = letter >> 63;
    carry.other = other >> 63;
    carry.blank = blank >> 63;
    carry.prefix = prefix >> 63;
    carry.tail = (other | tail) >> 63;
    carry.start = start;
    starts
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`, where wanted with `\s++$` before: the starts in and of white space.
#[derive(Debug, Default)]
pub(super) struct Lines {
    space: u64,
    newline: u64,
}

impl Lines {
    /// `space` and `newline` are without the newlines that belong to punctuation.
    #[inline(always)]
    pub(super) fn starts<const KEEP_TRAILING: bool>(
        &mut self,
        space: u64,
        newline: u64,
        masks: &Masks,
        next: &Masks,
        text: &[u8],
        base: usize,
    ) -> u64 {
        let first = space & !(space << 1 | self.space);
        // A run is cut behind its last newline. `cuts`: behind each newline that none follows at once.
        let within_line = space & !newline;
        let mut cuts = (newline << 1 | self.newline) & within_line;
        // Each cut, added to the stretch that it begins, runs up to what ends it: a newline takes the cut back.
        let (sum, over) = within_line.overflowing_add(cuts);
        let mut ended = sum & !within_line & newline;
        if ended != 0 || over {
            while ended != 0 {
                let below = cuts & (ended & ended.wrapping_neg()).wrapping_sub(1);
                cuts ^= TOP >> below.leading_zeros();
                ended &= ended - 1;
            }
            if over && goes_on_to_newline::<KEEP_TRAILING>(next, text, base + 64) {
                cuts ^= TOP >> cuts.leading_zeros();
            }
        }
        self.space = space >> 63;
        self.newline = newline >> 63;
        first | cuts | last_of_run(within_line, masks, next)
    }
}

/// Whether white space at `at`, where the next block begins, reaches a newline or, where `KEEP_TRAILING`, the end.
#[inline]
fn goes_on_to_newline<const KEEP_TRAILING: bool>(next: &Masks, text: &[u8], at: usize) -> bool {
    let end = (!next.space | next.newline).trailing_zeros();
    if end < 64 {
        return next.newline >> end & 1 != 0;
    }
    // The rest of a character that reaches over is no unit.
    newline_ahead::<KEEP_TRAILING>(text, at + next.inner.trailing_ones() as usize)
}

/// The same for more than a block of white space. What one call passes over, no other does: the cuts of all runs are
/// linear in the text.
#[cold]
#[inline(never)]
fn newline_ahead<const KEEP_TRAILING: bool>(text: &[u8], mut at: usize) -> bool {
    loop {
        let (flags, length) = unit(text, at);
        if length == 0 {
            return KEEP_TRAILING;
        }
        if flags & SPACE == 0 || matches!(text[at], b'\r' | b'\n') {
            return flags & SPACE != 0;
        }
        at += length;
    }
}

/// `\p{N}{1,3}`: how many numbers of the run are behind the last start, of three.
#[derive(Debug, Default)]
pub(super) struct Digits {
    number: u64,
    phase: u32,
}

impl Digits {
    #[inline(always)]
    pub(super) fn starts(&mut self, number: u64, inner: u64) -> u64 {
        let before = number << 1 | self.number;
        let again = number & before;
        let first = number & !before;
        // The rule is idle where no run is longer than three and none comes from the block before.
        let long = again & again << 1 & again << 2 | number & self.number | number & inner;
        self.number = number >> 63;
        if long != 0 {
            return self.by_threes(number & !inner, first);
        }
        self.phase = number.leading_ones() % 3;
        first
    }

    #[cold]
    #[inline(never)]
    fn by_threes(&mut self, numbers: u64, first: u64) -> u64 {
        let (mut left, mut starts, mut phase) = (numbers, 0, self.phase);
        while left != 0 {
            let lowest = left & left.wrapping_neg();
            if first & lowest != 0 {
                phase = 0;
            }
            if phase == 0 {
                starts |= lowest;
            }
            phase = if phase == 2 { 0 } else { phase + 1 };
            left ^= lowest;
        }
        self.phase = phase;
        starts
    }
}

macro_rules! scheme {
    ($(#[$doc:meta])* $name:ident, $threes:literal, $keep:literal, $next:ident) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(super) struct $name(Carry);

        impl Classes for $name {
            const ASCII: Ascii = Ascii {
                letters: Letters::Any,
                numbers: true,
                spaces: Spaces::Regex,
                blank: true,
                newline: true,
                quote: true,
                ..Ascii::NONE
            };

            #[inline(always)]
            fn paint(masks: &mut Masks, bytes: u64, flags: u8) {
                masks.letter |= where_any(bytes, flags, LETTER);
                masks.number |= where_any(bytes, flags, NUMBER);
                masks.space |= where_any(bytes, flags, SPACE);
            }
        }

        impl Scan for $name {
            fn scalar(text: &[u8], start: usize) -> usize {
                cl100k::$next(text, start)
            }

            #[inline(always)]
            fn starts(&mut self, masks: &Masks, next: &Masks, text: &[u8], base: usize) -> Option<u64> {
                Some(starts::<$threes, $keep>(&mut self.0, masks, next, text, base))
            }
        }
    };
}

scheme!(
    /// `cl100k`.
    Cl100k, true, true, next_cl100k
);
scheme!(
    /// `llama3`.
    Llama3, true, false, next_llama3
);
scheme!(
    /// `qwen2`.
    Qwen2, false, false, next_qwen2
);
