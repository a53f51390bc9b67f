//! GPT-2's pattern (see the scalar `gpt2.rs` for its spelling), and the same with one class more.

use super::Scan;
use super::masks::{Ascii, Classes, Letters, Masks, Spaces, where_any};
use super::spaces::last_of_run;
use crate::pretokenize::gpt2;
use crate::pretokenize::unicode::{LETTER, NUMBER, SPACE};
use crate::pretokenize::units::contraction;

/// What the patterns of this family carry from block to block, each in bit 0.
#[derive(Debug, Default)]
pub(super) struct Carry {
    letter: u64,
    number: u64,
    extra: u64,
    other: u64,
    space: u64,
    blank: u64,
    /// Bytes of this block inside and behind a contraction that began in the one before.
    no_start: u64,
    start: u64,
}

/// The starts, with `extra` as a class of its own beside letters, numbers and the rest.
#[inline(always)]
pub(super) fn starts(carry: &mut Carry, masks: &Masks, next: &Masks, text: &[u8], base: usize) -> u64 {
    let Masks { letter, number, extra, space, blank, quote, .. } = *masks;
    let other = !(letter | number | extra | space);
    // One class goes on. A blank goes with what follows it, so that does not start; the blank does.
    let same = letter & (letter << 1 | carry.letter)
        | number & (number << 1 | carry.number)
        | extra & (extra << 1 | carry.extra)
        | other & (other << 1 | carry.other);
    let body = !(space | same | blank << 1 | carry.blank);
    let first = space & !(space << 1 | carry.space);
    let mut starts = body | first | last_of_run(space, masks, next);
    starts = starts & !carry.no_start | carry.start & letter;
    let mut no_start = 0;
    let mut start = 0;
    // An apostrophe that starts: behind a letter it always does, so contractions do not depend on each other.
    let mut quotes = quote & starts;
    while quotes != 0 {
        let place = quotes.trailing_zeros() as usize;
        quotes &= quotes - 1;
        if let Some(end) = contraction(text, base + place) {
            let length = end - base - place;
            // Bits of this block in the low half, of the next one in the high half.
            let inside = u128::from(2_u64) << place;
            let behind = 1_u128 << (place + length);
            starts = starts & !(inside as u64) | behind as u64 & letter;
            no_start |= (inside >> 64) as u64;
            start |= (behind >> 64) as u64;
        }
    }
    *carry = Carry {
        letter: letter >> 63,
        number: number >> 63,
        extra: extra >> 63,
        other: other >> 63,
        space: space >> 63,
        blank: blank >> 63,
        no_start,
        start,
    };
    starts
}

/// `gpt2`.
#[derive(Debug, Default)]
pub(super) struct Gpt2(Carry);

impl Classes for Gpt2 {
    const ASCII: Ascii = Ascii {
        letters: Letters::Any,
        numbers: true,
        spaces: Spaces::Regex,
        blank: true,
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

impl Scan for Gpt2 {
    fn scalar(text: &[u8], start: usize) -> usize {
        gpt2::next(text, start)
    }

    #[inline(always)]
    fn starts(&mut self, masks: &Masks, next: &Masks, text: &[u8], base: usize) -> Option<u64> {
        Some(starts(&mut self.0, masks, next, text, base))
    }
}
