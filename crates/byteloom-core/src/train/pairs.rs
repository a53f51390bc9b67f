//! The pairs of neighbouring symbols that may still be merged.

use crate::error::{Error, Result};
use crate::prefetch::prefetch;

/// A pair, its count, and where the list of its occurrences stands. 24 bytes.
///
/// `count` is exact. The list holds every occurrence in ascending order, and may hold places that were one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) count: u64,
    pub(super) list: u32,
    pub(super) list_len: u32,
}

/// Where a pair stands among those with the same newer symbol: by the other symbol, then by side.
#[inline]
pub(super) fn key(left: u32, right: u32) -> (u32, u32) {
    if left <= right { (right, 2 * left) } else { (left, 2 * right + 1) }
}

/// Pairs by number, in the order of their making, and by symbols.
///
/// All pairs of a symbol with older ones, and with itself, are made when the symbol is. So their numbers are in a row,
/// and in the order of [`key`] they are found by a search among a few: on real text four on average. That takes a
/// quarter of the memory of a hash table, and most pairs asked for are not there, which the keys alone can tell.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) records: Vec<Pair>,
    keys: Vec<u32>,
    /// The first number of the pairs of each symbol, and one more for their end.
    starts: Vec<u32>,
}

/// Pairs of a symbol that are searched one after another; among more the search halves them first.
const FEW: usize = 8;

impl Pairs {
    pub(super) fn new() -> Self {
        Self { records: Vec::new(), keys: Vec::new(), starts: vec![0] }
    }

    pub(super) fn get(&self, pair: u32) -> &Pair {
        &self.records[pair as usize]
    }

    /// Adds a pair of the next symbol; they come in the order of [`key`].
    pub(super) fn push(&mut self, pair: Pair) -> Result<()> {
        if self.records.len() >= u32::MAX as usize {
            return Err(too_many_pairs());
        }
        self.keys.push(key(pair.left, pair.right).1);
        self.records.push(pair);
        Ok(())
    }

    /// Has all pairs of the next symbol.
    pub(super) fn close_symbol(&mut self) {
        self.starts.push(self.records.len() as u32);
    }

    /// Asks for what [`Self::find`] looks at.
    #[inline]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        let (newer, _) = key(left, right);
        prefetch(&self.keys, self.starts[newer as usize] as usize);
    }

    /// Asks for the record of a pair.
    #[inline]
    pub(super) fn prefetch_record(&self, pair: u32) {
        prefetch(&self.records, pair as usize);
    }

    /// The number of the pair, if it is kept.
    #[inline]
    pub(super) fn find(&self, left: u32, right: u32) -> Option<u32> {
        let (newer, key) = key(left, right);
        let [start, end] = *self.starts.get(newer as usize..)?.first_chunk()?;
        let mut start = start as usize;
        let mut keys = &self.keys[start..end as usize];
        while keys.len() > FEW {
            let (lower, upper) = keys.split_at(keys.len() / 2);
            if upper[0] <= key {
                start += lower.len();
                keys = upper;
            } else {
                keys = lower;
            }
        }
        keys.iter().position(|&other| other == key).map(|place| (start + place) as u32)
    }
}

pub(super) fn too_many_pairs() -> Error {
    Error::Training("more than 4,294,967,295 distinct pairs; train on less text".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_found_and_no_other() {
        // Few and many pairs of a symbol, none of some.
        let kept = |left: u32, right: u32| (left * 7 + right * 3) % 5 < left.max(right) % 6;
        let mut pairs = Pairs::new();
        for newer in 0..60 {
            let mut of_symbol: Vec<_> = (0..=newer)
                .flat_map(|other| [(other, newer), (newer, other)])
                .filter(|two| kept(two.0, two.1))
                .collect();
            of_symbol.sort_unstable_by_key(|&(left, right)| key(left, right));
            of_symbol.dedup();
            for (left, right) in of_symbol {
                pairs.push(Pair { left, right, count: 1, list: 0, list_len: 0 }).unwrap();
            }
            pairs.close_symbol();
        }
        for (left, right) in (0..60).flat_map(|left| (0..60).map(move |right| (left, right))) {
            pairs.prefetch(left, right);
            let found = pairs.find(left, right);
            assert_eq!(found.is_some(), kept(left, right), "{left} {right}");
            assert!(
                found.is_none_or(|number| (pairs.get(number).left, pairs.get(number).right) == (left, right))
            );
        }
        assert_eq!(pairs.find(60, 3), None, "a symbol that has no pairs yet");
    }
}
