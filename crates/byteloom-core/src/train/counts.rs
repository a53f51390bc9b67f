//! Distinct pre-tokens and how often each occurs, in order of first appearance.
//!
//! Order matters: the tie rule `first_seen` asks which pair stands first in the text, and counts of consecutive texts
//! joined with [`PretokenCounts::absorb`] equal the counts of the whole.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::prefetch::prefetch;
use crate::pretokenize::{PreTokenizer, Window};

/// Pre-tokens up to this length are stored and compared inside their entry; most are shorter.
const INLINE: usize = 15;
/// In the last byte of a key: the pre-token is in the arena. Otherwise that byte is the length.
const IN_ARENA: u8 = 0xFF;
const FIRST_SLOTS: usize = 1 << 12;

/// `MASKS[n]` keeps the first `n` bytes of a little-endian load.
const MASKS: [u128; INLINE + 1] = {
    let mut masks = [0; INLINE + 1];
    let mut length = 1;
    while length <= INLINE {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// Pre-tokens looked up together: their slots, then their entries are asked for before any is needed.
const AHEAD: usize = 128;
/// Bytes of text for one slot, where the size of the text is known: room without growing for most texts.
const BYTES_PER_SLOT: u64 = 96;
/// The most slots made room for on account of the size of the text (8 MiB); a large text may repeat itself.
const MOST_SLOTS_AHEAD: u64 = 1 << 20;

/// Look-ups under way; the key of a long pre-token is 0, which is no key.
struct Ahead {
    keys: [u128; AHEAD],
    hashes: [u64; AHEAD],
}

/// A pre-token and its count. `key` is the bytes, zeros, and the length; or arena offset (8), length (7), `IN_ARENA`.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: [u8; 16],
    count: u64,
}

impl Entry {
    fn is_inline(&self) -> bool {
        self.key[INLINE] != IN_ARENA
    }

    fn bytes<'a>(&'a self, arena: &'a [u8]) -> &'a [u8] {
        if self.is_inline() {
            return &self.key[..usize::from(self.key[INLINE])];
        }
        let key = u128::from_le_bytes(self.key);
        let start = key as u64 as usize;
        let length = (key >> 64) as usize & ((1 << 56) - 1);
        &arena[start..start + length]
    }

    fn hash(&self, arena: &[u8]) -> u64 {
        if self.is_inline() {
            hash_inline(u128::from_le_bytes(self.key))
        } else {
            hash_bytes(self.bytes(arena))
        }
    }
}

/// Counts of distinct pre-tokens, in order of first appearance.
///
/// ```
/// use byteloom_core::train::PretokenCounts;
///
/// let mut counts = PretokenCounts::new();
/// counts.add(b"to", 2)?;
/// counts.add(b"be", 1)?;
/// counts.add(b"to", 1)?;
/// let all: Vec<_> = counts.iter().collect();
/// assert_eq!(all, [(&b"to"[..], 3), (&b"be"[..], 1)]);
/// # Ok::<(), byteloom_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PretokenCounts {
    entries: Vec<Entry>,
    /// The bytes of the long pre-tokens.
    arena: Vec<u8>,
    /// Open addressing, at most half full, a power of two. A slot is the upper half of the hash and, below it, the
    /// place in `entries` plus one; 0 is free. 8 bytes keep the table in cache; growing moves no entry.
    slots: Vec<u64>,
    total: u64,
}

impl Default for PretokenCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl PretokenCounts {
    /// No pre-tokens yet.
    pub fn new() -> Self {
        Self { entries: Vec::new(), arena: Vec::new(), slots: vec![0; FIRST_SLOTS], total: 0 }
    }

    /// None yet, with room for those that `bytes` of text usually hold.
    pub(super) fn for_text(bytes: u64) -> Self {
        let slots = (bytes / BYTES_PER_SLOT).clamp(FIRST_SLOTS as u64, MOST_SLOTS_AHEAD);
        Self { slots: vec![0; slots.next_power_of_two() as usize], ..Self::new() }
    }

    /// None yet, with room for `distinct` of them.
    pub(super) fn with_room(distinct: usize) -> Self {
        let slots = distinct.saturating_mul(2).max(FIRST_SLOTS).next_power_of_two();
        Self { slots: vec![0; slots], entries: Vec::with_capacity(distinct), ..Self::new() }
    }

    /// How many distinct pre-tokens there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The sum of all counts.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The `index`-th distinct pre-token and its count.
    pub fn get(&self, index: usize) -> Option<(&[u8], u64)> {
        self.entries.get(index).map(|entry| (entry.bytes(&self.arena), entry.count))
    }

    /// The pre-tokens with their counts, in order of first appearance.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], u64)> {
        self.entries.iter().map(|entry| (entry.bytes(&self.arena), entry.count))
    }

    /// Adds `count` occurrences of `pretoken`. An empty pre-token or a zero count changes nothing.
    ///
    /// # Errors
    /// [`Error::Training`] when the sum of all counts leaves 64 bits; the counts are unchanged then.
    pub fn add(&mut self, pretoken: &[u8], count: u64) -> Result<()> {
        if pretoken.is_empty() || count == 0 {
            return Ok(());
        }
        let total = self.total_with(count)?;
        if pretoken.len() <= INLINE {
            let key = inline_key(pretoken, 0, pretoken.len());
            self.add_inline(key, hash_inline(key), count)?;
        } else {
            self.add_in_arena(pretoken, count)?;
        }
        self.total = total;
        Ok(())
    }

    /// Cuts one run of ordinary text into pre-tokens and counts them.
    pub fn count_text(&mut self, pretokenizer: &PreTokenizer, text: &[u8]) -> Result<()> {
        self.count_text_with(pretokenizer, text, &mut |_| Ok(()))
    }

    /// [`Self::count_text`] that calls `tick` after each block of pre-tokens with the number of bytes in it. An error
    /// from `tick` stops the count.
    pub(super) fn count_text_with(
        &mut self,
        pretokenizer: &PreTokenizer,
        text: &[u8],
        tick: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        let mut blocks = pretokenizer.blocks(text);
        let mut window = Window::default();
        while blocks.next_window(&mut window)? {
            if window.ends.is_empty() {
                self.add(&text[window.start..window.end], 1)?;
            } else {
                self.count_window(&text[window.start..], &window.ends)?;
            }
            tick(window.end - window.start)?;
        }
        Ok(())
    }

    /// Counts the pre-tokens that end at `ends` in `text`, the first from 0 on. What follows them is only looked at.
    fn count_window(&mut self, text: &[u8], ends: &[u32]) -> Result<()> {
        // Checked once for the window: no single count can be larger than the total.
        let total = self.total_with(ends.len() as u64)?;
        let mut ahead = Ahead { keys: [0; AHEAD], hashes: [0; AHEAD] };
        let mut start = 0;
        for ends in ends.chunks(AHEAD) {
            let mask = self.slots.len() - 1;
            let mut from = start;
            for ((key, hash), &end) in ahead.keys.iter_mut().zip(&mut ahead.hashes).zip(ends) {
                let end = end as usize;
                *key = 0;
                if end - from <= INLINE {
                    *key = inline_key(text, from, end - from);
                    *hash = hash_inline(*key);
                    prefetch(&self.slots, *hash as usize & mask);
                }
                from = end;
            }
            for &hash in &ahead.hashes[..ends.len()] {
                // A free slot wraps to a number that is no entry.
                let found = self.slots[hash as usize & mask];
                prefetch(&self.entries, (found as u32).wrapping_sub(1) as usize);
            }
            for ((&key, &hash), &end) in ahead.keys.iter().zip(&ahead.hashes).zip(ends) {
                let end = end as usize;
                if key == 0 {
                    self.add_in_arena(&text[start..end], 1)?;
                } else {
                    self.add_inline(key, hash, 1)?;
                }
                start = end;
            }
        }
        self.total = total;
        Ok(())
    }

    /// Adds the counts of a later stretch of text: the result is that of both stretches counted in a row.
    pub fn absorb(&mut self, later: Self) -> Result<()> {
        if self.is_empty() {
            *self = later;
            return Ok(());
        }
        self.absorb_range(&later, 0..later.len())
    }

    /// Adds some entries of a later stretch, in their order.
    fn absorb_range(&mut self, later: &Self, range: Range<usize>) -> Result<()> {
        let entries = &later.entries[range];
        let added = entries.iter().try_fold(0, |sum, entry| sum_of_counts(sum, entry.count))?;
        let total = self.total_with(added)?;
        for entries in entries.chunks(AHEAD) {
            let mask = self.slots.len() - 1;
            for entry in entries.iter().filter(|entry| entry.is_inline()) {
                prefetch(&self.slots, hash_inline(u128::from_le_bytes(entry.key)) as usize & mask);
            }
            for entry in entries {
                if entry.is_inline() {
                    let key = u128::from_le_bytes(entry.key);
                    self.add_inline(key, hash_inline(key), entry.count)?;
                } else {
                    self.add_in_arena(entry.bytes(&later.arena), entry.count)?;
                }
            }
        }
        self.total = total;
        Ok(())
    }

    /// Joins counts of several parts of one text. A `stretch` is the number of a part and the entries that first
    /// appeared there; stretches are in the order of the text.
    pub(super) fn join(parts: Vec<Self>, stretches: &[(usize, Range<usize>)]) -> Result<Self> {
        // An upper bound; parts of one text share most of their frequent pre-tokens, not their rare ones.
        let mut all = Self::with_room(parts.iter().map(Self::len).sum());
        let parts: Vec<Self> = parts.into_iter().map(|part| Self { slots: Vec::new(), ..part }).collect();
        for (part, range) in stretches {
            all.absorb_range(&parts[*part], range.clone())?;
        }
        Ok(all)
    }

    /// The memory it takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.memory_with(self.slots.len())
    }

    fn memory_with(&self, slots: usize) -> usize {
        slots * size_of::<u64>() + self.entries.len() * size_of::<Entry>() + self.arena.capacity()
    }

    /// Whether it takes more than `limit` bytes, or soon would: while a table grows, the old one is there too.
    pub(super) fn is_full(&self, limit: usize) -> bool {
        let grows_soon = self.entries.len() * 2 > self.slots.len() / 8 * 7;
        self.memory() > limit || grows_soon && self.memory_with(self.slots.len() * 2) > limit
    }

    /// The sum of the lengths of the distinct pre-tokens.
    pub(super) fn distinct_bytes(&self) -> usize {
        self.iter().map(|(pretoken, _)| pretoken.len()).sum()
    }

    /// The bytes of all pre-tokens, each as often as it occurs; 2^64 - 1 where that is more.
    pub fn bytes(&self) -> u64 {
        let sizes = self.iter().map(|(pretoken, count)| count.saturating_mul(pretoken.len() as u64));
        sizes.fold(0, u64::saturating_add)
    }

    fn total_with(&self, count: u64) -> Result<u64> {
        sum_of_counts(self.total, count)
    }

    // Counts are not checked below: each is part of the total, which was.

    #[inline]
    fn add_inline(&mut self, key: u128, hash: u64, count: u64) -> Result<()> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.slots[slot];
            if found == 0 {
                return self.insert(slot, hash, Entry { key: key.to_le_bytes(), count });
            }
            if found >> 32 == hash >> 32 {
                let entry = &mut self.entries[(found as u32 - 1) as usize];
                if u128::from_le_bytes(entry.key) == key {
                    entry.count += count;
                    return Ok(());
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    #[inline(never)]
    fn add_in_arena(&mut self, pretoken: &[u8], count: u64) -> Result<()> {
        let hash = hash_bytes(pretoken);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.slots[slot];
            if found == 0 {
                let key = self.arena.len() as u128
                    | (pretoken.len() as u128) << 64
                    | u128::from(IN_ARENA) << (8 * INLINE);
                self.arena.extend_from_slice(pretoken);
                return self.insert(slot, hash, Entry { key: key.to_le_bytes(), count });
            }
            if found >> 32 == hash >> 32 {
                let entry = &mut self.entries[(found as u32 - 1) as usize];
                if !entry.is_inline() && entry.bytes(&self.arena) == pretoken {
                    entry.count += count;
                    return Ok(());
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Puts a new entry behind a free slot.
    #[cold]
    #[inline(never)]
    fn insert(&mut self, slot: usize, hash: u64, entry: Entry) -> Result<()> {
        self.entries.push(entry);
        let Ok(place) = u32::try_from(self.entries.len()) else {
            return Err(Error::Training(
                "more than 4,294,967,295 distinct pre-tokens; train on less text".into(),
            ));
        };
        self.slots[slot] = tagged(hash, place);
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(())
    }

    fn grow(&mut self) {
        let mut slots = vec![0; self.slots.len() * 2];
        let mask = slots.len() - 1;
        for (place, entry) in (1..).zip(&self.entries) {
            let hash = entry.hash(&self.arena);
            let mut slot = hash as usize & mask;
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = tagged(hash, place);
        }
        self.slots = slots;
    }
}

pub(super) fn sum_of_counts(total: u64, count: u64) -> Result<u64> {
    total.checked_add(count).ok_or_else(|| {
        Error::Training("the counts of the pre-tokens add up to more than 64 bits; scale them down".into())
    })
}

fn tagged(hash: u64, place: u32) -> u64 {
    hash >> 32 << 32 | u64::from(place)
}

/// The key of the `length` bytes at `start`: one load and a mask where 16 bytes are left, a copy near the end.
#[inline]
fn inline_key(text: &[u8], start: usize, length: usize) -> u128 {
    let bytes = match text[start..].first_chunk::<16>() {
        Some(bytes) => *bytes,
        None => padded(&text[start..start + length]),
    };
    (u128::from_le_bytes(bytes) & MASKS[length]) | (length as u128) << (8 * INLINE)
}

#[cold]
fn padded(bytes: &[u8]) -> [u8; 16] {
    let mut whole = [0; 16];
    whole[..bytes.len()].copy_from_slice(bytes);
    whole
}

/// Multiplies to 128 bits and folds: one multiplication that mixes every bit of `a` into both halves.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

const MIX_A: u64 = 0x9E37_79B9_7F4A_7C15;
const MIX_B: u64 = 0xD6E8_FEB8_6659_FD93;

#[inline]
fn hash_inline(key: u128) -> u64 {
    fold(key as u64 ^ MIX_A, (key >> 64) as u64 ^ MIX_B)
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), MIX_A).wrapping_add(MIX_B);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(hash ^ u64::from_le_bytes(last), MIX_B)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of all lengths around the inline limit, some that differ in one place only.
    fn words() -> Vec<Vec<u8>> {
        let mut words = Vec::new();
        for length in 1..40 {
            for last in [0, 1, b'a', 0xFF] {
                let mut word = vec![b'a'; length];
                word[length - 1] = last;
                words.push(word);
            }
        }
        words
    }

    #[test]
    fn agrees_with_a_plain_list() {
        let mut counts = PretokenCounts::new();
        let mut plain: Vec<(Vec<u8>, u64)> = Vec::new();
        for round in 1..4_000_u64 {
            let mut word = words()[(round * 7919 % 156) as usize].clone();
            word.extend_from_slice(&(round % 50).to_le_bytes()[..1]);
            counts.add(&word, round).unwrap();
            match plain.iter_mut().find(|(known, _)| *known == word) {
                Some((_, count)) => *count += round,
                None => plain.push((word, round)),
            }
        }
        assert!(plain.len() > 3_000, "the table grew");
        let got: Vec<_> = counts.iter().map(|(word, count)| (word.to_vec(), count)).collect();
        assert_eq!(got, plain);
        assert_eq!(counts.total(), plain.iter().map(|(_, count)| count).sum::<u64>());
        assert_eq!(counts.get(1).unwrap().0, plain[1].0);
        assert!(counts.get(plain.len()).is_none());
    }

    #[test]
    fn absorbing_is_counting_in_a_row() {
        let words = words();
        for cut in [0, 1, 70, words.len()] {
            let (mut first, mut second, mut whole) =
                (PretokenCounts::new(), PretokenCounts::new(), PretokenCounts::new());
            for (index, word) in words.iter().chain(words.iter().rev()).enumerate() {
                if index < cut { &mut first } else { &mut second }.add(word, 3).unwrap();
                whole.add(word, 3).unwrap();
            }
            first.absorb(second).unwrap();
            assert!(first.iter().eq(whole.iter()), "cut at {cut}");
            assert_eq!(first.total(), whole.total());
        }
    }

    #[test]
    fn text_is_counted_to_its_last_byte() {
        let pretokenizer = PreTokenizer::new(r"\s+|\S+").unwrap();
        let mut counts = PretokenCounts::new();
        counts.count_text(&pretokenizer, b"a bb a a_pre-token_longer_than_an_entry bb").unwrap();
        let got: Vec<_> = counts.iter().collect();
        let expected: [(&[u8], u64); 4] =
            [(b"a", 2), (b" ", 4), (b"bb", 2), (b"a_pre-token_longer_than_an_entry", 1)];
        assert_eq!(got, expected);
    }

    #[test]
    fn counts_beyond_64_bits_are_refused() {
        let mut counts = PretokenCounts::new();
        counts.add(b"a", u64::MAX - 1).unwrap();
        counts.add(b"b", 1).unwrap();
        assert!(matches!(counts.add(b"c", 1), Err(Error::Training(_))));
        let mut other = PretokenCounts::new();
        other.add(b"a", 1).unwrap();
        assert!(matches!(counts.absorb(other), Err(Error::Training(_))));
        assert_eq!((counts.len(), counts.total()), (2, u64::MAX));
    }
}
