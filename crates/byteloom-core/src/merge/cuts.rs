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

use super::ends::Ends;

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
    /// By the two bytes at a boundary, as [`beside`] numbers them: bit `4 * (tail - 1) + head - 1`, a *shape*, for each
    /// pair of lengths that occurs there.
    shapes: Box<[u16; 1 << 16]>,
    /// A power of two of words, by the bits of a hash.
    filter: Box<[u32]>,
}

/// The number of two bytes side by side.
#[inline]
fn beside(left: u8, right: u8) -> usize {
    usize::from(u16::from_le_bytes([left, right]))
}

/// The shapes that fit between characters of two lengths.
const fn possible(left: u32, right: u32) -> u16 {
    let heads = (1u16 << right) - 1;
    let mut shapes = 0;
    let mut tail = 0;
    while tail < left {
        shapes |= heads << (4 * tail);
        tail += 1;
    }
    shapes
}

/// How many bytes a character has, by the upper four bits of its first byte.
const fn len_of(lead: u32) -> u32 {
    match lead {
        0..0xC => 1,
        0xC..0xE => 2,
        0xE => 3,
        _ => 4,
    }
}

/// What boundaries between characters of two lengths have.
#[derive(Clone, Copy)]
struct Shapes {
    /// The number of the bit of both whole.
    whole: u16,
    /// The shapes of their parts, and that of two ASCII characters, of which the filter knows nothing.
    others: u16,
}

/// By the upper four bits of the first bytes of two characters.
static SHAPES: [[Shapes; 16]; 16] = {
    let mut table = [[Shapes { whole: 0, others: 0 }; 16]; 16];
    let mut leads = 0;
    while leads < 256 {
        let (left, right) = (len_of(leads >> 4), len_of(leads & 15));
        let whole = 4 * left + right - 5;
        let others = if whole == 0 { 1 } else { possible(left, right) & !(1 << whole) };
        table[leads as usize >> 4][leads as usize & 15] = Shapes { whole: whole as u16, others };
        leads += 1;
    }
    table
};

/// By the upper four bits of the first byte: what a character keeps of four bytes, the first one uppermost.
static KEPT: [u32; 16] = {
    let mut kept = [0; 16];
    let mut lead = 0;
    while lead < 16 {
        kept[lead as usize] = u32::MAX << (32 - 8 * len_of(lead));
        lead += 1;
    }
    kept
};

/// Up to four bytes as a number, the first one uppermost.
#[inline]
fn number(bytes: &[u8]) -> u32 {
    let mut four = [0; LONGEST];
    four[..bytes.len()].copy_from_slice(bytes);
    u32::from_be_bytes(four)
}

/// Mixes a pair of parts of characters.
#[inline]
fn hash(tail: u32, head: u32) -> u32 {
    // Low bits reach more of a product. Parts of up to three bytes do not overlap here; fourth bytes do, which costs
    // only places to cut.
    let pair = u64::from(tail) << 16 ^ u64::from(head.rotate_right(8));
    (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> HASH_SHIFT) as u32
}

/// Above it are the best bits, enough for the filter.
const HASH_SHIFT: u32 = 64 - MAX_FILTER_BITS;

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
        let mut shapes: Box<[u16; 1 << 16]> = bytemuck::zeroed_box();
        let mut pairs = Vec::new();
        // Most pairs occur many times: those that were met lately are not collected again.
        let mut lately = vec![None; 1 << LATELY_BITS];
        for (_, token) in vocab.iter() {
            for at in 1..token.len() {
                // Inside a character, or the token is not one of text: it cannot cross a boundary of two characters.
                if token[at] & 0xC0 == 0x80 {
                    continue;
                }
                let shapes = &mut shapes[beside(token[at - 1], token[at])];
                if token[at - 1] < 0x80 && token[at] < 0x80 {
                    *shapes |= 1;
                    continue;
                }
                let mut start = at - 1;
                while start > 0 && token[start] & 0xC0 == 0x80 {
                    start -= 1;
                }
                let end = token.len().min(at + len_of(u32::from(token[at] >> 4)) as usize);
                if at - start > LONGEST {
                    continue;
                }
                *shapes |= 1 << (4 * (at - start - 1) + end - at - 1);
                let hash = hash(number(&token[start..at]), number(&token[at..end]));
                let met = &mut lately[hash as usize % (1 << LATELY_BITS)];
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
        for hash in pairs {
            let word = (hash >> 5) as usize & (filter.len() - 1);
            filter[word] |= 1 << (hash & 31);
        }
        Self { shapes, filter }
    }

    /// 1 if a token may hold these two side by side, else 0.
    #[inline]
    fn may_occur(&self, tail: u32, head: u32) -> u32 {
        let hash = hash(tail, head);
        self.filter[(hash >> 5) as usize & (self.filter.len() - 1)] >> (hash & 31) & 1
    }

    /// 1 if a token may cross the boundary between two characters, else 0; `bytes_beside` is the number of its two
    /// bytes. Almost always that is decided by a look at whole characters, without a branch.
    #[inline]
    fn may_cross(&self, left: Character, right: Character, bytes_beside: usize) -> u32 {
        let shapes = self.shapes[bytes_beside % self.shapes.len()];
        let Shapes { whole, others } = SHAPES[left.lead as usize % 16][right.lead as usize % 16];
        let crosses = u32::from(shapes >> (whole & 15)) & self.may_occur(left.number, right.number);
        // Of boundaries in Chinese and Japanese, one in twenty goes there.
        if shapes & others != 0 {
            crosses | self.may_cross_otherwise(left, right, shapes & others)
        } else {
            crosses
        }
    }

    /// 1 if a token may cross it with parts of the characters, of the lengths that `shapes` names, or both are ASCII;
    /// else 0.
    #[inline(never)]
    fn may_cross_otherwise(&self, left: Character, right: Character, mut shapes: u16) -> u32 {
        let mut crosses = u32::from(left.lead | right.lead < 8);
        while shapes != 0 {
            let shape = shapes.trailing_zeros();
            crosses |= self.may_occur(left.tail(shape / 4 + 1), right.head(shape % 4 + 1));
            shapes &= shapes - 1;
        }
        crosses
    }

    /// Appends to `cut` every place inside a piece of `text` that may be cut, ascending; its own end is none of them.
    /// `is_valid` says whether the text is valid UTF-8, which makes it faster, and is not asked where the piece is ASCII.
    #[inline]
    pub fn cut(&self, text: &[u8], piece: Range<usize>, is_valid: impl FnOnce() -> bool, cut: &mut Ends) {
        let Some(bytes) = text.get(piece.clone()) else { return };
        if bytes.is_ascii() {
            for (at, pair) in (piece.start as u32 + 1..).zip(bytes.windows(2)) {
                if self.shapes[beside(pair[0], pair[1])] & 1 == 0 {
                    cut.push(at);
                }
            }
        } else if is_valid() {
            self.cut_valid(text, piece, cut);
        } else {
            self.cut_any(text, piece, cut);
        }
    }

    /// Finds where characters begin for a block of bytes at once, so that no step waits for the character before.
    fn cut_valid(&self, text: &[u8], piece: Range<usize>, cut: &mut Ends) {
        let (mut left, mut left_at) = (Character::at(text, piece.start), piece.start);
        // Characters that begin up to here are done.
        let mut at = piece.start;
        while at + 1 < piece.end
            && let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk::<{ BLOCK + LONGEST + 1 }>())
            && let Some(places) = cut.room(BLOCK).first_chunk_mut::<BLOCK>()
        {
            let ahead = (piece.end - at - 1).min(BLOCK) as u32;
            let mut starts = starts(block) & !0 >> (BLOCK as u32 - ahead);
            if starts != 0 {
                left_at = at + BLOCK - starts.leading_zeros() as usize;
            }
            let mut count = 0;
            while starts != 0 {
                let before = starts.trailing_zeros() as usize;
                starts &= starts - 1;
                let (pair, word) = (block[before..].first_chunk(), block[before + 1..].first_chunk());
                let right = Character::first_of(word.map_or(0, |word| u32::from_be_bytes(*word)));
                let bytes_beside = pair.map_or(0, |[left, right]| beside(*left, *right));
                places[count % BLOCK] = (at + before) as u32 + 1;
                count += (self.may_cross(left, right, bytes_beside) ^ 1) as usize & 1;
                left = right;
            }
            cut.take(count);
            at += BLOCK;
        }
        if at + 1 < piece.end {
            // Near the end of the text.
            self.cut_any(text, left_at..piece.end, cut);
        }
    }

    /// The same for bytes that may not be valid: boundaries beside those that are not are never cut.
    #[inline(never)]
    fn cut_any(&self, text: &[u8], piece: Range<usize>, cut: &mut Ends) {
        let (mut at, mut left) = (piece.start, None);
        while at < piece.end {
            let len = unit_len(&text[at..piece.end]);
            let right = (len > 1 || text[at] < 0x80).then(|| Character::at(text, at));
            if let (Some(left), Some(right)) = (left, right)
                && self.may_cross(left, right, beside(text[at - 1], text[at])) & 1 == 0
            {
                cut.push(at as u32);
            }
            (left, at) = (right, at + len);
        }
    }
}

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// One bit for each of 64 bytes of `block` behind the first: whether a character begins there.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "a fifth of the instructions")]
#[inline]
fn starts(block: &[u8; BLOCK + LONGEST + 1]) -> u64 {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { starts_by_sse2(block) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn starts_by_sse2(block: &[u8; BLOCK + LONGEST + 1]) -> u64 {
    use std::arch::x86_64::{__m128i, _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_set1_epi8};
    let (quarters, _) = block[1..].as_chunks::<16>();
    quarters.iter().rev().fold(0, |bits, bytes| {
        let bytes: __m128i = bytemuck::cast(*bytes);
        // As signed numbers, bytes that continue a character are the lowest.
        let begins = _mm_movemask_epi8(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(-0x41)));
        bits << 16 | u64::from(begins.cast_unsigned())
    })
}

#[cfg(not(target_arch = "x86_64"))]
use starts_plainly as starts;

#[cfg(any(test, not(target_arch = "x86_64")))]
fn starts_plainly(block: &[u8; BLOCK + LONGEST + 1]) -> u64 {
    let begins = |byte: u8| u64::from(byte & 0xC0 != 0x80);
    block[1..=BLOCK].iter().rev().fold(0, |bits, &byte| bits << 1 | begins(byte))
}

/// A character: its bytes as a number, the first one uppermost, and the upper four bits of its first byte.
#[derive(Clone, Copy, Debug)]
struct Character {
    number: u32,
    lead: u32,
}

impl Character {
    /// The one whose bytes come first in `word`.
    #[inline]
    fn first_of(word: u32) -> Self {
        let lead = word >> 28;
        Self { number: word & KEPT[lead as usize], lead }
    }

    /// The valid one that begins at a place of `text`.
    #[inline]
    fn at(text: &[u8], at: usize) -> Self {
        let rest = text.get(at..).unwrap_or_default();
        Self::first_of(rest.first_chunk().map_or_else(|| number(rest), |four| u32::from_be_bytes(*four)))
    }

    fn len(self) -> u32 {
        len_of(self.lead)
    }

    /// Its last bytes, as a number like that of a character.
    #[inline]
    fn tail(self, bytes: u32) -> u32 {
        self.number << (8 * (self.len() - bytes))
    }

    /// Its first bytes.
    #[inline]
    fn head(self, bytes: u32) -> u32 {
        self.number & u32::MAX << (32 - 8 * bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_pairs_that_do_not_occur_seem_to() {
        // Characters of one to four bytes: each length meets other bits of the hash.
        let kinds = [0x21..0x7F, 0xC0..0x180, 0x410..0x450, 0x4E00..0x5600, 0x1_F300..0x1_F600_u32];
        let mut state = 1_u32;
        let mut pick = |kind: &Range<u32>| {
            state = state.wrapping_mul(0x915F_77F5).wrapping_add(1);
            char::from_u32(kind.start + (state >> 8) % (kind.end - kind.start)).unwrap()
        };
        for (left, right) in
            kinds.iter().flat_map(|left| kinds.iter().map(move |right| (left, right))).skip(1)
        {
            let mut pair = || [pick(left), pick(right)];
            let pairs: HashSet<[char; 2]> = (0..100).map(|_| pair()).collect();
            let tokens: Vec<Vec<u8>> =
                pairs.iter().map(|pair| String::from_iter(pair).into_bytes()).collect();
            let cuts = SafeCuts::new(&Vocabulary::new((0..).zip(&tokens)).unwrap());
            let bytes = |character: char| number(character.encode_utf8(&mut [0; 4]).as_bytes());
            let seem = |&[left, right]: &[char; 2]| cuts.may_occur(bytes(left), bytes(right)) == 1;
            assert!(pairs.iter().all(seem));
            let wrong = (0..4000).map(|_| pair()).filter(|pair| !pairs.contains(pair) && seem(pair)).count();
            // One in 41 where all bits are mixed.
            assert!(wrong < 600, "{left:X?} {right:X?}: {wrong} of 4000");
        }
    }

    proptest! {
        #[test]
        fn characters_begin_where_they_do(block in prop::array::uniform32(any::<u8>()), at in 0..37_usize) {
            let mut bytes = [0xE4; BLOCK + LONGEST + 1];
            bytes[at..at + 32].copy_from_slice(&block);
            prop_assert_eq!(starts(&bytes), starts_plainly(&bytes));
        }
    }
}
