//! The pairs of initial symbols: counted, then listed.

use super::pairs::{Pair, Pairs, key, too_many_pairs};
use super::sides::DROPPED;
use crate::error::{Error, Result};

/// Counts the pairs of initial symbols: in a square table for bytes, by hash for larger alphabets.
pub(super) struct InitialPairs {
    base: u32,
    square: Vec<Sum>,
    hashed: HashedPairs,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    weight: u64,
    occurrences: u32,
}

/// The largest alphabet with a square table (1 MiB, and 256 KiB for lists).
const SQUARE: u32 = 256;

impl InitialPairs {
    pub(super) fn new(base: u32) -> Self {
        let square = if base <= SQUARE { vec![Sum::default(); (base * base) as usize] } else { Vec::new() };
        Self { base, square, hashed: HashedPairs::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, left: u32, right: u32, weight: u64) -> Result<()> {
        let Some(sum) = self.square.get_mut(left as usize * self.base as usize + right as usize) else {
            return self.add_hashed(left, right, weight);
        };
        sum.weight += weight;
        sum.occurrences += 1;
        Ok(())
    }

    #[inline(never)]
    fn add_hashed(&mut self, left: u32, right: u32, weight: u64) -> Result<()> {
        let Some(number) = self.hashed.find(left, right) else {
            return self.hashed.insert(Pair { left, right, count: weight, list: 0, list_len: 1 });
        };
        let record = &mut self.hashed.records[number];
        record.count += weight;
        record.list_len += 1;
        Ok(())
    }

    /// The pairs with a count from `floor` on that `may` be merged, and where their occurrences go.
    pub(super) fn keep(
        mut self,
        floor: u64,
        may: impl Fn(u32, u32) -> bool,
    ) -> Result<(Pairs, InitialLists)> {
        let base = self.base.max(1);
        let mut kept = Vec::new();
        for (index, sum) in (0..).zip(&self.square) {
            let (left, right) = (index / base, index % base);
            if sum.occurrences > 0 && sum.weight >= floor && may(left, right) {
                let pair = Pair { left, right, count: sum.weight, list: 0, list_len: sum.occurrences };
                kept.push((key(left, right), pair, index as usize));
            }
        }
        for (place, record) in self.hashed.records.iter_mut().enumerate() {
            record.list = DROPPED;
            if record.count >= floor && may(record.left, record.right) {
                kept.push((key(record.left, record.right), *record, place));
            }
        }
        kept.sort_unstable_by_key(|(key, ..)| *key);
        let (mut pairs, mut total) = (Pairs::new(), 0_u32);
        let mut square = vec![DROPPED; self.square.len()];
        let mut all = kept.into_iter().peekable();
        for symbol in 0..self.base {
            while let Some((_, pair, place)) = all.next_if(|((newer, _), ..)| *newer == symbol) {
                let list = total;
                total = total
                    .checked_add(pair.list_len)
                    .filter(|&total| total < DROPPED)
                    .ok_or_else(too_many_occurrences)?;
                pairs.push(Pair { list, ..pair })?;
                match square.get_mut(place) {
                    Some(next) => *next = list,
                    None => self.hashed.records[place].list = list,
                }
            }
            pairs.close_symbol();
        }
        Ok((pairs, InitialLists { base: self.base, square, hashed: self.hashed, total }))
    }
}

pub(super) fn too_many_occurrences() -> Error {
    Error::Training(
        "the pairs of the distinct pre-tokens occur more than 4,294,967,295 times; train on less text, or with a \
         pattern that cuts it into pieces that repeat"
            .into(),
    )
}

/// Where the next occurrence of each pair goes; [`DROPPED`] for a pair that is not kept.
pub(super) struct InitialLists {
    base: u32,
    square: Vec<u32>,
    hashed: HashedPairs,
    pub(super) total: u32,
}

impl InitialLists {
    /// The place of the next occurrence of a pair, if the pair is kept.
    #[inline]
    pub(super) fn entry(&mut self, left: u32, right: u32) -> Option<u32> {
        let next = match self.square.get_mut(left as usize * self.base as usize + right as usize) {
            Some(next) => next,
            None => self.hashed_entry(left, right)?,
        };
        let entry = *next;
        (entry != DROPPED).then(|| {
            *next += 1;
            entry
        })
    }

    #[inline(never)]
    fn hashed_entry(&mut self, left: u32, right: u32) -> Option<&mut u32> {
        let number = self.hashed.find(left, right)?;
        Some(&mut self.hashed.records[number].list)
    }
}

/// Pairs in the order of their first occurrence, and by symbols.
#[derive(Debug)]
struct HashedPairs {
    records: Vec<Pair>,
    /// Open addressing, at most half full, a power of two. A slot is the upper half of the hash and, below it, the
    /// number plus one; 0 is free.
    slots: Vec<u64>,
}

impl HashedPairs {
    fn new() -> Self {
        Self { records: Vec::new(), slots: vec![0; 1 << 12] }
    }

    /// The number of the pair, if it is there.
    #[inline]
    fn find(&self, left: u32, right: u32) -> Option<usize> {
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
    fn insert(&mut self, pair: Pair) -> Result<()> {
        self.records.push(pair);
        let Ok(number) = u32::try_from(self.records.len()) else {
            return Err(too_many_pairs());
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
