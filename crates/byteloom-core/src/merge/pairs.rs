//! What a pair of symbols becomes: a table of one word a pair, behind a filter.
//!
//! Most lookups find nothing, since most neighbours never merge. A filter of one bit for each hash answers those
//! from a memory that stays in the second-level cache; the table is larger.
//!
//! A slot holds all of a pair and its value in 64 bits. A pair has 44 bits, which an odd factor permutes; the
//! topmost choose the slot, and 42 are kept there beside 22 of value. The two that are missing follow from the slot:
//! two pairs that differ in them alone begin their search at least a quarter of the table apart, and no stretch of
//! used slots is as long as that.

#![expect(
    clippy::inline_always,
    reason = "a lookup is a few instructions, and runs inside a function for AVX2"
)]

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::large::LargeTable;

/// The number of a symbol inside this module: see [`super::symbols`].
pub(super) type Symbol = u32;

/// Values and symbols have this many bits.
const BITS: u32 = 22;
/// No symbol, and what a pair without a merge becomes. No pair holds it.
pub(super) const NONE: Symbol = (1 << BITS) - 1;

const EMPTY: u64 = u64::MAX;
const FILTER_BITS: u32 = 21;
/// In rows, because of what can be made zeroed on the heap.
type Filter = [[u64; 1 << 10]; 1 << (FILTER_BITS - 16)];
const SMALLEST: usize = 64;

/// Pairs of symbols, each with a value below [`NONE`].
#[derive(Clone, Debug)]
pub(super) struct PairTable {
    slots: LargeTable<u64>,
    shift: u32,
    factor: u64,
    filter: Box<Filter>,
}

impl PairTable {
    /// A table of `pairs`; the error is the number of the first pair that was there before.
    pub(super) fn new(pairs: &[(Symbol, Symbol, u32)]) -> Result<Self, usize> {
        let mut size = (2 * pairs.len()).next_power_of_two().max(SMALLEST);
        loop {
            let mut table = Self::empty(size);
            let refused = pairs.iter().position(|&(left, right, value)| !table.insert(left, right, value));
            match refused {
                Some(index)
                    if pairs[..index].iter().any(|&(l, r, _)| (l, r) == (pairs[index].0, pairs[index].1)) =>
                {
                    return Err(index);
                }
                None if table.longest_stretch() < size / 4 => return Ok(table),
                _ => size *= 2,
            }
        }
    }

    fn empty(size: usize) -> Self {
        let mut slots = LargeTable::zeroed(size);
        slots.fill(EMPTY);
        Self {
            slots,
            shift: 64 - size.ilog2(),
            // At random, so that a crafted file cannot make all its pairs collide.
            factor: RandomState::default().hash_one(size) | 1,
            filter: bytemuck::zeroed_box(),
        }
    }

    /// The pair in the upper 44 bits, permuted.
    #[inline(always)]
    fn mix(&self, left: Symbol, right: Symbol) -> u64 {
        let pair = u64::from(left) << (64 - BITS) | u64::from(right) << (64 - 2 * BITS);
        pair.wrapping_mul(self.factor)
    }

    fn insert(&mut self, left: Symbol, right: Symbol, value: u32) -> bool {
        debug_assert!(left < NONE && right < NONE && value < NONE);
        let mixed = self.mix(left, right);
        let tag = mixed << 2;
        let mask = self.slots.len() - 1;
        let mut at = (mixed >> self.shift) as usize;
        // Equal tags may still be different pairs as long as a stretch may be long.
        while self.slots[at] != EMPTY {
            if self.slots[at] >> BITS == tag >> BITS {
                return false;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = tag | u64::from(value);
        let bit = mixed >> (64 - FILTER_BITS);
        self.filter.as_flattened_mut()[(bit >> 6) as usize] |= 1 << (bit & 63);
        true
    }

    fn longest_stretch(&self) -> usize {
        let (mut longest, mut stretch) = (0, 0);
        // Twice around, for the stretch over the end.
        for &slot in self.slots.iter().chain(self.slots.iter()) {
            stretch = if slot == EMPTY { 0 } else { stretch + 1 };
            longest = longest.max(stretch);
        }
        longest
    }

    /// The value of a pair; [`NONE`] where it has none.
    #[inline(always)]
    pub(super) fn get(&self, left: Symbol, right: Symbol) -> u32 {
        let mixed = self.mix(left, right);
        let bit = mixed >> (64 - FILTER_BITS);
        if self.filter.as_flattened()[(bit >> 6) as usize] >> (bit & 63) & 1 == 0 {
            return NONE;
        }
        self.find(mixed)
    }

    #[inline(always)]
    fn find(&self, mixed: u64) -> u32 {
        let tag = mixed << 2;
        let mask = self.slots.len() - 1;
        let mut at = (mixed >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            let value = slot ^ tag;
            if value <= u64::from(NONE) {
                return value as u32;
            }
            if slot == EMPTY {
                return NONE;
            }
            at = (at + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(
            pairs in prop::collection::hash_map((0..NONE, 0..NONE), 0..NONE, 0..200),
            dense in prop::collection::hash_map((0..20u32, 0..20u32), 0..NONE, 0..200),
            absent in prop::collection::vec((0..NONE, 0..NONE), 0..200),
        ) {
            let known: HashMap<(u32, u32), u32> = pairs.into_iter().chain(dense).collect();
            let listed: Vec<_> = known.iter().map(|(&(left, right), &value)| (left, right, value)).collect();
            let table = PairTable::new(&listed).unwrap();
            let keys = absent.into_iter().chain((0..20).flat_map(|l| (0..20).map(move |r| (l, r))));
            for (left, right) in keys.chain(known.keys().copied()) {
                let expected = known.get(&(left, right)).copied().unwrap_or(NONE);
                prop_assert_eq!(table.get(left, right), expected);
            }
        }
    }

    #[test]
    fn a_repeated_pair_is_named() {
        assert_eq!(PairTable::new(&[(1, 2, 3), (2, 1, 4), (1, 2, 5)]).unwrap_err(), 2);
        assert_eq!(PairTable::new(&[]).unwrap().get(0, 0), NONE);
    }
}
