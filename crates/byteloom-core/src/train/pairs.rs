//! The pairs of neighbouring symbols that may still be merged.

use crate::error::{Error, Result};

/// A pair, its count, and where the list of its occurrences stands.
///
/// `count` is exact. The list holds every occurrence in ascending order, and may hold places that were one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) count: u64,
    pub(super) list: usize,
    pub(super) list_len: u32,
}

/// Pairs by number, in the order of their making, and by symbols.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) records: Vec<Pair>,
    /// Open addressing, at most half full, a power of two: number plus one, 0 is free.
    slots: Vec<u32>,
}

impl Pairs {
    pub(super) fn new() -> Self {
        Self { records: Vec::new(), slots: vec![0; 1 << 12] }
    }

    pub(super) fn get(&self, pair: u32) -> &Pair {
        &self.records[pair as usize]
    }

    /// The number of the pair, if it is kept.
    #[inline]
    pub(super) fn find(&self, left: u32, right: u32) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(left, right) & mask;
        loop {
            let number = self.slots[slot].checked_sub(1)? as usize;
            let record = &self.records[number];
            if record.left == left && record.right == right {
                return Some(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Adds a pair that is not there yet.
    pub(super) fn insert(&mut self, pair: Pair) -> Result<()> {
        self.records.push(pair);
        let Ok(place) = u32::try_from(self.records.len()) else {
            return Err(Error::Training("more than 4,294,967,295 distinct pairs; train on less text".into()));
        };
        if self.records.len() * 2 > self.slots.len() {
            self.slots = vec![0; self.slots.len() * 2];
            for number in 1..=place {
                self.link(number);
            }
        } else {
            self.link(place);
        }
        Ok(())
    }

    fn link(&mut self, place: u32) {
        let record = &self.records[place as usize - 1];
        let mask = self.slots.len() - 1;
        let mut slot = hash(record.left, record.right) & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = place;
    }
}

#[inline]
fn hash(left: u32, right: u32) -> usize {
    let product = (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> 32 ^ product >> 57) as usize
}
