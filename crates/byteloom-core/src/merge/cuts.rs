//! Places inside a long pre-token that no token crosses.
//!
//! Where no token of the vocabulary holds the end of one character and the beginning of the next, no merge can join
//! them, and what merges on one side is independent of the other. Both sides may then be encoded, and remembered,
//! apart. This makes text without spaces cacheable.
//!
//! A token crosses a boundary with a *tail* of the character before (all of it, or its last bytes where the token
//! begins inside the character) and a *head* of the one after. All such pairs of the vocabulary are kept: which
//! lengths occur between two bytes in a table, the pairs in a filter of bits. A false positive of the filter only
//! loses a place to cut. Boundaries beside bytes that are no valid character are never cut.

use crate::spec::{Alphabet, TokenizerSpec};
use crate::utf8::unit_len;
use crate::vocab::Vocabulary;

/// The longest character, in bytes.
const LONGEST: usize = 4;
/// The filter has this many bits for each pair, so that one test in as many is a false positive.
const BITS_PER_PAIR: usize = 32;
/// The filter is at most this many bits: half of the fastest memory that holds it.
const MAX_FILTER_BITS: u32 = 21;
const MIN_FILTER_BITS: u32 = 12;
const LATELY_BITS: u32 = 13;

/// The boundaries of characters that no token crosses.
#[derive(Clone, Debug)]
pub struct SafeCuts {
    /// By the two bytes at a boundary: bit `4 * (tail - 1) + head - 1` for each pair of lengths that occurs there.
    shapes: Box<[u16]>,
    filter: Box<[u64]>,
    shift: u32,
    /// The same for two ASCII characters: a bit by the second in the number of the first.
    ascii: Box<[u128; 128]>,
}

/// The shapes that fit between characters of two lengths.
const fn possible(left: usize, right: usize) -> u16 {
    let heads = (1u16 << right) - 1;
    let mut shapes = 0;
    let mut tail = 0;
    while tail < left {
        shapes |= heads << (4 * tail);
        tail += 1;
    }
    shapes
}

const POSSIBLE: [[u16; LONGEST + 1]; LONGEST + 1] = {
    let mut table = [[0; LONGEST + 1]; LONGEST + 1];
    let mut left = 1;
    while left <= LONGEST {
        let mut right = 1;
        while right <= LONGEST {
            table[left][right] = possible(left, right);
            right += 1;
        }
        left += 1;
    }
    table
};

/// Up to four bytes as a number, the last one lowest.
#[inline]
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

#[inline]
fn hash(tail: u32, head: u32) -> u64 {
    let pair = u64::from(tail) << 32 | u64::from(head);
    (pair ^ pair >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl SafeCuts {
    /// The cuts of `spec`; `None` where a lost character could merge under another name.
    pub fn of(spec: &TokenizerSpec) -> Option<Self> {
        match spec.alphabet {
            // Bytes that stand for a missing character take no part in merges, so tokens are all that matters.
            Alphabet::Bytes | Alphabet::CharactersAndBytes(_) => Some(Self::new(&spec.vocab)),
            Alphabet::CharactersOr(_) => None,
        }
    }

    /// The boundaries that no token of `vocab` crosses.
    pub fn new(vocab: &Vocabulary) -> Self {
        let mut shapes = vec![0u16; 1 << 16].into_boxed_slice();
        let mut pairs = Vec::new();
        // Most pairs occur many times: those that were met lately are not collected again.
        let mut lately = vec![0u64; 1 << LATELY_BITS].into_boxed_slice();
        for (_, token) in vocab.iter() {
            for at in 1..token.len() {
                // Inside a character, or the token is not one of text: it cannot cross a boundary of two characters.
                if token[at] & 0xC0 == 0x80 {
                    continue;
                }
                let bytes = usize::from(token[at - 1]) << 8 | usize::from(token[at]);
                if token[at - 1] < 0x80 && token[at] < 0x80 {
                    shapes[bytes] |= 1;
                    continue;
                }
                let mut start = at - 1;
                while start > 0 && token[start] & 0xC0 == 0x80 {
                    start -= 1;
                }
                let end = token.len().min(at + sequence_len(token[at]));
                if at - start > LONGEST {
                    continue;
                }
                shapes[bytes] |= 1 << (4 * (at - start - 1) + end - at - 1);
                let hash = hash(number(&token[start..at]), number(&token[at..end]));
                let met = &mut lately[(hash >> (64 - LATELY_BITS)) as usize];
                if *met != hash {
                    *met = hash;
                    pairs.push(hash);
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let wanted = (pairs.len() * BITS_PER_PAIR).max(1).next_power_of_two().ilog2();
        let bits = wanted.clamp(MIN_FILTER_BITS, MAX_FILTER_BITS);
        let mut filter = vec![0u64; 1 << (bits - 6)].into_boxed_slice();
        let shift = 64 - bits;
        for hash in pairs {
            let bit = hash >> shift;
            filter[(bit >> 6) as usize] |= 1 << (bit & 63);
        }
        let mut ascii = Box::new([0; 128]);
        for (first, bits) in ascii.iter_mut().enumerate() {
            let row = &shapes[first << 8..][..128];
            *bits = row.iter().rev().fold(0, |bits: u128, &shapes| bits << 1 | u128::from(shapes & 1));
        }
        Self { shapes, filter, shift, ascii }
    }

    #[inline]
    fn may_occur(&self, tail: u32, head: u32) -> bool {
        let bit = hash(tail, head) >> self.shift;
        self.filter[(bit >> 6) as usize] >> (bit & 63) & 1 != 0
    }

    /// Whether a token may cross the boundary between two characters. Almost always that is decided by a look at whole
    /// characters, without a branch.
    #[inline]
    fn may_cross(&self, left: Character, right: Character) -> bool {
        let bytes = (left.tail(1) << 8 | right.head(1)) as usize;
        let shapes = self.shapes[bytes & 0xFFFF] & POSSIBLE[left.len][right.len];
        let whole = shapes & (1 << (4 * (left.len - 1) + right.len - 1));
        let is_ascii = left.len + right.len == 2;
        let crosses = (whole != 0) & (is_ascii | self.may_occur(left.number, right.number));
        crosses || shapes != whole && self.may_cross_partly(left, right, shapes & !whole)
    }

    /// Whether a token crosses it with parts of the characters, of the lengths that `shapes` names.
    #[inline(never)]
    fn may_cross_partly(&self, left: Character, right: Character, mut shapes: u16) -> bool {
        while shapes != 0 {
            let shape = shapes.trailing_zeros();
            if self.may_occur(left.tail(shape / 4 + 1), right.head(shape % 4 + 1)) {
                return true;
            }
            shapes &= shapes - 1;
        }
        false
    }

    /// Appends to `ends` every place inside `piece` that may be cut, ascending, counted from `base`; its own end is
    /// none of them.
    pub fn cut(&self, piece: &[u8], base: u32, scratch: &mut CutScratch, ends: &mut Vec<u32>) {
        if piece.is_ascii() {
            for (at, pair) in (base + 1..).zip(piece.windows(2)) {
                if self.ascii[pair[0] as usize & 127] >> (pair[1] & 127) & 1 == 0 {
                    ends.push(at);
                }
            }
            return;
        }
        let CutScratch { characters, places } = scratch;
        let (mut at, mut left) = (0, Character::INVALID);
        // In passes: what is looked up for one boundary need not wait for the one before.
        while at < piece.len() {
            let mut count = 0;
            while count < CHUNK
                && let Some(&first) = piece.get(at)
            {
                let character = if first < 0x80 {
                    Character { number: first.into(), len: 1 }
                } else {
                    Character::first(&piece[at..])
                };
                characters[count] = (character, at as u32);
                at += character.len;
                count += 1;
            }
            let mut found = 0;
            for &(right, at) in &characters[..count] {
                let valid = !left.is_invalid() & !right.is_invalid();
                places[found] = base + at;
                found += usize::from(valid & !self.may_cross(left, right));
                left = right;
            }
            ends.extend_from_slice(&places[..found]);
        }
    }
}

/// Characters that are looked at together.
const CHUNK: usize = 64;

/// Buffers for a piece: its characters, and where they begin; and the places to cut.
#[derive(Debug)]
pub struct CutScratch {
    characters: [(Character, u32); CHUNK],
    places: [u32; CHUNK],
}

impl Default for CutScratch {
    fn default() -> Self {
        Self { characters: [(Character::INVALID, 0); CHUNK], places: [0; CHUNK] }
    }
}

/// A character: its bytes as a number, the last one lowest, and how many they are. One that is invalid is a byte.
#[derive(Clone, Copy, Debug)]
struct Character {
    number: u32,
    len: usize,
}

impl Character {
    const INVALID: Self = Self { number: u32::MAX, len: 1 };

    /// The one that begins `bytes`, not with an ASCII character.
    #[inline]
    fn first(bytes: &[u8]) -> Self {
        let len = unit_len(bytes);
        if len < 2 {
            return Self::INVALID;
        }
        let four = match bytes.first_chunk() {
            Some(four) => u32::from_be_bytes(*four),
            None => number(bytes) << (8 * (LONGEST - bytes.len())),
        };
        Self { number: four >> (8 * (LONGEST - len)), len }
    }

    #[inline]
    fn is_invalid(self) -> bool {
        self.number == Self::INVALID.number
    }

    /// Its last bytes.
    #[inline]
    fn tail(self, bytes: u32) -> u32 {
        self.number & u32::MAX >> (32 - 8 * bytes)
    }

    /// Its first bytes.
    #[inline]
    fn head(self, bytes: u32) -> u32 {
        self.number >> (8 * (self.len as u32 - bytes))
    }
}

/// The length of the character that begins with `lead`.
fn sequence_len(lead: u8) -> usize {
    match lead {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}
