//! The patterns of the courses and `sentencepiece` (see the scalar files for their spelling).

use super::Scan;
use super::gpt2::{Carry, starts};
use super::masks::{Ascii, Classes, Letters, Masks, Spaces, where_any};
use super::spaces::whole_characters;
use crate::pretokenize::unicode::{DECIMAL, PY_SPACE, PY_WORD};
use crate::pretokenize::{course, sentencepiece};

/// `simple`: white space and all else by turns.
#[derive(Debug, Default)]
pub(super) struct Simple {
    space: u64,
}

impl Classes for Simple {
    const ASCII: Ascii = Ascii { spaces: Spaces::Python, ..Ascii::NONE };

    #[inline(always)]
    fn paint(masks: &mut Masks, bytes: u64, flags: u8) {
        masks.space |= where_any(bytes, flags, PY_SPACE);
    }
}

impl Scan for Simple {
    fn scalar(text: &[u8], start: usize) -> usize {
        course::next_simple(text, start)
    }

    #[inline(always)]
    fn starts(&mut self, masks: &Masks, _: &Masks, _: &[u8], _: usize) -> Option<u64> {
        let starts = masks.space ^ (masks.space << 1 | self.space);
        self.space = masks.space >> 63;
        Some(starts)
    }
}

/// `sentencepiece`: a word with all the blanks before it.
#[derive(Debug, Default)]
pub(super) struct SentencePiece {
    blank: u64,
}

impl Classes for SentencePiece {
    const ASCII: Ascii = Ascii { blank: true, ..Ascii::NONE };
    const BEYOND_ASCII: bool = false;

    #[inline(always)]
    fn paint(_: &mut Masks, _: u64, _: u8) {}
}

impl Scan for SentencePiece {
    fn scalar(text: &[u8], start: usize) -> usize {
        sentencepiece::next(text, start)
    }

    #[inline(always)]
    fn starts(&mut self, masks: &Masks, _: &Masks, _: &[u8], _: usize) -> Option<u64> {
        let starts = masks.blank & !(masks.blank << 1 | self.blank);
        self.blank = masks.blank >> 63;
        Some(starts)
    }
}

/// `course-words` and `course-ws`: words, the rest and white space; one white-space character alone goes with what
/// follows it.
#[derive(Debug, Default)]
struct Words {
    letter: u64,
    other: u64,
    space: u64,
    /// The last byte was of white space that may go with what follows.
    joins: u64,
}

impl Words {
    /// `may_join` is the white space that goes with a word.
    #[inline(always)]
    fn starts(&mut self, masks: &Masks, may_join: u64) -> u64 {
        let Masks { letter, space, inner, .. } = *masks;
        let other = !(letter | space);
        let same = letter & (letter << 1 | self.letter) | other & (other << 1 | self.other);
        let first = space & !(space << 1 | self.space);
        let joins = whole_characters(first & may_join | self.joins & inner & 1, inner);
        let body = !(space | same | joins << 1 | self.joins);
        *self = Self { letter: letter >> 63, other: other >> 63, space: space >> 63, joins: joins >> 63 };
        first | body
    }
}

const WORDS: Ascii = Ascii { letters: Letters::Word, spaces: Spaces::Python, ..Ascii::NONE };

#[inline(always)]
fn paint_words(masks: &mut Masks, bytes: u64, flags: u8) {
    masks.letter |= where_any(bytes, flags, PY_WORD);
    masks.space |= where_any(bytes, flags, PY_SPACE);
}

/// `course-words`.
#[derive(Debug, Default)]
pub(super) struct CourseWords(Words);

impl Classes for CourseWords {
    const ASCII: Ascii = Ascii { blank: true, ..WORDS };

    #[inline(always)]
    fn paint(masks: &mut Masks, bytes: u64, flags: u8) {
        paint_words(masks, bytes, flags);
    }
}

impl Scan for CourseWords {
    fn scalar(text: &[u8], start: usize) -> usize {
        course::next_words(text, start)
    }

    #[inline(always)]
    fn starts(&mut self, masks: &Masks, _: &Masks, _: &[u8], _: usize) -> Option<u64> {
        Some(self.0.starts(masks, masks.blank))
    }
}

/// `course-ws`.
#[derive(Debug, Default)]
pub(super) struct CourseWs(Words);

impl Classes for CourseWs {
    const ASCII: Ascii = WORDS;

    #[inline(always)]
    fn paint(masks: &mut Masks, bytes: u64, flags: u8) {
        paint_words(masks, bytes, flags);
    }
}

impl Scan for CourseWs {
    fn scalar(text: &[u8], start: usize) -> usize {
        course::next_ws(text, start)
    }

    #[inline(always)]
    fn starts(&mut self, masks: &Masks, _: &Masks, _: &[u8], _: usize) -> Option<u64> {
        Some(self.0.starts(masks, masks.space))
    }
}

/// `course-gpt2`: GPT-2's with `_` as one more class.
#[derive(Debug, Default)]
pub(super) struct CourseGpt2(Carry);

impl Classes for CourseGpt2 {
    const ASCII: Ascii = Ascii {
        letters: Letters::Any,
        numbers: true,
        spaces: Spaces::Python,
        blank: true,
        quote: true,
        extra: Some(b'_'),
        ..Ascii::NONE
    };

    #[inline(always)]
    fn paint(masks: &mut Masks, bytes: u64, flags: u8) {
        // Word characters that are no digits are letters.
        let letter = if flags & (PY_WORD | DECIMAL) == PY_WORD { bytes } else { 0 };
        masks.letter |= letter;
        masks.number |= where_any(bytes, flags, DECIMAL);
        masks.space |= where_any(bytes, flags, PY_SPACE);
    }
}

impl Scan for CourseGpt2 {
    fn scalar(text: &[u8], start: usize) -> usize {
        course::next_gpt2(text, start)
    }

    #[inline(always)]
    fn starts(&mut self, masks: &Masks, next: &Masks, text: &[u8], base: usize) -> Option<u64> {
        Some(starts(&mut self.0, masks, next, text, base))
    }
}
