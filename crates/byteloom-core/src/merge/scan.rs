//! Merging a short piece: the lowest of all ranks is looked for each time.
//!
//! Each place of the piece has one number, its pair's symbol and then the place, so that the least of them is the
//! pair to merge, the leftmost among equals. Symbols keep their places: the one that is swallowed leaves a set of
//! 64 bits, which also gives the neighbours. With AVX2 the numbers stay in registers.

#![expect(clippy::inline_always, reason = "the loop around it is a function for AVX2")]

use super::pairs::{NONE, PairTable, Symbol};

/// The most symbols of a piece.
pub(super) const LIMIT: usize = 64;
pub(super) const PLACE_BITS: u32 = LIMIT.ilog2();
/// The number of a place that has no pair to its right, or no symbol.
pub(super) const NEVER: u32 = u32::MAX;

/// The symbols of a piece by place. What lies beyond the ends has places too, and is never a symbol.
#[derive(Debug)]
pub(super) struct Places(pub(super) [Symbol; 2 * LIMIT]);

impl Default for Places {
    fn default() -> Self {
        Self([NONE; 2 * LIMIT])
    }
}

/// The numbers of a piece before anything has merged.
pub(super) type Keys = [[u32; 8]; LIMIT / 8];

/// The number of the pair at `place`.
#[inline(always)]
pub(super) fn key(pair: u32, place: u32) -> u32 {
    pair << PLACE_BITS | place
}

/// One merge: the places whose numbers change.
pub(super) struct Merge {
    pub(super) at: u32,
    pub(super) swallowed: u32,
    /// 127 where there is none.
    pub(super) left: u32,
    pub(super) at_key: u32,
    pub(super) left_key: u32,
}

impl Places {
    /// Merges at `best`, the least number.
    #[inline(always)]
    pub(super) fn merge(&mut self, best: u32, live: &mut u64, pairs: &PairTable) -> Merge {
        let (made, at) = (best >> PLACE_BITS, best & (LIMIT as u32 - 1));
        // Beyond the last place is 64, before the first 127.
        let after = *live & (!1 << at);
        let swallowed = after.trailing_zeros();
        let right = (after & after.wrapping_sub(1)).trailing_zeros();
        let before = *live & !(!0 << at);
        let left = 63u32.wrapping_sub(before.leading_zeros()) & (2 * LIMIT as u32 - 1);
        *live &= !(after & after.wrapping_neg());
        let symbols = &mut self.0;
        symbols[at as usize] = made;
        let at_key = key(pairs.get(made, symbols[right as usize]), at);
        let left_key = key(pairs.get(symbols[left as usize], made), left & (LIMIT as u32 - 1));
        Merge { at, swallowed, left, at_key, left_key }
    }
}

/// The least of all numbers in plain Rust.
pub(super) fn merge_portable(
    pairs: &PairTable,
    keys: &mut Keys,
    places: &mut Places,
    mut live: u64,
    count: usize,
) -> u64 {
    let keys = &mut keys.as_flattened_mut()[..count.next_multiple_of(8)];
    loop {
        let best = keys.iter().fold(NEVER, |best, &key| best.min(key));
        if best >> PLACE_BITS >= NONE {
            return live;
        }
        let merge = places.merge(best, &mut live, pairs);
        keys[merge.at as usize] = merge.at_key;
        keys[merge.swallowed as usize] = NEVER;
        if let Some(key) = keys.get_mut(merge.left as usize) {
            *key = merge.left_key;
        }
    }
}
