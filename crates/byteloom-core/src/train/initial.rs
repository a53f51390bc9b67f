//! The pairs of initial symbols: counted, then listed.

use super::bpe::{DROPPED, Sum};
use super::pairs::{Pair, Pairs};
use crate::error::{Error, Result};

/// Counts the pairs of initial symbols: in a square table for bytes, by hash for larger alphabets.
pub(super) struct InitialPairs {
    base: u32,
    square: Vec<Sum>,
    hashed: Pairs,
}

/// The largest alphabet with a square table (1.5 MiB).
const SQUARE: u32 = 256;

impl InitialPairs {
    pub(super) fn new(base: u32) -> Self {
        let square = if base <= SQUARE { vec![Sum::default(); (base * base) as usize] } else { Vec::new() };
        Self { base, square, hashed: Pairs::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, left: u32, right: u32, weight: u64) -> Result<()> {
        if let Some(sum) = self.square.get_mut(left as usize * self.base as usize + right as usize) {
            sum.weight += weight;
            sum.occurrences += 1;
        } else if let Some(number) = self.hashed.find(left, right) {
            let record = &mut self.hashed.records[number];
            record.count += weight;
            record.list_len += 1;
        } else {
            self.hashed.insert(Pair { left, right, count: weight, list: 0, list_len: 1 })?;
        }
        Ok(())
    }

    /// The pairs with a count from `floor` on that `may` be merged, and where their occurrences go.
    pub(super) fn keep(
        mut self,
        floor: u64,
        may: impl Fn(u32, u32) -> bool,
    ) -> Result<(Pairs, InitialLists)> {
        let mut pairs = Pairs::new();
        let mut total = 0_u32;
        let mut place = |occurrences: u32| {
            let list = total;
            total = total
                .checked_add(occurrences)
                .filter(|&total| total < DROPPED)
                .ok_or_else(too_many_occurrences)?;
            Ok::<u32, Error>(list)
        };
        let base = self.base.max(1);
        for (index, sum) in (0..).zip(&mut self.square) {
            sum.next = DROPPED;
            let (left, right) = (index / base, index % base);
            if sum.occurrences > 0 && sum.weight >= floor && may(left, right) {
                let list_len = sum.occurrences;
                sum.next = place(list_len)?;
                pairs.insert(Pair { left, right, count: sum.weight, list: sum.next, list_len })?;
            }
        }
        for record in &mut self.hashed.records {
            record.list = DROPPED;
            if record.count >= floor && may(record.left, record.right) {
                record.list = place(record.list_len)?;
                pairs.insert(*record)?;
            }
        }
        Ok((pairs, InitialLists { tally: self, total }))
    }
}

pub(super) fn too_many_occurrences() -> Error {
    Error::Training(
        "the pairs of the distinct pre-tokens occur more than 4,294,967,295 times; train on less text, or with a \
         pattern that cuts it into pieces that repeat"
            .into(),
    )
}

pub(super) struct InitialLists {
    tally: InitialPairs,
    pub(super) total: u32,
}

impl InitialLists {
    /// The place of the next occurrence of a pair, if the pair is kept.
    #[inline]
    pub(super) fn entry(&mut self, left: u32, right: u32) -> Option<u32> {
        let tally = &mut self.tally;
        let next =
            if let Some(sum) = tally.square.get_mut(left as usize * tally.base as usize + right as usize) {
                &mut sum.next
            } else {
                let number = tally.hashed.find(left, right)?;
                &mut tally.hashed.records[number].list
            };
        let entry = *next;
        (entry != DROPPED).then(|| {
            *next += 1;
            entry
        })
    }
}
