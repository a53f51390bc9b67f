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

use std::ops::Range;

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
    /// By the two bytes at a boundary: bit `4 * (tail - 1) + head - 1`, a *shape*, for each pair of lengths that occurs
    /// there.
    shapes: Box<[[u16; 256]; 256]>,
    filter: Box<[u32]>,
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

/// By the shape of two whole characters: the shapes that their parts may have.
const OF_PARTS: [u16; LONGEST * LONGEST] = {
    let mut table = [0; LONGEST * LONGEST];
    let mut shape = 0;
    while shape < table.len() {
        table[shape] = possible(shape / LONGEST + 1, shape % LONGEST + 1) & !(1 << shape);
        shape += 1;
    }
    table
};

/// Up to four bytes as a number, the last one lowest.
#[inline]
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Mixes a pair of parts of characters; the uppermost bits are the best.
#[inline]
fn hash(tail: u32, head: u32) -> u32 {
    (tail.wrapping_mul(0x9E37_79B1) ^ head).wrapping_mul(0x85EB_CA6B)
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
        let mut shapes: Box<[[u16; 256]; 256]> = bytemuck::zeroed_box();
        let mut pairs = Vec::new();
        // Most pairs occur many times: those that were met lately are not collected again.
        let mut lately = vec![None; 1 << LATELY_BITS].into_boxed_slice();
        for (_, token) in vocab.iter() {
            for at in 1..token.len() {
                // Inside a character, or the token is not one of text: it cannot cross a boundary of two characters.
                if token[at] & 0xC0 == 0x80 {
                    continue;
                }
                let shapes = &mut shapes[usize::from(token[at - 1])][usize::from(token[at])];
                if token[at - 1] < 0x80 && token[at] < 0x80 {
                    *shapes |= 1;
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
                *shapes |= 1 << (4 * (at - start - 1) + end - at - 1);
                let hash = hash(number(&token[start..at]), number(&token[at..end]));
                let met = &mut lately[(hash >> (32 - LATELY_BITS)) as usize];
                if *met != Some(hash) {
                    *met = Some(hash);
                    pairs.push(hash);
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let wanted = (pairs.len() * BITS_PER_PAIR).max(1).next_power_of_two().ilog2();
        let bits = wanted.clamp(MIN_FILTER_BITS, MAX_FILTER_BITS);
        let mut filter = vec![0u32; 1 << (bits - 5)].into_boxed_slice();
        let shift = 32 - bits;
        for hash in pairs {
            let bit = hash >> shift;
            filter[(bit >> 5) as usize] |= 1 << (bit & 31);
        }
        let mut ascii = Box::new([0; 128]);
        for (first, bits) in ascii.iter_mut().enumerate() {
            let row = &shapes[first][..128];
            *bits = row.iter().rev().fold(0, |bits: u128, &shapes| bits << 1 | u128::from(shapes & 1));
        }
        Self { shapes, filter, shift, ascii }
    }

    #[inline]
    fn may_occur(&self, tail: u32, head: u32) -> bool {
        let bit = hash(tail, head) >> self.shift;
        self.filter[(bit >> 5) as usize] >> (bit & 31) & 1 != 0
    }

    /// Whether a token may cross the boundary between two characters. Almost always that is decided by a look at whole
    /// characters, without a branch.
    #[inline]
    fn may_cross(&self, left: Character, right: Character) -> bool {
        let shapes = self.shapes[left.number as usize & 255][right.first as usize];
        let shape = (4 * left.len + right.len).wrapping_sub(5) as usize % OF_PARTS.len();
        let is_ascii = shape == 0;
        let crosses = (shapes >> shape & 1 != 0) & (is_ascii | self.may_occur(left.number, right.number));
        let of_parts = shapes & OF_PARTS[shape];
        // Of boundaries in Chinese and Japanese, one in twenty goes there.
        crosses || of_parts != 0 && self.may_cross_partly(left, right, of_parts)
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

    /// Appends to `ends` every place inside a piece of `text` that may be cut, ascending; its own end is none of them.
    /// Where the text is known to be valid UTF-8 that is faster.
    #[inline]
    pub fn cut(&self, text: &[u8], piece: Range<usize>, is_valid: bool, ends: &mut Vec<u32>) {
        let Some(bytes) = text.get(piece.clone()) else { return };
        if bytes.is_ascii() {
            for (at, pair) in (piece.start as u32 + 1..).zip(bytes.windows(2)) {
                if self.ascii[pair[0] as usize & 127] >> (pair[1] & 127) & 1 == 0 {
                    ends.push(at);
                }
            }
        } else if is_valid {
            self.cut_valid(text, piece, ends);
        } else {
            self.cut_any(text, piece, ends);
        }
    }

    /// Finds where characters begin for a block of bytes at once, so that no step waits for the character before.
    fn cut_valid(&self, text: &[u8], piece: Range<usize>, ends: &mut Vec<u32>) {
        let mut left = Character::at(text, piece.start);
        // The boundary before the first one is none.
        let mut skip = 1;
        for block in piece.clone().step_by(BLOCK) {
            let mut starts = starts(&text[block..piece.end.min(block + BLOCK)]) & !skip;
            skip = 0;
            let (mut places, mut found) = ([0; BLOCK], 0);
            while starts != 0 {
                let at = block + starts.trailing_zeros() as usize;
                starts &= starts - 1;
                let right = Character::at(text, at);
                places[found & (BLOCK - 1)] = at as u32;
                found += usize::from(!self.may_cross(left, right));
                left = right;
            }
            ends.extend_from_slice(&places[..found]);
        }
    }

    /// The same for bytes that may not be valid: boundaries beside those that are not are never cut.
    #[inline(never)]
    fn cut_any(&self, text: &[u8], piece: Range<usize>, ends: &mut Vec<u32>) {
        let (mut at, mut left) = (piece.start, None);
        while at < piece.end {
            let len = unit_len(&text[at..piece.end]);
            let right = (len > 1 || text[at] < 0x80).then(|| Character::at(text, at));
            if let (Some(left), Some(right)) = (left, right)
                && !self.may_cross(left, right)
            {
                ends.push(at as u32);
            }
            (left, at) = (right, at + len);
        }
    }
}

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// One bit for each byte of up to 64 that begins a character.
#[inline]
fn starts(block: &[u8]) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let mut starts = 0;
    for (bytes, at) in block.chunks(8).zip((0..).step_by(8)) {
        let mut word = [0x80; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let word = u64::from_le_bytes(word);
        let continues = (word & !(word << 1)) >> 7 & EACH;
        // Moves the lowest bit of each byte together.
        starts |= ((continues ^ EACH).wrapping_mul(0x0102_0408_1020_4080) >> 56) << at;
    }
    starts
}

/// A character: its bytes as a number, the last one lowest, how many they are, and the first one.
#[derive(Clone, Copy, Debug)]
struct Character {
    number: u32,
    len: u32,
    first: u8,
}

impl Character {
    /// The valid one that begins at a place of `text`.
    #[inline]
    fn at(text: &[u8], at: usize) -> Self {
        let rest = text.get(at..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(four) => u32::from_be_bytes(*four),
            None => number(rest) << ((8 * (LONGEST - rest.len())) & 31),
        };
        // By the upper half of its first byte.
        let len = (0x4322_1111_1111_1111_u64 >> (word >> 28 << 2)) as u32 & 7;
        Self { number: word >> (32 - 8 * len), len, first: (word >> 24) as u8 }
    }

    /// Its last bytes.
    #[inline]
    fn tail(self, bytes: u32) -> u32 {
        self.number & u32::MAX >> (32 - 8 * bytes)
    }

    /// Its first bytes.
    #[inline]
    fn head(self, bytes: u32) -> u32 {
        self.number >> (8 * (self.len - bytes))
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
