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

/// Pairs by number, in the order of their making, and by symbols.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) records: Vec<Pair>,
    /// Open addressing, at most half full, a power of two. A slot is the upper half of the hash and, below it, the
    /// number plus one; 0 is free. Most pairs asked for are not here, which the slots alone can tell.
    slots: Vec<u64>,
}

impl Pairs {
    pub(super) fn new() -> Self {
        Self { records: Vec::new(), slots: vec![0; 1 << 12] }
    }

    pub(super) fn get(&self, pair: u32) -> &Pair {
        &self.records[pair as usize]
    }

    /// Asks for what [`Self::find`] and [`Self::insert`] look at first.
    #[inline]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        prefetch(&self.slots, place_of(hash(left, right)) & (self.slots.len() - 1));
    }

    /// Asks for the record of a pair.
    #[inline]
    pub(super) fn prefetch_record(&self, pair: u32) {
        prefetch(&self.records, pair as usize);
    }

    /// The number of the pair, if it is kept.
    #[inline]
    pub(super) fn find(&self, left: u32, right: u32) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let hash = hash(left, right);
        let mut place = place_of(hash) & mask;
        loop {
            let slot = self.slots[place];
            let number = (slot as u32).checked_sub(1)? as usize;
            if slot >> 32 == hash >> 32 {
                let record = &self.records[number];
                if record.left == left && record.right == right {
                    return Some(number);
                }
            }
            place = (place + 1) & mask;
        }
    }

    /// Adds a pair that is not there yet.
    pub(super) fn insert(&mut self, pair: Pair) -> Result<()> {
        self.records.push(pair);
        let Ok(number) = u32::try_from(self.records.len()) else {
            return Err(Error::Training("more than 4,294,967,295 distinct pairs; train on less text".into()));
        };
        if self.records.len() * 2 > self.slots.len() {
            self.slots = vec![0; self.slots.len() * 2];
            for number in 1..=number {
                self.link(number);
            }
        } else {
            self.link(number);
        }
        Ok(())
    }

    fn link(&mut self, number: u32) {
        let record = &self.records[number as usize - 1];
        let mask = self.slots.len() - 1;
        let hash = hash(record.left, record.right);
        let mut place = place_of(hash) & mask;
        while self.slots[place] != 0 {
            place = (place + 1) & mask;
        }
        self.slots[place] = hash >> 32 << 32 | u64::from(number);
    }
}

#[inline]
fn hash(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn place_of(hash: u64) -> usize {
    (hash >> 32 ^ hash >> 57) as usize
}
